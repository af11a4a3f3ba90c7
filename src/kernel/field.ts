import { type Circle, type CircleCells, rowSpans } from "./geodesy.ts";
import { type Grid, westernmost } from "./grid.ts";
import type { Kernel, Region } from "./instance.ts";
import {
  BLOCK_SIZE,
  FIELD_BYTES,
  PYRAMID_SIZE,
  SPANS_HEADER_BYTES,
  STATUS_MISSING,
  STATUS_OK,
  STATUS_UNSURE,
  TILE_SIZE,
} from "./kernel.generated.ts";

/** The forms in which a field's tiles are kept; assembly/field.ts describes each. */
export const TILE_FORMS = ["cells", "prefixes", "bounds", "totals"] as const;
export type TileForm = (typeof TILE_FORMS)[number];
/** Forms that stand for 8 x 8 data tiles. */
export const PYRAMID_FORMS: readonly TileForm[] = ["bounds", "totals"];

/** Bytes of a tile of this form, for cells of this many vectors. */
export function tileBytes(form: TileForm, vectorCount: number): number {
  return LANE_BYTES[form] * vectorCount * LANES;
}

/** Lanes of 16 bits in a vector. */
export const LANES = 8;
const BLOCKS = (PYRAMID_SIZE * TILE_SIZE) / BLOCK_SIZE;
/** Bytes of one lane. */
const LANE_BYTES: Readonly<Record<TileForm, number>> = {
  cells: TILE_SIZE * TILE_SIZE * 2,
  prefixes: TILE_SIZE * (TILE_SIZE + 1) * 4,
  bounds: BLOCKS * BLOCKS * 2,
  totals: PYRAMID_SIZE * TILE_SIZE * PYRAMID_SIZE * 4,
};
/** Rows are read two at a time, and spans written so. */
const SPARE_ROWS = 8;
/** A circle of the largest radius reaches over this many degrees of latitude. */
const REACH_DEG = 2.6;
const MISSING_CAPACITY = 1 << 16;

/** Tiles that a kernel asks for, by form. Indices may come more than once. */
export interface MissingTiles {
  readonly form: TileForm;
  readonly indices: readonly number[];
}

/** What a kernel found, or what it needs first. */
export type Found<T> =
  { readonly kind: "found"; readonly value: T } | { readonly kind: "missing"; readonly tiles: readonly MissingTiles[] };

/**
 * What the fields of one grid share: the table of rows, and room for one circle at a time. A circle is laid with `lay`
 * and stays until the next; nothing here may be relied on across an await.
 */
export class FieldGrid {
  readonly kernel: Kernel;
  readonly grid: Grid;
  readonly tileRowCount: number;
  readonly tileColumnCount: number;
  readonly pyramidRowCount: number;
  readonly pyramidColumnCount: number;
  readonly rowTable: Region;
  readonly rowStride: number;
  readonly #spans: Region;
  readonly #seam: Region;
  readonly #rows: Region;
  readonly #runs: Region;
  readonly #missing: Region;
  readonly #capacity: number;
  #hasSeam = false;
  /** A field of this grid, for the kernels that only read the grid of it. */
  #any: number = 0;

