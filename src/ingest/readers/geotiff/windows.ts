/** Reads windows of bands in steps of bounded size; reading can be aborted between steps. */
import { setImmediate } from "node:timers/promises";
import type { GeoTIFFImage, Pool } from "geotiff";
import { Fault } from "../../../errors.ts";
import { type BandWindow, messageOf, type RasterValues, sourceFault } from "../../raster.ts";
import type { BlockIndex, Box, SparseBlocks } from "./blockIndex.ts";
import { type BlockReader, storedBlocks } from "./blockReader.ts";
import type { Layout } from "./layout.ts";

/** Decoded size of the blocks read in one step; a larger block is read alone. */
const STEP_BYTES = 16 << 20;
/** Largest number of blocks read in one step. */
const STEP_BLOCK_COUNT_MAX = 1024;
/** Windows with up to this many values in all bands are cached. */
const CACHED_VALUE_COUNT_MAX = 25_000_000;

export interface ReadContext {
  readonly file: string;
  readonly image: GeoTIFFImage;
  readonly layout: Layout;
  readonly decoders: Pool;
  readonly blockIndex: BlockIndex;
  /** Undefined if geotiff.js must read the blocks. */
  readonly blocks: BlockReader | undefined;
  readonly isSouthUp: boolean;
  /** Returns the test for missing values of a band, if it has one. */
  readonly isMissing: (band: number) => ((value: number) => boolean) | undefined;
  readonly signal: AbortSignal | undefined;
  /** The last window of a file with pixel-interleaved bands, and the last block of a file with large blocks. */
  readonly cached: { key?: string; bands?: Promise<readonly RasterValues[]>; block?: string };
}

function emptyValues(layout: Layout, count: number): RasterValues {
  return layout.fitsFloat32 ? new Float32Array(count) : new Float64Array(count);
}

/**
 * Reads a window, given in columns of the file, as north-up values with missing values as NaN.
 * @throws Fault `source_invalid` naming file and window if the bytes cannot be read; the abort reason of the signal
 */
export async function readStoredWindow(context: ReadContext, window: BandWindow): Promise<RasterValues> {
  const { layout, isSouthUp } = context;
  const { band, rowCount, firstColumn, columnCount } = window;
  const top = isSouthUp ? layout.rowCount - window.firstRow - rowCount : window.firstRow;
  const box = { left: firstColumn, top, right: firstColumn + columnCount, bottom: top + rowCount };
  const where = `band ${band}, rows ${window.firstRow} to ${window.firstRow + rowCount - 1}, columns ${firstColumn} to ${box.right - 1}`;

  const sparse = await context.blockIndex.check(box, band, where);
  const values =
    context.blocks === undefined
      ? await readWithGeotiff(context, window, { box, band, where, sparse })
      : await readBlocks({ ...context, blocks: context.blocks }, { box, band, where, sparse });
  for (const block of sparse.isNodata ? sparse.boxes : []) {
    for (let row = block.top; row < block.bottom; row++) {
      const to = isSouthUp ? box.bottom - 1 - row : row - box.top;
      values.fill(NaN, to * columnCount + block.left - box.left, to * columnCount + block.right - box.left);
    }
  }
  return values;
}

/** Reads the stored blocks of a window with our own reader. Cells of omitted blocks are 0. */
async function readBlocks(
  context: ReadContext & { readonly blocks: BlockReader },
  { box, band, where, sparse }: BandPart,
): Promise<RasterValues> {
  const { file, layout, blockIndex, blocks, isSouthUp, signal } = context;
  const values = emptyValues(layout, (box.right - box.left) * (box.bottom - box.top));
  const isMissing = context.isMissing(band);
  try {
    for (const step of stepsOf(box, layout)) {
      await setImmediate(); // yields to the event loop, so that the signal can abort
      signal?.throwIfAborted();
      if (sparse.covers(step)) continue;
      const stored = await storedBlocks(blockIndex, layout, { box: step, band, where });
      await blocks.addBlocks(stored, { box, values, isSouthUp, isMissing });
    }
  } catch (error) {
    throw readFault(error, { file, where, signal });
  }
  return values;
}

async function readWithGeotiff(context: ReadContext, window: BandWindow, part: BandPart): Promise<RasterValues> {
  const values = copyNorthUp(await readBand(context, part), window, context.isSouthUp);
  const isMissing = context.isMissing(part.band);
  if (isMissing === undefined) return values;
  for (let i = 0; i < values.length; i++) if (isMissing(values[i] ?? NaN)) values[i] = NaN;
  return values;
}

/** Returns the error for a window that cannot be read. */
function readFault(
  error: unknown,
  { file, where, signal }: Pick<ReadContext, "file" | "signal"> & { readonly where: string },
): unknown {
  if (signal?.aborted === true) return signal.reason;
  if (error instanceof Fault) return error;
  return sourceFault(file, `cannot be read at ${where} (${messageOf(error)}). It is damaged or truncated.`, {
    cause: error,
  });
}

