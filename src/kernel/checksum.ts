import type { Kernel, Region } from "./instance.ts";

/** Bytes per kernel call, well below the size of the scratch memory. */
const CRC_CHUNK_BYTES = 1 << 20;
/** Lookup table of each kernel, u32[8][256]. */
const tables = new WeakMap<Kernel, Region>();

/** Computes the CRC-32 that zip and PNG use. */
export function crc32(kernel: Kernel, bytes: Uint8Array): number {
  const table = tables.get(kernel) ?? kernel.reserve(8 * 256 * 4);
  tables.set(kernel, table);
  let crc = 0;
  for (let start = 0; start < bytes.length; start += CRC_CHUNK_BYTES) {
    const chunk = bytes.subarray(start, start + CRC_CHUNK_BYTES);
    crc = kernel.withScratch((scratch) =>
      kernel.exports.crc32(scratch.copyIn(chunk).pointer, chunk.length, table.pointer, crc),
    );
  }
  return crc >>> 0;
}
