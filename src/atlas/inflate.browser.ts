import type { inflateRaw as inflateRawOfNode } from "./inflate.ts";

/** Replaces inflate.ts in browser bundles, with the same contract. Uses DecompressionStream instead of zlib. */
export const inflateRaw: typeof inflateRawOfNode = async (bytes, sizeBytes) => {
  const unpacked = new Uint8Array(sizeBytes);
  let filledBytes = 0;
  const stream = new Blob([bytes as Uint8Array<ArrayBuffer>])
    .stream()
    .pipeThrough(new DecompressionStream("deflate-raw"));
  const reader = stream.getReader();
  for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) {
    if (filledBytes + chunk.value.length > sizeBytes) {
      await reader.cancel(); // a damaged stream may expand to gigabytes
      throw new Error(`The decompressed size must be ${sizeBytes} bytes (got more).`);
    }
    unpacked.set(chunk.value, filledBytes);
    filledBytes += chunk.value.length;
  }
  if (filledBytes !== sizeBytes)
    throw new Error(`The decompressed size must be ${sizeBytes} bytes (got ${filledBytes}).`);
  return unpacked;
};
