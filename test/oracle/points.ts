/**
 * Finds the cell that contains a location by definition: the cell whose four edges enclose it, by testing every row and
 * column. Does not import code under test.
 */

/** Row 0 is the northernmost, column 0 begins at `westDeg`; degrees. */
export interface OracleGrid {
  readonly northDeg: number;
  readonly westDeg: number;
  readonly cellSizeLatDeg: number;
  readonly cellSizeLonDeg: number;
  readonly rowCount: number;
  readonly columnCount: number;
}

export interface OracleCell {
  readonly row: number;
  readonly column: number;
}

export interface OracleLocation {
  readonly latDeg: number;
  readonly lonDeg: number;
}

/** Edges closer than this, in cells, are the same edge except for rounding. */
const SAME_EDGE = 1e-6;
/** Tolerance for a grid of 360 degrees, whose cell size may have few digits: 360/43200 as 0.00833333. */
const SAME_EDGE_AT_360 = 1e-3;
/** A location closer to an edge than this, in cells, is on the edge. */
const ON_EDGE = 1e-9;

export function containingCellByDefinition(grid: OracleGrid, location: OracleLocation): OracleCell | undefined {
  const row = rowByDefinition(grid, location.latDeg);
  const column = columnByDefinition(grid, location.lonDeg);
  return row === undefined || column === undefined ? undefined : { row, column };
}

function rowByDefinition(grid: OracleGrid, latDeg: number): number | undefined {
  const { northDeg, cellSizeLatDeg, rowCount } = grid;
  if (!(Math.abs(latDeg) <= 90)) return undefined;
  const edge = (row: number): number => northDeg - row * cellSizeLatDeg;
  if (latDeg === 90 && Math.abs(edge(0) - 90) < SAME_EDGE * cellSizeLatDeg) return 0;
  if (latDeg === -90 && Math.abs(edge(rowCount) + 90) < SAME_EDGE * cellSizeLatDeg) return rowCount - 1;
  for (let row = 0; row < rowCount; row++) {
    const reach = ON_EDGE * cellSizeLatDeg;
    if (latDeg <= edge(row) + reach && latDeg > edge(row + 1) + reach) return row;
  }
  return undefined;
}

function columnByDefinition(grid: OracleGrid, lonDeg: number): number | undefined {
  const { westDeg, cellSizeLonDeg, columnCount } = grid;
  if (!Number.isFinite(lonDeg)) return undefined;
  const edge = (column: number): number => westDeg + column * cellSizeLonDeg;
  let lon = lonDeg;
  while (lon < westDeg) lon += 360;
  while (lon >= westDeg + 360) lon -= 360;
  const reach = ON_EDGE * cellSizeLonDeg;
  // The west edge, 360 degrees farther east.
  if (lon >= westDeg + 360 - reach) return 0;
  for (let column = 0; column < columnCount; column++) {
    if (lon >= edge(column) - reach && lon < edge(column + 1) - reach) return column;
  }
  // East of the last edge: outside the grid, or in the gap due to rounding before the west edge.
  const closes = Math.abs(columnCount * cellSizeLonDeg - 360) < SAME_EDGE_AT_360 * cellSizeLonDeg;
  return closes ? columnCount - 1 : undefined;
}
