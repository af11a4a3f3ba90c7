/**
 * How the cells of a file are stored, from its first directory: checked against every limit before anything is
 * allocated for them, and refused by name where their values could be read wrongly.
 */
import { sourceFault } from "../../raster.ts";
import { BLOCK_COUNT_MAX, type Directories, type Directory, TAG } from "./directory.ts";

/** Rows, and columns, of a map: 1/3 of an arc second around the Earth is 3,888,000. */
const LINE_COUNT_MAX = 4_000_000;
/** The values of one block, decoded. */
const BLOCK_BYTES_MAX = 64 << 20;
const BAND_COUNT_MAX = 65_535;
/** A nodata value is a number in decimals. */
const NODATA_BYTES_MAX = 1000;

export interface Layout {
  readonly rowCount: number;
  readonly columnCount: number;
  readonly bandCount: number;
  /** True where a Float32Array holds every value of the file exactly. */
  readonly fitsFloat32: boolean;
  readonly format: NumberFormat;
  readonly compression: number;
  readonly isTiled: boolean;
  /** True where each band has blocks of its own. */
  readonly isPlanar: boolean;
  readonly blockRowCount: number;
  readonly blockColumnCount: number;
  readonly acrossCount: number;
  readonly downCount: number;
  /** Of a whole block, decoded. */
  readonly blockBytes: number;
  /** The nodata value of the file itself, in effect for all bands. */
  readonly nodata: number | undefined;
}

export interface NumberFormat {
  readonly kind: "unsigned" | "integer" | "float";
  readonly bits: number;
}

/**
 * Reads the layout of a file's map.
 * @throws Fault `source_invalid` naming what is damaged, past a limit or not read
 */
export async function readLayout(file: string, { first, others }: Directories): Promise<Layout> {
  await checkKind(file, first, others);
  const rowCount = await first.number(TAG.imageLength, 0);
  const columnCount = await first.number(TAG.imageWidth, 0);
  const bandCount = await first.number(TAG.samplesPerPixel, 1);
  if (!(rowCount > 0 && columnCount > 0 && bandCount > 0)) {
    throw sourceFault(file, `states ${rowCount} rows, ${columnCount} columns and ${bandCount} bands.`);
  }
  if (!(rowCount <= LINE_COUNT_MAX && columnCount <= LINE_COUNT_MAX && bandCount <= BAND_COUNT_MAX)) {
    throw sourceFault(
      file,
      `states ${rowCount} rows, ${columnCount} columns and ${bandCount} bands; at most ${LINE_COUNT_MAX} rows and ` +
        `columns and ${BAND_COUNT_MAX} bands are read.`,
    );
  }
  const format = await readFormat(file, first, bandCount);
  const compression = await first.number(TAG.compression, 1);
  checkCompression(file, compression);
  await checkPredictor(file, first, compression, format);
  await checkPicture(file, first);
  const blocks = await readBlocks(file, first, { rowCount, columnCount, bandCount, format });
  return {
    rowCount,
    columnCount,
    bandCount,
    fitsFloat32: format.bits <= 16 || (format.kind === "float" && format.bits === 32),
    format,
    compression,
    ...blocks,
    nodata: nodataOf(file, await first.text(TAG.gdalNodata, NODATA_BYTES_MAX), format, "declares"),
  };
}

/** The map comes first; overviews may follow it. A mask would have to be applied. */
async function checkKind(file: string, first: Directory, others: readonly Directory[]): Promise<void> {
  const REDUCED = 1;
  const MASK = 4;
  const kind = await first.number(TAG.newSubfileType, 0);
  if ((kind & (REDUCED | MASK)) !== 0 || (await first.number(TAG.photometric, 1)) === MASK) {
    throw sourceFault(file, "begins with an overview or a mask instead of the map itself. Convert it: gdal_translate.");
  }
  for (const other of others) {
    const isMask =
      ((await other.number(TAG.newSubfileType, 0)) & MASK) !== 0 || (await other.number(TAG.photometric, 1)) === MASK;
    if (isMask) {
      throw sourceFault(
        file,
        "keeps missing cells in an internal mask, which is not read. Mark them by a nodata value.",
      );
    }
  }
}

const KINDS: Readonly<Record<number, NumberFormat["kind"]>> = { 1: "unsigned", 2: "integer", 3: "float" };
const NAMES: Readonly<Record<number, string>> = {
  1: "unsigned integers",
  2: "integers",
  3: "floats",
  5: "complex integers",
  6: "complex floats",
};

