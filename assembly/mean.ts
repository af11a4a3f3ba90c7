import { TILE_SIZE } from "./cells";
import {
  COUNT_SHIFT,
  prefixTilesOf,
  PYRAMID_SIZE,
  pyramidColumnCountOf,
  rowStrideOf,
  rowTableOf,
  SUM_MASK,
  tileAt,
  tileColumnCountOf,
  totalTilesOf,
  vectorCountOf,
} from "./field";
import { spansFirstRow, spansFirsts, spansRowCount, spansStride } from "./spans";
import { STATUS_FULL, STATUS_MISSING, STATUS_OK } from "./status";

/** Columns of a row of prefixes: before each of 64 cells, and behind the last. */
const PREFIX_COLUMNS: i32 = TILE_SIZE + 1;
const PYRAMID_ROWS: i32 = PYRAMID_SIZE * TILE_SIZE;
/** So many tiles of one row, each of 64 x 65,533 steps at most, and a few ends of runs stay below 2^32. */
const TILES_PER_SUM: i32 = 1000;

/**
 * The weighted sums of a circle: of each row the prefix at both ends and the totals of the tiles between.
 *
 * In, out  sums     f64[4][lane]: for each lane sum over rows of weight x sum of steps, then of weight x valid cells,
 *                   as f64[lane / 4][sum 0-3, area 0-3]
 * Out      missing  i32[2]: how many totals tiles (of the pyramid), how many prefix tiles are not in memory; then their
 *                   indices, totals first, some more than once, as many as there is room for. With any missing
 *                   nothing was summed
 * Formula  Row sums are exact integers; each is multiplied by its row's weight and added from north to south,
 *          so the bits of the result depend on nothing but the cells.
 * Needs    seam     a second strand over the same rows, or 0: what the circle holds beyond the grid's seam
 */
