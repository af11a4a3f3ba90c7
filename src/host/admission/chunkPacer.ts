/**
 * Time that an account has for a chunk. Node.js takes 2 to 3 us for each chunk of a body, however short, so that the chunks
 * of one account occupy a seventh of the event loop at most.
 */
const MS_PER_CHUNK = 0.02;

/** Spreads the short chunks of all bodies of one account over time. */
export class ChunkPacer {
  readonly #nowMs: () => number;
  /** When the chunks so far have had their time. */
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
