/**
 * Decodes blocks into numbers. Decompression is limited to the size of a block, so that damaged or malicious data cannot exhaust
 * memory.
 */
import { inflateSync } from "node:zlib";
import { ZSTDDecoder } from "zstddec";
import type { RasterValues } from "../../raster.ts";
import { COMPRESSION, type Layout } from "./layout.ts";
import { decodeLerc } from "./lerc.ts";
import type { NumberFormat } from "./nodata.ts";

/** The numbers of a block as they are stored, except that 16-bit floats and 64-bit integers are converted. */
export type BlockNumbers = Int8Array | Uint8Array | Int16Array | Uint16Array | Int32Array | Uint32Array | RasterValues;

type Decode = (encoded: Uint8Array, sizeBytesMax: number) => Uint8Array | Promise<Uint8Array>;

const zstd = new ZSTDDecoder();

const DECODERS: ReadonlyMap<number, Decode> = new Map<number, Decode>([
  [COMPRESSION.none, (encoded) => encoded],
  [COMPRESSION.lzw, decodeLzw],
  [COMPRESSION.deflate, decodeDeflate],
  [COMPRESSION.deflateOld, decodeDeflate],
  [COMPRESSION.packBits, decodePackBits],
  [COMPRESSION.zstd, decodeZstd],
]);

function decompress(compression: number, encoded: Uint8Array, sizeBytesMax: number): ReturnType<Decode> {
  const decode = DECODERS.get(compression);
  if (decode === undefined) throw new Error(`No decoder for compression ${compression}.`);
  return decode(encoded, sizeBytesMax);
}

/**
 * Decodes one block.
 *
 * @param rowCount the rows that the block must have at least
 * @throws Error if the block is damaged or exceeds the size of a whole block
 */
export async function decodeBlock(encoded: Uint8Array, layout: Layout, rowCount: number): Promise<BlockNumbers> {
  const { compression, storedBits, format, predictor } = layout;
  const decompressed =
    compression === COMPRESSION.lerc
      ? await decodeLerc(encoded, layout, decompress)
      : await decompress(compression, encoded, layout.blockBytes);
  const stored = storedBits < format.bits ? expandSamples(decompressed, layout) : decompressed;
  const rowBytes = (layout.blockColumnCount * layout.samplesPerCell * format.bits) / 8;
  const sizeBytes = rowCount * rowBytes;
  if (stored.length < sizeBytes)
    throw new Error(`a block of ${sizeBytes} bytes decompresses to ${stored.length} bytes`);
  const bytes = stored.subarray(0, sizeBytes);
  if (predictor === 1 && layout.isLittleEndian) return numbersOf(bytes, format);
  // Copied because the bytes are changed in place, and those of an uncompressed block are part of a larger read.
  const own = stored.buffer === encoded.buffer ? new Uint8Array(bytes) : bytes;
  const rows = { rowBytes, stride: layout.samplesPerCell, size: format.bits / 8 };
  if (predictor === 3) undoFloatPredictor(own, rows);
  else {
    if (!layout.isLittleEndian && rows.size > 1) swapBytes(own, rows.size);
    if (predictor === 2) undoHorizontalPredictor(own, rows);
  }
  return numbersOf(own, format);
}

interface NumberArray {
  readonly BYTES_PER_ELEMENT: number;
  new (buffer: ArrayBufferLike, offset: number, length: number): BlockNumbers;
}

const NUMBER_ARRAYS: ReadonlyMap<string, NumberArray> = new Map<string, NumberArray>([
  ["unsigned 8", Uint8Array],
  ["unsigned 16", Uint16Array],
  ["unsigned 32", Uint32Array],
  ["integer 8", Int8Array],
  ["integer 16", Int16Array],
  ["integer 32", Int32Array],
  ["float 16", Uint16Array],
  ["float 32", Float32Array],
  ["float 64", Float64Array],
]);

/** Returns little-endian bytes as numbers. */
function numbersOf(bytes: Uint8Array, { kind, bits }: NumberFormat): BlockNumbers {
  const size = bits / 8;
  const { buffer, byteOffset } = bytes.byteOffset % size === 0 ? bytes : new Uint8Array(bytes);
  const count = bytes.length / size;
  if (bits === 64 && kind === "unsigned")
    return floatsOf(new BigUint64Array(buffer, byteOffset, count), 2n ** 64n - 1n);
  if (bits === 64 && kind === "integer") return floatsOf(new BigInt64Array(buffer, byteOffset, count), 2n ** 63n - 1n);
  const type = NUMBER_ARRAYS.get(`${kind} ${bits}`);
  if (type === undefined) throw new Error(`No array for ${kind} numbers of ${bits} bits.`);
  const numbers = new type(buffer, byteOffset, count);
  return kind === "float" && bits === 16 ? Float32Array.from(numbers, float16Of) : numbers;
}

const SAFE_MAX = BigInt(Number.MAX_SAFE_INTEGER);

/**
 * Converts 64-bit integers to floats. An integer that a float cannot represent exactly becomes infinite, except the smallest and
 * the largest integer of the type, which often mark missing cells; they become the nearest float.
 */
