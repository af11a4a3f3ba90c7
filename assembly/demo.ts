import { STEPS_NODATA, STEPS_OUTSIDE, TILE_SIZE } from "./cells";
import {
  cycloneLatitudeFactor,
  CYCLONE_LAT_DEG_MAX,
  CYCLONE_LAT_DEG_MIN,
  fillCyclones,
  fillRiverineFloods,
  fillSteps,
  fillSurgeFloods,
  fillWildfire,
  ICE_NORTH_DEG,
  ICE_SOUTH_DEG,
  SURGE_REACH_KM_MAX,
} from "./demoHazards";
import { coastDistanceKm, EARTH_RADIUS_KM, kmOfCode, landMarginKm } from "./demoLand";
import { DEGREE } from "./ellipsoid";
import { STATUS_BAD_CURVE, STATUS_BAD_GRID, STATUS_OK } from "./status";

/**
 * Version of the synthetic world, part of its release name. Increment it whenever a change alters any generated value.
 */
export const DEMO_VERSION: i32 = 1;

/** Hazards of the synthetic world. */
export const DEMO_CYCLONES: i32 = 0;
export const DEMO_WILDFIRE: i32 = 1;
export const DEMO_COASTAL_FLOODS: i32 = 2;
export const DEMO_RIVERINE_FLOODS: i32 = 3;

/** Number of layers of a cell, in this order: intensity, the hazard's own metric, probability, total_hazard. */
export const DEMO_LAYER_COUNT: i32 = 4;

/** Results of demoTileState: the tile must be generated cell by cell, all of its cells are zero, or all are nodata. */
export const DEMO_TILE_CELLS: i32 = 0;
export const DEMO_TILE_ZERO: i32 = 1;
export const DEMO_TILE_NODATA: i32 = 2;

/**
 * Generates all cells of one tile of the synthetic world: the metrics, or the curve at nodeCount return periods. Both
 * demoTile and demoCells compute each cell with `fillCell`, so they return the same bits.
 *
 * In        nodes f64[nodeCount], variates of the return periods minus that of 100 years, ascending: Gumbel variates of
 *                 floods, ln T of cyclones; nodeCount is 0 for the metrics and for wildfire, which has no curve
 *           land  i8[180 * landNodesPerDeg + 1][360 * landNodesPerDeg], from 90 north and 180 west: codes of the signed
 *                 distance to the coast, code x |code| x landKmPerCodeSquared in km, positive on land
 * Out       out   u16[64][64][4], or u16[64][64][nodeCount]; STEPS_OUTSIDE outside the grid
 * Units     degrees; warmingC in degrees C above the climate of 1980, 0 or more
 * Requires  square cells, starting at 90 north and 180 west
 */
export function demoTile(
  hazard: i32,
  warmingC: f64,
  land: usize,
  landNodesPerDeg: i32,
  landKmPerCodeSquared: f64,
  cellSizeDeg: f64,
  rowCount: i32,
  columnCount: i32,
  tileRow: i32,
  tileColumn: i32,
  nodes: usize,
  nodeCount: i32,
  out: usize,
): i32 {
  if (rowCount < 1 || columnCount < 1 || !(cellSizeDeg > 0) || landNodesPerDeg < 1) return STATUS_BAD_GRID;
  if (nodeCount < 0 || (hazard == DEMO_WILDFIRE && nodeCount > 0)) return STATUS_BAD_CURVE;
  const top = tileRow * TILE_SIZE;
  const west = tileColumn * TILE_SIZE;
  if (tileRow < 0 || tileColumn < 0 || top >= rowCount || west >= columnCount) return STATUS_BAD_GRID;
  const bottom = min(top + TILE_SIZE, rowCount);
  const east = min(west + TILE_SIZE, columnCount);
  for (let row = top; row < top + TILE_SIZE; row++) {
    const latDeg = 90.0 - (<f64>row + 0.5) * cellSizeDeg;
    const sinLat = Math.sin(latDeg * DEGREE);
    const cosLat = Math.cos(latDeg * DEGREE);
    for (let column = west; column < west + TILE_SIZE; column++, out += cellBytes(nodeCount)) {
      if (row >= bottom || column >= east) {
        fillSteps(STEPS_OUTSIDE, nodeCount, out);
        continue;
      }
      const lonDeg = -180.0 + (<f64>column + 0.5) * cellSizeDeg;
      fillCell(
        hazard,
        warmingC,
        land,
        landNodesPerDeg,
        landKmPerCodeSquared,
        cellSizeDeg,
        latDeg,
        lonDeg,
        sinLat,
        cosLat,
        nodes,
        nodeCount,
        out,
      );
    }
  }
  return STATUS_OK;
}

