/**
 * Reads a pack according to docs/atlas-format.md and the FlatBuffers wire format, and computes the expected contents
 * cell by cell. Does not import code under test.
 */
import { inflateRawSync } from "node:zlib";

/** A FlatBuffers table: little-endian, fields located through the vtable (flatbuffers.dev/internals). */
export class FlatTable {
  readonly #view: DataView;
  readonly #table: number;
  readonly identifier: string;

  constructor(bytes: Uint8Array) {
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#table = this.#view.getUint32(0, true);
    this.identifier = String.fromCharCode(...bytes.subarray(4, 8));
  }

  /** Returns the position of a field's bytes, or undefined if the field is absent. */
  positionOf(id: number): number | undefined {
    const vtable = this.#table - this.#view.getInt32(this.#table, true);
    const slot = 4 + 2 * id;
    if (slot >= this.#view.getUint16(vtable, true)) return undefined;
    const offset = this.#view.getUint16(vtable + slot, true);
    return offset === 0 ? undefined : this.#table + offset;
  }

  u32(id: number): number {
    const position = this.positionOf(id);
    return position === undefined ? 0 : this.#view.getUint32(position, true);
  }

  /** Returns the position of a vector's first item and the number of items. */
  vector(id: number): { readonly position: number; readonly count: number } {
    const position = this.positionOf(id);
    if (position === undefined) return { position: 0, count: 0 };
    const vector = position + this.#view.getUint32(position, true);
    return { position: vector + 4, count: this.#view.getUint32(vector, true) };
  }

  numbers(id: number, itemBytes: 1 | 2 | 4 | 8): number[] {
    const { position, count } = this.vector(id);
    return Array.from({ length: count }, (_, i) => {
      const at = position + i * itemBytes;
      if (itemBytes === 1) return this.#view.getUint8(at);
      if (itemBytes === 2) return this.#view.getUint16(at, true);
      return itemBytes === 4 ? this.#view.getUint32(at, true) : Number(this.#view.getBigUint64(at, true));
    });
  }
}

/** Field ids of src/atlas/tile.fbs. */
export const ROOT_FIELDS = {
  tileRowCount: 0,
  tileColumnCount: 1,
  layerCounts: 2,
  states: 3,
  offsets: 4,
  headerSizes: 5,
  headerChecksums: 6,
  bounds: 7,
} as const;
export const HEADER_FIELDS = {
  row: 0,
  column: 1,
  offsets: 2,
  states: 3,
  sizes: 4,
  checksums: 5,
  bounds: 6,
  maximaSizes: 7,
  maximaChecksums: 8,
  totalsSizes: 9,
  totalsChecksums: 10,
} as const;

/** Names of the stored state numbers. */
const STATE_NAMES = ["cells", "zero", "nodata", "outside"] as const;

/** The three files of a pack. */
export interface PackFiles {
  readonly root: Uint8Array;
  readonly pyramid: Uint8Array;
  readonly tiles: Uint8Array;
}

/** One group of one of the 64 data tiles of a pyramid tile. */
interface StoredTile {
  readonly state: string | undefined;
  /** Bounds of level 64, one per layer. */
  readonly bounds: readonly number[];
  readonly stored: Uint8Array;
  readonly checksum: number;
}

interface StoredSection<Items> {
  readonly stored: Uint8Array;
  readonly checksum: number;
  readonly items: Items;
}

export interface StoredPyramidTile {
  readonly state: string | undefined;
  /** Bounds of level 512, one per layer of every group. */
  readonly bounds: readonly number[];
  /** Contents; absent if nothing is stored. */
  readonly content?: {
    readonly header: Uint8Array;
    readonly headerChecksum: number;
    readonly row: number;
    readonly column: number;
    /** [data tile][group] */
    readonly tiles: readonly (readonly StoredTile[])[];
    /** One per group, u16[64][64][layer]. */
    readonly maxima: readonly StoredSection<Uint16Array>[];
    /** One per group, u32[512][8][layer]. */
    readonly totals: readonly StoredSection<Uint32Array>[];
  };
}

/** Reads every pyramid tile of a pack, row by row. */
export function readPackByFormat({ root, pyramid, tiles }: PackFiles): readonly StoredPyramidTile[] {
  const index = new FlatTable(root);
  const layerCounts = index.numbers(ROOT_FIELDS.layerCounts, 1);
  const layerCount = layerCounts.reduce((sum, count) => sum + count, 0);
  const offsets = index.numbers(ROOT_FIELDS.offsets, 8);
  const sizes = index.numbers(ROOT_FIELDS.headerSizes, 4);
  const checksums = index.numbers(ROOT_FIELDS.headerChecksums, 4);
  const bounds = index.numbers(ROOT_FIELDS.bounds, 2);
  return index.numbers(ROOT_FIELDS.states, 1).map((stored, i) => {
    const state = STATE_NAMES[stored];
    const level512 = bounds.slice(i * layerCount, (i + 1) * layerCount);
    if (state !== "cells") return { state, bounds: level512 };
    const offset = offsets[i] ?? 0;
    const end = offset + (sizes[i] ?? 0);
    const header = pyramid.subarray(offset, end);
    const table = new FlatTable(header);
    let at = end;
    const sectionsOf = <Items>(
      fields: { readonly sizes: number; readonly checksums: number },
      decode: (bytes: ArrayBuffer) => Items,
    ): StoredSection<Items>[] => {
      const sectionChecksums = table.numbers(fields.checksums, 4);
      return table.numbers(fields.sizes, 4).map((size, group) => {
        const part = pyramid.subarray(at, at + size);
        at += size;
        return {
          stored: part,
          checksum: sectionChecksums[group] ?? 0,
          items: decode(Uint8Array.from(inflateRawSync(part)).buffer),
        };
      });
    };
    const maxima = sectionsOf(
      { sizes: HEADER_FIELDS.maximaSizes, checksums: HEADER_FIELDS.maximaChecksums },
      (bytes) => new Uint16Array(bytes),
    );
    const totals = sectionsOf(
      { sizes: HEADER_FIELDS.totalsSizes, checksums: HEADER_FIELDS.totalsChecksums },
      (bytes) => new Uint32Array(bytes),
    );
    const content = {
      header,
      headerChecksum: checksums[i] ?? 0,
      row: table.u32(HEADER_FIELDS.row),
      column: table.u32(HEADER_FIELDS.column),
      tiles: tilesOf(table, layerCounts, tiles),
      maxima,
      totals,
    };
    return { state, bounds: level512, content };
  });
}

function tilesOf(table: FlatTable, layerCounts: readonly number[], file: Uint8Array): StoredTile[][] {
  const states = table.numbers(HEADER_FIELDS.states, 1);
  const sizes = table.numbers(HEADER_FIELDS.sizes, 4);
  const checksums = table.numbers(HEADER_FIELDS.checksums, 4);
  const bounds = table.numbers(HEADER_FIELDS.bounds, 2);
  let bound = 0;
  return table.numbers(HEADER_FIELDS.offsets, 8).map((offset, tile) => {
    let at = offset;
    return layerCounts.map((count, group) => {
      const entry = tile * layerCounts.length + group;
      const size = sizes[entry] ?? 0;
      const stored = file.subarray(at, at + size);
      at += size;
      bound += count;
      return {
        state: STATE_NAMES[states[entry] ?? -1],
        bounds: bounds.slice(bound - count, bound),
        stored,
        checksum: checksums[entry] ?? 0,
      };
    });
  });
}

/** Returns the steps of one cell in one layer; 65534 outside the grid. */
export type StepsAt = (cell: { readonly row: number; readonly column: number; readonly layer: number }) => number;

const isValid = (steps: number): boolean => steps < 65_534;

/** Returns the bound of a square of cells: 0 if no cell is valid, else largest step + 1. */
export function boundByDefinition(
  stepsAt: StepsAt,
  cells: { readonly row: number; readonly column: number; readonly size: number; readonly layer: number },
): number {
  let bound = 0;
  for (let row = cells.row; row < cells.row + cells.size; row++) {
    for (let column = cells.column; column < cells.column + cells.size; column++) {
      const steps = stepsAt({ row, column, layer: cells.layer });
      if (isValid(steps)) bound = Math.max(bound, steps + 1);
    }
  }
  return bound;
}

/** Returns the total of one row of one data tile: number of valid cells x 2^22 + sum of their steps. */
export function totalByDefinition(
  stepsAt: StepsAt,
  cells: { readonly row: number; readonly column: number; readonly layer: number },
): number {
  let count = 0;
  let sum = 0;
  for (let column = cells.column; column < cells.column + 64; column++) {
    const steps = stepsAt({ row: cells.row, column, layer: cells.layer });
    if (!isValid(steps)) continue;
    count += 1;
    sum += steps;
  }
  return count * 4_194_304 + sum;
}
