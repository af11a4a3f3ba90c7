import { type AlignmentRule, BASES, reserveZeroedScratch } from "./alignment.ts";
import { columnPointers, copyColumns, type EntityColumns, reserveColumns } from "./alignmentColumns.ts";
import type { AlignmentTables } from "./alignmentTables.ts";
import type { Kernel } from "./instance.ts";
import {
  ANCHOR_COUNT,
  GROWTH_SOURCE_COUNTRY,
  GROWTH_SOURCE_DEFAULT,
  GROWTH_SOURCE_REGION,
  GROWTH_SOURCE_SUPPLIED,
  RECORD_ANCHORS,
  RECORD_BASELINE,
  RECORD_BUDGET_ALLOWED,
  RECORD_BUDGET_PROJECTED,
  RECORD_BYTES,
  RECORD_CLIMATE_HIGH,
  RECORD_CLIMATE_LOW,
  RECORD_COVERAGE,
  RECORD_EVALUATED_YEAR,
  RECORD_FLAGS,
  RECORD_GROWTH_FACTOR,
  RECORD_GROWTH_SOURCE,
  RECORD_KAPPA,
  RECORD_PROJECTED,
  RECORD_RANGE_HIGH,
  RECORD_RANGE_LOW,
  RECORD_RATIO_Q,
  RECORD_RAW_ANCHORS,
  RECORD_SHARES,
  RECORD_TEMPERATURE,
  RECORD_USABLE,
  VARIANT_COUNT,
  VARIANT_CUMULATIVE,
  VARIANT_SCOPES_1_2,
  VARIANT_SCOPE_1,
} from "./kernel.generated.ts";

/** Where the growth factor comes from; a basis without growth has none. */
type GrowthSource = "supplied" | "country" | "region" | "default";

const GROWTH_SOURCES: ReadonlyMap<number, GrowthSource> = new Map([
  [GROWTH_SOURCE_SUPPLIED, "supplied"],
  [GROWTH_SOURCE_COUNTRY, "country"],
  [GROWTH_SOURCE_REGION, "region"],
  [GROWTH_SOURCE_DEFAULT, "default"],
]);

/** Intermediate figures of one temperature. NaN = the figure does not exist. */
export interface AlignmentFigures {
  readonly temperatureC: number;
  /** Temperatures with 5 % less and 5 % more projected emissions. */
  readonly rangeLowC: number;
  readonly rangeHighC: number;
  /** Temperatures at the 10th and 90th percentile of the climate response. */
  readonly climateLowC: number;
  readonly climateHighC: number;
  /** Flags of the row on this basis; without DUPLICATE_YEAR and SCOPE3_ABSENT, which concern several rows. */
  readonly flags: number;
  /** E(b) and E(y), over the scopes given in both years. */
  readonly baseline: number;
  readonly projected: number;
  /** Growth of the benchmark's economy / growth of the entity's; 1 on a basis without growth. */
  readonly growthFactor: number;
  readonly growthSource: GrowthSource | undefined;
  /** The ratio compared with the anchors: q*, or the mean of the entity's emissions relative to its baseline. */
  readonly ratioQ: number;
  readonly evaluatedYear: number;
  /** f64[4], after anchors that are too close have been separated */
  readonly anchors: readonly number[];
  /** f64[4], before that. */
  readonly rawAnchors: readonly number[];
  /** 0 to 4: number of anchors below the ratio; `weight` is the fraction along that segment, above 1 after the last. */
  readonly segment: number;
  readonly weight: number;
  /** Emissions intensity of the entity relative to its industry, limited as the method requires; used by the convergence. */
  readonly kappa: number;
  /** For scopes 1 to 3: whether the scope is given in both years and has a weight above 0. */
  readonly usableScopes: readonly boolean[];
  /** For scopes 1 to 3: share of the scope in the baseline. */
  readonly shares: readonly number[];
  /** Share of the given emissions that the usable scopes cover; NaN unless a scope was dropped. */
  readonly coverage: number;
}

/** The figures of one row for every basis and every single scope. */
export interface AlignmentRowDetail {
  readonly intensity: AlignmentFigures;
  readonly emissions: AlignmentFigures;
  readonly cumulative: AlignmentFigures;
  /** Scopes 1 to 3 alone, in the requested basis. */
  readonly byScope: readonly AlignmentFigures[];
  /** Scopes 1 and 2 together, in the requested basis. */
  readonly scopes12: AlignmentFigures;
  /** Emissions of the years after the baseline, projected and allowed by each anchor. */
  readonly budget: { readonly projected: number; readonly allowed: readonly number[] };
}

