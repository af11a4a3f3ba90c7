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
 * Where the sums of a row's run are read, the same for every lane: u32 west and east prefix, how many stretches of totals;
 * then u32[stretch][2]: first total, how many totals lie one behind the other.
 */
const WEST: usize = 0;
const EAST: usize = 4;
const STRETCH_COUNT: usize = 8;
const RUN_BYTES: usize = 16;
const STRETCH_BYTES: usize = 8;

/** Bytes of the runs of one row, two of them at most. */
export function rowRunsBytes(pyramidColumnCount: i32): i32 {
  return 2 * (<i32>RUN_BYTES + (pyramidColumnCount + 1) * <i32>STRETCH_BYTES);
}

/**
 * The weighted sums of a circle: of each row the totals of its tiles but the last, without what lies west of the run,
 * and the prefix at its eastern end.
 *
 * In, out  sums     f64[4][lane]: for each lane sum over rows of weight x sum of steps, then of weight x valid cells,
 *                   as f64[lane / 4][sum 0-3, area 0-3]
 * Out      missing  i32[2]: how many totals tiles (of the pyramid), how many prefix tiles are not in memory; then their
 *                   indices, totals first, some more than once, as many as there is room for. With any missing
 *                   nothing was summed
 *          runs     scratch, rowRunsBytes
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
  runs: usize,
): i32 {
  const status = findMissing(field, spans, seam, missing, missingCapacity);
  if (status != STATUS_OK) return status;

  const firstRow = spansFirstRow(spans),
    rowCount = spansRowCount(spans);
  const weights = rowTableOf(field) + 5 * ((<usize>rowStrideOf(field)) << 3) + ((<usize>firstRow) << 3);
  store<i32>(missing, touchRuns(field, spans, seam));
  // Row after row, and of each row lane after lane: what lies side by side in memory is read at one time.
  for (let i = 0; i < rowCount; i++) {
    const row = firstRow + i;
    let end = planRun(field, spans, row, i, runs);
    if (seam != 0) end = planRun(field, seam, row, i, end);
    if (end != runs) addRow(runs, end, vectorCountOf(field) << 1, load<f64>(weights + ((<usize>i) << 3)), sums);
  }
  return STATUS_OK;
}

/** Writes down where a strand's run in a row is summed from. @returns the end of what is written */
function planRun(field: usize, strand: usize, row: i32, index: i32, run: usize): usize {
  if (index >= spansRowCount(strand)) return run;
  const at = spansFirsts(strand) + ((<usize>index) << 2);
  const first = load<i32>(at),
    last = load<i32>(at + spansStride(strand));
  if (first > last) return run;
  const stride = (<usize>vectorCountOf(field)) << 5;
  const prefixes = prefixTilesOf(field) + ((<usize>((row >> 6) * tileColumnCountOf(field))) << 2);
  const inTile = <usize>((row & 63) * PREFIX_COLUMNS) * stride;
  let tile = first >> 6;
  const lastTile = last >> 6;
  store<usize>(run, placeOf(prefixes, tile) + inTile + <usize>(first & 63) * stride, WEST);
  store<usize>(run, placeOf(prefixes, lastTile) + inTile + <usize>((last & 63) + 1) * stride, EAST);
  const totals = totalTilesOf(field) + ((<usize>((row >> 9) * pyramidColumnCountOf(field))) << 2);
  const inPyramid = <usize>((row & (PYRAMID_ROWS - 1)) * PYRAMID_SIZE) * stride;
  let end = run + RUN_BYTES;
  while (tile < lastTile) {
    const next = min(lastTile, (tile | (PYRAMID_SIZE - 1)) + 1);
    store<usize>(end, placeOf(totals, tile >> 3) + inPyramid + <usize>(tile & (PYRAMID_SIZE - 1)) * stride);
    store<i32>(end, next - tile, 4);
    end += STRETCH_BYTES;
    tile = next;
  }
  store<i32>(run, <i32>((end - run - RUN_BYTES) / STRETCH_BYTES), STRETCH_COUNT);
  return end;
}

