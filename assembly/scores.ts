import { STEPS_MAX, STEPS_OUTSIDE } from "./cells";

/** Entries of `statuses`: what the value of a column is, or why it is missing. */
export const SCORE_VALUE: i32 = 0;
export const SCORE_ZERO: i32 = 1;
export const SCORE_NO_DATA: i32 = 2;
export const SCORE_OUTSIDE: i32 = 3;
export const SCORE_LAYER_MISSING: i32 = 4;

/** Entries of `bounds`: how a probability is bounded. */
export const BOUND_EXACT: i32 = 0;
export const BOUND_AT_LEAST: i32 = 1;
export const BOUND_AT_MOST: i32 = 2;
export const BOUND_INDETERMINATE: i32 = 3;

/**
 * Decodes the steps of columns to values and statuses.
 *
 * In       steps      u16[count][laneCount]
 *          lanes      i32[columnCount]: the lane of each column; -1 if its layer is missing
 *          runs       i32[columnCount / 8]: the first lane of eight columns with consecutive lanes; -1 if they are not
 *          encodings  f64[3][columnCount]: steps per unit, offset, value of 0 steps
 *          rowColumns number of columns between the starts of two rows of the output
 * Out      values     f64[count][rowColumns], NaN where missing; the first columnCount of each row are written
 *          statuses   u8[count][rowColumns], SCORE_*
 * Cost     Most cells of most maps are 0 in every layer; for these, eight precomputed values at a time are copied.
 */
export function scoreColumns(
  steps: usize,
  laneCount: i32,
  count: i32,
  lanes: usize,
  runs: usize,
  encodings: usize,
  columnCount: i32,
  rowColumns: i32,
  values: usize,
  statuses: usize,
): void {
  const stride = (<usize>columnCount) << 3;
  const runEnd = columnCount & ~7;
  let cell = steps,
    value = values,
    status = statuses;
  for (let i = 0; i < count; i++) {
    for (let column = 0; column < runEnd; column += 8) {
      const lane = load<i32>(runs + ((<usize>column) >> 1));
      const encoding = encodings + ((<usize>column) << 3);
      const target = value + ((<usize>column) << 3);
      if (lane < 0) scoreEach(cell, lanes, encodings, stride, column, column + 8, value, status);
      else scoreRun(v128.load(cell + ((<usize>lane) << 1)), encoding, stride, target, status + <usize>column);
    }
    scoreEach(cell, lanes, encodings, stride, runEnd, columnCount, value, status);
    cell += (<usize>laneCount) << 1;
    value += (<usize>rowColumns) << 3;
    status += <usize>rowColumns;
  }
}

/** Decodes eight columns from their steps, u16[8]. */
function scoreRun(steps: v128, encoding: usize, stride: usize, value: usize, status: usize): void {
  const zero = encoding + 2 * stride;
  let first = v128.load(zero),
    second = v128.load(zero, 16),
    third = v128.load(zero, 32),
    fourth = v128.load(zero, 48);
  if (v128.any_true(steps)) {
    const low = i32x4.extend_low_i16x8_u(steps),
      high = i32x4.extend_high_i16x8_u(steps);
    first = valuesOf(low, encoding, stride);
    second = valuesOf(i64x2.shuffle(low, low, 1, 1), encoding + 16, stride);
    third = valuesOf(high, encoding + 32, stride);
    fourth = valuesOf(i64x2.shuffle(high, high, 1, 1), encoding + 48, stride);
  }
  v128.store(value, first);
  v128.store(value, second, 16);
  v128.store(value, third, 32);
  v128.store(value, fourth, 48);
  const none = f64x2.splat(0);
  const zeros = i16x8.narrow_i32x4_s(
    i32x4.shuffle(f64x2.eq(first, none), f64x2.eq(second, none), 0, 2, 4, 6),
    i32x4.shuffle(f64x2.eq(third, none), f64x2.eq(fourth, none), 0, 2, 4, 6),
  );
  // SCORE_ZERO is 1 and SCORE_VALUE is 0.
  const found = v128.and(zeros, i16x8.splat(<i16>SCORE_ZERO));
  v128.store64_lane(status, i8x16.narrow_i16x8_s(found, found), 0);
  let missing = i16x8.bitmask(i16x8.gt_u(steps, i16x8.splat(<i16>STEPS_MAX)));
  if (missing == 0) return;
  const outside = i16x8.bitmask(i16x8.eq(steps, i16x8.splat(<i16>STEPS_OUTSIDE)));
  while (missing != 0) {
    const column = <usize>ctz(missing);
    store<f64>(value + (column << 3), NaN);
    store<u8>(status + column, (outside >> (<i32>column)) & 1 ? <u8>SCORE_OUTSIDE : <u8>SCORE_NO_DATA);
    missing &= missing - 1;
  }
}

