import { afterHorizon, setApart } from "./alignmentAnchors";
import { flagDuplicates } from "./alignmentCumulative";
import {
  ENTITY_ALLOWANCE,
  ENTITY_ALLOWED,
  ENTITY_BASELINE_YEAR,
  ENTITY_EXPONENTS,
  ENTITY_FLAGS,
  ENTITY_GIVEN,
  ENTITY_IS_ASCENDING,
  ENTITY_PATHWAY,
  ENTITY_PATHWAY_3,
  ENTITY_PER_TONNE,
  ENTITY_SHARE_1,
  ENTITY_SHARE_2,
  ENTITY_SHARE_3,
  ENTITY_STATE,
  ENTITY_SUM,
  IS_COMPLETE,
  IS_IN_REACH,
  IS_REGULAR,
  IS_SIMPLE,
  KEPT_FIRST_YEAR,
  KEPT_GAP,
  KEPT_HORIZON_YEAR,
  KEPT_LARGE,
  KEPT_LAST_YEAR,
  KEPT_MOST,
  KEPT_ONE,
  KEPT_SMALL,
  KEPT_WARMEST,
  KEPT_WEIGHT_3,
  POWER_AT,
} from "./alignmentEntities";
import {
  ALL_SCOPES,
  ANCHORS_CLOSE,
  BEYOND_TABLE,
  CHECK_UNITS,
  COLUMN_BASELINE_YEARS,
  COLUMN_PROJECTIONS,
  COLUMN_STARTS,
  COLUMN_YEARS,
  ENTITY_BYTES,
  NEGATIVE_SCOPE,
  SCOPE_MISSING,
  SCRATCH_ANCHORS,
  SCRATCH_BLOCK_ROWS,
  SCRATCH_ENTITIES,
  SCRATCH_KEPT,
  SCRATCH_NARROWED,
  SHORTEST_HORIZON_YEARS,
  SHORT_HORIZON,
  TABLE_FIRST_YEAR,
  TABLE_LAST_YEAR,
  TABLE_SEGMENTS,
  TABLE_YEARS,
  YEAR_BASES_BYTES,
  YEAR_BYTES,
  ZERO_EMISSIONS,
  baselineOf,
  clampYear,
  givenOf,
  isRow,
  pairOf,
  perBaseTable,
  positive,
  projectionOf,
  scoredYearOf,
} from "./alignmentLayout";
import { keep, scorePoint } from "./alignmentRow";

