/**
 * Reads the storage layout of the cells of a file from its first directory. Limits are checked before memory is allocated,
 * and features that could cause values to be misread are rejected with an error that names them.
 */
import { sourceFault } from "../../raster.ts";
import { BLOCK_COUNT_MAX, type Directory, TAG } from "./directory.ts";
import { nodataOf, type NumberFormat } from "./nodata.ts";

/** Largest number of rows, and of columns; a world map with cells of 1/3 arc second has 3,888,000 columns. */
const LINE_COUNT_MAX = 4_000_000;
/** Largest decoded size of a block, also after its samples are expanded to whole bytes. */
const BLOCK_BYTES_MAX = 64 << 20;
const BAND_COUNT_MAX = 65_535;
/** Largest size of the nodata text. */
const NODATA_BYTES_MAX = 1000;

/** Methods of compression that are decoded. */
export const COMPRESSION = {
  none: 1,
  lzw: 5,
  deflate: 8,
  packBits: 32_773,
  deflateOld: 32_946,
  lerc: 34_887,
  zstd: 50_000,
} as const;
const SUPPORTED: ReadonlySet<number> = new Set(Object.values(COMPRESSION));
/** Methods whose data have no predictor. */
const WITHOUT_PREDICTOR: ReadonlySet<number> = new Set([COMPRESSION.none, COMPRESSION.packBits, COMPRESSION.lerc]);

export interface Layout {
  readonly rowCount: number;
  readonly columnCount: number;
  readonly bandCount: number;
  /** Whether a Float32Array represents every value of the file exactly. */
  readonly fitsFloat32: boolean;
  readonly format: NumberFormat;
  /** Bits of a sample in the file, which are expanded to those of `format` if they are fewer. */
  readonly storedBits: number;
  /** The byte order of decompressed and expanded blocks. */
  readonly isLittleEndian: boolean;
  readonly compression: number;
  /** 1 for none, 2 for differences of numbers, 3 for differences of the bytes of floats. */
  readonly predictor: number;
  readonly isTiled: boolean;
  /** Whether each band has separate blocks. */
  readonly isPlanar: boolean;
  readonly blockRowCount: number;
  readonly blockColumnCount: number;
  readonly acrossCount: number;
  readonly downCount: number;
  /** Decompressed size of a whole block. */
  readonly blockBytes: number;
  /** Size of a whole block after its samples are expanded to whole bytes. */
  readonly decodedBlockBytes: number;
  /** Samples that a block has for each cell: 1 if each band has separate blocks. */
  readonly samplesPerCell: number;
  /** The nodata value in the file, which applies to all bands. */
  readonly nodata: number | undefined;
}

/**
 * Reads the layout of the first image of a file.
 * @throws Fault `source_invalid` naming what is damaged, unsupported or above a limit
 */
export async function readLayout(file: string, first: Directory): Promise<Layout> {
  await checkKind(file, first);
  const { rowCount, columnCount, bandCount } = await readSize(file, first);
  const { format, storedBits } = await readFormat(file, first, bandCount);
  const compression = await first.number(TAG.compression, 1);
  checkCompression(file, compression);
  const predictor = await readPredictor(file, first, { compression, format, storedBits });
  if (storedBits < format.bits && compression === COMPRESSION.lerc) {
    throw sourceFault(file, `has samples of ${storedBits} bits with LERC compression, which is not supported.`);
  }
  await checkInterpretation(file, first);
  const blocks = await readBlocks(file, first, { rowCount, columnCount, bandCount, storedBits, format });
  return {
    rowCount,
    columnCount,
    bandCount,
    fitsFloat32: format.bits <= 16 || (format.kind === "float" && format.bits === 32),
    format,
    storedBits,
    isLittleEndian: first.isLittleEndian || storedBits < format.bits,
    compression,
    predictor,
    ...blocks,
    nodata: nodataOf(file, await first.text(TAG.gdalNodata, NODATA_BYTES_MAX), format, "declares"),
  };
}

/**
 * Reads the layout of an image that masks the cells of a map.
 *
 * @param mask `name` starts the error messages, such as "its internal mask"
 * @throws Fault `source_invalid` if the image is not a mask of the map
 */
