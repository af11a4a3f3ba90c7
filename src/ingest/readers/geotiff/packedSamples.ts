/** Samples of 1 to 31 bits that do not fill whole numbers of 1, 2 or 4 bytes, such as those that GDAL writes with NBITS. */
import type { NumberFormat } from "./numberFormat.ts";

/** The parts of a layout that determine where samples are in a block. */
interface PackedLayout {
  /** Of the expanded samples. */
  readonly format: NumberFormat;
  readonly storedBits: number;
  readonly blockColumnCount: number;
  readonly bandCount: number;
  readonly isPlanar: boolean;
}

/**
 * Returns the number of bits to which unsigned samples are expanded, or undefined if they are not packed. Samples of 24 bits are
 * not supported: by the specification they are numbers in the byte order of the file, GDAL reads them in the opposite order.
 */
export function expandedBits(storedBits: number): 8 | 16 | 32 | undefined {
  if (!(storedBits >= 1 && storedBits < 32) || [8, 16, 24].includes(storedBits)) return undefined;
  return storedBits < 8 ? 8 : storedBits < 16 ? 16 : 32;
}

/**
 * Expands the samples of a block to little-endian integers of whole bytes. Each row begins at a whole byte; samples follow
 * each other from the most significant bit, in either byte order of the file.
 *
 * @param bytes decompressed bytes; an incomplete last row is not expanded
 */
export function expandSamples(bytes: Uint8Array, layout: PackedLayout): Uint8Array {
  const { storedBits, format, blockColumnCount, bandCount, isPlanar } = layout;
  const sampleCount = blockColumnCount * (isPlanar ? 1 : bandCount);
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
