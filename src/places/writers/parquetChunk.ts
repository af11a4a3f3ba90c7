/** Encodes the column chunks of a Parquet file: one dictionary page and one data page each. */
import type { ColumnChunk, SchemaElement } from "hyparquet";
import type { ByteWriter } from "hyparquet-writer";
import { bitWidthOf, encodeHybrid, hybridSizeMax } from "./hybridEncoding.ts";

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