export async function readMaskLayout(
  file: string,
  directory: Directory,
  { name, map }: { readonly name: string; readonly map: Layout },
): Promise<Layout> {
  const reject = (why: string): Error =>
    sourceFault(file, `${name} ${why}. Mark missing cells with a nodata value: gdalwarp -dstnodata -9999.`);
  const size = await readSize(file, directory);
  const { rowCount, columnCount, bandCount } = size;
  if (rowCount !== map.rowCount || columnCount !== map.columnCount) {
    throw reject(`has ${rowCount} rows and ${columnCount} columns, unlike the map`);
  }
  if (bandCount !== 1 && bandCount !== map.bandCount) {
    throw reject(`has ${bandCount} bands; 1 or the ${map.bandCount} of the map are expected`);
  }
  const allBits = await directory.numbers(TAG.bitsPerSample);
  const formats = await directory.numbers(TAG.sampleFormat);
  const [bits = 1] = allBits;
  if (allBits.some((other) => other !== bits) || (bits !== 1 && bits !== 8) || formats.some((code) => code !== 1)) {
    throw reject(`has numbers of ${allBits.join(", ")} bits; unsigned integers of 1 or 8 bits are supported`);
  }
  // Masks of 1 bit are expanded to bytes.
  const format = { kind: "unsigned", bits: 8 } as const;
  const compression = await directory.number(TAG.compression, 1);
  if (!SUPPORTED.has(compression) || compression === COMPRESSION.lerc) {
    throw reject(`is compressed with method ${compression}, which is not supported`);
  }
  const predictor = await directory.number(TAG.predictor, 1);
  if (predictor !== 1 && !(predictor === 2 && bits === 8)) throw reject(`has predictor ${predictor}`);
  if ((await directory.number(TAG.fillOrder, 1)) !== 1) throw reject("has a reversed order of bits");
  return {
    ...size,
    fitsFloat32: true,
    format,
    storedBits: bits,
    isLittleEndian: directory.isLittleEndian,
    compression,
    predictor,
    ...(await readBlocks(file, directory, { ...size, storedBits: bits, format })),
    nodata: undefined,
  };
}

/** Checks that the first image is the map itself; masks and overviews may follow. */
async function checkKind(file: string, first: Directory): Promise<void> {
  const REDUCED = 1;
  const MASK = 4;
  const kind = await first.number(TAG.newSubfileType, 0);
  if ((kind & (REDUCED | MASK)) !== 0 || (await first.number(TAG.photometric, 1)) === MASK) {
    throw sourceFault(file, "starts with an overview or a mask instead of the map. Convert it with gdal_translate.");
  }
}

async function readSize(
  file: string,
  first: Directory,
): Promise<Pick<Layout, "rowCount" | "columnCount" | "bandCount">> {
  const rowCount = await first.number(TAG.imageLength, 0);
  const columnCount = await first.number(TAG.imageWidth, 0);
  const bandCount = await first.number(TAG.samplesPerPixel, 1);
  if (!(rowCount > 0 && columnCount > 0 && bandCount > 0)) {
    throw sourceFault(
      file,
      `has ${rowCount} rows, ${columnCount} columns and ${bandCount} bands; each must be at least 1.`,
    );
  }
  if (!(rowCount <= LINE_COUNT_MAX && columnCount <= LINE_COUNT_MAX && bandCount <= BAND_COUNT_MAX)) {
    throw sourceFault(
      file,
      `has ${rowCount} rows, ${columnCount} columns and ${bandCount} bands; the limits are ${LINE_COUNT_MAX} rows and ` +
        `columns and ${BAND_COUNT_MAX} bands.`,
    );
  }
  return { rowCount, columnCount, bandCount };
}

/**
 * Returns the number of bits to which unsigned samples are expanded, or undefined if they fill whole bytes or are not supported:
 * samples of 24 bits are by the specification numbers in the byte order of the file, GDAL reads them in the opposite order.
 */
function expandedBits(storedBits: number): 8 | 16 | 32 | undefined {
  if (!(storedBits >= 1 && storedBits < 32) || [8, 16, 24].includes(storedBits)) return undefined;
  return storedBits < 8 ? 8 : storedBits < 16 ? 16 : 32;
}

