import type { Kernel } from "./instance.ts";

/**
 * A grid of cells in geographic coordinates. Row 0 is the northernmost, column 0 begins at `westDeg`. The edges are
 * those of the outer cells, not their centers.
 */
export interface Grid {
  readonly northDeg: number;
  readonly westDeg: number;
  /** Separate from cellSizeLonDeg, because the cells of a resampled map are rarely square. */
  readonly cellSizeLatDeg: number;
  readonly cellSizeLonDeg: number;
  readonly rowCount: number;
  readonly columnCount: number;
}

/** A cell of a grid. */
export interface Cell {
  readonly row: number;
  readonly column: number;
}

/** A location on Earth. */
export interface Location {
  readonly latDeg: number;
  readonly lonDeg: number;
}

/**
 * Returns a cell's center. Always use this formula, because adding up cell sizes would accumulate errors of meters. A
 * center beyond a pole, by rounding or because the last row extends beyond it, is clamped to the pole.
 */
export function cellCenter(grid: Grid, { row, column }: Cell): Location {
  return {
    latDeg: Math.max(-90, Math.min(90, grid.northDeg - (row + 0.5) * grid.cellSizeLatDeg)),
    lonDeg: grid.westDeg + (column + 0.5) * grid.cellSizeLonDeg,
  };
}

/** Returns whether the grid spans 360 degrees, so that its last column adjoins its first. */
export function closesAt360(grid: Grid): boolean {
  return Math.abs(grid.columnCount * grid.cellSizeLonDeg - 360) < 1e-3 * grid.cellSizeLonDeg;
}

/** Returns the equivalent longitude from the grid's west edge up to, but not including, 360 degrees east of it. */
export function normalizeLonDeg({ westDeg }: Grid, lonDeg: number): number {
  return lonDeg + 360 * Math.ceil((westDeg - lonDeg) / 360);
}

/** Returns a world grid of square cells. @param columnCount an even number */
export function worldGrid(columnCount: number): Grid {
  const cellSizeDeg = 360 / columnCount;
  return {
    northDeg: 90,
    westDeg: -180,
    cellSizeLatDeg: cellSizeDeg,
    cellSizeLonDeg: cellSizeDeg,
    rowCount: columnCount / 2,
    columnCount,
  };
}

/** Rows and columns of many locations; both are -1 outside the grid. */
interface LocatedCells {
  readonly rows: Int32Array;
  readonly columns: Int32Array;
}

/**
 * Finds the cells that contain the locations. Longitudes are taken modulo 360. The rule for cell edges is in
 * assembly/points.ts.
 *
 * @throws RangeError if the arrays differ in length, KernelError if the grid is invalid
 */
export function locateCells(
  kernel: Kernel,
  grid: Grid,
  locations: { readonly latitudes: Float64Array; readonly longitudes: Float64Array },
): LocatedCells {
  const { latitudes, longitudes } = locations;
  const count = latitudes.length;
  if (longitudes.length !== count) {
    throw new RangeError(`latitudes and longitudes must have equal lengths (got ${count} and ${longitudes.length})`);
  }
  return kernel.withScratch((scratch) => {
    const lats = scratch.copyIn(latitudes);
    const lons = scratch.copyIn(longitudes);
    const rows = scratch.reserve(count * 4);
    const columns = scratch.reserve(count * 4);
    const { northDeg, westDeg, cellSizeLatDeg, cellSizeLonDeg, rowCount, columnCount } = grid;
    kernel.check(
      kernel.exports.locateCells(
        northDeg,
        westDeg,
        cellSizeLatDeg,
        cellSizeLonDeg,
        rowCount,
        columnCount,
        lats.pointer,
        lons.pointer,
        count,
        rows.pointer,
        columns.pointer,
      ),
      "locateCells",
    );
    return { rows: kernel.i32(rows).slice(), columns: kernel.i32(columns).slice() };
  });
}

/** Returns the cell that contains the location, or undefined outside the grid. */
export function locateCell(kernel: Kernel, grid: Grid, { latDeg, lonDeg }: Location): Cell | undefined {
  const { rows, columns } = locateCells(kernel, grid, {
    latitudes: Float64Array.of(latDeg),
    longitudes: Float64Array.of(lonDeg),
  });
  const [row = -1] = rows;
  const [column = -1] = columns;
  return row < 0 ? undefined : { row, column };
}
