import { STEPS_MAX, TILE_SIZE } from "./cells";
import {
  BLOCK_SIZE,
  boundTilesOf,
  cellTilesOf,
  pyramidColumnCountOf,
  rowCountOf,
  tileColumnCountOf,
  useTile,
  vectorCountOf,
} from "./field";
import { spansFirstRow, spansFirsts, spansRowCount, spansStride } from "./spans";
import { STATUS_FULL, STATUS_MISSING, STATUS_OK } from "./status";

/** Blocks along one edge of a pyramid tile. */
const PYRAMID_BLOCKS: i32 = 64;
/** Bytes of the scratch of one row of blocks, i32[4]: first block, first and last block entirely inside, last block. */
const BLOCK_ROW_BYTES: usize = 16;

/**
 * Computes the maximum over a circle from the bounds of 8 x 8 blocks. Blocks entirely inside contribute their bound;
 * the cells of a block on the rim are read only if its bound exceeds the maximum so far.
 *
 * In, out  best     u16[lane]: maximum so far (0 = no valid cell, else steps + 1)
 * Out      missing  i32[2]: number of pyramid tiles that are not in memory, and number of entries for rim blocks whose
 *                   data tile is not in memory. Then i32[], the indices of the pyramid tiles; or, for each rim block
 *                   that may raise the maximum, i32[2]: index of its data tile, and the largest rise of the maximum of
 *                   any lane that it could cause. If pyramid tiles are missing, nothing else is computed
 * Scratch  rows     16 bytes per row of blocks
 * Cost     Proportional to the length of the rim in blocks, plus the cells of a few blocks.
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
  if (!ASC_NO_ASSERT)
    assert(firstRow >= 0 && firstRow + rowCount <= rowCountOf(field), "the row spans must be inside the grid");
  const firstBlockRow = firstRow / BLOCK_SIZE;
  const lastBlockRow = (firstRow + rowCount - 1) / BLOCK_SIZE;
  let status = findBlockRanges(field, spans, firstBlockRow, lastBlockRow, rows, missing, missingCapacity);
  if (status != STATUS_OK) return status;
  scanInnerBlocks(field, firstBlockRow, lastBlockRow, rows, best);
  status = scanRimBlocks(field, spans, firstBlockRow, lastBlockRow, rows, best, missing, missingCapacity);
  if (status != STATUS_MISSING) return status;
  // Repeat: tiles in memory may have raised the maximum above the bounds of blocks that the first pass already listed.
  return scanRimBlocks(field, spans, firstBlockRow, lastBlockRow, rows, best, missing, missingCapacity);
}

/** Finds the range of blocks in each row of blocks, and lists those blocks' pyramid tiles that are not in memory. */
function findBlockRanges(
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
    // No block is entirely inside if one of its rows is empty or outside the circle.
    let minFirst = i32.MAX_VALUE,
      maxLast = -1;
    let maxFirst = to - from < BLOCK_SIZE ? i32.MAX_VALUE : 0,
      minLast = to - from < BLOCK_SIZE ? -1 : i32.MAX_VALUE;
    for (let row = from; row < to; row++) {
      const firstAddress = firsts + ((<usize>(row - firstRow)) << 2);
      const first = load<i32>(firstAddress),
        last = load<i32>(firstAddress + stride);
      if (first > last) {
        maxFirst = i32.MAX_VALUE;
        minLast = -1;
        continue;
      }
      minFirst = min(minFirst, first);
      maxLast = max(maxLast, last);
      maxFirst = max(maxFirst, first);
      minLast = min(minLast, last);
    }
    let blockFirst = 0,
      blockLast = -1,
      insideFirst = 0,
      insideLast = -1;
    if (maxLast >= 0) {
      blockFirst = minFirst / BLOCK_SIZE;
      blockLast = maxLast / BLOCK_SIZE;
      if (maxFirst <= minLast) {
        insideFirst = (maxFirst + BLOCK_SIZE - 1) / BLOCK_SIZE;
        insideLast = (minLast + 1) / BLOCK_SIZE - 1;
      }
      if (insideFirst > insideLast) {
        insideFirst = blockLast + 1;
        insideLast = blockLast;
      }
      const pyramidRow = blockRow / PYRAMID_BLOCKS;
      for (let column = blockFirst / PYRAMID_BLOCKS; column <= blockLast / PYRAMID_BLOCKS; column++) {
        const tileIndex = pyramidRow * pyramidColumns + column;
        if (useTile(directory, tileIndex) != 0) continue;
        if (missingCount > 0 && load<i32>(missing + 4 + ((<usize>missingCount) << 2)) == tileIndex) continue;
        if (missingCount + 2 >= missingCapacity) {
          if (missingCount == 0) return STATUS_FULL;
          continue; // the caller fetches the listed tiles and calls again
        }
        missingCount++;
        store<i32>(missing + 4 + ((<usize>missingCount) << 2), tileIndex);
      }
    }
    store<i32>(out, blockFirst);
    store<i32>(out, insideFirst, 4);
    store<i32>(out, insideLast, 8);
    store<i32>(out, blockLast, 12);
  }
  store<i32>(missing, missingCount);
  store<i32>(missing, 0, 4);
  return missingCount > 0 ? STATUS_MISSING : STATUS_OK;
}

