import {
  BASIN_COUNT,
  BASINS,
  DESERT_COUNT,
  DESERTS,
  ELLIPSE_BYTES,
  ellipseWeight,
  FIRE_REGION_COUNT,
  FIRE_REGIONS,
  LOWLAND_COUNT,
  LOWLANDS,
} from "./demoRegions";
import { noise4 } from "./noise";

const INTENSITY_STEPS_PER_UNIT: f64 = 10000;
const PROBABILITY_STEPS_PER_UNIT: f64 = 60000;
const TOTAL_STEPS_PER_UNIT: f64 = 60000;
const DEPTH_STEPS_PER_M: f64 = 1000;
const WIND_STEPS_PER_MPS: f64 = 100;
const DAYS_STEPS_PER_DAY: f64 = 100;

const REFERENCE_DEPTH_M: f64 = 10;
const DEPTH_M_MAX: f64 = 30;
const THRESHOLD_DEPTH_M: f64 = 0.5;
const REFERENCE_WIND_MPS: f64 = 100;
const THRESHOLD_WIND_MPS: f64 = 33;
const REFERENCE_FWI: f64 = 100;
const THRESHOLD_FWI: f64 = 38;

/**
 * Gumbel variates -ln(-ln(1 - 1/T)) for return periods of 2 and 1000 years (the ends of the curves) and 100 years (the
 * design level).
 */
const GUMBEL_2: f64 = 0.36651292058166435;
const GUMBEL_100: f64 = 4.600149226776579;
const GUMBEL_1000: f64 = 6.907255070523602;

/** Increase of the wind per unit of ln T, relative to the wind at the design return period. */
const CYCLONE_RELATIVE_SLOPE: f64 = 0.15;

/** There are no cyclones at lower latitudes, where the Coriolis force is too weak. */
export const CYCLONE_LAT_DEG_MIN: f64 = 4;
/** There are no cyclones at higher latitudes, where the sea is too cold. */
export const CYCLONE_LAT_DEG_MAX: f64 = 50;
/** Upper limit of the distance that a surge reaches inland. */
export const SURGE_REACH_KM_MAX: f64 = 45;
/** Ice limits: poleward of them there are no rivers and no fires; south of the southern limit, no coastal floods. */
export const ICE_NORTH_DEG: f64 = 72;
export const ICE_SOUTH_DEG: f64 = -60;

/** Rivers by size: spacing, km; half-width, km; depth, m; minimum wetness. Only the largest cross deserts. */
const RIVER_SIZE_COUNT: i32 = 3;
const RIVER_SIZE_BYTES: usize = 32;
// prettier-ignore
const RIVER_SIZES: usize = memory.data<f64>([
  780, 4.2, 8, 0.08,
  190, 1.9, 4.2, 0.35,
  52, 1, 2.2, 0.55,
]);

/**
 * Generates a cell of the hazard cyclones: its metrics, or its curve if nodeCount is above 0. The cell has the 100-year wind of the basins, perturbed by noise and decaying over land.
 * The return level is linear in the logarithm of the return period, from 2 to 1000 years.
 */
export function fillCyclones(
  warmingC: f64,
  inlandKm: f64,
  latDeg: f64,
  lonDeg: f64,
  x: f64,
  y: f64,
  z: f64,
  nodes: usize,
  nodeCount: i32,
  out: usize,
): void {
  const broad = noise4(x / 900.0, y / 900.0, z / 900.0, 11);
  const openSeaMps =
    cycloneLatitudeFactor(latDeg) * basinWindMps(latDeg + 2.5 * lane1(broad), lonDeg + 5.0 * lane2(broad));
  if (openSeaMps == 0) {
    fillSteps(0, nodeCount, out);
    return;
  }
  const fine = noise4(x / 160.0, y / 160.0, z / 160.0, 12);
  const texture = 1.0 + 0.1 * lane0(broad) + 0.06 * lane0(fine);
  const friction = inlandKm > 0 ? 0.2 + 0.74 * Math.exp(-inlandKm / 170.0) : 1.0;
  const baselineMps = openSeaMps * texture * friction - 9.0;
  const windMps = Math.min(120.0, baselineMps * (1.0 + 0.035 * warmingC));
  if (!(windMps > 0)) {
    fillSteps(0, nodeCount, out);
    return;
  }
  for (let i = 0; i < nodeCount; i++) {
    const atNodeMps = windMps * (1.0 + CYCLONE_RELATIVE_SLOPE * load<f64>(nodes + ((<usize>i) << 3)));
    store<u16>(out + ((<usize>i) << 1), <u16>stepsOf(atNodeMps, WIND_STEPS_PER_MPS));
  }
  if (nodeCount > 0) return;
  const probability = 0.01 * Math.exp((1.0 - THRESHOLD_WIND_MPS / windMps) / CYCLONE_RELATIVE_SLOPE);
  const windSteps = stepsOf(windMps, WIND_STEPS_PER_MPS);
  fillMetrics(
    <f64>windSteps / WIND_STEPS_PER_MPS / REFERENCE_WIND_MPS,
    windSteps,
    probability < 0.001 ? 0.0 : Math.min(0.5, probability),
    out,
  );
}

