import { DEGREE } from "./ellipsoid";

export const EARTH_RADIUS_KM: f64 = 6371.0;
const KM_PER_DEG: f64 = EARTH_RADIUS_KM * DEGREE;

/**
 * Maximum error of the coast distances; the coastline they are computed from omits narrow capes. Sea cells within this
 * distance of land get values, so that cities on capes have values.
 */
const COAST_ERROR_KM_MAX: f64 = 5;

/** Returns the signed distance to the coast, km, positive on land, by bilinear interpolation between the nodes. */
export function coastDistanceKm(land: usize, nodesPerDeg: i32, kmPerCodeSquared: f64, latDeg: f64, lonDeg: f64): f64 {
  const columns = 360 * nodesPerDeg;
  const y = (90.0 - latDeg) * <f64>nodesPerDeg;
  const x = (lonDeg + 180.0) * <f64>nodesPerDeg;
  const row = min(<i32>y, 180 * nodesPerDeg - 1);
  const column = min(<i32>x, columns - 1);
  const nextColumn = column + 1 == columns ? 0 : column + 1;
  const fractionY = y - <f64>row;
  const fractionX = x - <f64>column;
  const above = land + <usize>(row * columns);
  const below = above + <usize>columns;
  const north =
    kmOfCode(<i32>load<i8>(above + <usize>column), kmPerCodeSquared) * (1.0 - fractionX) +
    kmOfCode(<i32>load<i8>(above + <usize>nextColumn), kmPerCodeSquared) * fractionX;
  const south =
    kmOfCode(<i32>load<i8>(below + <usize>column), kmPerCodeSquared) * (1.0 - fractionX) +
    kmOfCode(<i32>load<i8>(below + <usize>nextColumn), kmPerCodeSquared) * fractionX;
  return north * (1.0 - fractionY) + south * fractionY;
}

/** Decodes a signed distance to the coast, km. */
export function kmOfCode(code: i32, kmPerCodeSquared: f64): f64 {
  return <f64>(code * abs(code)) * kmPerCodeSquared;
}

/**
 * Returns the distance from land, km, up to which a cell's center is treated as land: slightly more than the distance to
 * the cell's corners, or COAST_ERROR_KM_MAX if that is larger.
 */
export function landMarginKm(cellSizeDeg: f64): f64 {
  return Math.max(COAST_ERROR_KM_MAX, 0.75 * cellSizeDeg * KM_PER_DEG);
}
