import type { Kernel, Scratch } from "./instance.ts";
import {
  ALIGNMENT_COLUMN_COUNT,
  ALIGNMENT_SCRATCH_BYTES,
  ANCHOR_COUNT,
  BASIS_CUMULATIVE,
  BASIS_EMISSIONS,
  BASIS_INTENSITY,
  GROWTH_REGION_COUNT,
  PATHWAY_BUILDINGS,
  PATHWAY_COUNT,
  PATHWAY_ECONOMY,
  PATHWAY_ENERGY_SUPPLY,
  PATHWAY_INDUSTRY,
  PATHWAY_POWER,
  PATHWAY_TRANSPORT,
  STATUS_BAD_ALIGNMENT,
  TABLE_FIRST_YEAR,
  TABLE_HORIZON_YEAR,
  TABLE_LAST_YEAR,
  TABLE_SEGMENTS,
  TABLE_YEARS,
  TEMPERATURE_MIN_C,
  YEAR_ALLOWANCE,
  YEAR_GROWTH,
  YEAR_INDEX,
  YEAR_BYTES,
} from "./kernel.generated.ts";

export {
  ALIGNMENT_YEAR_MAX,
  ALIGNMENT_YEAR_MIN,
  ANCHOR_COUNT,
  EMISSIONS_MAX,
  GROWTH_REGION_COUNT,
  PATHWAY_COUNT,
} from "./kernel.generated.ts";

/** What column `pathways` holds. */
export const PATHWAY_INDEX = {
  economy: PATHWAY_ECONOMY,
  power: PATHWAY_POWER,
  energy_supply: PATHWAY_ENERGY_SUPPLY,
  industry: PATHWAY_INDUSTRY,
  transport: PATHWAY_TRANSPORT,
  buildings: PATHWAY_BUILDINGS,
} as const;

export const BASES = { intensity: BASIS_INTENSITY, emissions: BASIS_EMISSIONS, cumulative: BASIS_CUMULATIVE } as const;

/** What is compared with the pathways: emissions per revenue in the year, emissions in the year, or all up to the year. */
export type AlignmentBasis = keyof typeof BASES;

/** A benchmark as the kernel wants it: one number a year, no gaps. */
export interface YearlyBenchmark {
  readonly firstYear: number;
  readonly lastYear: number;
  /** The index is 1 in this year. */
  readonly baseYear: number;
  /** Earlier years are not told apart by the pathways. */
  readonly horizonYear: number;
  /** Warming in 2100 of the anchors, degrees C, from the coolest to the hottest. */
  readonly anchorTemperaturesC: readonly number[];
  /** Warming in the base year, degrees C. */
  readonly currentTemperatureC: number;
  /** f64[year][pathway][anchor] */
  readonly index: Float64Array;
  /** f64[year][region], the pooled region first */
  readonly growth: Float64Array;
}

/** A benchmark as it lies in the kernel's memory, with all that can be worked out from it beforehand. */
export type AlignmentTables = Float64Array & { readonly isAlignmentTables: true };

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
    throw new RangeError(`A benchmark of ${yearCount} years has ${index.length} indices and ${growth.length} sizes.`);
  }
  const sums = index.slice();
  for (let i = yearSize; i < sums.length; i++) sums[i] = (sums[i] ?? 0) + (sums[i - yearSize] ?? 0);

  // Until the base year a baseline is compared as it is; after it, the world has followed its hottest anchor so far.
  const perBase = new Float64Array(yearCount * PATHWAY_COUNT).fill(1);
  for (let i = Math.max(0, baseYear - firstYear + 1) * PATHWAY_COUNT; i < perBase.length; i++) {
    perBase[i] = 1 / (index[i * ANCHOR_COUNT + ANCHOR_COUNT - 1] ?? NaN);
  }
  const allowance = growth.map((size, i) => (growth[i - (i % GROWTH_REGION_COUNT)] ?? NaN) / size);

  const starts = [TEMPERATURE_MIN_C, ...anchorTemperaturesC];
  const hottestC = starts.at(-1) ?? NaN;
  // Above the hottest anchor warming goes on in proportion to emissions: what that anchor warms from the base year on.
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
    const at = yearsAt + year * yearStride;
    const regions = [year * GROWTH_REGION_COUNT, (year + 1) * GROWTH_REGION_COUNT] as const;
    tables.set(index.subarray(year * yearSize, (year + 1) * yearSize), at + YEAR_INDEX / 8);
    tables.set(allowance.subarray(...regions), at + YEAR_ALLOWANCE / 8);
    tables.set(growth.subarray(...regions), at + YEAR_GROWTH / 8);
  }
  tables.set(sums, yearsAt + yearCount * yearStride);
  tables.set(perBase, yearsAt + yearCount * yearStride + sums.length);
  return tables as AlignmentTables;
}

