/**
 * Block decoders with output limited to the size of a block, so that damaged or malicious data cannot exhaust memory.
 * The decoders of geotiff.js have no such limit.
 */
import { inflateSync } from "node:zlib";
import type { BaseDecoder, Pool } from "geotiff";
import { ZSTDDecoder } from "zstddec";
import type { Layout } from "./layout.ts";
import { decodeLerc } from "./lerc.ts";
import { toNativeBlock } from "./nativeBlock.ts";
import { expandSamples } from "./packedSamples.ts";

export type GeoTiffModule = typeof import("geotiff");
type Decode = (encoded: Uint8Array, sizeBytesMax: number) => Uint8Array | Promise<Uint8Array>;

const LERC = 34_887;

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
 * Decompresses one block, and expands samples that do not fill whole bytes.
 * @throws Error if the block is damaged or exceeds the size of a whole block
 */
export function decodeBlock(encoded: Uint8Array, layout: Layout): Uint8Array | Promise<Uint8Array> {
  if (layout.compression === LERC) return decodeLerc(encoded, layout, decodeBounded);
  const decoded = decodeBounded(layout.compression, encoded, layout.blockBytes);
  if (layout.storedBits >= layout.format.bits) return decoded;
  return decoded instanceof Uint8Array
    ? expandSamples(decoded, layout)
    : decoded.then((bytes) => expandSamples(bytes, layout));
}

function decodeBounded(
  compression: number,
  encoded: Uint8Array,
  sizeBytesMax: number,
): Uint8Array | Promise<Uint8Array> {
  const decode = DECODERS.get(compression);
  if (decode === undefined) throw new Error(`No decoder for compression ${compression}.`);
  return decode(encoded, sizeBytesMax);
}

/**
 * Returns the decoder pool that geotiff.js uses for one file.
 * @param signal when aborted, no further blocks are decoded
 */
export function decodersOf(module: GeoTiffModule, layout: Layout, signal: AbortSignal | undefined): Pool {
  class BoundedDecoder extends module.BaseDecoder {
    override async decodeBlock(encoded: ArrayBufferLike): Promise<ArrayBufferLike> {
      signal?.throwIfAborted();
      const decoded = await decodeBlock(new Uint8Array(encoded), layout);
      return toNativeBlock(decoded as Uint8Array<ArrayBuffer>, layout);
    }
  }
  class BoundedPool extends module.Pool {
    constructor() {
      super(0); // no workers: blocks are decoded in the calling thread
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

/** Decompresses in the calling thread; blocks are decoded in parallel on several threads, each with separate readers. */
function decodeDeflate(encoded: Uint8Array, sizeBytesMax: number): Uint8Array {
  // One chunk holds the block and one extra byte that reveals an overflow, so no second chunk is allocated.
  return inflateSync(encoded, { maxOutputLength: sizeBytesMax, chunkSize: Math.max(64, sizeBytesMax + 1) });
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
  // The size is known before decoding, so that a large block which decodes to few bytes takes little memory.
  const decoded = new Uint8Array(packBitsSize(encoded, sizeBytesMax));
  let writeIndex = 0;
  for (let readIndex = 0; writeIndex < decoded.length;) {
    const header = ((encoded[readIndex++] ?? 0) << 24) >> 24;
    if (header === -128) continue;
    const count = header < 0 ? 1 - header : header + 1;
    if (header < 0) decoded.fill(encoded[readIndex++] ?? 0, writeIndex, writeIndex + count);
    else {
      decoded.set(encoded.subarray(readIndex, readIndex + count), writeIndex);
      readIndex += count;
    }
    writeIndex += count;
  }
  return decoded;
}

/** Returns the decoded size of PackBits data. */
function packBitsSize(encoded: Uint8Array, sizeBytesMax: number): number {
  let sizeBytes = 0;
  for (let readIndex = 0; readIndex < encoded.length;) {
    const header = ((encoded[readIndex++] ?? 0) << 24) >> 24;
    if (header === -128) continue;
    if (sizeBytes === sizeBytesMax) break; // some writers add padding
    const count = header < 0 ? 1 - header : header + 1;
    if (sizeBytes + count > sizeBytesMax) throw oversizedBlock("PackBits");
    readIndex += header < 0 ? 1 : count;
    if (readIndex > encoded.length) throw new Error("its PackBits data are truncated");
    sizeBytes += count;
  }
  return sizeBytes;
}

const LZW_CLEAR = 256;
const LZW_END = 257;
const LZW_BITS_MAX = 12;

/**
 * Decodes LZW (TIFF 6.0 section 13): codes of 9 to 12 bits, most significant bit first; the code width changes one code
 * early.
 */
function decodeLzw(encoded: Uint8Array, sizeBytesMax: number): Uint8Array {
  if (encoded[0] === 0 && ((encoded[1] ?? 0) & 1) === 1)
    throw new Error("its LZW data use the old bit-reversed variant");
  const decoded = new Uint8Array(sizeBytesMax);
  // A string is stored as its position in the output; it is the string of the previous code followed by one byte.
  const starts = new Uint32Array(1 << LZW_BITS_MAX);
  const lengths = new Uint32Array(1 << LZW_BITS_MAX);
  let writeIndex = 0;
  let nextCode = LZW_END + 1;
  let codeBits = 9;
  let previousStart = -1;
  let previousLength = 0;
  let buffer = 0;
  let bufferedBits = 0;
  let readIndex = 0;
  for (;;) {
    while (bufferedBits < codeBits && readIndex < encoded.length) {
      buffer = ((buffer << 8) | (encoded[readIndex++] ?? 0)) & 0xff_ffff;
      bufferedBits += 8;
    }
    if (bufferedBits < codeBits) return decoded.subarray(0, writeIndex);
    const code = (buffer >> (bufferedBits - codeBits)) & ((1 << codeBits) - 1);
    bufferedBits -= codeBits;
    if (code === LZW_END) return decoded.subarray(0, writeIndex);
    if (code === LZW_CLEAR) {
      nextCode = LZW_END + 1;
      codeBits = 9;
      previousStart = -1;
      continue;
    }
    if (writeIndex === sizeBytesMax) return decoded; // some writers omit the end code and add padding
    const start = writeIndex;
    if (code < LZW_CLEAR) {
      decoded[writeIndex++] = code;
    } else {
      const isNew = code === nextCode && previousStart >= 0;
      if (!isNew && code >= nextCode) throw new Error("its LZW data are damaged");
      const from = isNew ? previousStart : (starts[code] ?? 0);
      const length = isNew ? previousLength + 1 : (lengths[code] ?? 0);
      if (writeIndex + length > sizeBytesMax) throw oversizedBlock("LZW");
      // Copied byte by byte because the source may overlap the target.
      for (let i = 0; i < length; i++) decoded[writeIndex++] = decoded[from + i] ?? 0;
    }
    if (previousStart >= 0 && nextCode < 1 << LZW_BITS_MAX) {
      starts[nextCode] = previousStart;
      lengths[nextCode] = previousLength + 1;
      nextCode++;
    }
    previousStart = start;
    previousLength = writeIndex - start;
    if (nextCode + 1 >= 1 << codeBits && codeBits < LZW_BITS_MAX) codeBits++;
  }
}

function oversizedBlock(method: string): Error {
  return new Error(`its ${method} data exceed the size of a block`);
}