/** Returns the latitude factor of cyclone winds: 0 near the equator, rises to 1, 0 beyond the cyclone latitudes. */
export function cycloneLatitudeFactor(latDeg: f64): f64 {
  const distanceDeg = Math.abs(latDeg);
  if (distanceDeg >= CYCLONE_LAT_DEG_MAX) return 0;
  return smoothstep((distanceDeg - CYCLONE_LAT_DEG_MIN) / 9.0);
}

/** Returns the 100-year wind over open sea, m/s: root of the sum of squares over the basins; 0 outside all basins. */
function basinWindMps(latDeg: f64, lonDeg: f64): f64 {
  let sumOfSquares: f64 = 0;
  for (let i = 0; i < BASIN_COUNT; i++) {
    const windMps = ellipseWeight(BASINS + <usize>i * ELLIPSE_BYTES, latDeg, lonDeg);
    sumOfSquares += windMps * windMps;
  }
  return Math.sqrt(sumOfSquares);
}

/**
 * Generates a cell of the hazard wildfire: days of fire danger, the annual maximum of the fire weather index (FWI) and
 * the probability of reaching its threshold, all from dryness.
 */
export function fillWildfire(warmingC: f64, latDeg: f64, lonDeg: f64, x: f64, y: f64, z: f64, out: usize): void {
  if (latDeg >= ICE_NORTH_DEG || latDeg <= ICE_SOUTH_DEG || isGreenland(latDeg, lonDeg)) {
    fillSteps(0, 0, out);
    return;
  }
  const broad = noise4(x / 700.0, y / 700.0, z / 700.0, 21);
  const fine = noise4(x / 110.0, y / 110.0, z / 110.0, 22);
  const dryBeltOffset = (Math.abs(latDeg) - 28.0) / 34.0;
  let dryness = 0.14 * Math.max(0.0, 1.0 - dryBeltOffset * dryBeltOffset) + 0.09 * lane0(broad) + 0.06 * lane0(fine);
  // Noise perturbs the location, to hide the elliptical outlines of the regions.
  const regionLatDeg = latDeg + 3.0 * lane1(broad) + 0.9 * lane1(fine);
  const regionLonDeg = lonDeg + 4.5 * lane2(broad) + 1.2 * lane2(fine);
  for (let i = 0; i < FIRE_REGION_COUNT; i++) {
    dryness += ellipseWeight(FIRE_REGIONS + <usize>i * ELLIPSE_BYTES, regionLatDeg, regionLonDeg);
  }
  dryness = Math.min(1.1, dryness) * (1.0 + 0.08 * warmingC);
  if (!(dryness > 0)) {
    fillSteps(0, 0, out);
    return;
  }
  const days = Math.min(366.0, 165.0 * dryness * Math.sqrt(dryness));
  const annualMaxFwi = 110.0 - 49.5 / (dryness + 0.45);
  const exceedance = 1.0 - Math.exp(-Math.exp((annualMaxFwi - THRESHOLD_FWI) / 6.0));
  fillMetrics(
    annualMaxFwi / REFERENCE_FWI,
    stepsOf(days, DAYS_STEPS_PER_DAY),
    exceedance * Math.min(1.0, dryness * 20.0),
    out,
  );
}

