import {
  ANCHOR_COUNT,
  GROWTH_REGION_COUNT,
  PATHWAY_COUNT,
  TABLE_FIRST_YEAR,
  TABLE_HORIZON_YEAR,
  TABLE_LAST_YEAR,
  TABLE_SEGMENTS,
  TABLE_YEARS,
  TEMPERATURE_MIN_C,
  YEAR_ALLOWANCE,
  YEAR_BYTES,
  YEAR_GROWTH,
  YEAR_INDEX,
} from "./kernel.generated.ts";

export { ANCHOR_COUNT, GROWTH_REGION_COUNT, PATHWAY_COUNT } from "./kernel.generated.ts";

/** A benchmark with values for every year from `firstYear` to `lastYear`. */
export interface YearlyBenchmark {
  readonly firstYear: number;
  readonly lastYear: number;
  /** The index is 1 in this year. */
  readonly baseYear: number;
  /** First year in which the pathways are distinguishable. */
  readonly horizonYear: number;
  /** Warming of the anchors in 2100, degrees C, ascending. */
  readonly anchorTemperaturesC: readonly number[];
  /** Warming in the base year, degrees C. */
  readonly currentTemperatureC: number;
  /** f64[year][pathway][anchor] */
  readonly index: Float64Array;
  /** f64[year][region], the pooled region first */
  readonly growth: Float64Array;
}

/**
 * A benchmark in the kernel's memory layout, with the values derived from it (assembly/alignmentLayout.ts, TABLE_*).
 */
export type AlignmentTables = Float64Array & { readonly isAlignmentTables: true };

/**
 * Computes the kernel's tables from a benchmark.
 *
 * @throws RangeError if the arrays do not match the number of years, pathways, anchors and regions
 */
export function makeAlignmentTables(benchmark: YearlyBenchmark): AlignmentTables {
  const { firstYear, lastYear, baseYear, horizonYear, anchorTemperaturesC, currentTemperatureC } = benchmark;
  const yearCount = lastYear - firstYear + 1;
  const { index, growth } = benchmark;
  const yearSize = PATHWAY_COUNT * ANCHOR_COUNT;
  if (
    !(yearCount >= 1) ||
    anchorTemperaturesC.length !== ANCHOR_COUNT ||
    index.length !== yearCount * yearSize ||
    growth.length !== yearCount * GROWTH_REGION_COUNT
  ) {
    throw new RangeError(
      `a benchmark of ${yearCount} years must have ${ANCHOR_COUNT} anchors, ${yearCount * yearSize} index values and ` +
        `${yearCount * GROWTH_REGION_COUNT} growth values (got ${anchorTemperaturesC.length}, ${index.length}, ` +
        `${growth.length})`,
    );
  }
  const sums = index.slice();
  for (let i = yearSize; i < sums.length; i++) sums[i] = (sums[i] ?? 0) + (sums[i - yearSize] ?? 0);

  // Baselines up to the base year are compared with an index of 1; after it, the world is assumed to follow the hottest
  // anchor.
  const perBase = new Float64Array(yearCount * PATHWAY_COUNT).fill(1);
  for (let i = Math.max(0, baseYear - firstYear + 1) * PATHWAY_COUNT; i < perBase.length; i++) {
    perBase[i] = 1 / (index[i * ANCHOR_COUNT + ANCHOR_COUNT - 1] ?? NaN);
  }
  const allowance = growth.map((size, i) => (growth[i - (i % GROWTH_REGION_COUNT)] ?? NaN) / size);

  const starts = [TEMPERATURE_MIN_C, ...anchorTemperaturesC];
  const hottestC = starts.at(-1) ?? NaN;
  // Above the hottest anchor the warming since the base year is proportional to emissions.
  const ends = [...anchorTemperaturesC, hottestC + (hottestC - currentTemperatureC)];

  const yearsAt = TABLE_YEARS / 8;
  const yearStride = YEAR_BYTES / 8;
  const tables = new Float64Array(yearsAt + yearCount * yearStride + sums.length + perBase.length);
  tables[TABLE_FIRST_YEAR / 8] = firstYear;
  tables[TABLE_LAST_YEAR / 8] = lastYear;
  tables[TABLE_HORIZON_YEAR / 8] = horizonYear;
  for (const [segment, startC] of starts.entries()) {
    tables.set([startC, (ends[segment] ?? NaN) - startC], TABLE_SEGMENTS / 8 + 2 * segment);
  }
  for (let year = 0; year < yearCount; year++) {
    const yearAt = yearsAt + year * yearStride;
    const regionRange = [year * GROWTH_REGION_COUNT, (year + 1) * GROWTH_REGION_COUNT] as const;
    tables.set(index.subarray(year * yearSize, (year + 1) * yearSize), yearAt + YEAR_INDEX / 8);
    tables.set(allowance.subarray(...regionRange), yearAt + YEAR_ALLOWANCE / 8);
    tables.set(growth.subarray(...regionRange), yearAt + YEAR_GROWTH / 8);
  }
  tables.set(sums, yearsAt + yearCount * yearStride);
  tables.set(perBase, yearsAt + yearCount * yearStride + sums.length);
  return tables as AlignmentTables;
}
