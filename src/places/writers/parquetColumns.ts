/** The values of the columns of a row group. */
import type { KeptValue, ScoredBlock } from "../scores/placeBlock.ts";
import { timestampOf } from "../timestamps.ts";
import { type BlockArrays, blockArraysOf, CODE_TEXTS } from "./blockArrays.ts";
import { degreesOf, type OutputColumn, type OutputPlan } from "./outputColumns.ts";
import type { ColumnData } from "./parquetChunk.ts";

/** The columns are generated one by one, so that only one is in memory. */
interface RowGroupData {
  readonly rowCount: number;
  readonly data: Iterable<ColumnData>;
}

/** The place and the group of each row. */
interface Rows {
  readonly count: number;
  readonly places: Int32Array;
  /** Group, or 0 in the wide layout; -1 in the row of an invalid place. */
  readonly groups: Int32Array;
}

/** Returns a function that returns the values of a block. */
export function parquetColumns(
  plan: OutputPlan,
  columns: readonly OutputColumn[],
): (block: ScoredBlock) => RowGroupData {
  const numbers = new NumberDictionary();
  return (block) => {
    const rows = rowsOf(block, plan);
    const arrays = blockArraysOf(block, plan.groups);
    return { rowCount: rows.count, data: columnsOf(columns, { plan, block, rows, arrays, numbers }) };
  };
}

function rowsOf({ places }: ScoredBlock, { layout, groups }: OutputPlan): Rows {
  const groupCount = layout === "long" ? groups.length : 1;
  const count = (places.rowCount - places.errors.size) * groupCount + places.errors.size;
  const rows = { count, places: new Int32Array(count), groups: new Int32Array(count) };
  let row = 0;
  for (let place = 0; place < places.rowCount; place++) {
    const isInvalid = places.errors.has(place);
    for (let group = 0; group < (isInvalid ? 1 : groupCount); group++) {
      rows.places[row] = place;
      rows.groups[row++] = isInvalid ? -1 : group;
    }
  }
  return rows;
}

interface RowGroupSource {
  readonly plan: OutputPlan;
  readonly block: ScoredBlock;
  readonly rows: Rows;
  readonly arrays: BlockArrays;
  readonly numbers: NumberDictionary;
}

function* columnsOf(columns: readonly OutputColumn[], source: RowGroupSource): Generator<ColumnData> {
  for (const column of columns) yield columnData(column, source);
}

function columnData({ name, type, value }: OutputColumn, source: RowGroupSource): ColumnData {
  const { plan, block, rows } = source;
  const { places } = block;
  if (value.kind === "kept") return keptColumn(places.kept[value.index] ?? [], type, rows);
  if (value.kind === "number") return numberColumn(value, source);
  if (value.kind === "code") return codeColumn(value, { isRowStatus: name === "status", source });
  if (value.kind === "error") {
    return placeColumn(rows, places.rowCount, (place) => places.errors.get(place)?.message ?? null, plainTexts);
  }
  if (value.kind === "geometry") {
    return placeColumn(
      rows,
      places.rowCount,
      (place) => (places.errors.has(place) ? null : place),
      (located) =>
        plainByteArrays(
          located.map((place) => wellKnownPoint(places.longitudes[place] ?? NaN, places.latitudes[place] ?? NaN)),
        ),
    );
  }
  if (value.kind === "latitude" || value.kind === "longitude") {
    return placeColumn(rows, places.rowCount, (place) => numberOrNull(degreesOf(places, value, place)), plainDoubles);
  }
  if (value.kind === "analysisYear") {
    return groupColumn(
      rows,
      plan.groups.map(({ analysisYear }) => analysisYear),
      plainInt32s,
    );
  }
  const { kind } = value;
  return groupColumn(
    rows,
    plan.groups.map((group) => group[kind]),
    plainTexts,
  );
}

function numberOrNull(number: number): number | null {
  return Number.isNaN(number) ? null : number;
}

function keptColumn(values: readonly KeptValue[], type: OutputColumn["type"], rows: Rows): ColumnData {
  const valueOf = (place: number): KeptValue => values[place] ?? null;
  const count = values.length;
  if (type === "boolean") return booleanColumn(valueOf, rows);
  if (type === "number") return placeColumn(rows, count, (place) => toNumber(valueOf(place)), plainDoubles);
  if (type === "integer" || timestampOf(type) !== undefined) {
    return placeColumn(rows, count, (place) => toInteger(valueOf(place)), plainInt64s);
  }
  return placeColumn(
    rows,
    count,
    (place) => {
      const value = valueOf(place);
      return value === null ? null : String(value);
    },
    plainTexts,
  );
}

