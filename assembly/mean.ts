import { TILE_SIZE } from "./cells";
import {
  COUNT_SHIFT,
  prefixTilesOf,
  PYRAMID_SIZE,
  pyramidColumnCountOf,
  rowCountOf,
  rowStrideOf,
  rowTableOf,
  SUM_MASK,
  tileColumnCountOf,
  totalTilesOf,
  USED,
  useTile,
  vectorCountOf,
} from "./field";
import { spansFirstRow, spansFirsts, spansRowCount, spansStride } from "./spans";
import { STATUS_FULL, STATUS_MISSING, STATUS_OK } from "./status";

/** Number of prefixes in one row of a tile: one before each cell, and one after the last. */
const PREFIX_COLUMNS: i32 = TILE_SIZE + 1;
const PYRAMID_ROWS: i32 = PYRAMID_SIZE * TILE_SIZE;
/** The totals of this many tiles of one row (64 x 65,533 steps each) and a few partial tiles sum to less than 2^32. */
const TILES_PER_SUM: i32 = 1000;

/**
 * Plan of one row span: the addresses that its sum is read from, the same for every lane. u32 address of the prefix at
 * the span's western end, address of the prefix at its eastern end, number of segments; then u32[segment][2]: address
 * of the first total and number of consecutive totals.
 */
const WEST: usize = 0;
const EAST: usize = 4;
const SEGMENT_COUNT: usize = 8;
const SPAN_PLAN_BYTES: usize = 16;
const SEGMENT_BYTES: usize = 8;

/** Returns the size of the plan of one row, which has at most two spans. */
export function rowPlanBytes(pyramidColumnCount: i32): i32 {
  return 2 * (<i32>SPAN_PLAN_BYTES + (pyramidColumnCount + 1) * <i32>SEGMENT_BYTES);
}

/**
 * Computes the area-weighted sums over a circle. A row's sum is that of the totals of its tiles except the last, minus
 * the prefix at the western end of the span, plus the prefix at its eastern end.
 *
 * In       wrappedSpans  second span table over the same rows, or 0 (spans.ts)
 * In, out  sums          f64[lane / 4][8]: for four lanes the sum over rows of weight x steps, then of weight x number
 *                        of valid cells
 * Out      missing       i32[2]: number of totals tiles and of prefix tiles that are not in memory; then their indices,
 *                        totals first, possibly repeated, as many as fit. If any is missing, nothing is summed;
 *                        on STATUS_OK the content is undefined
 * Scratch  plan          rowPlanBytes
 * Formula  Row sums are exact integers. Each is multiplied by its row's weight and added from north to south, so the
 *          result is the same bit for bit, regardless of the order in which tiles arrive.
 */
export function circleSums(
  field: usize,
  spans: usize,
  wrappedSpans: usize,
  sums: usize,
  missing: usize,
  missingCapacity: i32,
  plan: usize,
): i32 {
  const status = findMissing(field, spans, wrappedSpans, missing, missingCapacity);
  if (status != STATUS_OK) return status;

  const firstRow = spansFirstRow(spans),
    rowCount = spansRowCount(spans);
  if (!ASC_NO_ASSERT)
    assert(firstRow >= 0 && firstRow + rowCount <= rowCountOf(field), "the row spans must be inside the grid");
  const weights = rowTableOf(field) + 5 * ((<usize>rowStrideOf(field)) << 3) + ((<usize>firstRow) << 3);
  store<i32>(missing, prefetchRows(field, spans, wrappedSpans));
  // addRow loops over lanes innermost because they are adjacent in memory.
  for (let i = 0; i < rowCount; i++) {
    const row = firstRow + i;
    let end = planSpan(field, spans, row, i, plan);
    if (wrappedSpans != 0) end = planSpan(field, wrappedSpans, row, i, end);
    if (end != plan) addRow(plan, end, vectorCountOf(field) << 1, load<f64>(weights + ((<usize>i) << 3)), sums);
  }
  return STATUS_OK;
}

