import {
  ALL_GIVEN,
  ENTITY_BASELINE,
  ENTITY_GIVEN_SCOPES,
  ENTITY_INDEX,
  ENTITY_IS_ASCENDING,
  ENTITY_PATHWAY,
  ENTITY_PATHWAY_3,
  ENTITY_PER_GROWTH,
  ENTITY_PER_SCOPE,
  ENTITY_SHARES,
  POWER_OFFSET,
  ROW_ENTITY,
  ROW_EXPONENT,
  ROW_FLAGS,
  ROW_GROWTH,
  ROW_LIMITS,
  ROW_SCALES,
  ROW_YEAR,
} from "./alignmentBlocks";
import { prepareCurve, separateAnchors, temperaturesAt } from "./alignmentCurve";
import { flagDuplicates } from "./alignmentLines";
import {
  ALL_SCOPES,
  ANCHORS_CLOSE,
  ANCHOR_GAP_MIN,
  CALL_BASIS,
  CALL_COLUMNS,
  CALL_RESULTS,
  CALL_TABLES,
  CALL_WEIGHT_3,
  COLUMN_PROJECTED_REVENUES,
  COLUMN_PROJECTIONS,
  COUNTRY_GROWTH_MAX,
  COUNTRY_GROWTH_MIN,
  CURVE_MAX,
  CURVE_P10,
  CURVE_P90,
  CURVE_RISES,
  CURVE_START,
  EMISSIONS_MAX,
  ENTITY_BYTES,
  GROWTH_DRIVEN,
  GROWTH_LIMITED,
  NOTABLE_DIFFERENCE_C,
  RANGE_CHANGE,
  RATIO_MAX,
  RESULT_ANCHOR_SPREAD,
  RESULT_CLIMATE_HIGH,
  RESULT_CLIMATE_LOW,
  RESULT_FLAGS,
  RESULT_RANGE_HIGH,
  RESULT_RANGE_LOW,
  RESULT_TEMPERATURES,
  ROW_BYTES,
  SCOPE3_ABSENT,
  SCRATCH_BLOCK_ROWS,
  SCRATCH_CURVE,
  SCRATCH_ENTITIES,
  SCRATCH_RECORD,
  SENSITIVE,
  SENSITIVE_CHANGE,
  TABLE_CURVES,
  TABLE_LAST_RATIO,
  pairOf,
  projectionOf,
  rowsBegin,
  rowsEnd,
} from "./alignmentLayout";
import { scorePoint } from "./alignmentRecord";
import { storeResult } from "./alignmentResults";
import { powers } from "./power";

// Constants of the loop, f64[], loaded from memory at each use: V8 would otherwise rebuild a constant vector every time.
const CONSTANTS: usize = memory.data<f64>(
  [
    EMISSIONS_MAX,
    COUNTRY_GROWTH_MIN,
    COUNTRY_GROWTH_MAX,
    ANCHOR_GAP_MIN,
    1 - RANGE_CHANGE,
    1 + RANGE_CHANGE,
    1 - SENSITIVE_CHANGE,
    1 + SENSITIVE_CHANGE,
    NOTABLE_DIFFERENCE_C,
    // Smaller by more than the rounding of a difference.
    NOTABLE_DIFFERENCE_C * (1 - 1e-9),
    1,
  ],
  16,
);
const LOOP_EMISSIONS_MAX: usize = CONSTANTS;
const LOOP_GROWTH_MIN: usize = CONSTANTS + 8;
const LOOP_GROWTH_MAX: usize = CONSTANTS + 16;
const LOOP_GAP: usize = CONSTANTS + 24;
const LOOP_RANGE_LOW: usize = CONSTANTS + 32;
const LOOP_RANGE_HIGH: usize = CONSTANTS + 40;
const LOOP_SENSITIVE_LOW: usize = CONSTANTS + 48;
const LOOP_SENSITIVE_HIGH: usize = CONSTANTS + 56;
const LOOP_NOTABLE: usize = CONSTANTS + 64;
const LOOP_ALMOST_NOTABLE: usize = CONSTANTS + 72;
const LOOP_ONE: usize = CONSTANTS + 80;

/**
 * Scores the rows of a block, which prepareBlock has prepared, two at a time, one per lane. The two rows may belong to
 * different entities. Rows that are not covered by the common case are scored one by one; whether a row is one of them
 * does not depend on the other row of the pair.
 *
 * Formula  as scorePoint, in the same order of operations, so that both give the same bits
 * Returns  false if a row has invalid emissions
 */
