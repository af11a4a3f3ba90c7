/**
 * Finds the source cell that contains the center of each cell of a target grid.
 *
 * Projecting every cell would take longer than decoding the source. Positions in blocks of up to 32 x 32 cells are therefore
 * interpolated between the projected corners where the error is bounded by a thousandth of a source cell, and a cell whose
 * interpolated position is closer than this to the edge of a source cell is projected. The source cell of every target cell
 * is therefore the one that contains its projected center, regardless of the window that is read.
 */
import { cellCenter, type Grid } from "../../kernel/grid.ts";
import type { CellWindow, PlaneGrid } from "../raster.ts";
import { locate, type PlanePoint, type Projection } from "./projection.ts";

/** Largest error of an interpolated position, in source cells. */
const ERROR_MAX_CELLS = 1e-3;
/** Size of the blocks in which positions are interpolated; blocks are divided until the error is within its bound. */
const BLOCK_CELLS = 32;
/** Smallest block in which interpolating is faster than projecting. */
const INTERPOLATED_CELLS_MIN = 8;
/** Positions within a block at which the error is measured, as shares of its size. */
const ERROR_SAMPLES = [0.5, 0, 0.25, 0.75, 1];
/** Factor between the measured errors and their assumed bound. */
const ERROR_MARGIN = 2;
/** Positions closer than this to the west or north edge of a source cell are in that cell; projecting rounds. */
const EDGE_CELLS = 1e-6;

/** The source cells of a window, row by row; -1 where the target cell is outside of the source. */
export interface SourceCells {
  readonly rows: Int32Array;
  readonly columns: Int32Array;
}

/** Rows and columns of a target grid, both ends included. */
interface Block {
  readonly top: number;
  readonly bottom: number;
  readonly left: number;
  readonly right: number;
}

/** Maps the cells of a target grid to those of a source in another projection. */
export class CellMap {
  readonly #projection: Projection;
  readonly #plane: PlaneGrid;
  readonly #grid: Grid;

  constructor(projection: Projection, plane: PlaneGrid, grid: Grid) {
    this.#projection = projection;
    this.#plane = plane;
    this.#grid = grid;
  }

  /** Returns the source cell of each cell of a window. */
  sourceCells(window: CellWindow): SourceCells {
    const cellCount = window.rowCount * window.columnCount;
    const cells = { rows: new Int32Array(cellCount), columns: new Int32Array(cellCount) };
    const { firstRow, firstColumn } = window;
    const endRow = firstRow + window.rowCount;
    const endColumn = firstColumn + window.columnCount;
    // Blocks are aligned with the grid, so that the result does not depend on the window.
    for (let top = firstRow - (firstRow % BLOCK_CELLS); top < endRow; top += BLOCK_CELLS) {
      for (let left = firstColumn - (firstColumn % BLOCK_CELLS); left < endColumn; left += BLOCK_CELLS) {
        const bottom = Math.min(top + BLOCK_CELLS, this.#grid.rowCount) - 1;
        const right = Math.min(left + BLOCK_CELLS, this.#grid.columnCount) - 1;
        this.#mapBlock({ top, bottom, left, right }, window, cells);
      }
    }
    return cells;
  }

  #mapBlock(block: Block, window: CellWindow, cells: SourceCells): void {
    const { top, bottom, left, right } = block;
    const isOutside =
      bottom < window.firstRow ||
      top >= window.firstRow + window.rowCount ||
      right < window.firstColumn ||
      left >= window.firstColumn + window.columnCount;
    if (isOutside) return;
    const [height, width] = [bottom - top + 1, right - left + 1];
    const corners =
      height < INTERPOLATED_CELLS_MIN || width < INTERPOLATED_CELLS_MIN ? undefined : this.#interpolableCorners(block);
    if (corners !== undefined) return this.#interpolate(block, corners, window, cells);
    if (height < INTERPOLATED_CELLS_MIN && width < INTERPOLATED_CELLS_MIN) return this.#project(block, window, cells);
    const [middleRow, middleColumn] = [top + (height >> 1), left + (width >> 1)];
    const rows =
      height < INTERPOLATED_CELLS_MIN
        ? [[top, bottom]]
        : [
            [top, middleRow - 1],
            [middleRow, bottom],
          ];
    const columns =
      width < INTERPOLATED_CELLS_MIN
        ? [[left, right]]
        : [
            [left, middleColumn - 1],
            [middleColumn, right],
          ];
    for (const [first = 0, last = 0] of rows) {
      for (const [west = 0, east = 0] of columns) {
        this.#mapBlock({ top: first, bottom: last, left: west, right: east }, window, cells);
      }
    }
  }

  /** Projects the center of a cell of the target, which may have fractions. */
  #pointOf(row: number, column: number): PlanePoint | undefined {
    const { latDeg, lonDeg } = cellCenter(this.#grid, { row, column });
    return this.#projection.forward(lonDeg, latDeg);
  }

  /**
   * Returns the projected corners of a block, if positions between them can be interpolated bilinearly. The error is measured
   * at a grid of 5 x 5 cells: between them it changes by less than an eighth of its bound, because the curvature that causes
   * it acts over a quarter of the distance. Measuring only in the middle would miss a curvature that changes its sign there.
   */
  #interpolableCorners({ top, bottom, left, right }: Block): readonly PlanePoint[] | undefined {
    const pointAt = (south: number, east: number): PlanePoint | undefined =>
      this.#pointOf(top + south * (bottom - top), left + east * (right - left));
    const northwest = pointAt(0, 0);
    const northeast = pointAt(0, 1);
    const southwest = pointAt(1, 0);
    const southeast = pointAt(1, 1);
    if (northwest === undefined || northeast === undefined || southwest === undefined || southeast === undefined)
      return undefined;
    const { cellWidth, cellHeight } = this.#plane;
    const between = (member: "x" | "y", south: number, east: number): number => {
      const start = northwest[member] + south * (southwest[member] - northwest[member]);
      const end = northeast[member] + south * (southeast[member] - northeast[member]);
      return start + east * (end - start);
    };
    for (const south of ERROR_SAMPLES) {
      for (const east of ERROR_SAMPLES) {
        const point = pointAt(south, east);
        if (point === undefined) return undefined;
        const columns = Math.abs(point.x - between("x", south, east)) / cellWidth;
        const rows = Math.abs(point.y - between("y", south, east)) / cellHeight;
        if (!(ERROR_MARGIN * Math.max(columns, rows) <= ERROR_MAX_CELLS)) return undefined;
      }
    }
    return [northwest, northeast, southwest, southeast];
  }

