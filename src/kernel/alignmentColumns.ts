import type { Kernel, Scratch } from "./instance.ts";
import {
  ALIGNMENT_COLUMN_COUNT,
  PATHWAY_BUILDINGS,
  PATHWAY_ECONOMY,
  PATHWAY_ENERGY_SUPPLY,
  PATHWAY_INDUSTRY,
  PATHWAY_POWER,
  PATHWAY_TRANSPORT,
} from "./kernel.generated.ts";

/** Values of the column `pathways`. */
export const PATHWAY_INDEX = {
  economy: PATHWAY_ECONOMY,
  power: PATHWAY_POWER,
  energy_supply: PATHWAY_ENERGY_SUPPLY,
  industry: PATHWAY_INDUSTRY,
  transport: PATHWAY_TRANSPORT,
  buildings: PATHWAY_BUILDINGS,
} as const;

/** Entities as parallel arrays. NaN marks a scope that is not given. */
export interface EntityColumns {
  /** i32[entity] */
  readonly baselineYears: Int32Array;
  /** u8[entity], `PATHWAY_INDEX` */
  readonly pathways: Uint8Array;
  /** u8[entity], index of the growth region, 0 pooled */
  readonly regions: Uint8Array;
  /** f64[entity], emissions in the baseline year */
  readonly baselineScope1: Float64Array;
  readonly baselineScope2: Float64Array;
  readonly baselineScope3: Float64Array;
  /** u32[entity + 1]: entity i has the rows from starts[i] up to, but not including, starts[i + 1] */
  readonly starts: Uint32Array;
  /** i32[row] */
  readonly years: Int32Array;
  /** f64[row], emissions in that year, in the unit of the baseline */
  readonly scope1: Float64Array;
  readonly scope2: Float64Array;
  readonly scope3: Float64Array;
  /** f64[entity], revenue in the baseline year, NaN = none. Without this column revenues are not checked. */
  readonly revenues?: Float64Array | undefined;
  /** Emissions of each entity's sector per unit of revenue; used by the convergence. */
  readonly references?: ReferenceColumns | undefined;
}

/** f64[entity] per scope, NaN = unknown. */
export interface ReferenceColumns {
  readonly scope1: Float64Array;
  readonly scope2: Float64Array;
  readonly scope3: Float64Array;
}

/** Results of `computeAlignment`, one item per row. */
export interface AlignedColumns {
  /** f64[row], degrees C in 2100; NaN = none */
  readonly temperaturesC: Float64Array;
  /** u16[row], bits in the order of the method's flags */
  readonly flags: Uint16Array;
}

const ENTITY_COLUMNS = [
  "baselineYears",
  "pathways",
  "regions",
  "baselineScope1",
  "baselineScope2",
  "baselineScope3",
] as const;
const ROW_COLUMNS = ["years", "scope1", "scope2", "scope3"] as const;
export const SCOPES = ["scope1", "scope2", "scope3"] as const;

/** Consecutive entities and their rows. */
export interface RowRange {
  readonly first: number;
  readonly end: number;
  readonly firstRow: number;
  readonly endRow: number;
}

/** Copies a range of entities and rows to the start of other columns. */
export function copyColumns(from: EntityColumns, to: EntityColumns, { first, end, firstRow, endRow }: RowRange): void {
  for (const name of ENTITY_COLUMNS) to[name].set(from[name].subarray(first, end));
  for (const name of ROW_COLUMNS) to[name].set(from[name].subarray(firstRow, endRow));
  to.starts.set(from.starts.subarray(first, end + 1));
  if (from.revenues !== undefined) to.revenues?.set(from.revenues.subarray(first, end));
  if (from.references === undefined) return;
  for (const scope of SCOPES) to.references?.[scope].set(from.references[scope].subarray(first, end));
}

/** Columns and their results in the kernel's memory. */
export interface KernelColumns {
  readonly columns: EntityColumns;
  readonly aligned: AlignedColumns;
}