export function scorePairs(call: usize, first: i32, endEntity: i32): bool {
  const tables = load<u32>(call, CALL_TABLES),
    columns = load<u32>(call, CALL_COLUMNS),
    results = load<u32>(call, CALL_RESULTS);
  const projections1 = load<u32>(columns, COLUMN_PROJECTIONS),
    projections2 = load<u32>(columns, COLUMN_PROJECTIONS + 4),
    projections3 = load<u32>(columns, COLUMN_PROJECTIONS + 8),
    revenues = load<u32>(columns, COLUMN_PROJECTED_REVENUES),
    temperatures = load<u32>(results, RESULT_TEMPERATURES),
    rangeLows = load<u32>(results, RESULT_RANGE_LOW),
    rangeHighs = load<u32>(results, RESULT_RANGE_HIGH),
    flags = load<u32>(results, RESULT_FLAGS),
    climateLows = load<u32>(results, RESULT_CLIMATE_LOW),
    spreads = load<u32>(results, RESULT_ANCHOR_SPREAD);
  const weight3 = load<f64>(call, CALL_WEIGHT_3),
    scopeMask = weight3 > 0 ? 63 : 15,
    curve = tables + TABLE_CURVES,
    lanes = call + SCRATCH_CURVE;
  const begin = rowsBegin(columns, first),
    end = rowsEnd(columns, endEntity - 1);
  const zero = f64x2.splat(0);

  let rowAt = call + SCRATCH_BLOCK_ROWS;
  for (let row = begin; row < end; row += 2, rowAt += 2 * ROW_BYTES) {
    const entityAt = <usize>load<u32>(rowAt, ROW_ENTITY),
      otherEntityAt = <usize>load<u32>(rowAt, ROW_BYTES + ROW_ENTITY);
    const offset = (<usize>row) << 3;
    const y1 = v128.load(projections1 + offset),
      y2 = v128.load(projections2 + offset),
      y3 = v128.load(projections3 + offset);
    const expected = load<i32>(entityAt, ENTITY_GIVEN_SCOPES),
      otherExpected = load<i32>(otherEntityAt, ENTITY_GIVEN_SCOPES);
    // The sign bit is set if no scope is negative, too large or missing.
    const isOrdinary = v128.andnot(
      f64x2.le(f64x2.add(f64x2.add(y1, y2), y3), v128.load64_splat(LOOP_EMISSIONS_MAX)),
      v128.or(v128.or(y1, y2), y3),
    );
    let r1 = y1,
      r2 = y2,
      r3 = y3,
      uncommonRows = 0;
    if ((i64x2.bitmask(isOrdinary) ^ 3) | (expected ^ ALL_GIVEN) | (otherExpected ^ ALL_GIVEN)) {
      // A row is common if it gives exactly the scopes of the baseline, none of them negative or too large.
      const is1 = f64x2.eq(y1, y1),
        is2 = f64x2.eq(y2, y2),
        is3 = f64x2.eq(y3, y3);
      r1 = v128.and(y1, is1);
      r2 = v128.and(y2, is2);
      r3 = v128.and(y3, is3);
      const isOutside = v128.or(
        f64x2.lt(f64x2.pmin(f64x2.pmin(r1, r2), r3), zero),
        f64x2.gt(f64x2.pmax(f64x2.pmax(r1, r2), r3), v128.load64_splat(LOOP_EMISSIONS_MAX)),
      );
      const given = (i64x2.bitmask(is1) | (i64x2.bitmask(is2) << 2) | (i64x2.bitmask(is3) << 4)) & scopeMask;
      uncommonRows =
        i32((given & ALL_GIVEN) != expected) |
        (i32(((given >> 1) & ALL_GIVEN) != otherExpected) << 1) |
        i64x2.bitmask(isOutside);
    }
    if (revenues != 0) {
      const revenue = v128.load(revenues + offset);
      uncommonRows |= i64x2.bitmask(f64x2.eq(revenue, revenue));
    }
    const rowMask = row + 1 < end ? 3 : 1;
    uncommonRows &= rowMask;
    if (uncommonRows == rowMask) {
      if (!scoreUncommonRows(call, row, rowAt, uncommonRows)) return false;
      continue;
    }

    const sum = f64x2.add(f64x2.add(r1, r2), f64x2.mul(f64x2.splat(weight3), r3));
    const emissionsRatio = f64x2.div(sum, pairOf(entityAt + ENTITY_BASELINE, otherEntityAt + ENTITY_BASELINE));
    const growthRatio = f64x2.mul(
      pairOf(<usize>load<u32>(rowAt, ROW_GROWTH), <usize>load<u32>(rowAt, ROW_BYTES + ROW_GROWTH)),
      pairOf(entityAt + ENTITY_PER_GROWTH, otherEntityAt + ENTITY_PER_GROWTH),
    );
    const growth = f64x2.pmax(
      v128.load64_splat(LOOP_GROWTH_MIN),
      f64x2.pmin(v128.load64_splat(LOOP_GROWTH_MAX), growthRatio),
    );
    const ratio = f64x2.mul(emissionsRatio, growth);
    let rowFlags = load<i32>(rowAt, ROW_FLAGS),
      otherRowFlags = load<i32>(rowAt, ROW_BYTES + ROW_FLAGS);
    const limited = i64x2.bitmask(f64x2.ne(growth, growthRatio));
    if (limited != 0) {
      rowFlags |= (limited & 1) * GROWTH_LIMITED;
      otherRowFlags |= (limited >> 1) * GROWTH_LIMITED;
    }

    // Rows with a ratio near or outside the limits of IMPLAUSIBLE_CHANGE are scored one by one. A ratio of 0 is
    // plausible.
    const limits = v128.load(<usize>load<u32>(rowAt, ROW_LIMITS)),
      otherLimits = v128.load(<usize>load<u32>(rowAt, ROW_BYTES + ROW_LIMITS)),
      limitMin = v128.shuffle<f64>(limits, otherLimits, 0, 2),
      limitMax = v128.shuffle<f64>(limits, otherLimits, 1, 3);
    const s1 = f64x2.mul(r1, pairOf(entityAt + ENTITY_PER_SCOPE, otherEntityAt + ENTITY_PER_SCOPE)),
      s2 = f64x2.mul(r2, pairOf(entityAt + ENTITY_PER_SCOPE + 8, otherEntityAt + ENTITY_PER_SCOPE + 8)),
      s3 = f64x2.mul(r3, pairOf(entityAt + ENTITY_PER_SCOPE + 16, otherEntityAt + ENTITY_PER_SCOPE + 16));
    const largest = f64x2.pmax(f64x2.pmax(f64x2.pmax(emissionsRatio, s1), s2), s3),
      smallest = f64x2.pmin(f64x2.pmin(f64x2.pmin(emissionsRatio, s1), s2), s3);
    if (v128.any_true(v128.or(f64x2.gt(largest, limitMax), f64x2.lt(smallest, limitMin)))) {
      // Zeros become NaN, which pmin skips.
      const smallestPositive = f64x2.pmin(
        f64x2.pmin(
          f64x2.pmin(limitMax, v128.or(emissionsRatio, f64x2.eq(emissionsRatio, zero))),
          v128.or(s1, f64x2.eq(r1, zero)),
        ),
        f64x2.pmin(f64x2.pmin(limitMax, v128.or(s2, f64x2.eq(r2, zero))), v128.or(s3, f64x2.eq(r3, zero))),
      );
      uncommonRows |=
        i64x2.bitmask(v128.or(f64x2.gt(largest, limitMax), f64x2.lt(smallestPositive, limitMin))) & rowMask;
    }

    // Anchors: two vectors per row, transposed to one vector per anchor.
    const yearAt = <usize>load<u32>(rowAt, ROW_YEAR),
      otherYearAt = <usize>load<u32>(rowAt, ROW_BYTES + ROW_YEAR);
    const at1 = yearAt + load<u32>(entityAt, ENTITY_PATHWAY),
      at3 = yearAt + load<u32>(entityAt, ENTITY_PATHWAY_3),
      otherAt1 = otherYearAt + load<u32>(otherEntityAt, ENTITY_PATHWAY),
      otherAt3 = otherYearAt + load<u32>(otherEntityAt, ENTITY_PATHWAY_3);
    const n1 = v128.load64_splat(entityAt, ENTITY_SHARES),
      n2 = v128.load64_splat(entityAt, ENTITY_SHARES + 8),
      n3 = v128.load64_splat(entityAt, ENTITY_SHARES + 16);
    const low = blend(n1, v128.load(at1), n2, v128.load(yearAt, POWER_OFFSET), n3, v128.load(at3)),
      high = blend(n1, v128.load(at1, 16), n2, v128.load(yearAt, POWER_OFFSET + 16), n3, v128.load(at3, 16));
    const o1 = v128.load64_splat(otherEntityAt, ENTITY_SHARES),
      o2 = v128.load64_splat(otherEntityAt, ENTITY_SHARES + 8),
      o3 = v128.load64_splat(otherEntityAt, ENTITY_SHARES + 16);
    const otherLow = blend(o1, v128.load(otherAt1), o2, v128.load(otherYearAt, POWER_OFFSET), o3, v128.load(otherAt3)),
      otherHigh = blend(
        o1,
        v128.load(otherAt1, 16),
        o2,
        v128.load(otherYearAt, POWER_OFFSET + 16),
        o3,
        v128.load(otherAt3, 16),
      );
    let x1 = v128.shuffle<f64>(low, otherLow, 0, 2),
      x2 = v128.shuffle<f64>(low, otherLow, 1, 3),
      x3 = v128.shuffle<f64>(high, otherHigh, 0, 2),
      x4 = v128.shuffle<f64>(high, otherHigh, 1, 3);
    const gaps = v128.load64_splat(LOOP_GAP);
    const isClose = v128.or(
      v128.or(f64x2.lt(x1, gaps), f64x2.lt(x2, f64x2.add(x1, gaps))),
      v128.or(f64x2.lt(x3, f64x2.add(x2, gaps)), f64x2.lt(x4, f64x2.add(x3, gaps))),
    );
    if (v128.any_true(isClose)) {
      v128.store(lanes, x1);
      v128.store(lanes, x2, 16);
      v128.store(lanes, x3, 32);
      v128.store(lanes, x4, 48);
      const moved = separateAnchors(lanes, gaps);
      rowFlags |= (moved & 1) * ANCHORS_CLOSE;
      otherRowFlags |= (moved >> 1) * ANCHORS_CLOSE;
      x1 = v128.load(lanes);
      x2 = v128.load(lanes, 16);
      x3 = v128.load(lanes, 32);
      x4 = v128.load(lanes, 48);
    }

    const rise1 = v128.load64_splat(curve, CURVE_RISES),
      rise2 = v128.load64_splat(curve, CURVE_RISES + 8),
      rise3 = v128.load64_splat(curve, CURVE_RISES + 16),
      rise4 = v128.load64_splat(curve, CURVE_RISES + 24);
    // Computes all five reciprocals with one division.
    const width2 = f64x2.sub(x2, x1),
      width3 = f64x2.sub(x3, x2),
      width4 = f64x2.sub(x4, x3);
    const widths12 = f64x2.mul(x1, width2),
      widths34 = f64x2.mul(width3, width4),
      widths1234 = f64x2.mul(widths12, widths34),
      perAll = f64x2.div(v128.load64_splat(LOOP_ONE), f64x2.mul(widths1234, x4)),
      per1234 = f64x2.mul(perAll, x4),
      per12 = f64x2.mul(per1234, widths34),
      per34 = f64x2.mul(per1234, widths12);
    const slope1 = f64x2.mul(rise1, f64x2.mul(per12, width2)),
      slope2 = f64x2.mul(rise2, f64x2.mul(per12, x1)),
      slope3 = f64x2.mul(rise3, f64x2.mul(per34, width4)),
      slope4 = f64x2.mul(rise4, f64x2.mul(per34, width3)),
      slope5 = f64x2.mul(v128.load64_splat(curve, CURVE_RISES + 32), f64x2.mul(perAll, widths1234));

    const last = f64x2.mul(x4, v128.load64_splat(tables, TABLE_LAST_RATIO));

    const scales = <usize>load<u32>(rowAt, ROW_SCALES),
      otherScales = <usize>load<u32>(rowAt, ROW_BYTES + ROW_SCALES);
    let q = ratio,
      emissionsQ = emissionsRatio,
      rangeLow = f64x2.mul(ratio, v128.load64_splat(LOOP_RANGE_LOW)),
      rangeHigh = f64x2.mul(ratio, v128.load64_splat(LOOP_RANGE_HIGH)),
      sensitiveLow = f64x2.mul(ratio, v128.load64_splat(LOOP_SENSITIVE_LOW)),
      sensitiveHigh = f64x2.mul(ratio, v128.load64_splat(LOOP_SENSITIVE_HIGH));
    if ((scales | otherScales) != 0) {
      const isShort = i64x2.neg(i64x2.replace_lane(i64x2.splat(<i64>(scales != 0)), 1, <i64>(otherScales != 0)));
      const exponents = v128.bitselect(
        pairOf(rowAt + ROW_EXPONENT, rowAt + ROW_BYTES + ROW_EXPONENT),
        f64x2.splat(1),
        isShort,
      );
      const cap = f64x2.splat(RATIO_MAX),
        atHorizon = powers(ratio, exponents);
      // A row that is not before its horizon reads the scales of the other row; its lane is not selected.
      const scalesAt = scales != 0 ? scales : otherScales,
        otherScalesAt = otherScales != 0 ? otherScales : scales;
      const scales1 = v128.load(scalesAt),
        scales2 = v128.load(scalesAt, 16),
        otherScales1 = v128.load(otherScalesAt),
        otherScales2 = v128.load(otherScalesAt, 16);
      q = v128.bitselect(f64x2.pmin(cap, atHorizon), q, isShort);
      emissionsQ = v128.bitselect(f64x2.pmin(cap, powers(emissionsRatio, exponents)), emissionsQ, isShort);
      sensitiveLow = v128.bitselect(
        f64x2.pmin(cap, f64x2.mul(atHorizon, v128.shuffle<f64>(scales1, otherScales1, 0, 2))),
        sensitiveLow,
        isShort,
      );
      rangeLow = v128.bitselect(
        f64x2.pmin(cap, f64x2.mul(atHorizon, v128.shuffle<f64>(scales1, otherScales1, 1, 3))),
        rangeLow,
        isShort,
      );
      rangeHigh = v128.bitselect(
        f64x2.pmin(cap, f64x2.mul(atHorizon, v128.shuffle<f64>(scales2, otherScales2, 0, 2))),
        rangeHigh,
        isShort,
      );
      sensitiveHigh = v128.bitselect(
        f64x2.pmin(cap, f64x2.mul(atHorizon, v128.shuffle<f64>(scales2, otherScales2, 1, 3))),
        sensitiveHigh,
        isShort,
      );
    }

    const temperature = curveAt(q, curve, x1, x2, x3, x4, last, slope1, slope2, slope3, slope4, slope5);
    v128.store(temperatures + offset, temperature);
    const lowTemperature = curveAt(rangeLow, curve, x1, x2, x3, x4, last, slope1, slope2, slope3, slope4, slope5),
      highTemperature = curveAt(rangeHigh, curve, x1, x2, x3, x4, last, slope1, slope2, slope3, slope4, slope5);
    v128.store(rangeLows + offset, lowTemperature);
    v128.store(rangeHighs + offset, highTemperature);
    // No two ratios differ in temperature by more than their distance times the steepest slope.
    const notable = v128.load64_splat(LOOP_NOTABLE),
      almostNotable = v128.load64_splat(LOOP_ALMOST_NOTABLE),
      steepest = f64x2.pmax(f64x2.pmax(slope1, slope2), f64x2.pmax(f64x2.pmax(slope3, slope4), slope5));
    const growthMove = f64x2.mul(f64x2.abs(f64x2.sub(q, emissionsQ)), steepest);
    if (v128.any_true(f64x2.gt(growthMove, almostNotable))) {
      const ofEmissions = curveAt(emissionsQ, curve, x1, x2, x3, x4, last, slope1, slope2, slope3, slope4, slope5),
        driven = i64x2.bitmask(f64x2.gt(f64x2.abs(f64x2.sub(temperature, ofEmissions)), notable));
      rowFlags |= (driven & 1) * GROWTH_DRIVEN;
      otherRowFlags |= (driven >> 1) * GROWTH_DRIVEN;
    }
    const sensitiveMove = f64x2.pmax(
      f64x2.add(f64x2.sub(highTemperature, temperature), f64x2.mul(steepest, f64x2.sub(sensitiveHigh, rangeHigh))),
      f64x2.add(f64x2.sub(temperature, lowTemperature), f64x2.mul(steepest, f64x2.sub(rangeLow, sensitiveLow))),
    );
    if (v128.any_true(f64x2.gt(sensitiveMove, almostNotable))) {
      const lower = curveAt(sensitiveLow, curve, x1, x2, x3, x4, last, slope1, slope2, slope3, slope4, slope5),
        upper = curveAt(sensitiveHigh, curve, x1, x2, x3, x4, last, slope1, slope2, slope3, slope4, slope5),
        sensitive = i64x2.bitmask(
          f64x2.gt(f64x2.pmax(f64x2.sub(upper, temperature), f64x2.sub(temperature, lower)), notable),
        );
      rowFlags |= (sensitive & 1) * SENSITIVE;
      otherRowFlags |= (sensitive >> 1) * SENSITIVE;
    }
    store<i32>(flags + (offset >> 1), rowFlags);
    store<i32>(flags + (offset >> 1), otherRowFlags, 4);
    if (spreads != 0) v128.store(spreads + offset, f64x2.sub(x4, x1));
    if (climateLows != 0) {
      v128.store(lanes, x1);
      v128.store(lanes, x2, 16);
      v128.store(lanes, x3, 32);
      v128.store(lanes, x4, 48);
      prepareCurve(tables, CURVE_P10, lanes);
      v128.store(climateLows + offset, temperaturesAt(lanes, q));
      prepareCurve(tables, CURVE_P90, lanes);
      v128.store(load<u32>(results, RESULT_CLIMATE_HIGH) + offset, temperaturesAt(lanes, q));
    }
    if (uncommonRows != 0 && !scoreUncommonRows(call, row, rowAt, uncommonRows)) return false;
  }
  for (let entity = first, entityAt = call + SCRATCH_ENTITIES; entity < endEntity; entity++, entityAt += ENTITY_BYTES) {
    if (load<i32>(entityAt, ENTITY_IS_ASCENDING)) continue;
    flagDuplicates(call, rowsBegin(columns, entity), rowsEnd(columns, entity));
  }
  return true;
}

