import { STEPS_MAX, TILE_SIZE } from "./cells";
import {
  BLOCK_SIZE,
  boundTilesOf,
  cellTilesOf,
  pyramidColumnCountOf,
  tileAt,
  tileColumnCountOf,
  vectorCountOf,
} from "./field";
import { spansFirstRow, spansFirsts, spansRowCount, spansStride } from "./spans";
import { STATUS_FULL, STATUS_MISSING, STATUS_OK } from "./status";

/** Blocks along one edge of a pyramid tile. */
const PYRAMID_BLOCKS: i32 = 64;
/** Scratch of one row of blocks: outer and inner first and last block. */
const BLOCK_ROW_BYTES: usize = 16;

/**
 * The maximum of a circle, from the bounds of 8 x 8 blocks: those wholly inside say their largest value; of those on
 * the rim only the ones that could still raise the maximum are looked into.
 *
 * In, out  best     u16[lane]: bound so far (0 none, else steps + 1)
 * Out      missing  i32[2]: how many pyramid tiles, then how many data tiles are not in memory; then i32[] their
 *                   indices, pyramid tiles first. With pyramid tiles missing nothing else was done; data tiles are named
 *                   with every block that may need them, the block's bound standing above what is known
 *                   in some lane: i32[2] each, index and largest bound
 *          rows     scratch, 16 bytes a row of blocks
 * Cost     About the rim's length in blocks; the cells of a few blocks.
 */
export function circleMax(
  field: usize,
  spans: usize,
  best: usize,
  missing: usize,
  missingCapacity: i32,
  rows: usize,
): i32 {
  const rowCount = spansRowCount(spans);
  if (rowCount == 0) {
    store<i32>(missing, 0);
    store<i32>(missing, 0, 4);
    return STATUS_OK;
  }
  const firstRow = spansFirstRow(spans);
  const firstBlockRow = firstRow / BLOCK_SIZE;
  const lastBlockRow = (firstRow + rowCount - 1) / BLOCK_SIZE;
  let status = findBlocks(field, spans, firstBlockRow, lastBlockRow, rows, missing, missingCapacity);
  if (status != STATUS_OK) return status;
  takeInner(field, firstBlockRow, lastBlockRow, rows, best);
  status = takeRim(field, spans, firstBlockRow, lastBlockRow, rows, best, missing, missingCapacity);
  if (status != STATUS_MISSING) return status;
  // What is in memory may have raised the maximum over blocks that had been named before it was met.
  return takeRim(field, spans, firstBlockRow, lastBlockRow, rows, best, missing, missingCapacity);
}