  #interpolate(block: Block, corners: readonly PlanePoint[], window: CellWindow, cells: SourceCells): void {
    const [northwest, northeast, southwest, southeast] = corners as [PlanePoint, PlanePoint, PlanePoint, PlanePoint];
    const { westX, northY, cellWidth, cellHeight } = this.#plane;
    const { periodX } = this.#projection;
    const { top, bottom, left, right } = block;
    const firstColumn = Math.max(left, window.firstColumn);
    const lastColumn = Math.min(right, window.firstColumn + window.columnCount - 1);
    const lastRow = Math.min(bottom, window.firstRow + window.rowCount - 1);
    for (let row = Math.max(top, window.firstRow); row <= lastRow; row++) {
      const south = (row - top) / (bottom - top);
      const startX = northwest.x + south * (southwest.x - northwest.x);
      const startY = northwest.y + south * (southwest.y - northwest.y);
      const stepX = (northeast.x + south * (southeast.x - northeast.x) - startX) / (right - left);
      const stepY = (northeast.y + south * (southeast.y - northeast.y) - startY) / (right - left);
      for (let column = firstColumn; column <= lastColumn; column++) {
        const x = startX + (column - left) * stepX;
        let distanceX = x - westX;
        if (periodX !== undefined) distanceX -= periodX * Math.floor(distanceX / periodX);
        const sourceColumn = distanceX / cellWidth;
        const sourceRow = (northY - (startY + (column - left) * stepY)) / cellHeight;
        const index = (row - window.firstRow) * window.columnCount + column - window.firstColumn;
        const isNearEdge =
          Math.abs(sourceColumn - Math.round(sourceColumn)) <= ERROR_MAX_CELLS ||
          Math.abs(sourceRow - Math.round(sourceRow)) <= ERROR_MAX_CELLS ||
          (periodX !== undefined && periodX / cellWidth - sourceColumn <= ERROR_MAX_CELLS);
        if (isNearEdge) this.#projectCell(row, column, index, cells);
        else this.#set(index, sourceRow, sourceColumn, cells);
      }
    }
  }

  #project({ top, bottom, left, right }: Block, window: CellWindow, cells: SourceCells): void {
    const lastRow = Math.min(bottom, window.firstRow + window.rowCount - 1);
    const lastColumn = Math.min(right, window.firstColumn + window.columnCount - 1);
    for (let row = Math.max(top, window.firstRow); row <= lastRow; row++) {
      for (let column = Math.max(left, window.firstColumn); column <= lastColumn; column++) {
        const index = (row - window.firstRow) * window.columnCount + column - window.firstColumn;
        this.#projectCell(row, column, index, cells);
      }
    }
  }

  #projectCell(row: number, column: number, index: number, cells: SourceCells): void {
    const { latDeg, lonDeg } = cellCenter(this.#grid, { row, column });
    const position = locate(this.#projection, this.#plane, lonDeg, latDeg);
    if (position === undefined) {
      cells.rows[index] = -1;
      cells.columns[index] = -1;
    } else {
      this.#set(index, position.row + EDGE_CELLS, position.column + EDGE_CELLS, cells);
    }
  }

  #set(index: number, sourceRow: number, sourceColumn: number, { rows, columns }: SourceCells): void {
    const { rowCount, columnCount } = this.#plane;
    const isInside = sourceRow >= 0 && sourceRow < rowCount && sourceColumn >= 0 && sourceColumn < columnCount;
    rows[index] = isInside ? Math.floor(sourceRow) : -1;
    columns[index] = isInside ? Math.floor(sourceColumn) : -1;
  }
}
