import { PRICE_MODEL_IDS, type PRICE_ORIGINS } from "../contract/names.ts";
import type { NgfsRegion } from "../reference/countryNames.ts";
import { CARBON_PRICE_ROWS, type CarbonPriceRow } from "./data/carbonPrices.generated.ts";
import { TABLE_START_YEAR, USD2025_PER_USD2022 } from "./methodConstants.ts";
import type { TransitionScenario } from "./scenarios.ts";
import { interpolateYearly } from "./yearlySeries.ts";

/** Models of the NGFS prices. */
export const PRICE_MODELS = {
  remind: "REMIND-MAgPIE 3.3-4.8",
  messageix: "MESSAGEix-GLOBIOM 2.0-M-R12-NGFS",
  gcam: "GCAM 6.0 NGFS",
} as const satisfies Record<(typeof PRICE_MODEL_IDS)[number], string>;
export type PriceModel = (typeof PRICE_MODEL_IDS)[number];
export type PriceOrigin = (typeof PRICE_ORIGINS)[number];

/** IPCC prices are the median and quartiles of an ensemble of models. */
const ENSEMBLE_QUARTILES = ["p25", "p75"] as const;
/** Variant of a price path. */
export type PriceVariant = PriceModel | "median" | (typeof ENSEMBLE_QUARTILES)[number];

/** Years of the table. A series has prices in some of them. */
const PRICE_YEARS = [2020, 2025, 2030, 2035, 2040, 2045, 2050, 2055, 2060, 2070, 2080, 2090, 2100] as const;

/** Baseline: only prices above it are a shock. */
export const CURRENT_POLICIES = "NGFS_CURRENT_POLICIES";
const WORLD = "World";
export type PriceRegion = NgfsRegion | typeof WORLD;

/**
 * USD of 2025 per t CO2, by year from 2020; NaN in years without a price. The table has USD of 2022.
 *
 * NGFS Climate Scenarios Phase V (November 2024), IIASA NGFS Scenario Explorer: shadow prices of REMIND-MAgPIE 3.3-4.8,
 * MESSAGEix-GLOBIOM 2.0-M-R12-NGFS and GCAM 6.0 NGFS, published in USD of 2010. Research and commercial use is allowed,
 * redistribution of substantial parts is not: the table is a small extract of the database.
 * IPCC AR6 WGIII chapter 3: median and quartiles of C1 and C3 for 2030 and 2050, in USD of 2015; other years are
 * interpolated linearly, constant after 2050. Prices of C2, C4 and C5 are not published; column `source` names the
 * substitutes.
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

/** Substitutes for the prices of paths without published ones, from the column `source`. */
const NOT_PUBLISHED = "not published: ";
export const SUBSTITUTE_PRICES: ReadonlyMap<string, string> = new Map(
  CARBON_PRICE_ROWS.filter(({ source }) => source.startsWith(NOT_PUBLISHED)).map((row) => [
    row.scenario_id,
    row.source.slice(NOT_PUBLISHED.length),
  ]),
);

/** Returns the prices of a path, by year from 2020; undefined if there are none of this variant for the region. */
export function pricesOf(
  path: string,
  of: { readonly variant: PriceVariant; readonly region: PriceRegion },
): Float64Array | undefined {
  return SERIES.get(seriesKey(path, of));
}

/** Carbon prices for a company, USD of 2025 per t CO2e, by year from 2020; NaN in years without a price. */
export interface PriceShocks {
  readonly variant: PriceVariant;
  readonly region: PriceRegion;
  readonly scenario: Float64Array;
  /** Price under Current Policies in the region of the country. */
  readonly baseline: Float64Array;
  /** Excess of the scenario price over the baseline, at least 0. */
  readonly shock: Float64Array;
  /** The same for world prices; that of the region if there are none. */
  readonly worldShock: Float64Array;
}

const SHOCKS_BY_KEY = new Map<string, PriceShocks | undefined>();

/** Returns the price shocks of a path, cached; undefined if there are no prices of this variant for the region. */
export function priceShocksOf(
  path: string,
  of: { readonly variant: PriceVariant; readonly region: NgfsRegion },
): PriceShocks | undefined {
  const key = seriesKey(path, of);
  if (!SHOCKS_BY_KEY.has(key)) SHOCKS_BY_KEY.set(key, computeShocks(path, of));
  return SHOCKS_BY_KEY.get(key);
}

function computeShocks(
  path: string,
  of: { readonly variant: PriceVariant; readonly region: NgfsRegion },
): PriceShocks | undefined {
  const { variant } = of;
  const region = isWorldPrice(path) ? WORLD : of.region;
  const scenario = pricesOf(path, { variant, region });
  if (scenario === undefined) return undefined;
  const baseline = baselinePrices(of.region);
  const shock = excessOver(scenario, baseline);
  const world = pricesOf(path, { variant, region: WORLD });
  const worldShock = world === undefined ? shock : excessOver(world, baselinePrices(WORLD));
  return { variant, region, scenario, baseline, shock, worldShock };
}

function baselinePrices(region: PriceRegion): Float64Array {
  const prices = pricesOf(CURRENT_POLICIES, { variant: "remind", region });
  if (prices === undefined) throw new Error(`There are no prices of ${CURRENT_POLICIES} for ${region}.`);
  return prices;
}

/** Returns whether a path has a single price worldwide, as those of the IPCC categories do. */
export function isWorldPrice(path: string): boolean {
  return path.startsWith("IPCC");
}

/** Returns the variant of the central case: the requested model for scenarios of the NGFS, else the only one. */
export function centralVariant({ family, pricePath }: TransitionScenario, iam: PriceModel): PriceVariant {
  if (family === "NGFS") return iam;
  return isWorldPrice(pricePath) ? "median" : "remind";
}

/** Returns the variants that the range of a result covers besides the central one. */
export function otherVariants({ family }: TransitionScenario, central: PriceVariant): readonly PriceVariant[] {
  if (central === "median") return ENSEMBLE_QUARTILES;
  return family === "NGFS" ? PRICE_MODEL_IDS.filter((model) => model !== central) : [];
}

/** Returns the model or ensemble that a variant belongs to. */
export function originOf(variant: PriceVariant): PriceOrigin {
  return variant === "remind" || variant === "messageix" || variant === "gcam" ? variant : "ar6";
}

/** Returns the models with prices for a path in a region. */
export function modelsWithPrices(path: string, region: NgfsRegion): readonly PriceModel[] {
  return PRICE_MODEL_IDS.filter((variant) => pricesOf(path, { variant, region }) !== undefined);
}

export function hasPriceInYear(prices: Float64Array, year: number): boolean {
  return !Number.isNaN(prices[year - TABLE_START_YEAR] ?? NaN);
}

function excessOver(prices: Float64Array, baseline: Float64Array): Float64Array {
  return prices.map((price, i) => Math.max(0, price - (baseline[i] ?? NaN)));
}
