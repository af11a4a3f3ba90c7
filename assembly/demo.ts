import { STEPS_NODATA, STEPS_OUTSIDE, TILE_SIZE } from "./cells";
import {
  BASIN_COUNT,
  BASINS,
  bump,
  DESERT_COUNT,
  DESERTS,
  ELLIPSE_BYTES,
  FIRE_BELT_COUNT,
  FIRE_BELTS,
  LOWLAND_COUNT,
  LOWLANDS,
} from "./demoPlaces";
import { noise4 } from "./noise";
import { STATUS_BAD_GRID, STATUS_OK } from "./status";

/** Goes up whenever a number of the demo's world changes: its release is named by it. */
export const DEMO_VERSION: i32 = 1;

/** The hazards of the demo, by number. */
export const DEMO_CYCLONES: i32 = 0;
export const DEMO_WILDFIRE: i32 = 1;
export const DEMO_COASTAL_FLOODS: i32 = 2;
export const DEMO_RIVERINE_FLOODS: i32 = 3;

/** Layers of a cell, in this order: intensity, the hazard's own metric, probability, total_hazard. */
export const DEMO_LAYER_COUNT: i32 = 4;

/** What demoTileState answers. */
export const DEMO_TILE_CELLS: i32 = 0;
export const DEMO_TILE_ZERO: i32 = 1;
export const DEMO_TILE_NODATA: i32 = 2;

const INTENSITY_STEPS_PER_UNIT: f64 = 10000;
const PROBABILITY_STEPS_PER_UNIT: f64 = 60000;
const TOTAL_STEPS_PER_UNIT: f64 = 60000;
const DEPTH_STEPS_PER_M: f64 = 1000;
const WIND_STEPS_PER_MPS: f64 = 100;
const DAYS_STEPS_PER_DAY: f64 = 100;

const DEPTH_M_REFERENCE: f64 = 10;
const DEPTH_M_THRESHOLD: f64 = 0.5;
const WIND_MPS_REFERENCE: f64 = 100;
const WIND_MPS_THRESHOLD: f64 = 33;
const FWI_REFERENCE: f64 = 100;
const FWI_THRESHOLD: f64 = 38;

const DEGREE: f64 = Math.PI / 180.0;
const EARTH_RADIUS_KM: f64 = 6371.0;
const KM_PER_DEG: f64 = EARTH_RADIUS_KM * DEGREE;

/** Gumbel variates -ln(-ln(1 - 1/T)) of 2, 100 and 1000 years: where curves begin, are known, and end. */
const GUMBEL_2: f64 = 0.36651292058166435;
const GUMBEL_100: f64 = 4.600149226776579;
const GUMBEL_1000: f64 = 6.907255070523602;

/** No cyclone nearer to the equator: the Coriolis force does not turn the wind into one. */
const CYCLONE_LAT_DEG_MIN: f64 = 4;
/** No cyclone further from it: the sea is too cold. */
const CYCLONE_LAT_DEG_MAX: f64 = 50;
/**
 * The field of coast distances cuts capes off by up to so much, and cities stand there: better some sea with
 * numbers than a city without.
 */
const SHORE_KM: f64 = 5;
/** Surge does not run further inland. */
const SURGE_KM_MAX: f64 = 45;
/** Poleward of these lies ice: no rivers, no fires, in the south no floods of any kind. */
const ICE_NORTH_DEG: f64 = 72;
const ICE_SOUTH_DEG: f64 = -60;

/** Rivers by size: how far apart, km; half width, km; depth, m; least wetness. Great ones cross deserts. */
const RIVER_SIZE_COUNT: i32 = 3;
const RIVER_SIZE_BYTES: usize = 32;
// prettier-ignore
const RIVER_SIZES: usize = memory.data<f64>([
  780, 4.2, 8, 0.08,
  190, 1.9, 4.2, 0.35,
  52, 1, 2.2, 0.55,
]);

