import {
  ANCHOR_COUNT,
  CHANGE_YEARS_MAX,
  CURVE_BYTES,
  CURVE_MAX,
  CURVE_P10,
  CURVE_P50,
  CURVE_P90,
  CURVE_RISES,
  CURVE_START,
  NO_GROWTH_SERIES,
  PATHWAY_COUNT,
  SHORTEST_HORIZON_YEARS,
  TABLED_HORIZON_MAX,
  TABLE_CURVES,
  TABLE_FIRST_YEAR,
  TABLE_HORIZON_YEAR,
  TABLE_LAST_RATIO,
  TABLE_LAST_YEAR,
  TABLE_PLAUSIBLE_CHANGES,
  TABLE_SCALES,
  TABLE_SERIES_COUNT,
  TABLE_YEARS,
  TEMPERATURE_MAX_C,
  YEAR_BYTES,
  YEAR_INDEX,
  YEAR_PER_BASE,
  YEAR_POOL,
} from "./kernel.generated.ts";
import { power } from "../numerics/elementaryFunctions.ts";

export { ANCHOR_COUNT, NO_GROWTH_SERIES, PATHWAY_COUNT } from "./kernel.generated.ts";

/** A benchmark with values for every year from `firstYear` to `lastYear`. */
export interface YearlyBenchmark {
  readonly firstYear: number;
  readonly lastYear: number;
  /** The index is 1 in this year. */
  readonly baseYear: number;
  /** First year in which the pathways are distinguishable. */
  readonly horizonYear: number;
  /** By percentile of the climate response. */
  readonly warming: Readonly<Record<"p10" | "p50" | "p90", Warming>>;
  /** f64[year][pathway][anchor] */
  readonly index: Float64Array;
  /** GDP index of each series, f64[year] */
  readonly growth: readonly Float64Array[];
  /** Whether each series is that of a region. */
  readonly isRegion: readonly boolean[];
  /** Index of the pooled series of the economies that the benchmark covers. */
  readonly pooledSeries: number;
}

/** Degrees C above 1850-1900. */
export interface Warming {
  /** Warming of the anchors in 2100, ascending. */
  readonly anchorsC: readonly number[];
  /** Warming of the base year. */
  readonly currentC: number;
  /** Temperature of an entity without emissions. */
  readonly lowerBoundC: number;
}

/**
 * A benchmark in the kernel's memory layout, with the values derived from it (assembly/alignmentLayout.ts, TABLE_*).
 */
export type AlignmentTables = Float64Array & { readonly isAlignmentTables: true };

/** Factors by which emissions are scaled to determine the flag `sensitive` and the range. */
const SCALES = [0.925, 0.95, 1.05, 1.075] as const;
/** Larger than the relative rounding error of a ratio of emissions. */
const ROUNDING = 1e-12;
const PERCENTILE_CURVES = { p50: CURVE_P50, p10: CURVE_P10, p90: CURVE_P90 } as const;

/**
 * Computes the kernel's tables from a benchmark.
 *
 * @throws RangeError if the arrays do not match the number of years, pathways, anchors and series
 */
export function makeAlignmentTables(benchmark: YearlyBenchmark): AlignmentTables {
  checkBenchmark(benchmark);
  const { firstYear, lastYear, horizonYear, index, growth, isRegion, pooledSeries } = benchmark;
  const yearCount = lastYear - firstYear + 1;
  const yearSize = PATHWAY_COUNT * ANCHOR_COUNT;
  const sums = index.slice();
  for (let i = yearSize; i < sums.length; i++) sums[i] = (sums[i] ?? 0) + (sums[i - yearSize] ?? 0);
  const perBase = perBaseOf(benchmark);
  const pool = growth[pooledSeries] ?? new Float64Array(yearCount);

  const yearsAt = TABLE_YEARS / 8;
  const yearStride = YEAR_BYTES / 8;
  const sumsAt = yearsAt + yearCount * yearStride;
  const growthAt = sumsAt + sums.length;
  // The series are followed by a row of ones, for entities without a series.
  const tables = new Float64Array(growthAt + (growth.length + 1) * (yearCount + 1)).fill(
    1,
    growthAt + growth.length * (yearCount + 1),
  );
  tables[TABLE_FIRST_YEAR / 8] = firstYear;
  tables[TABLE_LAST_YEAR / 8] = lastYear;
  tables[TABLE_HORIZON_YEAR / 8] = horizonYear;
  tables[TABLE_SERIES_COUNT / 8] = growth.length;
  // A little more than the exact ratio, so that rounding cannot keep the temperature below its maximum.
  tables[TABLE_LAST_RATIO / 8] = (1 + excessMaxOf(benchmark)) * (1 + ROUNDING);
  for (const percentile of ["p50", "p10", "p90"] as const) {
    const curveIndex = (TABLE_CURVES + PERCENTILE_CURVES[percentile] * CURVE_BYTES) / 8;
    const { startC, risesC, maxC } = curveOf(benchmark, percentile);
    tables[curveIndex + CURVE_START / 8] = startC;
    tables.set(risesC, curveIndex + CURVE_RISES / 8);
    tables[curveIndex + CURVE_MAX / 8] = maxC;
  }
  for (let years = 0; years <= CHANGE_YEARS_MAX; years++) {
    const [smallest, largest] = plausibleChangesAfter(years);
    const closer = [smallest * (1 + ROUNDING), largest * (1 - ROUNDING)];
    tables.set([smallest, largest, ...closer], TABLE_PLAUSIBLE_CHANGES / 8 + 4 * years);
  }
  for (let horizon = SHORTEST_HORIZON_YEARS; horizon <= TABLED_HORIZON_MAX; horizon++) {
    for (let years = 1; years <= horizon; years++) {
      const scalesIndex = ((horizon - SHORTEST_HORIZON_YEARS) * TABLED_HORIZON_MAX + years - 1) * SCALES.length;
      tables.set(
        SCALES.map((scale) => power(scale, horizon / years)),
        TABLE_SCALES / 8 + scalesIndex,
      );
    }
  }
  for (let year = 0; year < yearCount; year++) {
    const yearAt = yearsAt + year * yearStride;
    tables.set(index.subarray(year * yearSize, (year + 1) * yearSize), yearAt + YEAR_INDEX / 8);
    tables.set(perBase.subarray(year * PATHWAY_COUNT, (year + 1) * PATHWAY_COUNT), yearAt + YEAR_PER_BASE / 8);
    tables[yearAt + YEAR_POOL / 8] = pool[year] ?? NaN;
  }
  tables.set(sums, sumsAt);
  for (const [series, sizes] of growth.entries()) {
    const rowAt = growthAt + series * (yearCount + 1);
    tables[rowAt] = isRegion[series] === true ? 1 : 0;
    for (const [year, size] of sizes.entries()) tables[rowAt + 1 + year] = (pool[year] ?? NaN) / size;
  }
  return tables as AlignmentTables;
}