/** Returns the intermediate figures of each row of one entity. Requires columns that `computeAlignment` accepts. */
export function alignDetail(
  kernel: Kernel,
  tables: AlignmentTables,
  columns: EntityColumns,
  { entity, ...rule }: AlignmentRule & { readonly entity: number },
): readonly AlignmentRowDetail[] {
  const firstRow = columns.starts[entity] ?? 0;
  const endRow = columns.starts[entity + 1] ?? 0;
  const rowCount = endRow - firstRow;
  return kernel.withScratch((scratch) => {
    const target = reserveColumns(kernel, scratch, columns, { entityCount: 1, rowCount });
    copyColumns(columns, target, { first: entity, end: entity + 1, firstRow, endRow });
    const records = scratch.reserve(rowCount * VARIANT_COUNT * RECORD_BYTES);
    kernel.check(
      kernel.exports.alignDetail(
        scratch.copyIn(tables).pointer,
        scratch.copyIn(columnPointers(target)).pointer,
        0,
        rule.scope3Weight,
        BASES[rule.basis],
        rule.gamma,
        reserveZeroedScratch(kernel, scratch, rowCount).pointer,
        records.pointer,
      ),
      "alignDetail",
    );
    const memory = kernel.f64(records);
    const recordOf = (row: number, variant: number): Float64Array => {
      const start = ((row * VARIANT_COUNT + variant) * RECORD_BYTES) / 8;
      return memory.subarray(start, start + RECORD_BYTES / 8);
    };
    return Array.from({ length: rowCount }, (_, row) => ({
      intensity: figuresOf(recordOf(row, BASES.intensity)),
      emissions: figuresOf(recordOf(row, BASES.emissions)),
      cumulative: figuresOf(recordOf(row, VARIANT_CUMULATIVE)),
      byScope: [0, 1, 2].map((scope) => figuresOf(recordOf(row, VARIANT_SCOPE_1 + scope))),
      scopes12: figuresOf(recordOf(row, VARIANT_SCOPES_1_2)),
      budget: budgetOf(recordOf(row, VARIANT_CUMULATIVE)),
    }));
  });
}

function figuresOf(record: Float64Array): AlignmentFigures {
  const valueAt = (offsetBytes: number): number => record[offsetBytes / 8] ?? NaN;
  const valuesAt = (offsetBytes: number, count: number): number[] =>
    Array.from(record.subarray(offsetBytes / 8, offsetBytes / 8 + count));
  const usable = valueAt(RECORD_USABLE);
  const ratioQ = valueAt(RECORD_RATIO_Q);
  const anchors = valuesAt(RECORD_ANCHORS, ANCHOR_COUNT);
  return {
    temperatureC: valueAt(RECORD_TEMPERATURE),
    rangeLowC: valueAt(RECORD_RANGE_LOW),
    rangeHighC: valueAt(RECORD_RANGE_HIGH),
    climateLowC: valueAt(RECORD_CLIMATE_LOW),
    climateHighC: valueAt(RECORD_CLIMATE_HIGH),
    flags: valueAt(RECORD_FLAGS),
    baseline: valueAt(RECORD_BASELINE),
    projected: valueAt(RECORD_PROJECTED),
    growthFactor: valueAt(RECORD_GROWTH_FACTOR),
    growthSource: GROWTH_SOURCES.get(valueAt(RECORD_GROWTH_SOURCE)),
    ratioQ,
    evaluatedYear: valueAt(RECORD_EVALUATED_YEAR),
    anchors,
    rawAnchors: valuesAt(RECORD_RAW_ANCHORS, ANCHOR_COUNT),
    ...segmentOf(ratioQ, anchors),
    kappa: valueAt(RECORD_KAPPA),
    usableScopes: [0, 1, 2].map((scope) => ((usable >> scope) & 1) === 1),
    shares: valuesAt(RECORD_SHARES, 3),
    coverage: valueAt(RECORD_COVERAGE),
  };
}

/** Returns the segment of a ratio and the fraction along it; NaN without a ratio. */
function segmentOf(ratioQ: number, anchors: readonly number[]): { readonly segment: number; readonly weight: number } {
  if (Number.isNaN(ratioQ)) return { segment: NaN, weight: NaN };
  const segment = anchors.filter((anchor) => ratioQ > anchor).length;
  const from = anchors[segment - 1] ?? 0;
  const to = anchors[segment] ?? 2 * from;
  return { segment, weight: (ratioQ - from) / (to - from) };
}

function budgetOf(record: Float64Array): AlignmentRowDetail["budget"] {
  const allowedAt = RECORD_BUDGET_ALLOWED / 8;
  return {
    projected: record[RECORD_BUDGET_PROJECTED / 8] ?? NaN,
    allowed: Array.from(record.subarray(allowedAt, allowedAt + ANCHOR_COUNT)),
  };
}
