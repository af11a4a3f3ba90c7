import { inflateRawSync } from "node:zlib";

/**
 * Decompresses raw DEFLATE data (RFC 1951) of known decompressed size. Runs in Node; the `browser` field of package.json
 * replaces this file with inflate.browser.ts.
 *
 * @param bytes the complete stream, without trailing bytes
 * @param sizeBytes decompressed size, at least 1
 * @returns u8[sizeBytes], in a separate buffer
 * @throws Error if the data are damaged, truncated or followed by other bytes, or decompress to another size
 */
export async function inflateRaw(bytes: Uint8Array, sizeBytes: number): Promise<Uint8Array> {
  // Synchronous because zlib's thread pool doubles the time for a tile of 32 KiB (0.33 ms instead of 0.17), and under load
  // the worker threads already keep every core busy.
  const { buffer, engine } = inflateRawSync(bytes, {
    maxOutputLength: sizeBytes, // a damaged stream may expand to gigabytes
    info: true,
  }) as unknown as { readonly buffer: Uint8Array; readonly engine: { readonly bytesWritten: number } };
  if (buffer.length !== sizeBytes)
    throw new Error(`The decompressed size must be ${sizeBytes} bytes (got ${buffer.length}).`);
  if (engine.bytesWritten !== bytes.length) {
    throw new Error(`The compressed data are followed by ${bytes.length - engine.bytesWritten} extra bytes.`);
  }
  // A short result is a view of zlib's output chunk, which is larger.
  return buffer.buffer.byteLength === sizeBytes ? buffer : new Uint8Array(buffer);
}
