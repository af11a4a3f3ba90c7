import type { Kernel, Scratch } from "./instance.ts";
import {
  ALIGNMENT_COLUMN_COUNT,
  ALIGNMENT_RESULT_COUNT,
  PATHWAY_BUILDINGS,
  PATHWAY_ECONOMY,
  PATHWAY_ENERGY_SUPPLY,
  PATHWAY_INDUSTRY,
  PATHWAY_POWER,
  PATHWAY_TRANSPORT,
} from "./kernel.generated.ts";

export { NO_GROWTH_SERIES } from "./kernel.generated.ts";

/** Values of the column `pathways`. */
export const PATHWAY_INDEX = {
  economy: PATHWAY_ECONOMY,
  power: PATHWAY_POWER,
  energy_supply: PATHWAY_ENERGY_SUPPLY,
  industry: PATHWAY_INDUSTRY,
  transport: PATHWAY_TRANSPORT,
  buildings: PATHWAY_BUILDINGS,
} as const;

/** Entities as parallel arrays. NaN marks a value that is not given. */
export interface EntityColumns {
  /** i32[entity] */
  readonly baselineYears: Int32Array;
  /** u8[entity], `PATHWAY_INDEX` */
  readonly pathways: Uint8Array;
  /** u8[entity], index of the growth series of the entity's country or region, NO_GROWTH_SERIES if unknown */
  readonly growthSeries: Uint8Array;
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
  /** f64[entity], revenue in the baseline year in any currency */
  readonly baselineRevenues?: Float64Array | undefined;
  /** f64[row], revenue in that year, in the currency and the prices of the baseline */
  readonly projectedRevenues?: Float64Array | undefined;
  /** f64[entity], revenue in the baseline year, million USD of 2022; used by the convergence, NaN = unusable */
  readonly convergenceRevenues?: Float64Array | undefined;
  /** Emissions of each entity's industry per million USD of 2022; used by the convergence. */
  readonly references?: ReferenceColumns | undefined;
  /** u16[row], index of the row's label among those of its entity, below the entity's number of rows */
  readonly labels?: Uint16Array | undefined;
}

/** f64[entity] per scope, NaN = unknown. */
export interface ReferenceColumns {
  readonly scope1: Float64Array;
  readonly scope2: Float64Array;
  readonly scope3: Float64Array;
}

/** Results that are computed on request. */
export interface IncludedColumns {
  /** Temperatures at the 10th and 90th percentile of the climate response. */
  readonly climateRange?: boolean | undefined;
  /** Temperature of scopes 1 and 2 together, and of scope 3 alone. */
  readonly byScope?: boolean | undefined;
  /** Index of the anchor whose budget is compared. */
  readonly budget?: number | undefined;
  /** `anchorSpread`, from which the weights of the overall temperature are computed. */
  readonly overall?: boolean | undefined;
}

/** Results of `computeAlignment`, one item per row; NaN = none. */
export interface AlignedColumns {
  /** f64[row], degrees C in 2100 */
  readonly temperaturesC: Float64Array;
  /** f64[row], temperatures with 5 % less and 5 % more projected emissions */
  readonly rangeLowC: Float64Array;
  readonly rangeHighC: Float64Array;
  /** u32[row], bits in the order of the method's flags */
  readonly flags: Uint32Array;
  /** f64[row], share of the emissions that the usable scopes cover; NaN unless a scope was dropped */
  readonly coverage: Float64Array;
  /** f64[row], with `climateRange` */
  readonly climateLowC?: Float64Array | undefined;
  readonly climateHighC?: Float64Array | undefined;
  /** f64[row], with `byScope` */
  readonly s1s2C?: Float64Array | undefined;
  readonly s3C?: Float64Array | undefined;
  /** f64[row], emissions of the years after the baseline, in its unit; with `budget` */
  readonly budgetProjected?: Float64Array | undefined;
  readonly budgetAllowed?: Float64Array | undefined;
  /** f64[row], distance from the first to the last anchor; 0 without a value or with a zero baseline; with `overall` */
  readonly anchorSpread?: Float64Array | undefined;
}

const ENTITY_COLUMNS = [
  "baselineYears",
  "pathways",
  "growthSeries",
  "baselineScope1",
  "baselineScope2",
  "baselineScope3",
] as const;
const ROW_COLUMNS = ["years", "scope1", "scope2", "scope3"] as const;
export const SCOPES = ["scope1", "scope2", "scope3"] as const;
/** In the order of RESULT_* (assembly/alignmentLayout.ts). */
export const RESULT_COLUMNS = [
  "temperaturesC",
  "rangeLowC",
  "rangeHighC",
  "flags",
  "coverage",
  "climateLowC",
  "climateHighC",
  "s1s2C",
  "s3C",
  "budgetProjected",
  "budgetAllowed",
  "anchorSpread",
] as const satisfies readonly (keyof AlignedColumns)[];
export type ResultColumn = (typeof RESULT_COLUMNS)[number];

