/** Where the blocks of an image are in its file. Each is checked before geotiff.js reads it. */
import { sourceFault } from "../raster.ts";
import type { ByteSource } from "./byteSource.ts";
import { type Directory, TAG } from "./directory.ts";
import { holds, type Layout } from "./layout.ts";

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

export interface BlockIndex {
  /**
   * Checks the blocks under some cells: each must lie within the file. A block that was left out holds missing values
   * where the file declares a nodata value, zeros where it does not.
   * @returns the left-out blocks that are missing, in cells of the image
   */
  check(box: Box, band: number, where: string): Promise<readonly Box[]>;
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
  const remembered: { page?: number; offsets?: readonly number[]; sizes?: readonly number[] } = {};

  const placeOf = async (index: number): Promise<{ readonly offset: number; readonly sizeBytes: number }> => {
    const page = Math.floor(index / INDEX_PAGE);
    const first = page * INDEX_PAGE;
    if (remembered.page !== page) {
      const count = Math.min(directory.count(offsetTag), directory.count(sizeTag));
      const end = Math.min(first + INDEX_PAGE, count);
      remembered.offsets = await directory.numbers(offsetTag, first, end);
      remembered.sizes = await directory.numbers(sizeTag, first, end);
      remembered.page = page;
    }
    return {
      offset: remembered.offsets?.[index - first] ?? NaN,
      sizeBytes: remembered.sizes?.[index - first] ?? NaN,
    };
  };

  /** Returns true for a block that was left out. */
  const isHole = async (index: number, where: string): Promise<boolean> => {
    const { offset, sizeBytes } = await placeOf(index);
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
      const holes: Box[] = [];
      for (let down = Math.floor(box.top / blockRowCount); down * blockRowCount < box.bottom; down++) {
        for (let across = Math.floor(box.left / blockColumnCount); across * blockColumnCount < box.right; across++) {
          if (!(await isHole(planeStart + down * acrossCount + across, where))) continue;
          if (nodata === undefined) continue;
          if (!holds(nodata, layout.format)) {
            throw sourceFault(
              file,
              `leaves blocks out at ${where}, which may mean 0 or missing: its nodata value ${nodata} is none that its integers hold. Write all blocks: gdal_translate.`,
            );
          }
          holes.push({
            left: Math.max(box.left, across * blockColumnCount),
            right: Math.min(box.right, (across + 1) * blockColumnCount),
            top: Math.max(box.top, down * blockRowCount),
            bottom: Math.min(box.bottom, (down + 1) * blockRowCount),
          });
        }
      }
      return holes;
    },
  };
}
