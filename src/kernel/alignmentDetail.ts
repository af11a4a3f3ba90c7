import { type AlignmentRule, BASES, reserveZeroedScratch } from "./alignment.ts";
import { columnPointers, copyColumns, type EntityColumns, reserveColumns } from "./alignmentColumns.ts";
import type { AlignmentTables } from "./alignmentTables.ts";
import type { Kernel } from "./instance.ts";
import {
  ANCHOR_COUNT,
  RECORD_ANCHORS,
  RECORD_BASELINE,
  RECORD_BYTES,
  RECORD_EVALUATED_YEAR,
  RECORD_GROWTH_FACTOR,
  RECORD_KAPPA,
  RECORD_PROJECTED,
  RECORD_RATIO_Q,
  RECORD_SEGMENT,
  RECORD_TEMPERATURE,
  RECORD_USABLE,
  RECORD_WEIGHT,
} from "./kernel.generated.ts";

/** Intermediate figures of one temperature. NaN = the figure does not exist. */
export interface AlignmentFigures {
  readonly temperatureC: number;
  /** E(b) and E(y), over the scopes given in both years. */
  readonly baseline: number;
  readonly projected: number;
  /** Growth of the benchmark's economy / growth of the entity's. */
  readonly growthFactor: number;
  /** The ratio compared with the anchors: q*, or the mean of the entity's emissions relative to its baseline. */
  readonly ratioQ: number;
  readonly evaluatedYear: number;
  /** f64[4], after anchors that are too close have been separated */
  readonly anchors: readonly number[];
  /** 0 to 4: number of anchors below the ratio; `weight` is the fraction along that segment. */
  readonly segment: number;
  readonly weight: number;
  readonly kappa: number;
  /** Scopes 1 to 3: whether the scope is given in both years and has a weight above 0. */
  readonly usableScopes: readonly boolean[];
}

/** The figures of one row for every basis and every single scope. */
export interface AlignmentRowDetail {
  readonly intensity: AlignmentFigures;
  readonly emissions: AlignmentFigures;
  readonly cumulative: AlignmentFigures;
  /** Scopes 1 to 3 alone, in the requested basis. */
  readonly byScope: readonly AlignmentFigures[];
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
  return kernel.withScratch((scratch) => {
    const target = reserveColumns(kernel, scratch, columns, { entityCount: 1, rowCount: endRow - firstRow });
    copyColumns(columns, target.columns, { first: entity, end: entity + 1, firstRow, endRow });
    const columnsAt = scratch.copyIn(columnPointers(target.columns)).pointer;
    const records = scratch.reserve((endRow - firstRow) * 6 * RECORD_BYTES);
    kernel.check(
      kernel.exports.alignDetail(
        scratch.copyIn(tables).pointer,
        columnsAt,
        0,
        rule.scope3Weight,
        BASES[rule.basis],
        rule.gamma,
        reserveZeroedScratch(kernel, scratch),
        records.pointer,
      ),
      "alignDetail",
    );
    const memory = kernel.f64(records);
    const figures = (record: number): AlignmentFigures =>
      figuresOf(memory.subarray((record * RECORD_BYTES) / 8, ((record + 1) * RECORD_BYTES) / 8));
    return Array.from({ length: endRow - firstRow }, (_, row) => ({
      intensity: figures(row * 6),
      emissions: figures(row * 6 + 1),
      cumulative: figures(row * 6 + 2),
      byScope: [figures(row * 6 + 3), figures(row * 6 + 4), figures(row * 6 + 5)],
    }));
  });
}

function figuresOf(record: Float64Array): AlignmentFigures {
  const valueAt = (offsetBytes: number): number => record[offsetBytes / 8] ?? NaN;
  const usable = valueAt(RECORD_USABLE);
  return {
    temperatureC: valueAt(RECORD_TEMPERATURE),
    baseline: valueAt(RECORD_BASELINE),
    projected: valueAt(RECORD_PROJECTED),
    growthFactor: valueAt(RECORD_GROWTH_FACTOR),
    ratioQ: valueAt(RECORD_RATIO_Q),
    evaluatedYear: valueAt(RECORD_EVALUATED_YEAR),
    anchors: [...record.subarray(RECORD_ANCHORS / 8, RECORD_ANCHORS / 8 + ANCHOR_COUNT)],
    segment: valueAt(RECORD_SEGMENT),
    weight: valueAt(RECORD_WEIGHT),
    kappa: valueAt(RECORD_KAPPA),
    usableScopes: [0, 1, 2].map((scope) => ((usable >> scope) & 1) === 1),
  };
}