/** Returns the result columns that are computed. */
export function resultColumnsOf(include: IncludedColumns): ReadonlySet<ResultColumn> {
  return new Set<ResultColumn>([
    "temperaturesC",
    "rangeLowC",
    "rangeHighC",
    "flags",
    "coverage",
    ...(include.climateRange === true ? (["climateLowC", "climateHighC"] as const) : []),
    ...(include.byScope === true ? (["s1s2C", "s3C"] as const) : []),
    ...(include.budget === undefined ? [] : (["budgetProjected", "budgetAllowed"] as const)),
    ...(include.overall === true ? (["anchorSpread"] as const) : []),
  ]);
}

/** Allocates arrays for results. */
export function allocateResults(rowCount: number, include: IncludedColumns): AlignedColumns {
  const results = resultColumnsOf(include);
  const optional = (name: ResultColumn): Float64Array | undefined =>
    results.has(name) ? new Float64Array(rowCount) : undefined;
  return {
    temperaturesC: new Float64Array(rowCount),
    rangeLowC: new Float64Array(rowCount),
    rangeHighC: new Float64Array(rowCount),
    flags: new Uint32Array(rowCount),
    coverage: new Float64Array(rowCount),
    climateLowC: optional("climateLowC"),
    climateHighC: optional("climateHighC"),
    s1s2C: optional("s1s2C"),
    s3C: optional("s3C"),
    budgetProjected: optional("budgetProjected"),
    budgetAllowed: optional("budgetAllowed"),
    anchorSpread: optional("anchorSpread"),
  };
}

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
  for (const name of ["baselineRevenues", "convergenceRevenues"] as const) {
    const column = from[name];
    if (column !== undefined) to[name]?.set(column.subarray(first, end));
  }
  if (from.projectedRevenues !== undefined) {
    to.projectedRevenues?.set(from.projectedRevenues.subarray(firstRow, endRow));
  }
  if (from.labels !== undefined) to.labels?.set(from.labels.subarray(firstRow, endRow));
  if (from.references === undefined) return;
  for (const scope of SCOPES) to.references?.[scope].set(from.references[scope].subarray(first, end));
}

/** Reserves scratch memory for entity columns; optional columns only if `like` has them. */
export function reserveColumns(
  kernel: Kernel,
  scratch: Scratch,
  like: EntityColumns,
  { entityCount, rowCount }: { readonly entityCount: number; readonly rowCount: number },
): EntityColumns {
  const f64 = (length: number): Float64Array => kernel.f64(scratch.reserve(length * 8));
  const i32 = (length: number): Int32Array => kernel.i32(scratch.reserve(length * 4));
  const u8 = (length: number): Uint8Array => kernel.bytes(scratch.reserve(length));
  const optional = (column: Float64Array | undefined, length: number): Float64Array | undefined =>
    column === undefined ? undefined : f64(length);
  const starts = i32(entityCount + 1);
  return {
    baselineYears: i32(entityCount),
    pathways: u8(entityCount),
    growthSeries: u8(entityCount),
    baselineScope1: f64(entityCount),
    baselineScope2: f64(entityCount),
    baselineScope3: f64(entityCount),
    starts: new Uint32Array(starts.buffer, starts.byteOffset, starts.length),
    years: i32(rowCount),
    scope1: f64(rowCount),
    scope2: f64(rowCount),
    scope3: f64(rowCount),
    baselineRevenues: optional(like.baselineRevenues, entityCount),
    projectedRevenues: optional(like.projectedRevenues, rowCount),
    convergenceRevenues: optional(like.convergenceRevenues, entityCount),
    references:
      like.references === undefined
        ? undefined
        : { scope1: f64(entityCount), scope2: f64(entityCount), scope3: f64(entityCount) },
    labels: like.labels === undefined ? undefined : kernel.u16(scratch.reserve(rowCount * 2)),
  };
}