export function circleSums(
  field: usize,
  spans: usize,
  seam: usize,
  sums: usize,
  missing: usize,
  missingCapacity: i32,
): i32 {
  const status = findMissing(field, spans, seam, missing, missingCapacity);
  if (status != STATUS_OK) return status;

  const firstRow = spansFirstRow(spans),
    rowCount = spansRowCount(spans);
  const tileColumns = tileColumnCountOf(field),
    pyramidColumns = pyramidColumnCountOf(field);
  const prefixes = prefixTilesOf(field),
    totals = totalTilesOf(field);
  const weights = rowTableOf(field) + 5 * ((<usize>rowStrideOf(field)) << 3) + ((<usize>firstRow) << 3);
  const quads = vectorCountOf(field) << 1;
  const stride = (<usize>quads) << 4;
  const mask = i32x4.splat(SUM_MASK);

  store<i32>(missing, touchEnds(field, spans, seam));
  for (let quad = 0; quad < quads; quad++) {
    const lane = (<usize>quad) << 4;
    const result = sums + ((<usize>quad) << 6);
    let sumLow = v128.load(result),
      sumHigh = v128.load(result, 16),
      areaLow = v128.load(result, 32),
      areaHigh = v128.load(result, 48);
    for (let i = 0; i < rowCount; i++) {
      const row = firstRow + i;
      const tileRow = (row >> 6) * tileColumns;
      const inTile = <usize>((row & 63) * PREFIX_COLUMNS) * stride + lane;
      let sum = i32x4.splat(0),
        count = i32x4.splat(0);
      let carriedLow = f64x2.splat(0),
        carriedHigh = f64x2.splat(0);
      let room = TILES_PER_SUM;
      for (let strand = spans; strand != 0; strand = strand == spans ? seam : 0) {
        if (i >= spansRowCount(strand)) continue;
        const at = spansFirsts(strand) + ((<usize>i) << 2);
        const first = load<i32>(at),
          last = load<i32>(at + spansStride(strand));
        if (first > last) continue;
        const firstTile = first >> 6,
          lastTile = last >> 6;
        const westTile = placeOf(prefixes, tileRow + firstTile) + inTile;
        const west = v128.load(westTile + <usize>(first & 63) * stride);
        const isOne = firstTile == lastTile;
        let packed = i32x4.sub(v128.load(westTile + <usize>(isOne ? (last & 63) + 1 : 64) * stride), west);
        sum = i32x4.add(sum, v128.and(packed, mask));
        count = i32x4.add(count, i32x4.shr_u(packed, COUNT_SHIFT));
        if (isOne) continue;
        packed = v128.load(placeOf(prefixes, tileRow + lastTile) + inTile + <usize>((last & 63) + 1) * stride);
        sum = i32x4.add(sum, v128.and(packed, mask));
        count = i32x4.add(count, i32x4.shr_u(packed, COUNT_SHIFT));
        const pyramidRow = (row >> 9) * pyramidColumns;
        const inPyramid = <usize>((row & (PYRAMID_ROWS - 1)) * PYRAMID_SIZE) * stride + lane;
        for (let tile = firstTile + 1; tile < lastTile; tile++) {
          const totalsTile = placeOf(totals, pyramidRow + (tile >> 3)) + inPyramid;
          packed = v128.load(totalsTile + <usize>(tile & (PYRAMID_SIZE - 1)) * stride);
          sum = i32x4.add(sum, v128.and(packed, mask));
          count = i32x4.add(count, i32x4.shr_u(packed, COUNT_SHIFT));
          if (--room == 0) {
            // Rows round a pole of a grid finer than 1/180 degree; still whole numbers, below 2^53.
            carriedLow = f64x2.add(carriedLow, f64x2.convert_low_i32x4_u(sum));
            carriedHigh = f64x2.add(carriedHigh, f64x2.convert_low_i32x4_u(i64x2.shuffle(sum, sum, 1, 1)));
            sum = i32x4.splat(0);
            room = TILES_PER_SUM;
          }
        }
      }
      const weight = v128.load64_splat(weights + ((<usize>i) << 3));
      const low = f64x2.add(carriedLow, f64x2.convert_low_i32x4_u(sum));
      const high = f64x2.add(carriedHigh, f64x2.convert_low_i32x4_u(i64x2.shuffle(sum, sum, 1, 1)));
      sumLow = f64x2.add(sumLow, f64x2.mul(weight, low));
      areaLow = f64x2.add(areaLow, f64x2.mul(weight, f64x2.convert_low_i32x4_u(count)));
      sumHigh = f64x2.add(sumHigh, f64x2.mul(weight, high));
      areaHigh = f64x2.add(areaHigh, f64x2.mul(weight, f64x2.convert_low_i32x4_u(i64x2.shuffle(count, count, 1, 1))));
    }
    v128.store(result, sumLow);
    v128.store(result, sumHigh, 16);
    v128.store(result, areaLow, 32);
    v128.store(result, areaHigh, 48);
  }
  return STATUS_OK;
}

/**
 * Looks at the ends of every row once, in a loop so short that the processor has dozens of loads under way: what is not in
 * its caches arrives side by side, not one after the other between sums. A fifth of the time of a mean.
 *
 * @returns nothing of meaning; without a use the loads would be left out
 */
function touchEnds(field: usize, spans: usize, seam: usize): i32 {
  const tileColumns = tileColumnCountOf(field);
  const prefixes = prefixTilesOf(field);
  const stride = (<usize>vectorCountOf(field)) << 5;
  let sink = 0;
  for (let strand = spans; strand != 0; strand = strand == spans ? seam : 0) {
    const firsts = spansFirsts(strand),
      spanStride = spansStride(strand),
      firstRow = spansFirstRow(strand),
      rowCount = spansRowCount(strand);
    for (let i = 0; i < rowCount; i++) {
      const at = firsts + ((<usize>i) << 2);
      const first = load<i32>(at),
        last = load<i32>(at + spanStride);
      if (first > last) continue;
      const row = firstRow + i;
      const tileRow = (row >> 6) * tileColumns;
      const inTile = <usize>((row & 63) * PREFIX_COLUMNS) * stride;
      const west = placeOf(prefixes, tileRow + (first >> 6)) + inTile;
      const east = placeOf(prefixes, tileRow + (last >> 6)) + inTile + <usize>((last & 63) + 1) * stride;
      const from = west + <usize>(first & 63) * stride;
      for (let byte: usize = 0; byte < stride; byte += 64) {
        sink += load<i32>(from + byte) + load<i32>(east + byte) + load<i32>(west + 64 * stride + byte);
      }
    }
  }
  return sink;
}

