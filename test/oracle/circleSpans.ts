/**
 * Finds the row spans of a circle using GeographicLib and bisection. Returns the same cells as `circleByBisection`, but as
 * spans rather than one object per cell, for circles of millions of cells. Does not import code under test.
 */
import { containingCellByDefinition, type OracleGrid } from "./points.ts";
import { centerByDefinition, distanceByGeographicLib, type OracleCircle } from "./radius.ts";

/** One degree of latitude is never shorter than this on WGS84 (110,574 m at the equator). */
const DEGREE_OF_LATITUDE_M_MIN = 110_000;

type ColumnRange = readonly [first: number, last: number];

/** Returns i32[span][3]: row, first column, last column; rows and columns ascending, spans of a row not adjacent. */
export function circleSpansByBisection(grid: OracleGrid, circle: OracleCircle): Int32Array {
  const containingCell = containingCellByDefinition(grid, circle);
  const reachDeg = circle.radiusM / DEGREE_OF_LATITUDE_M_MIN;
  const rowOf = (latDeg: number): number => (grid.northDeg - latDeg) / grid.cellSizeLatDeg;
  const firstRow = Math.max(0, Math.floor(rowOf(circle.latDeg + reachDeg)) - 1);
  const lastRow = Math.min(grid.rowCount - 1, Math.ceil(rowOf(circle.latDeg - reachDeg)) + 1);
  const found: number[] = [];
  // The row of the containing cell is one of these, because its center is at most half a row away from the circle's.
  for (let row = firstRow; row <= lastRow; row++) {
    const ranges = rangesOfRow(grid, circle, row);
    if (row === containingCell?.row) ranges.push([containingCell.column, containingCell.column]);
    for (const [first, last] of mergeAdjacent(ranges)) found.push(row, first, last);
  }
  return Int32Array.from(found);
}

/**
 * Returns the columns of a row whose centers are within the circle, as ranges that may be adjacent. Along a row the distance
 * increases from the circle's meridian to the opposite one, on either side.
 */
function rangesOfRow(grid: OracleGrid, circle: OracleCircle, row: number): ColumnRange[] {
  const { westDeg, cellSizeLonDeg, columnCount } = grid;
  const isInside = (column: number): boolean =>
    distanceByGeographicLib(circle, centerByDefinition(grid, { row, column })) <= circle.radiusM;
  const halfTurnColumns = 180 / cellSizeLonDeg;
  const meridianColumn = (circle.lonDeg - westDeg) / cellSizeLonDeg - 0.5;
  const cuts = new Set<number>([0, columnCount]);
  const firstTurn = Math.ceil(-meridianColumn / halfTurnColumns) - 1;
  for (let turn = firstTurn; meridianColumn + turn * halfTurnColumns < columnCount + 2; turn++) {
    // Rounding may shift a cut by one column, so the row is cut on both sides of the column where the distance is smallest or
    // largest.
    for (const offset of [-1, 0, 1, 2]) {
      const cut = Math.floor(meridianColumn + turn * halfTurnColumns) + offset;
      if (cut > 0 && cut < columnCount) cuts.add(cut);
    }
  }
  const ordered = [...cuts].toSorted((a, b) => a - b);
  const ranges: ColumnRange[] = [];
  for (const [i, first] of ordered.slice(0, -1).entries()) {
    const last = (ordered[i + 1] ?? first) - 1;
    const isFirstInside = isInside(first);
    if (last === first || isInside(last) === isFirstInside) {
      if (isFirstInside) ranges.push([first, last]);
      continue;
    }
    let [sameSide, otherSide] = [first, last];
    while (otherSide - sameSide > 1) {
      const middle = (sameSide + otherSide) >> 1;
      if (isInside(middle) === isFirstInside) sameSide = middle;
      else otherSide = middle;
    }
    ranges.push(isFirstInside ? [first, sameSide] : [otherSide, last]);
  }
  return ranges;
}

function mergeAdjacent(ranges: readonly ColumnRange[]): ColumnRange[] {
  const out: [number, number][] = [];
  for (const [first, last] of ranges.toSorted(([a], [b]) => a - b)) {
    const before = out.at(-1);
    if (before !== undefined && first <= before[1] + 1) before[1] = Math.max(before[1], last);
    else out.push([first, last]);
  }
  return out;
}
