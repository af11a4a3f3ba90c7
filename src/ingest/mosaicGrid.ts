/** Places the maps of a mosaic on one grid. */
import { closesAt360, type Grid, normalizeLonDeg } from "../kernel/grid.ts";
import { type Raster, sourceFault } from "./raster.ts";

/** Largest difference between the edges of cells of two maps, as a fraction of a cell. */
const EDGE_TOLERANCE_CELLS = 1e-3;

/** Position of a map on the grid of a mosaic. */
export interface Placement {
  readonly part: Raster;
  readonly firstRow: number;
  /** May be such that the map continues beyond the last column, at the first one. */
  readonly firstColumn: number;
}

/**
 * Returns the smallest grid that contains all maps, and their positions on it.
 *
 * The grid begins at the westernmost map between -180 and 180 degrees, or, if a map crosses the antimeridian, east of the
 * widest gap between the maps.
 *
 * @param whole the grid to use if it contains all maps, which is that of an existing atlas
 * @throws Fault `source_invalid` naming a map with other cells, or with cells shifted by a part of a cell
 */
export function placeMaps(
  parts: readonly Raster[],
  whole: Grid | undefined,
): { readonly grid: Grid; readonly placements: readonly Placement[] } {
  const [first] = parts;
  if (first === undefined) throw new Error("A mosaic has at least one map.");
  const turnColumns = Math.round(360 / first.grid.cellSizeLonDeg);
  const isTurnWhole = Math.abs(turnColumns * first.grid.cellSizeLonDeg - 360) < 1e-3 * first.grid.cellSizeLonDeg;
  const located = parts.map((part) => ({ part, ...offsetOf(first, part, isTurnWhole ? turnColumns : undefined) }));
  if (whole !== undefined) {
    const placements = placeOn(whole, located);
    if (placements !== undefined) return { grid: whole, placements };
  }
  const firstRow = Math.min(...located.map(({ row }) => row));
  const endRow = Math.max(...located.map(({ row, part }) => row + part.grid.rowCount));
  const { startColumn, columnCount } = isTurnWhole
    ? columnsAround(first.grid, located, turnColumns)
    : columnsAlong(located);
  const { grid } = first;
  return {
    grid: {
      ...grid,
      northDeg: grid.northDeg - firstRow * grid.cellSizeLatDeg,
      westDeg: normalizedWestDeg(grid.westDeg + startColumn * grid.cellSizeLonDeg),
      rowCount: endRow - firstRow,
      columnCount,
    },
    placements: located.map(({ part, row, column }) => ({
      part,
      firstRow: row - firstRow,
      firstColumn: isTurnWhole ? modulo(column - startColumn, turnColumns) : column - startColumn,
    })),
  };
}

/** A map and its position, in cells from the first map. */
interface LocatedMap {
  readonly part: Raster;
  readonly row: number;
  readonly column: number;
}

function modulo(value: number, divisor: number): number {
  return ((value % divisor) + divisor) % divisor;
}

/** Moves a west edge by multiples of 360 degrees to between -180 and 180. */
function normalizedWestDeg(westDeg: number): number {
  const turns = Math.floor((westDeg + 180 + 1e-9) / 360);
  return turns === 0 ? westDeg : westDeg - 360 * turns;
}

/** Returns the position of a map in cells from the first one. */
function offsetOf(
  first: Raster,
  part: Raster,
  turnColumns: number | undefined,
): { readonly row: number; readonly column: number } {
  const [a, b] = [first.grid, part.grid];
  const describe = ({ file, grid }: Raster): string =>
    `${file} has cells of ${grid.cellSizeLatDeg} x ${grid.cellSizeLonDeg} degrees (lat, lon) from latitude ${grid.northDeg}, longitude ${grid.westDeg}`;
  const row = (a.northDeg - b.northDeg) / a.cellSizeLatDeg;
  const column = (b.westDeg - a.westDeg) / a.cellSizeLonDeg;
  const isSameSize = (sizeA: number, sizeB: number, count: number): boolean =>
    Math.abs(sizeA - sizeB) * count <= EDGE_TOLERANCE_CELLS * sizeA;
  // Files store rounded sizes: the error adds up over the map, but not over the distance between maps.
  if (
    !isSameSize(a.cellSizeLatDeg, b.cellSizeLatDeg, Math.max(a.rowCount, b.rowCount)) ||
    !isSameSize(a.cellSizeLonDeg, b.cellSizeLonDeg, Math.max(a.columnCount, b.columnCount))
  ) {
    throw sourceFault(
      part.file,
      `the maps of a mosaic must have the same cells: ${describe(part)}; ${describe(first)}.`,
    );
  }
  const [wholeRow, wholeColumn] = [Math.round(row) + 0, Math.round(column) + 0];
  const [shiftRows, shiftColumns] = [row - wholeRow, column - wholeColumn];
  if (Math.abs(shiftRows) > EDGE_TOLERANCE_CELLS || Math.abs(shiftColumns) > EDGE_TOLERANCE_CELLS) {
    throw sourceFault(
      part.file,
      `its grid is shifted against that of ${first.file} by a part of a cell (${shiftRows.toFixed(4)} cells in latitude, ` +
        `${shiftColumns.toFixed(4)} in longitude). Maps of a mosaic are never resampled: ${describe(part)}; ${describe(first)}.`,
    );
  }
  return { row: wholeRow, column: turnColumns === undefined ? wholeColumn : modulo(wholeColumn, turnColumns) };
}

