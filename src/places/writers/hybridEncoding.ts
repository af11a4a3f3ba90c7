/** Parquet's hybrid of run-length encoding and bit packing, for dictionary indices and definition levels. */

/** Shorter runs are bit-packed. */
const RUN_LENGTH_MIN = 8;
/** Values that one bit-packed run contains at most, so that its header takes at most four bytes. */
const PACKED_COUNT_MAX = 1 << 24;

/** Returns the number of bits that an index below `count` needs. */
export function bitWidthOf(count: number): number {
  return count <= 1 ? 1 : 32 - Math.clz32(count - 1);
}

/** Returns an upper bound of the size of encoded values. */
export function hybridSizeMax(count: number, bitWidth: number): number {
  // Each bit-packed run of at least 8 values has a header of at most 4 bytes, as has each run of equal values.
  return 16 + Math.ceil(count / 8) * (bitWidth + 8);
}

/**
 * Encodes values below 2 to the power of `bitWidth`.
 * @param bitWidth 1 to 24
 * @param target at least `hybridSizeMax` bytes from `start`
 * @returns the end of the encoded values
 */
export function encodeHybrid(
  values: Int32Array | Uint8Array,
  { count, bitWidth, target, start }: { count: number; bitWidth: number; target: Uint8Array; start: number },
): number {
  let end = start;
  let packedStart = 0;
  let position = 0;
  while (position < count) {
    const value = values[position] as number;
    let runEnd = position + 1;
    while (runEnd < count && values[runEnd] === value) runEnd++;
    const isPackedFull = position - packedStart === PACKED_COUNT_MAX;
    if (runEnd - position >= RUN_LENGTH_MIN || isPackedFull) {
      end = packValues(values, { from: packedStart, to: position, bitWidth, target, start: end });
      packedStart = position;
      if (runEnd - position < RUN_LENGTH_MIN) continue;
      end = writeVarint((runEnd - position) * 2, target, end);
      for (let shift = 0; shift < bitWidth; shift += 8) target[end++] = (value >> shift) & 0xff;
      position = runEnd;
      packedStart = position;
    } else position += 8; // a bit-packed run consists of groups of 8 values
  }
  return packValues(values, { from: packedStart, to: count, bitWidth, target, start: end });
}

/** Writes a bit-packed run; values after `to` in the last group of 8 are 0. */
function packValues(
  values: Int32Array | Uint8Array,
  {
    from,
    to,
    bitWidth,
    target,
    start,
  }: { from: number; to: number; bitWidth: number; target: Uint8Array; start: number },
): number {
  if (from >= to) return start;
  const groupCount = Math.ceil((to - from) / 8);
  let end = writeVarint(groupCount * 2 + 1, target, start);
  const packedEnd = end + groupCount * bitWidth;
  let bits = 0;
  let bitCount = 0;
  for (let i = from; i < to; i++) {
    bits |= (values[i] as number) << bitCount;
    bitCount += bitWidth;
    while (bitCount >= 8) {
      target[end++] = bits & 0xff;
      bits >>>= 8;
      bitCount -= 8;
    }
  }
  if (bitCount > 0) target[end++] = bits & 0xff;
  target.fill(0, end, packedEnd);
  return packedEnd;
}

function writeVarint(value: number, target: Uint8Array, start: number): number {
  let end = start;
  let rest = value;
  for (; rest >= 0x80; rest >>>= 7) target[end++] = (rest & 0x7f) | 0x80;
  target[end++] = rest;
  return end;
}
