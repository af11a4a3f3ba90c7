/** Section 3: carbon prices by scenario, model and region, USD of 2025 per t CO2e. */
import { INFL } from "./constants.ts";
import { Refusal } from "./refusal.ts";
import type { Iam } from "./request.ts";
import {
  interpolate,
  seriesKey,
  type Country,
  type PriceModel,
  type PriceSeries,
  type Quantile,
  type Scenario,
  type Tables,
} from "./tables.ts";

export const CURRENT_POLICIES = "NGFS_CURRENT_POLICIES";
/** REMIND or `iam` for the NGFS family; the AR6 ensemble or REMIND for the IPCC family. */
export function modelOf(scenario: Scenario, iam: Iam): PriceModel {
  if (scenario.family === "NGFS") return iam;
  return scenario.price_path.startsWith("IPCC_") ? "ar6" : "remind";
}

/** The country's region; `World` for the paths of the AR6 ensemble. */
export function regionOf(model: PriceModel, country: Country): string {
  return model === "ar6" ? "World" : country.ngfs_r5;
}

export function findSeries(tables: Tables, path: string, model: PriceModel, region: string): PriceSeries | undefined {
  return tables.prices.get(seriesKey(path, model, region));
}

/** P = INFL * price_usd2022; refuses a model without rows, and a year after the model's last. */
export function priceOf(
  tables: Tables,
  path: string,
  model: PriceModel,
  region: string,
  year: number,
  quantile: Quantile = "price_usd2022",
): number {
  const series = findSeries(tables, path, model, region);
  if (series === undefined || !coversYear(series, year)) {
    const message = `${model} has no price of ${path} for ${region} in ${year}`;
    throw new Refusal("combination_unavailable", 422, message);
  }
  return INFL * interpolate(series.quantiles[quantile], year);
}

/** True up to the last year of the model's rows. */
export function coversYear(series: PriceSeries, year: number): boolean {
  return year <= (series.quantiles.price_usd2022.at(-1)?.year ?? 0);
}

/** Price of Current Policies, which is always REMIND's. */
export function baselinePrice(tables: Tables, region: string, year: number): number {
  return priceOf(tables, CURRENT_POLICIES, "remind", region, year);
}

/** One price path in one model and quantile. */
export interface PricePath {
  readonly scenario: Scenario;
  readonly model: PriceModel;
  readonly quantile: Quantile;
  readonly shockYear: number;
}

/** dP, the price shock of the country: max(0, P_s - P_CP), 0 before the first year of the shock. */
export function priceShock(tables: Tables, path: PricePath, country: Country, year: number): number {
  return shockInRegion(tables, path, regionOf(path.model, country), country.ngfs_r5, year);
}

/** dPf, the shock of the fuel price, for `fuel_world`: both prices of World; the country's region where the model has no World rows. */
export function worldPriceShock(tables: Tables, path: PricePath, country: Country, year: number): number {
  const hasWorld = findSeries(tables, path.scenario.price_path, path.model, "World") !== undefined;
  return hasWorld ? shockInRegion(tables, path, "World", "World", year) : priceShock(tables, path, country, year);
}

function shockInRegion(tables: Tables, path: PricePath, region: string, baselineRegion: string, year: number): number {
  const price = priceOf(tables, path.scenario.price_path, path.model, region, year, path.quantile);
  if (year < path.shockYear) return 0;
  return Math.max(0, price - baselinePrice(tables, baselineRegion, year));
}

/** A more ambitious path that the scenario's price exceeds, and the requested years in which it does. */
export interface PriceInversion {
  readonly scenario: string;
  readonly path: string;
  readonly years: readonly number[];
}

/** Section 3, rule for `price_inversion`. */
export function priceInversions(
  tables: Tables,
  scenario: Scenario,
  model: PriceModel,
  country: Country,
  years: readonly number[],
): PriceInversion[] {
  if (scenario.family !== "NGFS") return [];
  if (!["Hot house world", "Too little, too late"].includes(scenario.narrative)) return [];
  const region = regionOf(model, country);
  const price = (path: string, year: number): number => priceOf(tables, path, model, region, year);
  return ["NGFS_NET_ZERO_2050", "NGFS_LOW_DEMAND", "NGFS_BELOW_2C"]
    .filter((path) => findSeries(tables, path, model, region) !== undefined)
    .map((path) => ({
      scenario: scenario.scenario_id,
      path,
      years: years.filter((year) => price(scenario.price_path, year) > 1.1 * price(path, year)),
    }))
    .filter((inversion) => inversion.years.length > 0);
}
