/** Encodes scored blocks as rows of text: CSV and NDJSON. */
import type { ScoreGroup } from "../../hazard/scoring/scoreRequest.ts";
import type { KeptValue, PlaceBlock, ScoredBlock } from "../scores/placeBlock.ts";
import type { SegmentContent, SegmentFormat } from "../segmentFormat.ts";
import { timestampOf, timestampText } from "../timestamps.ts";
import { type BlockArrays, blockArraysOf, CODE_TEXTS, type CodeKind } from "./blockArrays.ts";
import { degreesOf, type OutputColumn, outputColumns, type OutputPlan } from "./outputColumns.ts";
import { csvCell, csvLine } from "../../text/csv.ts";

/** How a format writes values and what it writes around them. */
interface TextSyntax {
  /** Text before a value. */
  lead(name: string, isFirst: boolean): string;
  readonly missing: string;
  readonly rowEnd: string;
  text(value: string): string;
  /** Writes NaN, Infinity or -Infinity, which kept columns may contain. */
  specialNumber(value: number): string;
  header(names: readonly string[]): string;
}

/** Chunks are at least this large. */
const CHUNK_SIZE_BYTES = 4 << 20;
/** Below this size a loop copies faster than `TypedArray.set`. */
const LOOP_SIZE_MAX = 48;

const utf8 = new TextEncoder();

type LeadColumn = OutputColumn & { readonly lead: string };

/** A value that differs between places. */
interface Cell {
  /** Text before the value, including values that are missing in every row. */
  readonly lead: Uint8Array;
  readonly value: Extract<OutputColumn["value"], { kind: "number" | "code" }>;
  /** Position of the value among those of a place. */
  readonly position: number;
}

/** A cell with the array of a block that has its values. */
interface BoundCell {
  readonly lead: Uint8Array;
  readonly numbers: Float64Array | undefined;
  readonly codes: Uint8Array | undefined;
  /** Texts of the codes. */
  readonly texts: readonly Uint8Array[];
  readonly stride: number;
  readonly position: number;
}

/** The part of a row that follows the kept columns. */
interface RowEnd {
  readonly cells: readonly Cell[];
  readonly tail: Uint8Array;
  readonly sizeBytesMax: number;
}

interface BoundRowEnd extends Omit<RowEnd, "cells"> {
  readonly cells: readonly BoundCell[];
}

/** The next row of a block. */
interface Cursor {
  place: number;
  /** Number of rows of the place that are written. */
  row: number;
  /** Encoded start of the rows of the place. */
  start: Uint8Array;
  /** Number of rows of the places that are complete. */
  rowCount: number;
}

/** Returns a format that writes rows of text. */
export function rowTextFormat(plan: OutputPlan, syntax: TextSyntax): SegmentFormat {
  const columns = outputColumns(plan);
  const encoder = new RowTextEncoder(plan, columns, syntax);
  return {
    header: utf8.encode(syntax.header(columns.map(({ name }) => name))),
    encode: (block) => encoder.encode(block),
    footer: undefined,
  };
}

class RowTextEncoder {
  readonly #plan: OutputPlan;
  readonly #syntax: TextSyntax;
  /** Columns of the place, which are first in a row, and those of its scores. */
  readonly #placeColumns: readonly LeadColumn[];
  readonly #scoreColumns: readonly LeadColumn[];
  /** Row ends of a valid place: one per group, or one in the wide layout. */
  readonly #rowEnds: readonly RowEnd[];
  readonly #codeTexts: Readonly<Record<CodeKind, readonly Uint8Array[]>>;
  readonly #missing: Uint8Array;
  readonly #numbers = new NumberTexts();
  /** Two chunks, which are filled alternately. */
  readonly #chunks: [Uint8Array, Uint8Array] = [new Uint8Array(0), new Uint8Array(0)];

