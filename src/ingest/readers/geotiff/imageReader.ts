/** Reads windows of an image: finds its blocks (strips or tiles), decodes them and copies their cells. */
import { setImmediate } from "node:timers/promises";
import { SizedCache } from "../../../concurrency/sizedCache.ts";
import { isFault } from "../../../errors.ts";
import { type BandWindow, messageOf, type RasterValues, sourceFault } from "../../raster.ts";
import type { ByteSource } from "../byteSource.ts";
import { type BlockNumbers, decodeBlock } from "./decoders.ts";
import { type Directory, TAG } from "./directory.ts";
import type { Layout } from "./layout.ts";
import { canRepresent } from "./nodata.ts";

/** Limits on the encoded size of a block: incompressible data grow by half with LZW, and by less with other methods. */
const ENCODED_RATIO_MAX = 2;
const ENCODED_BYTES_EXTRA = 65_536;
/** Number of entries of the block index that are read at a time. */
const INDEX_PAGE_ENTRY_COUNT = 512;
/** Limits of a run: largest read, decoded size and number of blocks. Reading can be aborted between runs. */
const RUN_BYTES_MAX = 4 << 20;
const RUN_DECODED_BYTES_MAX = 16 << 20;
const RUN_BLOCK_COUNT_MAX = 1024;
/**
 * Size of the decoded blocks that are kept if other windows need them again: blocks with several bands, because the other bands
 * are usually read next, and blocks that are larger than windows usually are.
 */
const KEPT_BYTES_MAX = 128 << 20;

/** The map of a file, or a mask of it. */
export interface Image {
  /** The path or address of the map. */
  readonly file: string;
  /** Describes a mask in messages, such as "the internal mask"; undefined for the map itself. */
  readonly maskName?: string;
  readonly layout: Layout;
  readonly source: ByteSource;
  readonly directory: Directory;
  readonly isSouthUp: boolean;
  /** The nodata value of each band, from index 0. Cells of omitted blocks have it; they are 0 if there is none. */
  readonly nodata: readonly (number | undefined)[];
  readonly signal: AbortSignal | undefined;
}

/** A rectangle of cells in the row order of the file; `right` and `bottom` are exclusive. */
interface Box {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

/** A part of the block index. */
interface IndexPage {
  readonly first: number;
  readonly end: number;
  readonly offsets: readonly number[];
  readonly sizes: readonly number[];
}

/** A block and its position in the file. */
interface Block {
  /** In blocks. */
  readonly down: number;
  readonly across: number;
  readonly offset: number;
  readonly sizeBytes: number;
}

/** The window that is being read, and its values so far. */
interface Target {
  readonly box: Box;
  readonly band: number;
  /** Description of the window for error messages. */
  readonly where: string;
  readonly values: RasterValues;
  readonly isMissing: ((value: number) => boolean) | undefined;
}

export class ImageReader {
  readonly #image: Image;
  readonly #kept: SizedCache<BlockNumbers> | undefined;
  #lastRun: Promise<void> = Promise.resolve();
  #indexPage: IndexPage | undefined;

  constructor(image: Image) {
    this.#image = image;
    const { bandCount, isPlanar, decodedBlockBytes } = image.layout;
    const isReadAgain = (bandCount > 1 && !isPlanar) || decodedBlockBytes > RUN_DECODED_BYTES_MAX;
    if (isReadAgain || image.maskName !== undefined) this.#kept = new SizedCache(KEPT_BYTES_MAX);
  }

  /**
   * Reads a window, given in columns of the file, as north-up numbers.
   *
   * @param isMissing numbers that become NaN; cells of omitted blocks are NaN if their band has a nodata value
   * @throws Fault `source_invalid` naming file and window if the bytes cannot be read; the abort reason of the signal
   */
  async read(window: BandWindow, isMissing?: (value: number) => boolean): Promise<RasterValues> {
    const { file, maskName, layout, isSouthUp, signal } = this.#image;
    const { band, rowCount, firstRow, firstColumn, columnCount } = window;
    const top = isSouthUp ? layout.rowCount - firstRow - rowCount : firstRow;
    const box = { left: firstColumn, top, right: firstColumn + columnCount, bottom: top + rowCount };
    const cells = `rows ${firstRow} to ${firstRow + rowCount - 1}, columns ${firstColumn} to ${box.right - 1}`;
    const where = maskName === undefined ? `band ${band}, ${cells}` : cells;
    const count = rowCount * columnCount;
    const values = layout.fitsFloat32 ? new Float32Array(count) : new Float64Array(count);
    try {
      await this.#fill({ box, band, where, values, isMissing });
      return values;
    } catch (error) {
      signal?.throwIfAborted();
      if (isFault(error)) throw error;
      const subject = maskName === undefined ? "" : `${maskName} `;
      throw sourceFault(
        file,
        `${subject}cannot be read at ${where} (${messageOf(error)}). It is damaged or truncated.`,
        { cause: error },
      );
    }
  }

