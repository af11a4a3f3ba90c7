import { NO_GROWTH_SERIES } from "../kernel/alignmentTables.ts";
import { type Benchmark, findGrowthSeries } from "./benchmark.ts";

/**
 * Returns the growth series of a country as an index into `benchmark.growth`: its own, or that of its region where it
 * has none; NO_GROWTH_SERIES if neither exists.
 *
 * @param country ISO 3166 alpha-3 code and NGFS region
 */
export function growthSeriesOf(
  benchmark: Benchmark,
  country: { readonly iso3: string; readonly region: string } | undefined,
): number {
  if (country === undefined) return NO_GROWTH_SERIES;
  return findGrowthSeries(benchmark, country.iso3) ?? findGrowthSeries(benchmark, country.region) ?? NO_GROWTH_SERIES;
}
