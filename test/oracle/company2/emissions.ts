/** Section 2: modeled and reported emissions, t CO2e a year, their ranges and data quality. */
import { GRID_MIN, INFL, KOUT, LOANS } from "./constants.ts";
import type { ReportedScopes } from "./request.ts";
import { clamp, type Country, type Industry } from "./tables.ts";

export interface Emission {
  readonly value: number;
  readonly low: number;
  readonly high: number;
  readonly method: "modelled" | "reported" | "split";
  readonly pcaf_score: number;
  readonly modelled: number;
}

export interface Emissions {
  readonly scope1: Emission;
  readonly scope2: Emission;
  readonly upstream: Emission;
  readonly downstream: Emission;
  /** Category 15 of a bank; null for other companies. */
  readonly financed: Emission | null;
}

export interface ModeledScopes {
  readonly scope1: number;
  readonly scope2: number;
  readonly upstream: number;
  readonly downstream: number;
}

/** R: revenue in million USD of 2022. */
export function revenueMusd2022(revenue: number): number {
  return revenue / 1e6 / INFL;
}

/** PLF = clamp(PL^-0.5, 0.8, 2.2). */
function priceLevelFactor(country: Country): number {
  return clamp(country.price_level_rel_us ** -0.5, 0.8, 2.2);
}

/** k1, by `s1_scaling`. */
export function scope1Factor(industry: Industry, country: Country): number {
  return {
    economy: clamp(country.ci_ratio_us ** industry.theta_s1, 0.4, 3),
    grid: country.grid_ratio_us * priceLevelFactor(country),
    price_level: priceLevelFactor(country),
    none: 1,
  }[industry.s1_scaling];
}

/** True where k1 would be above 3. */
export function isCarbonIntensityHeld(industry: Industry, country: Country): boolean {
  return industry.s1_scaling === "economy" && country.ci_ratio_us ** industry.theta_s1 > 3;
}

/** k2 = max(0.30, g_c / g_US) * PLF. */
export function scope2Factor(country: Country): number {
  return Math.max(GRID_MIN, country.grid_ratio_us) * priceLevelFactor(country);
}

/** k3 = clamp(rho^0.4, 0.6, 2). */
export function upstreamFactor(country: Country): number {
  return clamp(country.ci_ratio_us ** 0.4, 0.6, 2);
}

/** The factors of the industry, scaled to the country and to revenue. */
export function modeledScopes(industry: Industry, country: Country, revenue: number): ModeledScopes {
  const R = revenueMusd2022(revenue);
  return {
    scope1: industry.s1_t_per_musd * scope1Factor(industry, country) * R,
    scope2: industry.s2_t_per_musd * scope2Factor(country) * R,
    upstream: industry.s3up_t_per_musd * upstreamFactor(country) * R,
    downstream: industry.s3down_t_per_musd * R,
  };
}

/** Financed emissions of a bank: LOANS * total_assets/1e6/INFL * EI_c / KOUT. */
function financedEmissions(country: Country, totalAssets: number): number {
  return (((LOANS * totalAssets) / 1e6 / INFL) * country.ei_t_per_musd_nominal_2022) / KOUT;
}

type Figure = Pick<Emission, "value" | "method">;

/** The two directions of scope 3: as sent, split from a total, or modeled. */
function scope3Directions(
  reported: ReportedScopes,
  modeled: ModeledScopes,
  industry: Industry,
): { readonly upstream: Figure; readonly downstream: Figure } {
  const { scope3: total, scope3Upstream: up, scope3Downstream: down } = reported;
  const u = modeled.upstream;
  const d = modeled.downstream;
  if (total !== undefined && up === undefined && down === undefined) {
    const upstream = Math.min(total * (u / (u + d)), industry.s3_range * u);
    return {
      upstream: { value: upstream, method: "split" },
      downstream: { value: total - upstream, method: "split" },
    };
  }
  const direction = (own: number | undefined, other: number | undefined, modeledValue: number): Figure => {
    if (own !== undefined) return { value: own, method: "reported" };
    if (total !== undefined && other !== undefined) return { value: Math.max(0, total - other), method: "split" };
    return { value: modeledValue, method: "modelled" };
  };
  return { upstream: direction(up, down, u), downstream: direction(down, up, d) };
}

/** low = value / f, high = value * f; f by method. */
function withRange(figure: Figure, modelled: number, modeledRange: number, industry: Industry): Emission {
  const { value, method } = figure;
  const f = { modelled: modeledRange, reported: 1.05, split: 1.5 }[method];
  const modeledScore = ["reporters", "table"].includes(industry.factor_quality) ? 4 : 5;
  const pcafScore = { modelled: modeledScore, reported: 2, split: 3 }[method];
  return { value, low: value / f, high: value * f, method, pcaf_score: pcafScore, modelled };
}

/** All emissions of a company. */
export function emissionsOf(
  industry: Industry,
  country: Country,
  revenue: number,
  totalAssets: number,
  reported: ReportedScopes,
): Emissions {
  const modeled = modeledScopes(industry, country, revenue);
  const figure = (sent: number | undefined, modeledValue: number): Figure =>
    sent === undefined ? { value: modeledValue, method: "modelled" } : { value: sent, method: "reported" };
  const { upstream, downstream } = scope3Directions(reported, modeled, industry);
  const financed = financedEmissions(country, totalAssets);
  return {
    scope1: withRange(figure(reported.scope1, modeled.scope1), modeled.scope1, industry.s1_range, industry),
    scope2: withRange(figure(reported.scope2, modeled.scope2), modeled.scope2, industry.s2_range, industry),
    upstream: withRange(upstream, modeled.upstream, industry.s3_range, industry),
    downstream: withRange(downstream, modeled.downstream, industry.s3_range, industry),
    financed:
      industry.archetype === "banks" ? withRange({ value: financed, method: "modelled" }, financed, 3, industry) : null,
  };
}