/** Writes the plan of a table's span in one row, if it has one. @returns the address after the plan */
function planSpan(field: usize, table: usize, row: i32, spanIndex: i32, spanPlan: usize): usize {
  if (spanIndex >= spansRowCount(table)) return spanPlan;
  const firstAddress = spansFirsts(table) + ((<usize>spanIndex) << 2);
  const first = load<i32>(firstAddress),
    last = load<i32>(firstAddress + spansStride(table));
  if (first > last) return spanPlan;
  const stride = (<usize>vectorCountOf(field)) << 5;
  const prefixes = prefixTilesOf(field) + ((<usize>((row >> 6) * tileColumnCountOf(field))) << 2);
  const tileOffset = <usize>((row & 63) * PREFIX_COLUMNS) * stride;
  let tile = first >> 6;
  const lastTile = last >> 6;
  store<usize>(spanPlan, tileAddress(prefixes, tile) + tileOffset + <usize>(first & 63) * stride, WEST);
  store<usize>(spanPlan, tileAddress(prefixes, lastTile) + tileOffset + <usize>((last & 63) + 1) * stride, EAST);
  const totals = totalTilesOf(field) + ((<usize>((row >> 9) * pyramidColumnCountOf(field))) << 2);
  const pyramidOffset = <usize>((row & (PYRAMID_ROWS - 1)) * PYRAMID_SIZE) * stride;
  let end = spanPlan + SPAN_PLAN_BYTES;
  while (tile < lastTile) {
    const next = min(lastTile, (tile | (PYRAMID_SIZE - 1)) + 1);
    store<usize>(end, tileAddress(totals, tile >> 3) + pyramidOffset + <usize>(tile & (PYRAMID_SIZE - 1)) * stride);
    store<i32>(end, next - tile, 4);
    end += SEGMENT_BYTES;
    tile = next;
  }
  store<i32>(spanPlan, <i32>((end - spanPlan - SPAN_PLAN_BYTES) / SEGMENT_BYTES), SEGMENT_COUNT);
  return end;
}

/** Adds the weighted sums of one row to `sums`, four lanes at a time. */
function addRow(plan: usize, end: usize, quadCount: i32, rowWeight: f64, sums: usize): void {
  const mask = i32x4.splat(SUM_MASK);
  const weight = f64x2.splat(rowWeight);
  const stride = (<usize>quadCount) << 4;
  for (let lane: usize = 0; lane < stride; lane += 16) {
    let sum = i32x4.splat(0),
      count = i32x4.splat(0);
    let flushedLow = f64x2.splat(0),
      flushedHigh = f64x2.splat(0);
    let tilesLeft = TILES_PER_SUM;
    for (let spanPlan = plan; spanPlan != end;) {
      const west = v128.load(load<usize>(spanPlan, WEST) + lane),
        east = v128.load(load<usize>(spanPlan, EAST) + lane);
      sum = i32x4.add(sum, i32x4.sub(v128.and(east, mask), v128.and(west, mask)));
      count = i32x4.add(count, i32x4.sub(i32x4.shr_u(east, COUNT_SHIFT), i32x4.shr_u(west, COUNT_SHIFT)));
      let segment = spanPlan + SPAN_PLAN_BYTES;
      spanPlan = segment + <usize>load<i32>(spanPlan, SEGMENT_COUNT) * SEGMENT_BYTES;
      for (; segment != spanPlan; segment += SEGMENT_BYTES) {
        let total = load<usize>(segment) + lane;
        const tileCount = load<i32>(segment, 4);
        for (const totalsEnd = total + <usize>tileCount * stride; total != totalsEnd; total += stride) {
          const packed = v128.load(total);
          sum = i32x4.add(sum, v128.and(packed, mask));
          count = i32x4.add(count, i32x4.shr_u(packed, COUNT_SHIFT));
        }
        tilesLeft -= tileCount;
        if (tilesLeft < PYRAMID_SIZE) {
          // Only for rows around a pole on a grid finer than 1/180 degree; the f64 sums are integers below 2^53.
          flushedLow = f64x2.add(flushedLow, f64x2.convert_low_i32x4_u(sum));
          flushedHigh = f64x2.add(flushedHigh, f64x2.convert_low_i32x4_u(i64x2.shuffle(sum, sum, 1, 1)));
          sum = i32x4.splat(0);
          tilesLeft = TILES_PER_SUM;
        }
      }
    }
    const low = f64x2.add(flushedLow, f64x2.convert_low_i32x4_u(sum));
    const high = f64x2.add(flushedHigh, f64x2.convert_low_i32x4_u(i64x2.shuffle(sum, sum, 1, 1)));
    const result = sums + (lane << 2);
    v128.store(result, f64x2.add(v128.load(result), f64x2.mul(weight, low)));
    v128.store(result, f64x2.add(v128.load(result, 16), f64x2.mul(weight, high)), 16);
    const area = f64x2.mul(weight, f64x2.convert_low_i32x4_u(count));
    v128.store(result, f64x2.add(v128.load(result, 32), area), 32);
    const areaHigh = f64x2.mul(weight, f64x2.convert_low_i32x4_u(i64x2.shuffle(count, count, 1, 1)));
    v128.store(result, f64x2.add(v128.load(result, 48), areaHigh), 48);
  }
}

