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
