import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import type { CompressionCodec } from "hyparquet";
import { type ColumnSource, parquetWriteBuffer } from "hyparquet-writer";

/** Compressors of all codecs. Those without a package store the bytes uncompressed in the format of the codec. */
const COMPRESSORS: Partial<Record<CompressionCodec, (bytes: Uint8Array) => Uint8Array>> = {
  GZIP: (bytes) => gzipSync(bytes),
  BROTLI: (bytes) => brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } }),
  ZSTD: storeZstd,
  LZ4_RAW: storeLz4,
};
export const TEST_CODECS: readonly CompressionCodec[] = ["UNCOMPRESSED", "SNAPPY", "GZIP", "BROTLI", "ZSTD", "LZ4_RAW"];

interface ParquetFixture extends Partial<Omit<Parameters<typeof parquetWriteBuffer>[0], "columnData">> {
  readonly columns: readonly ColumnSource[];
}

/** Writes a Parquet file, by default in row groups of 6000 rows and small pages. */
export function parquetBytes({ columns, ...options }: ParquetFixture): Uint8Array {
  const columnData = columns.map((column) => ({ ...column }));
  const buffer = parquetWriteBuffer({
    compressors: COMPRESSORS,
    rowGroupSize: 6000,
    pageSize: 8000,
    ...options,
    columnData,
  });
  return new Uint8Array(buffer);
}

/** Returns a point in WKB. */
export function wkbPoint(longitude: number, latitude: number): Uint8Array {
  const bytes = new Uint8Array(21);
  const view = new DataView(bytes.buffer);
  view.setUint8(0, 1);
  view.setUint32(1, 1, true);
  view.setFloat64(5, longitude, true);
  view.setFloat64(13, latitude, true);
  return bytes;
}

/** Returns a Zstandard frame of uncompressed blocks (RFC 8878). */
function storeZstd(bytes: Uint8Array): Uint8Array {
  const parts: Uint8Array[] = [Uint8Array.of(0x28, 0xb5, 0x2f, 0xfd, 0xa0), uint32(bytes.length)];
  const blockSize = 1 << 16;
  for (let start = 0; start === 0 || start < bytes.length; start += blockSize) {
    const block = bytes.subarray(start, start + blockSize);
    const isLast = start + blockSize >= bytes.length;
    parts.push(uint32((block.length << 3) | (isLast ? 1 : 0)).subarray(0, 3), block);
  }
  return Buffer.concat(parts);
}

/** Returns an LZ4 block of literals. */
function storeLz4(bytes: Uint8Array): Uint8Array {
  if (bytes.length < 15) return Buffer.concat([Uint8Array.of(bytes.length << 4), bytes]);
  const rest = bytes.length - 15;
  const lengths = new Uint8Array(Math.floor(rest / 255) + 1).fill(255);
  lengths[lengths.length - 1] = rest % 255;
  return Buffer.concat([Uint8Array.of(0xf0), lengths, bytes]);
}

function uint32(value: number): Uint8Array {
  const bytes = new Uint8Array(4);
  new DataView(bytes.buffer).setUint32(0, value, true);
  return bytes;
}