/** Entities side by side; NaN stands for a scope that is not given. */
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
  /** u32[entity + 1]: entity i has the rows from starts[i] up to, not with, starts[i + 1] */
  readonly starts: Uint32Array;
  /** i32[row] */
  readonly years: Int32Array;
  /** f64[row], emissions in that year, in the baseline's unit */
  readonly scope1: Float64Array;
  readonly scope2: Float64Array;
  readonly scope3: Float64Array;
  /** f64[entity], revenue in the baseline year, NaN = none. Without this column no revenue is judged. */
  readonly revenues?: Float64Array | undefined;
  /** f64[entity], what the entity's sector emits per unit of revenue, NaN = not known; for the convergence. */
  readonly references?: ReferenceColumns | undefined;
}

export interface ReferenceColumns {
  readonly scope1: Float64Array;
  readonly scope2: Float64Array;
  readonly scope3: Float64Array;
}

export interface AlignmentRule {
  readonly basis: AlignmentBasis;
  /** 0 to 1; 0 leaves scope 3 out. */
  readonly scope3Weight: number;
  /** 0 to 1: how far the level of an entity converges to its sector's by 2050; 0 not at all. */
  readonly gamma: number;
}

export interface AlignedColumns {
  /** f64[row], degrees C in 2100; NaN = none */
  readonly temperaturesC: Float64Array;
  /** u16[row], bits in the order of the method's flags */
  readonly flags: Uint16Array;
}

export type AlignOutcome =
  | ({ readonly kind: "aligned" } & AlignedColumns)
  /** The first place that holds what it may not; without a row it is the entity's own columns. */
  | { readonly kind: "refused"; readonly entity: number; readonly row: number | undefined };

/** Rows that go through the kernel together: in and out, they fit the second-level cache. */
const BATCH_ROWS = 8192;

/**
 * The implied temperatures of entities, in batches. The formula is in assembly/alignment.ts.
 *
 * @param into where the results go; new arrays without it
 * @throws RangeError when a column is misshapen, or one entity has more rows than the kernel has scratch for
 */
export function alignColumns(
  kernel: Kernel,
  tables: AlignmentTables,
  columns: EntityColumns,
  rule: AlignmentRule,
  into?: AlignedColumns,
): AlignOutcome {
  const misshapen = findMisshapenColumn(columns);
  if (misshapen !== undefined) throw new RangeError(misshapen.detail);
  const rowCount = columns.years.length;
  const { temperaturesC, flags } = into ?? {
    temperaturesC: new Float64Array(rowCount),
    flags: new Uint16Array(rowCount),
  };
  if (temperaturesC.length !== rowCount || flags.length !== rowCount) {
    throw new RangeError(
      `There is room for ${temperaturesC.length} temperatures and ${flags.length} flags of ${rowCount}.`,
    );
  }
  const batches = batchesOf(columns.starts);
  const refusal = kernel.withScratch((scratch) => {
    const room = layOut(kernel, scratch, columns, {
      entityCount: Math.max(0, ...batches.map(({ first, end }) => end - first)),
      rowCount: Math.max(0, ...batches.map(({ firstRow, endRow }) => endRow - firstRow)),
    });
    const call = prepareCall(kernel, scratch, { tables, rule, room });
    for (const { first, end, firstRow, endRow } of batches) {
      copyColumns(columns, room.columns, { first, end, firstRow, endRow });
      const refused = call(end - first);
      if (refused !== undefined) {
        const { entity, row } = refused;
        return { kind: "refused", entity: entity + first, row: row === undefined ? row : row + firstRow } as const;
      }
      temperaturesC.set(room.aligned.temperaturesC.subarray(0, endRow - firstRow), firstRow);
      flags.set(room.aligned.flags.subarray(0, endRow - firstRow), firstRow);
    }
    return undefined;
  });
  return refusal ?? { kind: "aligned", temperaturesC, flags };
}