/**
 * Generates single cells of the synthetic world. Parameters not listed below are those of demoTile.
 *
 * In   rows, columns  i32[count], within the grid
 * Out  out            u16[count][4], or u16[count][nodeCount]
 */
export function demoCells(
  hazard: i32,
  warmingC: f64,
  land: usize,
  landNodesPerDeg: i32,
  landKmPerCodeSquared: f64,
  cellSizeDeg: f64,
  rowCount: i32,
  columnCount: i32,
  rows: usize,
  columns: usize,
  count: i32,
  nodes: usize,
  nodeCount: i32,
  out: usize,
): i32 {
  if (rowCount < 1 || columnCount < 1 || !(cellSizeDeg > 0) || landNodesPerDeg < 1) return STATUS_BAD_GRID;
  if (nodeCount < 0 || (hazard == DEMO_WILDFIRE && nodeCount > 0)) return STATUS_BAD_CURVE;
  for (let i = 0; i < count; i++, out += cellBytes(nodeCount)) {
    const row = load<i32>(rows + ((<usize>i) << 2));
    const column = load<i32>(columns + ((<usize>i) << 2));
    if (row < 0 || row >= rowCount || column < 0 || column >= columnCount) return STATUS_BAD_GRID;
    const latDeg = 90.0 - (<f64>row + 0.5) * cellSizeDeg;
    const lonDeg = -180.0 + (<f64>column + 0.5) * cellSizeDeg;
    fillCell(
      hazard,
      warmingC,
      land,
      landNodesPerDeg,
      landKmPerCodeSquared,
      cellSizeDeg,
      latDeg,
      lonDeg,
      Math.sin(latDeg * DEGREE),
      Math.cos(latDeg * DEGREE),
      nodes,
      nodeCount,
      out,
    );
  }
  return STATUS_OK;
}

/** Returns the size of a cell: its metrics, or its curve. */
function cellBytes(nodeCount: i32): i32 {
  return 2 * (nodeCount == 0 ? DEMO_LAYER_COUNT : nodeCount);
}

/**
 * Returns DEMO_TILE_ZERO or DEMO_TILE_NODATA if every cell of the tile has this state, which is determined without
 * generating the cells; DEMO_TILE_CELLS if unknown or if the tile extends beyond the grid; -1 if it is outside the
 * grid. The parameters are those of demoTile.
 *
 * Formula  Coast distances are interpolated between nodes, so the nodes around the tile bound them.
 */
