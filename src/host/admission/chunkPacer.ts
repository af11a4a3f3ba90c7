/**
 * Average interval between the short chunks of one account. Node.js takes 2 to 3 µs for each chunk of a body, however
 * short, so at this interval they occupy at most a seventh of the event loop.
 */
const MS_PER_CHUNK = 0.02;

/** Spreads the short chunks of all bodies of one account over time. */
export class ChunkPacer {
  readonly #nowMs: () => number;
  /** Time at which the next chunk is due. */
  #dueMs = 0;

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** Adds chunks that have been read. @returns the time to wait before further chunks of their body are read */
  delayMs(chunkCount: number): number {
    const nowMs = this.#nowMs();
    this.#dueMs = Math.max(nowMs, this.#dueMs) + chunkCount * MS_PER_CHUNK;
    return this.#dueMs - nowMs;
  }
}
