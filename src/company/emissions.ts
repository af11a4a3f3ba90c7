import { clamp } from "./clamp.ts";
import { CAPITAL_PER_OUTPUT, LOAN_SHARE, USD2025_PER_USD2022 } from "./methodConstants.ts";
import type { Country } from "./countryFigures.ts";
import { type Industry, ELECTRIC_UTILITIES_ID } from "./industryParameters.ts";

/** Bounds of the scaling from the US, where the factors were measured, to another country. */
const SCOPE1_BOUNDS = [0.4, 3] as const;
const SCOPE2_PRICE_BOUNDS = [0.8, 2.2] as const;
const UPSTREAM_BOUNDS = [0.6, 2] as const;
/** A dollar buys more kWh where prices are low. */
const SCOPE2_PRICE_EXPONENT = -0.5;
const UPSTREAM_EXPONENT = 0.4;
/** What US consumers pay, USD per kWh. */
const POWER_PRICE_USD_PER_KWH = 0.1236;
const POWER_PRICE_EXPONENT = 0.5;

/** Emissions of a year, t CO2e. */
export interface Emissions {
  readonly scope1: number;
  readonly scope2: number;
  readonly scope3Upstream: number;
  readonly scope3Downstream: number;
}

/** What a company has told of its emissions, t CO2e. */
export interface ReportedEmissions {
  readonly scope1?: number | undefined;
  readonly scope2?: number | undefined;
  /** Upstream and downstream together. */
  readonly scope3?: number | undefined;
}

/** How the factors of the US become those of a country. */
export interface CountryScaling {
  readonly scope1: number;
  readonly scope2: number;
  readonly scope3Upstream: number;
  /** The carbon intensity of the economy asks for more than the largest scaling of scope 1. */
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
 * What an industry emits in a country for its revenue.
 *
 * @param revenueUsd a year, USD of 2025
 * @returns t CO2e a year
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

/** The same with what is reported in place of the model, scope by scope; scope 3 is divided as the model divides it. */
export function withReported(
  modelled: Emissions,
  reported: ReportedEmissions,
  of: { readonly industry: Industry; readonly country: Country },
): Emissions {
  const { scope1, scope2, scope3 } = reported;
  // By intensities rather than by tonnes, which vanish with the revenue.
  const upstream = of.industry.intensity.scope3Upstream * scalingOf(of.industry, of.country).scope3Upstream;
  const share = upstream / (upstream + of.industry.intensity.scope3Downstream);
  return {
    scope1: scope1 ?? modelled.scope1,
    scope2: scope2 ?? modelled.scope2,
    scope3Upstream: scope3 === undefined ? modelled.scope3Upstream : scope3 * share,
    scope3Downstream: scope3 === undefined ? modelled.scope3Downstream : scope3 * (1 - share),
  };
}

/**
 * What a bank finances (category 15 of scope 3): its loans, in an economy with the country's emissions per output.
 * @returns t CO2e a year
 */
export function financedEmissions(totalAssetsUsd: number, country: Country): number {
  const loans = (LOAN_SHARE * totalAssetsUsd) / 1e6 / USD2025_PER_USD2022;
  return (loans * country.emissionsTCO2ePerMUSD) / CAPITAL_PER_OUTPUT;
}