/**
 * All cells of one tile of the demo's world. The cell's own rule is in `fillCell`: it gives the same bits here
 * and in demoCells.
 *
 * In       land      i8[180 * landNodesPerDeg + 1][360 * landNodesPerDeg], from 90 north and 180 west: the
 *                    distance to the coast in km is code x |code| x landKmPerSquare, positive on land
 * Out      out       u16[64][64][4]; STEPS_OUTSIDE beyond the grid
 * Units    degrees; warmingC in degrees C above the climate of 1980, 0 or more
 * Needs    a grid of square cells from 90 north and 180 west
 */
export function demoTile(
  hazard: i32,
  warmingC: f64,
  land: usize,
  landNodesPerDeg: i32,
  landKmPerSquare: f64,
  cellSizeDeg: f64,
  rowCount: i32,
  columnCount: i32,
  tileRow: i32,
  tileColumn: i32,
  out: usize,
): i32 {
  if (rowCount < 1 || columnCount < 1 || !(cellSizeDeg > 0) || landNodesPerDeg < 1) return STATUS_BAD_GRID;
  const top = tileRow * TILE_SIZE;
  const west = tileColumn * TILE_SIZE;
  if (tileRow < 0 || tileColumn < 0 || top >= rowCount || west >= columnCount) return STATUS_BAD_GRID;
  const bottom = min(top + TILE_SIZE, rowCount);
  const east = min(west + TILE_SIZE, columnCount);
  for (let row = top; row < top + TILE_SIZE; row++) {
    const latDeg = 90.0 - (<f64>row + 0.5) * cellSizeDeg;
    const sinLat = Math.sin(latDeg * DEGREE);
    const cosLat = Math.cos(latDeg * DEGREE);
    for (let column = west; column < west + TILE_SIZE; column++, out += 2 * DEMO_LAYER_COUNT) {
      if (row >= bottom || column >= east) {
        fillWith(STEPS_OUTSIDE, out);
        continue;
      }
      const lonDeg = -180.0 + (<f64>column + 0.5) * cellSizeDeg;
      fillCell(
        hazard,
        warmingC,
        land,
        landNodesPerDeg,
        landKmPerSquare,
        cellSizeDeg,
        latDeg,
        lonDeg,
        sinLat,
        cosLat,
        out,
      );
    }
  }
  return STATUS_OK;
}

/**
 * Single cells of the demo's world.
 *
 * In       rows, columns  i32[count], within the grid
 * Out      out            u16[count][4]
 * The rest as for demoTile.
 */
export function demoCells(
  hazard: i32,
  warmingC: f64,
  land: usize,
  landNodesPerDeg: i32,
  landKmPerSquare: f64,
  cellSizeDeg: f64,
  rowCount: i32,
  columnCount: i32,
  rows: usize,
  columns: usize,
  count: i32,
  out: usize,
): i32 {
  if (rowCount < 1 || columnCount < 1 || !(cellSizeDeg > 0) || landNodesPerDeg < 1) return STATUS_BAD_GRID;
  for (let i = 0; i < count; i++, out += 2 * DEMO_LAYER_COUNT) {
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
      landKmPerSquare,
      cellSizeDeg,
      latDeg,
      lonDeg,
      Math.sin(latDeg * DEGREE),
      Math.cos(latDeg * DEGREE),
      out,
    );
  }
  return STATUS_OK;
}

/**
 * Whether all cells of a tile are known without making them: DEMO_TILE_ZERO, DEMO_TILE_NODATA, or
 * DEMO_TILE_CELLS where they differ or would have to be looked at. A tile that reaches beyond the
 * grid always has cells. -1 for a tile that is not of the grid.
 *
 * Formula  Between its nodes the field of coast distances is a blend, so none of its values lies beyond those of
 *          the nodes around the tile.
 * The parameters are those of demoTile.
 */
