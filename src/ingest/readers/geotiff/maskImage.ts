/** Images that mark missing cells: a mask in the file of the map, or in its sidecar `.msk`. */
import { isFault } from "../../../errors.ts";
import { messageOf, sourceFault } from "../../raster.ts";
import { blockIndexOf, type Box } from "./blockIndex.ts";
import { type ByteSource, openBytes } from "./byteSource.ts";
import { decodeBlock } from "./decoders.ts";
import { type Directories, type Directory, readDirectories, TAG } from "./directory.ts";
import { type Layout, readMaskLayout } from "./layout.ts";
import { toNativeBlock } from "./nativeBlock.ts";
import { readXml, XML_BYTES_MAX } from "./xml.ts";

/** A mask whose cells are those of the map, in the row order of the file. */
export interface MaskImage {
  /** Describes the mask in messages. */
  readonly name: string;
  /** The value of cells that are not missing; 0 marks missing cells. */
  readonly opaque: number;
  /** Reads the cells of a box for a band of the map, counted from 1. */
  read(box: Box, band: number, where: string): Promise<Uint8Array>;
  close(): Promise<void>;
}

const REDUCED = 1;
const MASK = 4;

/** Decoded blocks that are kept, because windows are usually lower than the blocks of a mask. */
const KEPT_BYTES_MAX = 16 << 20;

/**
 * Finds the mask in a file. Masks of overviews are ignored.
 * @throws Fault `source_invalid` if there are several, or the mask is not supported
 */
export async function findInternalMask(
  file: string,
  map: { readonly directories: Directories; readonly layout: Layout; readonly source: ByteSource },
): Promise<MaskImage | undefined> {
  const masks: Directory[] = [];
  for (const other of map.directories.others) {
    const kind = await other.number(TAG.newSubfileType, 0);
    const isMask = (kind & MASK) !== 0 || (await other.number(TAG.photometric, 1)) === MASK;
    if (isMask && (kind & REDUCED) === 0) masks.push(other);
  }
  const [directory, ...others] = masks;
  if (directory === undefined) return undefined;
  if (others.length > 0) {
    throw sourceFault(file, `has ${masks.length} masks of missing cells; one is supported. ${CONVERT_HINT}`);
  }
  const layout = await readMaskLayout(file, directory, { name: "its internal mask", map: map.layout });
  const isOfBand = layout.bandCount > 1;
  return maskImageOf(
    { file, layout, directory, source: map.source },
    { name: "the internal mask", sampleOf: (band) => (isOfBand ? band - 1 : 0), close: () => Promise.resolve() },
  );
}

const CONVERT_HINT = "Mark missing cells with a nodata value: gdalwarp -dstnodata -9999.";

/**
 * Opens the mask `<map>.msk`.
 * @param path its path or address
 * @throws Fault `source_invalid` naming the map and the mask
 */
export async function openMaskFile(
  file: string,
  {
    name,
    path,
    map,
    signal,
  }: {
    readonly name: string;
    readonly path: string;
    readonly map: Layout;
    readonly signal: AbortSignal | undefined;
  },
): Promise<MaskImage> {
  const source = await openBytes(path, signal);
  try {
    const { first: directory } = await readDirectories(path, source);
    const layout = await readMaskLayout(file, directory, { name: `its mask ${name}`, map });
    const samples = maskSamples(file, {
      name,
      metadata: await directory.text(TAG.gdalMetadata, XML_BYTES_MAX),
      maskBandCount: layout.bandCount,
      bandCount: map.bandCount,
    });
    return maskImageOf(
      { file, layout, directory, source },
      { name: `the mask ${name}`, sampleOf: (band) => samples[band - 1] ?? 0, close: () => source.close() },
    );
  } catch (error) {
    await source.close();
    signal?.throwIfAborted();
    if (isFault(error) && error.details["file"] === file) throw error;
    throw sourceFault(file, `its mask ${name} cannot be applied (${messageOf(error)}). ${CONVERT_HINT}`, {
      details: { sidecar: name },
      cause: error,
    });
  }
}

/** INTERNAL_MASK_FLAGS of GDAL: one mask for each band, or one for all bands. */
const OF_BAND = 0;
const OF_ALL_BANDS = 2;

/**
 * Returns the sample of the mask for each band of the map, from the metadata that GDAL writes into masks. GDAL ignores masks
 * without them.
 */