export function demoTileState(
  hazard: i32,
  land: usize,
  landNodesPerDeg: i32,
  landKmPerCodeSquared: f64,
  cellSizeDeg: f64,
  rowCount: i32,
  columnCount: i32,
  tileRow: i32,
  tileColumn: i32,
): i32 {
  const top = tileRow * TILE_SIZE;
  const west = tileColumn * TILE_SIZE;
  if (tileRow < 0 || tileColumn < 0 || top >= rowCount || west >= columnCount) return -1;
  if (top + TILE_SIZE > rowCount || west + TILE_SIZE > columnCount) return DEMO_TILE_CELLS;

  const northDeg = 90.0 - <f64>top * cellSizeDeg;
  const southDeg = 90.0 - <f64>(top + TILE_SIZE) * cellSizeDeg;
  if (hazard == DEMO_CYCLONES) {
    const isOutsideCycloneLatitudes =
      southDeg >= CYCLONE_LAT_DEG_MAX ||
      northDeg <= -CYCLONE_LAT_DEG_MAX ||
      (northDeg <= CYCLONE_LAT_DEG_MIN && southDeg >= -CYCLONE_LAT_DEG_MIN);
    return isOutsideCycloneLatitudes ? DEMO_TILE_ZERO : DEMO_TILE_CELLS;
  }

  const nodesPerDeg = <f64>landNodesPerDeg;
  const nodeColumns = 360 * landNodesPerDeg;
  const nodeRows = 180 * landNodesPerDeg + 1;
  const firstRow = <i32>Math.floor((90.0 - northDeg) * nodesPerDeg);
  const lastRow = min(nodeRows - 1, <i32>Math.ceil((90.0 - southDeg) * nodesPerDeg));
  const firstColumn = <i32>Math.floor(<f64>west * cellSizeDeg * nodesPerDeg);
  const lastColumn = <i32>Math.ceil(<f64>(west + TILE_SIZE) * cellSizeDeg * nodesPerDeg);
  let minCode: i32 = 127,
    maxCode: i32 = -128;
  for (let row = firstRow; row <= lastRow; row++) {
    for (let column = firstColumn; column <= lastColumn; column++) {
      const code = <i32>load<i8>(land + <usize>(row * nodeColumns + (column % nodeColumns)));
      minCode = min(minCode, code);
      maxCode = max(maxCode, code);
    }
  }
  if (kmOfCode(maxCode, landKmPerCodeSquared) < -landMarginKm(cellSizeDeg)) return DEMO_TILE_NODATA;
  if (kmOfCode(minCode, landKmPerCodeSquared) < 0) return DEMO_TILE_CELLS;
  if (hazard == DEMO_COASTAL_FLOODS && kmOfCode(minCode, landKmPerCodeSquared) > SURGE_REACH_KM_MAX)
    return DEMO_TILE_ZERO;
  if (hazard != DEMO_COASTAL_FLOODS && southDeg >= ICE_NORTH_DEG) return DEMO_TILE_ZERO;
  if (northDeg <= ICE_SOUTH_DEG) return DEMO_TILE_ZERO;
  return DEMO_TILE_CELLS;
}

/**
 * Generates one cell as a pure function of hazard, warming and location. No value decreases as warmingC rises: warming
 * multiplies or adds to the intensity, and all later steps are monotonic.
 */
function fillCell(
  hazard: i32,
  warmingC: f64,
  land: usize,
  landNodesPerDeg: i32,
  landKmPerCodeSquared: f64,
  cellSizeDeg: f64,
  latDeg: f64,
  lonDeg: f64,
  sinLat: f64,
  cosLat: f64,
  nodes: usize,
  nodeCount: i32,
  out: usize,
): void {
  if (hazard == DEMO_CYCLONES && cycloneLatitudeFactor(latDeg) == 0) {
    fillSteps(0, nodeCount, out);
    return;
  }
  const inlandKm = coastDistanceKm(land, landNodesPerDeg, landKmPerCodeSquared, latDeg, lonDeg);
  if (hazard != DEMO_CYCLONES && inlandKm < -landMarginKm(cellSizeDeg)) {
    fillSteps(STEPS_NODATA, nodeCount, out);
    return;
  }
  const x = EARTH_RADIUS_KM * cosLat * Math.cos(lonDeg * DEGREE);
  const y = EARTH_RADIUS_KM * cosLat * Math.sin(lonDeg * DEGREE);
  const z = EARTH_RADIUS_KM * sinLat;
  if (hazard == DEMO_CYCLONES) fillCyclones(warmingC, inlandKm, latDeg, lonDeg, x, y, z, nodes, nodeCount, out);
  else if (hazard == DEMO_WILDFIRE) fillWildfire(warmingC, latDeg, lonDeg, x, y, z, out);
  else if (hazard == DEMO_COASTAL_FLOODS)
    fillSurgeFloods(warmingC, inlandKm, latDeg, lonDeg, x, y, z, nodes, nodeCount, out);
  else fillRiverineFloods(warmingC, inlandKm, latDeg, lonDeg, x, y, z, nodes, nodeCount, out);
}
