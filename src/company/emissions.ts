import { clamp } from "./clamp.ts";
import { CAPITAL_PER_OUTPUT, LOAN_SHARE, USD2025_PER_USD2022 } from "./methodConstants.ts";
import type { Country } from "./countryFigures.ts";
import { type Industry, ELECTRIC_UTILITIES_ID } from "./industryParameters.ts";

/** Bounds of the scaling from the US, where the factors were measured, to other countries. */
const SCOPE1_BOUNDS = [0.4, 3] as const;
const SCOPE2_PRICE_BOUNDS = [0.8, 2.2] as const;
const UPSTREAM_BOUNDS = [0.6, 2] as const;
/** A dollar buys more kWh in countries with a low price level. */
const SCOPE2_PRICE_EXPONENT = -0.5;
const UPSTREAM_EXPONENT = 0.4;
/** US consumer price, USD per kWh. */
const POWER_PRICE_USD_PER_KWH = 0.1236;
const POWER_PRICE_EXPONENT = 0.5;

/** Annual emissions, t CO2e. */
export interface Emissions {
  readonly scope1: number;
  readonly scope2: number;
  readonly scope3Upstream: number;
  readonly scope3Downstream: number;
}

/** Emissions reported by the company, t CO2e per year. */
export interface ReportedEmissions {
  readonly scope1?: number | undefined;
  readonly scope2?: number | undefined;
  /** Upstream and downstream together. */
  readonly scope3?: number | undefined;
}

/** Multipliers from US emission factors to those of a country. */
export interface CountryScaling {
  readonly scope1: number;
  readonly scope2: number;
  readonly scope3Upstream: number;
  /** The scope 1 multiplier was limited to its upper bound. */
  readonly isScope1Capped: boolean;
}

export function scalingOf(industry: Industry, country: Country): CountryScaling {
  const scope1 = country.carbonIntensityToUS ** industry.scope1Exponent;
  return {
    scope1: clamp(scope1, SCOPE1_BOUNDS),
    scope2: country.gridToUS * clamp(country.priceLevelToUS ** SCOPE2_PRICE_EXPONENT, SCOPE2_PRICE_BOUNDS),
    scope3Upstream: clamp(country.carbonIntensityToUS ** UPSTREAM_EXPONENT, UPSTREAM_BOUNDS),
    isScope1Capped: scope1 > SCOPE1_BOUNDS[1],
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
  const { industry, country, revenueUsd } = of;
  const { intensity } = industry;
  const revenue = revenueUsd / 1e6 / USD2025_PER_USD2022;
  const scaling = scalingOf(industry, country);
  const scope1 =
    industry.id === ELECTRIC_UTILITIES_ID
      ? country.gridGCO2PerKWh / (POWER_PRICE_USD_PER_KWH * country.priceLevelToUS ** POWER_PRICE_EXPONENT)
      : intensity.scope1 * scaling.scope1;
  return {
    scope1: scope1 * revenue,
    scope2: intensity.scope2 * scaling.scope2 * revenue,
    scope3Upstream: intensity.scope3Upstream * scaling.scope3Upstream * revenue,
    scope3Downstream: intensity.scope3Downstream * revenue,
  };
}

/** Replaces modeled by reported emissions, scope by scope; scope 3 is split in the proportions of the model. */
export function withReported(
  modeled: Emissions,
  reported: ReportedEmissions,
  of: { readonly industry: Industry; readonly country: Country },
): Emissions {
  const { scope1, scope2, scope3 } = reported;
  // Uses intensities rather than tonnes, which underflow for very small revenues.
  const upstream = of.industry.intensity.scope3Upstream * scalingOf(of.industry, of.country).scope3Upstream;
  const share = upstream / (upstream + of.industry.intensity.scope3Downstream);
  return {
    scope1: scope1 ?? modeled.scope1,
    scope2: scope2 ?? modeled.scope2,
    scope3Upstream: scope3 === undefined ? modeled.scope3Upstream : scope3 * share,
    scope3Downstream: scope3 === undefined ? modeled.scope3Downstream : scope3 * (1 - share),
  };
}

/**
 * Estimates the financed emissions of a bank (scope 3, category 15) from its loans and the emissions per output of the
 * country.
 *
 * @returns t CO2e per year
 */
export function financedEmissions(totalAssetsUsd: number, country: Country): number {
  const loans = (LOAN_SHARE * totalAssetsUsd) / 1e6 / USD2025_PER_USD2022;
  return (loans * country.emissionsTCO2ePerMUSD) / CAPITAL_PER_OUTPUT;
}