/** Returns the columns of maps whose cells do not divide 360 degrees, so that they cannot be moved around the Earth. */
function columnsAlong(maps: readonly LocatedMap[]): { readonly startColumn: number; readonly columnCount: number } {
  const startColumn = Math.min(...maps.map(({ column }) => column));
  const end = Math.max(...maps.map(({ column, part }) => column + part.grid.columnCount));
  return { startColumn, columnCount: end - startColumn };
}

/** Returns the columns of maps on a circle. */
function columnsAround(
  first: Grid,
  maps: readonly LocatedMap[],
  turnColumns: number,
): { readonly startColumn: number; readonly columnCount: number } {
  // Columns east of the first edge at or east of -180 degrees.
  const antimeridian = Math.ceil((-180 - first.westDeg) / first.cellSizeLonDeg - EDGE_TOLERANCE_CELLS);
  const ranges = maps
    .map(({ column, part }) => {
      const start = modulo(column - antimeridian, turnColumns);
      return { start, end: start + part.grid.columnCount };
    })
    .toSorted((a, b) => a.start - b.start);
  const west = ranges[0]?.start ?? 0;
  const east = Math.max(...ranges.map(({ end }) => end));
  if (east <= turnColumns) return { startColumn: west + antimeridian, columnCount: east - west };
  // Finds the widest gap; the end of a range that crosses the antimeridian covers the first columns.
  let [covered, gap, afterGap] = [east - turnColumns, 0, 0];
  for (const { start, end } of ranges) {
    if (start - covered > gap) [gap, afterGap] = [start - covered, start];
    covered = Math.max(covered, end);
  }
  return gap === 0
    ? { startColumn: antimeridian, columnCount: turnColumns }
    : { startColumn: afterGap + antimeridian, columnCount: turnColumns - gap };
}

/** Returns the positions of maps on an existing grid, or undefined if it does not contain them. */
function placeOn(whole: Grid, maps: readonly LocatedMap[]): readonly Placement[] | undefined {
  const placements: Placement[] = [];
  const closes = closesAt360(whole);
  for (const { part } of maps) {
    const { grid } = part;
    const count = Math.max(whole.columnCount, whole.rowCount);
    const isSame =
      Math.abs(grid.cellSizeLatDeg - whole.cellSizeLatDeg) * count <= EDGE_TOLERANCE_CELLS * whole.cellSizeLatDeg &&
      Math.abs(grid.cellSizeLonDeg - whole.cellSizeLonDeg) * count <= EDGE_TOLERANCE_CELLS * whole.cellSizeLonDeg;
    const row = (whole.northDeg - grid.northDeg) / whole.cellSizeLatDeg;
    const eastDeg = normalizeLonDeg(whole, grid.westDeg + EDGE_TOLERANCE_CELLS * whole.cellSizeLonDeg);
    const column = (eastDeg - whole.westDeg) / whole.cellSizeLonDeg - EDGE_TOLERANCE_CELLS;
    const [firstRow, firstColumn] = [Math.round(row) + 0, Math.round(column) + 0];
    const isAligned =
      Math.abs(row - firstRow) <= EDGE_TOLERANCE_CELLS && Math.abs(column - firstColumn) <= 2 * EDGE_TOLERANCE_CELLS;
    const isInside =
      firstRow >= 0 &&
      firstRow + grid.rowCount <= whole.rowCount &&
      (closes || firstColumn + grid.columnCount <= whole.columnCount);
    if (!isSame || !isAligned || !isInside) return undefined;
    placements.push({ part, firstRow, firstColumn });
  }
  return placements;
}
