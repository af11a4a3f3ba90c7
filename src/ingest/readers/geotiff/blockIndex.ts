/** Where the blocks of an image are in its file. Each is checked before geotiff.js reads it. */
import { sourceFault } from "../../raster.ts";
import type { ByteSource } from "./byteSource.ts";
import { type Directory, TAG } from "./directory.ts";
import { canRepresent, type Layout } from "./layout.ts";

/** Cells of an image in the file's order: right and bottom are past the end. */
export interface Box {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

/** Data that do not compress become longer: LZW by half, all others by less. */
const ENCODED_RATIO_MAX = 2;
const ENCODED_BYTES_EXTRA = 65_536;
/** Entries of the block index that are read at a time. */
const INDEX_PAGE = 512;

/** A part of the block index. */
interface IndexPage {
  readonly first: number;
  readonly end: number;
  readonly offsets: readonly number[];
  readonly sizes: readonly number[];
}

/** The blocks that were left out of a file, under some cells. */
export interface SparseBlocks {
  /** True where they are missing: the file declares a nodata value. They are zeros where it does not. */
  readonly isNodata: boolean;
  /** In cells of the image. */
  readonly boxes: readonly Box[];
  /** Whether a part of the cells is in such blocks alone, and need not be read. */
  covers(part: Box): boolean;
}

export interface BlockIndex {
  /**
   * Checks the blocks under some cells: each must lie within the file, or was left out.
   * @returns which of them were left out
   */
  check(box: Box, band: number, where: string): Promise<SparseBlocks>;
}

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
  nodata: number | undefined,
): BlockIndex {
  const { blockRowCount, blockColumnCount, acrossCount, downCount } = layout;
  const [offsetTag, sizeTag] = layout.isTiled
    ? [TAG.tileOffsets, TAG.tileByteCounts]
    : [TAG.stripOffsets, TAG.stripByteCounts];
  let remembered: IndexPage | undefined;

  const pageOf = async (index: number): Promise<IndexPage> => {
    const first = Math.floor(index / INDEX_PAGE) * INDEX_PAGE;
    if (remembered?.first === first) return remembered;
    const count = Math.min(directory.count(offsetTag), directory.count(sizeTag));
    const end = Math.min(first + INDEX_PAGE, count);
    // Several windows are read at a time: what is remembered must be one page, never parts of two.
    const page: IndexPage = {
      first,
      end,
      offsets: await directory.numbers(offsetTag, first, end),
      sizes: await directory.numbers(sizeTag, first, end),
    };
    remembered = page;
    return page;
  };

  /** Returns true for a block that was left out. */
  const isSparse = (page: IndexPage, index: number, where: string): boolean => {
    const offset = page.offsets[index - page.first] ?? NaN;
    const sizeBytes = page.sizes[index - page.first] ?? NaN;
    if (offset === 0 && sizeBytes === 0) return true;
    if (!(offset >= 8 && sizeBytes > 0)) {
      throw sourceFault(
        file,
        `is damaged at ${where}: a block of it should be ${sizeBytes} bytes at byte ${offset}. Only 0 bytes at 0 mean that it was left out.`,
        { details: { offset, sizeBytes } },
      );
    }
    if (!(offset + sizeBytes <= source.sizeBytes)) {
      throw sourceFault(
        file,
        `is cut short at ${where}: a block of it should end at byte ${offset + sizeBytes}, the file ends at ${source.sizeBytes}.`,
        { details: { offset, sizeBytes: source.sizeBytes } },
      );
    }
    if (!(sizeBytes <= ENCODED_RATIO_MAX * layout.blockBytes + ENCODED_BYTES_EXTRA)) {
      throw sourceFault(
        file,
        `is damaged at ${where}: a block of ${layout.blockBytes} bytes takes ${sizeBytes} bytes in the file.`,
        { details: { offset, sizeBytes } },
      );
    }
    return false;
  };

  return {
    async check(box, band, where) {
      const planeStart = layout.isPlanar ? (band - 1) * acrossCount * downCount : 0;
      const boxes: Box[] = [];
      const rows = new Map<number, number>();
      let page: IndexPage | undefined;
      for (let down = Math.floor(box.top / blockRowCount); down * blockRowCount < box.bottom; down++) {
        for (let across = Math.floor(box.left / blockColumnCount); across * blockColumnCount < box.right; across++) {
          const index = planeStart + down * acrossCount + across;
          if (page === undefined || index < page.first || index >= page.end) page = await pageOf(index);
          if (!isSparse(page, index, where)) continue;
          if (nodata !== undefined && !canRepresent(nodata, layout.format)) {
            throw sourceFault(
              file,
              `leaves blocks out at ${where}, which may mean 0 or missing: its nodata value ${nodata} is none that its integers hold. Write all blocks: gdal_translate.`,
            );
          }
          rows.set(down, (rows.get(down) ?? 0) + 1);
          boxes.push({
            left: Math.max(box.left, across * blockColumnCount),
            right: Math.min(box.right, (across + 1) * blockColumnCount),
            top: Math.max(box.top, down * blockRowCount),
            bottom: Math.min(box.bottom, (down + 1) * blockRowCount),
          });
        }
      }
      const across = Math.ceil(box.right / blockColumnCount) - Math.floor(box.left / blockColumnCount);
      return {
        isNodata: nodata !== undefined,
        boxes,
        covers(part) {
          for (let down = Math.floor(part.top / blockRowCount); down * blockRowCount < part.bottom; down++) {
            if (rows.get(down) !== across) return false;
          }
          return true;
        },
      };
    },
  };
}
