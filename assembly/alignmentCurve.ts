import {
  ANCHOR_MOVE_MIN,
  CURVE_BYTES,
  CURVE_MAX,
  CURVE_RISES,
  CURVE_START,
  TABLE_CURVES,
  TABLE_LAST_RATIO,
} from "./alignmentLayout";

// Temperature as a function of the emissions ratio for two rows, one per lane; f64[2] each. Byte offsets.
export const LANES_ANCHORS: usize = 0; // [4]
/** Ratio from which temperatures are constant. */
const LANES_LAST: usize = 64;
const LANES_SLOPES: usize = 80; // [5]
const LANES_START: usize = 160;
const LANES_MAX: usize = 176;

/**
 * Separates the four anchors of two rows in place: replaces them by the least-squares closest sequence that ascends in
 * steps of at least `gaps` (pool adjacent violators), then raises the first to at least `gaps`, and the others if
 * needed.
 *
 * In, out  anchors  f64[4][2], one row per lane
 * Returns  bit mask: bit i is set if an anchor of row i was moved
 * Formula  The pooled value of an element is the maximum over block starts at or before it of the minimum over block
 *          ends at or after it of the block's mean
 */
export function separateAnchors(anchors: usize, gaps: v128): i32 {
  const x1 = v128.load(anchors),
    x2 = v128.load(anchors, 16),
    x3 = v128.load(anchors, 32),
    x4 = v128.load(anchors, 48);
  const isClose = v128.or(
    v128.or(f64x2.lt(x1, gaps), f64x2.lt(x2, f64x2.add(x1, gaps))),
    v128.or(f64x2.lt(x3, f64x2.add(x2, gaps)), f64x2.lt(x4, f64x2.add(x3, gaps))),
  );
  if (!v128.any_true(isClose)) return 0;
  const gaps2 = f64x2.add(gaps, gaps),
    gaps3 = f64x2.add(gaps2, gaps);
  const z2 = f64x2.sub(x2, gaps),
    z3 = f64x2.sub(x3, gaps2),
    z4 = f64x2.sub(x4, gaps3);
  const half = f64x2.splat(0.5),
    third = f64x2.splat(1.0 / 3.0),
    quarter = f64x2.splat(0.25);
  const sum12 = f64x2.add(x1, z2),
    sum34 = f64x2.add(z3, z4);
  const mean12 = f64x2.mul(sum12, half),
    mean23 = f64x2.mul(f64x2.add(z2, z3), half),
    mean34 = f64x2.mul(sum34, half),
    mean123 = f64x2.mul(f64x2.add(sum12, z3), third),
    mean234 = f64x2.mul(f64x2.add(z2, sum34), third),
    mean1234 = f64x2.mul(f64x2.add(sum12, sum34), quarter);
  const from1To3 = f64x2.pmin(mean123, mean1234),
    from1To2 = f64x2.pmin(mean12, from1To3),
    from2To3 = f64x2.pmin(mean23, mean234);
  const pooled1 = f64x2.pmin(x1, from1To2),
    pooled2 = f64x2.pmax(from1To2, f64x2.pmin(z2, from2To3)),
    pooled3 = f64x2.pmax(f64x2.pmax(from1To3, from2To3), f64x2.pmin(z3, mean34)),
    pooled4 = f64x2.pmax(f64x2.pmax(mean1234, mean234), f64x2.pmax(mean34, z4));
  const separated1 = f64x2.pmax(pooled1, gaps),
    separated2 = f64x2.pmax(f64x2.add(pooled2, gaps), f64x2.add(separated1, gaps)),
    separated3 = f64x2.pmax(f64x2.add(pooled3, gaps2), f64x2.add(separated2, gaps)),
    separated4 = f64x2.pmax(f64x2.add(pooled4, gaps3), f64x2.add(separated3, gaps));
  // A row without violations keeps its anchors to the last bit, regardless of the other row.
  const y1 = v128.bitselect(separated1, x1, isClose),
    y2 = v128.bitselect(separated2, x2, isClose),
    y3 = v128.bitselect(separated3, x3, isClose),
    y4 = v128.bitselect(separated4, x4, isClose);
  v128.store(anchors, y1);
  v128.store(anchors, y2, 16);
  v128.store(anchors, y3, 32);
  v128.store(anchors, y4, 48);
  const largestMove = f64x2.pmax(
    f64x2.pmax(f64x2.abs(f64x2.sub(y1, x1)), f64x2.abs(f64x2.sub(y2, x2))),
    f64x2.pmax(f64x2.abs(f64x2.sub(y3, x3)), f64x2.abs(f64x2.sub(y4, x4))),
  );
  return i64x2.bitmask(f64x2.gt(largestMove, f64x2.splat(ANCHOR_MOVE_MIN)));
}

