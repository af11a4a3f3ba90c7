import { type Circle, type CircleCells, rowSpans } from "./geodesy.ts";
import { type Grid, normalizeLonDeg } from "./grid.ts";
import type { Kernel, Region } from "./instance.ts";
import {
  BLOCK_SIZE,
  FIELD_BYTES,
  PYRAMID_SIZE,
  SPANS_HEADER_BYTES,
  STATUS_AMBIGUOUS,
  STATUS_MISSING,
  STATUS_OK,
  TILE_SIZE,
} from "./kernel.generated.ts";

/** Forms of a field's tiles, defined in assembly/field.ts. */
const TILE_FORMS = ["cells", "prefixes", "bounds", "totals"] as const;
export type TileForm = (typeof TILE_FORMS)[number];
/** Forms that cover 8 x 8 data tiles. */
export const PYRAMID_FORMS: readonly TileForm[] = ["bounds", "totals"];

/** Returns the size of a tile of this form, in a field of `vectorCount` vectors per cell. */
export function tileBytes(form: TileForm, vectorCount: number): number {
  return LANE_BYTES[form] * vectorCount * LANES;
}

/** 16-bit lanes per vector. */
export const LANES = 8;
/** Blocks along one edge of a pyramid tile. */
const PYRAMID_TILE_BLOCKS = (PYRAMID_SIZE * TILE_SIZE) / BLOCK_SIZE;
/** Size of a tile per lane, bytes. */
const LANE_BYTES: Readonly<Record<TileForm, number>> = {
  cells: TILE_SIZE * TILE_SIZE * 2,
  prefixes: TILE_SIZE * (TILE_SIZE + 1) * 4,
  bounds: PYRAMID_TILE_BLOCKS * PYRAMID_TILE_BLOCKS * 2,
  totals: PYRAMID_SIZE * TILE_SIZE * PYRAMID_SIZE * 4,
};
/** Extra rows in the tables, because kernels read rows and write spans two at a time, beyond the last row. */
const SPARE_ROWS = 8;
/** Upper bound of the diameter of the largest circle, in degrees of latitude. */
const DIAMETER_DEG_MAX = 2.6;
const MISSING_CAPACITY = 1 << 16;

/** Tiles that a kernel needs, by form. Indices may repeat. */
export interface MissingTiles {
  readonly form: TileForm;
  readonly indices: readonly number[];
}

/** The result of a kernel, or the tiles that it needs first. */
export type ResultOrMissing<T> =
  { readonly kind: "found"; readonly value: T } | { readonly kind: "missing"; readonly tiles: readonly MissingTiles[] };

