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
  STATUS_BAD_ALIGNMENT,
  TABLE_FIRST_YEAR,
  TABLE_HORIZON_YEAR,
  TABLE_INDEX,
  TABLE_LAST_YEAR,
  TABLE_SEGMENT_RISES,
  TABLE_SEGMENT_STARTS,
  TEMPERATURE_MIN_C,
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

const BASES = { intensity: BASIS_INTENSITY, emissions: BASIS_EMISSIONS, cumulative: BASIS_CUMULATIVE } as const;

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

  const arrays = [index, sums, perBase, growth, allowance];
  const head = TABLE_INDEX / 8;
  const tables = new Float64Array(head + arrays.reduce((size, { length }) => size + length, 0));
  tables[TABLE_FIRST_YEAR / 8] = firstYear;
  tables[TABLE_LAST_YEAR / 8] = lastYear;
  tables[TABLE_HORIZON_YEAR / 8] = horizonYear;
  tables.set(starts, TABLE_SEGMENT_STARTS / 8);
  const rises = ends.map((endC, segment) => endC - (starts[segment] ?? NaN));
  tables.set(rises, TABLE_SEGMENT_RISES / 8);
  let at = head;
  for (const array of arrays) {
    tables.set(array, at);
    at += array.length;
  }
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
const BATCH_ROWS = 4096;

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
  const { starts } = columns;
  const entityCount = starts.length - 1;
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

  for (let first = 0; first < entityCount;) {
    // As many entities as fit, and more at once where a single one has more rows than that.
    let end = first + 1;
    const firstRow = starts[first] ?? 0;
    while (end < entityCount && end - first < BATCH_ROWS && (starts[end + 1] ?? 0) - firstRow <= BATCH_ROWS) end++;
    const endRow = starts[end] ?? 0;

    const refusal = kernel.withScratch((scratch) => {
      const out = scratch.reserve((endRow - firstRow) * 8);
      const outFlags = scratch.reserve((endRow - firstRow) * 2);
      const bad = scratch.reserve(8);
      const status = kernel.exports.alignColumns(
        scratch.copyIn(tables).pointer,
        copyColumns(kernel, scratch, columns, { first, end, firstRow, endRow }),
        end - first,
        rule.scope3Weight,
        BASES[rule.basis],
        rule.gamma,
        emptyScratch(kernel, scratch),
        out.pointer,
        outFlags.pointer,
        bad.pointer,
      );
      if (status === STATUS_BAD_ALIGNMENT) {
        const [entity = 0, row = -1] = kernel.i32(bad);
        return { kind: "refused", entity: entity + first, row: row < 0 ? undefined : row + firstRow } as const;
      }
      kernel.check(status, "alignColumns");
      temperaturesC.set(kernel.f64(out), firstRow);
      flags.set(kernel.u16(outFlags), firstRow);
      return undefined;
    });
    if (refusal !== undefined) return refusal;
    first = end;
  }
  return { kind: "aligned", temperaturesC, flags };
}

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
    const records = scratch.reserve((endRow - firstRow) * 6 * RECORD_BYTES);
    kernel.check(
      kernel.exports.alignDetail(
        scratch.copyIn(tables).pointer,
        copyColumns(kernel, scratch, columns, { first: entity, end: entity + 1, firstRow, endRow }),
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

interface Span {
  readonly first: number;
  readonly end: number;
  readonly firstRow: number;
  readonly endRow: number;
}

/** Copies part of the columns in, and the list of where they lie; its order is that of COLUMN_* in the kernel. */
function copyColumns(kernel: Kernel, scratch: Scratch, columns: EntityColumns, span: Span): number {
  const { first, end, firstRow, endRow } = span;
  const entities = (column: Float64Array | Int32Array | Uint8Array): number =>
    scratch.copyIn(column.subarray(first, end)).pointer;
  const rows = (column: Float64Array | Int32Array): number => scratch.copyIn(column.subarray(firstRow, endRow)).pointer;
  const { revenues, references } = columns;
  const starts = scratch.reserve((end - first + 1) * 4);
  kernel.i32(starts).set(columns.starts.subarray(first, end + 1));
  const pointers = [
    entities(columns.baselineYears),
    entities(columns.pathways),
    entities(columns.regions),
    entities(columns.baselineScope1),
    entities(columns.baselineScope2),
    entities(columns.baselineScope3),
    starts.pointer,
    rows(columns.years),
    rows(columns.scope1),
    rows(columns.scope2),
    rows(columns.scope3),
    revenues === undefined ? 0 : entities(revenues),
    ...(references === undefined
      ? [0, 0, 0]
      : [entities(references.scope1), entities(references.scope2), entities(references.scope3)]),
  ];
  if (pointers.length !== ALIGNMENT_COLUMN_COUNT)
    throw new Error(`The kernel takes ${ALIGNMENT_COLUMN_COUNT} columns.`);
  return scratch.copyIn(Int32Array.from(pointers)).pointer;
}

function emptyScratch(kernel: Kernel, scratch: Scratch): number {
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
  const rowCount = columns.years.length;
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