const FORMAT_KINDS: Readonly<Record<number, NumberFormat["kind"]>> = { 1: "unsigned", 2: "integer", 3: "float" };
const FORMAT_NAMES: Readonly<Record<number, string>> = {
  1: "unsigned integers",
  2: "integers",
  3: "floats",
  5: "complex integers",
  6: "complex floats",
};

async function readFormat(
  file: string,
  first: Directory,
  bandCount: number,
): Promise<Pick<Layout, "format" | "storedBits">> {
  const allBits = await first.numbers(TAG.bitsPerSample);
  const allFormats = first.has(TAG.sampleFormat) ? await first.numbers(TAG.sampleFormat) : allBits.map(() => 1);
  if (allBits.length !== bandCount || allFormats.length !== bandCount) {
    throw sourceFault(
      file,
      `is damaged: it has ${bandCount} bands but BitsPerSample for ${allBits.length} and SampleFormat for ${allFormats.length}.`,
    );
  }
  const [bits = 0] = allBits;
  const [code = 0] = allFormats;
  const kind = FORMAT_KINDS[code];
  const expanded = kind === "unsigned" ? expandedBits(bits) : undefined;
  const isSupported = expanded !== undefined || (kind === "float" ? [16, 32, 64] : [8, 16, 32, 64]).includes(bits);
  if (kind === undefined || !isSupported) {
    const name = FORMAT_NAMES[code] ?? `sample format ${code}`;
    throw sourceFault(
      file,
      `band 1 has ${name} of ${bits} bits; unsigned integers of 1 to 32 (except 24) and 64 bits, signed integers of 8, 16, 32 and 64 bits, and floats of 16, 32 and 64 bits are supported.`,
    );
  }
  if (allBits.some((other) => other !== bits) || allFormats.some((other) => other !== code)) {
    throw sourceFault(file, "has bands with different number formats. Split it into one file for each format.");
  }
  return { format: { kind, bits: expanded ?? bits }, storedBits: bits };
}

/** JPEG (old and new), JPEG 2000, WebP, JPEG XL: lossy image compression. */
const PICTURES: ReadonlySet<number> = new Set([6, 7, 34_892, 33_003, 33_005, 34_712, 50_001, 50_002, 52_546]);

function checkCompression(file: string, compression: number): void {
  if (SUPPORTED.has(compression)) return;
  if (PICTURES.has(compression)) {
    throw sourceFault(
      file,
      `is compressed as an image (method ${compression}), which does not preserve values. Use DEFLATE, LZW, ZSTD, LERC or none.`,
    );
  }
  throw sourceFault(
    file,
    `is compressed with method ${compression}, which is not supported. Use DEFLATE, LZW, ZSTD, LERC or none.`,
  );
}

async function readPredictor(
  file: string,
  first: Directory,
  { compression, format: { kind }, storedBits }: Pick<Layout, "compression" | "format" | "storedBits">,
): Promise<number> {
  const predictor = await first.number(TAG.predictor, 1);
  if (predictor === 1) return predictor;
  const hint = "Convert it with gdal_translate -co COMPRESS=DEFLATE -co PREDICTOR=1.";
  if (WITHOUT_PREDICTOR.has(compression)) {
    throw sourceFault(
      file,
      `has predictor ${predictor}, which its compression ${compression} does not support. ${hint}`,
    );
  }
  const isWhole = [8, 16, 32, 64].includes(storedBits);
  const isSupported = (predictor === 2 && isWhole) || (predictor === 3 && kind === "float");
  if (!isSupported)
    throw sourceFault(
      file,
      `uses predictor ${predictor} for ${storedBits}-bit ${kind} values, which is not supported. ${hint}`,
    );
  return predictor;
}