/** Returns the values of the two low lanes of `steps`, u32[4]. */
function valuesOf(steps: v128, encoding: usize, stride: usize): v128 {
  const exact = f64x2.div(f64x2.convert_low_i32x4_u(steps), v128.load(encoding));
  return f64x2.add(exact, v128.load(encoding + stride));
}

/** Decodes columns one by one. */
function scoreEach(
  cell: usize,
  lanes: usize,
  encodings: usize,
  stride: usize,
  from: i32,
  to: i32,
  value: usize,
  status: usize,
): void {
  for (let column = from; column < to; column++) {
    const offset = (<usize>column) << 3;
    const lane = load<i32>(lanes + (offset >> 1));
    const steps = lane < 0 ? STEPS_OUTSIDE : <i32>load<u16>(cell + ((<usize>lane) << 1));
    let decoded = NaN,
      found = lane < 0 ? SCORE_LAYER_MISSING : steps == STEPS_OUTSIDE ? SCORE_OUTSIDE : SCORE_NO_DATA;
    if (steps <= STEPS_MAX) {
      decoded = <f64>steps / load<f64>(encodings + offset) + load<f64>(encodings + stride + offset);
      found = decoded == 0 ? SCORE_ZERO : SCORE_VALUE;
    }
    store<f64>(value + offset, decoded);
    store<u8>(status + <usize>column, <u8>found);
  }
}

/**
 * Determines how the probabilities of groups are bounded: that of the first return period is a lower bound, and 0 is an
 * upper bound.
 *
 * In       steps       u16[count][laneCount]
 *          lanes       i32[groupCount]: lane of the probability; -1 if it is always exact
 *          firstSteps  i32[groupCount]: steps of the probability of the first return period
 *          limits      f64[groupCount][2]: the probabilities of the first and the last return period
 *          rowGroups   number of groups between the starts of two rows of the output
 * Out      bounds      u8[count][rowGroups], BOUND_*; the first groupCount of each row are written
 *          boundLimits f64[count][rowGroups], NaN where there is no limit
 */
export function scoreBounds(
  steps: usize,
  laneCount: i32,
  count: i32,
  lanes: usize,
  firstSteps: usize,
  limits: usize,
  groupCount: i32,
  rowGroups: i32,
  bounds: usize,
  boundLimits: usize,
): void {
  let cell = steps;
  for (let i = 0; i < count; i++) {
    const row = <usize>i * <usize>rowGroups;
    for (let group: usize = 0; group < <usize>groupCount; group++) {
      const lane = load<i32>(lanes + (group << 2));
      let kind = BOUND_EXACT,
        found = NaN;
      if (lane >= 0) {
        const stored = <i32>load<u16>(cell + ((<usize>lane) << 1));
        const first = load<i32>(firstSteps + (group << 2));
        if (stored == 0) {
          // The probabilities of very long return periods are stored as 0 too, and cannot be distinguished from none.
          kind = first == 0 ? BOUND_INDETERMINATE : BOUND_AT_MOST;
          if (first != 0) found = load<f64>(limits + (group << 4), 8);
        } else if (stored == first) {
          kind = BOUND_AT_LEAST;
          found = load<f64>(limits + (group << 4));
        }
      }
      store<u8>(bounds + row + group, <u8>kind);
      store<f64>(boundLimits + ((row + group) << 3), found);
    }
    cell += (<usize>laneCount) << 1;
  }
}