async function readFormat(file: string, first: Directory, bandCount: number): Promise<NumberFormat> {
  const allBits = await first.numbers(TAG.bitsPerSample);
  const allFormats = first.has(TAG.sampleFormat) ? await first.numbers(TAG.sampleFormat) : allBits.map(() => 1);
  if (allBits.length !== bandCount || allFormats.length !== bandCount) {
    throw sourceFault(
      file,
      `is damaged: ${bandCount} bands, but number formats of ${allBits.length} and kinds of ${allFormats.length}.`,
    );
  }
  const [bits = 0] = allBits;
  const [code = 0] = allFormats;
  const kind = KINDS[code];
  const isRead = kind === "float" ? [16, 32, 64].includes(bits) : [8, 16, 32].includes(bits);
  if (kind === undefined || !isRead) {
    const name = NAMES[code] ?? `sample format ${code}`;
    throw sourceFault(
      file,
      `band 1 holds ${name} of ${bits} bits; 8, 16, 32-bit integers and 16, 32, 64-bit floats are read.`,
    );
  }
  if (allBits.some((other) => other !== bits) || allFormats.some((other) => other !== code)) {
    throw sourceFault(file, "mixes bands of different number formats. Split them into files.");
  }
  return { kind, bits };
}

const NONE = 1;
const LZW = 5;
const ZSTD = 50_000;
const PACKBITS = 32_773;
const DEFLATE = [8, 32_946];
/** JPEG, old and new, JPEG 2000, WebP, JPEG XL: they change values, or may. */
const PICTURES: ReadonlySet<number> = new Set([6, 7, 34_892, 33_003, 33_005, 34_712, 50_001, 50_002, 52_546]);
const LERC = 34_887;

function checkCompression(file: string, compression: number): void {
  if ([NONE, LZW, ZSTD, PACKBITS, ...DEFLATE].includes(compression)) return;
  if (compression === LERC) {
    throw sourceFault(
      file,
      "is compressed by LERC (method 34887), whose mask of missing cells is not read. Convert it: gdal_translate -co COMPRESS=DEFLATE.",
    );
  }
  if (PICTURES.has(compression)) {
    throw sourceFault(file, `is compressed as a picture (method ${compression}), which does not keep values.`);
  }
  throw sourceFault(
    file,
    `is compressed by method ${compression}, which is not read. Write it with DEFLATE, LZW, ZSTD or none.`,
  );
}

async function checkPredictor(
  file: string,
  first: Directory,
  compression: number,
  { kind, bits }: NumberFormat,
): Promise<void> {
  const predictor = await first.number(TAG.predictor, 1);
  if (predictor === 1) return;
  const RIGHT = "Convert it: gdal_translate -co COMPRESS=DEFLATE -co PREDICTOR=1.";
  if (compression === NONE || compression === PACKBITS) {
    throw sourceFault(
      file,
      `states predictor ${predictor}, which its compression ${compression} does not have. ${RIGHT}`,
    );
  }
  const isRead = (predictor === 2 && bits <= 32) || (predictor === 3 && kind === "float");
  if (!isRead)
    throw sourceFault(file, `uses predictor ${predictor} for ${bits}-bit values, which is not read. ${RIGHT}`);
}

/** What makes the numbers of a file something else than values: colors, opacity, or another order of bits or rows. */
async function checkPicture(file: string, first: Directory): Promise<void> {
  const photometric = await first.number(TAG.photometric, 1);
  if (photometric === 3) {
    throw sourceFault(
      file,
      "has a palette: its values are class codes, not amounts. Where they are amounts, remove the color table: " +
        "gdal_translate -co PHOTOMETRIC=MINISBLACK -colorinterp gray.",
    );
  }
  // 0 and 1: shades of gray; 2: red, green, blue, which GDAL states for any three bands of bytes.
  if (![0, 1, 2].includes(photometric)) {
    throw sourceFault(file, `holds colors (photometric interpretation ${photometric}), not values.`);
  }
  const extra = await first.numbers(TAG.extraSamples);
  if (extra.some((kind) => kind === 1 || kind === 2)) throw alphaFault(file, "");
  const fillOrder = await first.number(TAG.fillOrder, 1);
  if (fillOrder !== 1) throw sourceFault(file, `stores the bits of a byte in order ${fillOrder}, which is not read.`);
  const orientation = await first.number(TAG.orientation, 1);
  if (orientation !== 1) {
    throw sourceFault(
      file,
      `states orientation ${orientation}, which is not read; rows run from the top left. Convert it: gdalwarp.`,
    );
  }
}