/** Outer and inner run of blocks of each row of blocks; the pyramid tiles under them that are not in memory. */
function findBlocks(
  field: usize,
  spans: usize,
  firstBlockRow: i32,
  lastBlockRow: i32,
  rows: usize,
  missing: usize,
  missingCapacity: i32,
): i32 {
  const firstRow = spansFirstRow(spans),
    endRow = firstRow + spansRowCount(spans);
  const firsts = spansFirsts(spans),
    stride = spansStride(spans);
  const pyramidColumns = pyramidColumnCountOf(field),
    directory = boundTilesOf(field);
  let missingCount = 0;
  let out = rows;
  for (let blockRow = firstBlockRow; blockRow <= lastBlockRow; blockRow++, out += BLOCK_ROW_BYTES) {
    const top = blockRow * BLOCK_SIZE;
    const from = max(top, firstRow),
      to = min(top + BLOCK_SIZE, endRow);
    // A row that the circle leaves out, or that lies above or below it, leaves no block whole.
    let outerFirst = i32.MAX_VALUE,
      outerLast = -1;
    let innerFirst = to - from < BLOCK_SIZE ? i32.MAX_VALUE : 0,
      innerLast = to - from < BLOCK_SIZE ? -1 : i32.MAX_VALUE;
    for (let row = from; row < to; row++) {
      const at = firsts + ((<usize>(row - firstRow)) << 2);
      const first = load<i32>(at),
        last = load<i32>(at + stride);
      if (first > last) {
        innerFirst = i32.MAX_VALUE;
        innerLast = -1;
        continue;
      }
      outerFirst = min(outerFirst, first);
      outerLast = max(outerLast, last);
      innerFirst = max(innerFirst, first);
      innerLast = min(innerLast, last);
    }
    let blockFirst = 0,
      blockLast = -1,
      wholeFirst = 0,
      wholeLast = -1;
    if (outerLast >= 0) {
      blockFirst = outerFirst / BLOCK_SIZE;
      blockLast = outerLast / BLOCK_SIZE;
      if (innerFirst <= innerLast) {
        wholeFirst = (innerFirst + BLOCK_SIZE - 1) / BLOCK_SIZE;
        wholeLast = (innerLast + 1) / BLOCK_SIZE - 1;
      }
      if (wholeFirst > wholeLast) {
        wholeFirst = blockLast + 1;
        wholeLast = blockLast;
      }
      const pyramidRow = blockRow / PYRAMID_BLOCKS;
      for (let column = blockFirst / PYRAMID_BLOCKS; column <= blockLast / PYRAMID_BLOCKS; column++) {
        const index = pyramidRow * pyramidColumns + column;
        if (tileAt(directory, index) != 0) continue;
        if (missingCount > 0 && load<i32>(missing + 4 + ((<usize>missingCount) << 2)) == index) continue;
        if (missingCount + 2 >= missingCapacity) {
          if (missingCount == 0) return STATUS_FULL;
          continue; // enough to go on with; the rest is met again
        }
        missingCount++;
        store<i32>(missing + 4 + ((<usize>missingCount) << 2), index);
      }
    }
    store<i32>(out, blockFirst);
    store<i32>(out, wholeFirst, 4);
    store<i32>(out, wholeLast, 8);
    store<i32>(out, blockLast, 12);
  }
  store<i32>(missing, missingCount);
  store<i32>(missing, 0, 4);
  return missingCount > 0 ? STATUS_MISSING : STATUS_OK;
}

/** The blocks wholly inside, one vector of lanes after the other, each with its maximum in a register. */
function takeInner(field: usize, firstBlockRow: i32, lastBlockRow: i32, rows: usize, best: usize): void {
  const vectors = vectorCountOf(field),
    stride = (<usize>vectors) << 4;
  const directory = boundTilesOf(field),
    pyramidColumns = pyramidColumnCountOf(field);
  for (let vector = 0; vector < vectors; vector++) {
    const lane = (<usize>vector) << 4;
    let high = v128.load(best + lane);
    let row = rows;
    for (let blockRow = firstBlockRow; blockRow <= lastBlockRow; blockRow++, row += BLOCK_ROW_BYTES) {
      let block = load<i32>(row, 4);
      const last = load<i32>(row, 8);
      const inRow = (blockRow % PYRAMID_BLOCKS) * PYRAMID_BLOCKS;
      const pyramidRow = (blockRow / PYRAMID_BLOCKS) * pyramidColumns;
      while (block <= last) {
        const pyramidColumn = block / PYRAMID_BLOCKS;
        const end = min(last, pyramidColumn * PYRAMID_BLOCKS + PYRAMID_BLOCKS - 1);
        const tile = tileAt(directory, pyramidRow + pyramidColumn);
        let at = tile + <usize>(inRow + (block % PYRAMID_BLOCKS)) * stride + lane;
        for (; block <= end; block++, at += stride) high = i16x8.max_u(high, v128.load(at));
      }
    }
    v128.store(best + lane, high);
  }
}

