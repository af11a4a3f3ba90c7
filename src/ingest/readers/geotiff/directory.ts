/**
 * Validates the directories of a TIFF file (TIFF 6.0 section 2; BigTIFF) before other code uses them: every offset must be
 * within the file, every count within a limit, and no directory may occur twice.
 */
import { sourceFault } from "../../raster.ts";
import type { ByteSource } from "../byteSource.ts";

/** Largest number of directories: pages, overviews and masks of one file. */
const DIRECTORY_COUNT_MAX = 1000;
const ENTRY_COUNT_MAX = 1000;
/** Largest size of the values of one tag, except the block index. */
const TAG_BYTES_MAX = 8 << 20;
/**
 * Largest number of blocks of one image. The index of 4 million blocks is smaller than 64 MB; a 1/1200-degree grid in tiles
 * of 256 x 256 cells has 1.4 million blocks.
 */
export const BLOCK_COUNT_MAX = 4 << 20;

export const TAG = {
  newSubfileType: 254,
  imageWidth: 256,
  imageLength: 257,
  bitsPerSample: 258,
  compression: 259,
  photometric: 262,
  fillOrder: 266,
  stripOffsets: 273,
  orientation: 274,
  samplesPerPixel: 277,
  rowsPerStrip: 278,
  stripByteCounts: 279,
  planarConfiguration: 284,
  predictor: 317,
  tileWidth: 322,
  tileLength: 323,
  tileOffsets: 324,
  tileByteCounts: 325,
  subDirectories: 330,
  extraSamples: 338,
  sampleFormat: 339,
  modelPixelScale: 33_550,
  modelTiepoint: 33_922,
  modelTransformation: 34_264,
  geoKeyDirectory: 34_735,
  geoDoubleParams: 34_736,
  geoAsciiParams: 34_737,
  gdalMetadata: 42_112,
  gdalNodata: 42_113,
} as const;

const BLOCK_INDEX: ReadonlySet<number> = new Set([
  TAG.stripOffsets,
  TAG.stripByteCounts,
  TAG.tileOffsets,
  TAG.tileByteCounts,
]);

/** Bytes of one value of each field type. */
const TYPE_BYTES: Readonly<Record<number, number>> = {
  1: 1, // BYTE
  2: 1, // ASCII
  3: 2, // SHORT
  4: 4, // LONG
  5: 8, // RATIONAL
  6: 1, // SBYTE
  7: 1, // UNDEFINED
  8: 2, // SSHORT
  9: 4, // SLONG
  10: 8, // SRATIONAL
  11: 4, // FLOAT
  12: 8, // DOUBLE
  13: 4, // IFD
  16: 8, // LONG8
  17: 8, // SLONG8
  18: 8, // IFD8
};

/** Field types of unsigned integers, and of directory offsets. */
const UNSIGNED: ReadonlySet<number> = new Set([1, 3, 4, 16]);
const OFFSETS: ReadonlySet<number> = new Set([4, 13, 16, 18]);
/** Tags with one valid type; libtiff, and therefore GDAL, ignores tags of any other type. */
const ONE_TYPE: ReadonlyMap<number, number> = new Map<number, number>([
  [TAG.modelPixelScale, 12],
  [TAG.modelTiepoint, 12],
  [TAG.modelTransformation, 12],
  [TAG.geoKeyDirectory, 3],
  [TAG.geoDoubleParams, 12],
  [TAG.geoAsciiParams, 2],
  [TAG.gdalMetadata, 2],
  [TAG.gdalNodata, 2],
]);

interface DirectoryEntry {
  readonly tag: number;
  readonly type: number;
  readonly count: number;
  /** Position of the values in bytes from the start of the file. */
  readonly valuesOffset: number;
}

/** One directory (IFD), which describes one image. */
export class Directory {
  readonly #file: string;
  readonly #source: ByteSource;
  readonly #entries: ReadonlyMap<number, DirectoryEntry>;
  /** The byte order of the file. */
  readonly isLittleEndian: boolean;

  constructor(
    file: string,
    source: ByteSource,
    { entries, isLittleEndian }: { entries: ReadonlyMap<number, DirectoryEntry>; isLittleEndian: boolean },
  ) {
    this.#file = file;
    this.#source = source;
    this.#entries = entries;
    this.isLittleEndian = isLittleEndian;
  }

  has(tag: number): boolean {
    return this.#entries.has(tag);
  }

  /** Returns the number of values of a tag; 0 if it is absent. */
  count(tag: number): number {
    return this.#entries.get(tag)?.count ?? 0;
  }