  constructor(kernel: Kernel, grid: Grid) {
    this.kernel = kernel;
    this.grid = grid;
    this.tileRowCount = Math.ceil(grid.rowCount / TILE_SIZE);
    this.tileColumnCount = Math.ceil(grid.columnCount / TILE_SIZE);
    this.pyramidRowCount = Math.ceil(this.tileRowCount / PYRAMID_SIZE);
    this.pyramidColumnCount = Math.ceil(this.tileColumnCount / PYRAMID_SIZE);
    this.rowStride = grid.rowCount + SPARE_ROWS;
    this.rowTable = kernel.reserve(this.rowStride * 8 * 6);
    this.#capacity = Math.min(grid.rowCount, Math.ceil(REACH_DEG / grid.cellSizeLatDeg)) + SPARE_ROWS;
    const spansBytes = SPANS_HEADER_BYTES + this.#capacity * 16;
    this.#spans = kernel.reserve(spansBytes);
    this.#seam = kernel.reserve(spansBytes);
    this.#rows = kernel.reserve((Math.ceil(this.#capacity / BLOCK_SIZE) + 2) * 16);
    this.#runs = kernel.reserve(kernel.exports.rowRunsBytes(this.pyramidColumnCount));
    this.#missing = kernel.reserve(MISSING_CAPACITY * 4);
    for (const { pointer } of [this.#spans, this.#seam]) kernel.words[(pointer + CAPACITY_AT) >>> 2] = this.#capacity;
  }

  /** Bytes of a directory of tiles, and of one of pyramid tiles. */
  get directorySizes(): { readonly tiles: number; readonly pyramids: number } {
    return {
      tiles: this.tileRowCount * this.tileColumnCount * 4,
      pyramids: this.pyramidRowCount * this.pyramidColumnCount * 4,
    };
  }

  /** Bytes of all directories that a field of this grid has. */
  get directoryBytes(): number {
    const { tiles, pyramids } = this.directorySizes;
    return 2 * (tiles + pyramids);
  }

  /** Fills the table of rows; `field` is any field of this grid. */
  adopt(field: number): void {
    if (this.#any !== 0) return;
    this.#any = field;
    this.kernel.exports.fillRowTable(field);
  }

  /** The cell that contains the location, as row * columnCount + column; -1 outside. */
  cellOf(latDeg: number, lonDeg: number): number {
    return this.kernel.exports.cellOf(this.#any, latDeg, lonDeg);
  }

  /**
   * Lays a circle: its cells, and always the one that contains its centre.
   *
   * @returns false where its cells are more than two runs a row, which no circle has but by the doubts of a rim; then
   *   `slow` holds them
   */
  lay(circle: Circle): { readonly isLaid: boolean; readonly slow?: CircleCells } {
    const { exports, words } = this.kernel;
    const { latDeg, radiusM } = circle;
    const lonDeg = westernmost(this.grid, circle.lonDeg);
    this.#hasSeam = false;
    let status = exports.strandSpans(this.#any, latDeg, lonDeg, radiusM, this.#spans.pointer);
    if (status === STATUS_OK) {
      const at = this.#spans.pointer >>> 2;
      // Seen a turn further east or west, does the circle reach the grid again? So it does over the seam of a grid that
      // closes, and on a first meridian that is repeated.
      const columnsPerTurn = 360 / this.grid.cellSizeLonDeg;
      const comesWest = (words[at + 2] ?? 0) + columnsPerTurn < this.grid.columnCount;
      const comesEast = (words[at + 3] ?? 0) + 1 > columnsPerTurn;
      const turn = comesWest ? 360 : comesEast ? -360 : 0;
      if (comesWest && comesEast) {
        status = STATUS_UNSURE;
      } else if (turn !== 0 && (words[at + 1] ?? 0) > 0) {
        status = exports.strandSpans(this.#any, latDeg, lonDeg + turn, radiusM, this.#seam.pointer);
        this.#hasSeam = true;
      }
    }
    if (status === STATUS_OK) {
      const cell = this.cellOf(latDeg, circle.lonDeg);
      if (cell >= 0) {
        const row = Math.floor(cell / this.grid.columnCount);
        const seam = this.#hasSeam ? this.#seam.pointer : 0;
        status = exports.includeCell(this.#spans.pointer, seam, row, cell - row * this.grid.columnCount);
      }
    }
    if (status === STATUS_OK) return LAID;
    if (status !== STATUS_UNSURE) this.kernel.check(status, "strandSpans");
    return this.#laySlow(rowSpans(this.kernel, this.grid, circle));
  }

  /** How many cells the circle has. */
  countCells(): number {
    let count = 0;
    this.#forRows((_, cells) => (count += cells));
    return count;
  }

  /** Area of all cells of the circle, in the unit of the row weights. */
  sumArea(): number {
    const { rowTable, rowStride, kernel } = this;
    const weights = kernel.f64({ pointer: rowTable.pointer + 5 * rowStride * 8, sizeBytes: rowStride * 8 });
    let area = 0;
    this.#forRows((row, cells) => (area += (weights[row] ?? 0) * cells));
    return area;
  }

  /** The rows of the circle, north to south, with the number of cells that both strands have there. */
  #forRows(take: (row: number, cells: number) => void): void {
    const { words } = this.kernel;
    const strands = this.#hasSeam ? [this.#spans, this.#seam] : [this.#spans];
    const at = this.#spans.pointer >>> 2;
    for (let i = 0; i < (words[at + 1] ?? 0); i++) {
      let cells = 0;
      for (const { pointer } of strands) {
        if (i >= (words[(pointer >>> 2) + 1] ?? 0)) continue;
        const first = ((pointer + SPANS_HEADER_BYTES) >>> 2) + i;
        cells += Math.max(0, (words[first + this.#capacity] ?? 0) - (words[first] ?? 0) + 1);
      }
      take((words[at] ?? 0) + i, cells);
    }
  }

  /** The maximum of the circle that was laid, for each lane: bounds, 0 = no valid cell, else largest step + 1. */
  max(field: Field): Found<Uint16Array> {
    const { kernel } = this;
    const { exports } = kernel;
    const best = field.best;
    kernel.bytes(best).fill(0);
    for (const strand of this.#hasSeam ? [this.#spans, this.#seam] : [this.#spans]) {
      const status = exports.circleMax(
        field.pointer,
        strand.pointer,
        best.pointer,
        this.#missing.pointer,
        MISSING_CAPACITY,
        this.#rows.pointer,
      );
      if (status === STATUS_MISSING) return this.#missingOfMax();
      kernel.check(status, "circleMax");
    }
    return { kind: "found", value: kernel.u16(best) };
  }

  /** For each lane the weighted sum of steps, then of valid cells, of the circle that was laid. */
  sums(field: Field): Found<Float64Array> {
    const { kernel } = this;
    const { sums } = field;
    kernel.bytes(sums).fill(0);
    const status = kernel.exports.circleSums(
      field.pointer,
      this.#spans.pointer,
      this.#hasSeam ? this.#seam.pointer : 0,
      sums.pointer,
      this.#missing.pointer,
      MISSING_CAPACITY,
      this.#runs.pointer,
    );
    if (status === STATUS_MISSING) {
      const words = kernel.i32(this.#missing);
      const [totals = 0, prefixes = 0] = words;
      const listed = Array.from(words.subarray(2, 2 + totals + prefixes));
      return {
        kind: "missing",
        tiles: [
          { form: "totals", indices: listed.slice(0, totals) },
          { form: "prefixes", indices: listed.slice(totals) },
        ],
      };
    }
    kernel.check(status, "circleSums");
    return { kind: "found", value: kernel.f64(sums) };
  }

  #missingOfMax(): Found<never> {
    const words = this.kernel.i32(this.#missing);
    const [bounds = 0, cells = 0] = words;
    if (bounds > 0) {
      return { kind: "missing", tiles: [{ form: "bounds", indices: Array.from(words.subarray(2, 2 + bounds)) }] };
    }
    // One at a time, the most promising first: what it holds may make all others needless.
    const rises = new Map<number, number>();
    for (let i = 0; i < cells; i++) {
      const index = words[2 + 2 * i] ?? 0;
      rises.set(index, Math.max(rises.get(index) ?? 0, words[3 + 2 * i] ?? 0));
    }
    const [best] = [...rises].toSorted(([a, x], [b, y]) => y - x || a - b);
    return { kind: "missing", tiles: [{ form: "cells", indices: best === undefined ? [] : [best[0]] }] };
  }

  #laySlow(cells: CircleCells): { readonly isLaid: boolean; readonly slow?: CircleCells } {
    const { spans, spanCount } = cells;
    const { words } = this.kernel;
    const firstRow = spans[0] ?? 0;
    const rowCount = spanCount === 0 ? 0 : (spans[(spanCount - 1) * 3] ?? 0) - firstRow + 1;
    if (rowCount + 4 > this.#capacity) return { isLaid: false, slow: cells };
    const strands = [this.#spans, this.#seam].map(({ pointer }) => pointer >>> 2);
    for (const at of strands) {
      words[at] = firstRow;
      words[at + 1] = rowCount;
      const firsts = at + (SPANS_HEADER_BYTES >>> 2);
      words.fill(1, firsts, firsts + rowCount);
      words.fill(0, firsts + this.#capacity, firsts + this.#capacity + rowCount);
    }
    this.#hasSeam = false;
    let before = -1;
    let strand = 0;
    for (let i = 0; i < spanCount; i++) {
      const row = spans[i * 3] ?? 0;
      strand = row === before ? strand + 1 : 0;
      before = row;
      if (strand > 1) return { isLaid: false, slow: cells };
      this.#hasSeam ||= strand === 1;
      const firsts = (strands[strand] ?? 0) + (SPANS_HEADER_BYTES >>> 2) + row - firstRow;
      words[firsts] = spans[i * 3 + 1] ?? 0;
      words[firsts + this.#capacity] = spans[i * 3 + 2] ?? 0;
    }
    return LAID;
  }
}

const LAID = { isLaid: true } as const;
/** Offset of the capacity in the header of spans; assembly/spans.ts. */
const CAPACITY_AT = 16;

/** Some layers of one grid, side by side in every cell, and the directories of their tiles. */
export class Field {
  readonly grid: FieldGrid;
  readonly layerCount: number;
  readonly vectorCount: number;
  /** The record that kernels read. */
  readonly pointer: number;
  readonly directories: Readonly<Record<TileForm, Region>>;
  readonly best: Region;
  readonly sums: Region;

  constructor(grid: FieldGrid, layerCount: number) {
    const { kernel } = grid;
    this.grid = grid;
    this.layerCount = layerCount;
    this.vectorCount = Math.ceil(layerCount / LANES);
    const record = kernel.reserve(FIELD_BYTES);
    this.pointer = record.pointer;
    const { tiles, pyramids } = grid.directorySizes;
    this.directories = {
      cells: kernel.reserve(tiles),
      prefixes: kernel.reserve(tiles),
      bounds: kernel.reserve(pyramids),
      totals: kernel.reserve(pyramids),
    };
    this.best = kernel.reserve(this.vectorCount * 16);
    this.sums = kernel.reserve(this.vectorCount * 128);
    const { northDeg, westDeg, cellSizeLatDeg, cellSizeLonDeg, rowCount, columnCount } = grid.grid;
    kernel.f64(record).set([northDeg, westDeg, cellSizeLatDeg, cellSizeLonDeg]);
    kernel
      .i32(record)
      .set(
        [
          rowCount,
          columnCount,
          this.vectorCount,
          grid.rowTable.pointer,
          grid.rowStride,
          this.directories.cells.pointer,
          this.directories.prefixes.pointer,
          this.directories.bounds.pointer,
          this.directories.totals.pointer,
        ],
        8,
      );
    grid.adopt(this.pointer);
  }
}
