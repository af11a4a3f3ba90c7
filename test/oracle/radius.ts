/**
 * Finds the cells of a circle by testing each with GeographicLib, and computes their statistics with textbook formulas.
 * Does not import code under test.
 */
import geodesic from "geographiclib-geodesic";
import { containingCellByDefinition, type OracleCell, type OracleGrid, type OracleLocation } from "./points.ts";

export interface OracleCircle extends OracleLocation {
  readonly radiusM: number;
}

/** Returns the length of the shortest path on the WGS84 ellipsoid, meters, by GeographicLib (Karney 2013). */
export function distanceByGeographicLib(from: OracleLocation, to: OracleLocation): number {
  const { s12 = NaN } = geodesic.Geodesic.WGS84.Inverse(
    from.latDeg,
    from.lonDeg,
    to.latDeg,
    to.lonDeg,
    geodesic.Geodesic.DISTANCE,
  );
  return s12;
}

/** Returns a cell's center, clamped to the pole if rounding or an overhanging last row puts it beyond. */
export function centerByDefinition(grid: OracleGrid, { row, column }: OracleCell): OracleLocation {
  const latDeg = grid.northDeg - (row + 0.5) * grid.cellSizeLatDeg;
  return {
    latDeg: latDeg > 90 ? 90 : latDeg < -90 ? -90 : latDeg,
    lonDeg: grid.westDeg + (column + 0.5) * grid.cellSizeLonDeg,
  };
}

/**
 * One degree of latitude is never shorter than this on WGS84 (110,574 m at the equator), so rows farther away than the
 * radius divided by this are outside. This is the only optimization in `circleByDefinition`.
 */
const DEGREE_OF_LATITUDE_M_MIN = 110_000;

/** Returns every cell whose center is within the radius, and the containing cell; rows and columns ascending. */
export function circleByDefinition(grid: OracleGrid, circle: OracleCircle): readonly OracleCell[] {
  const containingCell = containingCellByDefinition(grid, circle);
  const reachDeg = circle.radiusM / DEGREE_OF_LATITUDE_M_MIN;
  const cells: OracleCell[] = [];
  for (let row = 0; row < grid.rowCount; row++) {
    const rowLatDeg = centerByDefinition(grid, { row, column: 0 }).latDeg;
    const isNear = Math.abs(rowLatDeg - circle.latDeg) <= reachDeg;
    if (!isNear && row !== containingCell?.row) continue;
    for (let column = 0; column < grid.columnCount; column++) {
      const cell = { row, column };
      const isContainingCell = row === containingCell?.row && column === containingCell.column;
      if (
        isContainingCell ||
        (isNear && distanceByGeographicLib(circle, centerByDefinition(grid, cell)) <= circle.radiusM)
      ) {
        cells.push(cell);
      }
    }
  }
  return cells;
}

/**
 * Returns the same cells without testing each: along a row the distance increases from the circle's meridian to the
 * opposite one (a circle on a surface of revolution meets a parallel at most twice), so bisection finds the rim on
 * either side. For circles of many cells.
 */
export function circleByBisection(grid: OracleGrid, circle: OracleCircle): readonly OracleCell[] {
  const { westDeg, cellSizeLonDeg, rowCount, columnCount } = grid;
  const containingCell = containingCellByDefinition(grid, circle);
  const reachDeg = circle.radiusM / DEGREE_OF_LATITUDE_M_MIN;
  const cells: OracleCell[] = [];
  for (let row = 0; row < rowCount; row++) {
    const rowLatDeg = centerByDefinition(grid, { row, column: 0 }).latDeg;
    const columns = new Set<number>();
    if (Math.abs(rowLatDeg - circle.latDeg) <= reachDeg) {
      const isInside = (column: number): boolean =>
        distanceByGeographicLib(circle, centerByDefinition(grid, { row, column })) <= circle.radiusM;
      // Split the row into ranges of columns in which the distance is monotonic: at the circle's meridian and the
      // opposite one, for every shift by 360 degrees that the grid reaches.
      const halfTurnColumns = 180 / cellSizeLonDeg;
      const meridianColumn = (circle.lonDeg - westDeg) / cellSizeLonDeg - 0.5;
      const cuts = new Set<number>([0, columnCount]);
      const firstTurn = Math.ceil(-meridianColumn / halfTurnColumns);
      for (let turn = firstTurn; meridianColumn + turn * halfTurnColumns < columnCount; turn++) {
        // Rounding may shift a cut by one column, so the row is cut on both sides of the column where the distance is smallest
        // or largest.
        for (const offset of [-1, 0, 1, 2]) {
          const cut = Math.floor(meridianColumn + turn * halfTurnColumns) + offset;
          if (cut > 0 && cut < columnCount) cuts.add(cut);
        }
      }
      const ordered = [...cuts].toSorted((a, b) => a - b);
      for (const [i, first] of ordered.slice(0, -1).entries()) {
        const last = (ordered[i + 1] ?? first) - 1;
        const startsInside = isInside(first);
        let sameSide = first; // farthest column known to be on the same side of the rim as the first
        if (isInside(last) === startsInside) {
          sameSide = last;
        } else {
          for (let otherSide = last; otherSide - sameSide > 1;) {
            const middle = Math.floor((sameSide + otherSide) / 2);
            if (isInside(middle) === startsInside) sameSide = middle;
            else otherSide = middle;
          }
        }
        const [from, to] = startsInside ? [first, sameSide] : [sameSide + 1, last];
        for (let column = from; column <= to; column++) columns.add(column);
      }
    }
    if (row === containingCell?.row) columns.add(containingCell.column);
    for (const column of [...columns].toSorted((a, b) => a - b)) cells.push({ row, column });
  }
  return cells;
}

/** Reserved numbers of a stored cell. */
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

/** Returns Snyder's q (Map Projections: A Working Manual, USGS 1395, equation 3-12) without its factor 1 - e2. */
function q(latDeg: number): number {
  const sine = Math.sin((latDeg * Math.PI) / 180);
  return sine / (1 - E2 * sine * sine) + Math.atanh(E * sine) / E;
}

/** Returns the area of a cell, in units of (a2 (1 - e2) / 2) x its width in radians; cells end at the pole. */
export function cellAreaByTextbook(grid: OracleGrid, row: number): number {
  const north = Math.min(90, grid.northDeg - row * grid.cellSizeLatDeg);
  const south = Math.max(-90, grid.northDeg - (row + 1) * grid.cellSizeLatDeg);
  return q(north) - q(south);
}

/** Computes maximum, mean and counts over the cells. `stepsOf` returns the stored 16 bits. */
export function summarizeByDefinition(
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
