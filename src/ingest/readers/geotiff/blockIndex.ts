/** Positions of the blocks (strips or tiles) of an image. Each block is checked before geotiff.js reads it. */
import { sourceFault } from "../../raster.ts";
import type { ByteSource } from "./byteSource.ts";
import { type Directory, TAG } from "./directory.ts";
import type { Layout } from "./layout.ts";
import { canRepresent } from "./numberFormat.ts";

/** A rectangle of cells in the row order of the file; `right` and `bottom` are exclusive. */
export interface Box {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

/** Limits on the encoded size of a block: incompressible data grow by half with LZW, and by less with other methods. */
const ENCODED_RATIO_MAX = 2;
const ENCODED_BYTES_EXTRA = 65_536;
/** Number of block index entries read at a time. */
const INDEX_PAGE_ENTRY_COUNT = 512;

/** A part of the block index. */
interface IndexPage {
  readonly first: number;
  readonly end: number;
  readonly offsets: readonly number[];
  readonly sizes: readonly number[];
}

/** The blocks of a region that are omitted from a sparse file. */
export interface SparseBlocks {
  /** Whether the cells of these blocks are missing, because the band has a nodata value; otherwise they are zero. */
  readonly isNodata: boolean;
  /** In cells of the image. */
  readonly boxes: readonly Box[];
  /**
   * Returns whether all blocks of the region in the rows of `part` are omitted, so that it need not be read. The columns of
   * `part` are ignored.
   */
  covers(part: Box): boolean;
}

export interface BlockIndex {
  /**
   * Checks the blocks of a region: each must be within the file or omitted.
   *
   * @param band counted from 1
   * @param where location of the region in error messages
   * @returns the omitted blocks
   * @throws Fault `source_invalid` if a block is damaged or truncated, or if it is omitted and the number format of the
   *   file cannot represent its nodata value
   */
  check(box: Box, band: number, where: string): Promise<SparseBlocks>;
  /**
   * Returns the position of a block in the file, or undefined if it is omitted.
   * @throws Fault `source_invalid` if the block is damaged or truncated
   */
  find(
    block: { readonly down: number; readonly across: number },
    band: number,
    where: string,
  ): Promise<{ readonly offset: number; readonly sizeBytes: number } | undefined>;
}

/**
 * Returns the block index of the first image of a file.
 *
 * @param nodataOfBands the nodata value of each band, from index 0
 */
export function blockIndexOf(
  {
    file,
    layout,
    source,
    directory,
  }: {
    readonly file: string;
    readonly layout: Layout;
    readonly source: ByteSource;
    readonly directory: Directory;
  },
  nodataOfBands: readonly (number | undefined)[],
): BlockIndex {
  const { blockRowCount, blockColumnCount, acrossCount, downCount } = layout;
  const [offsetTag, sizeTag] = layout.isTiled
    ? [TAG.tileOffsets, TAG.tileByteCounts]
    : [TAG.stripOffsets, TAG.stripByteCounts];
  let cachedPage: IndexPage | undefined;

  const readPage = async (index: number): Promise<IndexPage> => {
    const first = Math.floor(index / INDEX_PAGE_ENTRY_COUNT) * INDEX_PAGE_ENTRY_COUNT;
    if (cachedPage?.first === first) return cachedPage;
    const count = Math.min(directory.count(offsetTag), directory.count(sizeTag));
    const end = Math.min(first + INDEX_PAGE_ENTRY_COUNT, count);
    // Windows are read concurrently: build a complete page before replacing the cached one.
    const page: IndexPage = {
      first,
      end,
      offsets: await directory.numbers(offsetTag, first, end),
      sizes: await directory.numbers(sizeTag, first, end),
    };
    cachedPage = page;
    return page;
  };

  /** Returns whether a block is omitted from the file. @throws Fault `source_invalid` if it is damaged or truncated */
  const isOmitted = (page: IndexPage, index: number, where: string): boolean => {
    const offset = page.offsets[index - page.first] ?? NaN;
    const sizeBytes = page.sizes[index - page.first] ?? NaN;
    if (offset === 0 && sizeBytes === 0) return true;
    if (!(offset >= 8 && sizeBytes > 0)) {
      throw sourceFault(
        file,
        `is damaged at ${where}: one of its blocks has ${sizeBytes} bytes at byte ${offset}. An omitted block has 0 bytes at byte 0.`,
        { details: { offset, sizeBytes } },
      );
    }
    if (!(offset + sizeBytes <= source.sizeBytes)) {
      throw sourceFault(
        file,
        `is truncated at ${where}: one of its blocks would end at byte ${offset + sizeBytes}, but the file ends at byte ${source.sizeBytes}.`,
        { details: { offset, sizeBytes: source.sizeBytes } },
      );
    }
    const encodedBytesMax = ENCODED_RATIO_MAX * layout.blockBytes + ENCODED_BYTES_EXTRA;
    if (!(sizeBytes <= encodedBytesMax)) {
      throw sourceFault(
        file,
        `is damaged at ${where}: a block of ${layout.blockBytes} bytes has an encoded size of ${sizeBytes} bytes; at most ${encodedBytesMax} bytes are accepted.`,
        { details: { offset, sizeBytes } },
      );
    }
    return false;
  };

  const planeStartOf = (band: number): number => (layout.isPlanar ? (band - 1) * acrossCount * downCount : 0);

  return {
    async find({ down, across }, band, where) {
      const index = planeStartOf(band) + down * acrossCount + across;
      const page = await readPage(index);
      if (isOmitted(page, index, where)) return undefined;
      return { offset: page.offsets[index - page.first] ?? NaN, sizeBytes: page.sizes[index - page.first] ?? NaN };
    },

    async check(box, band, where) {
      // As in GDAL, bands that share an omitted block may have different nodata values.
      const nodata = nodataOfBands[band - 1];
      const planeStart = planeStartOf(band);
      const boxes: Box[] = [];
      const omittedCounts = new Map<number, number>(); // by row of blocks
      let page: IndexPage | undefined;
      for (let down = Math.floor(box.top / blockRowCount); down * blockRowCount < box.bottom; down++) {
        for (let across = Math.floor(box.left / blockColumnCount); across * blockColumnCount < box.right; across++) {
          const index = planeStart + down * acrossCount + across;
          if (page === undefined || index < page.first || index >= page.end) page = await readPage(index);
          if (!isOmitted(page, index, where)) continue;
          if (nodata !== undefined && !canRepresent(nodata, layout.format)) {
            throw sourceFault(
              file,
              `omits blocks at ${where}. It is unknown whether their cells are 0 or missing, because the file's number format cannot represent its nodata value ${nodata}. ` +
                "Write all blocks with gdal_translate.",
            );
          }
          omittedCounts.set(down, (omittedCounts.get(down) ?? 0) + 1);
          boxes.push({
            left: Math.max(box.left, across * blockColumnCount),
            right: Math.min(box.right, (across + 1) * blockColumnCount),
            top: Math.max(box.top, down * blockRowCount),
            bottom: Math.min(box.bottom, (down + 1) * blockRowCount),
          });
        }
      }
      const blocksPerRow = Math.ceil(box.right / blockColumnCount) - Math.floor(box.left / blockColumnCount);
      return {
        isNodata: nodata !== undefined,
        boxes,
        covers(part) {
          for (let down = Math.floor(part.top / blockRowCount); down * blockRowCount < part.bottom; down++) {
            if (omittedCounts.get(down) !== blocksPerRow) return false;
          }
          return true;
        },
      };
    },
  };
}