function takeRim(
  field: usize,
  spans: usize,
  firstBlockRow: i32,
  lastBlockRow: i32,
  rows: usize,
  best: usize,
  missing: usize,
  missingCapacity: i32,
): i32 {
  const vectors = vectorCountOf(field),
    stride = (<usize>vectors) << 4;
  const directory = boundTilesOf(field),
    pyramidColumns = pyramidColumnCountOf(field);
  const tiles = cellTilesOf(field),
    tileColumns = tileColumnCountOf(field);
  let missingCount = 0;
  let row = rows;
  for (let blockRow = firstBlockRow; blockRow <= lastBlockRow; blockRow++, row += BLOCK_ROW_BYTES) {
    const wholeFirst = load<i32>(row, 4),
      wholeLast = load<i32>(row, 8),
      blockLast = load<i32>(row, 12);
    const inRow = (blockRow % PYRAMID_BLOCKS) * PYRAMID_BLOCKS;
    const pyramidRow = (blockRow / PYRAMID_BLOCKS) * pyramidColumns;
    for (let block = load<i32>(row); block <= blockLast; block++) {
      if (block == wholeFirst && wholeFirst <= wholeLast) block = wholeLast + 1;
      if (block > blockLast) break;
      const bound =
        tileAt(directory, pyramidRow + block / PYRAMID_BLOCKS) + <usize>(inRow + (block % PYRAMID_BLOCKS)) * stride;
      if (!canRaise(bound, best, stride)) continue;
      const tileIndex = (blockRow / BLOCK_SIZE) * tileColumns + block / BLOCK_SIZE;
      const tile = tileAt(tiles, tileIndex);
      if (tile == 0) {
        if (missingCount * 2 + 4 > missingCapacity) continue; // enough to go on with; the rest is met again
        const entry = missing + 8 + ((<usize>missingCount) << 3);
        store<i32>(entry, tileIndex);
        store<i32>(entry, <i32>largestRise(bound, best, stride), 4);
        missingCount++;
      } else {
        takeBlock(spans, blockRow, block, tile, stride, best);
      }
    }
  }
  store<i32>(missing, 0);
  store<i32>(missing, missingCount, 4);
  return missingCount > 0 ? STATUS_MISSING : STATUS_OK;
}

function canRaise(bound: usize, best: usize, bytes: usize): bool {
  for (let lane: usize = 0; lane < bytes; lane += 16) {
    if (v128.any_true(i16x8.gt_u(v128.load(bound + lane), v128.load(best + lane)))) return true;
  }
  return false;
}

/** By how much a block could raise the maximum of a lane at most: what to read first. */
function largestRise(bound: usize, best: usize, bytes: usize): u32 {
  let largest: u32 = 0;
  for (let lane: usize = 0; lane < bytes; lane += 2) {
    const b = <u32>load<u16>(bound + lane),
      known = <u32>load<u16>(best + lane);
    if (b > known) largest = max(largest, b - known);
  }
  return largest;
}

/** The cells of one block that lie in the circle. */
function takeBlock(spans: usize, blockRow: i32, block: i32, tile: usize, stride: usize, best: usize): void {
  const firstRow = spansFirstRow(spans);
  const firsts = spansFirsts(spans),
    spanStride = spansStride(spans);
  const from = max(blockRow * BLOCK_SIZE, firstRow),
    to = min(blockRow * BLOCK_SIZE + BLOCK_SIZE, firstRow + spansRowCount(spans));
  const west = block * BLOCK_SIZE;
  const stepsMax = i16x8.splat(<i16>STEPS_MAX),
    one = i16x8.splat(1);
  for (let row = from; row < to; row++) {
    const at = firsts + ((<usize>(row - firstRow)) << 2);
    const first = max(load<i32>(at), west),
      last = min(load<i32>(at + spanStride), west + BLOCK_SIZE - 1);
    let cell = tile + <usize>((row % TILE_SIZE) * TILE_SIZE + (first % TILE_SIZE)) * stride;
    for (let column = first; column <= last; column++, cell += stride) {
      for (let lane: usize = 0; lane < stride; lane += 16) {
        const steps = v128.load(cell + lane);
        const raised = v128.and(i16x8.add(steps, one), i16x8.le_u(steps, stepsMax));
        v128.store(best + lane, i16x8.max_u(v128.load(best + lane), raised));
      }
    }
  }
}