/** Refuses opacity, whose zeros mean missing. */
export function alphaFault(file: string, where: string): Error {
  return sourceFault(
    file,
    `${where}has an alpha band: where it is 0 cells are missing, which is not applied. Turn it into a nodata value: ` +
      "gdalwarp -srcalpha -ot Float32 -dstnodata -9999, then gdal_translate -b 1.",
  );
}

type Blocks = Pick<
  Layout,
  "isTiled" | "isPlanar" | "blockRowCount" | "blockColumnCount" | "acrossCount" | "downCount" | "blockBytes"
>;

async function readBlocks(
  file: string,
  first: Directory,
  { rowCount, columnCount, bandCount, format }: Pick<Layout, "rowCount" | "columnCount" | "bandCount" | "format">,
): Promise<Blocks> {
  const isTiled = first.has(TAG.tileOffsets);
  if (isTiled === first.has(TAG.stripOffsets)) {
    throw sourceFault(file, `is damaged: it has ${isTiled ? "both strips and tiles" : "neither strips nor tiles"}.`);
  }
  const planar = await first.number(TAG.planarConfiguration, 1);
  if (planar !== 1 && planar !== 2) throw sourceFault(file, `is damaged: planar configuration ${planar}.`);
  const isPlanar = planar === 2;
  const blockRowCount = isTiled
    ? await first.number(TAG.tileLength, 0)
    : Math.min(await first.number(TAG.rowsPerStrip, rowCount), rowCount);
  const blockColumnCount = isTiled ? await first.number(TAG.tileWidth, 0) : columnCount;
  if (!(blockRowCount > 0 && blockColumnCount > 0)) throw sourceFault(file, "states blocks without cells.");
  const blockBytes = blockRowCount * blockColumnCount * (format.bits / 8) * (isPlanar ? 1 : bandCount);
  if (!(blockBytes <= BLOCK_BYTES_MAX)) {
    throw sourceFault(
      file,
      `its blocks of ${blockRowCount} rows and ${blockColumnCount} columns are ${blockBytes} bytes each; at most ` +
        `${BLOCK_BYTES_MAX} are read. Convert it: gdal_translate -co TILED=YES.`,
    );
  }
  const acrossCount = Math.ceil(columnCount / blockColumnCount);
  const downCount = Math.ceil(rowCount / blockRowCount);
  const blockCount = acrossCount * downCount * (isPlanar ? bandCount : 1);
  if (!(blockCount <= BLOCK_COUNT_MAX)) {
    throw sourceFault(
      file,
      `has ${blockCount} blocks; at most ${BLOCK_COUNT_MAX} are read. Convert it: gdal_translate -co TILED=YES.`,
    );
  }
  const offsets = first.count(isTiled ? TAG.tileOffsets : TAG.stripOffsets);
  const sizes = first.count(isTiled ? TAG.tileByteCounts : TAG.stripByteCounts);
  if (offsets < blockCount || sizes < blockCount) {
    throw sourceFault(
      file,
      `is damaged: its ${rowCount} rows and ${columnCount} columns are ${blockCount} blocks, but the places of ` +
        `${offsets} and the sizes of ${sizes} are stated.`,
    );
  }
  return { isTiled, isPlanar, blockRowCount, blockColumnCount, acrossCount, downCount, blockBytes };
}

/** Parses a nodata value as GDAL writes it, and refuses one that the number format cannot be compared with. */
export function nodataOf(
  file: string,
  declared: string | undefined,
  format: NumberFormat,
  how: string,
): number | undefined {
  const text = declared?.trim() ?? "";
  if (text === "") return undefined;
  if (/^[-+]?nan$/i.test(text)) return NaN;
  const value = /^[-+]?inf(inity)?$/i.test(text) ? (text.startsWith("-") ? -Infinity : Infinity) : Number(text);
  if (Number.isNaN(value)) {
    throw sourceFault(file, `${how} the nodata value ${JSON.stringify(text)}, which is no number.`);
  }
  if (format.kind !== "float" && isInRange(value, format) && !Number.isInteger(value)) {
    throw sourceFault(
      file,
      `${how} the nodata value ${value}, which its integers cannot hold. Set the one that is meant: gdal_edit.py -a_nodata.`,
    );
  }
  return value;
}

/** Whether a number format holds a nodata value; one that it cannot hold marks nothing. */
export function canRepresent(value: number, format: NumberFormat): boolean {
  return format.kind === "float" || (isInRange(value, format) && Number.isInteger(value));
}

function isInRange(value: number, { kind, bits }: NumberFormat): boolean {
  const min = kind === "unsigned" ? 0 : -(2 ** (bits - 1));
  const max = kind === "unsigned" ? 2 ** bits - 1 : 2 ** (bits - 1) - 1;
  return value >= min && value <= max;
}