/**
 * Scores the rows of a block of entities that `prepareEntities` has written down.
 *
 * @returns false when a row holds what it may not
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
  const firstYear = load<i32>(scratch, SCRATCH_KEPT + KEPT_FIRST_YEAR),
    lastYear = load<i32>(scratch, SCRATCH_KEPT + KEPT_LAST_YEAR),
    horizonYear = load<i32>(scratch, SCRATCH_KEPT + KEPT_HORIZON_YEAR);
  const yearsAt = tables + TABLE_YEARS;
  const columnsBegin = load<u32>(starts);
  const begin = load<u32>(starts + ((<usize>first) << 2)) - columnsBegin,
    end = load<u32>(starts + ((<usize>endEntity) << 2)) - columnsBegin;
  const kept = scratch + SCRATCH_KEPT,
    segments = tables + TABLE_SEGMENTS;
  const zero = f64x2.splat(0);

  // Two rows at a time, one in each half of a vector, of one entity or of two; the last of an odd number by itself.
  let rowAt = scratch + SCRATCH_BLOCK_ROWS;
  let row = begin;
  for (; row + 1 < end; row += 2, rowAt += 16) {
    let a = <usize>load<u32>(rowAt, 4),
      b = <usize>load<u32>(rowAt, 12);
    const inYear = <usize>load<u32>(rowAt),
      inOtherYear = <usize>load<u32>(rowAt, 8);
    const at = (<usize>row) << 3;
    const y1 = v128.load(projections1 + at),
      y2 = v128.load(projections2 + at),
      y3 = v128.load(projections3 + at);
    const c3 = f64x2.mul(y3, v128.load(kept, KEPT_WEIGHT_3)),
      both = f64x2.add(y1, y2);
    let sum = f64x2.add(both, c3);
    // A sign bit that stays: no scope is negative, too large or missing.
    const isUsual = v128.andnot(
      f64x2.le(f64x2.add(both, y3), v128.load(kept, KEPT_MOST)),
      v128.or(v128.or(y1, y2), y3),
    );
    const state = load<i32>(a, ENTITY_STATE),
      otherState = load<i32>(b, ENTITY_STATE),
      isSimple = (state & otherState & i64x2.bitmask(isUsual)) == IS_SIMPLE;
    let allowed = pairOf(inYear + load<u32>(a, ENTITY_ALLOWANCE), inOtherYear + load<u32>(b, ENTITY_ALLOWANCE));
    let found = load<i32>(a, ENTITY_FLAGS) | (load<i32>(b, ENTITY_FLAGS) << 16);
    let exponents = zero;
    if (!isSimple) {
      // Scopes that the baseline lacks too are left out, and years out of reach scored as at their horizon, still
      // side by side; all other oddities row by row.
      const is1 = f64x2.eq(y1, y1),
        is2 = f64x2.eq(y2, y2),
        is3 = f64x2.eq(y3, y3);
      const r1 = v128.and(y1, is1),
        r2 = v128.and(y2, is2),
        r3 = v128.and(y3, is3);
      const r12 = f64x2.add(r1, r2);
      const isRegular = v128.and(
        f64x2.ge(f64x2.pmin(f64x2.pmin(r1, r2), r3), zero),
        f64x2.le(f64x2.add(r12, r3), v128.load(kept, KEPT_MOST)),
      );
      const complete = i32((state & IS_COMPLETE) != 0) | (i32((otherState & IS_COMPLETE) != 0) << 1),
        completeNow = i64x2.bitmask(f64x2.eq(sum, sum));
      if ((state & otherState & IS_REGULAR) != 0 && complete == completeNow && i64x2.all_true(isRegular)) {
        sum = f64x2.add(r12, v128.and(c3, is3));
        if (!(state & otherState & IS_IN_REACH)) {
          const year = load<i32>(years + (at >> 1)),
            otherYear = load<i32>(years + (at >> 1), 4);
          const baselineYear = load<i32>(a, ENTITY_BASELINE_YEAR),
            otherBaselineYear = load<i32>(b, ENTITY_BASELINE_YEAR);
          const scoredYear = max(max(year, baselineYear + SHORTEST_HORIZON_YEARS), horizonYear),
            otherScoredYear = max(max(otherYear, otherBaselineYear + SHORTEST_HORIZON_YEARS), horizonYear);
          allowed = pairOf(
            yearsAt +
              <usize>(clampYear(year, firstYear, lastYear) - firstYear) * YEAR_BYTES +
              load<u32>(a, ENTITY_ALLOWANCE),
            yearsAt +
              <usize>(clampYear(otherYear, firstYear, lastYear) - firstYear) * YEAR_BYTES +
              load<u32>(b, ENTITY_ALLOWANCE),
          );
          exponents = f64x2.div(
            pairOfYears(scoredYear - baselineYear, otherScoredYear - otherBaselineYear),
            pairOfYears(year - baselineYear, otherYear - otherBaselineYear),
          );
          found |=
            (i32(scoredYear > year) * SHORT_HORIZON) |
            (i32(otherScoredYear > otherYear) * (SHORT_HORIZON << 16)) |
            (i32(scoredYear > lastYear) * BEYOND_TABLE) |
            (i32(otherScoredYear > lastYear) * (BEYOND_TABLE << 16));
        }
      } else {
        const entity = entityAt(scratch, first, a),
          other = entityAt(scratch, first, b);
        if (!isRow(columns, entity, row) || !isRow(columns, other, row + 1)) return false;
        if (
          !narrowEntity(tables, columns, entity, row, weight3, a, scratch + SCRATCH_NARROWED, 0) ||
          !narrowEntity(tables, columns, other, row + 1, weight3, b, scratch + SCRATCH_NARROWED, 1)
        ) {
          scoreBoth(tables, columns, first, row, weight3, basis, scratch, rowAt, temperatures, flags);
          continue;
        }
        a = scratch + SCRATCH_NARROWED;
        b = a + ENTITY_BYTES;
        sum = v128.load(a, ENTITY_SUM);
        allowed = v128.load(a, ENTITY_ALLOWED);
        exponents = v128.load(a, ENTITY_EXPONENTS);
        found = load<i32>(a, ENTITY_FLAGS) | (load<i32>(b, ENTITY_FLAGS) << 16);
      }
    }
    const ratio = f64x2.mul(f64x2.mul(sum, allowed), pairOf(a + ENTITY_PER_TONNE, b + ENTITY_PER_TONNE));
    let q = ratio;
    if (!isSimple) {
      const isShort = f64x2.gt(exponents, v128.load(kept, KEPT_ONE));
      if (i64x2.bitmask(isShort) != 0) q = v128.bitselect(afterHorizon(ratio, exponents), ratio, isShort);
    }

    // The anchors of each row are two vectors; turned, anchor by anchor, they stand beside those of the other row.
    const at1 = inYear + load<u32>(a, ENTITY_PATHWAY),
      at3 = inYear + load<u32>(a, ENTITY_PATHWAY_3),
      otherAt1 = inOtherYear + load<u32>(b, ENTITY_PATHWAY),
      otherAt3 = inOtherYear + load<u32>(b, ENTITY_PATHWAY_3);
    const n1 = v128.load(a, ENTITY_SHARE_1),
      n2 = v128.load(a, ENTITY_SHARE_2),
      n3 = v128.load(a, ENTITY_SHARE_3);
    const low = blend(n1, v128.load(at1), n2, v128.load(inYear, POWER_AT), n3, v128.load(at3)),
      high = blend(n1, v128.load(at1, 16), n2, v128.load(inYear, POWER_AT + 16), n3, v128.load(at3, 16));
    const o1 = v128.load(b, ENTITY_SHARE_1),
      o2 = v128.load(b, ENTITY_SHARE_2),
      o3 = v128.load(b, ENTITY_SHARE_3);
    const otherLow = blend(o1, v128.load(otherAt1), o2, v128.load(inOtherYear, POWER_AT), o3, v128.load(otherAt3)),
      otherHigh = blend(
        o1,
        v128.load(otherAt1, 16),
        o2,
        v128.load(inOtherYear, POWER_AT + 16),
        o3,
        v128.load(otherAt3, 16),
      );
    let x1 = v128.shuffle<f64>(low, otherLow, 0, 2),
      x2 = v128.shuffle<f64>(low, otherLow, 1, 3),
      x3 = v128.shuffle<f64>(high, otherHigh, 0, 2),
      x4 = v128.shuffle<f64>(high, otherHigh, 1, 3);
    const gaps = v128.load(kept, KEPT_GAP);
    const isClose = v128.or(
        v128.or(f64x2.lt(x1, gaps), f64x2.lt(x2, f64x2.add(x1, gaps))),
        v128.or(f64x2.lt(x3, f64x2.add(x2, gaps)), f64x2.lt(x4, f64x2.add(x3, gaps))),
      ),
      isSuspect = v128.or(f64x2.lt(ratio, v128.load(kept, KEPT_SMALL)), f64x2.gt(ratio, v128.load(kept, KEPT_LARGE)));
    if (i64x2.bitmask(v128.or(isClose, isSuspect)) != 0) {
      found |=
        flagsOfPair(i64x2.bitmask(v128.and(isSuspect, f64x2.gt(ratio, zero))), CHECK_UNITS) |
        flagsOfPair(i64x2.bitmask(isClose), ANCHORS_CLOSE);
      if (i64x2.bitmask(isClose) != 0) {
        const ladder = scratch + SCRATCH_ANCHORS;
        v128.store(ladder, x1);
        v128.store(ladder, x2, 16);
        v128.store(ladder, x3, 32);
        v128.store(ladder, x4, 48);
        setApart(ladder, gaps);
        x1 = v128.load(ladder);
        x2 = v128.load(ladder, 16);
        x3 = v128.load(ladder, 32);
        x4 = v128.load(ladder, 48);
        // The search below takes no anchor to be negative.
        if (i64x2.bitmask(f64x2.lt(x1, zero)) != 0) {
          scoreBoth(tables, columns, first, row, weight3, basis, scratch, rowAt, temperatures, flags);
          continue;
        }
      }
    }
    store<u32>(flags + ((<usize>row) << 1), <u32>found);

    // Where each row stands among its anchors, which rise, so that the largest of those below and the smallest of the
    // others are the ends of its segment; all bits set is NaN, which pmin passes over. A comparison that holds is -1, so
    // that the sum is minus the number of anchors below.
    const below1 = f64x2.lt(x1, q),
      below2 = f64x2.lt(x2, q),
      below3 = f64x2.lt(x3, q),
      below4 = f64x2.lt(x4, q);
    const twice = f64x2.add(x4, x4);
    const from = f64x2.pmax(
        f64x2.pmax(v128.and(x1, below1), v128.and(x2, below2)),
        f64x2.pmax(v128.and(x3, below3), v128.and(x4, below4)),
      ),
      to = f64x2.pmin(
        f64x2.pmin(f64x2.pmin(twice, v128.or(x4, below4)), v128.or(x3, below3)),
        f64x2.pmin(f64x2.pmin(twice, v128.or(x2, below2)), v128.or(x1, below1)),
      );
    const minusSegments = i64x2.add(i64x2.add(below1, below2), i64x2.add(below3, below4));
    const segment = v128.load(segments - <usize>(i32x4.extract_lane(minusSegments, 0) << 4)),
      otherSegment = v128.load(segments - <usize>(i32x4.extract_lane(minusSegments, 2) << 4));
    const weight = f64x2.div(f64x2.sub(q, from), f64x2.sub(to, from));
    const temperature = f64x2.pmin(
      v128.load(kept, KEPT_WARMEST),
      f64x2.add(
        v128.shuffle<f64>(segment, otherSegment, 0, 2),
        f64x2.mul(v128.shuffle<f64>(segment, otherSegment, 1, 3), weight),
      ),
    );
    v128.store(temperatures + at, temperature);
  }
  if (row < end) {
    const entity = entityAt(scratch, first, <usize>load<u32>(rowAt, 4));
    if (!isRow(columns, entity, row)) return false;
    scorePoint(tables, columns, entity, row, basis, ALL_SCOPES, weight3, 0, scratch, scratch);
    keep(scratch, row, temperatures, flags);
  }
  for (let entity = first, at = scratch + SCRATCH_ENTITIES; entity < endEntity; entity++, at += ENTITY_BYTES) {
    if (!load<i32>(at, ENTITY_IS_ASCENDING)) flagDuplicates(columns, entity, scratch, flags);
  }
  return true;
}

/** The entity that is written down there. */
function entityAt(scratch: usize, first: i32, at: usize): i32 {
  return first + <i32>((at - (scratch + SCRATCH_ENTITIES)) / ENTITY_BYTES);
}

