/** Encodes the column chunks of a Parquet file: one dictionary page and one data page each. */
import type { PageHeader } from "hyparquet";
import type { ByteWriter } from "hyparquet-writer";
import { bitWidthOf, encodeHybrid, hybridSizeMax } from "./hybridEncoding.ts";

/** The functions of hyparquet-writer that are used, which is loaded on demand. */
export interface ParquetFunctions {
  readonly ByteWriter: typeof ByteWriter;
  writePageHeader(writer: ByteWriter, header: PageHeader): void;
  snappyCompress(bytes: Uint8Array): Uint8Array;
}

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

/** What the footer needs to know of a column chunk. */
export interface ChunkDescription {
  /** Size of the dictionary page, which is first; 0 if there is none. */
  readonly dictionarySizeBytes: number;
  readonly sizeBytes: number;
  readonly uncompressedSizeBytes: number;
  readonly isCompressed: boolean;
  readonly nullCount: number;
  readonly min?: number | undefined;
  readonly max?: number | undefined;
}

/** Pages are compressed if that saves at least this share. */
const SAVED_SHARE_MIN = 0.1;
/** Only this much of a page is compressed to find out whether compression saves enough. */
const SAMPLE_SIZE_BYTES = 1 << 14;

/** Appends a column chunk. */
export function writeChunk(writer: ByteWriter, column: ColumnData, functions: ParquetFunctions): ChunkDescription {
  const { indices, dictionary, plain, min, max } = column;
  const { bytes: data, nullCount } = dataPage(column);
  const isCompressed =
    savesEnough(data, functions) || (dictionary !== undefined && savesEnough(dictionary.bytes, functions));
  const start = writer.offset;
  let uncompressedSizeBytes = 0;
  const writePage = (bytes: Uint8Array, header: Partial<PageHeader> & Pick<PageHeader, "type">): void => {
    const stored = isCompressed ? functions.snappyCompress(bytes) : bytes;
    const headerStart = writer.offset;
    functions.writePageHeader(writer, {
      ...header,
      uncompressed_page_size: bytes.length,
      compressed_page_size: stored.length,
    });
    uncompressedSizeBytes += writer.offset - headerStart + bytes.length;
    writer.appendBytes(stored);
  };
  if (dictionary !== undefined) {
    writePage(dictionary.bytes, {
      type: "DICTIONARY_PAGE",
      dictionary_page_header: { num_values: dictionary.count, encoding: "PLAIN" },
    });
  }
  const dataOffset = writer.offset;
  writePage(data, {
    type: "DATA_PAGE",
    data_page_header: {
      num_values: indices.length,
      encoding: plain === undefined ? "RLE_DICTIONARY" : "PLAIN",
      definition_level_encoding: "RLE",
      repetition_level_encoding: "RLE",
    },
  });
  return {
    dictionarySizeBytes: dataOffset - start,
    sizeBytes: writer.offset - start,
    uncompressedSizeBytes,
    isCompressed,
    nullCount,
    ...(min === undefined ? {} : { min, max }),
  };
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

function savesEnough(bytes: Uint8Array, { snappyCompress }: ParquetFunctions): boolean {
  const start = Math.max(0, (bytes.length - SAMPLE_SIZE_BYTES) >> 1);
  const sample = bytes.subarray(start, start + SAMPLE_SIZE_BYTES);
  return snappyCompress(sample).length <= sample.length * (1 - SAVED_SHARE_MIN);
}
