import { crc32 } from "node:zlib";

/** CRC-32 as zlib has it. Imports nothing that is under test. */
export function crc32ByZlib(bytes: Uint8Array): number {
  return crc32(bytes);
}