export function demoTileState(
  hazard: i32,
  land: usize,
  landNodesPerDeg: i32,
  landKmPerSquare: f64,
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
    const isCalm =
      southDeg >= CYCLONE_LAT_DEG_MAX ||
      northDeg <= -CYCLONE_LAT_DEG_MAX ||
      (northDeg <= CYCLONE_LAT_DEG_MIN && southDeg >= -CYCLONE_LAT_DEG_MIN);
    return isCalm ? DEMO_TILE_ZERO : DEMO_TILE_CELLS;
  }

  const nodesPerDeg = <f64>landNodesPerDeg;
  const nodeColumns = 360 * landNodesPerDeg;
  const nodeRows = 180 * landNodesPerDeg + 1;
  const firstRow = <i32>Math.floor((90.0 - northDeg) * nodesPerDeg);
  const lastRow = min(nodeRows - 1, <i32>Math.ceil((90.0 - southDeg) * nodesPerDeg));
  const firstColumn = <i32>Math.floor(<f64>west * cellSizeDeg * nodesPerDeg);
  const lastColumn = <i32>Math.ceil(<f64>(west + TILE_SIZE) * cellSizeDeg * nodesPerDeg);
  let least: i32 = 127,
    greatest: i32 = -128;
  for (let row = firstRow; row <= lastRow; row++) {
    for (let column = firstColumn; column <= lastColumn; column++) {
      const code = <i32>load<i8>(land + <usize>(row * nodeColumns + (column % nodeColumns)));
      least = min(least, code);
      greatest = max(greatest, code);
    }
  }
  if (kmOfCode(greatest, landKmPerSquare) < -reachKm(cellSizeDeg)) return DEMO_TILE_NODATA;
  if (kmOfCode(least, landKmPerSquare) < 0) return DEMO_TILE_CELLS;
  if (hazard == DEMO_COASTAL_FLOODS && kmOfCode(least, landKmPerSquare) > SURGE_KM_MAX) return DEMO_TILE_ZERO;
  if (hazard != DEMO_COASTAL_FLOODS && southDeg >= ICE_NORTH_DEG) return DEMO_TILE_ZERO;
  if (northDeg <= ICE_SOUTH_DEG) return DEMO_TILE_ZERO;
  return DEMO_TILE_CELLS;
}

/**
 * One cell: a pure function of hazard, warming and place. No value falls anywhere as warmingC rises: warming
 * multiplies or is added before anything else, and every step after it is monotone.
 */
function fillCell(
  hazard: i32,
  warmingC: f64,
  land: usize,
  landNodesPerDeg: i32,
  landKmPerSquare: f64,
  cellSizeDeg: f64,
  latDeg: f64,
  lonDeg: f64,
  sinLat: f64,
  cosLat: f64,
  out: usize,
): void {
  if (hazard == DEMO_CYCLONES && turning(latDeg) == 0) {
    fillWith(0, out);
    return;
  }
  const inlandKm = coastDistanceKm(land, landNodesPerDeg, landKmPerSquare, latDeg, lonDeg);
  if (hazard != DEMO_CYCLONES && inlandKm < -reachKm(cellSizeDeg)) {
    fillWith(STEPS_NODATA, out);
    return;
  }
  const x = EARTH_RADIUS_KM * cosLat * Math.cos(lonDeg * DEGREE);
  const y = EARTH_RADIUS_KM * cosLat * Math.sin(lonDeg * DEGREE);
  const z = EARTH_RADIUS_KM * sinLat;
  if (hazard == DEMO_CYCLONES) fillCyclone(warmingC, inlandKm, latDeg, lonDeg, x, y, z, out);
  else if (hazard == DEMO_WILDFIRE) fillWildfire(warmingC, latDeg, lonDeg, x, y, z, out);
  else if (hazard == DEMO_COASTAL_FLOODS) fillSurge(warmingC, inlandKm, latDeg, lonDeg, x, y, z, out);
  else fillRiver(warmingC, inlandKm, latDeg, lonDeg, x, y, z, out);
}

/**
 * Winds: the basins, ragged by noise, dying out over land. Over the logarithm of the return period they lie on a
 * line, from 2 to 1000 years.
 */
