/** Origin of tiles: a folder, a web server, or the demo, which computes them. */
export type TileOrigin = "disk" | "http" | "demo";

/** Tile cache statistics of an open atlas, for monitoring. */
export interface TileUse {
  readonly origin: TileOrigin;
  /** Size of the decoded tiles in memory, over all threads; for workers, as last reported. */
  readonly cachedBytes: number;
  /**
   * Calls the listener with the duration of every fetch of tiles that were not in memory: reading, verifying and
   * decompressing those that were missing together. Includes worker threads.
   *
   * @returns removes the listener
   */
  onFetch(listener: (durationMs: number) => void): () => void;
}

/** Listeners for the duration of tile fetches. */
export class FetchListeners {
  readonly #listeners = new Set<(durationMs: number) => void>();

  add(listener: (durationMs: number) => void): () => void {
    const own = (durationMs: number): void => listener(durationMs);
    this.#listeners.add(own);
    return () => this.#listeners.delete(own);
  }

  notify(durationMs: number): void {
    for (const listener of this.#listeners) listener(durationMs);
  }
}
