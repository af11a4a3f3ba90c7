/**
 * A grid of cells in geographic coordinates. Row 0 is the northernmost, column 0 begins at `westDeg`;
 * the edges are those of the outer cells, not their centres.
 */
export interface Grid {
  readonly northDeg: number;
  readonly westDeg: number;
  /** Kept apart: a resampled map rarely has square cells. */
  readonly cellSizeLatDeg: number;
  readonly cellSizeLonDeg: number;
  readonly rowCount: number;
  readonly columnCount: number;
}

/** A place in a grid. */
export interface Cell {
  readonly row: number;
  readonly column: number;
}

/** A place on Earth. */
export interface Location {
  readonly latDeg: number;
  readonly lonDeg: number;
}

/**
 * The one formula for a cell's centre: accumulated sizes would drift by metres. A centre beyond a pole, by
 * rounding or because the grid's last row hangs over, is on the pole.
 */
export function cellCentre(grid: Grid, { row, column }: Cell): Location {
  return {
    latDeg: Math.max(-90, Math.min(90, grid.northDeg - (row + 0.5) * grid.cellSizeLatDeg)),
    lonDeg: grid.westDeg + (column + 0.5) * grid.cellSizeLonDeg,
  };
}

/** Whether the grid's last column touches its first. Decided by the grid's own numbers, never assumed. */
export function closesAt360(grid: Grid): boolean {
  return Math.abs(grid.columnCount * grid.cellSizeLonDeg - 360) < 1e-3 * grid.cellSizeLonDeg;
}

/** The longitude's name on the turn that begins at the grid's west edge. */
export function westernmost({ westDeg }: Grid, lonDeg: number): number {
  return lonDeg + 360 * Math.ceil((westDeg - lonDeg) / 360);
}
