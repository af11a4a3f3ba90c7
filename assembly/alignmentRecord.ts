import { LANES_ANCHORS, prepareCurve, separateAnchors, temperatureAt } from "./alignmentCurve";
import { beginRecord, growthFactorOf, implausibleChangeOf } from "./alignmentFigures";
import {
  ANCHORS_CLOSE,
  ANCHOR_GAP_MIN,
  CALL_COLUMNS,
  CALL_GAMMA,
  CALL_TABLES,
  COLUMN_CONVERGENCE_REVENUES,
  COLUMN_REFERENCES,
  CONVERGENCE_YEAR,
  CURVE_BYTES,
  CURVE_P10,
  CURVE_P50,
  CURVE_P90,
  CURVE_START,
  GROWTH_DRIVEN,
  KAPPA_MAX,
  KAPPA_MIN,
  NOTABLE_DIFFERENCE_C,
  PATHWAY_BYTES,
  RANGE_CHANGE,
  RATIO_MAX,
  RECORD_ANCHORS,
  RECORD_BASELINE,
  RECORD_CLIMATE_HIGH,
  RECORD_CLIMATE_LOW,
  RECORD_FLAGS,
  RECORD_KAPPA,
  RECORD_PROJECTED,
  RECORD_RANGE_HIGH,
  RECORD_RANGE_LOW,
  RECORD_RATIO_Q,
  RECORD_RAW_ANCHORS,
  RECORD_SHARES,
  RECORD_TEMPERATURE,
  RECORD_USABLE,
  REVENUE_UNUSABLE,
  SCRATCH_CURVE,
  SENSITIVE,
  SENSITIVE_CHANGE,
  TABLE_CURVES,
  TABLE_YEARS,
  YEAR_BYTES,
  YEAR_PER_BASE,
  ZERO_BASELINE,
  ZERO_BASELINE_MAX,
  baselineYearOf,
  optionalAt,
  pathwayOf,
  positive,
  scalesOf,
  scoredYearOf,
  weightOf,
  yearIndexOf,
  yearOf,
} from "./alignmentLayout";
import { powers } from "./power";

/**
 * Scores one row on the basis `intensity` or `emissions`; handles every case of the method.
 *
 * @param scopes bits 0 to 2 of the scopes to include
 */
export function scorePoint(call: usize, entity: i32, row: u32, basis: i32, scopes: i32, record: usize): void {
  if (beginRecord(call, entity, row, scopes, record) == 0) return;
  if (load<f64>(record, RECORD_BASELINE) < ZERO_BASELINE_MAX) {
    finishZeroBaseline(call, record, load<f64>(record, RECORD_PROJECTED) > 0);
    return;
  }
  const tables = load<u32>(call, CALL_TABLES),
    columns = load<u32>(call, CALL_COLUMNS);
  const baselineYear = baselineYearOf(columns, entity),
    year = yearOf(columns, row),
    scoredYear = scoredYearOf(tables, baselineYear, year);
  const growth = growthFactorOf(call, entity, row, basis, record),
    emissionsRatio =
      (positive(load<f64>(record, RECORD_PROJECTED)) / load<f64>(record, RECORD_BASELINE)) *
      convergenceFactorOf(call, entity, row, record),
    ratio = emissionsRatio * growth;

  const indices = tables + TABLE_YEARS + yearIndexOf(tables, scoredYear) * YEAR_BYTES;
  for (let anchor: usize = 0; anchor < 4; anchor++) {
    let sum: f64 = 0;
    for (let scope = 0; scope < 3; scope++) {
      const pathway = pathwayOf(columns, entity, scope);
      sum += perBaseShareOf(call, entity, scope, record) * load<f64>(indices + pathway * PATHWAY_BYTES + (anchor << 3));
    }
    store<f64>(record + (anchor << 3), sum, RECORD_RAW_ANCHORS);
  }
  prepareCurveOf(call, ANCHOR_GAP_MIN, record);
  let flags = (<i32>load<f64>(record, RECORD_FLAGS)) | implausibleChangeOf(call, entity, row, record);
  const curve = call + SCRATCH_CURVE;
  if (scoredYear == year) {
    if (growth != 1) flags |= growthDrivenAt(curve, ratio, emissionsRatio);
    store<f64>(record, <f64>flags, RECORD_FLAGS);
    finishRecord(
      call,
      record,
      ratio,
      ratio * (1 - RANGE_CHANGE),
      ratio * (1 + RANGE_CHANGE),
      ratio * (1 - SENSITIVE_CHANGE),
      ratio * (1 + SENSITIVE_CHANGE),
    );
    return;
  }
  const horizonYears = scoredYear - baselineYear,
    years = year - baselineYear,
    exponent = <f64>horizonYears / <f64>years,
    scales = scalesOf(tables, horizonYears, years),
    atHorizon = power(ratio, exponent);
  if (growth != 1) {
    flags |= growthDrivenAt(
      curve,
      min<f64>(atHorizon, RATIO_MAX),
      min<f64>(power(emissionsRatio, exponent), RATIO_MAX),
    );
  }
  store<f64>(record, <f64>flags, RECORD_FLAGS);
  finishRecord(
    call,
    record,
    min<f64>(atHorizon, RATIO_MAX),
    min<f64>(atHorizon * scaleOf(scales, 8, 1 - RANGE_CHANGE, exponent), RATIO_MAX),
    min<f64>(atHorizon * scaleOf(scales, 16, 1 + RANGE_CHANGE, exponent), RATIO_MAX),
    min<f64>(atHorizon * scaleOf(scales, 0, 1 - SENSITIVE_CHANGE, exponent), RATIO_MAX),
    min<f64>(atHorizon * scaleOf(scales, 24, 1 + SENSITIVE_CHANGE, exponent), RATIO_MAX),
  );
}