function toNumber(value: KeptValue): number | null {
  return typeof value === "number" || typeof value === "bigint" ? Number(value) : null;
}

function toInteger(value: KeptValue): bigint | null {
  return typeof value === "number" || typeof value === "bigint" ? BigInt(value) : null;
}

function booleanColumn(valueOf: (place: number) => KeptValue, { count, places }: Rows): ColumnData {
  const indices = new Int32Array(count).fill(-1);
  const present: boolean[] = [];
  for (let row = 0; row < count; row++) {
    const value = valueOf(places[row] as number);
    if (typeof value !== "boolean") continue;
    indices[row] = 0;
    present.push(value);
  }
  return { indices, dictionary: undefined, plain: plainBooleans(present) };
}

/** A map has one key for 0 and -0. */
const NEGATIVE_ZERO = Symbol("-0");

/** Returns a column whose values depend on the place only. */
function placeColumn<Value extends string | number | bigint>(
  { count, places }: Rows,
  placeCount: number,
  valueOf: (place: number) => Value | null,
  plain: (values: Value[]) => Uint8Array,
): ColumnData {
  const values: Value[] = [];
  const indexOfValue = new Map<Value | typeof NEGATIVE_ZERO, number>();
  const indexOfPlace = new Int32Array(placeCount);
  for (let place = 0; place < placeCount; place++) {
    const value = valueOf(place);
    let index = -1;
    if (value !== null) {
      const key = Object.is(value, -0) ? NEGATIVE_ZERO : value;
      index = indexOfValue.get(key) ?? values.length;
      if (index === values.length) {
        indexOfValue.set(key, index);
        values.push(value);
      }
    }
    indexOfPlace[place] = index;
  }
  const indices = new Int32Array(count);
  for (let row = 0; row < count; row++) indices[row] = indexOfPlace[places[row] as number] as number;
  return { indices, dictionary: { count: values.length, bytes: plain(values) }, plain: undefined };
}

/** Returns a column whose values depend on the group only. */
function groupColumn<Value>(
  { count, groups }: Rows,
  values: readonly Value[],
  plain: (values: Value[]) => Uint8Array,
): ColumnData {
  const distinct = [...new Set(values)];
  const indexOfGroup = Int32Array.from(values, (value) => distinct.indexOf(value));
  const indices = new Int32Array(count);
  for (let row = 0; row < count; row++) {
    const group = groups[row] as number;
    indices[row] = group < 0 ? -1 : (indexOfGroup[group] as number);
  }
  return { indices, dictionary: { count: distinct.length, bytes: plain(distinct) }, plain: undefined };
}

function codeColumn(
  { array, positions }: Extract<OutputColumn["value"], { kind: "code" }>,
  { isRowStatus, source }: { readonly isRowStatus: boolean; readonly source: RowGroupSource },
): ColumnData {
  const { rows, arrays } = source;
  const { values, stride } = arrays.codes[array];
  const texts = CODE_TEXTS[array];
  const present = texts.filter((text) => text !== null);
  const indexOfCode = Int32Array.from(texts, (text) => (text === null ? -1 : present.indexOf(text)));
  const indices = new Int32Array(rows.count).fill(-1);
  for (let row = 0; row < rows.count; row++) {
    const group = rows.groups[row] as number;
    if (group < 0 && !isRowStatus) continue;
    const position = positions[Math.max(group, 0)] as number;
    if (position < 0) continue;
    indices[row] = indexOfCode[values[(rows.places[row] as number) * stride + position] as number] as number;
  }
  return { indices, dictionary: { count: present.length, bytes: plainTexts(present) }, plain: undefined };
}

function numberColumn(
  { array, positions }: Extract<OutputColumn["value"], { kind: "number" }>,
  { rows, arrays, numbers }: RowGroupSource,
): ColumnData {
  const { values, stride } = arrays.numbers[array];
  const indices = new Int32Array(rows.count).fill(-1);
  const present = new Float64Array(rows.count);
  let [min, max, presentCount] = [Infinity, -Infinity, 0];
  let hasDictionary = true;
  numbers.clear();
  for (let row = 0; row < rows.count; row++) {
    const group = rows.groups[row] as number;
    const position = group < 0 ? -1 : (positions[group] as number);
    const number = position < 0 ? NaN : (values[(rows.places[row] as number) * stride + position] as number);
    if (Number.isNaN(number)) continue;
    present[presentCount++] = number;
    if (number < min) min = number;
    if (number > max) max = number;
    const index = hasDictionary ? numbers.indexOf(number) : 0;
    indices[row] = Math.max(index, 0);
    if (index < 0) hasDictionary = false;
  }
  const range = presentCount === 0 ? {} : { min, max };
  // Without a dictionary, indices only tell whether there is a value.
  if (hasDictionary && 2 * numbers.count <= presentCount) {
    const bytes = plainDoubles(numbers.numbers.subarray(0, numbers.count));
    return { indices, dictionary: { count: numbers.count, bytes }, plain: undefined, ...range };
  }
  return { indices, dictionary: undefined, plain: plainDoubles(present.subarray(0, presentCount)), ...range };
}