/** Reserves scratch memory for results. */
export function reserveResults(
  kernel: Kernel,
  scratch: Scratch,
  { rowCount, include }: { readonly rowCount: number; readonly include: IncludedColumns },
): AlignedColumns {
  const results = resultColumnsOf(include);
  const f64 = (): Float64Array => kernel.f64(scratch.reserve(rowCount * 8));
  const optional = (name: ResultColumn): Float64Array | undefined => (results.has(name) ? f64() : undefined);
  const flags = kernel.i32(scratch.reserve(rowCount * 4));
  return {
    temperaturesC: f64(),
    rangeLowC: f64(),
    rangeHighC: f64(),
    flags: new Uint32Array(flags.buffer, flags.byteOffset, flags.length),
    coverage: f64(),
    climateLowC: optional("climateLowC"),
    climateHighC: optional("climateHighC"),
    s1s2C: optional("s1s2C"),
    s3C: optional("s3C"),
    budgetProjected: optional("budgetProjected"),
    budgetAllowed: optional("budgetAllowed"),
    anchorSpread: optional("anchorSpread"),
  };
}

/** Returns the addresses of columns in the kernel's memory, in the order of COLUMN_* (assembly/alignmentLayout.ts). */
export function columnPointers(columns: EntityColumns): Int32Array {
  const { baselineRevenues, projectedRevenues, convergenceRevenues, references, labels } = columns;
  const pointers = [
    ...ENTITY_COLUMNS.map((name) => columns[name].byteOffset),
    columns.starts.byteOffset,
    ...ROW_COLUMNS.map((name) => columns[name].byteOffset),
    ...[baselineRevenues, projectedRevenues, convergenceRevenues].map((column) => column?.byteOffset ?? 0),
    ...SCOPES.map((scope) => references?.[scope].byteOffset ?? 0),
    labels?.byteOffset ?? 0,
  ];
  if (pointers.length !== ALIGNMENT_COLUMN_COUNT) {
    throw new Error(`kernel expects ${ALIGNMENT_COLUMN_COUNT} columns (got ${pointers.length})`);
  }
  return Int32Array.from(pointers);
}

/** Returns the addresses of results in the kernel's memory, in the order of RESULT_* (assembly/alignmentLayout.ts). */
export function resultPointers(results: AlignedColumns): Int32Array {
  const pointers = RESULT_COLUMNS.map((name) => results[name]?.byteOffset ?? 0);
  if (pointers.length !== ALIGNMENT_RESULT_COUNT) {
    throw new Error(`kernel expects ${ALIGNMENT_RESULT_COUNT} results (got ${pointers.length})`);
  }
  return Int32Array.from(pointers);
}

/** Returns the first column with a wrong array type, length or order, and a description of the error. */
export function findInvalidColumn(
  columns: EntityColumns,
): { readonly name: string; readonly detail: string } | undefined {
  const { starts, references } = columns;
  if (!(starts instanceof Uint32Array) || starts.length === 0) {
    return { name: "starts", detail: "starts must be a Uint32Array with one more element than there are entities." };
  }
  const entityCount = starts.length - 1;
  const rowCount = columns.years instanceof Int32Array ? columns.years.length : 0;
  const optional = <Column>(name: string, column: Column | undefined, kind: ColumnKind, length: number) =>
    column === undefined ? [] : [{ name, column, kind, length }];
  const expected = [
    { name: "baselineYears", column: columns.baselineYears, kind: Int32Array, length: entityCount },
    { name: "pathways", column: columns.pathways, kind: Uint8Array, length: entityCount },
    { name: "growthSeries", column: columns.growthSeries, kind: Uint8Array, length: entityCount },
    { name: "baselineScope1", column: columns.baselineScope1, kind: Float64Array, length: entityCount },
    { name: "baselineScope2", column: columns.baselineScope2, kind: Float64Array, length: entityCount },
    { name: "baselineScope3", column: columns.baselineScope3, kind: Float64Array, length: entityCount },
    { name: "years", column: columns.years, kind: Int32Array, length: rowCount },
    { name: "scope1", column: columns.scope1, kind: Float64Array, length: rowCount },
    { name: "scope2", column: columns.scope2, kind: Float64Array, length: rowCount },
    { name: "scope3", column: columns.scope3, kind: Float64Array, length: rowCount },
    ...optional("baselineRevenues", columns.baselineRevenues, Float64Array, entityCount),
    ...optional("projectedRevenues", columns.projectedRevenues, Float64Array, rowCount),
    ...optional("convergenceRevenues", columns.convergenceRevenues, Float64Array, entityCount),
    ...(references === undefined
      ? []
      : SCOPES.map((scope) => ({
          name: `references/${scope}`,
          column: references[scope],
          kind: Float64Array,
          length: entityCount,
        }))),
    ...optional("labels", columns.labels, Uint16Array, rowCount),
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

type ColumnKind = typeof Float64Array | typeof Int32Array | typeof Uint8Array | typeof Uint16Array;