/**
 * State shared by the fields of one grid: the row table, and the spans of the current circle. `setCircle` replaces the
 * current circle, so callers must not rely on it across an await.
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
  readonly #wrappedSpans: Region;
  readonly #blockRows: Region;
  readonly #plan: Region;
  readonly #missing: Region;
  readonly #capacity: number;
  #hasWrappedSpans = false;
  /** Record of the first field of this grid, for the kernels that only need the grid. */
  #fieldPointer: number = 0;

  constructor(kernel: Kernel, grid: Grid) {
    this.kernel = kernel;
    this.grid = grid;
    this.tileRowCount = Math.ceil(grid.rowCount / TILE_SIZE);
    this.tileColumnCount = Math.ceil(grid.columnCount / TILE_SIZE);
    this.pyramidRowCount = Math.ceil(this.tileRowCount / PYRAMID_SIZE);
    this.pyramidColumnCount = Math.ceil(this.tileColumnCount / PYRAMID_SIZE);
    this.rowStride = grid.rowCount + SPARE_ROWS;
    this.rowTable = kernel.reserve(this.rowStride * 8 * 6);
    this.#capacity = Math.min(grid.rowCount, Math.ceil(DIAMETER_DEG_MAX / grid.cellSizeLatDeg)) + SPARE_ROWS;
    const spansBytes = SPANS_HEADER_BYTES + this.#capacity * 16;
    this.#spans = kernel.reserve(spansBytes);
    this.#wrappedSpans = kernel.reserve(spansBytes);
    this.#blockRows = kernel.reserve((Math.ceil(this.#capacity / BLOCK_SIZE) + 2) * 16);
    this.#plan = kernel.reserve(kernel.exports.rowPlanBytes(this.pyramidColumnCount));
    this.#missing = kernel.reserve(MISSING_CAPACITY * 4);
    for (const { pointer } of [this.#spans, this.#wrappedSpans])
      kernel.words[(pointer + CAPACITY_AT) >>> 2] = this.#capacity;
  }

  /** Sizes of a directory of data tiles and of one of pyramid tiles, bytes. */
  get directorySizes(): { readonly tiles: number; readonly pyramids: number } {
    return {
      tiles: this.tileRowCount * this.tileColumnCount * 4,
      pyramids: this.pyramidRowCount * this.pyramidColumnCount * 4,
    };
  }

  /** Size of all directories of one field, bytes. */
  get directoryBytes(): number {
    const { tiles, pyramids } = this.directorySizes;
    return 2 * (tiles + pyramids);
  }

  /** Fills the row table when the first field of this grid is created. */
  registerField(field: number): void {
    if (this.#fieldPointer !== 0) return;
    this.#fieldPointer = field;
    this.kernel.exports.fillRowTable(field);
  }

  /** Returns the cell that contains the location as row * columnCount + column, or -1 outside the grid. */
  cellOf(latDeg: number, lonDeg: number): number {
    return this.kernel.exports.cellOf(this.#fieldPointer, latDeg, lonDeg);
  }

  /**
   * Sets the current circle to the cells with centers within the radius and the cell that contains the location.
   *
   * @returns false if the spans do not fit two span tables, which only happens if GeographicLib decides single cells on
   *   the rim; the caller then uses rowSpans
   */
  setCircle(circle: Circle): boolean {
    const { exports, words } = this.kernel;
    const { latDeg, radiusM } = circle;
    const lonDeg = normalizeLonDeg(this.grid, circle.lonDeg);
    this.#hasWrappedSpans = false;
    let status = exports.fastRowSpans(this.#fieldPointer, latDeg, lonDeg, radiusM, this.#spans.pointer);
    if (status === STATUS_OK) {
      const header = this.#spans.pointer >>> 2;
      // The circle shifted by 360 degrees may also overlap the grid, if the grid wraps around or repeats its first
      // meridian.
      const columnsPerTurn = 360 / this.grid.cellSizeLonDeg;
      const overlapsShiftedEast = (words[header + 2] ?? 0) + columnsPerTurn < this.grid.columnCount;
      const overlapsShiftedWest = (words[header + 3] ?? 0) + 1 > columnsPerTurn;
      const shiftDeg = overlapsShiftedEast ? 360 : overlapsShiftedWest ? -360 : 0;
      if (overlapsShiftedEast && overlapsShiftedWest) {
        status = STATUS_AMBIGUOUS;
      } else if (shiftDeg !== 0 && (words[header + 1] ?? 0) > 0) {
        status = exports.fastRowSpans(
          this.#fieldPointer,
          latDeg,
          lonDeg + shiftDeg,
          radiusM,
          this.#wrappedSpans.pointer,
        );
        this.#hasWrappedSpans = true;
      }
    }
    if (status === STATUS_OK) {
      const cell = this.cellOf(latDeg, circle.lonDeg);
      if (cell >= 0) {
        const row = Math.floor(cell / this.grid.columnCount);
        const wrapped = this.#hasWrappedSpans ? this.#wrappedSpans.pointer : 0;
        status = exports.includeCell(this.#spans.pointer, wrapped, row, cell - row * this.grid.columnCount);
      }
    }
    if (status === STATUS_OK) return true;
    if (status !== STATUS_AMBIGUOUS) this.kernel.check(status, "fastRowSpans");
    return this.#setCells(rowSpans(this.kernel, this.grid, circle));
  }

  /** Returns the number of cells of the current circle. */
  countCells(): number {
    let count = 0;
    this.#forEachRow((_, cells) => (count += cells));
    return count;
  }

  /** Returns the area of the current circle's cells, in the unit of the row weights. */
  sumArea(): number {
    const { rowTable, rowStride, kernel } = this;
    const weights = kernel.f64({ pointer: rowTable.pointer + 5 * rowStride * 8, sizeBytes: rowStride * 8 });
    let area = 0;
    this.#forEachRow((row, cells) => (area += (weights[row] ?? 0) * cells));
    return area;
  }

  /** Calls `visit` for each row of the current circle, north to south, with its number of cells. */
  #forEachRow(visit: (row: number, cells: number) => void): void {
    const { words } = this.kernel;
    const tables = this.#hasWrappedSpans ? [this.#spans, this.#wrappedSpans] : [this.#spans];
    const header = this.#spans.pointer >>> 2;
    for (let i = 0; i < (words[header + 1] ?? 0); i++) {
      let cellCount = 0;
      for (const { pointer } of tables) {
        if (i >= (words[(pointer >>> 2) + 1] ?? 0)) continue;
        const first = ((pointer + SPANS_HEADER_BYTES) >>> 2) + i;
        cellCount += Math.max(0, (words[first + this.#capacity] ?? 0) - (words[first] ?? 0) + 1);
      }
      visit((words[header] ?? 0) + i, cellCount);
    }
  }

  /** Computes the maximum over the current circle, u16[lane]: 0 = no valid cell, else largest step + 1. */
  max(field: Field): ResultOrMissing<Uint16Array> {
    const { kernel } = this;
    const { exports } = kernel;
    const best = field.best;
    kernel.bytes(best).fill(0);
    for (const table of this.#hasWrappedSpans ? [this.#spans, this.#wrappedSpans] : [this.#spans]) {
      const status = exports.circleMax(
        field.pointer,
        table.pointer,
        best.pointer,
        this.#missing.pointer,
        MISSING_CAPACITY,
        this.#blockRows.pointer,
      );
      if (status === STATUS_MISSING) return this.#missingOfMax();
      kernel.check(status, "circleMax");
    }
    return { kind: "found", value: kernel.u16(best) };
  }

  /**
   * Computes the area-weighted sums over the current circle, f64[lane / 4][8]: for four lanes the sum of weight x
   * steps, then of weight x number of valid cells.
   */
  sums(field: Field): ResultOrMissing<Float64Array> {
    const { kernel } = this;
    const { sums } = field;
    kernel.bytes(sums).fill(0);
    const status = kernel.exports.circleSums(
      field.pointer,
      this.#spans.pointer,
      this.#hasWrappedSpans ? this.#wrappedSpans.pointer : 0,
      sums.pointer,
      this.#missing.pointer,
      MISSING_CAPACITY,
      this.#plan.pointer,
    );
    if (status === STATUS_MISSING) {
      const words = kernel.i32(this.#missing);
      const [totals = 0, prefixes = 0] = words;
      const missingIndices = Array.from(words.subarray(2, 2 + totals + prefixes));
      return {
        kind: "missing",
        tiles: [
          { form: "totals", indices: missingIndices.slice(0, totals) },
          { form: "prefixes", indices: missingIndices.slice(totals) },
        ],
      };
    }
    kernel.check(status, "circleSums");
    return { kind: "found", value: kernel.f64(sums) };
  }

  #missingOfMax(): ResultOrMissing<never> {
    const words = this.kernel.i32(this.#missing);
    const [bounds = 0, cells = 0] = words;
    if (bounds > 0) {
      return { kind: "missing", tiles: [{ form: "bounds", indices: Array.from(words.subarray(2, 2 + bounds)) }] };
    }
    // Request one tile at a time, the one that may raise the maximum most: it may make the others unnecessary.
    const rises = new Map<number, number>();
    for (let i = 0; i < cells; i++) {
      const index = words[2 + 2 * i] ?? 0;
      rises.set(index, Math.max(rises.get(index) ?? 0, words[3 + 2 * i] ?? 0));
    }
    const [best] = [...rises].toSorted(([a, x], [b, y]) => y - x || a - b);
    return { kind: "missing", tiles: [{ form: "cells", indices: best === undefined ? [] : [best[0]] }] };
  }

  /** Sets the current circle from exact spans. @returns false if they do not fit two span tables */
  #setCells(cells: CircleCells): boolean {
    const { spans, spanCount } = cells;
    const { words } = this.kernel;
    const firstRow = spans[0] ?? 0;
    const rowCount = spanCount === 0 ? 0 : (spans[(spanCount - 1) * 3] ?? 0) - firstRow + 1;
    if (rowCount + 4 > this.#capacity) return false;
    const tables = [this.#spans, this.#wrappedSpans].map(({ pointer }) => pointer >>> 2);
    for (const header of tables) {
      words[header] = firstRow;
      words[header + 1] = rowCount;
      const firsts = header + (SPANS_HEADER_BYTES >>> 2);
      words.fill(1, firsts, firsts + rowCount);
      words.fill(0, firsts + this.#capacity, firsts + this.#capacity + rowCount);
    }
    this.#hasWrappedSpans = false;
    let previousRow = -1;
    let table = 0;
    for (let i = 0; i < spanCount; i++) {
      const row = spans[i * 3] ?? 0;
      table = row === previousRow ? table + 1 : 0;
      previousRow = row;
      if (table > 1) return false;
      this.#hasWrappedSpans ||= table === 1;
      const firsts = (tables[table] ?? 0) + (SPANS_HEADER_BYTES >>> 2) + row - firstRow;
      words[firsts] = spans[i * 3 + 1] ?? 0;
      words[firsts + this.#capacity] = spans[i * 3 + 2] ?? 0;
    }
    return true;
  }
}

/** Offset of the capacity in the header of a span table (assembly/spans.ts). */
const CAPACITY_AT = 16;

/** Several layers of one grid, interleaved cell by cell, and the directories of their tiles (assembly/field.ts). */
export class Field {
  readonly grid: FieldGrid;
  readonly layerCount: number;
  readonly vectorCount: number;
  /** Address of the record that kernels read. */
  readonly pointer: number;
  readonly directories: Readonly<Record<TileForm, Region>>;
  /** Result of the maximum, u16[lane]. */
  readonly best: Region;
  /** Result of the sums, f64[lane / 4][8]. */
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
    grid.registerField(this.pointer);
  }
}
