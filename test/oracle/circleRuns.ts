/**
 * The cells of a circle as runs of columns, by GeographicLib and bisection, for circles of millions of cells: what
 * `circleByBisection` finds, without an object for each cell. Imports nothing that is under test.
 */
import { containingCellByDefinition, type OracleGrid } from "./points.ts";
import { centreByDefinition, distanceByGeographicLib, type OracleCircle } from "./radius.ts";

/** One degree of latitude is never shorter than this on WGS84 (110,574 m, at the equator). */
const DEGREE_OF_LATITUDE_AT_LEAST_M = 110_000;

type Run = readonly [first: number, last: number];

/** Row, first column, last column of each run; rows ascend, runs of a row ascend and do not touch. */
export function circleRunsByBisection(grid: OracleGrid, circle: OracleCircle): Int32Array {
  const container = containingCellByDefinition(grid, circle);
  const reachDeg = circle.radiusM / DEGREE_OF_LATITUDE_AT_LEAST_M;
  const rowOf = (latDeg: number): number => (grid.northDeg - latDeg) / grid.cellSizeLatDeg;
  const firstRow = Math.max(0, Math.floor(rowOf(circle.latDeg + reachDeg)) - 1);
  const lastRow = Math.min(grid.rowCount - 1, Math.ceil(rowOf(circle.latDeg - reachDeg)) + 1);
  const found: number[] = [];
  const add = (row: number, runs: readonly Run[]): void => {
    for (const [first, last] of joined(runs)) found.push(row, first, last);
  };
  if (container !== undefined && container.row < firstRow) add(container.row, [[container.column, container.column]]);
  for (let row = firstRow; row <= lastRow; row++) {
    const runs = runsOfRow(grid, circle, row);
    if (row === container?.row) runs.push([container.column, container.column]);
    add(row, runs);
  }
  if (container !== undefined && container.row > lastRow) add(container.row, [[container.column, container.column]]);
  return Int32Array.from(found);
}

/** Along a row the distance only grows from the centre's meridian to the opposite one, on either side. */
function runsOfRow(grid: OracleGrid, circle: OracleCircle, row: number): Run[] {
  const { westDeg, cellSizeLonDeg, columnCount } = grid;
  const isInside = (column: number): boolean =>
    distanceByGeographicLib(circle, centreByDefinition(grid, { row, column })) <= circle.radiusM;
  const halfTurn = 180 / cellSizeLonDeg;
  const meridian = (circle.lonDeg - westDeg) / cellSizeLonDeg - 0.5;
  const cuts = new Set<number>([0, columnCount]);
  for (let k = Math.ceil(-meridian / halfTurn) - 1; meridian + k * halfTurn < columnCount + 2; k++) {
    // Rounding may put the turning point a column aside: cut on both sides of it.
    for (const aside of [-1, 0, 1, 2]) {
      const cut = Math.floor(meridian + k * halfTurn) + aside;
      if (cut > 0 && cut < columnCount) cuts.add(cut);
    }
  }
  const ordered = [...cuts].toSorted((a, b) => a - b);
  const runs: Run[] = [];
  for (const [i, first] of ordered.slice(0, -1).entries()) {
    const last = (ordered[i + 1] ?? first) - 1;
    const isFirstInside = isInside(first);
    if (last === first || isInside(last) === isFirstInside) {
      if (isFirstInside) runs.push([first, last]);
      continue;
    }
    let [same, other] = [first, last];
    while (other - same > 1) {
      const between = (same + other) >> 1;
      if (isInside(between) === isFirstInside) same = between;
      else other = between;
    }
    runs.push(isFirstInside ? [first, same] : [other, last]);
  }
  return runs;
}

function joined(runs: readonly Run[]): Run[] {
  const out: [number, number][] = [];
  for (const [first, last] of runs.toSorted(([a], [b]) => a - b)) {
    const before = out.at(-1);
    if (before !== undefined && first <= before[1] + 1) before[1] = Math.max(before[1], last);
    else out.push([first, last]);
  }
  return out;
}
