/** Converts decompressed blocks to little-endian numbers that JavaScript can represent, without a predictor. */
import { swapBytes } from "./byteOrder.ts";
import type { Layout } from "./layout.ts";

/** The parts of a layout that determine the bytes of a block. */
export type BlockFormat = Pick<
  Layout,
  "format" | "isLittleEndian" | "predictor" | "blockColumnCount" | "bandCount" | "isPlanar"
>;

/**
 * Undoes the predictor of a block, changes its byte order to little-endian, and converts 64-bit integers to 64-bit floats.
 *
 * A 64-bit integer that a float cannot represent exactly becomes infinite, except the smallest and the largest integer of
 * the type, which often mark missing cells; they become the nearest float.
 *
 * @param bytes decompressed bytes, which are overwritten; they may end within a row
 */
export function toNativeBlock(bytes: Uint8Array<ArrayBuffer>, block: BlockFormat): ArrayBuffer {
  const { kind, bits } = block.format;
  const size = bits / 8;
  const stride = block.isPlanar ? 1 : block.bandCount;
  const rowBytes = block.blockColumnCount * stride * size;
  if (block.predictor === 3) {
    undoFloatPredictor(bytes, { rowBytes, stride, size });
  } else {
    if (!block.isLittleEndian && bits > 8) swapBytes(bytes, size);
    if (block.predictor === 2) undoHorizontalPredictor(bytes, { rowBytes, stride, size });
  }
  const isWhole = bytes.byteOffset === 0 && bytes.byteLength === bytes.buffer.byteLength;
  const buffer = isWhole ? bytes.buffer : new Uint8Array(bytes).buffer; // not slice(), which shares the memory of a Buffer
  if (bits === 64 && kind !== "float") integersToFloats(buffer, kind);
  return buffer;
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

const SAFE_MAX = BigInt(Number.MAX_SAFE_INTEGER);

function integersToFloats(buffer: ArrayBuffer, kind: "unsigned" | "integer"): void {
  const count = Math.floor(buffer.byteLength / 8);
  const integers = kind === "unsigned" ? new BigUint64Array(buffer, 0, count) : new BigInt64Array(buffer, 0, count);
  const floats = new Float64Array(buffer, 0, count);
  const largest = kind === "unsigned" ? 2n ** 64n - 1n : 2n ** 63n - 1n;
  for (let index = 0; index < count; index++) {
    const integer = integers[index] as bigint;
    const isExact = (integer <= SAFE_MAX && integer >= -SAFE_MAX) || integer === largest || integer === -(2n ** 63n);
    floats[index] = isExact ? Number(integer) : integer > 0n ? Infinity : -Infinity;
  }
}
