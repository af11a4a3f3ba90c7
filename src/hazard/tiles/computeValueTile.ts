import type { Sampler } from "../../atlas/sampler.ts";
import { TimeSlice } from "../../concurrency/timeSlice.ts";
import { pixelLatitudes, pixelLongitudes, TILE_PIXELS } from "../../tiles/mercator.ts";
import { STEP_NO_DATA, STEP_OUTSIDE, type ValueTile } from "../../tiles/valueTile.ts";
import { blockSizeOf, blocksOf, type CutBlock, cutBlockColumn, cutBlockRow } from "./pixelBlocks.ts";
import { findTileLayer } from "./tileLayer.ts";
import { checkTile, type ValueTileOptions, type ValueTileRequest } from "./tileRequest.ts";

/**
 * Returns a map tile. Where a pixel is at most as wide as a cell, it is the cell that contains its center; further out,
 * it is the maximum of the smallest block of the pyramid that is at least as wide as a pixel. A source without a pyramid
 * gives the cell at the center of each pixel at every zoom.
 *
 * @throws Fault `invalid_request`, `combination_unavailable`, `atlas_unavailable`
 */
export async function computeValueTile(
  sampler: Sampler,
  request: ValueTileRequest,
  { signal, timeSlice = new TimeSlice() }: ValueTileOptions & { readonly timeSlice?: TimeSlice } = {},
): Promise<ValueTile> {
  signal?.throwIfAborted();
  checkTile(request);
  const run = { timeSlice, signal };
  const { fieldLayer, grid } = findTileLayer(sampler, request);
  const { source, entry } = fieldLayer;
  const encoding = { stepsPerUnit: entry.steps_per_unit, offset: entry.offset };
  const cells = sampler.raster.locate(grid, {
    latitudes: pixelLatitudes(request),
    longitudes: pixelLongitudes(request),
  });
  const blockSizeCells = source.pyramid === undefined ? 1 : blockSizeOf(grid, request.z);
  if (blockSizeCells === 1) {
    const steps = await sampler.raster.readCells(fieldLayer, cells, run);
    return { ...encoding, isBlockMaximum: false, blockSizeCells, steps };
  }
  const cutRow = cutBlockRow(grid, request, blockSizeCells);
  const cutColumn = cutBlockColumn(grid, request, blockSizeCells);
  const blocks = {
    blockSizeCells,
    rows: withCutBlock(blocksOf(cells.rows, blockSizeCells), cutRow),
    columns: withCutBlock(blocksOf(cells.columns, blockSizeCells), cutColumn),
  };
  const maxima = await sampler.raster.readBlockMaxima(fieldLayer, blocks, run);
  const steps = mergeCutBlocks(maxima, { cutRow, cutColumn, columnCount: blocks.columns.length });
  return { ...encoding, isBlockMaximum: true, blockSizeCells, steps };
}

/** Appends the cut block, which the pixel shows in addition to the block at its center. */
function withCutBlock(blocks: Int32Array, cut: CutBlock | undefined): Int32Array {
  return cut === undefined ? blocks : Int32Array.of(...blocks, cut.block);
}

/** Merges the appended row and column of cut blocks into their pixels. */
function mergeCutBlocks(
  maxima: Uint16Array,
  cut: {
    readonly cutRow: CutBlock | undefined;
    readonly cutColumn: CutBlock | undefined;
    readonly columnCount: number;
  },
): Uint16Array {
  const { cutRow, cutColumn, columnCount } = cut;
  if (cutRow === undefined && cutColumn === undefined) return maxima;
  const steps = new Uint16Array(TILE_PIXELS * TILE_PIXELS);
  for (let row = 0; row < TILE_PIXELS; row++) {
    for (let column = 0; column < TILE_PIXELS; column++) {
      let step = maxima[row * columnCount + column] ?? STEP_OUTSIDE;
      const hasCutRow = cutRow?.pixel === row;
      const hasCutColumn = cutColumn?.pixel === column;
      if (hasCutRow) step = larger(step, maxima[TILE_PIXELS * columnCount + column]);
      if (hasCutColumn) step = larger(step, maxima[row * columnCount + TILE_PIXELS]);
      if (hasCutRow && hasCutColumn) step = larger(step, maxima[TILE_PIXELS * columnCount + TILE_PIXELS]);
      steps[row * TILE_PIXELS + column] = step;
    }
  }
  return steps;
}

/** Returns the larger of two steps. A value takes precedence over no data, and no data over outside. */
function larger(a: number, b = STEP_OUTSIDE): number {
  if (a < STEP_OUTSIDE && b < STEP_OUTSIDE) return Math.max(a, b);
  if (a < STEP_OUTSIDE) return a;
  if (b < STEP_OUTSIDE) return b;
  return a === STEP_NO_DATA ? a : b;
}