interface Span {
  readonly first: number;
  readonly end: number;
  readonly firstRow: number;
  readonly endRow: number;
}

/** As many entities as fit at a time, and more rows where a single one has more. */
function batchesOf(starts: Uint32Array): readonly Span[] {
  const entityCount = starts.length - 1;
  const batches: Span[] = [];
  for (let first = 0; first < entityCount;) {
    let end = first + 1;
    const firstRow = starts[first] ?? 0;
    while (end < entityCount && end - first < BATCH_ROWS && (starts[end + 1] ?? 0) - firstRow <= BATCH_ROWS) end++;
    batches.push({ first, end, firstRow, endRow: starts[end] ?? 0 });
    first = end;
  }
  return batches;
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
const SCOPES = ["scope1", "scope2", "scope3"] as const;

export function copyColumns(from: EntityColumns, to: EntityColumns, { first, end, firstRow, endRow }: Span): void {
  for (const name of ENTITY_COLUMNS) to[name].set(from[name].subarray(first, end));
  for (const name of ROW_COLUMNS) to[name].set(from[name].subarray(firstRow, endRow));
  to.starts.set(from.starts.subarray(first, end + 1));
  if (from.revenues !== undefined) to.revenues?.set(from.revenues.subarray(first, end));
  if (from.references === undefined) return;
  for (const scope of SCOPES) to.references?.[scope].set(from.references[scope].subarray(first, end));
}

/** Columns that lie in the kernel's memory, and room there for their results. */
interface Room {
  readonly columns: EntityColumns;
  readonly aligned: AlignedColumns;
}

/** Room in scratch for so many entities and rows, in the columns that `like` has. */
export function layOut(
  kernel: Kernel,
  scratch: Scratch,
  like: EntityColumns,
  { entityCount, rowCount }: { readonly entityCount: number; readonly rowCount: number },
): Room {
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

/** Gets a call of the kernel ready that reads columns and writes results where they lie. It tells what was refused. */
function prepareCall(
  kernel: Kernel,
  scratch: Scratch,
  {
    tables,
    rule,
    room: { columns, aligned },
  }: { readonly tables: AlignmentTables; readonly rule: AlignmentRule; readonly room: Room },
): (entityCount: number) => { readonly entity: number; readonly row: number | undefined } | undefined {
  const tablesAt = scratch.copyIn(tables).pointer;
  const columnsAt = scratch.copyIn(pointersOf(columns)).pointer;
  const scratchAt = emptyScratch(kernel, scratch);
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

/** Where columns lie that are in the kernel's memory; the order is that of COLUMN_* in the kernel. */
export function pointersOf(columns: EntityColumns): Int32Array {
  const { revenues, references } = columns;
  const pointers = [
    ...ENTITY_COLUMNS.map((name) => columns[name].byteOffset),
    columns.starts.byteOffset,
    ...ROW_COLUMNS.map((name) => columns[name].byteOffset),
    revenues?.byteOffset ?? 0,
    ...SCOPES.map((scope) => references?.[scope].byteOffset ?? 0),
  ];
  if (pointers.length !== ALIGNMENT_COLUMN_COUNT) {
    throw new Error(`The kernel takes ${ALIGNMENT_COLUMN_COUNT} columns.`);
  }
  return Int32Array.from(pointers);
}

export function emptyScratch(kernel: Kernel, scratch: Scratch): number {
  const region = scratch.reserve(ALIGNMENT_SCRATCH_BYTES);
  kernel.bytes(region).fill(0);
  return region.pointer;
}

/** The first column that is not an array of its kind and length, and what is wrong with it. */
export function findMisshapenColumn(
  columns: EntityColumns,
): { readonly name: string; readonly detail: string } | undefined {
  const { starts, references, revenues } = columns;
  if (!(starts instanceof Uint32Array) || starts.length === 0) {
    return { name: "starts", detail: "starts must be a Uint32Array with one number more than there are entities." };
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
      return { name, detail: `${name} must be a ${kind.name} of ${length} numbers.` };
    }
  }
  let isRising = starts[0] === 0 && starts[entityCount] === rowCount;
  for (let i = 0; i < entityCount && isRising; i++) isRising = (starts[i] ?? 0) <= (starts[i + 1] ?? 0);
  return isRising ? undefined : { name: "starts", detail: `starts must rise from 0 to the ${rowCount} rows.` };
}
