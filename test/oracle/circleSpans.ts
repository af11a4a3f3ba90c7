/**
 * Finds the row spans of a circle by GeographicLib and bisection, for circles of millions of cells: the result of
 * `circleByBisection` without an object per cell. Does not import code under test.
 */
import { containingCellByDefinition, type OracleGrid } from "./points.ts";
import { centerByDefinition, distanceByGeographicLib, type OracleCircle } from "./radius.ts";

/** One degree of latitude is never shorter than this on WGS84 (110,574 m at the equator). */
const DEGREE_OF_LATITUDE_M_MIN = 110_000;

type ColumnRange = readonly [first: number, last: number];

/** Returns i32[span][3]: row, first column, last column; rows and columns ascending, spans of a row not adjacent. */
export function circleSpansByBisection(grid: OracleGrid, circle: OracleCircle): Int32Array {
  const container = containingCellByDefinition(grid, circle);
  const reachDeg = circle.radiusM / DEGREE_OF_LATITUDE_M_MIN;
  const rowOf = (latDeg: number): number => (grid.northDeg - latDeg) / grid.cellSizeLatDeg;
  const firstRow = Math.max(0, Math.floor(rowOf(circle.latDeg + reachDeg)) - 1);
  const lastRow = Math.min(grid.rowCount - 1, Math.ceil(rowOf(circle.latDeg - reachDeg)) + 1);
  const found: number[] = [];
  const add = (row: number, ranges: readonly ColumnRange[]): void => {
    for (const [first, last] of mergeAdjacent(ranges)) found.push(row, first, last);
  };
  if (container !== undefined && container.row < firstRow) add(container.row, [[container.column, container.column]]);
  for (let row = firstRow; row <= lastRow; row++) {
    const ranges = rangesOfRow(grid, circle, row);
    if (row === container?.row) ranges.push([container.column, container.column]);
    add(row, ranges);
  }
  if (container !== undefined && container.row > lastRow) add(container.row, [[container.column, container.column]]);
  return Int32Array.from(found);
}

/** Along a row the distance increases from the circle's meridian to the opposite one, on either side. */
function rangesOfRow(grid: OracleGrid, circle: OracleCircle, row: number): ColumnRange[] {
  const { westDeg, cellSizeLonDeg, columnCount } = grid;
  const isInside = (column: number): boolean =>
    distanceByGeographicLib(circle, centerByDefinition(grid, { row, column })) <= circle.radiusM;
  const halfTurn = 180 / cellSizeLonDeg;
  const meridian = (circle.lonDeg - westDeg) / cellSizeLonDeg - 0.5;
  const cuts = new Set<number>([0, columnCount]);
  for (let k = Math.ceil(-meridian / halfTurn) - 1; meridian + k * halfTurn < columnCount + 2; k++) {
    // Rounding may shift a cut by one column, so the row is cut on both sides of the turning point.
    for (const offset of [-1, 0, 1, 2]) {
      const cut = Math.floor(meridian + k * halfTurn) + offset;
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
    let [same, other] = [first, last];
    while (other - same > 1) {
      const between = (same + other) >> 1;
      if (isInside(between) === isFirstInside) same = between;
      else other = between;
    }
    ranges.push(isFirstInside ? [first, same] : [other, last]);
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
