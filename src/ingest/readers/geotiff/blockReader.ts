/**
 * Reads the blocks of ordinary files directly into the values of a window: one band per block, little-endian, integers of 8
 * to 32 bits and floats of 32 and 64 bits. geotiff.js, which reads all other layouts, copies every value several times.
 */
import type { RasterValues } from "../../raster.ts";
import type { BlockIndex, Box } from "./blockIndex.ts";
import type { ByteSource } from "./byteSource.ts";
import { decodeBlock } from "./decoders.ts";
import type { Layout } from "./layout.ts";
import type { NumberFormat } from "./numberFormat.ts";
import { toNativeBlock } from "./nativeBlock.ts";

/**
 * Size above which the last decoded block is kept. Windows are usually smaller than such a block: without it, every window
 * would decode the whole block again and leave its memory to garbage collection.
 */
const KEPT_BLOCK_BYTES_MIN = 16 << 20;
/** Largest read of blocks that are adjacent in the file. */
const READ_BYTES_MAX = 4 << 20;

type BlockNumbers = Int8Array | Uint8Array | Int16Array | Uint16Array | Int32Array | Uint32Array | RasterValues;

/** Position of a stored block in the file and in the image. */
export interface StoredBlock {
  readonly offset: number;
  readonly sizeBytes: number;
  /** In blocks. */
  readonly down: number;
  readonly across: number;
}

/** The values of a window, north up, to which blocks are added. */
interface WindowTarget {
  /** The window in the row order of the file. */
  readonly box: Box;
  readonly values: RasterValues;
  readonly isSouthUp: boolean;
  readonly isMissing: ((value: number) => boolean) | undefined;
}

export interface BlockReader {
  /**
   * Adds the cells of stored blocks to a window, with missing values as NaN.
   * @throws Error if a block is damaged
   */
  addBlocks(blocks: readonly StoredBlock[], target: WindowTarget): Promise<void>;
}

/** Returns the reader of the blocks of a file, or undefined if geotiff.js must read it. */
export function blockReaderOf(layout: Layout, source: ByteSource): BlockReader | undefined {
  const { predictor, isLittleEndian, format } = layout;
  const numbers = numbersOf(format);
  const hasOneBand = layout.bandCount === 1 || layout.isPlanar;
  if (numbers === undefined || !isLittleEndian || !hasOneBand) return undefined;
  let kept: { readonly offset: number; readonly values: BlockNumbers } | undefined;

  const decode = async (encoded: Uint8Array, rowCount: number): Promise<BlockNumbers> => {
    const sizeBytes = rowCount * layout.blockColumnCount * (format.bits / 8);
    const decoded = await decodeBlock(encoded, layout);
    if (decoded.length < sizeBytes)
      throw new Error(`a block of ${sizeBytes} bytes decompresses to ${decoded.length} bytes`);
    const bytes = decoded.subarray(0, sizeBytes);
    if (predictor === 1) return numbers(bytes);
    // Copied because the predictor is undone in place, and the bytes of an uncompressed block are part of a larger read.
    const own = decoded.buffer === encoded.buffer ? new Uint8Array(bytes) : (bytes as Uint8Array<ArrayBuffer>);
    return numbers(new Uint8Array(toNativeBlock(own, layout)));
  };

  return {
    async addBlocks(blocks, target) {
      for (const run of adjacentRuns(blocks)) {
        const [first] = run.blocks;
        if (first !== undefined && run.blocks.length === 1 && kept?.offset === first.offset) {
          addBlock(kept.values, first, layout, target);
          continue;
        }
        const bytes = await source.read(run.offset, run.sizeBytes);
        if (bytes.length < run.sizeBytes) throw new Error("the file was truncated while it was being read");
        for (const block of run.blocks) {
          const from = block.offset - run.offset;
          const rowCount = storedRowCount(layout, block.down);
          const values = await decode(bytes.subarray(from, from + block.sizeBytes), rowCount);
          addBlock(values, block, layout, target);
          if (layout.blockBytes > KEPT_BLOCK_BYTES_MIN) kept = { offset: block.offset, values };
        }
      }
    },
  };
}

/** Returns the blocks of a region that are stored, in the order of their rows and columns. */
export async function storedBlocks(
  index: BlockIndex,
  layout: Layout,
  { box, band, where }: { readonly box: Box; readonly band: number; readonly where: string },
): Promise<readonly StoredBlock[]> {
  const blocks: StoredBlock[] = [];
  const { blockRowCount, blockColumnCount } = layout;
  for (let down = Math.floor(box.top / blockRowCount); down * blockRowCount < box.bottom; down++) {
    for (let across = Math.floor(box.left / blockColumnCount); across * blockColumnCount < box.right; across++) {
      const stored = await index.find({ down, across }, band, where);
      if (stored !== undefined) blocks.push({ ...stored, down, across });
    }
  }
  return blocks;
}

