import type { Country } from "./countryFigures.ts";
import type { Industry } from "./industryParameters.ts";
import { CAPITAL_PER_OUTPUT, GRID_RATIO_MIN, LOAN_SHARE, USD2025_PER_USD2022 } from "./methodConstants.ts";
import type { EmissionsFigure } from "../contract/wireTypes.ts";
import { power } from "../numerics/elementaryFunctions.ts";

/** Bounds of the scaling from the US, where the factors were measured, to other countries. */
const SCOPE1_SCALING = { min: 0.4, max: 3 };
const PRICE_LEVEL_SCALING = { min: 0.8, max: 2.2 };
const UPSTREAM_SCALING = { min: 0.6, max: 2 };
/** A dollar buys more kWh in countries with a low price level. */
const PRICE_LEVEL_EXPONENT = -0.5;
const UPSTREAM_EXPONENT = 0.4;

/** Annual emissions, t CO2e. */
export interface Emissions {
  readonly scope1: number;
  readonly scope2: number;
  readonly scope3Upstream: number;
  readonly scope3Downstream: number;
}

/** Emissions reported by the company, t CO2e per year. */
export interface ReportedEmissions {
  readonly scope1: number | undefined;
  readonly scope2: number | undefined;
  /** Upstream and downstream together. */
  readonly scope3: number | undefined;
  readonly scope3Upstream: number | undefined;
  readonly scope3Downstream: number | undefined;
}

/** Multipliers from US emission factors to those of a country. */
export interface CountryScaling {
  readonly scope1: number;
  readonly scope2: number;
  readonly scope3Upstream: number;
  /** Whether the scope 1 multiplier was limited to its upper bound. */
  readonly isScope1Capped: boolean;
}

export function scalingOf({ scope1Scaling, scope1Exponent }: Industry, country: Country): CountryScaling {
  const { carbonIntensityRelativeToUS, gridIntensityRelativeToUS, priceLevelRelativeToUS } = country;
  const priceLevel = clamp(
    power(priceLevelRelativeToUS, PRICE_LEVEL_EXPONENT),
    PRICE_LEVEL_SCALING.min,
    PRICE_LEVEL_SCALING.max,
  );
  const economy = power(carbonIntensityRelativeToUS, scope1Exponent);
  const scope1 = {
    economy: clamp(economy, SCOPE1_SCALING.min, SCOPE1_SCALING.max),
    grid: gridIntensityRelativeToUS * priceLevel,
    price_level: priceLevel,
    none: 1,
  }[scope1Scaling];
  return {
    scope1,
    scope2: Math.max(GRID_RATIO_MIN, gridIntensityRelativeToUS) * priceLevel,
    scope3Upstream: clamp(
      power(carbonIntensityRelativeToUS, UPSTREAM_EXPONENT),
      UPSTREAM_SCALING.min,
      UPSTREAM_SCALING.max,
    ),
    isScope1Capped: scope1Scaling === "economy" && economy > SCOPE1_SCALING.max,
  };
}

/**
 * Models the emissions of a company from its industry, country and revenue.
 *
 * @param of.revenueUsd USD of 2025 per year
 * @returns t CO2e per year
 */
export function modelEmissions(of: {
  readonly industry: Industry;
  readonly country: Country;
  readonly revenueUsd: number;
}): Emissions {
  const { intensity } = of.industry;
  const scaling = scalingOf(of.industry, of.country);
  const revenueMUSD2022 = of.revenueUsd / 1e6 / USD2025_PER_USD2022;
  return {
    scope1: intensity.scope1 * scaling.scope1 * revenueMUSD2022,
    scope2: intensity.scope2 * scaling.scope2 * revenueMUSD2022,
    scope3Upstream: intensity.scope3Upstream * scaling.scope3Upstream * revenueMUSD2022,
    scope3Downstream: intensity.scope3Downstream * revenueMUSD2022,
  };
}

/** The emissions of a company by scope, with their origin. */
export interface CompanyEmissions {
  readonly scope1: EmissionsFigure;
  readonly scope2: EmissionsFigure;
  readonly scope3Upstream: EmissionsFigure;
  readonly scope3Downstream: EmissionsFigure;
  /** Scope 3, category 15, of a bank. */
  readonly financed: EmissionsFigure | null;
}

/**
 * Returns the emissions of a company: as reported, split from a reported total of scope 3, or modeled.
 *
 * @param of.totalAssetsUsd used for the financed emissions of a bank
 */
