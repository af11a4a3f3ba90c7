/** Origin of tiles: a folder, a web server, or the demo, which computes its tiles. */
export type TileOrigin = "disk" | "http" | "demo";

/** Tile cache statistics of an open atlas, for monitoring. */
export interface TileUse {
  readonly origin: TileOrigin;
  /** Size of the decoded tiles in memory, summed over all threads; for worker threads, the last reported size. */
  readonly cachedBytes: number;
  /**
   * Adds a listener, which receives the duration of every fetch of tiles that were not in memory. A fetch reads, verifies
   * and decompresses all tiles that one call lacks. Fetches in worker threads are included.
   *
   * @returns a function that removes the listener
   */
  onFetch(listener: (durationMs: number) => void): () => void;
}

/** Listeners for the duration of tile fetches. */
export class FetchListeners {
  readonly #listeners = new Set<(durationMs: number) => void>();

  /** Adds a listener and returns a function that removes it. */
  add(listener: (durationMs: number) => void): () => void {
    const wrapper = (durationMs: number): void => listener(durationMs);
    this.#listeners.add(wrapper);
    return () => this.#listeners.delete(wrapper);
  }

  /** Calls all listeners. */
  notify(durationMs: number): void {
    for (const listener of this.#listeners) listener(durationMs);
  }
}
