/** Encodes the column chunks of a Parquet file: one dictionary page and one data page each. */
import type { ColumnChunk, SchemaElement } from "hyparquet";
import type { ByteWriter } from "hyparquet-writer";

type Compress = (bytes: Uint8Array) => Uint8Array;

/** The values of a column in a row group. */
export interface ColumnData {
  /** Index into the dictionary by row, or -1 if there is no value. If there is no dictionary, 0 if there is a value. */
  readonly indices: Int32Array;
  /** Number of distinct values and their plain encoding; undefined if the values are not encoded with a dictionary. */
  readonly dictionary: { readonly count: number; readonly bytes: Uint8Array } | undefined;
  /** Plain encoding of the values, if there is no dictionary. */
  readonly plain: Uint8Array | undefined;
  readonly min?: number | undefined;
  readonly max?: number | undefined;
}

/** Pages are compressed if that saves at least this share. */
const SAVED_SHARE_MIN = 0.1;
/** Only this much of a page is compressed to find out whether compression saves enough. */
const SAMPLE_SIZE_BYTES = 1 << 14;

/** Numbers of the Thrift definition of Parquet, and headers of fields in the compact protocol. */
const [DATA_PAGE, DICTIONARY_PAGE] = [0, 2];
const [PLAIN, RLE, RLE_DICTIONARY] = [0, 3, 8];
const [NEXT_INTEGER, DATA_PAGE_HEADER, DICTIONARY_PAGE_HEADER, END] = [0x15, 0x2c, 0x4c, 0];

/**
 * Appends a column chunk, and describes it.
 * @param compress Snappy
 */
export function writeChunk(
  writer: ByteWriter,
  column: ColumnData,
  { element, compress }: { readonly element: SchemaElement; readonly compress: Compress },
): ColumnChunk {
  const { indices, dictionary, plain, min, max } = column;
  const { bytes: data, nullCount } = dataPage(column);
  const isCompressed =
    savesEnough(data, compress) || (dictionary !== undefined && savesEnough(dictionary.bytes, compress));
  const start = writer.offset;
  let uncompressedSizeBytes = 0;
  const writePage = (bytes: Uint8Array, type: number, header: readonly number[]): void => {
    const stored = isCompressed ? compress(bytes) : bytes;
    const headerStart = writer.offset;
    writeIntegers(writer, [type, bytes.length, stored.length]);
    writer.appendUint8(type === DATA_PAGE ? DATA_PAGE_HEADER : DICTIONARY_PAGE_HEADER);
    writeIntegers(writer, header);
    for (let depth = 0; depth < 2; depth++) writer.appendUint8(END);
    uncompressedSizeBytes += writer.offset - headerStart + bytes.length;
    writer.appendBytes(stored);
  };
  if (dictionary !== undefined) writePage(dictionary.bytes, DICTIONARY_PAGE, [dictionary.count, PLAIN]);
  const dataStart = writer.offset;
  writePage(data, DATA_PAGE, [indices.length, plain === undefined ? RLE_DICTIONARY : PLAIN, RLE, RLE]);
  if (element.type === undefined) throw new Error(`The column ${element.name} has no type.`);
  return {
    file_offset: BigInt(start),
    meta_data: {
      type: element.type,
      encodings: dictionary === undefined ? ["PLAIN", "RLE"] : ["PLAIN", "RLE", "RLE_DICTIONARY"],
      path_in_schema: [element.name],
      codec: isCompressed ? "SNAPPY" : "UNCOMPRESSED",
      num_values: BigInt(indices.length),
      total_uncompressed_size: BigInt(uncompressedSizeBytes),
      total_compressed_size: BigInt(writer.offset - start),
      data_page_offset: BigInt(dataStart),
      ...(dictionary === undefined ? {} : { dictionary_page_offset: BigInt(start) }),
      statistics: {
        null_count: BigInt(nullCount),
        ...(min === undefined || max === undefined ? {} : { min_value: min, max_value: max }),
      },
    },
  };
}

/** Writes the first fields of a structure, which are integers. */
function writeIntegers(writer: ByteWriter, integers: readonly number[]): void {
  for (const integer of integers) {
    writer.appendUint8(NEXT_INTEGER);
    writer.appendZigZag(integer);
  }
}