  constructor(plan: OutputPlan, columns: readonly OutputColumn[], syntax: TextSyntax) {
    this.#plan = plan;
    this.#syntax = syntax;
    this.#missing = utf8.encode(syntax.missing);
    const encode = (code: string | null): Uint8Array => utf8.encode(code === null ? syntax.missing : syntax.text(code));
    this.#codeTexts = {
      bound: CODE_TEXTS.bound.map(encode),
      exceedanceBound: CODE_TEXTS.exceedanceBound.map(encode),
      status: CODE_TEXTS.status.map(encode),
      rowStatus: CODE_TEXTS.rowStatus.map(encode),
    };
    const all = columns.map((column, i) => ({ ...column, lead: syntax.lead(column.name, i === 0) }));
    const placeColumnCount = columns.findIndex((column) => !isPlaceColumn(column));
    this.#placeColumns = all.slice(0, placeColumnCount);
    this.#scoreColumns = all.slice(placeColumnCount);
    const rowGroups = plan.layout === "long" ? [...plan.groups.keys()] : [undefined];
    this.#rowEnds = rowGroups.map((group) => this.#rowEndOf(group));
  }

  *encode(block: ScoredBlock): Generator<Uint8Array, SegmentContent> {
    const { places } = block;
    const arrays = blockArraysOf(block, this.#plan.groups);
    const rowEnds = this.#rowEnds.map((rowEnd) => this.#bind(rowEnd, arrays));
    // The loops are in a function that is called once per chunk, because they take twice as long in a generator.
    const cursor: Cursor = { place: 0, row: 0, start: this.#rowStart(places, 0), rowCount: 0 };
    for (let chunkIndex = 0; cursor.place < places.rowCount; chunkIndex = 1 - chunkIndex) {
      yield this.#fillChunk(chunkIndex, { places, rowEnds, cursor });
    }
    return { rowCount: cursor.rowCount };
  }

  /** Fills a chunk with the rows from the cursor, which is moved after them. */
  #fillChunk(
    chunkIndex: number,
    {
      places,
      rowEnds,
      cursor,
    }: { readonly places: PlaceBlock; readonly rowEnds: readonly BoundRowEnd[]; readonly cursor: Cursor },
  ): Uint8Array {
    let { place, row, start } = cursor;
    let end = 0;
    let chunk = this.#chunk(chunkIndex, 0);
    const missing = this.#missing;
    const numberTexts = this.#numbers;
    for (; place < places.rowCount; row = 0) {
      const error = places.errors.get(place);
      const ofPlace = error === undefined ? rowEnds : [this.#invalidRowEnd(error.message)];
      for (; row < ofPlace.length; row++) {
        const { cells, tail, sizeBytesMax } = ofPlace[row] as BoundRowEnd;
        const rowSizeBytesMax = start.length + sizeBytesMax;
        if (chunk.length - end < rowSizeBytesMax) {
          if (end > 0) {
            Object.assign(cursor, { place, row, start });
            return chunk.subarray(0, end);
          }
          chunk = this.#chunk(chunkIndex, rowSizeBytesMax);
        }
        end = copyBytes(start, chunk, end);
        for (const { lead, numbers, codes, texts, stride, position } of cells) {
          end = copyBytes(lead, chunk, end);
          const index = place * stride + position;
          if (numbers !== undefined) {
            const value = numbers[index] as number;
            if (Number.isNaN(value)) end = copyBytes(missing, chunk, end);
            else end = numberTexts.write(value, chunk, end);
          } else if (codes !== undefined) end = copyBytes(texts[codes[index] as number] as Uint8Array, chunk, end);
        }
        end = copyBytes(tail, chunk, end);
      }
      cursor.rowCount += ofPlace.length;
      place++;
      if (place < places.rowCount) start = this.#rowStart(places, place);
    }
    Object.assign(cursor, { place, row, start });
    return chunk.subarray(0, end);
  }

  #bind({ cells, tail, sizeBytesMax }: RowEnd, { numbers, codes }: BlockArrays): BoundRowEnd {
    const bound = cells.map(({ lead, value, position }): BoundCell => {
      if (value.kind === "number") {
        const { values, stride } = numbers[value.array];
        return { lead, numbers: values, codes: undefined, texts: [], stride, position };
      }
      const { values, stride } = codes[value.array];
      return { lead, numbers: undefined, codes: values, texts: this.#codeTexts[value.array], stride, position };
    });
    return { cells: bound, tail, sizeBytesMax };
  }

  #chunk(index: number, sizeBytesMin: number): Uint8Array {
    const sizeBytes = Math.max(CHUNK_SIZE_BYTES, sizeBytesMin);
    let chunk = this.#chunks[index];
    if (chunk === undefined || chunk.length < sizeBytes) {
      chunk = new Uint8Array(sizeBytes);
      this.#chunks[index] = chunk;
    }
    return chunk;
  }

  #rowStart(places: PlaceBlock, place: number): Uint8Array {
    let text = "";
    for (const { lead, type, value } of this.#placeColumns) {
      text += lead;
      if (value.kind === "kept") text += this.#keptText(places.kept[value.index]?.[place] ?? null, type);
      else if (value.kind === "latitude" || value.kind === "longitude") {
        const degrees = degreesOf(places, value, place);
        text += Number.isNaN(degrees) ? this.#syntax.missing : numberText(degrees);
      }
    }
    return utf8.encode(text);
  }

  #keptText(value: KeptValue, type: OutputColumn["type"]): string {
    if (value === null) return this.#syntax.missing;
    if (typeof value === "string") return this.#syntax.text(value);
    if (typeof value === "number")
      return Number.isFinite(value) ? numberText(value) : this.#syntax.specialNumber(value);
    const timestamp = typeof value === "bigint" ? timestampOf(type) : undefined;
    return timestamp === undefined ? String(value) : this.#syntax.text(timestampText(value as bigint, timestamp));
  }

  /** @param rowGroup the group of the row; undefined in the wide layout */
  #rowEndOf(rowGroup: number | undefined): RowEnd {
    const group = rowGroup === undefined ? undefined : this.#plan.groups[rowGroup];
    const { missing, rowEnd } = this.#syntax;
    const cells: Cell[] = [];
    let lead = "";
    for (const { lead: columnLead, value } of this.#scoreColumns) {
      lead += columnLead;
      if (value.kind === "number" || value.kind === "code") {
        const position = value.positions[rowGroup ?? 0] ?? -1;
        if (position < 0) lead += missing;
        else {
          cells.push({ lead: utf8.encode(lead), value, position });
          lead = "";
        }
      } else lead += constantText(value, group, this.#syntax);
    }
    const tail = utf8.encode(lead + rowEnd);
    return { cells, tail, sizeBytesMax: cells.reduce((size, cell) => size + this.#cellSizeMax(cell), tail.length) };
  }

  #cellSizeMax({ lead, value }: Cell): number {
    const texts = value.kind === "number" ? [] : this.#codeTexts[value.array];
    return lead.length + Math.max(NUMBER_SIZE_MAX, this.#missing.length, ...texts.map(({ length }) => length));
  }

  /** Returns the row end of an invalid row, which has only a status and an error. */
  #invalidRowEnd(message: string): BoundRowEnd {
    const { text, missing, rowEnd } = this.#syntax;
    let line = "";
    for (const { lead, name, value } of this.#scoreColumns) {
      line += lead;
      if (value.kind === "error") line += text(message);
      else line += name === "status" ? text("invalid_row") : missing;
    }
    const tail = utf8.encode(line + rowEnd);
    return { cells: [], tail, sizeBytesMax: tail.length };
  }
}