function maskSamples(
  file: string,
  {
    name,
    metadata,
    maskBandCount,
    bandCount,
  }: {
    readonly name: string;
    readonly metadata: string | undefined;
    readonly maskBandCount: number;
    readonly bandCount: number;
  },
): readonly number[] {
  const flags = new Map<string, number>();
  if (metadata !== undefined && metadata.trim() !== "") {
    readXml(metadata, ({ path, attributes, text }) => {
      const key = path.at(-1) === "item" ? attributes.at(-1)?.["name"]?.toUpperCase() : undefined;
      if (key !== undefined) flags.set(key, Number(text));
    });
  }
  return Array.from({ length: bandCount }, (_, index) => {
    const flag = flags.get(`INTERNAL_MASK_FLAGS_${index + 1}`);
    if (flag === OF_ALL_BANDS) return 0;
    if (flag === OF_BAND && index < maskBandCount) return index;
    throw sourceFault(
      file,
      `its mask ${name} has ${flag === undefined ? "no INTERNAL_MASK_FLAGS" : `INTERNAL_MASK_FLAGS ${flag}`} for band ${index + 1}; ${OF_ALL_BANDS} (one mask for all bands) and ${OF_BAND} (one for each band) are supported.`,
    );
  });
}

function maskImageOf(
  image: {
    readonly file: string;
    readonly layout: Layout;
    readonly directory: Directory;
    readonly source: ByteSource;
  },
  {
    name,
    sampleOf,
    close,
  }: {
    readonly name: string;
    readonly sampleOf: (band: number) => number;
    readonly close: () => Promise<void>;
  },
): MaskImage {
  const { file, layout, source } = image;
  const { blockRowCount, blockColumnCount, isPlanar } = layout;
  const index = blockIndexOf(image, []);
  const samplesPerBlock = isPlanar ? 1 : layout.bandCount;
  const rowBits = blockColumnCount * samplesPerBlock * layout.format.bits;
  const rowBytes = Math.ceil(rowBits / 8);
  const kept = new Map<string, Uint8Array>();

  const readBlock = async (block: { down: number; across: number }, sample: number, where: string) => {
    const key = [block.down, block.across, isPlanar ? sample : 0].join(" ");
    const known = kept.get(key);
    if (known !== undefined) return known;
    const position = await index.find(block, sample + 1, `${where} of the mask`);
    // Omitted blocks are 0, so that their cells are missing.
    if (position === undefined) return new Uint8Array(0);
    const encoded = await source.read(position.offset, position.sizeBytes);
    if (encoded.length < position.sizeBytes) throw new Error("the file was truncated while it was being read");
    const decoded = await decodeBlock(encoded, layout);
    const bytes = new Uint8Array(toNativeBlock(decoded as Uint8Array<ArrayBuffer>, layout));
    const rowCount = layout.isTiled
      ? blockRowCount
      : Math.min(blockRowCount, layout.rowCount - block.down * blockRowCount);
    if (bytes.length < rowCount * rowBytes) {
      throw new Error(`a block of ${rowCount * rowBytes} bytes decompresses to ${bytes.length} bytes`);
    }
    let keptBytes = bytes.length;
    for (const other of kept.values()) keptBytes += other.length;
    if (keptBytes > KEPT_BYTES_MAX) kept.clear();
    kept.set(key, bytes);
    return bytes;
  };

  const read: MaskImage["read"] = async (box, band, where) => {
    const sample = sampleOf(band);
    const columnCount = box.right - box.left;
    const cells = new Uint8Array(columnCount * (box.bottom - box.top));
    for (let down = Math.floor(box.top / blockRowCount); down * blockRowCount < box.bottom; down++) {
      for (let across = Math.floor(box.left / blockColumnCount); across * blockColumnCount < box.right; across++) {
        const bytes = await readBlock({ down, across }, sample, where);
        if (bytes.length === 0) continue;
        const [blockTop, blockLeft] = [down * blockRowCount, across * blockColumnCount];
        const left = Math.max(box.left, blockLeft);
        const right = Math.min(box.right, blockLeft + blockColumnCount);
        const bottom = Math.min(box.bottom, blockTop + blockRowCount);
        for (let row = Math.max(box.top, blockTop); row < bottom; row++) {
          for (let column = left; column < right; column++) {
            const position = (column - blockLeft) * samplesPerBlock + (isPlanar ? 0 : sample);
            cells[(row - box.top) * columnCount + column - box.left] = sampleAt(
              bytes,
              (row - blockTop) * rowBytes,
              position,
            );
          }
        }
      }
    }
    return cells;
  };
  const sampleAt =
    layout.format.bits === 8
      ? (bytes: Uint8Array, rowStart: number, position: number): number => bytes[rowStart + position] as number
      : (bytes: Uint8Array, rowStart: number, position: number): number =>
          ((bytes[rowStart + (position >> 3)] as number) >> (7 - (position & 7))) & 1;

  return {
    name,
    opaque: 2 ** layout.format.bits - 1,
    close,
    async read(box, band, where) {
      try {
        return await read(box, band, where);
      } catch (error) {
        if (isFault(error)) throw error;
        throw sourceFault(
          file,
          `${name} cannot be read at ${where} (${messageOf(error)}). It is damaged or truncated.`,
          { cause: error },
        );
      }
    },
  };
}
