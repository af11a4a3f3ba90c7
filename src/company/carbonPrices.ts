import { TABLE_START_YEAR, USD2025_PER_USD2022 } from "./methodConstants.ts";
import { PRICE_MODEL_IDS } from "../contract/companyNames.ts";
import { interpolateYearly } from "./yearlySeries.ts";
import type { NgfsRegion } from "../reference/countries.ts";
import { CARBON_PRICE_ROWS, type CarbonPriceRow } from "./data/carbonPrices.generated.ts";

/** Models of the NGFS prices. */
export const PRICE_MODELS = {
  remind: "REMIND-MAgPIE 3.3-4.8",
  messageix: "MESSAGEix-GLOBIOM 2.0-M-R12-NGFS",
  gcam: "GCAM 6.0 NGFS",
} as const satisfies Record<(typeof PRICE_MODEL_IDS)[number], string>;
export type PriceModel = (typeof PRICE_MODEL_IDS)[number];

/** IPCC prices are the median and quartiles of an ensemble of models. */
const ENSEMBLE_VARIANTS = ["median", "p25", "p75"] as const;
/** Variant of a price path. */
export type PriceVariant = PriceModel | (typeof ENSEMBLE_VARIANTS)[number];

/** Years of the table. A series has prices in some of them. */
const PRICE_YEARS = [2020, 2025, 2030, 2035, 2040, 2045, 2050, 2055, 2060, 2070, 2080, 2090, 2100] as const;

/** Baseline: only prices above it are a shock. */
const CURRENT_POLICIES = "NGFS_CURRENT_POLICIES";
const WORLD = "World";

/**
 * USD of 2025 per t CO2, by year from 2020; NaN in years without a price. The table has USD of 2022.
 *
 * NGFS Climate Scenarios Phase V (November 2024), IIASA NGFS Scenario Explorer: shadow prices of REMIND-MAgPIE 3.3-4.8,
 * MESSAGEix-GLOBIOM 2.0-M-R12-NGFS and GCAM 6.0 NGFS, published in USD of 2010. Research and commercial use is allowed,
 * redistribution of substantial parts is not: the table is a small extract of the database.
 * IPCC AR6 WGIII chapter 3: median and quartiles of C1 and C3 for 2030 and 2050, in USD of 2015; other years are
 * interpolated linearly, constant after 2050. C2, C4 and C5 are not published: geometric mean of C1 and C3, lower quartile
 * of C3, half of C4.
 */
const SERIES: ReadonlyMap<string, Float64Array> = new Map(
  CARBON_PRICE_ROWS.map((row) => [seriesKey(row.scenario_id, row), pricesByYear(row)]),
);

function pricesByYear(row: CarbonPriceRow): Float64Array {
  const years = PRICE_YEARS.filter((year) => row[year] !== undefined);
  const prices = interpolateYearly(
    years,
    years.map((year) => row[year] ?? NaN),
  );
  return prices.map((price) => USD2025_PER_USD2022 * price);
}

function seriesKey(path: string, { variant, region }: { readonly variant: string; readonly region: string }): string {
  return `${path} ${variant} ${region}`;
}

function seriesOf(path: string, of: { readonly variant: PriceVariant; readonly region: string }): Float64Array {
  const series = SERIES.get(seriesKey(path, of));
  if (series === undefined) throw new Error(`No carbon price series ${seriesKey(path, of)}.`);
  return series;
}

/** Carbon prices for a company, USD of 2025 per t CO2e, by year from 2020; NaN in years without a price. */
export interface PriceShocks {
  readonly variant: PriceVariant;
  readonly scenario: Float64Array;
  /** Price under Current Policies in the region of the country. */
  readonly baseline: Float64Array;
  /** Excess of the scenario price over the baseline, at least 0. */
  readonly shock: Float64Array;
  /** Price shock for the buyers of fuel, at world prices. */
  readonly worldShock: Float64Array;
}

const SHOCKS_BY_KEY = new Map<string, PriceShocks>();

/** Returns whether a path has prices of this variant for the region. */
export function hasPrices(path: string, of: { readonly variant: PriceVariant; readonly region: NgfsRegion }): boolean {
  return SERIES.has(seriesKey(path, { variant: of.variant, region: regionOfPath(path, of.region) }));
}

/**
 * Returns the price shocks of a path, cached.
 *
 * @throws Error if the path has no prices of this variant
 */
export function priceShocksOf(
  path: string,
  { variant, region }: { readonly variant: PriceVariant; readonly region: NgfsRegion },
): PriceShocks {
  const key = seriesKey(path, { variant, region });
  const known = SHOCKS_BY_KEY.get(key);
  if (known !== undefined) return known;
  const scenario = seriesOf(path, { variant, region: regionOfPath(path, region) });
  const baseline = seriesOf(CURRENT_POLICIES, { variant: "remind", region });
  const shock = excessOver(scenario, baseline);
  const world = SERIES.get(seriesKey(path, { variant, region: WORLD }));
  const worldBaseline = seriesOf(CURRENT_POLICIES, { variant: "remind", region: WORLD });
  const worldShock = world === undefined ? shock : excessOver(world, worldBaseline);
  const shocks = { variant, scenario, baseline, shock, worldShock };
  SHOCKS_BY_KEY.set(key, shocks);
  return shocks;
}

/** Returns whether a path has a single price worldwide, as those of the IPCC categories do. */
export function isWorldPrice(path: string): boolean {
  return path.startsWith("IPCC");
}

/** IPCC paths without published prices, and what is used instead. */
export const SUBSTITUTE_PRICES: Readonly<Record<string, string>> = {
  IPCC_C2: "the geometric mean of C1 and C3",
  IPCC_C4: "the lower quartile of C3",
  IPCC_C5: "half of the substitute for C4",
};

/** Returns the default variant of a path. */
export function mainVariant(path: string): PriceVariant {
  return isWorldPrice(path) ? "median" : "remind";
}

/** Returns all variants of a path. */
export function priceVariantsOf(path: string, region: NgfsRegion): readonly PriceVariant[] {
  const known: readonly PriceVariant[] = isWorldPrice(path) ? ENSEMBLE_VARIANTS : PRICE_MODEL_IDS;
  return known.filter((variant) => hasPrices(path, { variant, region }));
}

export function hasPriceInYear({ scenario }: PriceShocks, year: number): boolean {
  return !Number.isNaN(scenario[year - TABLE_START_YEAR] ?? NaN);
}

function regionOfPath(path: string, region: NgfsRegion): string {
  return isWorldPrice(path) ? WORLD : region;
}

function excessOver(prices: Float64Array, baseline: Float64Array): Float64Array {
  return prices.map((price, i) => Math.max(0, price - (baseline[i] ?? NaN)));
}