/**
 * Touches every cache line that circleSums will read. The loop is so short that the processor overlaps dozens of cache
 * misses, which the summation would otherwise wait for one after the other. Makes a mean over uncached memory about
 * 20 % faster.
 *
 * @returns a meaningless sum, which the caller stores so that the compiler keeps the loads
 */
function prefetchRows(field: usize, spans: usize, wrappedSpans: usize): i32 {
  const tileColumns = tileColumnCountOf(field),
    pyramidColumns = pyramidColumnCountOf(field);
  const prefixes = prefixTilesOf(field),
    totals = totalTilesOf(field);
  const stride = (<usize>vectorCountOf(field)) << 5;
  let unusedSum = 0;
  for (let table = spans; table != 0; table = table == spans ? wrappedSpans : 0) {
    const firsts = spansFirsts(table),
      spanStride = spansStride(table),
      firstRow = spansFirstRow(table),
      rowCount = spansRowCount(table);
    for (let i = 0; i < rowCount; i++) {
      const firstAddress = firsts + ((<usize>i) << 2);
      const first = load<i32>(firstAddress),
        last = load<i32>(firstAddress + spanStride);
      if (first > last) continue;
      const row = firstRow + i;
      const tileRow = (row >> 6) * tileColumns;
      const tileOffset = <usize>((row & 63) * PREFIX_COLUMNS) * stride;
      let tile = first >> 6;
      const lastTile = last >> 6;
      const west = tileAddress(prefixes, tileRow + tile) + tileOffset + <usize>(first & 63) * stride;
      const east = tileAddress(prefixes, tileRow + lastTile) + tileOffset + <usize>((last & 63) + 1) * stride;
      for (let byte: usize = 0; byte < stride; byte += 64) unusedSum += load<i32>(west + byte) + load<i32>(east + byte);
      const pyramidRow = (row >> 9) * pyramidColumns;
      const pyramidOffset = <usize>((row & (PYRAMID_ROWS - 1)) * PYRAMID_SIZE) * stride;
      while (tile < lastTile) {
        const next = min(lastTile, (tile | (PYRAMID_SIZE - 1)) + 1);
        let total =
          tileAddress(totals, pyramidRow + (tile >> 3)) + pyramidOffset + <usize>(tile & (PYRAMID_SIZE - 1)) * stride;
        const totalsEnd = total + <usize>(next - tile) * stride;
        for (; total < totalsEnd; total += 64) unusedSum += load<i32>(total);
        tile = next;
      }
    }
  }
  return unusedSum;
}

/** Returns the address of a tile that is known to be in memory and is already marked as used. */
function tileAddress(directory: usize, index: i32): usize {
  return <usize>(load<u32>(directory + ((<usize>index) << 2)) & ~USED);
}

