/** Damages files: flipped bits, false numbers, huge sizes, truncation, repeated and removed parts. */
import type { SeededRandom } from "../../seededRandom.ts";

export interface DamagedFile {
  readonly bytes: Uint8Array;
  /** Whether the file only lacks its end: what can be read of it must be as in the original. */
  readonly isTruncated: boolean;
}

/** Integers that are often the limit of a check. */
const HUGE = [0xffffffff, 0x80000000, 0x7fffffff, 0x10000000, 0xffff, 0x8000] as const;
const HUGE_TEXTS = [
  "0",
  "-1",
  "1e300",
  "4294967296",
  "9007199254740993",
  "1000000",
  "null",
  '"x"',
  "[]",
  "{}",
] as const;

/** Returns a damaged copy of the bytes of a file. */
export function damage(original: Uint8Array, random: SeededRandom): DamagedFile {
  // Headers are at the start and at the end; most damage there has more effect than in cells.
  const position = (): number =>
    random.chance(0.6)
      ? random.below(Math.min(original.length, 1024))
      : random.chance(0.3)
        ? original.length - 1 - random.below(Math.min(original.length, 512))
        : random.below(original.length);
  const isText = original[0] === 0x7b; // {
  const kind = random.below(isText ? 7 : 6);
  if (kind === 0) return { bytes: original.slice(0, random.below(original.length)), isTruncated: true };
  return { bytes: changed(original, kind, { random, position }), isTruncated: false };
}

function changed(
  original: Uint8Array,
  kind: number,
  { random, position }: { readonly random: SeededRandom; readonly position: () => number },
): Uint8Array {
  const bytes = Uint8Array.from(original);
  const at = position();
  switch (kind) {
    case 1:
      for (let count = 1 + random.below(8); count > 0; count--) {
        const flipped = position();
        bytes[flipped] = (bytes[flipped] ?? 0) ^ (1 << random.below(8));
      }
      return bytes;
    case 2: {
      const value = random.pick([0, 1, 0x7f, 0x80, 0xff]);
      bytes.fill(value, at, at + random.pick([1, 2, 4, 8]));
      const other = position();
      return bytes.fill(value, other, other + random.pick([1, 2, 4, 8]));
    }
    case 3: {
      const value = Buffer.alloc(4);
      if (random.chance(0.5)) value.writeUInt32LE(random.pick(HUGE));
      else value.writeUInt32BE(random.pick(HUGE));
      // Sizes are usually at even positions.
      const start = Math.max(0, Math.min(at - (at % 2), bytes.length - 4));
      bytes.set(value.subarray(0, Math.min(4, bytes.length)), start);
      return bytes;
    }
    case 4:
      return Uint8Array.from([...bytes.subarray(0, at), ...bytes.subarray(at + 1 + random.below(64))]);
    case 5: {
      const from = position();
      return bytes.copyWithin(at, from, from + random.below(64));
    }
    default: {
      const text = Buffer.from(original).toString("latin1");
      const numbers = [...text.matchAll(/-?\d+(\.\d+)?/g)];
      const number = numbers.length === 0 ? undefined : random.pick(numbers);
      if (number === undefined) return bytes;
      const end = number.index + number[0].length;
      return Buffer.from(text.slice(0, number.index) + random.pick(HUGE_TEXTS) + text.slice(end), "latin1");
    }
  }
}