/** Generates a cell of the hazard coastal floods: the surge's water level at the shore minus the ground's elevation. */
export function fillSurgeFloods(
  warmingC: f64,
  inlandKm: f64,
  latDeg: f64,
  lonDeg: f64,
  x: f64,
  y: f64,
  z: f64,
  nodes: usize,
  nodeCount: i32,
  out: usize,
): void {
  if (inlandKm >= SURGE_REACH_KM_MAX || latDeg <= ICE_SOUTH_DEG) {
    fillSteps(0, nodeCount, out);
    return;
  }
  const coast = noise4(x / 900.0, y / 900.0, z / 900.0, 31);
  const shore = noise4(x / 140.0, y / 140.0, z / 140.0, 32);
  const ground = noise4(x / 21.0, y / 21.0, z / 21.0, 33);
  const detail = noise4(x / 4.5, y / 4.5, z / 4.5, 34);
  let lowland: f64 = 0;
  for (let i = 0; i < LOWLAND_COUNT; i++) lowland += ellipseWeight(LOWLANDS + <usize>i * ELLIPSE_BYTES, latDeg, lonDeg);
  const steepness = 1.0 - 0.94 * Math.min(1.0, lowland);

  const surgeM =
    2.4 +
    1.1 * lane0(coast) +
    0.5 * lane1(shore) +
    0.035 * cycloneLatitudeFactor(latDeg) * basinWindMps(latDeg, lonDeg);
  const rough = 0.5 + 0.5 * lane0(shore);
  const riseMPerKm = 0.06 + steepness * (0.25 + 5.0 * rough * rough);
  const hillsM = steepness * (1.5 + 2.0 * lane0(ground)) + 0.5 * lane1(ground) + 0.5 * lane0(detail);
  const landwardKm = Math.max(0.0, inlandKm);
  // Hills start behind the beach, because no shore would be flooded otherwise.
  const hillFactor = Math.min(1.0, 0.3 + landwardKm / 2.0);
  // Limits how far a surge reaches inland, even on the flattest ground.
  const runout = Math.max(0.0, landwardKm / SURGE_REACH_KM_MAX - 0.5);
  const groundM = landwardKm * riseMPerKm + hillFactor * hillsM + 40.0 * runout * runout;
  const depthM = surgeM - groundM + warmingC * (0.2 + 0.05 * lane1(coast));
  const gumbelScaleM = 0.13 * surgeM;
  if (nodeCount > 0) {
    fillSteps(0, nodeCount, out);
    raiseDepths(depthM, gumbelScaleM, nodes, nodeCount, out);
    return;
  }
  fillFlood(depthM, GUMBEL_100 - (depthM - THRESHOLD_DEPTH_M) / gumbelScaleM, out);
}

/**
 * Generates a cell of the hazard riverine floods. Rivers, in three sizes, are the zero contours of noise, which are
 * thin, long and winding; more noise distorts the coordinates so that the rivers meander.
 */
export function fillRiverineFloods(
  warmingC: f64,
  inlandKm: f64,
  latDeg: f64,
  lonDeg: f64,
  x: f64,
  y: f64,
  z: f64,
  nodes: usize,
  nodeCount: i32,
  out: usize,
): void {
  if (nodeCount > 0) fillSteps(0, nodeCount, out);
  if (latDeg >= ICE_NORTH_DEG || latDeg <= ICE_SOUTH_DEG || isGreenland(latDeg, lonDeg)) {
    if (nodeCount == 0) fillSteps(0, 0, out);
    return;
  }
  let aridity: f64 = 0;
  for (let i = 0; i < DESERT_COUNT; i++) aridity += ellipseWeight(DESERTS + <usize>i * ELLIPSE_BYTES, latDeg, lonDeg);
  const warpBroad = noise4(x / 290.0, y / 290.0, z / 290.0, 41);
  const warpMedium = noise4(x / 46.0, y / 46.0, z / 46.0, 42);
  const warpFine = noise4(x / 8.5, y / 8.5, z / 8.5, 43);
  const px = x + 85.0 * lane0(warpBroad) + 15.0 * lane0(warpMedium) + 2.8 * lane0(warpFine);
  const py = y + 85.0 * lane1(warpBroad) + 15.0 * lane1(warpMedium) + 2.8 * lane1(warpFine);
  const pz = z + 85.0 * lane2(warpBroad) + 15.0 * lane2(warpMedium) + 2.8 * lane2(warpFine);

  const wetness = 1.0 - Math.min(1.0, aridity) + 0.15 * lane3(warpBroad);
  const warmingRise = 0.03 * (1.0 + 0.6 * lane3(warpMedium)) * warmingC; // relative to the river's depth
  const widening = 1.0 + 0.8 * Math.exp(-Math.max(0.0, inlandKm) / 60.0);
  let depthM: f64 = -Infinity;
  let variate: f64 = Infinity;
  for (let size = 0; size < RIVER_SIZE_COUNT; size++) {
    const river = RIVER_SIZES + <usize>size * RIVER_SIZE_BYTES;
    if (wetness <= load<f64>(river, 24)) continue;
    const wavelengthKm = load<f64>(river);
    const typicalDepthM = load<f64>(river, 16);
    const noise = noise4(px / wavelengthKm, py / wavelengthKm, pz / wavelengthKm, 44 + size);
    // Distance to the zero contour, estimated from the typical gradient of the noise there.
    const riverDistanceKm = 0.45 * wavelengthKm * Math.abs(lane0(noise));
    const halfWidths = riverDistanceKm / (load<f64>(river, 8) * widening);
    if (halfWidths > 1.5) continue;
    const channelDepthM = typicalDepthM * (1.0 + 0.3 * lane3(warpFine));
    const sizeDepthM = channelDepthM * (1.0 - halfWidths * halfWidths) + typicalDepthM * warmingRise;
    if (nodeCount > 0) {
      raiseDepths(sizeDepthM, 0.2 * typicalDepthM, nodes, nodeCount, out);
      continue;
    }
    depthM = Math.max(depthM, sizeDepthM);
    variate = Math.min(variate, GUMBEL_100 - (sizeDepthM - THRESHOLD_DEPTH_M) / (0.2 * typicalDepthM));
  }
  if (nodeCount == 0) fillFlood(depthM, variate, out);
}

