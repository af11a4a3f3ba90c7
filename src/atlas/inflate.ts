import { inflateRawSync } from "node:zlib";

/**
 * Unpacks raw DEFLATE data (RFC 1951) of known unpacked size. This is Node's half; in a bundle for browsers
 * inflate.browser.ts stands in its place, by the `browser` field of package.json.
 *
 * @param bytes the packed data: all of them, and nothing after them
 * @param sizeBytes what they unpack to, at least 1
 * @returns u8[sizeBytes], in a buffer of its own
 * @throws Error when the data are damaged, end early, are followed by something, or unpack to another size
 */
export async function inflateRaw(bytes: Uint8Array, sizeBytes: number): Promise<Uint8Array> {
  // Not zlib's thread pool: for one tile of 32 KiB the way there and back costs as much as the work (0.33 ms for 0.17),
  // and where there is more to do, each core has a worker of ours on it already.
  const { buffer, engine } = inflateRawSync(bytes, {
    maxOutputLength: sizeBytes, // a damaged stream may promise gigabytes
    info: true,
  }) as unknown as { readonly buffer: Uint8Array; readonly engine: { readonly bytesWritten: number } };
  if (buffer.length !== sizeBytes)
    throw new Error(`The data unpack to ${buffer.length} bytes instead of ${sizeBytes}.`);
  if (engine.bytesWritten !== bytes.length) {
    throw new Error(`The data end ${bytes.length - engine.bytesWritten} bytes before their end.`);
  }
  return buffer.buffer.byteLength === sizeBytes ? buffer : new Uint8Array(buffer); // out of Node's pool
}