  /** Reads blocks that follow each other in the file together. */
  async #fill(target: Target): Promise<void> {
    const { blockRowCount, blockColumnCount, decodedBlockBytes } = this.#image.layout;
    const { box } = target;
    const runCountMax = Math.min(RUN_BLOCK_COUNT_MAX, Math.floor(RUN_DECODED_BYTES_MAX / decodedBlockBytes));
    let run: Block[] = [];
    let visitedCount = 0;
    for (let down = Math.floor(box.top / blockRowCount); down * blockRowCount < box.bottom; down++) {
      for (let across = Math.floor(box.left / blockColumnCount); across * blockColumnCount < box.right; across++) {
        const block = await this.#find(down, across, target);
        if (block === undefined) this.#fillOmitted(down, across, target);
        else if (run.length < runCountMax && continues(run, block)) run.push(block);
        else {
          await this.#copyRun(run, target);
          run = [block];
        }
        if (++visitedCount % RUN_BLOCK_COUNT_MAX !== 0) continue;
        await this.#copyRun(run, target);
        run = [];
      }
    }
    await this.#copyRun(run, target);
  }

  async #copyRun(run: readonly Block[], target: Target): Promise<void> {
    await setImmediate(); // yields to the event loop, so that the signal can abort
    this.#image.signal?.throwIfAborted();
    if (this.#kept === undefined) return this.#decodeRun(run, target);
    // One at a time, so that bands that are read together decode their common blocks once.
    const copied = this.#lastRun.then(() => this.#decodeRun(run, target));
    this.#lastRun = copied.catch(() => undefined);
    return copied;
  }

  async #decodeRun(run: readonly Block[], target: Target): Promise<void> {
    const [first, last] = [run[0], run.at(-1)];
    if (first === undefined || last === undefined) return;
    const { layout, source } = this.#image;
    const kept = run.map(({ offset }) => this.#kept?.get(String(offset)));
    const sizeBytes = last.offset + last.sizeBytes - first.offset;
    const bytes = kept.includes(undefined) ? await source.read(first.offset, sizeBytes) : undefined;
    if (bytes !== undefined && bytes.length < sizeBytes)
      throw new Error("the file was truncated while it was being read");
    for (const [index, block] of run.entries()) {
      let numbers = kept[index];
      if (numbers === undefined) {
        const from = block.offset - first.offset;
        const encoded = (bytes as Uint8Array).subarray(from, from + block.sizeBytes);
        // The last strip of a file has only the remaining rows; tiles are always whole.
        const rowCount = Math.min(layout.blockRowCount, layout.rowCount - block.down * layout.blockRowCount);
        numbers = await decodeBlock(encoded, layout, layout.isTiled ? layout.blockRowCount : rowCount);
        this.#kept?.set(String(block.offset), numbers, numbers.byteLength);
      }
      this.#copyBlock(numbers, block, target);
    }
  }