function fillCyclone(warmingC: f64, inlandKm: f64, latDeg: f64, lonDeg: f64, x: f64, y: f64, z: f64, out: usize): void {
  const broad = noise4(x / 900.0, y / 900.0, z / 900.0, 11);
  const openSeaMps = turning(latDeg) * basinWindMps(latDeg + 2.5 * lane1(broad), lonDeg + 5.0 * lane2(broad));
  if (openSeaMps == 0) {
    fillWith(0, out);
    return;
  }
  const fine = noise4(x / 160.0, y / 160.0, z / 160.0, 12);
  const texture = 1.0 + 0.1 * lane0(broad) + 0.06 * lane0(fine);
  const friction = inlandKm > 0 ? 0.2 + 0.74 * Math.exp(-inlandKm / 170.0) : 1.0;
  const today = openSeaMps * texture * friction - 9.0;
  const windMps = Math.min(120.0, today * (1.0 + 0.035 * warmingC));
  if (!(windMps > 0)) {
    fillWith(0, out);
    return;
  }
  const probability = 0.01 * Math.exp((1.0 - WIND_MPS_THRESHOLD / windMps) / 0.15);
  const windSteps = stepsOf(windMps, WIND_STEPS_PER_MPS);
  fillMetrics(
    <f64>windSteps / WIND_STEPS_PER_MPS / WIND_MPS_REFERENCE,
    windSteps,
    probability < 0.001 ? 0.0 : Math.min(0.5, probability),
    out,
  );
}

/** Share of a wind that the Earth's turning makes a cyclone of: 0 near the equator; and 0 where all seas are cold. */
function turning(latDeg: f64): f64 {
  const distanceDeg = Math.abs(latDeg);
  if (distanceDeg >= CYCLONE_LAT_DEG_MAX) return 0;
  return smooth((distanceDeg - CYCLONE_LAT_DEG_MIN) / 9.0);
}

/** 100-year wind of the basins over open sea, m/s; where two overlap, more than either; 0 outside them. */
function basinWindMps(latDeg: f64, lonDeg: f64): f64 {
  let squares: f64 = 0;
  for (let i = 0; i < BASIN_COUNT; i++) {
    const windMps = bump(BASINS + <usize>i * ELLIPSE_BYTES, latDeg, lonDeg);
    squares += windMps * windMps;
  }
  return Math.sqrt(squares);
}

/** Days of fire danger, the yearly largest index and its chance, all three from one measure of dryness with fuel. */
function fillWildfire(warmingC: f64, latDeg: f64, lonDeg: f64, x: f64, y: f64, z: f64, out: usize): void {
  if (latDeg >= ICE_NORTH_DEG || latDeg <= ICE_SOUTH_DEG || isGreenland(latDeg, lonDeg)) {
    fillWith(0, out);
    return;
  }
  const broad = noise4(x / 700.0, y / 700.0, z / 700.0, 21);
  const fine = noise4(x / 110.0, y / 110.0, z / 110.0, 22);
  const fromDryLat = (Math.abs(latDeg) - 28.0) / 34.0;
  let dryness = 0.14 * Math.max(0.0, 1.0 - fromDryLat * fromDryLat) + 0.09 * lane0(broad) + 0.06 * lane0(fine);
  // The belts are looked up a little off the place, or their ellipses would show.
  const beltLatDeg = latDeg + 3.0 * lane1(broad) + 0.9 * lane1(fine);
  const beltLonDeg = lonDeg + 4.5 * lane2(broad) + 1.2 * lane2(fine);
  for (let i = 0; i < FIRE_BELT_COUNT; i++) {
    dryness += bump(FIRE_BELTS + <usize>i * ELLIPSE_BYTES, beltLatDeg, beltLonDeg);
  }
  dryness = Math.min(1.1, dryness) * (1.0 + 0.08 * warmingC);
  if (!(dryness > 0)) {
    fillWith(0, out);
    return;
  }
  const days = Math.min(366.0, 165.0 * dryness * Math.sqrt(dryness));
  const yearlyLargestFwi = 110.0 - 49.5 / (dryness + 0.45);
  const reaches = 1.0 - Math.exp(-Math.exp((yearlyLargestFwi - FWI_THRESHOLD) / 6.0));
  fillMetrics(
    yearlyLargestFwi / FWI_REFERENCE,
    stepsOf(days, DAYS_STEPS_PER_DAY),
    reaches * Math.min(1.0, dryness * 20.0),
    out,
  );
}