/** Reserves scratch memory for entity columns and their results; optional columns only if `like` has them. */
export function reserveColumns(
  kernel: Kernel,
  scratch: Scratch,
  like: EntityColumns,
  { entityCount, rowCount }: { readonly entityCount: number; readonly rowCount: number },
): KernelColumns {
  const f64 = (length: number): Float64Array => kernel.f64(scratch.reserve(length * 8));
  const i32 = (length: number): Int32Array => kernel.i32(scratch.reserve(length * 4));
  const u8 = (length: number): Uint8Array => kernel.bytes(scratch.reserve(length));
  const starts = i32(entityCount + 1);
  return {
    columns: {
      baselineYears: i32(entityCount),
      pathways: u8(entityCount),
      regions: u8(entityCount),
      baselineScope1: f64(entityCount),
      baselineScope2: f64(entityCount),
      baselineScope3: f64(entityCount),
      starts: new Uint32Array(starts.buffer, starts.byteOffset, starts.length),
      years: i32(rowCount),
      scope1: f64(rowCount),
      scope2: f64(rowCount),
      scope3: f64(rowCount),
      revenues: like.revenues === undefined ? undefined : f64(entityCount),
      references:
        like.references === undefined
          ? undefined
          : { scope1: f64(entityCount), scope2: f64(entityCount), scope3: f64(entityCount) },
    },
    aligned: { temperaturesC: f64(rowCount), flags: kernel.u16(scratch.reserve(rowCount * 2)) },
  };
}

/** Returns the addresses of columns in the kernel's memory, in the order of COLUMN_* (assembly/alignmentLayout.ts). */
export function columnPointers(columns: EntityColumns): Int32Array {
  const { revenues, references } = columns;
  const pointers = [
    ...ENTITY_COLUMNS.map((name) => columns[name].byteOffset),
    columns.starts.byteOffset,
    ...ROW_COLUMNS.map((name) => columns[name].byteOffset),
    revenues?.byteOffset ?? 0,
    ...SCOPES.map((scope) => references?.[scope].byteOffset ?? 0),
  ];
  if (pointers.length !== ALIGNMENT_COLUMN_COUNT) {
    throw new Error(`kernel expects ${ALIGNMENT_COLUMN_COUNT} columns (got ${pointers.length})`);
  }
  return Int32Array.from(pointers);
}

/** Returns the first column with a wrong array type, length or order, and a description of the error. */
export function findInvalidColumn(
  columns: EntityColumns,
): { readonly name: string; readonly detail: string } | undefined {
  const { starts, references, revenues } = columns;
  if (!(starts instanceof Uint32Array) || starts.length === 0) {
    return { name: "starts", detail: "starts must be a Uint32Array with one more element than there are entities." };
  }
  const entityCount = starts.length - 1;
  const rowCount = columns.years instanceof Int32Array ? columns.years.length : 0;
  const expected = [
    { name: "baselineYears", column: columns.baselineYears, kind: Int32Array, length: entityCount },
    { name: "pathways", column: columns.pathways, kind: Uint8Array, length: entityCount },
    { name: "regions", column: columns.regions, kind: Uint8Array, length: entityCount },
    { name: "baselineScope1", column: columns.baselineScope1, kind: Float64Array, length: entityCount },
    { name: "baselineScope2", column: columns.baselineScope2, kind: Float64Array, length: entityCount },
    { name: "baselineScope3", column: columns.baselineScope3, kind: Float64Array, length: entityCount },
    { name: "years", column: columns.years, kind: Int32Array, length: rowCount },
    { name: "scope1", column: columns.scope1, kind: Float64Array, length: rowCount },
    { name: "scope2", column: columns.scope2, kind: Float64Array, length: rowCount },
    { name: "scope3", column: columns.scope3, kind: Float64Array, length: rowCount },
    ...(revenues === undefined
      ? []
      : [{ name: "revenues", column: revenues, kind: Float64Array, length: entityCount }]),
    ...(references === undefined
      ? []
      : (["scope1", "scope2", "scope3"] as const).map((scope) => ({
          name: `references/${scope}`,
          column: references[scope],
          kind: Float64Array,
          length: entityCount,
        }))),
  ];
  for (const { name, column, kind, length } of expected) {
    if (!(column instanceof kind) || column.length !== length) {
      return { name, detail: `${name} must be a ${kind.name} of ${length} elements.` };
    }
  }
  let isAscending = starts[0] === 0 && starts[entityCount] === rowCount;
  for (let i = 0; i < entityCount && isAscending; i++) isAscending = (starts[i] ?? 0) <= (starts[i + 1] ?? 0);
  return isAscending
    ? undefined
    : { name: "starts", detail: `starts must ascend from 0 to the number of rows, ${rowCount}.` };
}
