/**
 * The cells of a circle and what they sum to, by definition and with patience: GeographicLib is asked
 * about cell after cell, and the mean is the textbook's. Imports nothing that is under test.
 */
import geodesic from "geographiclib-geodesic";
import { containingCellByDefinition, type OracleCell, type OracleGrid, type OraclePlace } from "./points.ts";

export interface OracleCircle extends OraclePlace {
  readonly radiusM: number;
}

/** Length of the shortest way on the WGS84 ellipsoid, metres, by GeographicLib (Karney 2013). */
export function distanceByGeographicLib(from: OraclePlace, to: OraclePlace): number {
  const { s12 = NaN } = geodesic.Geodesic.WGS84.Inverse(
    from.latDeg,
    from.lonDeg,
    to.latDeg,
    to.lonDeg,
    geodesic.Geodesic.DISTANCE,
  );
  return s12;
}

/** A centre beyond a pole, by rounding or because the last row hangs over, is on the pole. */
export function centreByDefinition(grid: OracleGrid, { row, column }: OracleCell): OraclePlace {
  const latDeg = grid.northDeg - (row + 0.5) * grid.cellSizeLatDeg;
  return {
    latDeg: latDeg > 90 ? 90 : latDeg < -90 ? -90 : latDeg,
    lonDeg: grid.westDeg + (column + 0.5) * grid.cellSizeLonDeg,
  };
}

/**
 * One degree of latitude is never shorter than this on WGS84 (110,574 m, at the equator), so a row further
 * off than the radius over this holds nothing. The only short cut taken by `circleByDefinition`.
 */
const DEGREE_OF_LATITUDE_AT_LEAST_M = 110_000;

/**
 * Every cell whose centre lies within the radius, and the containing cell: "row,column", rows ascending,
 * columns ascending.
 */
export function circleByDefinition(grid: OracleGrid, circle: OracleCircle): readonly OracleCell[] {
  const container = containingCellByDefinition(grid, circle);
  const reachDeg = circle.radiusM / DEGREE_OF_LATITUDE_AT_LEAST_M;
  const cells: OracleCell[] = [];
  for (let row = 0; row < grid.rowCount; row++) {
    const rowLatDeg = centreByDefinition(grid, { row, column: 0 }).latDeg;
    const isNear = Math.abs(rowLatDeg - circle.latDeg) <= reachDeg;
    if (!isNear && row !== container?.row) continue;
    for (let column = 0; column < grid.columnCount; column++) {
      const cell = { row, column };
      const isContainer = row === container?.row && column === container.column;
      if (
        isContainer ||
        (isNear && distanceByGeographicLib(circle, centreByDefinition(grid, cell)) <= circle.radiusM)
      ) {
        cells.push(cell);
      }
    }
  }
  return cells;
}

/**
 * The same cells without asking about each: along a row the distance only grows on the way from the centre's
 * meridian to the opposite one (a circle on a surface of revolution meets a parallel at most twice), so
 * bisection finds where the inside ends on either side. For circles of many cells.
 */