/** Returns n1 x1 + n2 x2 + n3 x3, added in this order. */
function blend(n1: v128, x1: v128, n2: v128, x2: v128, n3: v128, x3: v128): v128 {
  return f64x2.add(f64x2.add(f64x2.mul(n1, x1), f64x2.mul(n2, x2)), f64x2.mul(n3, x3));
}

/** Returns the temperatures of two ratios, as temperaturesAt does, from anchors and slopes in registers. */
function curveAt(
  q: v128,
  curve: usize,
  x1: v128,
  x2: v128,
  x3: v128,
  x4: v128,
  last: v128,
  slope1: v128,
  slope2: v128,
  slope3: v128,
  slope4: v128,
  slope5: v128,
): v128 {
  const u1 = f64x2.pmin(q, x1),
    u2 = f64x2.pmin(q, x2),
    u3 = f64x2.pmin(q, x3),
    u4 = f64x2.pmin(q, x4),
    u5 = f64x2.pmin(q, last);
  const below1 = f64x2.add(v128.load64_splat(curve, CURVE_START), f64x2.mul(u1, slope1)),
    below2 = f64x2.add(below1, f64x2.mul(f64x2.sub(u2, u1), slope2)),
    below3 = f64x2.add(below2, f64x2.mul(f64x2.sub(u3, u2), slope3)),
    below4 = f64x2.add(below3, f64x2.mul(f64x2.sub(u4, u3), slope4)),
    below5 = f64x2.add(below4, f64x2.mul(f64x2.sub(u5, u4), slope5));
  return f64x2.pmin(below5, v128.load64_splat(curve, CURVE_MAX));
}

/** Scores, one by one, the rows of a pair whose bits in `lanes` are set. Returns false if their emissions are invalid. */
function scoreUncommonRows(call: usize, row: u32, rowAt: usize, lanes: i32): bool {
  const columns = load<u32>(call, CALL_COLUMNS);
  for (let lane: u32 = 0; lane < 2; lane++) {
    if (!((lanes >> lane) & 1)) continue;
    for (let scope = 0; scope < 3; scope++) {
      if (Math.abs(projectionOf(columns, row + lane, scope)) > EMISSIONS_MAX) return false;
    }
    const laneAt = rowAt + <usize>lane * ROW_BYTES,
      record = call + SCRATCH_RECORD;
    const entity = load<i32>(<usize>load<u32>(laneAt, ROW_ENTITY), ENTITY_INDEX);
    scorePoint(call, entity, row + lane, load<i32>(call, CALL_BASIS), ALL_SCOPES, record);
    storeResult(call, row + lane, record, load<i32>(laneAt, ROW_FLAGS) & SCOPE3_ABSENT);
  }
  return true;
}