  /**
   * Reads the unsigned integers of a tag, or a range of them.
   * @returns an empty list if the tag is absent
   * @throws Fault `source_invalid` if the tag has another type or its values are not in the file
   */
  async numbers(tag: number, from = 0, end: number = this.count(tag)): Promise<readonly number[]> {
    const entry = this.#entries.get(tag);
    if (entry === undefined) return [];
    if (!(tag === TAG.subDirectories ? OFFSETS : UNSIGNED).has(entry.type)) {
      throw sourceFault(this.#file, `is damaged: tag ${tag} has type ${entry.type}, not an unsigned integer.`);
    }
    const view = viewOf(await this.bytes(tag, from, end));
    const size = TYPE_BYTES[entry.type] ?? 1;
    const { isLittleEndian } = this;
    return Array.from({ length: end - from }, (_, index) => unsignedAt(view, index * size, { size, isLittleEndian }));
  }

  /** Reads the 64-bit floats of a tag; undefined if it is absent or empty. */
  async doubles(tag: number): Promise<readonly number[] | undefined> {
    const count = this.count(tag);
    if (count === 0) return undefined;
    const view = viewOf(await this.bytes(tag));
    return Array.from({ length: count }, (_, index) => view.getFloat64(8 * index, this.isLittleEndian));
  }

  /** Returns the first number of a tag, or the default if the tag is absent. */
  async number(tag: number, absent: number): Promise<number> {
    if (!this.has(tag)) return absent;
    const [value] = await this.numbers(tag, 0, Math.min(1, this.count(tag)));
    if (value === undefined) throw sourceFault(this.#file, `is damaged: tag ${tag} has no value.`);
    return value;
  }

  /** Reads a text up to its first zero byte. */
  async text(tag: number, sizeBytesMax: number): Promise<string | undefined> {
    const entry = this.#entries.get(tag);
    if (entry === undefined) return undefined;
    if (entry.count > sizeBytesMax) {
      throw sourceFault(this.#file, `its tag ${tag} has a text of ${entry.count} bytes; the limit is ${sizeBytesMax}.`);
    }
    return new TextDecoder().decode(await this.bytes(tag)).replace(/\0[^]*$/, "");
  }

  /** Reads the values of a tag, or a range of them, as they are stored; none if it is absent. */
  async bytes(tag: number, from = 0, end: number = this.count(tag)): Promise<Uint8Array> {
    const entry = this.#entries.get(tag);
    if (entry === undefined) return new Uint8Array(0);
    const size = TYPE_BYTES[entry.type] ?? 1;
    const bytes = await this.#source.read(entry.valuesOffset + from * size, (end - from) * size);
    if (bytes.length === (end - from) * size) return bytes;
    throw sourceFault(this.#file, `is damaged or truncated: it ends before the values of tag ${tag}.`);
  }
}

/** The directories of a file in file order, each followed by its SubIFDs. */
export interface Directories {
  readonly first: Directory;
  readonly others: readonly Directory[];
}

/**
 * Reads all directories of a file.
 * @throws Fault `source_invalid` if the file is not a TIFF, is damaged, or exceeds a limit
 */
export async function readDirectories(file: string, source: ByteSource): Promise<Directories> {
  const format = await readSignature(file, source);
  const seen = new Set<number>();
  const directories: Directory[] = [];
  const pending = [format.firstOffset];
  for (let offset = pending.pop(); offset !== undefined; offset = pending.pop()) {
    if (seen.has(offset)) {
      throw sourceFault(file, `is damaged: its directories form a loop (the one at byte ${offset} occurs twice).`);
    }
    seen.add(offset);
    if (seen.size > DIRECTORY_COUNT_MAX) {
      throw sourceFault(file, `has more directories than the limit of ${DIRECTORY_COUNT_MAX}.`);
    }
    const { directory, nextOffset } = await readDirectory(file, source, format, offset);
    if (nextOffset !== 0) pending.push(nextOffset);
    if (directory.count(TAG.subDirectories) > DIRECTORY_COUNT_MAX) {
      throw sourceFault(file, `has more directories than the limit of ${DIRECTORY_COUNT_MAX}.`);
    }
    pending.push(...(await directory.numbers(TAG.subDirectories)));
    directories.push(directory);
  }
  const [first, ...others] = directories;
  if (first === undefined) throw sourceFault(file, "is damaged: it has no directory.");
  return { first, others };
}

interface Format {
  readonly isBig: boolean;
  readonly isLittleEndian: boolean;
  readonly firstOffset: number;
}

async function readSignature(file: string, source: ByteSource): Promise<Format> {
  const bytes = await source.read(0, 16);
  const order = String.fromCharCode(...bytes.subarray(0, 2));
  const magic = order === "MM" ? bytes[3] : bytes[2];
  if (bytes.length < 4 || (order !== "II" && order !== "MM") || (magic !== 42 && magic !== 43)) {
    throw sourceFault(file, "is not a GeoTIFF: it does not start with a TIFF signature. Give a .tif file.");
  }
  const isLittleEndian = order === "II";
  const isBig = magic === 43;
  if (bytes.length < (isBig ? 16 : 8)) throw sourceFault(file, "is damaged or truncated: it ends within its header.");
  const view = viewOf(bytes);
  if (isBig && (view.getUint16(4, isLittleEndian) !== 8 || view.getUint16(6, isLittleEndian) !== 0)) {
    throw sourceFault(file, "is damaged: its BigTIFF header is invalid.");
  }
  const size = isBig ? 8 : 4;
  return { isBig, isLittleEndian, firstOffset: unsignedAt(view, size, { size, isLittleEndian }) };
}

async function readDirectory(
  file: string,
  source: ByteSource,
  { isBig, isLittleEndian }: Format,
  offset: number,
): Promise<{ readonly directory: Directory; readonly nextOffset: number }> {
  const [countBytes, entryBytes, offsetBytes] = isBig ? ([8, 20, 8] as const) : ([2, 12, 4] as const);
  const damaged = (why: string): Error => sourceFault(file, `is damaged or truncated: ${why}.`);
  if (!(offset >= 8 && offset + countBytes <= source.sizeBytes)) {
    throw damaged(`a directory is expected at byte ${offset}, the file ends at ${source.sizeBytes}`);
  }
  const counted = await source.read(offset, countBytes);
  if (counted.length < countBytes) throw damaged("it ends within a directory");
  const entryCount = unsignedAt(viewOf(counted), 0, { size: countBytes, isLittleEndian });
  if (!(entryCount >= 1 && entryCount <= ENTRY_COUNT_MAX)) {
    throw damaged(`the directory at byte ${offset} has ${entryCount} entries; 1 to ${ENTRY_COUNT_MAX} are accepted`);
  }
  const bytes = await source.read(offset + countBytes, entryCount * entryBytes + offsetBytes);
  if (bytes.length < entryCount * entryBytes + offsetBytes) throw damaged("it ends within a directory");
  const view = viewOf(bytes);
  const entries = new Map<number, DirectoryEntry>();
  for (let entryOffset = 0; entryOffset < entryCount * entryBytes; entryOffset += entryBytes) {
    const tag = view.getUint16(entryOffset, isLittleEndian);
    const type = view.getUint16(entryOffset + 2, isLittleEndian);
    const count = unsignedAt(view, entryOffset + 4, { size: offsetBytes, isLittleEndian });
    const typeBytes = TYPE_BYTES[type];
    if (typeBytes === undefined) throw damaged(`tag ${tag} has type ${type}, which TIFF does not define`);
    const onlyType = ONE_TYPE.get(tag);
    if (onlyType !== undefined && onlyType !== type) throw damaged(`tag ${tag} has type ${type}, not ${onlyType}`);
    if (entries.has(tag)) throw damaged(`tag ${tag} occurs twice in one directory`);
    const sizeBytes = count * typeBytes;
    const isIndex = BLOCK_INDEX.has(tag);
    if (!(isIndex ? count <= BLOCK_COUNT_MAX : sizeBytes <= TAG_BYTES_MAX)) {
      const limit = isIndex ? `${BLOCK_COUNT_MAX} blocks` : `${TAG_BYTES_MAX} bytes`;
      throw sourceFault(file, `its tag ${tag} has ${count} values of ${typeBytes} bytes; the limit is ${limit}.`);
    }
    const inlineOffset = offset + countBytes + entryOffset + 4 + offsetBytes;
    const valuesOffset =
      sizeBytes <= offsetBytes
        ? inlineOffset
        : unsignedAt(view, entryOffset + 4 + offsetBytes, { size: offsetBytes, isLittleEndian });
    if (!(valuesOffset + sizeBytes <= source.sizeBytes)) {
      throw damaged(
        `the values of tag ${tag} would end at byte ${valuesOffset + sizeBytes}, the file ends at ${source.sizeBytes}`,
      );
    }
    entries.set(tag, { tag, type, count, valuesOffset });
  }
  return {
    directory: new Directory(file, source, { entries, isLittleEndian }),
    nextOffset: unsignedAt(view, entryCount * entryBytes, { size: offsetBytes, isLittleEndian }),
  };
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** Reads an unsigned integer. Integers above 2^53 - 1 become Infinity, which exceeds every limit. */
function unsignedAt(
  view: DataView,
  offset: number,
  { size, isLittleEndian }: { readonly size: number; readonly isLittleEndian: boolean },
): number {
  if (size === 1) return view.getUint8(offset);
  if (size === 2) return view.getUint16(offset, isLittleEndian);
  if (size === 4) return view.getUint32(offset, isLittleEndian);
  const value = view.getBigUint64(offset, isLittleEndian);
  return value <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(value) : Infinity;
}
