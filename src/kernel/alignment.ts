import {
  type AlignedColumns,
  columnPointers,
  copyColumns,
  type EntityColumns,
  findInvalidColumn,
  type KernelColumns,
  reserveColumns,
  type RowRange,
} from "./alignmentColumns.ts";
import type { AlignmentTables } from "./alignmentTables.ts";
import type { Kernel, Scratch } from "./instance.ts";
import {
  ALIGNMENT_SCRATCH_BYTES,
  BASIS_CUMULATIVE,
  BASIS_EMISSIONS,
  BASIS_INTENSITY,
  STATUS_BAD_ALIGNMENT,
} from "./kernel.generated.ts";

export { ALIGNMENT_YEAR_MAX, ALIGNMENT_YEAR_MIN, EMISSIONS_MAX } from "./kernel.generated.ts";

export const BASES = { intensity: BASIS_INTENSITY, emissions: BASIS_EMISSIONS, cumulative: BASIS_CUMULATIVE } as const;

/**
 * Quantity compared with the pathways: emissions per revenue in the year, emissions in the year, or emissions from the
 * baseline year through that year.
 */
type BasisName = keyof typeof BASES;

export interface AlignmentRule {
  readonly basis: BasisName;
  /** Weight of scope 3, 0 to 1; 0 excludes it. */
  readonly scope3Weight: number;
  /** 0 to 1: degree to which an entity's intensity converges to its sector's by 2050. */
  readonly gamma: number;
}

export type AlignOutcome =
  | ({ readonly kind: "aligned" } & AlignedColumns)
  /** The first invalid value, by entity and row; row is undefined if it is in a column of entities. */
  | { readonly kind: "refused"; readonly entity: number; readonly row: number | undefined };

/** Upper limit of the rows per call of the kernel; their inputs and outputs fit the L2 cache. */
const BATCH_ROWS = 8192;

/**
 * Computes the implied temperatures of entities, in batches. The formula is in assembly/alignment.ts.
 *
 * @param into arrays that receive the results; new ones by default
 * @throws RangeError if a column has a wrong type or length, or an entity has more rows than fit the kernel's scratch
 */
export function computeAlignment(
  kernel: Kernel,
  tables: AlignmentTables,
  columns: EntityColumns,
  rule: AlignmentRule,
  into?: AlignedColumns,
): AlignOutcome {
  const invalid = findInvalidColumn(columns);
  if (invalid !== undefined) throw new RangeError(invalid.detail);
  const rowCount = columns.years.length;
  const { temperaturesC, flags } = into ?? {
    temperaturesC: new Float64Array(rowCount),
    flags: new Uint16Array(rowCount),
  };
  if (temperaturesC.length !== rowCount || flags.length !== rowCount) {
    throw new RangeError(
      `result arrays must have ${rowCount} elements (got ${temperaturesC.length} temperatures, ${flags.length} flags)`,
    );
  }
  const batches = splitIntoBatches(columns.starts);
  const refusal = kernel.withScratch((scratch) => {
    const target = reserveColumns(kernel, scratch, columns, {
      entityCount: Math.max(0, ...batches.map(({ first, end }) => end - first)),
      rowCount: Math.max(0, ...batches.map(({ firstRow, endRow }) => endRow - firstRow)),
    });
    const call = prepareCall(kernel, scratch, { tables, rule, target });
    for (const { first, end, firstRow, endRow } of batches) {
      copyColumns(columns, target.columns, { first, end, firstRow, endRow });
      const refused = call(end - first);
      if (refused !== undefined) {
        const { entity, row } = refused;
        return { kind: "refused", entity: entity + first, row: row === undefined ? row : row + firstRow } as const;
      }
      temperaturesC.set(target.aligned.temperaturesC.subarray(0, endRow - firstRow), firstRow);
      flags.set(target.aligned.flags.subarray(0, endRow - firstRow), firstRow);
    }
    return undefined;
  });
  return refusal ?? { kind: "aligned", temperaturesC, flags };
}

/** Splits entities into batches of at most BATCH_ROWS rows; an entity with more rows is a batch by itself. */
function splitIntoBatches(starts: Uint32Array): readonly RowRange[] {
  const entityCount = starts.length - 1;
  const batches: RowRange[] = [];
  for (let first = 0; first < entityCount;) {
    let end = first + 1;
    const firstRow = starts[first] ?? 0;
    while (end < entityCount && end - first < BATCH_ROWS && (starts[end + 1] ?? 0) - firstRow <= BATCH_ROWS) end++;
    batches.push({ first, end, firstRow, endRow: starts[end] ?? 0 });
    first = end;
  }
  return batches;
}

/**
 * Returns a function that aligns the first `entityCount` entities of `target`; it returns the first invalid value, if
 * any.
 */
function prepareCall(
  kernel: Kernel,
  scratch: Scratch,
  {
    tables,
    rule,
    target: { columns, aligned },
  }: { readonly tables: AlignmentTables; readonly rule: AlignmentRule; readonly target: KernelColumns },
): (entityCount: number) => { readonly entity: number; readonly row: number | undefined } | undefined {
  const tablesAt = scratch.copyIn(tables).pointer;
  const columnsAt = scratch.copyIn(columnPointers(columns)).pointer;
  const scratchAt = reserveZeroedScratch(kernel, scratch);
  const bad = scratch.reserve(8);
  return (entityCount) => {
    const status = kernel.exports.alignColumns(
      tablesAt,
      columnsAt,
      entityCount,
      rule.scope3Weight,
      BASES[rule.basis],
      rule.gamma,
      scratchAt,
      aligned.temperaturesC.byteOffset,
      aligned.flags.byteOffset,
      bad.pointer,
    );
    if (status === STATUS_BAD_ALIGNMENT) {
      const [entity = 0, row = -1] = kernel.i32(bad);
      return { entity, row: row < 0 ? undefined : row };
    }
    kernel.check(status, "alignColumns");
    return undefined;
  };
}

/** Reserves the zeroed scratch memory that the alignment kernels require, and returns its address. */
export function reserveZeroedScratch(kernel: Kernel, scratch: Scratch): number {
  const region = scratch.reserve(ALIGNMENT_SCRATCH_BYTES);
  kernel.bytes(region).fill(0);
  return region.pointer;
}