/**
 * Prepares temperatureAt for the anchors in `lanes`, which must be separated.
 *
 * In       percentile  CURVE_*
 * In, out  lanes       LANES_*
 */
export function prepareCurve(tables: usize, percentile: i32, lanes: usize): void {
  const curve = tables + TABLE_CURVES + <usize>percentile * CURVE_BYTES;
  const x1 = v128.load(lanes),
    x2 = v128.load(lanes, 16),
    x3 = v128.load(lanes, 32),
    x4 = v128.load(lanes, 48);
  const rise1 = v128.load64_splat(curve, CURVE_RISES),
    rise2 = v128.load64_splat(curve, CURVE_RISES + 8),
    rise3 = v128.load64_splat(curve, CURVE_RISES + 16),
    rise4 = v128.load64_splat(curve, CURVE_RISES + 24),
    rise5 = v128.load64_splat(curve, CURVE_RISES + 32);
  // Computes all five reciprocals with one division.
  const width2 = f64x2.sub(x2, x1),
    width3 = f64x2.sub(x3, x2),
    width4 = f64x2.sub(x4, x3);
  const widths12 = f64x2.mul(x1, width2),
    widths34 = f64x2.mul(width3, width4),
    widths1234 = f64x2.mul(widths12, widths34),
    perAll = f64x2.div(f64x2.splat(1), f64x2.mul(widths1234, x4)),
    per1234 = f64x2.mul(perAll, x4),
    per12 = f64x2.mul(per1234, widths34),
    per34 = f64x2.mul(per1234, widths12);
  v128.store(lanes, f64x2.mul(rise1, f64x2.mul(per12, width2)), LANES_SLOPES);
  v128.store(lanes, f64x2.mul(rise2, f64x2.mul(per12, x1)), LANES_SLOPES + 16);
  v128.store(lanes, f64x2.mul(rise3, f64x2.mul(per34, width4)), LANES_SLOPES + 32);
  v128.store(lanes, f64x2.mul(rise4, f64x2.mul(per34, width3)), LANES_SLOPES + 48);
  v128.store(lanes, f64x2.mul(rise5, f64x2.mul(perAll, widths1234)), LANES_SLOPES + 64);
  v128.store(lanes, f64x2.mul(x4, v128.load64_splat(tables, TABLE_LAST_RATIO)), LANES_LAST);
  v128.store(lanes, v128.load64_splat(curve, CURVE_START), LANES_START);
  v128.store(lanes, v128.load64_splat(curve, CURVE_MAX), LANES_MAX);
}

/**
 * Returns the temperatures of two emissions ratios, at least 0, one per lane: the sum over the segments of slope x part
 * of the segment below the ratio. Each operation is monotone, so a larger ratio never has a lower temperature.
 */
export function temperaturesAt(lanes: usize, q: v128): v128 {
  const u1 = f64x2.pmin(q, v128.load(lanes)),
    u2 = f64x2.pmin(q, v128.load(lanes, 16)),
    u3 = f64x2.pmin(q, v128.load(lanes, 32)),
    u4 = f64x2.pmin(q, v128.load(lanes, 48)),
    u5 = f64x2.pmin(q, v128.load(lanes, LANES_LAST));
  const below1 = f64x2.add(v128.load(lanes, LANES_START), f64x2.mul(u1, v128.load(lanes, LANES_SLOPES))),
    below2 = f64x2.add(below1, f64x2.mul(f64x2.sub(u2, u1), v128.load(lanes, LANES_SLOPES + 16))),
    below3 = f64x2.add(below2, f64x2.mul(f64x2.sub(u3, u2), v128.load(lanes, LANES_SLOPES + 32))),
    below4 = f64x2.add(below3, f64x2.mul(f64x2.sub(u4, u3), v128.load(lanes, LANES_SLOPES + 48))),
    below5 = f64x2.add(below4, f64x2.mul(f64x2.sub(u5, u4), v128.load(lanes, LANES_SLOPES + 64)));
  return f64x2.pmin(below5, v128.load(lanes, LANES_MAX));
}

/** Returns the temperature of one emissions ratio. */
export function temperatureAt(lanes: usize, q: f64): f64 {
  return f64x2.extract_lane(temperaturesAt(lanes, f64x2.splat(q)), 0);
}
