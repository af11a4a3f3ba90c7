/**
 * The bytes that follow a row group in a Parquet file: what the footer needs to know of its column chunks. Readers of
 * Parquet do not see them, because the footer does not refer to them. With them, a footer can be written without keeping
 * the descriptions of all row groups in memory.
 *
 * A chunk takes 36 bytes: five u32 and two f64, little-endian. The last four bytes are the number of chunks (u32).
 */
import type { ChunkDescription } from "./parquetChunk.ts";

const CHUNK_SIZE_BYTES = 36;
const COUNT_SIZE_BYTES = 4;
const COMPRESSED = 1;
const HAS_RANGE = 2;

/** Returns the size of the trailer of a row group. */
export function rowGroupTrailerSizeBytes(columnCount: number): number {
  return columnCount * CHUNK_SIZE_BYTES + COUNT_SIZE_BYTES;
}

/** Encodes the trailer of a row group. */
export function rowGroupTrailer(chunks: readonly ChunkDescription[]): Uint8Array {
  const bytes = new Uint8Array(rowGroupTrailerSizeBytes(chunks.length));
  const view = new DataView(bytes.buffer);
  for (const [i, chunk] of chunks.entries()) {
    const start = i * CHUNK_SIZE_BYTES;
    const { min, max } = chunk;
    const hasRange = min !== undefined && max !== undefined;
    view.setUint32(start, (chunk.isCompressed ? COMPRESSED : 0) | (hasRange ? HAS_RANGE : 0), true);
    view.setUint32(start + 4, chunk.dictionarySizeBytes, true);
    view.setUint32(start + 8, chunk.sizeBytes, true);
    view.setUint32(start + 12, chunk.uncompressedSizeBytes, true);
    view.setUint32(start + 16, chunk.nullCount, true);
    view.setFloat64(start + 20, min ?? 0, true);
    view.setFloat64(start + 28, max ?? 0, true);
  }
  view.setUint32(bytes.length - COUNT_SIZE_BYTES, chunks.length, true);
  return bytes;
}

/** Decodes a trailer. @throws Error if it is of another number of chunks */
export function readRowGroupTrailer(bytes: Uint8Array): readonly ChunkDescription[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const count = view.getUint32(bytes.length - COUNT_SIZE_BYTES, true);
  if (rowGroupTrailerSizeBytes(count) !== bytes.length) throw new Error("A row group has no valid trailer.");
  return Array.from({ length: count }, (_, i): ChunkDescription => {
    const start = i * CHUNK_SIZE_BYTES;
    const flags = view.getUint32(start, true);
    return {
      isCompressed: (flags & COMPRESSED) !== 0,
      dictionarySizeBytes: view.getUint32(start + 4, true),
      sizeBytes: view.getUint32(start + 8, true),
      uncompressedSizeBytes: view.getUint32(start + 12, true),
      nullCount: view.getUint32(start + 16, true),
      ...((flags & HAS_RANGE) === 0
        ? {}
        : { min: view.getFloat64(start + 20, true), max: view.getFloat64(start + 28, true) }),
    };
  });
}
