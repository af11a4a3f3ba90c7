import {
  type AlignmentRule,
  type AlignmentTables,
  BASES,
  copyColumns,
  emptyScratch,
  type EntityColumns,
  layOut,
  pointersOf,
} from "./alignment.ts";
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

/** How one number came about. A figure that does not exist is NaN. */
export interface AlignmentFigures {
  readonly temperatureC: number;
  /** E(b) and E(y): over the scopes given in both years. */
  readonly baseline: number;
  readonly projected: number;
  /** Growth of the benchmark's economy over growth of the entity's own. */
  readonly growthFactor: number;
  /** What is compared with the anchors: q*, or the mean of the entity's line. */
  readonly ratioQ: number;
  readonly evaluatedYear: number;
  /** f64[4], after those that lay too close were set apart */
  readonly anchors: readonly number[];
  /** 0 to 4: how many anchors lie below, and how far along that segment. */
  readonly segment: number;
  readonly weight: number;
  readonly kappa: number;
  /** Scopes 1 to 3: given in both years, and weighed. */
  readonly usableScopes: readonly boolean[];
}

/** One row in all its forms. */
export interface AlignmentRowDetail {
  readonly intensity: AlignmentFigures;
  readonly emissions: AlignmentFigures;
  readonly cumulative: AlignmentFigures;
  /** Each scope alone, in the basis asked for. */
  readonly byScope: readonly AlignmentFigures[];
}

/** How the numbers of one entity came about, row by row. `columns` are some that `alignColumns` has not refused. */
export function alignDetail(
  kernel: Kernel,
  tables: AlignmentTables,
  columns: EntityColumns,
  { entity, ...rule }: AlignmentRule & { readonly entity: number },
): readonly AlignmentRowDetail[] {
  const firstRow = columns.starts[entity] ?? 0;
  const endRow = columns.starts[entity + 1] ?? 0;
  return kernel.withScratch((scratch) => {
    const room = layOut(kernel, scratch, columns, { entityCount: 1, rowCount: endRow - firstRow });
    copyColumns(columns, room.columns, { first: entity, end: entity + 1, firstRow, endRow });
    const columnsAt = scratch.copyIn(pointersOf(room.columns)).pointer;
    const records = scratch.reserve((endRow - firstRow) * 6 * RECORD_BYTES);
    kernel.check(
      kernel.exports.alignDetail(
        scratch.copyIn(tables).pointer,
        columnsAt,
        0,
        rule.scope3Weight,
        BASES[rule.basis],
        rule.gamma,
        emptyScratch(kernel, scratch),
        records.pointer,
      ),
      "alignDetail",
    );
    const memory = kernel.f64(records);
    const figures = (record: number): AlignmentFigures =>
      readRecord(memory.subarray((record * RECORD_BYTES) / 8, ((record + 1) * RECORD_BYTES) / 8));
    return Array.from({ length: endRow - firstRow }, (_, row) => ({
      intensity: figures(row * 6),
      emissions: figures(row * 6 + 1),
      cumulative: figures(row * 6 + 2),
      byScope: [figures(row * 6 + 3), figures(row * 6 + 4), figures(row * 6 + 5)],
    }));
  });
}

function readRecord(record: Float64Array): AlignmentFigures {
  const at = (offsetBytes: number): number => record[offsetBytes / 8] ?? NaN;
  const usable = at(RECORD_USABLE);
  return {
    temperatureC: at(RECORD_TEMPERATURE),
    baseline: at(RECORD_BASELINE),
    projected: at(RECORD_PROJECTED),
    growthFactor: at(RECORD_GROWTH_FACTOR),
    ratioQ: at(RECORD_RATIO_Q),
    evaluatedYear: at(RECORD_EVALUATED_YEAR),
    anchors: [...record.subarray(RECORD_ANCHORS / 8, RECORD_ANCHORS / 8 + ANCHOR_COUNT)],
    segment: at(RECORD_SEGMENT),
    weight: at(RECORD_WEIGHT),
    kappa: at(RECORD_KAPPA),
    usableScopes: [0, 1, 2].map((scope) => ((usable >> scope) & 1) === 1),
  };
}