/** A tile known to be in memory: its bit of use was set when it was looked for. */
function placeOf(directory: usize, index: i32): usize {
  return <usize>(load<u32>(directory + ((<usize>index) << 2)) & ~1);
}

function findMissing(field: usize, spans: usize, seam: usize, missing: usize, capacity: i32): i32 {
  const tileColumns = tileColumnCountOf(field),
    pyramidColumns = pyramidColumnCountOf(field);
  const prefixes = prefixTilesOf(field),
    totals = totalTilesOf(field);
  // Totals are listed from the front, prefixes from the back of what there is room for, then joined.
  let totalsMissing = 0,
    prefixesMissing = 0;
  for (let strand = spans; strand != 0; strand = strand == spans ? seam : 0) {
    const firstRow = spansFirstRow(strand),
      rowCount = spansRowCount(strand);
    const firsts = spansFirsts(strand),
      spanStride = spansStride(strand);
    let seenWest = -1,
      seenEast = -1,
      seenFrom = -1,
      seenTo = -1;
    for (let i = 0; i < rowCount; i++) {
      const at = firsts + ((<usize>i) << 2);
      const first = load<i32>(at),
        last = load<i32>(at + spanStride);
      if (first > last) continue;
      const row = firstRow + i;
      const west = (row >> 6) * tileColumns + (first >> 6),
        east = (row >> 6) * tileColumns + (last >> 6);
      if (totalsMissing + 2 * prefixesMissing + 8 > capacity) {
        return listMissing(missing, capacity, totalsMissing, prefixesMissing, STATUS_FULL);
      }
      if (west != seenWest && tileAt(prefixes, west) == 0) push(missing, capacity, ++prefixesMissing, west);
      if (east != seenEast && east != west && tileAt(prefixes, east) == 0) {
        push(missing, capacity, ++prefixesMissing, east);
      }
      seenWest = west;
      seenEast = east;
      if (east - west < 2) continue;
      const pyramidRow = (row >> 9) * pyramidColumns;
      const from = pyramidRow + (((first >> 6) + 1) >> 3),
        to = pyramidRow + (((last >> 6) - 1) >> 3);
      if (from == seenFrom && to == seenTo) continue;
      seenFrom = from;
      seenTo = to;
      for (let index = from; index <= to; index++) {
        if (tileAt(totals, index) != 0) continue;
        if (totalsMissing + 2 * prefixesMissing + 8 > capacity) {
          return listMissing(missing, capacity, totalsMissing, prefixesMissing, STATUS_FULL);
        }
        store<i32>(missing + 8 + ((<usize>totalsMissing) << 2), index);
        totalsMissing++;
      }
    }
  }
  return listMissing(missing, capacity, totalsMissing, prefixesMissing, STATUS_OK);
}

/** Joins the two lists. @returns STATUS_MISSING, or `otherwise` when both are empty */
function listMissing(missing: usize, capacity: i32, totalsMissing: i32, prefixesMissing: i32, otherwise: i32): i32 {
  for (let i = 1; i <= prefixesMissing; i++) {
    const index = load<i32>(missing + ((<usize>(capacity - i)) << 2));
    store<i32>(missing + 8 + ((<usize>(totalsMissing + i - 1)) << 2), index);
  }
  store<i32>(missing, totalsMissing);
  store<i32>(missing, prefixesMissing, 4);
  return totalsMissing + prefixesMissing > 0 ? STATUS_MISSING : otherwise;
}

function push(missing: usize, capacity: i32, count: i32, index: i32): void {
  store<i32>(missing + ((<usize>(capacity - count)) << 2), index);
}
