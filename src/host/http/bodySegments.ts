/** Size of a segment. */
export const SEGMENT_BYTES = 32_768;

/**
 * Memory of long request bodies, in segments that all threads share. Segments are reused and never released: V8 does not
 * count shared memory when it decides to collect garbage, so that each released segment would stay in memory for an
 * unlimited time. Their total size is therefore the largest size of the bodies that were ever held at the same time,
 * which `LoadLimits.totalBodyBytesMax` limits.
 */
export class BodySegments {
  readonly #free: Uint8Array[] = [];
  #count = 0;

  /** Size of all segments, free or in use. */
  get allocatedBytes(): number {
    return this.#count * SEGMENT_BYTES;
  }

  /** Returns a segment, whose content is undefined. */
  take(): Uint8Array {
    const free = this.#free.pop();
    if (free !== undefined) return free;
    this.#count++;
    return new Uint8Array(new SharedArrayBuffer(SEGMENT_BYTES));
  }

  giveBack(segments: readonly Uint8Array[]): void {
    for (const segment of segments) this.#free.push(segment);
  }
}