/** Returns a data page: definition levels, then the values. */
function dataPage({ indices, dictionary, plain }: ColumnData): {
  readonly bytes: Uint8Array;
  readonly nullCount: number;
} {
  const rowCount = indices.length;
  const levels = new Uint8Array(rowCount);
  const present = new Int32Array(rowCount);
  let count = 0;
  for (let row = 0; row < rowCount; row++) {
    const index = indices[row] as number;
    if (index < 0) continue;
    levels[row] = 1;
    present[count++] = index;
  }
  const bitWidth = bitWidthOf(dictionary?.count ?? 0);
  const valuesSizeMax = plain?.length ?? 1 + hybridSizeMax(count, bitWidth);
  const bytes = new Uint8Array(4 + hybridSizeMax(rowCount, 1) + valuesSizeMax);
  const levelsEnd = encodeHybrid(levels, { count: rowCount, bitWidth: 1, target: bytes, start: 4 });
  new DataView(bytes.buffer).setUint32(0, levelsEnd - 4, true);
  let end = levelsEnd;
  if (plain === undefined) {
    bytes[end++] = bitWidth;
    end = encodeHybrid(present, { count, bitWidth, target: bytes, start: end });
  } else {
    bytes.set(plain, end);
    end += plain.length;
  }
  return { bytes: bytes.subarray(0, end), nullCount: rowCount - count };
}

function savesEnough(bytes: Uint8Array, compress: Compress): boolean {
  const start = Math.max(0, (bytes.length - SAMPLE_SIZE_BYTES) >> 1);
  const sample = bytes.subarray(start, start + SAMPLE_SIZE_BYTES);
  return compress(sample).length <= sample.length * (1 - SAVED_SHARE_MIN);
}

/** Parquet's hybrid of run-length encoding and bit packing, for dictionary indices and definition levels. */

/** Shorter runs are bit-packed. */
const RUN_LENGTH_MIN = 8;
/** Values that one bit-packed run contains at most, so that its header takes at most four bytes. */
const PACKED_COUNT_MAX = 1 << 24;

/** Returns the number of bits that an index below `count` needs. */
export function bitWidthOf(count: number): number {
  return count <= 1 ? 1 : 32 - Math.clz32(count - 1);
}

/** Returns an upper bound of the size of encoded values. */
export function hybridSizeMax(count: number, bitWidth: number): number {
  // Each bit-packed run of at least 8 values has a header of at most 4 bytes, as has each run of equal values.
  return 16 + Math.ceil(count / 8) * (bitWidth + 8);
}

/**
 * Encodes values below 2 to the power of `bitWidth`.
 * @param bitWidth 1 to 24
 * @param target at least `hybridSizeMax` bytes from `start`
 * @returns the end of the encoded values
 */
export function encodeHybrid(
  values: Int32Array | Uint8Array,
  { count, bitWidth, target, start }: { count: number; bitWidth: number; target: Uint8Array; start: number },
): number {
  let end = start;
  let packedStart = 0;
  let position = 0;
  while (position < count) {
    const value = values[position] as number;
    let runEnd = position + 1;
    while (runEnd < count && values[runEnd] === value) runEnd++;
    const isPackedFull = position - packedStart === PACKED_COUNT_MAX;
    if (runEnd - position >= RUN_LENGTH_MIN || isPackedFull) {
      end = packValues(values, { from: packedStart, to: position, bitWidth, target, start: end });
      packedStart = position;
      if (runEnd - position < RUN_LENGTH_MIN) continue;
      end = writeVarint((runEnd - position) * 2, target, end);
      for (let shift = 0; shift < bitWidth; shift += 8) target[end++] = (value >> shift) & 0xff;
      position = runEnd;
      packedStart = position;
    } else position += 8; // a bit-packed run consists of groups of 8 values
  }
  return packValues(values, { from: packedStart, to: count, bitWidth, target, start: end });
}

/** Writes a bit-packed run; values after `to` in the last group of 8 are 0. */
function packValues(
  values: Int32Array | Uint8Array,
  {
    from,
    to,
    bitWidth,
    target,
    start,
  }: { from: number; to: number; bitWidth: number; target: Uint8Array; start: number },
): number {
  if (from >= to) return start;
  const groupCount = Math.ceil((to - from) / 8);
  let end = writeVarint(groupCount * 2 + 1, target, start);
  const packedEnd = end + groupCount * bitWidth;
  let bits = 0;
  let bitCount = 0;
  for (let i = from; i < to; i++) {
    bits |= (values[i] as number) << bitCount;
    bitCount += bitWidth;
    while (bitCount >= 8) {
      target[end++] = bits & 0xff;
      bits >>>= 8;
      bitCount -= 8;
    }
  }
  if (bitCount > 0) target[end++] = bits & 0xff;
  target.fill(0, end, packedEnd);
  return packedEnd;
}

function writeVarint(value: number, target: Uint8Array, start: number): number {
  let end = start;
  let rest = value;
  for (; rest >= 0x80; rest >>>= 7) target[end++] = (rest & 0x7f) | 0x80;
  target[end++] = rest;
  return end;
}