export function circleByBisection(grid: OracleGrid, circle: OracleCircle): readonly OracleCell[] {
  const { westDeg, cellSizeLonDeg, rowCount, columnCount } = grid;
  const container = containingCellByDefinition(grid, circle);
  const reachDeg = circle.radiusM / DEGREE_OF_LATITUDE_AT_LEAST_M;
  const cells: OracleCell[] = [];
  for (let row = 0; row < rowCount; row++) {
    const rowLatDeg = centreByDefinition(grid, { row, column: 0 }).latDeg;
    const columns = new Set<number>();
    if (Math.abs(rowLatDeg - circle.latDeg) <= reachDeg) {
      const isInside = (column: number): boolean =>
        distanceByGeographicLib(circle, centreByDefinition(grid, { row, column })) <= circle.radiusM;
      // Stretches of columns over which the distance changes in one direction only: cut the row at the
      // centre's meridian and at the opposite one, on every turn that the grid reaches.
      const halfTurn = 180 / cellSizeLonDeg;
      const meridian = (circle.lonDeg - westDeg) / cellSizeLonDeg - 0.5;
      const cuts = new Set<number>([0, columnCount]);
      for (let k = Math.ceil(-meridian / halfTurn); meridian + k * halfTurn < columnCount; k++) {
        // A cut that rounding puts one column off must not hide a turning point: cut on both sides.
        for (const aside of [-1, 0, 1, 2]) {
          const cut = Math.floor(meridian + k * halfTurn) + aside;
          if (cut > 0 && cut < columnCount) cuts.add(cut);
        }
      }
      const ordered = [...cuts].toSorted((a, b) => a - b);
      for (const [i, first] of ordered.slice(0, -1).entries()) {
        const last = (ordered[i + 1] ?? first) - 1;
        const startsInside = isInside(first);
        let same = first; // the furthest column known to be as the first
        if (isInside(last) === startsInside) {
          same = last;
        } else {
          for (let other = last; other - same > 1;) {
            const between = Math.floor((same + other) / 2);
            if (isInside(between) === startsInside) same = between;
            else other = between;
          }
        }
        const [from, to] = startsInside ? [first, same] : [same + 1, last];
        for (let column = from; column <= to; column++) columns.add(column);
      }
    }
    if (row === container?.row) columns.add(container.column);
    for (const column of [...columns].toSorted((a, b) => a - b)) cells.push({ row, column });
  }
  return cells;
}

/** What the 16 bits of a stored cell may say beside a value. */
const OUTSIDE = 65_534;
const NODATA = 65_535;

export interface OracleSummary {
  readonly maxSteps: number | undefined;
  readonly meanSteps: number | undefined;
  readonly validCells: number;
  readonly validShare: number;
  readonly hasNodata: boolean;
  readonly hasOutside: boolean;
}

/** WGS84: 1/f = 298.257223563, e2 = f (2 - f). */
const FLATTENING = 1 / 298.257223563;
const E2 = FLATTENING * (2 - FLATTENING);
const E = Math.sqrt(E2);

/** Snyder's q (Map Projections: A Working Manual, USGS 1395, equation 3-12), without its factor 1 - e2. */
function q(latDeg: number): number {
  const sine = Math.sin((latDeg * Math.PI) / 180);
  return sine / (1 - E2 * sine * sine) + Math.atanh(E * sine) / E;
}

/** Area of a cell of this row, in units of (a2 (1 - e2) / 2) x its width in radians; a cell ends at the pole. */
export function cellAreaByTextbook(grid: OracleGrid, row: number): number {
  const north = Math.min(90, grid.northDeg - row * grid.cellSizeLatDeg);
  const south = Math.max(-90, grid.northDeg - (row + 1) * grid.cellSizeLatDeg);
  return q(north) - q(south);
}

/** Max, mean, counts over these cells, one after the other. `stepsOf` reads the stored 16 bits. */
export function summariseByDefinition(
  grid: OracleGrid,
  cells: readonly OracleCell[],
  stepsOf: (cell: OracleCell) => number,
): OracleSummary {
  let maxSteps: number | undefined;
  let validCells = 0;
  let weighted = 0;
  let validArea = 0;
  let allArea = 0;
  let hasNodata = false;
  let hasOutside = false;
  for (const cell of cells) {
    const area = cellAreaByTextbook(grid, cell.row);
    const steps = stepsOf(cell);
    allArea += area;
    if (steps === NODATA) hasNodata = true;
    else if (steps === OUTSIDE) hasOutside = true;
    else {
      maxSteps = Math.max(maxSteps ?? steps, steps);
      validCells += 1;
      weighted += area * steps;
      validArea += area;
    }
  }
  return {
    maxSteps,
    meanSteps: validCells === 0 ? undefined : weighted / validArea,
    validCells,
    validShare: allArea === 0 ? 0 : validArea / allArea,
    hasNodata,
    hasOutside,
  };
}
