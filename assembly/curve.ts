import { STEPS_MAX, STEPS_NODATA } from "./cells";
import { STATUS_BAD_CURVE, STATUS_NEGATIVE_VALUE, STATUS_OK, STATUS_OUT_OF_RANGE } from "./status";

/** Linear interpolation in the Gumbel variate y = -ln(-ln(1 - 1/T)); for depths. */
export const CURVE_GUMBEL: i32 = 0;
/** Linear interpolation in ln T; for winds. */
export const CURVE_LOG: i32 = 1;

/** Flag of a cell that is missing on some maps but not on all. */
export const CURVE_PARTLY_MISSING: i32 = 2;
/** Flag of a cell that reaches the threshold on the first map. */
export const CURVE_AT_FIRST: i32 = 4;
/** Flag of a cell that has a smaller value on a map with a longer return period. */
export const CURVE_RAISED: i32 = 8;

/** Every value at or above this marks missing cells, such as 1e20, 9.97e36 (NetCDF) and the largest float; no quantity reaches it. */
export const MISSING_MARKER_MIN: f64 = 1e20;

const VECTOR_BYTES: usize = 16;

/**
 * Computes, for each cell of a stack of return-period maps, the value at the design return period and the annual
 * probability of reaching a threshold.
 *
 * In       maps           f32[mapCount][cellCount] or f64, source units, NaN = missing; ascending return periods. Cells
 *                         that are 0 or missing on all maps take almost no time
 *          valueBytes     4 for f32, 8 for f64
 *          returnPeriods  f64[mapCount], years, ascending, each > 1 (CURVE_LOG: > 0)
 *          unitFactor     layer units per source unit
 * Out      designs        f64[cellCount], value at designYears; NaN = missing
 *          probabilities  f64[cellCount], annual probability of reaching threshold; NaN = missing
 *          bad            i32[2]: map and cell of the first value that is negative, or at least MISSING_MARKER_MIN
 *                         in source units or in layer units
 * In, out  flags          u8[cellCount]: CURVE_ flags are added
 * Scratch  variates       f64[mapCount]
 * Formula  Running maximum in T (a rarer flood is no shallower), then linear in the variate between adjacent maps.
 *          Outside the range of the maps' return periods the nearest map is used; the caller decides whether to allow
 *          that. The probability is that of the first point of the curve that reaches the threshold:
 *          1 - exp(-exp(-y)) or 1/T; 1/T of the first map if that map reaches it (a lower bound); 0 if no map does. A
 *          cell that is missing in any map is missing, but its other maps are still checked, because a nodata marker
 *          that only some files declare shows up as a negative or very large value.
 */
export function curveMetrics(
  maps: usize,
  valueBytes: i32,
  mapCount: i32,
  cellCount: i32,
  returnPeriods: usize,
  variates: usize,
  family: i32,
  unitFactor: f64,
  designYears: f64,
  threshold: f64,
  designs: usize,
  probabilities: usize,
  flags: usize,
  bad: usize,
): i32 {
  if (mapCount < 1 || !(threshold > 0)) return STATUS_BAD_CURVE;
  const yearsMin: f64 = family == CURVE_GUMBEL ? 1 : 0;
  let previousYears = yearsMin;
  for (let i = 0; i < mapCount; i++) {
    const years = load<f64>(returnPeriods + ((<usize>i) << 3));
    if (!(years > previousYears)) return STATUS_BAD_CURVE;
    store<f64>(variates + ((<usize>i) << 3), variateOf(years, family));
    previousYears = years;
  }
  if (!(designYears > yearsMin)) return STATUS_BAD_CURVE;
  const designVariate = variateOf(designYears, family);
  const isSingle = valueBytes == 4;
  const mapStride = <usize>cellCount * <usize>valueBytes;
  const lanes = <i32>VECTOR_BYTES / valueBytes;

  for (let cell = 0; cell < cellCount;) {
    const position = maps + <usize>cell * <usize>valueBytes;
    if (cell + lanes <= cellCount) {
      const zeroEnd = endOfZeros(position, mapStride, mapCount, (cellCount - cell) / lanes);
      if (zeroEnd > 0) {
        fillMetrics(designs, probabilities, cell, zeroEnd * lanes, 0);
        cell += zeroEnd * lanes;
        continue;
      }
      const missingEnd = endOfMissing(position, mapStride, mapCount, (cellCount - cell) / lanes, isSingle);
      if (missingEnd > 0) {
        fillMetrics(designs, probabilities, cell, missingEnd * lanes, NaN);
        cell += missingEnd * lanes;
        continue;
      }
    }
    // The next vector is neither, so its cells are computed one by one.
    const end = min(cellCount, cell + lanes);
    for (; cell < end; cell++) {
      let source = maps + <usize>cell * <usize>valueBytes;
      let highest: f64 = -Infinity,
        rawHighest: f64 = -Infinity,
        lastVariate: f64 = 0;
      let design: f64 = NaN,
        probability: f64 = 0;
      let missingCount = 0;
      let isRaised = false,
        isAtFirst = false,
        hasDesign = false,
        hasReached = false;
      for (let i = 0; i < mapCount; i++, source += mapStride) {
        const raw: f64 = isSingle ? <f64>load<f32>(source) : load<f64>(source);
        if (raw != raw) {
          missingCount++;
          continue;
        }
        const scaled = raw * unitFactor;
        if (!(raw >= 0 && raw < MISSING_MARKER_MIN && scaled < MISSING_MARKER_MIN)) {
          store<i32>(bad, i);
          store<i32>(bad, cell, 4);
          return STATUS_NEGATIVE_VALUE;
        }
        if (raw >= rawHighest) rawHighest = raw;
        else isRaised = true;
        const years = load<f64>(returnPeriods + ((<usize>i) << 3));
        const variate = load<f64>(variates + ((<usize>i) << 3));
        const value = Math.max(highest, scaled);

        if (!hasDesign && designYears <= years) {
          design =
            i == 0 || designYears == years
              ? value
              : highest + (value - highest) * ((designVariate - lastVariate) / (variate - lastVariate));
          hasDesign = true;
        }
        if (!hasReached && value >= threshold) {
          probability =
            i == 0 || value == threshold
              ? 1 / years
              : probabilityOf(
                  lastVariate + (variate - lastVariate) * ((threshold - highest) / (value - highest)),
                  family,
                );
          hasReached = true;
          isAtFirst = i == 0;
        }
        highest = value;
        lastVariate = variate;
      }
      const offset = (<usize>cell) << 3;
      store<f64>(designs + offset, missingCount > 0 ? NaN : hasDesign ? design : highest);
      store<f64>(probabilities + offset, missingCount > 0 ? NaN : probability);
      let bits = 0;
      if (missingCount == 0) {
        if (isAtFirst) bits |= CURVE_AT_FIRST;
        if (isRaised) bits |= CURVE_RAISED;
      } else if (missingCount < mapCount) {
        bits = CURVE_PARTLY_MISSING;
      }
      if (bits != 0) store<u8>(flags + <usize>cell, load<u8>(flags + <usize>cell) | (<u8>bits));
    }
  }
  return STATUS_OK;
}

