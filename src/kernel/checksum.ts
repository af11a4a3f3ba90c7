import type { Kernel, Region } from "./instance.ts";

const PIECE_BYTES = 1 << 20;
const tables = new WeakMap<Kernel, Region>();

/** CRC-32 of bytes, as zip and PNG have it. */
export function crc32(kernel: Kernel, bytes: Uint8Array): number {
  const table = tables.get(kernel) ?? kernel.reserve(8 * 256 * 4);
  tables.set(kernel, table);
  let crc = 0;
  for (let start = 0; start < bytes.length; start += PIECE_BYTES) {
    const piece = bytes.subarray(start, start + PIECE_BYTES);
    crc = kernel.withScratch((scratch) =>
      kernel.exports.crc32(scratch.copyIn(piece).pointer, piece.length, table.pointer, crc),
    );
  }
  return crc >>> 0;
}