/** Lists the tiles that circleSums reads and that are not in memory; marks the others as used. */
function findMissing(field: usize, spans: usize, wrappedSpans: usize, missing: usize, capacity: i32): i32 {
  const tileColumns = tileColumnCountOf(field),
    pyramidColumns = pyramidColumnCountOf(field);
  const prefixes = prefixTilesOf(field),
    totals = totalTilesOf(field);
  // Totals are listed from the front of the buffer, prefixes from its end; writeMissing joins them.
  let totalsMissing = 0,
    prefixesMissing = 0;
  for (let table = spans; table != 0; table = table == spans ? wrappedSpans : 0) {
    const firstRow = spansFirstRow(table),
      rowCount = spansRowCount(table);
    const firsts = spansFirsts(table),
      spanStride = spansStride(table);
    let previousWest = -1,
      previousEast = -1,
      previousFrom = -1,
      previousTo = -1;
    for (let i = 0; i < rowCount; i++) {
      const firstAddress = firsts + ((<usize>i) << 2);
      const first = load<i32>(firstAddress),
        last = load<i32>(firstAddress + spanStride);
      if (first > last) continue;
      const row = firstRow + i;
      const west = (row >> 6) * tileColumns + (first >> 6),
        east = (row >> 6) * tileColumns + (last >> 6);
      if (isMissingFull(totalsMissing, prefixesMissing, capacity)) {
        return writeMissing(missing, capacity, totalsMissing, prefixesMissing, STATUS_FULL);
      }
      if (west != previousWest && useTile(prefixes, west) == 0) pushFromEnd(missing, capacity, ++prefixesMissing, west);
      if (east != previousEast && east != west && useTile(prefixes, east) == 0) {
        pushFromEnd(missing, capacity, ++prefixesMissing, east);
      }
      previousWest = west;
      previousEast = east;
      if (east == west) continue;
      const pyramidRow = (row >> 9) * pyramidColumns;
      const from = pyramidRow + (first >> 9),
        to = pyramidRow + (((last >> 6) - 1) >> 3);
      if (from == previousFrom && to == previousTo) continue;
      previousFrom = from;
      previousTo = to;
      for (let index = from; index <= to; index++) {
        if (useTile(totals, index) != 0) continue;
        if (isMissingFull(totalsMissing, prefixesMissing, capacity)) {
          return writeMissing(missing, capacity, totalsMissing, prefixesMissing, STATUS_FULL);
        }
        store<i32>(missing + 8 + ((<usize>totalsMissing) << 2), index);
        totalsMissing++;
      }
    }
  }
  return writeMissing(missing, capacity, totalsMissing, prefixesMissing, STATUS_OK);
}

/**
 * Returns whether the lists may not have space for another three indices. Each prefix is counted twice, because writeMissing
 * copies the prefixes from the end of the buffer to behind the totals; the header takes two elements.
 */
function isMissingFull(totalsMissing: i32, prefixesMissing: i32, capacity: i32): bool {
  return totalsMissing + 2 * prefixesMissing + 8 > capacity;
}

/** Joins the two lists of missing tiles. @returns STATUS_MISSING, or `statusIfNone` if both are empty */
function writeMissing(missing: usize, capacity: i32, totalsMissing: i32, prefixesMissing: i32, statusIfNone: i32): i32 {
  for (let i = 1; i <= prefixesMissing; i++) {
    const index = load<i32>(missing + ((<usize>(capacity - i)) << 2));
    store<i32>(missing + 8 + ((<usize>(totalsMissing + i - 1)) << 2), index);
  }
  store<i32>(missing, totalsMissing);
  store<i32>(missing, prefixesMissing, 4);
  return totalsMissing + prefixesMissing > 0 ? STATUS_MISSING : statusIfNone;
}

/** Writes the `count`th index of the list that grows from the end of the buffer. */
function pushFromEnd(missing: usize, capacity: i32, count: i32, index: i32): void {
  store<i32>(missing + ((<usize>(capacity - count)) << 2), index);
}