  /** Copies the part of a block that is in the window. */
  #copyBlock(numbers: BlockNumbers, block: Block, { box, band, values, isMissing }: Target): void {
    const { layout, isSouthUp } = this.#image;
    const { blockRowCount, blockColumnCount } = layout;
    const stride = layout.isPlanar ? 1 : layout.bandCount;
    const sample = layout.isPlanar ? 0 : band - 1;
    const columnCount = box.right - box.left;
    const [blockTop, blockLeft] = [block.down * blockRowCount, block.across * blockColumnCount];
    const left = Math.max(box.left, blockLeft);
    const width = Math.min(box.right, blockLeft + blockColumnCount) - left;
    const bottom = Math.min(box.bottom, blockTop + blockRowCount);
    for (let row = Math.max(box.top, blockTop); row < bottom; row++) {
      const from = ((row - blockTop) * blockColumnCount + left - blockLeft) * stride + sample;
      const to = (isSouthUp ? box.bottom - 1 - row : row - box.top) * columnCount + left - box.left;
      if (stride === 1 && isMissing === undefined) values.set(numbers.subarray(from, from + width), to);
      else copyRow({ numbers, from, stride }, { values, to, width }, isMissing);
    }
  }

  /** Marks the cells of a block that is not stored. */
  #fillOmitted(down: number, across: number, { box, band, where, values }: Target): void {
    const { file, layout, nodata, isSouthUp } = this.#image;
    // As in GDAL, bands that share an omitted block may have different nodata values.
    const missing = nodata[band - 1];
    if (missing === undefined) return;
    if (!canRepresent(missing, layout.format)) {
      throw sourceFault(
        file,
        `omits blocks at ${where}. It is unknown whether their cells are 0 or missing, because the file's number format cannot represent its nodata value ${missing}. ` +
          "Write all blocks with gdal_translate.",
      );
    }
    const { blockRowCount, blockColumnCount } = layout;
    const columnCount = box.right - box.left;
    const left = Math.max(box.left, across * blockColumnCount) - box.left;
    const right = Math.min(box.right, (across + 1) * blockColumnCount) - box.left;
    const bottom = Math.min(box.bottom, (down + 1) * blockRowCount);
    for (let row = Math.max(box.top, down * blockRowCount); row < bottom; row++) {
      const to = (isSouthUp ? box.bottom - 1 - row : row - box.top) * columnCount;
      values.fill(NaN, to + left, to + right);
    }
  }

  /**
   * Returns a block, or undefined if it is omitted from a sparse file.
   * @throws Fault `source_invalid` if it is damaged or truncated
   */
  async #find(down: number, across: number, { band, where }: Target): Promise<Block | undefined> {
    const { file, maskName, layout, source } = this.#image;
    const plane = layout.isPlanar ? band - 1 : 0;
    const index = (plane * layout.downCount + down) * layout.acrossCount + across;
    let page = this.#indexPage;
    if (page === undefined || index < page.first || index >= page.end) page = await this.#readIndexPage(index);
    const offset = page.offsets[index - page.first] ?? NaN;
    const sizeBytes = page.sizes[index - page.first] ?? NaN;
    if (offset === 0 && sizeBytes === 0) return undefined;
    const position = maskName === undefined ? where : `${where} of the mask`;
    if (!(offset >= 8 && sizeBytes > 0)) {
      throw sourceFault(
        file,
        `is damaged at ${position}: one of its blocks has ${sizeBytes} bytes at byte ${offset}. An omitted block has 0 bytes at byte 0.`,
        { details: { offset, sizeBytes } },
      );
    }
    if (!(offset + sizeBytes <= source.sizeBytes)) {
      throw sourceFault(
        file,
        `is truncated at ${position}: one of its blocks would end at byte ${offset + sizeBytes}, but the file ends at byte ${source.sizeBytes}.`,
        { details: { offset, sizeBytes: source.sizeBytes } },
      );
    }
    const encodedBytesMax = ENCODED_RATIO_MAX * layout.blockBytes + ENCODED_BYTES_EXTRA;
    if (!(sizeBytes <= encodedBytesMax)) {
      throw sourceFault(
        file,
        `is damaged at ${position}: a block of ${layout.blockBytes} bytes has an encoded size of ${sizeBytes} bytes; at most ${encodedBytesMax} bytes are accepted.`,
        { details: { offset, sizeBytes } },
      );
    }
    return { down, across, offset, sizeBytes };
  }

  async #readIndexPage(index: number): Promise<IndexPage> {
    const { layout, directory } = this.#image;
    const [offsetTag, sizeTag] = layout.isTiled
      ? [TAG.tileOffsets, TAG.tileByteCounts]
      : [TAG.stripOffsets, TAG.stripByteCounts];
    const first = Math.floor(index / INDEX_PAGE_ENTRY_COUNT) * INDEX_PAGE_ENTRY_COUNT;
    const end = Math.min(first + INDEX_PAGE_ENTRY_COUNT, directory.count(offsetTag), directory.count(sizeTag));
    // Windows are read concurrently: a complete page is built before it replaces the last one.
    const page = {
      first,
      end,
      offsets: await directory.numbers(offsetTag, first, end),
      sizes: await directory.numbers(sizeTag, first, end),
    };
    this.#indexPage = page;
    return page;
  }
}

/** Returns whether a block follows those of a run in the file, so that it can be read with them. */
function continues(run: readonly Block[], { offset, sizeBytes }: Block): boolean {
  const [first, last] = [run[0], run.at(-1)];
  if (first === undefined || last === undefined) return true;
  // GDAL writes the size of each block in four bytes before and after it.
  const gapBytes = offset - (last.offset + last.sizeBytes);
  return gapBytes >= 0 && gapBytes <= 64 && offset + sizeBytes - first.offset <= RUN_BYTES_MAX;
}

/** Copies the numbers of one band of a row. */
function copyRow(
  { numbers, from, stride }: { readonly numbers: BlockNumbers; readonly from: number; readonly stride: number },
  { values, to, width }: { readonly values: RasterValues; readonly to: number; readonly width: number },
  isMissing: ((value: number) => boolean) | undefined,
): void {
  if (isMissing === undefined) {
    for (let at = from, column = to; column < to + width; at += stride, column++)
      values[column] = numbers[at] as number;
    return;
  }
  // Most cells have the same value as their neighbor: zero or nodata.
  let previous = NaN;
  let copied = NaN;
  for (let at = from, column = to; column < to + width; at += stride, column++) {
    const value = numbers[at] as number;
    if (value !== previous) {
      previous = value;
      copied = isMissing(value) ? NaN : value;
    }
    values[column] = copied;
  }
}
