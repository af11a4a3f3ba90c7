import { check, ParquetDamage } from "./damage.ts";

interface HybridRun {
  readonly isBitPacked: boolean;
  /** Number of values, without the padding of the last group. */
  readonly count: number;
  /** Position of the value or of the packed values. */
  readonly offset: number;
}

/**
 * Yields the runs of values in the hybrid of run lengths and bit packing. hyparquet decodes runs of any length, so that a
 * damaged one would fill the memory.
 *
 * @param bitWidth bits per value
 * @param count number of values that will be decoded
 * @throws ParquetDamage if a run exceeds the values or the bytes
 */
function* hybridRuns(bytes: Uint8Array, bitWidth: number, count: number): Generator<HybridRun> {
  let offset = 0;
  let seenCount = 0;
  while (seenCount < count) {
    const header = readVarint(bytes, offset);
    offset = header.end;
    const isBitPacked = header.value % 2 === 1;
    const runLength = Math.floor(header.value / 2) * (isBitPacked ? 8 : 1);
    check(runLength > 0, "an empty run");
    const remainingCount = count - seenCount;
    // The last group of 8 packed values is padded, and some writers leave out its last bytes.
    check(runLength < remainingCount + (isBitPacked ? 8 : 1), "a run that is longer than its page");
    const runCount = Math.min(runLength, remainingCount);
    const sizeBytes = Math.ceil((isBitPacked ? runCount * bitWidth : bitWidth) / 8);
    check(offset + sizeBytes <= bytes.length, "a run that is not complete");
    yield { isBitPacked, count: runCount, offset };
    seenCount += runCount;
    offset += isBitPacked ? (runLength / 8) * bitWidth : sizeBytes;
  }
}

/** @throws ParquetDamage if hyparquet cannot decode this number of values */
export function checkHybridRuns(
  bytes: Uint8Array,
  { bitWidth, count }: { readonly bitWidth: number; readonly count: number },
): void {
  check(bitWidth < 32, `values of ${bitWidth} bits`);
  for (const run of hybridRuns(bytes, bitWidth, count)) check(run.count > 0, "an empty run");
}

/**
 * Counts the definition levels of 1, which are the values that are not null.
 * @throws ParquetDamage as `checkHybridRuns` does
 */
export function countDefined(bytes: Uint8Array, count: number): number {
  let definedCount = 0;
  for (const run of hybridRuns(bytes, 1, count)) {
    if (!run.isBitPacked) definedCount += (bytes[run.offset] ?? 0) === 1 ? run.count : 0;
    else {
      for (let index = 0; index < run.count; index++) {
        definedCount += ((bytes[run.offset + (index >> 3)] ?? 0) >> (index & 7)) & 1;
      }
    }
  }
  return definedCount;
}

/**
 * Checks the beginning of delta-encoded integers, whose sizes decide whether hyparquet ends.
 * @throws ParquetDamage if the sizes are impossible
 */
export function checkDeltaHeader(bytes: Uint8Array): void {
  const blockSize = readVarint(bytes, 0);
  const miniblockCount = readVarint(bytes, blockSize.end);
  const miniblockSize = blockSize.value / miniblockCount.value;
  const isPossible = Number.isInteger(miniblockSize) && miniblockSize > 0 && blockSize.value <= 1 << 20;
  check(isPossible, `delta blocks of ${blockSize.value} values in ${miniblockCount.value} parts`);
}

/** Reads an unsigned LEB128 number of at most 32 bits. */
function readVarint(bytes: Uint8Array, start: number): { readonly value: number; readonly end: number } {
  let value = 0;
  for (let index = start; index < start + 5; index++) {
    const byte = bytes[index];
    check(byte !== undefined, "a number that is not complete");
    value += (byte & 0x7f) * 2 ** (7 * (index - start));
    if (byte < 0x80) return { value, end: index + 1 };
  }
  throw new ParquetDamage("a number that is too long");
}