function floatsOf(integers: BigInt64Array | BigUint64Array, largest: bigint): Float64Array {
  const floats = new Float64Array(integers.length);
  for (let index = 0; index < floats.length; index++) {
    const integer = integers[index] as bigint;
    const isExact = (integer <= SAFE_MAX && integer >= -SAFE_MAX) || integer === largest || integer === -(2n ** 63n);
    floats[index] = isExact ? Number(integer) : integer > 0n ? Infinity : -Infinity;
  }
  return floats;
}

/** Returns the number of which a 16-bit float (IEEE 754 binary16) has the bits. */
function float16Of(bits: number): number {
  const sign = (bits & 0x80_00) === 0 ? 1 : -1;
  const exponent = (bits >> 10) & 0x1f;
  const fraction = bits & 0x3_ff;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 0x1f) return fraction === 0 ? sign * Infinity : NaN;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}

/** Reverses the order of the bytes of each number. Bytes after the last whole number are unchanged. */
function swapBytes(bytes: Uint8Array, size: number): void {
  for (let start = 0; start + size <= bytes.length; start += size) {
    for (let low = start, high = start + size - 1; low < high; low++, high--) {
      const byte = bytes[low] as number;
      bytes[low] = bytes[high] as number;
      bytes[high] = byte;
    }
  }
}

interface Rows {
  readonly rowBytes: number;
  /** Number of bands in a cell. */
  readonly stride: number;
  /** Bytes of a number. */
  readonly size: number;
}

/** Undoes predictor 2 (TIFF 6.0 section 14): each number is the difference from that of the same band in the cell before. */
function undoHorizontalPredictor(bytes: Uint8Array, { rowBytes, stride, size }: Rows): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const step = stride * size;
  for (let row = 0; row < bytes.length; row += rowBytes) {
    const end = Math.min(row + rowBytes, bytes.length - size + 1);
    for (let at = row + step; at < end; at += size) {
      if (size === 1) bytes[at] = (bytes[at] as number) + (bytes[at - step] as number);
      else if (size === 2) view.setUint16(at, view.getUint16(at, true) + view.getUint16(at - step, true), true);
      else if (size === 4) view.setUint32(at, view.getUint32(at, true) + view.getUint32(at - step, true), true);
      else view.setBigUint64(at, view.getBigUint64(at, true) + view.getBigUint64(at - step, true), true);
    }
  }
}

/**
 * Undoes predictor 3 (Adobe TIFF Technical Note 3): each row has first the most significant bytes of all numbers, then the
 * next bytes, and so on, regardless of the byte order of the file; each byte is the difference from the one of the same
 * band before it. An incomplete last row cannot be decoded and is unchanged.
 */
function undoFloatPredictor(bytes: Uint8Array, { rowBytes, stride, size }: Rows): void {
  const count = rowBytes / size;
  for (let row = 0; row + rowBytes <= bytes.length; row += rowBytes) {
    for (let at = row + stride; at < row + rowBytes; at++) {
      bytes[at] = (bytes[at] as number) + (bytes[at - stride] as number);
    }
    const planes = new Uint8Array(bytes.subarray(row, row + rowBytes));
    for (let index = 0; index < count; index++) {
      for (let byte = 0; byte < size; byte++) {
        bytes[row + size * index + byte] = planes[(size - byte - 1) * count + index] as number;
      }
    }
  }
}

/**
 * Expands the samples of a block to little-endian integers of whole bytes. Each row begins at a whole byte; samples follow
 * each other from the most significant bit, in either byte order of the file.
 *
 * @param bytes decompressed bytes; an incomplete last row is not expanded
 */
export function expandSamples(
  bytes: Uint8Array,
  layout: Pick<Layout, "storedBits" | "format" | "blockColumnCount" | "samplesPerCell">,
): Uint8Array {
  const { storedBits, format, blockColumnCount, samplesPerCell } = layout;
  const sampleCount = blockColumnCount * samplesPerCell;
  const rowBytes = Math.ceil((sampleCount * storedBits) / 8);
  const rowCount = Math.floor(bytes.length / rowBytes);
  const size = format.bits / 8;
  const expanded = new Uint8Array(rowCount * sampleCount * size);
  let to = 0;
  for (let row = 0; row < rowCount; row++) {
    let from = row * rowBytes;
    let buffer = 0;
    let bufferedBits = 0;
    for (let sample = 0; sample < sampleCount; sample++, to += size) {
      let value = 0;
      // At most 31 bits are needed, so that integer arithmetic is exact.
      for (let needed = storedBits; needed > 0;) {
        if (bufferedBits === 0) {
          buffer = bytes[from++] as number;
          bufferedBits = 8;
        }
        const taken = Math.min(needed, bufferedBits);
        bufferedBits -= taken;
        value = (value << taken) | ((buffer >> bufferedBits) & ((1 << taken) - 1));
        needed -= taken;
      }
      for (let byte = 0; byte < size; byte++) expanded[to + byte] = (value >> (8 * byte)) & 0xff;
    }
  }
  return expanded;
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