/** Adds a row's sums, times its weight. */
function addRow(runs: usize, end: usize, quads: i32, rowWeight: f64, sums: usize): void {
  const mask = i32x4.splat(SUM_MASK);
  const weight = f64x2.splat(rowWeight);
  const stride = (<usize>quads) << 4;
  for (let lane: usize = 0; lane < stride; lane += 16) {
    let sum = i32x4.splat(0),
      count = i32x4.splat(0);
    let carriedLow = f64x2.splat(0),
      carriedHigh = f64x2.splat(0);
    let room = TILES_PER_SUM;
    for (let run = runs; run != end;) {
      const west = v128.load(load<usize>(run, WEST) + lane),
        east = v128.load(load<usize>(run, EAST) + lane);
      sum = i32x4.add(sum, i32x4.sub(v128.and(east, mask), v128.and(west, mask)));
      count = i32x4.add(count, i32x4.sub(i32x4.shr_u(east, COUNT_SHIFT), i32x4.shr_u(west, COUNT_SHIFT)));
      let stretch = run + RUN_BYTES;
      run = stretch + <usize>load<i32>(run, STRETCH_COUNT) * STRETCH_BYTES;
      for (; stretch != run; stretch += STRETCH_BYTES) {
        let total = load<usize>(stretch) + lane;
        const tileCount = load<i32>(stretch, 4);
        for (const behind = total + <usize>tileCount * stride; total != behind; total += stride) {
          const packed = v128.load(total);
          sum = i32x4.add(sum, v128.and(packed, mask));
          count = i32x4.add(count, i32x4.shr_u(packed, COUNT_SHIFT));
        }
        room -= tileCount;
        if (room < PYRAMID_SIZE) {
          // Rows round a pole of a grid finer than 1/180 degree; still whole numbers, below 2^53.
          carriedLow = f64x2.add(carriedLow, f64x2.convert_low_i32x4_u(sum));
          carriedHigh = f64x2.add(carriedHigh, f64x2.convert_low_i32x4_u(i64x2.shuffle(sum, sum, 1, 1)));
          sum = i32x4.splat(0);
          room = TILES_PER_SUM;
        }
      }
    }
    const low = f64x2.add(carriedLow, f64x2.convert_low_i32x4_u(sum));
    const high = f64x2.add(carriedHigh, f64x2.convert_low_i32x4_u(i64x2.shuffle(sum, sum, 1, 1)));
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
 * Looks once at all that a row's sum is read from, in a loop so short that the processor has dozens of loads under way:
 * what is not in its caches arrives side by side, not one after the other between sums. A fifth of the time of a mean
 * where nothing was asked near by before.
 *
 * @returns nothing of meaning; without a use the loads would be left out
 */
function touchRuns(field: usize, spans: usize, seam: usize): i32 {
  const tileColumns = tileColumnCountOf(field),
    pyramidColumns = pyramidColumnCountOf(field);
  const prefixes = prefixTilesOf(field),
    totals = totalTilesOf(field);
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
      let tile = first >> 6;
      const lastTile = last >> 6;
      const west = placeOf(prefixes, tileRow + tile) + inTile + <usize>(first & 63) * stride;
      const east = placeOf(prefixes, tileRow + lastTile) + inTile + <usize>((last & 63) + 1) * stride;
      for (let byte: usize = 0; byte < stride; byte += 64) sink += load<i32>(west + byte) + load<i32>(east + byte);
      const pyramidRow = (row >> 9) * pyramidColumns;
      const inPyramid = <usize>((row & (PYRAMID_ROWS - 1)) * PYRAMID_SIZE) * stride;
      while (tile < lastTile) {
        const next = min(lastTile, (tile | (PYRAMID_SIZE - 1)) + 1);
        let total = placeOf(totals, pyramidRow + (tile >> 3)) + inPyramid + <usize>(tile & (PYRAMID_SIZE - 1)) * stride;
        const behind = total + <usize>(next - tile) * stride;
        for (; total < behind; total += 64) sink += load<i32>(total);
        tile = next;
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
      if (east == west) continue;
      const pyramidRow = (row >> 9) * pyramidColumns;
      const from = pyramidRow + (first >> 9),
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
