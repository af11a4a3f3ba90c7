/**
 * Which cell contains a place, by definition: the one cell whose four edges hold it, found by asking
 * rows and columns one after the other. Imports nothing that is under test.
 */

/** Row 0 northernmost, column 0 begins at `westDeg`; degrees. */
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

export interface OraclePlace {
  readonly latDeg: number;
  readonly lonDeg: number;
}

/** Two edges nearer than this share of a cell are one edge, torn apart by rounding. */
const SAME_EDGE = 1e-6;
/** The seam of a grid that goes round, whose size may be printed with few digits: 360/43200 as 0.00833333. */
const SAME_SEAM = 1e-3;
/** A place this near to an edge, in cells, is on it. */
const ON_EDGE = 1e-9;

export function containingCellByDefinition(grid: OracleGrid, place: OraclePlace): OracleCell | undefined {
  const row = rowByDefinition(grid, place.latDeg);
  const column = columnByDefinition(grid, place.lonDeg);
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
  // The first edge comes again after one turn: there, too, a place beside it is on it.
  if (lon >= westDeg + 360 - reach) return 0;
  for (let column = 0; column < columnCount; column++) {
    if (lon >= edge(column) - reach && lon < edge(column + 1) - reach) return column;
  }
  // What is left lies east of the last edge: nowhere, or in the hair's breadth before the first edge comes again.
  const closes = Math.abs(columnCount * cellSizeLonDeg - 360) < SAME_SEAM * cellSizeLonDeg;
  return closes ? columnCount - 1 : undefined;
}