/** A part of one band, in the row order of the file. */
interface BandPart {
  readonly box: Box;
  readonly band: number;
  /** Description for error messages. */
  readonly where: string;
  readonly sparse: SparseBlocks;
}

/** Returns a copy of a window with the northernmost row first. */
function copyNorthUp(stored: RasterValues, { rowCount, columnCount }: BandWindow, isSouthUp: boolean): RasterValues {
  const values = stored.slice();
  if (!isSouthUp) return values;
  for (let row = 0; row < rowCount; row++) {
    const from = (rowCount - 1 - row) * columnCount;
    values.set(stored.subarray(from, from + columnCount), row * columnCount);
  }
  return values;
}

/**
 * Returns the values of one band in the row order of the file. With pixel-interleaved bands, decoding a block yields all
 * bands; the last window is cached with all bands, because the other bands are usually read next.
 */
async function readBand(context: ReadContext, part: BandPart): Promise<RasterValues> {
  const { layout, cached } = context;
  const { box, band } = part;
  const valueCount = (box.right - box.left) * (box.bottom - box.top) * layout.bandCount;
  if (layout.bandCount === 1 || layout.isPlanar || valueCount > CACHED_VALUE_COUNT_MAX) {
    const [values] = await readBands(context, part, [band - 1]);
    return values ?? emptyValues(layout, 0);
  }
  const key = [box.left, box.top, box.right, box.bottom].join(" ");
  if (cached.key !== key || cached.bands === undefined) {
    const all = Array.from({ length: layout.bandCount }, (_, index) => index);
    const bands = readBands(context, part, all);
    cached.key = key;
    cached.bands = bands;
    bands.catch(() => {
      if (cached.bands === bands) delete cached.bands; // do not cache a failure
    });
  }
  return (await cached.bands)[band - 1] ?? emptyValues(layout, 0);
}

async function readBands(
  context: ReadContext,
  { box, band, where, sparse }: BandPart,
  samples: readonly number[],
): Promise<readonly RasterValues[]> {
  const { file, image, layout, decoders, signal } = context;
  const columnCount = box.right - box.left;
  const bands = samples.map(() => emptyValues(layout, columnCount * (box.bottom - box.top)));
  try {
    for (const step of stepsOf(box, layout)) {
      await setImmediate(); // yields to the event loop, so that the signal can abort
      signal?.throwIfAborted();
      if (sparse.covers(step)) continue;
      keepLargeBlock(context, step, band);
      const read = await image.readRasters({
        window: [step.left, step.top, step.right, step.bottom],
        samples: [...samples],
        interleave: false,
        pool: decoders,
        ...(signal === undefined ? {} : { signal }),
      });
      const width = step.right - step.left;
      for (const [index, values] of bands.entries()) {
        const part = read[index] as Exclude<(typeof read)[number], number>;
        for (let row = step.top; row < step.bottom; row++) {
          const from = (row - step.top) * width;
          values.set(part.subarray(from, from + width), (row - box.top) * columnCount + step.left - box.left);
        }
      }
    }
  } catch (error) {
    throw readFault(error, { file, where, signal });
  }
  return bands;
}

/**
 * Keeps the last decoded block of a file whose blocks are read one at a time. Windows are usually smaller than such a block:
 * without the cache, every window would decode the whole block again and leave its memory to garbage collection.
 */
function keepLargeBlock({ image, layout, cached }: ReadContext, step: Box, band: number): void {
  if (layout.expandedBlockBytes <= STEP_BYTES) return;
  const down = Math.floor(step.top / layout.blockRowCount);
  const across = Math.floor(step.left / layout.blockColumnCount);
  const block = [down, across, layout.isPlanar ? band : 0].join(" ");
  if (cached.block === block) return;
  cached.block = block;
  image.tiles = []; // the cache of geotiff.js
}

/** Splits a box along block boundaries, so that each block is decoded once and only a few are in memory at a time. */
function* stepsOf(box: Box, { blockRowCount, blockColumnCount, expandedBlockBytes }: Layout): Generator<Box> {
  const blockCountMax = Math.min(STEP_BLOCK_COUNT_MAX, Math.max(1, Math.floor(STEP_BYTES / expandedBlockBytes)));
  const acrossCount = Math.ceil(box.right / blockColumnCount) - Math.floor(box.left / blockColumnCount);
  const across = Math.min(acrossCount, blockCountMax);
  const down = Math.max(1, Math.floor(blockCountMax / across));
  const blockEdge = (cell: number, size: number, count: number): number => (Math.floor(cell / size) + count) * size;
  for (let top = box.top; top < box.bottom; top = blockEdge(top, blockRowCount, down)) {
    const bottom = Math.min(box.bottom, blockEdge(top, blockRowCount, down));
    for (let left = box.left; left < box.right; left = blockEdge(left, blockColumnCount, across)) {
      yield { top, bottom, left, right: Math.min(box.right, blockEdge(left, blockColumnCount, across)) };
    }
  }
}
