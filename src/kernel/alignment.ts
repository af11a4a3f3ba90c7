import {
  type AlignedColumns,
  type IncludedColumns,
  allocateResults,
  columnPointers,
  copyColumns,
  type EntityColumns,
  findInvalidColumn,
  RESULT_COLUMNS,
  reserveColumns,
  reserveResults,
  resultColumnsOf,
  resultPointers,
  type RowRange,
} from "./alignmentColumns.ts";
import { ANCHOR_COUNT, type AlignmentTables } from "./alignmentTables.ts";
import type { Kernel, Region, Scratch } from "./instance.ts";
import {
  ALIGNMENT_SCRATCH_BYTES,
  BASIS_CUMULATIVE,
  BASIS_EMISSIONS,
  BASIS_INTENSITY,
  CALL_HAS_COVERAGE,
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
  /** 0 to 1: degree to which an entity's intensity converges to its industry's by 2050; 0 turns convergence off. */
  readonly gamma: number;
}

export type AlignOutcome =
  | ({ readonly kind: "aligned" } & AlignedColumns)
  /** The first invalid value, by entity and row; row is undefined if it is in a column of entities. */
  | { readonly kind: "refused"; readonly entity: number; readonly row: number | undefined };

/**
 * Maximum number of rows per kernel call, unless a single entity has more. Their inputs and outputs fit in the L2
 * cache.
 */
const BATCH_ROWS = 4096;

/**
 * Computes the implied temperatures of entities, in batches. The formula is in assembly/alignment.ts.
 *
 * @param include the results to compute in addition to the temperatures
 * @param into arrays that receive the results; new ones by default
 * @throws RangeError if a column has a wrong type or length, or an entity has more rows than fit the kernel's scratch
 */
export function computeAlignment(
  kernel: Kernel,
  tables: AlignmentTables,
  columns: EntityColumns,
  rule: AlignmentRule,
  include: IncludedColumns = {},
  into?: AlignedColumns,
): AlignOutcome {
  const invalid = findInvalidColumn(columns);
  if (invalid !== undefined) throw new RangeError(invalid.detail);
  const rowCount = columns.years.length;
  const results = into ?? allocateResults(rowCount, include);
  checkResults(results, rowCount, include);
  const batches = splitIntoBatches(columns.starts);
  const size = {
    entityCount: Math.max(0, ...batches.map(({ first, end }) => end - first)),
    rowCount: Math.max(0, ...batches.map(({ firstRow, endRow }) => endRow - firstRow)),
  };
  const refusal = kernel.withScratch((scratch) => {
    const columnsIn = reserveColumns(kernel, scratch, columns, size);
    const resultsOut = reserveResults(kernel, scratch, { rowCount: size.rowCount, include });
    const call = prepareCall(kernel, scratch, { tables, rule, include, columns: columnsIn, results: resultsOut });
    const copied = RESULT_COLUMNS.filter((name) => name !== "coverage" && resultsOut[name] !== undefined);
    resultsOut.coverage.fill(NaN);
    for (const { first, end, firstRow, endRow } of batches) {
      copyColumns(columns, columnsIn, { first, end, firstRow, endRow });
      const { refused, hasCoverage } = call(end - first);
      if (refused !== undefined) {
        const { entity, row } = refused;
        return { kind: "refused", entity: entity + first, row: row === undefined ? row : row + firstRow } as const;
      }
      for (const name of copied) {
        const from = resultsOut[name];
        if (from !== undefined) results[name]?.set(from.subarray(0, endRow - firstRow), firstRow);
      }
      if (!hasCoverage) {
        results.coverage.fill(NaN, firstRow, endRow);
        continue;
      }
      results.coverage.set(resultsOut.coverage.subarray(0, endRow - firstRow), firstRow);
      resultsOut.coverage.fill(NaN);
    }
    return undefined;
  });
  return refusal ?? { kind: "aligned", ...results };
}

function checkResults(results: AlignedColumns, rowCount: number, include: IncludedColumns): void {
  if (include.budget !== undefined && !(Number.isInteger(include.budget) && anchorExists(include.budget))) {
    throw new RangeError(`budget must be the index of an anchor, 0 to ${ANCHOR_COUNT - 1} (got ${include.budget})`);
  }
  for (const name of resultColumnsOf(include)) {
    const length = results[name]?.length;
    if (length !== rowCount) {
      throw new RangeError(`result arrays must have ${rowCount} elements (got ${length ?? "no"} ${name})`);
    }
  }
}

function anchorExists(anchor: number): boolean {
  return anchor >= 0 && anchor < ANCHOR_COUNT;
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

interface CallOutcome {
  /** The first invalid value, if any. */
  readonly refused?: { readonly entity: number; readonly row: number | undefined };
  /** Whether a coverage was written. */
  readonly hasCoverage: boolean;
}

/** Returns a function that aligns the first `entityCount` entities of `columns`. */
function prepareCall(
  kernel: Kernel,
  scratch: Scratch,
  {
    tables,
    rule,
    include,
    columns,
    results,
  }: {
    readonly tables: AlignmentTables;
    readonly rule: AlignmentRule;
    readonly include: IncludedColumns;
    readonly columns: EntityColumns;
    readonly results: AlignedColumns;
  },
): (entityCount: number) => CallOutcome {
  const tablesPointer = scratch.copyIn(tables).pointer;
  const columnsPointer = scratch.copyIn(columnPointers(columns)).pointer;
  const resultsPointer = scratch.copyIn(resultPointers(results)).pointer;
  const callRegion = reserveZeroedScratch(kernel, scratch, columns.years.length);
  const invalidLocation = scratch.reserve(8);
  return (entityCount) => {
    const status = kernel.exports.alignColumns(
      tablesPointer,
      columnsPointer,
      entityCount,
      rule.scope3Weight,
      BASES[rule.basis],
      rule.gamma,
      include.budget ?? 0,
      callRegion.pointer,
      resultsPointer,
      invalidLocation.pointer,
    );
    if (status === STATUS_BAD_ALIGNMENT) {
      const [entity = 0, row = -1] = kernel.i32(invalidLocation);
      return { refused: { entity, row: row < 0 ? undefined : row }, hasCoverage: false };
    }
    kernel.check(status, "alignColumns");
    return { hasCoverage: kernel.i32(callRegion)[CALL_HAS_COVERAGE / 4] !== 0 };
  };
}

/** Reserves the zeroed scratch memory that the alignment kernels require. */
export function reserveZeroedScratch(kernel: Kernel, scratch: Scratch, rowCount: number): Region {
  const region = scratch.reserve(ALIGNMENT_SCRATCH_BYTES + rowCount * 8);
  kernel.bytes(region).fill(0);
  return region;
}
