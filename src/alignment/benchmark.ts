import type { Pathway } from "../contract/wireTypes.ts";
import { PATHWAY_INDEX } from "../kernel/alignmentColumns.ts";
import {
  ANCHOR_COUNT,
  NO_GROWTH_SERIES,
  PATHWAY_COUNT,
  type Warming,
  type YearlyBenchmark,
} from "../kernel/alignmentTables.ts";

/**
 * Emissions pathways of four scenarios by sector, and the growth of economies. Benchmarks are pure data: another vintage
 * or another set of scenarios is another object of this type.
 */
export interface Benchmark {
  /** Shown in every answer, because results of different benchmarks are not comparable. */
  readonly id: string;
  /** Source of the data, as a text for people. */
  readonly credit: string;
  /** Four scenarios in ascending order of warming; the last one is current policies. */
  readonly anchors: readonly [BenchmarkAnchor, BenchmarkAnchor, BenchmarkAnchor, BenchmarkAnchor];
  /** Warming without the anchors, by percentile of the climate response. */
  readonly warming: Readonly<Record<"p10" | "p50" | "p90", CurrentWarming>>;
  /** Year in which every pathway is 1. */
  readonly baseYear: number;
  /** Earlier years are evaluated at this year, because the scenarios have not yet diverged enough. */
  readonly horizonYear: number;
  /** Years of the pathways, ascending from the base year; linear in between, constant outside. */
  readonly pathwayYears: readonly number[];
  /** Emissions index by pathway, anchor and year, 1 in the base year. */
  readonly pathways: Readonly<Record<Pathway, readonly [IndexByYear, IndexByYear, IndexByYear, IndexByYear]>>;
  /** Years of the growth indices, ascending; linear in between, constant outside. */
  readonly growthYears: readonly number[];
  /** GDP of economies; at most 255. */
  readonly growth: readonly GrowthSeries[];
  /** `id` of the series of the economies that the pathways are pooled over. */
  readonly pooledGrowthId: string;
}

/** Scenario with its warming in 2100, degrees C above 1850-1900: median and percentiles of the climate response. */
export interface BenchmarkAnchor {
  readonly scenario: string;
  readonly temperature_2100_c: number;
  readonly temperature_2100_p10_c: number;
  readonly temperature_2100_p90_c: number;
}

/** Degrees C above 1850-1900. */
export interface CurrentWarming {
  /** Warming of the base year. */
  readonly baseYearC: number;
  /** Temperature of an entity without emissions. */
  readonly lowerBoundC: number;
}

/** One value for each of the corresponding years. */
export type IndexByYear = readonly number[];

/** GDP index of a country or of an aggregate of countries. */
export interface GrowthSeries {
  /** ISO 3166 alpha-3 code of a country, or name of an aggregate such as `R5ASIA`. */
  readonly id: string;
  /** Entities of an aggregate have the flag `growth_region`. */
  readonly kind: "country" | "aggregate";
  readonly index: IndexByYear;
}

/** Returns the index of a growth series in `benchmark.growth`, or undefined if there is none. */
export function findGrowthSeries(benchmark: Benchmark, id: string): number | undefined {
  return seriesIndexOf(benchmark).get(id);
}

const seriesIndices = new WeakMap<Benchmark, ReadonlyMap<string, number>>();

function seriesIndexOf(benchmark: Benchmark): ReadonlyMap<string, number> {
  const known = seriesIndices.get(benchmark);
  if (known !== undefined) return known;
  const indices = new Map(benchmark.growth.map(({ id }, index) => [id, index]));
  seriesIndices.set(benchmark, indices);
  return indices;
}

/** Returns the GDP index of a series, linear between the benchmark's years and constant outside them. */
export function growthIndex(benchmark: Benchmark, series: GrowthSeries, year: number): number {
  return interpolate({ years: benchmark.growthYears, values: series.index, year });
}

/** Tabulates a benchmark by year in the layout of the kernel tables. */
export function tabulateByYear(benchmark: Benchmark): YearlyBenchmark {
  const { pathwayYears, growthYears, pathways, growth, pooledGrowthId, anchors, warming } = benchmark;
  const firstYear = Math.min(pathwayYears[0] ?? NaN, growthYears[0] ?? NaN);
  const lastYear = pathwayYears.at(-1) ?? NaN;
  const yearCount = lastYear - firstYear + 1;
  const index = new Float64Array(yearCount * PATHWAY_COUNT * ANCHOR_COUNT);
  for (let year = firstYear; year <= lastYear; year++) {
    for (const [pathway, lines] of Object.entries(pathways)) {
      const at = ((year - firstYear) * PATHWAY_COUNT + PATHWAY_INDEX[pathway as Pathway]) * ANCHOR_COUNT;
      lines.forEach((values, anchor) => (index[at + anchor] = interpolate({ years: pathwayYears, values, year })));
    }
  }
  const pooled = findGrowthSeries(benchmark, pooledGrowthId);
  if (pooled === undefined) throw new Error(`The benchmark has no growth series "${pooledGrowthId}".`);
  const warmingOf = (percentile: keyof Benchmark["warming"], anchorsC: readonly number[]): Warming => ({
    anchorsC,
    currentC: warming[percentile].baseYearC,
    lowerBoundC: warming[percentile].lowerBoundC,
  });
  return {
    firstYear,
    lastYear,
    baseYear: benchmark.baseYear,
    horizonYear: benchmark.horizonYear,
    warming: {
      p10: warmingOf(
        "p10",
        anchors.map((anchor) => anchor.temperature_2100_p10_c),
      ),
      p50: warmingOf(
        "p50",
        anchors.map((anchor) => anchor.temperature_2100_c),
      ),
      p90: warmingOf(
        "p90",
        anchors.map((anchor) => anchor.temperature_2100_p90_c),
      ),
    },
    index,
    growth: growth.map((series) =>
      Float64Array.from({ length: yearCount }, (_, i) => growthIndex(benchmark, series, firstYear + i)),
    ),
    isRegion: growth.map(({ kind }) => kind === "aggregate"),
    pooledSeries: pooled,
  };
}

function interpolate(line: {
  readonly years: readonly number[];
  readonly values: readonly number[];
  readonly year: number;
}): number {
  const { years, values, year } = line;
  if (values.length !== years.length)
    throw new Error(`The benchmark has ${values.length} values for ${years.length} years.`);
  const after = years.findIndex((known) => known >= year);
  if (after === 0) return values[0] ?? NaN;
  if (after < 0) return values.at(-1) ?? NaN;
  const [fromYear = NaN, toYear = NaN] = [years[after - 1], years[after]];
  const [from = NaN, to = NaN] = [values[after - 1], values[after]];
  return year === toYear ? to : from + ((to - from) * (year - fromYear)) / (toYear - fromYear);
}

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
