/**
 * Block decoders with output limited to the size of a block, so that damaged or malicious data cannot exhaust memory.
 * The decoders of geotiff.js have no such limit.
 */
import { promisify } from "node:util";
import { inflate } from "node:zlib";
import type { BaseDecoder, Pool } from "geotiff";
import { ZSTDDecoder } from "zstddec";
import type { Layout } from "./layout.ts";

type GeoTiffModule = typeof import("geotiff");
type Decode = (encoded: Uint8Array, sizeBytesMax: number) => Uint8Array | Promise<Uint8Array>;

const inflateAsync = promisify(inflate);
const zstd = new ZSTDDecoder();

const DECODERS: ReadonlyMap<number, Decode> = new Map<number, Decode>([
  [1, (encoded) => encoded],
  [5, decodeLzw],
  [8, decodeDeflate],
  [32_946, decodeDeflate],
  [32_773, decodePackBits],
  [50_000, decodeZstd],
]);

/**
 * Returns the decoder pool that geotiff.js uses for one file.
 * @param signal stops the decoding of further blocks
 */
export function decodersOf(module: GeoTiffModule, layout: Layout, signal: AbortSignal | undefined): Pool {
  const decode = DECODERS.get(layout.compression);
  if (decode === undefined) throw new Error(`No decoder for compression ${layout.compression}.`);
  class BoundedDecoder extends module.BaseDecoder {
    override async decodeBlock(encoded: ArrayBufferLike): Promise<ArrayBufferLike> {
      signal?.throwIfAborted();
      const decoded = await (decode as Decode)(new Uint8Array(encoded), layout.blockBytes);
      const isWhole = decoded.byteOffset === 0 && decoded.byteLength === decoded.buffer.byteLength;
      // Not slice(): on a Buffer that returns a view of the same bytes.
      return isWhole ? decoded.buffer : new Uint8Array(decoded).buffer;
    }
  }
  class BoundedPool extends module.Pool {
    constructor() {
      super(0); // no workers: zlib uses the libuv thread pool
    }
    override bindParameters(
      _compression: number,
      parameters: ConstructorParameters<typeof BaseDecoder>[0],
    ): ReturnType<Pool["bindParameters"]> {
      const decoder = new BoundedDecoder(parameters);
      return { decode: (encoded) => decoder.decode(encoded) };
    }
  }
  return new BoundedPool();
}

async function decodeDeflate(encoded: Uint8Array, sizeBytesMax: number): Promise<Uint8Array> {
  // One chunk holds the block and one extra byte that reveals an overflow, so no second chunk is allocated.
  return inflateAsync(encoded, { maxOutputLength: sizeBytesMax, chunkSize: Math.max(64, sizeBytesMax + 1) });
}

async function decodeZstd(encoded: Uint8Array, sizeBytesMax: number): Promise<Uint8Array> {
  await zstd.init();
  // Given a size, the decoder writes at most that many bytes, and returns none on error.
  const decoded = zstd.decode(encoded, sizeBytesMax);
  if (decoded.length === 0) throw new Error("its ZSTD data are damaged or exceed the size of a block");
  return decoded;
}

/** Decodes PackBits (TIFF 6.0 section 9). */
function decodePackBits(encoded: Uint8Array, sizeBytesMax: number): Uint8Array {
  const decoded = new Uint8Array(sizeBytesMax);
  let to = 0;
  for (let at = 0; at < encoded.length;) {
    const header = ((encoded[at++] ?? 0) << 24) >> 24;
    if (header === -128) continue;
    const count = header < 0 ? 1 - header : header + 1;
    if (to === sizeBytesMax) break; // some writers add padding
    if (to + count > sizeBytesMax) throw tooLarge("PackBits");
    if (at + (header < 0 ? 1 : count) > encoded.length) throw new Error("its PackBits data are cut short");
    if (header < 0) decoded.fill(encoded[at++] ?? 0, to, to + count);
    else {
      decoded.set(encoded.subarray(at, at + count), to);
      at += count;
    }
    to += count;
  }
  return decoded.subarray(0, to);
}

const LZW_CLEAR = 256;
const LZW_END = 257;
const LZW_BITS_MAX = 12;

/** Decodes LZW (TIFF 6.0 section 13): codes of 9 to 12 bits, most significant bit first, width changed one code early. */
function decodeLzw(encoded: Uint8Array, sizeBytesMax: number): Uint8Array {
  if (encoded[0] === 0 && ((encoded[1] ?? 0) & 1) === 1)
    throw new Error("its LZW data use the old bit-reversed variant");
  const decoded = new Uint8Array(sizeBytesMax);
  // A string is stored as its position in the output: the string of the previous code and one more byte.
  const starts = new Uint32Array(1 << LZW_BITS_MAX);
  const lengths = new Uint32Array(1 << LZW_BITS_MAX);
  let to = 0;
  let next = LZW_END + 1;
  let bits = 9;
  let previousStart = -1;
  let previousLength = 0;
  let buffer = 0;
  let buffered = 0;
  let at = 0;
  for (;;) {
    while (buffered < bits && at < encoded.length) {
      buffer = ((buffer << 8) | (encoded[at++] ?? 0)) & 0xff_ffff;
      buffered += 8;
    }
    if (buffered < bits) return decoded.subarray(0, to);
    const code = (buffer >> (buffered - bits)) & ((1 << bits) - 1);
    buffered -= bits;
    if (code === LZW_END) return decoded.subarray(0, to);
    if (code === LZW_CLEAR) {
      next = LZW_END + 1;
      bits = 9;
      previousStart = -1;
      continue;
    }
    if (to === sizeBytesMax) return decoded; // some writers omit the end code and add padding
    const start = to;
    if (code < LZW_CLEAR) {
      decoded[to++] = code;
    } else {
      const isNew = code === next && previousStart >= 0;
      if (!isNew && code >= next) throw new Error("its LZW data are damaged");
      const from = isNew ? previousStart : (starts[code] ?? 0);
      const length = isNew ? previousLength + 1 : (lengths[code] ?? 0);
      if (to + length > sizeBytesMax) throw tooLarge("LZW");
      // Copied byte by byte because the source may overlap the target.
      for (let i = 0; i < length; i++) decoded[to++] = decoded[from + i] ?? 0;
    }
    if (previousStart >= 0 && next < 1 << LZW_BITS_MAX) {
      starts[next] = previousStart;
      lengths[next] = previousLength + 1;
      next++;
    }
    previousStart = start;
    previousLength = to - start;
    if (next + 1 >= 1 << bits && bits < LZW_BITS_MAX) bits++;
  }
}

function tooLarge(method: string): Error {
  return new Error(`its ${method} data exceed the size of a block`);
}