/** Returns GROWTH_DRIVEN if growth moves the temperature by more than NOTABLE_DIFFERENCE_C, else 0. */
function growthDrivenAt(curve: usize, q: f64, emissionsQ: f64): i32 {
  const difference = temperatureAt(curve, q) - temperatureAt(curve, emissionsQ);
  return Math.abs(difference) > NOTABLE_DIFFERENCE_C ? GROWTH_DRIVEN : 0;
}

/** Returns the power of a scale from the table, or computes it if there is none. */
function scaleOf(scales: usize, offset: usize, scale: f64, exponent: f64): f64 {
  return scales == 0 ? power(scale, exponent) : load<f64>(scales + offset);
}

function power(base: f64, exponent: f64): f64 {
  return f64x2.extract_lane(powers(f64x2.splat(base), f64x2.splat(exponent)), 0);
}

/** Returns a scope's share of the baseline, divided by the world's emissions index of the baseline year. */
export function perBaseShareOf(call: usize, entity: i32, scope: i32, record: usize): f64 {
  const tables = load<u32>(call, CALL_TABLES),
    columns = load<u32>(call, CALL_COLUMNS);
  const base = tables + TABLE_YEARS + yearIndexOf(tables, baselineYearOf(columns, entity)) * YEAR_BYTES;
  return (
    load<f64>(record + ((<usize>scope) << 3), RECORD_SHARES) *
    load<f64>(base + (pathwayOf(columns, entity, scope) << 3), YEAR_PER_BASE)
  );
}

/** Returns the factor of the convergence; 1 if convergence is off, or if it cannot be computed, which raises a flag. */
function convergenceFactorOf(call: usize, entity: i32, row: u32, record: usize): f64 {
  const gamma = load<f64>(call, CALL_GAMMA);
  if (!(gamma > 0)) return 1;
  const columns = load<u32>(call, CALL_COLUMNS),
    revenue = optionalAt(columns, COLUMN_CONVERGENCE_REVENUES, entity),
    usable = <i32>load<f64>(record, RECORD_USABLE);
  let reference: f64 = 0;
  for (let scope = 0; scope < 3; scope++) {
    if (!((usable >> scope) & 1)) continue;
    reference += weightOf(call, scope) * optionalAt(columns, COLUMN_REFERENCES + (scope << 2), entity);
  }
  if (!(revenue > 0 && revenue < Infinity && reference > 0 && reference < Infinity)) {
    store<f64>(record, <f64>((<i32>load<f64>(record, RECORD_FLAGS)) | REVENUE_UNUSABLE), RECORD_FLAGS);
    return 1;
  }
  const kappa = max<f64>(KAPPA_MIN, min<f64>(load<f64>(record, RECORD_BASELINE) / revenue / reference, KAPPA_MAX));
  store<f64>(record, kappa, RECORD_KAPPA);
  const baselineYear = baselineYearOf(columns, entity);
  const progress: f64 =
    baselineYear >= CONVERGENCE_YEAR
      ? 1
      : min<f64>(<f64>(yearOf(columns, row) - baselineYear) / <f64>(CONVERGENCE_YEAR - baselineYear), 1);
  return power(kappa, gamma * progress);
}

