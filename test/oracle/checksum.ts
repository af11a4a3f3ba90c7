import { crc32 } from "node:zlib";

/** Computes the CRC-32 with zlib. Does not import code under test. */
export function crc32ByZlib(bytes: Uint8Array): number {
  return crc32(bytes);
}