function checkBenchmark({ firstYear, lastYear, warming, index, growth, isRegion, pooledSeries }: YearlyBenchmark) {
  const yearCount = lastYear - firstYear + 1;
  const indexSize = yearCount * PATHWAY_COUNT * ANCHOR_COUNT;
  const anchorCounts = Object.values(warming).map(({ anchorsC }) => anchorsC.length);
  if (
    !(yearCount >= 1) ||
    anchorCounts.some((count) => count !== ANCHOR_COUNT) ||
    index.length !== indexSize ||
    growth.some((sizes) => sizes.length !== yearCount)
  ) {
    throw new RangeError(
      `a benchmark of ${yearCount} years must have ${ANCHOR_COUNT} anchors, ${indexSize} index values and ${yearCount} ` +
        `values per growth series (got ${anchorCounts.join(", ")}; ${index.length}; ` +
        `${growth.map((sizes) => sizes.length).join(", ")})`,
    );
  }
  if (growth.length > NO_GROWTH_SERIES || isRegion.length !== growth.length || growth[pooledSeries] === undefined) {
    throw new RangeError(
      `a benchmark must have at most ${NO_GROWTH_SERIES} growth series, including the pooled series, and one element of ` +
        `isRegion for each (got ${growth.length} series, pooled series ${pooledSeries}, ${isRegion.length} elements)`,
    );
  }
}

/**
 * Returns the reciprocal of the emissions index with which a baseline is compared, f64[year][pathway]. It is 1 up to
 * the base year; after that, the world is assumed to follow the hottest anchor.
 */
function perBaseOf({ firstYear, lastYear, baseYear, index }: YearlyBenchmark): Float64Array {
  const perBase = new Float64Array((lastYear - firstYear + 1) * PATHWAY_COUNT).fill(1);
  for (let i = Math.max(0, baseYear - firstYear + 1) * PATHWAY_COUNT; i < perBase.length; i++) {
    perBase[i] = 1 / (index[i * ANCHOR_COUNT + ANCHOR_COUNT - 1] ?? NaN);
  }
  return perBase;
}

/**
 * Returns the curve of temperature over emissions: the temperature without emissions, the rises to each anchor and per
 * 100 % of emissions above the last, and the highest temperature. The median ends at TEMPERATURE_MAX_C, the percentiles
 * at the same ratio.
 */
function curveOf(benchmark: YearlyBenchmark, percentile: "p10" | "p50" | "p90") {
  const { anchorsC, currentC, lowerBoundC } = benchmark.warming[percentile];
  const hottestC = anchorsC.at(-1) ?? NaN;
  return {
    startC: lowerBoundC,
    risesC: [...anchorsC.map((anchorC, i) => anchorC - (anchorsC[i - 1] ?? lowerBoundC)), hottestC - currentC],
    maxC: percentile === "p50" ? TEMPERATURE_MAX_C : hottestC + (hottestC - currentC) * excessMaxOf(benchmark),
  };
}

/** Returns the excess over the hottest anchor, as a fraction, at which the median reaches TEMPERATURE_MAX_C. */
function excessMaxOf({ warming: { p50 } }: YearlyBenchmark): number {
  const hottestC = p50.anchorsC.at(-1) ?? NaN;
  return (TEMPERATURE_MAX_C - hottestC) / (hottestC - p50.currentC);
}

/** Returns the smallest and the largest plausible ratio of emissions after `years` years. */
function plausibleChangesAfter(years: number): readonly [number, number] {
  const exponent = Math.max(years, 3);
  return [Math.max(0.002, power(0.7, exponent)), Math.min(10, power(1.25, exponent))];
}

/** Returns the number of growth series of a benchmark. */
export function seriesCountOf(tables: AlignmentTables): number {
  return tables[TABLE_SERIES_COUNT / 8] ?? 0;
}