/** Separates the record's raw anchors, stores the result, and prepares the curve of the median at SCRATCH_CURVE. */
export function prepareCurveOf(call: usize, gap: f64, record: usize): void {
  const lanes = call + SCRATCH_CURVE;
  for (let anchor: usize = 0; anchor < 4; anchor++) {
    v128.store(lanes + (anchor << 4), v128.load64_splat(record + (anchor << 3), RECORD_RAW_ANCHORS), LANES_ANCHORS);
  }
  if (separateAnchors(lanes, f64x2.splat(gap)) != 0) {
    store<f64>(record, <f64>((<i32>load<f64>(record, RECORD_FLAGS)) | ANCHORS_CLOSE), RECORD_FLAGS);
  }
  for (let anchor: usize = 0; anchor < 4; anchor++) {
    store<f64>(record + (anchor << 3), load<f64>(lanes + (anchor << 4)), RECORD_ANCHORS);
  }
  prepareCurve(load<u32>(call, CALL_TABLES), CURVE_P50, lanes);
}

/**
 * Stores the value, its intervals and SENSITIVE. The curve of the median must be at SCRATCH_CURVE, which is
 * overwritten.
 *
 * @param q the ratio; the parameters after it are the ratios with emissions changed by -5, +5, -7.5 and +7.5 percent
 */
export function finishRecord(
  call: usize,
  record: usize,
  q: f64,
  rangeLow: f64,
  rangeHigh: f64,
  sensitiveLow: f64,
  sensitiveHigh: f64,
): void {
  const tables = load<u32>(call, CALL_TABLES),
    lanes = call + SCRATCH_CURVE;
  const temperature = temperatureAt(lanes, q);
  store<f64>(record, temperature, RECORD_TEMPERATURE);
  store<f64>(record, q, RECORD_RATIO_Q);
  store<f64>(record, temperatureAt(lanes, rangeLow), RECORD_RANGE_LOW);
  store<f64>(record, temperatureAt(lanes, rangeHigh), RECORD_RANGE_HIGH);
  if (
    temperatureAt(lanes, sensitiveHigh) - temperature > NOTABLE_DIFFERENCE_C ||
    temperature - temperatureAt(lanes, sensitiveLow) > NOTABLE_DIFFERENCE_C
  ) {
    store<f64>(record, <f64>((<i32>load<f64>(record, RECORD_FLAGS)) | SENSITIVE), RECORD_FLAGS);
  }
  prepareCurve(tables, CURVE_P10, lanes);
  store<f64>(record, temperatureAt(lanes, q), RECORD_CLIMATE_LOW);
  prepareCurve(tables, CURVE_P90, lanes);
  store<f64>(record, temperatureAt(lanes, q), RECORD_CLIMATE_HIGH);
}

/** Stores the result of a row whose baseline counts as zero: the lower bound, or none if there are later emissions. */
export function finishZeroBaseline(call: usize, record: usize, hasEmissions: bool): void {
  store<f64>(record, <f64>((<i32>load<f64>(record, RECORD_FLAGS)) | ZERO_BASELINE), RECORD_FLAGS);
  if (hasEmissions) return;
  const curves = load<u32>(call, CALL_TABLES) + TABLE_CURVES + CURVE_START;
  const lowerBound = load<f64>(curves + <usize>CURVE_P50 * CURVE_BYTES);
  store<f64>(record, lowerBound, RECORD_TEMPERATURE);
  store<f64>(record, lowerBound, RECORD_RANGE_LOW);
  store<f64>(record, lowerBound, RECORD_RANGE_HIGH);
  store<f64>(record, load<f64>(curves + <usize>CURVE_P10 * CURVE_BYTES), RECORD_CLIMATE_LOW);
  store<f64>(record, load<f64>(curves + <usize>CURVE_P90 * CURVE_BYTES), RECORD_CLIMATE_HIGH);
}
