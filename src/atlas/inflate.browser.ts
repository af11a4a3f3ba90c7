import type { inflateRaw as inflateRawOfNode } from "./inflate.ts";

/** Takes the place of inflate.ts, and keeps its promises, where there is no zlib but the platform's own streams. */
export const inflateRaw: typeof inflateRawOfNode = async (bytes, sizeBytes) => {
  const unpacked = new Uint8Array(sizeBytes);
  let filled = 0;
  const stream = new Blob([bytes as Uint8Array<ArrayBuffer>])
    .stream()
    .pipeThrough(new DecompressionStream("deflate-raw"));
  const reader = stream.getReader();
  for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
    if (filled + piece.value.length > sizeBytes) {
      await reader.cancel(); // a damaged stream may promise gigabytes
      throw new Error(`The data unpack to more than ${sizeBytes} bytes.`);
    }
    unpacked.set(piece.value, filled);
    filled += piece.value.length;
  }
  if (filled !== sizeBytes) throw new Error(`The data unpack to ${filled} bytes instead of ${sizeBytes}.`);
  return unpacked;
};