/**
 * Raises the depths of a curve, in steps, to those of a curve with this depth at the design return period and this slope
 * per unit of the variate.
 */
function raiseDepths(depthM: f64, slopeM: f64, nodes: usize, nodeCount: i32, out: usize): void {
  for (let i = 0; i < nodeCount; i++) {
    const atNodeM = depthM + slopeM * load<f64>(nodes + ((<usize>i) << 3));
    const steps = stepsOf(Math.min(DEPTH_M_MAX, Math.max(0.0, atNodeM)), DEPTH_STEPS_PER_M);
    const target = out + ((<usize>i) << 1);
    if (steps > <i32>load<u16>(target)) store<u16>(target, <u16>steps);
  }
}

/** Writes the layers of a flood. `variate` is the Gumbel variate at which the water reaches the threshold. */
function fillFlood(depthM: f64, variate: f64, out: usize): void {
  const depthSteps = stepsOf(Math.min(DEPTH_M_MAX, Math.max(0.0, depthM)), DEPTH_STEPS_PER_M);
  const probability = variate > GUMBEL_1000 ? 0.0 : 1.0 - Math.exp(-Math.exp(-Math.max(GUMBEL_2, variate)));
  fillMetrics(<f64>depthSteps / DEPTH_STEPS_PER_M / REFERENCE_DEPTH_M, depthSteps, probability, out);
}

/**
 * Writes the four layers of a cell. total_hazard is computed from the stored steps of intensity and probability and
 * rounded once.
 */
function fillMetrics(intensity: f64, ownMetricSteps: i32, probability: f64, out: usize): void {
  const intensitySteps = stepsOf(Math.min(1.0, intensity), INTENSITY_STEPS_PER_UNIT);
  const probabilitySteps = stepsOf(Math.min(1.0, probability), PROBABILITY_STEPS_PER_UNIT);
  const product = <f64>intensitySteps * <f64>probabilitySteps * TOTAL_STEPS_PER_UNIT;
  store<u16>(out, <u16>intensitySteps);
  store<u16>(out, <u16>ownMetricSteps, 2);
  store<u16>(out, <u16>probabilitySteps, 4);
  store<u16>(out, <u16>Math.round(product / (INTENSITY_STEPS_PER_UNIT * PROBABILITY_STEPS_PER_UNIT)), 6);
}

/** Sets all layers of a cell to `steps`: those of a curve with `nodeCount` return periods, or the four metrics if it is 0. */
export function fillSteps(steps: i32, nodeCount: i32, out: usize): void {
  if (nodeCount == 0) store<u64>(out, <u64>steps * 0x0001000100010001);
  for (let i = 0; i < nodeCount; i++) store<u16>(out + ((<usize>i) << 1), <u16>steps);
}

function stepsOf(value: f64, stepsPerUnit: f64): i32 {
  return <i32>Math.round(value * stepsPerUnit);
}

/** Returns the smoothstep function of t: 0 for t <= 0, 1 for t >= 1, continuously differentiable. */
function smoothstep(t: f64): f64 {
  const clamped = Math.min(1.0, Math.max(0.0, t));
  return clamped * clamped * (3.0 - 2.0 * clamped);
}

function isGreenland(latDeg: f64, lonDeg: f64): bool {
  return latDeg > 59.0 && lonDeg > -57.0 && lonDeg < -25.0;
}

function lane0(noises: v128): f64 {
  return <f64>f32x4.extract_lane(noises, 0);
}
function lane1(noises: v128): f64 {
  return <f64>f32x4.extract_lane(noises, 1);
}
function lane2(noises: v128): f64 {
  return <f64>f32x4.extract_lane(noises, 2);
}
function lane3(noises: v128): f64 {
  return <f64>f32x4.extract_lane(noises, 3);
}
