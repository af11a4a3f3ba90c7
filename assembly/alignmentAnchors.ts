import {
  RATIO_MAX,
  RECORD_ANCHORS,
  RECORD_RATIO_Q,
  RECORD_SEGMENT,
  RECORD_TEMPERATURE,
  RECORD_WEIGHT,
  TABLE_SEGMENTS,
  TEMPERATURE_MAX_C,
} from "./alignmentLayout";
import { powers } from "./power";

/**
 * Makes the four anchors of two rows ascending and separated, in place: raises the first to at least `gaps`, replaces
 * adjacent blocks that are out of order by their mean (pool adjacent violators), then raises each anchor to at least
 * `gaps` above its predecessor.
 *
 * In, out  anchors  f64[4][2], one row per lane
 * Returns  bit mask: bit i is set if an anchor of row i was moved
 * Formula  The pooled value of an anchor is the maximum over block starts at or before it of the minimum over block
 *          ends at or after it of the block's mean
 */
export function separateAnchors(anchors: usize, gaps: v128): i32 {
  const x1 = v128.load(anchors),
    x2 = v128.load(anchors, 16),
    x3 = v128.load(anchors, 32),
    x4 = v128.load(anchors, 48);
  const isMoved = v128.or(
    v128.or(f64x2.lt(x1, gaps), f64x2.lt(x2, f64x2.add(x1, gaps))),
    v128.or(f64x2.lt(x3, f64x2.add(x2, gaps)), f64x2.lt(x4, f64x2.add(x3, gaps))),
  );
  const raised1 = f64x2.pmax(x1, gaps);
  const half = f64x2.splat(0.5),
    third = f64x2.splat(1.0 / 3.0),
    quarter = f64x2.splat(0.25);
  const sum12 = f64x2.add(raised1, x2),
    sum34 = f64x2.add(x3, x4);
  const mean12 = f64x2.mul(sum12, half),
    mean23 = f64x2.mul(f64x2.add(x2, x3), half),
    mean34 = f64x2.mul(sum34, half),
    mean123 = f64x2.mul(f64x2.add(sum12, x3), third),
    mean234 = f64x2.mul(f64x2.add(x2, sum34), third),
    mean1234 = f64x2.mul(f64x2.add(sum12, sum34), quarter);
  const from1To3 = f64x2.pmin(mean123, mean1234),
    from1To2 = f64x2.pmin(mean12, from1To3),
    from2To3 = f64x2.pmin(mean23, mean234);
  const pooled1 = f64x2.pmin(raised1, from1To2),
    pooled2 = f64x2.pmax(from1To2, f64x2.pmin(x2, from2To3)),
    pooled3 = f64x2.pmax(f64x2.pmax(from1To3, from2To3), f64x2.pmin(x3, mean34)),
    pooled4 = f64x2.pmax(f64x2.pmax(mean1234, mean234), f64x2.pmax(mean34, x4));
  const separated2 = f64x2.pmax(pooled2, f64x2.add(pooled1, gaps)),
    separated3 = f64x2.pmax(pooled3, f64x2.add(separated2, gaps)),
    separated4 = f64x2.pmax(pooled4, f64x2.add(separated3, gaps));
  v128.store(anchors, pooled1);
  v128.store(anchors, separated2, 16);
  v128.store(anchors, separated3, 32);
  v128.store(anchors, separated4, 48);
  return i64x2.bitmask(isMoved);
}

/**
 * Separates the anchors of one row, f64[4], in place.
 *
 * Scratch  scratch  f64[4][2]
 * Returns  whether an anchor was moved
 */
export function separateRowAnchors(anchors: usize, gap: f64, scratch: usize): bool {
  for (let offset: usize = 0; offset < 32; offset += 8)
    v128.store(scratch + 2 * offset, v128.load64_splat(anchors + offset));
  const movedRows = separateAnchors(scratch, f64x2.splat(gap));
  for (let offset: usize = 0; offset < 32; offset += 8) store<f64>(anchors + offset, load<f64>(scratch + 2 * offset));
  return movedRows != 0;
}

/** Adds one pathway's emissions index at the four anchors, times `share`, to `anchors`; f64[4] each. */
export function addAnchors(anchors: usize, indices: usize, share: f64): void {
  const shares = f64x2.splat(share);
  v128.store(anchors, f64x2.add(v128.load(anchors), f64x2.mul(shares, v128.load(indices))));
  v128.store(anchors, f64x2.add(v128.load(anchors, 16), f64x2.mul(shares, v128.load(indices, 16))), 16);
}

/**
 * Interpolates the temperature at ratio q between the record's anchors, and stores temperature, q, segment and weight
 * in the record.
 */
export function interpolateTemperature(tables: usize, record: usize, q: f64): void {
  let segment = 0,
    from: f64 = 0,
    to = load<f64>(record, RECORD_ANCHORS);
  while (segment < 4 && q > to) {
    segment++;
    from = to;
    to = segment < 4 ? load<f64>(record + ((<usize>segment) << 3), RECORD_ANCHORS) : 2 * from;
  }
  const weight = (q - from) / (to - from),
    segmentAt = tables + TABLE_SEGMENTS + ((<usize>segment) << 4);
  const temperature = load<f64>(segmentAt) + load<f64>(segmentAt, 8) * weight;
  store<f64>(record, min<f64>(TEMPERATURE_MAX_C, temperature), RECORD_TEMPERATURE);
  store<f64>(record, q, RECORD_RATIO_Q);
  store<f64>(record, <f64>segment, RECORD_SEGMENT);
  store<f64>(record, weight, RECORD_WEIGHT);
}

/** Extrapolates two ratios to the horizon at their annual rates of change, capped at RATIO_MAX. */
export function extrapolateToHorizon(q: v128, exponents: v128): v128 {
  return f64x2.pmin(f64x2.splat(RATIO_MAX), powers(q, exponents));
}

/** Sets the four elements of f64[4] to the same value. */
export function fillFour(target: usize, value: f64): void {
  const values = f64x2.splat(value);
  v128.store(target, values);
  v128.store(target, values, 16);
}