/** Two rows by every case of the method: those that the loop is not made for. */
function scoreBoth(
  tables: usize,
  columns: usize,
  first: i32,
  row: u32,
  weight3: f64,
  basis: i32,
  scratch: usize,
  rowAt: usize,
  temperatures: usize,
  flags: usize,
): void {
  const entity = entityAt(scratch, first, <usize>load<u32>(rowAt, 4)),
    other = entityAt(scratch, first, <usize>load<u32>(rowAt, 12));
  scorePoint(tables, columns, entity, row, basis, ALL_SCOPES, weight3, 0, scratch, scratch);
  keep(scratch, row, temperatures, flags);
  scorePoint(tables, columns, other, row + 1, basis, ALL_SCOPES, weight3, 0, scratch, scratch);
  keep(scratch, row + 1, temperatures, flags);
}

/**
 * Writes an entity down as it is in one of its rows: with the scopes that both have, and what is odd about the row.
 *
 * @returns whether there is anything to compare then
 */
function narrowEntity(
  tables: usize,
  columns: usize,
  entity: i32,
  row: u32,
  weight3: f64,
  prepared: usize,
  odd: usize,
  lane: i32,
): bool {
  const given = load<i32>(prepared, ENTITY_GIVEN);
  if (given < 0) return false;
  const firstYear = <i32>load<f64>(tables, TABLE_FIRST_YEAR),
    lastYear = <i32>load<f64>(tables, TABLE_LAST_YEAR);
  const baselineYear = load<i32>(load<u32>(columns, COLUMN_BASELINE_YEARS) + ((<usize>entity) << 2)),
    year = load<i32>(load<u32>(columns, COLUMN_YEARS) + ((<usize>row) << 2)),
    scoredYear = scoredYearOf(tables, baselineYear, year);
  const y1 = projectionOf(columns, row, 0),
    y2 = projectionOf(columns, row, 1),
    y3 = weight3 * projectionOf(columns, row, 2);
  const givenNow = givenOf(columns, row, weight3),
    usable = given & givenNow;
  const narrowed = odd + <usize>lane * ENTITY_BYTES;
  for (let at: usize = 0; at < ENTITY_BYTES; at += 16) v128.store(narrowed + at, v128.load(prepared + at));
  let found = load<i32>(prepared, ENTITY_FLAGS);
  if (givenNow != given) {
    if (usable == 0) return false;
    const b1: f64 = usable & 1 ? baselineOf(columns, entity, 0) : 0,
      b2: f64 = usable & 4 ? baselineOf(columns, entity, 1) : 0,
      b3: f64 = usable & 16 ? weight3 * baselineOf(columns, entity, 2) : 0;
    const baseline = b1 + b2 + b3;
    if (!(baseline >= ZERO_EMISSIONS)) return false;
    const p1 = positive(b1),
      p2 = positive(b2),
      p3 = positive(b3);
    const perShare = 1 / (p1 + p2 + p3);
    const base = <usize>(clampYear(baselineYear, firstYear, lastYear) - firstYear);
    const perBase = perBaseTable(tables) + base * YEAR_BASES_BYTES;
    const allowed = load<f64>(tables + TABLE_YEARS + base * YEAR_BYTES + <usize>load<u32>(prepared, ENTITY_ALLOWANCE));
    const n1 = p1 * perShare * load<f64>(perBase + ((<usize>load<u32>(prepared, ENTITY_PATHWAY)) >> 2)),
      n2 = p2 * perShare * load<f64>(perBase + (POWER_AT >> 2)),
      n3 = p3 * perShare * load<f64>(perBase + ((<usize>load<u32>(prepared, ENTITY_PATHWAY_3)) >> 2));
    v128.store(narrowed, f64x2.splat(n1), ENTITY_SHARE_1);
    v128.store(narrowed, f64x2.splat(n2), ENTITY_SHARE_2);
    v128.store(narrowed, f64x2.splat(n3), ENTITY_SHARE_3);
    store<f64>(narrowed, 1 / (baseline * allowed), ENTITY_PER_TONNE);
    found = (found & ~NEGATIVE_SCOPE) | SCOPE_MISSING | (i32(b1 < 0 || b2 < 0 || b3 < 0) * NEGATIVE_SCOPE);
  }
  const c1: f64 = usable & 1 ? y1 : 0,
    c2: f64 = usable & 4 ? y2 : 0,
    c3: f64 = usable & 16 ? y3 : 0;
  if (c1 < 0 || c2 < 0 || c3 < 0) found |= NEGATIVE_SCOPE;
  if (scoredYear > lastYear) found |= BEYOND_TABLE;
  if (year < scoredYear) found |= SHORT_HORIZON;
  store<i32>(narrowed, found, ENTITY_FLAGS);
  const inYear = tables + TABLE_YEARS + <usize>(clampYear(year, firstYear, lastYear) - firstYear) * YEAR_BYTES;
  const half = odd + ((<usize>lane) << 3);
  store<f64>(half, positive(c1 + c2 + c3), ENTITY_SUM);
  store<f64>(half, load<f64>(inYear + <usize>load<u32>(prepared, ENTITY_ALLOWANCE)), ENTITY_ALLOWED);
  store<f64>(half, <f64>(scoredYear - baselineYear) / <f64>(year - baselineYear), ENTITY_EXPONENTS);
  return true;
}

/** A flag for each half whose bit is set; the second half's lie 16 bits higher. */
function flagsOfPair(bits: i32, flag: i32): i32 {
  return ((bits | (bits << 15)) & 0x10001) * flag;
}

function pairOfYears(first: i32, second: i32): v128 {
  return f64x2.convert_low_i32x4_s(i32x4.replace_lane(i32x4.splat(first), 1, second));
}

function blend(n1: v128, x1: v128, n2: v128, x2: v128, n3: v128, x3: v128): v128 {
  return f64x2.add(f64x2.add(f64x2.mul(n1, x1), f64x2.mul(n2, x2)), f64x2.mul(n3, x3));
}