/** Surge: a height of water at the shore, less the rise of the ground behind it. */
function fillSurge(warmingC: f64, inlandKm: f64, latDeg: f64, lonDeg: f64, x: f64, y: f64, z: f64, out: usize): void {
  if (inlandKm >= SURGE_KM_MAX || latDeg <= ICE_SOUTH_DEG) {
    fillWith(0, out);
    return;
  }
  const coast = noise4(x / 900.0, y / 900.0, z / 900.0, 31);
  const shore = noise4(x / 140.0, y / 140.0, z / 140.0, 32);
  const ground = noise4(x / 21.0, y / 21.0, z / 21.0, 33);
  const detail = noise4(x / 4.5, y / 4.5, z / 4.5, 34);
  let lowland: f64 = 0;
  for (let i = 0; i < LOWLAND_COUNT; i++) lowland += bump(LOWLANDS + <usize>i * ELLIPSE_BYTES, latDeg, lonDeg);
  const steepness = 1.0 - 0.94 * Math.min(1.0, lowland);

  const surgeM = 2.4 + 1.1 * lane0(coast) + 0.5 * lane1(shore) + 0.035 * turning(latDeg) * basinWindMps(latDeg, lonDeg);
  const rough = 0.5 + 0.5 * lane0(shore);
  const metresPerKm = 0.06 + steepness * (0.25 + 5.0 * rough * rough);
  const hillsM = steepness * (1.5 + 2.0 * lane0(ground)) + 0.5 * lane1(ground) + 0.5 * lane0(detail);
  const landwardKm = Math.max(0.0, inlandKm);
  // Hills begin behind the beach, or no shore would ever be wet.
  const hillShare = Math.min(1.0, 0.3 + landwardKm / 2.0);
  // What has run far inland has run out, on the flattest ground too.
  const spent = Math.max(0.0, landwardKm / SURGE_KM_MAX - 0.5);
  const groundM = landwardKm * metresPerKm + hillShare * hillsM + 40.0 * spent * spent;
  const stageM = surgeM - groundM + warmingC * (0.2 + 0.05 * lane1(coast));
  const perGumbelM = 0.13 * surgeM;
  fillFlood(stageM, GUMBEL_100 - (stageM - DEPTH_M_THRESHOLD) / perGumbelM, out);
}

/**
 * Rivers: the lines on which a random field passes through zero are thin, long and winding, as rivers are on a map.
 * Three sizes of them, on ground that is itself pulled about by noise so that they meander.
 */
function fillRiver(warmingC: f64, inlandKm: f64, latDeg: f64, lonDeg: f64, x: f64, y: f64, z: f64, out: usize): void {
  if (latDeg >= ICE_NORTH_DEG || latDeg <= ICE_SOUTH_DEG || isGreenland(latDeg, lonDeg)) {
    fillWith(0, out);
    return;
  }
  let drought: f64 = 0;
  for (let i = 0; i < DESERT_COUNT; i++) drought += bump(DESERTS + <usize>i * ELLIPSE_BYTES, latDeg, lonDeg);
  const pull = noise4(x / 290.0, y / 290.0, z / 290.0, 41);
  const bend = noise4(x / 46.0, y / 46.0, z / 46.0, 42);
  const wiggle = noise4(x / 8.5, y / 8.5, z / 8.5, 43);
  const px = x + 85.0 * lane0(pull) + 15.0 * lane0(bend) + 2.8 * lane0(wiggle);
  const py = y + 85.0 * lane1(pull) + 15.0 * lane1(bend) + 2.8 * lane1(wiggle);
  const pz = z + 85.0 * lane2(pull) + 15.0 * lane2(bend) + 2.8 * lane2(wiggle);

  const wetness = 1.0 - Math.min(1.0, drought) + 0.15 * lane3(pull);
  const swelling = 0.03 * (1.0 + 0.6 * lane3(bend)) * warmingC; // share of a river's depth
  const towardsSea = 1.0 + 0.8 * Math.exp(-Math.max(0.0, inlandKm) / 60.0);
  let stageM: f64 = -Infinity;
  let variate: f64 = Infinity;
  for (let size = 0; size < RIVER_SIZE_COUNT; size++) {
    const river = RIVER_SIZES + <usize>size * RIVER_SIZE_BYTES;
    if (wetness <= load<f64>(river, 24)) continue;
    const wavelengthKm = load<f64>(river);
    const depthM = load<f64>(river, 16);
    const field = noise4(px / wavelengthKm, py / wavelengthKm, pz / wavelengthKm, 44 + size);
    // The field is mostly this steep where it passes through zero, so its value tells how far that line is.
    const lineKm = 0.45 * wavelengthKm * Math.abs(lane0(field));
    const halfWidths = lineKm / (load<f64>(river, 8) * towardsSea);
    if (halfWidths > 1.5) continue;
    const fullM = depthM * (1.0 + 0.3 * lane3(wiggle));
    const sizeStageM = fullM * (1.0 - halfWidths * halfWidths) + depthM * swelling;
    stageM = Math.max(stageM, sizeStageM);
    variate = Math.min(variate, GUMBEL_100 - (sizeStageM - DEPTH_M_THRESHOLD) / (0.2 * depthM));
  }
  fillFlood(stageM, variate, out);
}