/** Raises `best` to the bounds of the blocks entirely inside, one vector of lanes after the other. */
function scanInnerBlocks(field: usize, firstBlockRow: i32, lastBlockRow: i32, rows: usize, best: usize): void {
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
      const blockRowOffset = (blockRow % PYRAMID_BLOCKS) * PYRAMID_BLOCKS;
      const pyramidRow = (blockRow / PYRAMID_BLOCKS) * pyramidColumns;
      while (block <= last) {
        const pyramidColumn = block / PYRAMID_BLOCKS;
        const end = min(last, pyramidColumn * PYRAMID_BLOCKS + PYRAMID_BLOCKS - 1);
        const tile = useTile(directory, pyramidRow + pyramidColumn);
        assert(tile != 0, "findBlockRanges must have found this pyramid tile in memory");
        let bounds = tile + <usize>(blockRowOffset + (block % PYRAMID_BLOCKS)) * stride + lane;
        for (; block <= end; block++, bounds += stride) high = i16x8.max_u(high, v128.load(bounds));
      }
    }
    v128.store(best + lane, high);
  }
}

/** Raises `best` to the maximum of the blocks on the rim; lists the data tiles that are needed but not in memory. */
function scanRimBlocks(
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
    const insideFirst = load<i32>(row, 4),
      insideLast = load<i32>(row, 8),
      blockLast = load<i32>(row, 12);
    const blockRowOffset = (blockRow % PYRAMID_BLOCKS) * PYRAMID_BLOCKS;
    const pyramidRow = (blockRow / PYRAMID_BLOCKS) * pyramidColumns;
    for (let block = load<i32>(row); block <= blockLast; block++) {
      if (block == insideFirst && insideFirst <= insideLast) block = insideLast + 1;
      if (block > blockLast) break;
      const bound =
        useTile(directory, pyramidRow + block / PYRAMID_BLOCKS) +
        <usize>(blockRowOffset + (block % PYRAMID_BLOCKS)) * stride;
      if (!canRaise(bound, best, stride)) continue;
      const tileIndex = (blockRow / BLOCK_SIZE) * tileColumns + block / BLOCK_SIZE;
      const tile = useTile(tiles, tileIndex);
      if (tile == 0) {
        if (missingCount * 2 + 4 > missingCapacity) continue; // the caller fetches the listed tiles and calls again
        const entry = missing + 8 + ((<usize>missingCount) << 3);
        store<i32>(entry, tileIndex);
        store<i32>(entry, <i32>largestRise(bound, best, stride), 4);
        missingCount++;
      } else {
        scanBlock(spans, blockRow, block, tile, stride, best);
      }
    }
  }
  store<i32>(missing, 0);
  store<i32>(missing, missingCount, 4);
  return missingCount > 0 ? STATUS_MISSING : STATUS_OK;
}

/** Returns whether a block's bound exceeds the maximum so far in any lane. */
function canRaise(bound: usize, best: usize, bytes: usize): bool {
  for (let lane: usize = 0; lane < bytes; lane += 16) {
    if (v128.any_true(i16x8.gt_u(v128.load(bound + lane), v128.load(best + lane)))) return true;
  }
  return false;
}

/**
 * Returns the largest rise of the maximum of any lane that a block could cause. The caller fetches the tile with the
 * largest rise first.
 */
function largestRise(bound: usize, best: usize, bytes: usize): u32 {
  let maxRise: u32 = 0;
  for (let lane: usize = 0; lane < bytes; lane += 2) {
    const blockBound = <u32>load<u16>(bound + lane),
      knownMax = <u32>load<u16>(best + lane);
    if (blockBound > knownMax) maxRise = max(maxRise, blockBound - knownMax);
  }
  return maxRise;
}

/** Raises `best` to the maximum of those cells of one block that are in the circle. */
function scanBlock(spans: usize, blockRow: i32, block: i32, tile: usize, stride: usize, best: usize): void {
  const firstRow = spansFirstRow(spans);
  const firsts = spansFirsts(spans),
    spanStride = spansStride(spans);
  const from = max(blockRow * BLOCK_SIZE, firstRow),
    to = min(blockRow * BLOCK_SIZE + BLOCK_SIZE, firstRow + spansRowCount(spans));
  const west = block * BLOCK_SIZE;
  const stepsMax = i16x8.splat(<i16>STEPS_MAX),
    one = i16x8.splat(1);
  for (let row = from; row < to; row++) {
    const firstAddress = firsts + ((<usize>(row - firstRow)) << 2);
    const first = max(load<i32>(firstAddress), west),
      last = min(load<i32>(firstAddress + spanStride), west + BLOCK_SIZE - 1);
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
