/** Where tiles come from: a folder, a web server, or the demo, which makes them. */
export type TileOrigin = "disk" | "http" | "demo";

/** What the tiles of an open atlas take, for whoever watches over it. */
export interface TileUse {
  readonly origin: TileOrigin;
  /** Bytes of the decoded tiles in memory; of all threads, those of workers as they last told. */
  readonly cachedBytes: number;
  /**
   * Tells how long it took, each time that tiles were fetched which were not in memory: those that were missing
   * together, read, checked and unpacked. By workers too.
   *
   * @returns ends it
   */
  onFetch(listener: (durationMs: number) => void): () => void;
}

/** Tells whoever listens of what was fetched. */
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