/** Returns the text of a finite number, with the sign of -0. */
function numberText(value: number): string {
  return Object.is(value, -0) ? "-0" : String(value);
}

function isPlaceColumn({ value: { kind } }: OutputColumn): boolean {
  return kind === "kept" || kind === "latitude" || kind === "longitude";
}

/** Returns the text of a value that is the same in all valid rows of a group. */
function constantText(
  { kind }: OutputColumn["value"],
  group: ScoreGroup | undefined,
  { text, missing }: TextSyntax,
): string {
  if (group === undefined) return missing;
  if (kind === "hazard") return text(group.hazard);
  if (kind === "scenario") return text(group.scenario);
  return kind === "analysisYear" ? String(group.analysisYear) : missing;
}

/** Returns the end of the copied bytes. */
function copyBytes(source: Uint8Array, target: Uint8Array, start: number): number {
  const { length } = source;
  if (length > LOOP_SIZE_MAX) target.set(source, start);
  else for (let i = 0; i < length; i++) target[start + i] = source[i] as number;
  return start + length;
}

/** CSV (RFC 4180) with a header row. A missing value is an empty cell. */
export const CSV_SYNTAX: TextSyntax = {
  lead: (_, isFirst) => (isFirst ? "" : ","),
  missing: "",
  rowEnd: "\n",
  text: csvCell,
  specialNumber: String,
  header: csvLine,
};

/** NDJSON: one object per line, with every column as a member. A missing value is null. */
export const NDJSON_SYNTAX: TextSyntax = {
  lead: (name, isFirst) => `${isFirst ? "{" : ","}${JSON.stringify(name)}:`,
  missing: "null",
  rowEnd: "}\n",
  text: (value) => JSON.stringify(value),
  // JSON has no such numbers.
  specialNumber: () => "null",
  header: () => "",
};

/** Entries of the cache, a power of two. Each takes 41 bytes. */
const ENTRY_COUNT = 1 << 16;
/** The longest text of a number, such as -0.0000024523447598986393, has 25 characters. */
export const NUMBER_SIZE_MAX = 25;
const ENTRY_SIZE = 32;

/**
 * Writes numbers as JSON and JavaScript write them, in the fewest digits that give the same number again. Values of
 * layers are steps and repeat, so that most texts are copied from a direct-mapped cache.
 */
export class NumberTexts {
  readonly #numbers = new Float64Array(ENTRY_COUNT).fill(NaN);
  readonly #lengths = new Uint8Array(ENTRY_COUNT);
  readonly #texts = new Uint8Array(ENTRY_COUNT * ENTRY_SIZE);
  readonly #float = new Float64Array(1);
  readonly #words = new Uint32Array(this.#float.buffer);

  /**
   * Writes a finite number.
   * @param target at least NUMBER_SIZE_MAX bytes from `start`
   * @returns the end of the text
   */
  write(number: number, target: Uint8Array, start: number): number {
    this.#float[0] = number;
    const low = this.#words[0] as number;
    const high = this.#words[1] as number;
    const entry = (Math.imul(low ^ Math.imul(high, 0x85ebca6b), 0x9e3779b1) >>> 16) & (ENTRY_COUNT - 1);
    // An entry of 0 also serves for -0, and the reverse: both are written as 0.
    if (this.#numbers[entry] !== number) this.#store(entry, number);
    const texts = this.#texts;
    const textStart = entry * ENTRY_SIZE;
    const length = this.#lengths[entry] as number;
    for (let i = 0; i < length; i++) target[start + i] = texts[textStart + i] as number;
    return start + length;
  }

  #store(entry: number, number: number): void {
    const text = String(number);
    this.#numbers[entry] = number;
    this.#lengths[entry] = text.length;
    for (let i = 0; i < text.length; i++) this.#texts[entry * ENTRY_SIZE + i] = text.charCodeAt(i);
  }
}