/** The last strip of a file has only the remaining rows; tiles are always whole. */
function storedRowCount({ isTiled, rowCount, blockRowCount }: Layout, down: number): number {
  return isTiled ? blockRowCount : Math.min(blockRowCount, rowCount - down * blockRowCount);
}

interface Run {
  readonly offset: number;
  sizeBytes: number;
  readonly blocks: StoredBlock[];
}

/** Groups blocks that follow each other in the file, so that they are read together. */
function adjacentRuns(blocks: readonly StoredBlock[]): readonly Run[] {
  const runs: Run[] = [];
  for (const block of blocks) {
    const run = runs.at(-1);
    // GDAL writes the size of each block in four bytes before and after it.
    const gapBytes = run === undefined ? NaN : block.offset - (run.offset + run.sizeBytes);
    if (run !== undefined && gapBytes >= 0 && gapBytes <= 64 && run.sizeBytes + block.sizeBytes <= READ_BYTES_MAX) {
      run.sizeBytes += gapBytes + block.sizeBytes;
      run.blocks.push(block);
    } else {
      runs.push({ offset: block.offset, sizeBytes: block.sizeBytes, blocks: [block] });
    }
  }
  return runs;
}

/** Copies the part of a block that is in a window. */
function addBlock(
  numbers: BlockNumbers,
  { down, across }: StoredBlock,
  { blockRowCount, blockColumnCount }: Layout,
  { box, values, isSouthUp, isMissing }: WindowTarget,
): void {
  const columnCount = box.right - box.left;
  const [blockTop, blockLeft] = [down * blockRowCount, across * blockColumnCount];
  const left = Math.max(box.left, blockLeft);
  const width = Math.min(box.right, blockLeft + blockColumnCount) - left;
  const bottom = Math.min(box.bottom, blockTop + blockRowCount);
  for (let row = Math.max(box.top, blockTop); row < bottom; row++) {
    const from = (row - blockTop) * blockColumnCount + left - blockLeft;
    const windowRow = isSouthUp ? box.bottom - 1 - row : row - box.top;
    const to = windowRow * columnCount + left - box.left;
    if (isMissing === undefined) values.set(numbers.subarray(from, from + width), to);
    else copyWithMissing(numbers, values, { from, to, width }, isMissing);
  }
}

function copyWithMissing(
  numbers: BlockNumbers,
  values: RasterValues,
  { from, to, width }: { readonly from: number; readonly to: number; readonly width: number },
  isMissing: (value: number) => boolean,
): void {
  // Most cells have the same value as their neighbor: zero or nodata.
  let previous = NaN;
  let copied = NaN;
  for (let column = 0; column < width; column++) {
    const value = numbers[from + column] as number;
    if (value !== previous) {
      previous = value;
      copied = isMissing(value) ? NaN : value;
    }
    values[to + column] = copied;
  }
}

interface NumberArray {
  readonly BYTES_PER_ELEMENT: number;
  new (buffer: ArrayBufferLike, offset: number, length: number): BlockNumbers;
}

const NUMBER_ARRAYS: ReadonlyMap<string, NumberArray> = new Map<string, NumberArray>([
  ["unsigned 8", Uint8Array],
  ["unsigned 16", Uint16Array],
  ["unsigned 32", Uint32Array],
  ["integer 8", Int8Array],
  ["integer 16", Int16Array],
  ["integer 32", Int32Array],
  ["float 32", Float32Array],
  ["float 64", Float64Array],
]);

/** Returns the function that views bytes as numbers of a format, or undefined for a format that geotiff.js reads. */
function numbersOf({ kind, bits }: NumberFormat): ((bytes: Uint8Array) => BlockNumbers) | undefined {
  const type = NUMBER_ARRAYS.get(`${kind} ${bits}`);
  if (type === undefined) return undefined;
  return (bytes) => {
    const isAligned = bytes.byteOffset % type.BYTES_PER_ELEMENT === 0;
    const aligned = isAligned ? bytes : new Uint8Array(bytes);
    return new type(aligned.buffer, aligned.byteOffset, aligned.length / type.BYTES_PER_ELEMENT);
  };
}
