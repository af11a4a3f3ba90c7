import { extrapolateToHorizon, separateAnchors } from "./alignmentAnchors";
import { indexAndFlagDuplicates } from "./alignmentCumulative";
import {
  ENTITY_ALLOWANCE,
  ROW_ALLOWANCE,
  ENTITY_BASELINE_YEAR,
  ROW_EXPONENT,
  ENTITY_FLAGS,
  ENTITY_IS_ASCENDING,
  ENTITY_PATHWAY,
  ENTITY_PATHWAY_3,
  ENTITY_PER_TONNE,
  ENTITY_SHARE_1,
  ENTITY_SHARE_2,
  ENTITY_SHARE_3,
  ENTITY_STATE,
  ROW_SUM,
  IS_COMPLETE,
  IS_REGULAR,
  IS_SIMPLE,
  IS_WITHIN_TABLES,
  LOOP_ANCHOR_GAP,
  LOOP_CHECK_UNITS_ABOVE,
  LOOP_CHECK_UNITS_BELOW,
  LOOP_EMISSIONS_MAX,
  LOOP_FIRST_YEAR,
  LOOP_HORIZON_YEAR,
  LOOP_LAST_YEAR,
  LOOP_ONE,
  LOOP_TEMPERATURE_MAX,
  LOOP_WEIGHT_3,
  POWER_OFFSET,
} from "./alignmentEntities";
import { entityIndexOf, prepareEntityForRow, scoreRowPairSlowly } from "./alignmentFallback";
import {
  ALL_SCOPES,
  ANCHORS_CLOSE,
  BEYOND_TABLE,
  CHECK_UNITS,
  COLUMN_PROJECTIONS,
  COLUMN_STARTS,
  COLUMN_YEARS,
  ENTITY_BYTES,
  SCRATCH_ANCHORS,
  SCRATCH_BLOCK_ROWS,
  SCRATCH_ENTITIES,
  SCRATCH_LOOP_CONSTANTS,
  SCRATCH_ROW_ENTITIES,
  SHORTEST_HORIZON_YEARS,
  SHORT_HORIZON,
  TABLE_SEGMENTS,
  TABLE_YEARS,
  YEAR_BYTES,
  clampYear,
  isValidRow,
  pairOf,
} from "./alignmentLayout";
import { scorePoint, storeResult } from "./alignmentRecord";

/**
 * Scores the rows of a block of entities that `prepareEntities` has prepared.
 *
 * @returns false if a row is invalid; the block must then be scored row by row
 */