/** `variate` is where, on Gumbel paper, the water reaches the threshold. */
function fillFlood(stageM: f64, variate: f64, out: usize): void {
  const depthSteps = stepsOf(Math.min(30.0, Math.max(0.0, stageM)), DEPTH_STEPS_PER_M);
  const probability = variate > GUMBEL_1000 ? 0.0 : 1.0 - Math.exp(-Math.exp(-Math.max(GUMBEL_2, variate)));
  fillMetrics(<f64>depthSteps / DEPTH_STEPS_PER_M / DEPTH_M_REFERENCE, depthSteps, probability, out);
}

/** Writes the four layers; total_hazard from the stored steps of its factors, rounded once. */
function fillMetrics(intensity: f64, ownSteps: i32, probability: f64, out: usize): void {
  const intensitySteps = stepsOf(Math.min(1.0, intensity), INTENSITY_STEPS_PER_UNIT);
  const probabilitySteps = stepsOf(Math.min(1.0, probability), PROBABILITY_STEPS_PER_UNIT);
  const product = <f64>intensitySteps * <f64>probabilitySteps * TOTAL_STEPS_PER_UNIT;
  store<u16>(out, <u16>intensitySteps);
  store<u16>(out, <u16>ownSteps, 2);
  store<u16>(out, <u16>probabilitySteps, 4);
  store<u16>(out, <u16>Math.round(product / (INTENSITY_STEPS_PER_UNIT * PROBABILITY_STEPS_PER_UNIT)), 6);
}

function fillWith(steps: i32, out: usize): void {
  store<u64>(out, <u64>steps * 0x0001000100010001);
}

function stepsOf(value: f64, stepsPerUnit: f64): i32 {
  return <i32>Math.round(value * stepsPerUnit);
}

/** Signed distance to the coast, km, between the nodes of the field bilinear; positive on land. */
function coastDistanceKm(land: usize, nodesPerDeg: i32, kmPerSquare: f64, latDeg: f64, lonDeg: f64): f64 {
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

function kmOfCode(code: i32, kmPerSquare: f64): f64 {
  return <f64>(code * abs(code)) * kmPerSquare;
}

/** A cell counts as land when its centre is no further from it: as far as its corners, or as the field may be wrong. */
function reachKm(cellSizeDeg: f64): f64 {
  return Math.max(SHORE_KM, 0.75 * cellSizeDeg * KM_PER_DEG);
}

/** From 0 at 0 to 1 at 1 without a kink. */
function smooth(t: f64): f64 {
  const within = Math.min(1.0, Math.max(0.0, t));
  return within * within * (3.0 - 2.0 * within);
}

function isGreenland(latDeg: f64, lonDeg: f64): bool {
  return latDeg > 59.0 && lonDeg > -57.0 && lonDeg < -25.0;
}

function lane0(fields: v128): f64 {
  return <f64>f32x4.extract_lane(fields, 0);
}
function lane1(fields: v128): f64 {
  return <f64>f32x4.extract_lane(fields, 1);
}
function lane2(fields: v128): f64 {
  return <f64>f32x4.extract_lane(fields, 2);
}
function lane3(fields: v128): f64 {
  return <f64>f32x4.extract_lane(fields, 3);
}