/** Returns how many vectors from a position have only zeros on all maps, at most `vectorCount`. */
function endOfZeros(position: usize, mapStride: usize, mapCount: i32, vectorCount: i32): i32 {
  for (let vector = 0; vector < vectorCount; vector++) {
    let source = position + <usize>vector * VECTOR_BYTES;
    let bits = v128.load(source);
    for (let i = 1; i < mapCount; i++) {
      source += mapStride;
      bits = v128.or(bits, v128.load(source));
    }
    if (v128.any_true(bits)) return vector;
  }
  return vectorCount;
}

/** Returns how many vectors from a position have only missing values on all maps, at most `vectorCount`. */
function endOfMissing(position: usize, mapStride: usize, mapCount: i32, vectorCount: i32, isSingle: bool): i32 {
  for (let vector = 0; vector < vectorCount; vector++) {
    let source = position + <usize>vector * VECTOR_BYTES;
    for (let i = 0; i < mapCount; i++, source += mapStride) {
      const values = v128.load(source);
      const isMissing = isSingle ? i32x4.all_true(f32x4.ne(values, values)) : i64x2.all_true(f64x2.ne(values, values));
      if (!isMissing) return vector;
    }
  }
  return vectorCount;
}

function fillMetrics(designs: usize, probabilities: usize, cell: i32, count: i32, value: f64): void {
  const values = f64x2.splat(value);
  const end = designs + ((<usize>(cell + count)) << 3);
  let target = probabilities + ((<usize>cell) << 3);
  for (let at = designs + ((<usize>cell) << 3); at < end; at += VECTOR_BYTES, target += VECTOR_BYTES) {
    v128.store(at, values);
    v128.store(target, values);
  }
}

function variateOf(years: f64, family: i32): f64 {
  return family == CURVE_GUMBEL ? -Math.log(-Math.log1p(-1 / years)) : Math.log(years);
}

function probabilityOf(variate: f64, family: i32): f64 {
  return family == CURVE_GUMBEL ? -Math.expm1(-Math.exp(-variate)) : Math.exp(-variate);
}

/**
 * Encodes values as the steps of a layer.
 *
 * In       values   f64[count], NaN = missing
 * Out      steps    u16[count]
 *          bad      i32[1]: index of the first value outside the layer's range
 * In, out  worst    f64[1]: largest rounding error so far, in units of the value
 * Formula  steps = round((value - offset) * stepsPerUnit), half away from zero
 */
export function toSteps(
  values: usize,
  count: i32,
  stepsPerUnit: f64,
  offset: f64,
  steps: usize,
  worst: usize,
  bad: usize,
): i32 {
  let error = load<f64>(worst);
  let target = steps;
  for (let i = 0; i < count; i++, target += 2) {
    const value = load<f64>(values + ((<usize>i) << 3));
    if (value != value) {
      store<u16>(target, <u16>STEPS_NODATA);
      continue;
    }
    const exact = (value - offset) * stepsPerUnit;
    const nearest = Math.floor(exact + 0.5);
    if (!(nearest >= 0 && nearest <= <f64>STEPS_MAX)) {
      store<i32>(bad, i);
      return STATUS_OUT_OF_RANGE;
    }
    error = Math.max(error, Math.abs(nearest / stepsPerUnit + offset - value));
    store<u16>(target, <u16>nearest);
  }
  store<f64>(worst, error);
  return STATUS_OK;
}