export function scoreRows(
  tables: usize,
  columns: usize,
  first: i32,
  endEntity: i32,
  weight3: f64,
  basis: i32,
  scratch: usize,
  temperatures: usize,
  flags: usize,
): bool {
  const starts = load<u32>(columns, COLUMN_STARTS),
    projections1 = load<u32>(columns, COLUMN_PROJECTIONS),
    projections2 = load<u32>(columns, COLUMN_PROJECTIONS + 4),
    projections3 = load<u32>(columns, COLUMN_PROJECTIONS + 8),
    years = load<u32>(columns, COLUMN_YEARS);
  const firstYear = load<i32>(scratch, SCRATCH_LOOP_CONSTANTS + LOOP_FIRST_YEAR),
    lastYear = load<i32>(scratch, SCRATCH_LOOP_CONSTANTS + LOOP_LAST_YEAR),
    horizonYear = load<i32>(scratch, SCRATCH_LOOP_CONSTANTS + LOOP_HORIZON_YEAR);
  const yearsAt = tables + TABLE_YEARS;
  const columnsBegin = load<u32>(starts);
  const begin = load<u32>(starts + ((<usize>first) << 2)) - columnsBegin,
    end = load<u32>(starts + ((<usize>endEntity) << 2)) - columnsBegin;
  const constants = scratch + SCRATCH_LOOP_CONSTANTS,
    segments = tables + TABLE_SEGMENTS;
  const zero = f64x2.splat(0);

  // Two rows at a time, one per lane, which belong to one entity or to two; an odd last row is scored separately.
  let rowAt = scratch + SCRATCH_BLOCK_ROWS;
  let row = begin;
  for (; row + 1 < end; row += 2, rowAt += 16) {
    let entityAt = <usize>load<u32>(rowAt, 4),
      otherEntityAt = <usize>load<u32>(rowAt, 12);
    const yearAt = <usize>load<u32>(rowAt),
      otherYearAt = <usize>load<u32>(rowAt, 8);
    const at = (<usize>row) << 3;
    const y1 = v128.load(projections1 + at),
      y2 = v128.load(projections2 + at),
      y3 = v128.load(projections3 + at);
    const c3 = f64x2.mul(y3, v128.load(constants, LOOP_WEIGHT_3)),
      sum12 = f64x2.add(y1, y2);
    let sum = f64x2.add(sum12, c3);
    // The sign bit is set if no scope is negative, too large or missing.
    const isOrdinary = v128.andnot(
      f64x2.le(f64x2.add(sum12, y3), v128.load(constants, LOOP_EMISSIONS_MAX)),
      v128.or(v128.or(y1, y2), y3),
    );
    const state = load<i32>(entityAt, ENTITY_STATE),
      otherState = load<i32>(otherEntityAt, ENTITY_STATE),
      isSimple = (state & otherState & i64x2.bitmask(isOrdinary)) == IS_SIMPLE;
    let allowances = pairOf(
      yearAt + load<u32>(entityAt, ENTITY_ALLOWANCE),
      otherYearAt + load<u32>(otherEntityAt, ENTITY_ALLOWANCE),
    );
    let rowFlags = load<i32>(entityAt, ENTITY_FLAGS) | (load<i32>(otherEntityAt, ENTITY_FLAGS) << 16);
    let exponents = zero;
    if (!isSimple) {
      // Two exceptions are still handled two rows at a time: scopes that the baseline lacks as well, and years outside
      // the tables or before the horizon. All others are handled row by row.
      const is1 = f64x2.eq(y1, y1),
        is2 = f64x2.eq(y2, y2),
        is3 = f64x2.eq(y3, y3);
      const r1 = v128.and(y1, is1),
        r2 = v128.and(y2, is2),
        r3 = v128.and(y3, is3);
      const r12 = f64x2.add(r1, r2);
      const isRegular = v128.and(
        f64x2.ge(f64x2.pmin(f64x2.pmin(r1, r2), r3), zero),
        f64x2.le(f64x2.add(r12, r3), v128.load(constants, LOOP_EMISSIONS_MAX)),
      );
      const completeEntities = i32((state & IS_COMPLETE) != 0) | (i32((otherState & IS_COMPLETE) != 0) << 1),
        completeRows = i64x2.bitmask(f64x2.eq(sum, sum));
      if ((state & otherState & IS_REGULAR) != 0 && completeEntities == completeRows && i64x2.all_true(isRegular)) {
        sum = f64x2.add(r12, v128.and(c3, is3));
        if (!(state & otherState & IS_WITHIN_TABLES)) {
          const year = load<i32>(years + (at >> 1)),
            otherYear = load<i32>(years + (at >> 1), 4);
          const baselineYear = load<i32>(entityAt, ENTITY_BASELINE_YEAR),
            otherBaselineYear = load<i32>(otherEntityAt, ENTITY_BASELINE_YEAR);
          const scoredYear = max(max(year, baselineYear + SHORTEST_HORIZON_YEARS), horizonYear),
            otherScoredYear = max(max(otherYear, otherBaselineYear + SHORTEST_HORIZON_YEARS), horizonYear);
          allowances = pairOf(
            yearsAt +
              <usize>(clampYear(year, firstYear, lastYear) - firstYear) * YEAR_BYTES +
              load<u32>(entityAt, ENTITY_ALLOWANCE),
            yearsAt +
              <usize>(clampYear(otherYear, firstYear, lastYear) - firstYear) * YEAR_BYTES +
              load<u32>(otherEntityAt, ENTITY_ALLOWANCE),
          );
          exponents = f64x2.div(
            pairOfYears(scoredYear - baselineYear, otherScoredYear - otherBaselineYear),
            pairOfYears(year - baselineYear, otherYear - otherBaselineYear),
          );
          rowFlags |=
            (i32(scoredYear > year) * SHORT_HORIZON) |
            (i32(otherScoredYear > otherYear) * (SHORT_HORIZON << 16)) |
            (i32(scoredYear > lastYear) * BEYOND_TABLE) |
            (i32(otherScoredYear > lastYear) * (BEYOND_TABLE << 16));
        }
      } else {
        const entity = entityIndexOf(scratch, first, entityAt),
          other = entityIndexOf(scratch, first, otherEntityAt);
        if (!isValidRow(columns, entity, row) || !isValidRow(columns, other, row + 1)) return false;
        if (
          !prepareEntityForRow(tables, columns, entity, row, weight3, entityAt, scratch + SCRATCH_ROW_ENTITIES, 0) ||
          !prepareEntityForRow(
            tables,
            columns,
            other,
            row + 1,
            weight3,
            otherEntityAt,
            scratch + SCRATCH_ROW_ENTITIES,
            1,
          )
        ) {
          scoreRowPairSlowly(tables, columns, first, row, weight3, basis, scratch, rowAt, temperatures, flags);
          continue;
        }
        entityAt = scratch + SCRATCH_ROW_ENTITIES;
        otherEntityAt = entityAt + ENTITY_BYTES;
        sum = v128.load(entityAt, ROW_SUM);
        allowances = v128.load(entityAt, ROW_ALLOWANCE);
        exponents = v128.load(entityAt, ROW_EXPONENT);
        rowFlags = load<i32>(entityAt, ENTITY_FLAGS) | (load<i32>(otherEntityAt, ENTITY_FLAGS) << 16);
      }
    }
    const ratio = f64x2.mul(
      f64x2.mul(sum, allowances),
      pairOf(entityAt + ENTITY_PER_TONNE, otherEntityAt + ENTITY_PER_TONNE),
    );
    let q = ratio;
    if (!isSimple) {
      const isShort = f64x2.gt(exponents, v128.load(constants, LOOP_ONE));
      if (i64x2.bitmask(isShort) != 0) q = v128.bitselect(extrapolateToHorizon(ratio, exponents), ratio, isShort);
    }

    // Transpose the anchors from two vectors per row to one vector per anchor.
    const at1 = yearAt + load<u32>(entityAt, ENTITY_PATHWAY),
      at3 = yearAt + load<u32>(entityAt, ENTITY_PATHWAY_3),
      otherAt1 = otherYearAt + load<u32>(otherEntityAt, ENTITY_PATHWAY),
      otherAt3 = otherYearAt + load<u32>(otherEntityAt, ENTITY_PATHWAY_3);
    const n1 = v128.load(entityAt, ENTITY_SHARE_1),
      n2 = v128.load(entityAt, ENTITY_SHARE_2),
      n3 = v128.load(entityAt, ENTITY_SHARE_3);
    const low = blend(n1, v128.load(at1), n2, v128.load(yearAt, POWER_OFFSET), n3, v128.load(at3)),
      high = blend(n1, v128.load(at1, 16), n2, v128.load(yearAt, POWER_OFFSET + 16), n3, v128.load(at3, 16));
    const o1 = v128.load(otherEntityAt, ENTITY_SHARE_1),
      o2 = v128.load(otherEntityAt, ENTITY_SHARE_2),
      o3 = v128.load(otherEntityAt, ENTITY_SHARE_3);
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
    const gaps = v128.load(constants, LOOP_ANCHOR_GAP);
    const isClose = v128.or(
        v128.or(f64x2.lt(x1, gaps), f64x2.lt(x2, f64x2.add(x1, gaps))),
        v128.or(f64x2.lt(x3, f64x2.add(x2, gaps)), f64x2.lt(x4, f64x2.add(x3, gaps))),
      ),
      isSuspectRatio = v128.or(
        f64x2.lt(ratio, v128.load(constants, LOOP_CHECK_UNITS_BELOW)),
        f64x2.gt(ratio, v128.load(constants, LOOP_CHECK_UNITS_ABOVE)),
      );
    if (i64x2.bitmask(v128.or(isClose, isSuspectRatio)) != 0) {
      rowFlags |=
        flagsOfPair(i64x2.bitmask(v128.and(isSuspectRatio, f64x2.gt(ratio, zero))), CHECK_UNITS) |
        flagsOfPair(i64x2.bitmask(isClose), ANCHORS_CLOSE);
      if (i64x2.bitmask(isClose) != 0) {
        const anchors = scratch + SCRATCH_ANCHORS;
        v128.store(anchors, x1);
        v128.store(anchors, x2, 16);
        v128.store(anchors, x3, 32);
        v128.store(anchors, x4, 48);
        separateAnchors(anchors, gaps);
        x1 = v128.load(anchors);
        x2 = v128.load(anchors, 16);
        x3 = v128.load(anchors, 32);
        x4 = v128.load(anchors, 48);
        // The search below requires anchors of at least 0.
        if (i64x2.bitmask(f64x2.lt(x1, zero)) != 0) {
          scoreRowPairSlowly(tables, columns, first, row, weight3, basis, scratch, rowAt, temperatures, flags);
          continue;
        }
      }
    }
    store<u32>(flags + ((<usize>row) << 1), <u32>rowFlags);

    // Find the segment of each row: the anchors ascend, so its ends are the largest anchor below q and the smallest of
    // the others. A masked anchor is 0 for pmax, and all ones (NaN, which pmin skips) for pmin. A true comparison is
    // -1, so the sum of the comparisons is minus the number of anchors below q.
    const below1 = f64x2.lt(x1, q),
      below2 = f64x2.lt(x2, q),
      below3 = f64x2.lt(x3, q),
      below4 = f64x2.lt(x4, q);
    const twiceLast = f64x2.add(x4, x4);
    const from = f64x2.pmax(
        f64x2.pmax(v128.and(x1, below1), v128.and(x2, below2)),
        f64x2.pmax(v128.and(x3, below3), v128.and(x4, below4)),
      ),
      to = f64x2.pmin(
        f64x2.pmin(f64x2.pmin(twiceLast, v128.or(x4, below4)), v128.or(x3, below3)),
        f64x2.pmin(f64x2.pmin(twiceLast, v128.or(x2, below2)), v128.or(x1, below1)),
      );
    const minusSegments = i64x2.add(i64x2.add(below1, below2), i64x2.add(below3, below4));
    const segment = v128.load(segments - <usize>(i32x4.extract_lane(minusSegments, 0) << 4)),
      otherSegment = v128.load(segments - <usize>(i32x4.extract_lane(minusSegments, 2) << 4));
    const weight = f64x2.div(f64x2.sub(q, from), f64x2.sub(to, from));
    const temperature = f64x2.pmin(
      v128.load(constants, LOOP_TEMPERATURE_MAX),
      f64x2.add(
        v128.shuffle<f64>(segment, otherSegment, 0, 2),
        f64x2.mul(v128.shuffle<f64>(segment, otherSegment, 1, 3), weight),
      ),
    );
    v128.store(temperatures + at, temperature);
  }
  if (row < end) {
    const entity = entityIndexOf(scratch, first, <usize>load<u32>(rowAt, 4));
    if (!isValidRow(columns, entity, row)) return false;
    scorePoint(tables, columns, entity, row, basis, ALL_SCOPES, weight3, 0, scratch, scratch);
    storeResult(scratch, row, temperatures, flags);
  }
  for (
    let entity = first, entityAt = scratch + SCRATCH_ENTITIES;
    entity < endEntity;
    entity++, entityAt += ENTITY_BYTES
  ) {
    if (!load<i32>(entityAt, ENTITY_IS_ASCENDING)) indexAndFlagDuplicates(columns, entity, scratch, flags);
  }
  return true;
}

/** Returns `flag` for each lane whose bit is set; the flag of the second lane is 16 bits higher. */
function flagsOfPair(bits: i32, flag: i32): i32 {
  return ((bits | (bits << 15)) & 0x10001) * flag;
}

/** Converts two integers to the lanes of a vector. */
function pairOfYears(first: i32, second: i32): v128 {
  return f64x2.convert_low_i32x4_s(i32x4.replace_lane(i32x4.splat(first), 1, second));
}

/** Returns n1 x1 + n2 x2 + n3 x3, added in this order. */
function blend(n1: v128, x1: v128, n2: v128, x2: v128, n3: v128, x3: v128): v128 {
  return f64x2.add(f64x2.add(f64x2.mul(n1, x1), f64x2.mul(n2, x2)), f64x2.mul(n3, x3));
}