export function companyEmissions(of: {
  readonly industry: Industry;
  readonly country: Country;
  readonly revenueUsd: number;
  readonly totalAssetsUsd: number;
  readonly reported: ReportedEmissions;
}): CompanyEmissions {
  const { industry, country, reported } = of;
  const { scope1, scope2, scope3 } = industry.rangeFactors;
  const modeled = modelEmissions(of);
  const { upstream, downstream } = scope3Parts(reported, { modeled, upstreamMax: scope3 * modeled.scope3Upstream });
  const figure = (origin: FigureOrigin, modelled: number, range: number): EmissionsFigure =>
    withRange(origin, { modelled, range, industry });
  return {
    scope1: figure(reportedOrModeled(reported.scope1, modeled.scope1), modeled.scope1, scope1),
    scope2: figure(reportedOrModeled(reported.scope2, modeled.scope2), modeled.scope2, scope2),
    scope3Upstream: figure(upstream, modeled.scope3Upstream, scope3),
    scope3Downstream: figure(downstream, modeled.scope3Downstream, scope3),
    financed: industry.isBank ? financedEmissions(of.totalAssetsUsd, { industry, country }) : null,
  };
}

/** Returns the tonnes of a figure for each scope. */
export function tonnesOf({ scope1, scope2, scope3Upstream, scope3Downstream }: CompanyEmissions): Emissions {
  return {
    scope1: scope1.value,
    scope2: scope2.value,
    scope3Upstream: scope3Upstream.value,
    scope3Downstream: scope3Downstream.value,
  };
}

type FigureOrigin = Pick<EmissionsFigure, "value" | "method">;

function reportedOrModeled(reported: number | undefined, modeled: number): FigureOrigin {
  return reported === undefined ? { value: modeled, method: "modelled" } : { value: reported, method: "reported" };
}

/**
 * Divides scope 3 into its directions. Of a reported total, at most `upstreamMax` is upstream, so that a large total
 * is not attributed to suppliers only.
 */
function scope3Parts(
  { scope3: total, scope3Upstream: upstream, scope3Downstream: downstream }: ReportedEmissions,
  { modeled, upstreamMax }: { readonly modeled: Emissions; readonly upstreamMax: number },
): { readonly upstream: FigureOrigin; readonly downstream: FigureOrigin } {
  const rest = (other: number | undefined): number | undefined =>
    total === undefined || other === undefined ? undefined : Math.max(0, total - other);
  if (total !== undefined && upstream === undefined && downstream === undefined) {
    const share = modeled.scope3Upstream / (modeled.scope3Upstream + modeled.scope3Downstream);
    const value = Math.min(total * share, upstreamMax);
    return { upstream: { value, method: "split" }, downstream: { value: total - value, method: "split" } };
  }
  const direction = (reported: number | undefined, remaining: number | undefined, value: number): FigureOrigin =>
    reported === undefined && remaining !== undefined
      ? { value: remaining, method: "split" }
      : reportedOrModeled(reported, value);
  return {
    upstream: direction(upstream, rest(downstream), modeled.scope3Upstream),
    downstream: direction(downstream, rest(upstream), modeled.scope3Downstream),
  };
}

/** Factors from a figure to the ends of its range, and PCAF data quality scores: 1 is verified, 5 is an estimate. */
const REPORTED = { rangeFactor: 1.05, pcafScore: 2 };
const SPLIT = { rangeFactor: 1.5, pcafScore: 3 };
const FINANCED_RANGE_FACTOR = 3;

function withRange(
  { value, method }: FigureOrigin,
  of: { readonly modelled: number; readonly range: number; readonly industry: Industry },
): EmissionsFigure {
  const { rangeFactor, pcafScore } = {
    modelled: { rangeFactor: of.range, pcafScore: modeledPcafScore(of.industry) },
    reported: REPORTED,
    split: SPLIT,
  }[method];
  return {
    value,
    low: value / rangeFactor,
    high: value * rangeFactor,
    method,
    pcaf_score: pcafScore,
    modelled: of.modelled,
  };
}

/** Factors from tables and reporters rest on activity data, the others on judgment. */
function modeledPcafScore({ factorQuality }: Industry): number {
  return factorQuality === "reporters" || factorQuality === "table" ? 4 : 5;
}

/** Estimates the financed emissions of a bank from its loans and the emissions per output of the country. */
function financedEmissions(
  totalAssetsUsd: number,
  { industry, country }: { readonly industry: Industry; readonly country: Country },
): EmissionsFigure {
  const loansMUSD2022 = (LOAN_SHARE * totalAssetsUsd) / 1e6 / USD2025_PER_USD2022;
  const value = (loansMUSD2022 * country.emissionsTCO2ePerMUSD) / CAPITAL_PER_OUTPUT;
  return withRange({ value, method: "modelled" }, { modelled: value, range: FINANCED_RANGE_FACTOR, industry });
}

/** Returns the value limited to the range, bounds included. */
export function clamp(value: number, min: number, max: number): number {
  return Math.max(min, Math.min(max, value));
}