/** Rejects images of colors or classes, and unusual orders of bits or rows. */
async function checkInterpretation(file: string, first: Directory): Promise<void> {
  const photometric = await first.number(TAG.photometric, 1);
  if (photometric === 3) {
    throw sourceFault(
      file,
      "has a palette: its values are class codes, not quantities. If they are quantities, remove the color table with " +
        "gdal_translate -co PHOTOMETRIC=MINISBLACK -colorinterp gray.",
    );
  }
  // 0 and 1 are grayscale; 2 is RGB, which GDAL writes for any three bands of bytes.
  if (![0, 1, 2].includes(photometric)) {
    throw sourceFault(file, `has colors (photometric interpretation ${photometric}), not quantities.`);
  }
  const fillOrder = await first.number(TAG.fillOrder, 1);
  if (fillOrder !== 1) throw sourceFault(file, `has fill order ${fillOrder} (reversed bits), which is not supported.`);
  const orientation = await first.number(TAG.orientation, 1);
  if (orientation !== 1) {
    throw sourceFault(
      file,
      `has orientation ${orientation}; only 1 (rows from the top left) is supported. Convert it with gdalwarp.`,
    );
  }
}

/** What readBlocks needs of a layout. */
type Cells = Pick<Layout, "rowCount" | "columnCount" | "bandCount" | "storedBits" | "format">;

async function readBlocks(
  file: string,
  first: Directory,
  { rowCount, columnCount, bandCount, storedBits, format }: Cells,
): Promise<Omit<Layout, keyof Cells | "fitsFloat32" | "isLittleEndian" | "compression" | "predictor" | "nodata">> {
  const isTiled = first.has(TAG.tileOffsets);
  if (isTiled === first.has(TAG.stripOffsets)) {
    throw sourceFault(file, `is damaged: it has ${isTiled ? "both strips and tiles" : "neither strips nor tiles"}.`);
  }
  const planar = await first.number(TAG.planarConfiguration, 1);
  if (planar !== 1 && planar !== 2)
    throw sourceFault(file, `is damaged: its planar configuration is ${planar}; 1 and 2 are valid.`);
  const isPlanar = planar === 2;
  const blockRowCount = isTiled
    ? await first.number(TAG.tileLength, 0)
    : Math.min(await first.number(TAG.rowsPerStrip, rowCount), rowCount);
  const blockColumnCount = isTiled ? await first.number(TAG.tileWidth, 0) : columnCount;
  if (!(blockRowCount > 0 && blockColumnCount > 0))
    throw sourceFault(
      file,
      `has blocks of ${blockRowCount} rows and ${blockColumnCount} columns; both must be at least 1.`,
    );
  const samplesPerCell = isPlanar ? 1 : bandCount;
  const samplesPerRow = blockColumnCount * samplesPerCell;
  const blockBytes = blockRowCount * Math.ceil((samplesPerRow * storedBits) / 8);
  const decodedBlockBytes = (blockRowCount * samplesPerRow * format.bits) / 8;
  if (!(decodedBlockBytes <= BLOCK_BYTES_MAX)) {
    throw sourceFault(
      file,
      `its blocks of ${blockRowCount} rows and ${blockColumnCount} columns have ${decodedBlockBytes} bytes each; the limit is ` +
        `${BLOCK_BYTES_MAX}. Convert it with gdal_translate -co TILED=YES.`,
    );
  }
  const acrossCount = Math.ceil(columnCount / blockColumnCount);
  const downCount = Math.ceil(rowCount / blockRowCount);
  const blockCount = acrossCount * downCount * (isPlanar ? bandCount : 1);
  if (!(blockCount <= BLOCK_COUNT_MAX)) {
    throw sourceFault(
      file,
      `has ${blockCount} blocks; the limit is ${BLOCK_COUNT_MAX}. Convert it with gdal_translate -co TILED=YES.`,
    );
  }
  const offsetCount = first.count(isTiled ? TAG.tileOffsets : TAG.stripOffsets);
  const byteCountCount = first.count(isTiled ? TAG.tileByteCounts : TAG.stripByteCounts);
  if (offsetCount < blockCount || byteCountCount < blockCount) {
    throw sourceFault(
      file,
      `is damaged: its ${rowCount} rows and ${columnCount} columns have ${blockCount} blocks, but it lists ${offsetCount} offsets ` +
        `and ${byteCountCount} sizes.`,
    );
  }
  return {
    isTiled,
    isPlanar,
    blockRowCount,
    blockColumnCount,
    acrossCount,
    downCount,
    blockBytes,
    decodedBlockBytes,
    samplesPerCell,
  };
}
