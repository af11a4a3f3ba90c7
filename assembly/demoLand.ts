import { DEGREE } from "./ellipsoid";

export const EARTH_RADIUS_KM: f64 = 6371.0;
const KM_PER_DEG: f64 = EARTH_RADIUS_KM * DEGREE;

/**
 * The grid of coast distances cuts off capes by up to this distance. Cities on capes must have values, at the cost of
 * values on some sea cells.
 */
const SHORE_KM: f64 = 5;
/** Returns the signed distance to the coast, km, positive on land, by bilinear interpolation between the nodes. */
export function coastDistanceKm(land: usize, nodesPerDeg: i32, kmPerSquare: f64, latDeg: f64, lonDeg: f64): f64 {
  const columns = 360 * nodesPerDeg;
  const y = (90.0 - latDeg) * <f64>nodesPerDeg;
  const x = (lonDeg + 180.0) * <f64>nodesPerDeg;
  const row = min(<i32>y, 180 * nodesPerDeg - 1);
  const column = min(<i32>x, columns - 1);
  const next = column + 1 == columns ? 0 : column + 1;
  const shareY = y - <f64>row;
  const shareX = x - <f64>column;
  const above = land + <usize>(row * columns);
  const below = above + <usize>columns;
  const north =
    kmOfCode(<i32>load<i8>(above + <usize>column), kmPerSquare) * (1.0 - shareX) +
    kmOfCode(<i32>load<i8>(above + <usize>next), kmPerSquare) * shareX;
  const south =
    kmOfCode(<i32>load<i8>(below + <usize>column), kmPerSquare) * (1.0 - shareX) +
    kmOfCode(<i32>load<i8>(below + <usize>next), kmPerSquare) * shareX;
  return north * (1.0 - shareY) + south * shareY;
}

/** Decodes a signed distance to the coast. */
export function kmOfCode(code: i32, kmPerSquare: f64): f64 {
  return <f64>(code * abs(code)) * kmPerSquare;
}

/**
 * Returns the distance from land up to which a cell's center counts as land: the distance to the cell's corners, or the
 * error of the coast distances if that is larger.
 */
export function landMarginKm(cellSizeDeg: f64): f64 {
  return Math.max(SHORE_KM, 0.75 * cellSizeDeg * KM_PER_DEG);
}
