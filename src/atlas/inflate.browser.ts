import type { inflateRaw as inflateRawOfNode } from "./inflate.ts";

/** Replaces inflate.ts in browser bundles, with the same contract, using DecompressionStream instead of zlib. */
export const inflateRaw: typeof inflateRawOfNode = async (bytes, sizeBytes) => {
  const unpacked = new Uint8Array(sizeBytes);
  let filled = 0;
  const stream = new Blob([bytes as Uint8Array<ArrayBuffer>])
    .stream()
    .pipeThrough(new DecompressionStream("deflate-raw"));
  const reader = stream.getReader();
  for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
    if (filled + piece.value.length > sizeBytes) {
      await reader.cancel(); // a damaged stream may expand to gigabytes
      throw new Error(`The decompressed size must be ${sizeBytes} bytes (got more).`);
    }
    unpacked.set(piece.value, filled);
    filled += piece.value.length;
  }
  if (filled !== sizeBytes) throw new Error(`The decompressed size must be ${sizeBytes} bytes (got ${filled}).`);
  return unpacked;
};