/** Distinct numbers that a dictionary may have, so that an index takes at most 16 bits. */
const NUMBER_COUNT_MAX = 1 << 16;
/** Slots of the hash table, a power of two at least twice as large. */
const SLOT_COUNT = 1 << 18;

/** Finds the distinct numbers of a column. An instance is used for one column after the other. */
export class NumberDictionary {
  /** The distinct numbers in the order of their first occurrence; the first `count` elements are used. */
  readonly numbers = new Float64Array(NUMBER_COUNT_MAX);
  count = 0;
  readonly #slots = new Int32Array(SLOT_COUNT).fill(-1);
  readonly #usedSlots = new Int32Array(NUMBER_COUNT_MAX);
  readonly #float = new Float64Array(1);
  readonly #words = new Uint32Array(this.#float.buffer);

  clear(): void {
    for (let i = 0; i < this.count; i++) this.#slots[this.#usedSlots[i] as number] = -1;
    this.count = 0;
  }

  /** Returns the index of a number, which is added if it is new; -1 if the dictionary is full. */
  indexOf(number: number): number {
    this.#float[0] = number;
    const hash = Math.imul((this.#words[0] as number) ^ Math.imul(this.#words[1] as number, 0x85ebca6b), 0x9e3779b1);
    let slot = (hash >>> 14) & (SLOT_COUNT - 1);
    for (;;) {
      const index = this.#slots[slot] as number;
      if (index < 0) return this.#add(number, slot);
      // Distinguishes 0 from -0.
      if (Object.is(this.numbers[index], number)) return index;
      slot = (slot + 1) & (SLOT_COUNT - 1);
    }
  }

  #add(number: number, slot: number): number {
    if (this.count === NUMBER_COUNT_MAX) return -1;
    const index = this.count++;
    this.numbers[index] = number;
    this.#slots[slot] = index;
    this.#usedSlots[index] = slot;
    return index;
  }
}

/** Parquet's plain encoding of values. */

const utf8 = new TextEncoder();

function plainDoubles(numbers: Iterable<number> & { readonly length: number }): Uint8Array {
  const bytes = new Uint8Array(numbers.length * 8);
  const view = new DataView(bytes.buffer);
  let offset = 0;
  for (const number of numbers) {
    view.setFloat64(offset, number, true);
    offset += 8;
  }
  return bytes;
}

function plainInt32s(numbers: readonly number[]): Uint8Array {
  const bytes = new Uint8Array(numbers.length * 4);
  const view = new DataView(bytes.buffer);
  for (const [i, number] of numbers.entries()) view.setInt32(i * 4, number, true);
  return bytes;
}

function plainInt64s(numbers: readonly bigint[]): Uint8Array {
  const bytes = new Uint8Array(numbers.length * 8);
  const view = new DataView(bytes.buffer);
  for (const [i, number] of numbers.entries()) view.setBigInt64(i * 8, number, true);
  return bytes;
}

function plainTexts(texts: readonly string[]): Uint8Array {
  return plainByteArrays(texts.map((text) => utf8.encode(text)));
}

function plainByteArrays(values: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(values.reduce((size, value) => size + 4 + value.length, 0));
  const view = new DataView(bytes.buffer);
  let offset = 0;
  for (const value of values) {
    view.setUint32(offset, value.length, true);
    bytes.set(value, offset + 4);
    offset += 4 + value.length;
  }
  return bytes;
}

/** Packs booleans, the first in the least significant bit of the first byte. */
function plainBooleans(values: readonly boolean[]): Uint8Array {
  const bytes = new Uint8Array(Math.ceil(values.length / 8));
  for (const [i, value] of values.entries()) if (value) bytes[i >> 3] = (bytes[i >> 3] ?? 0) | (1 << (i & 7));
  return bytes;
}

/** Returns a point in well-known binary, little-endian. */
function wellKnownPoint(longitude: number, latitude: number): Uint8Array {
  const bytes = new Uint8Array(21);
  const view = new DataView(bytes.buffer);
  view.setUint8(0, 1);
  view.setUint32(1, 1, true);
  view.setFloat64(5, longitude, true);
  view.setFloat64(13, latitude, true);
  return bytes;
}
