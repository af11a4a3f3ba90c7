import type { ValueTile } from "../../tiles/valueTile.ts";
import type { TileAddress } from "./explorerData.ts";

export type LoadTile = (address: TileAddress, signal: AbortSignal) => Promise<ValueTile>;

export interface TileLoaderOptions {
  /** Maximum number of tiles that are kept, 128 KiB each. Default 192, enough for three maps on a large screen. */
  readonly keptCountMax?: number;
  /** Maximum number of tiles that are loaded at the same time. Default 6, the connections of a browser to one host. */
  readonly parallelMax?: number;
}

interface PendingTile {
  readonly address: TileAddress;
  readonly tile: Promise<ValueTile>;
  readonly start: () => void;
  readonly abort: AbortController;
  /** Number of callers that still wait for the tile. */
  waitingCount: number;
}

/**
 * Loads tiles, a few at the same time, and keeps the tiles used last. A tile that several callers request is loaded once;
 * its load is aborted when the last of them has aborted.
 */
export class TileLoader {
  readonly #load: LoadTile;
  readonly #keptCountMax: number;
  readonly #parallelMax: number;
  /** In the order of their last use. */
  readonly #kept = new Map<string, ValueTile>();
  readonly #pending = new Map<string, PendingTile>();
  /** Pending tiles that are not being loaded yet. The last one requested is loaded first: the user looks at it. */
  readonly #queue: PendingTile[] = [];
  #loadingCount = 0;

  constructor(load: LoadTile, { keptCountMax = 192, parallelMax = 6 }: TileLoaderOptions = {}) {
    this.#load = load;
    this.#keptCountMax = keptCountMax;
    this.#parallelMax = parallelMax;
  }

  /** @throws the error of the load; the signal's reason */
  async tile(address: TileAddress, signal?: AbortSignal): Promise<ValueTile> {
    signal?.throwIfAborted();
    const key = keyOf(address);
    const kept = this.#kept.get(key);
    if (kept !== undefined) {
      this.#keep(key, kept);
      return kept;
    }
    const pending = this.#pending.get(key) ?? this.#enqueue(key, address);
    pending.waitingCount += 1;
    try {
      return await untilAborted(pending.tile, signal);
    } finally {
      pending.waitingCount -= 1;
      if (pending.waitingCount === 0 && signal?.aborted === true) this.#drop(key, pending);
    }
  }

  #enqueue(key: string, address: TileAddress): PendingTile {
    const { promise, resolve, reject } = withResolvers<ValueTile>();
    const abort = new AbortController();
    const start = (): void => {
      this.#loadingCount += 1;
      this.#load(address, abort.signal)
        .then((tile) => {
          this.#keep(key, tile);
          resolve(tile);
        })
        .catch(reject)
        .finally(() => {
          this.#loadingCount -= 1;
          if (this.#pending.get(key) === pending) this.#pending.delete(key);
          this.#startNext();
        });
    };
    const pending: PendingTile = { address, tile: promise, start, abort, waitingCount: 0 };
    // A load without a waiting caller may fail.
    promise.catch(() => undefined);
    this.#pending.set(key, pending);
    this.#queue.push(pending);
    this.#startNext();
    return pending;
  }

  /** Cancels a load that no caller waits for. */
  #drop(key: string, pending: PendingTile): void {
    if (this.#pending.get(key) === pending) this.#pending.delete(key);
    const index = this.#queue.indexOf(pending);
    if (index >= 0) this.#queue.splice(index, 1);
    pending.abort.abort();
  }

  #startNext(): void {
    while (this.#loadingCount < this.#parallelMax) {
      const next = this.#queue.pop();
      if (next === undefined) return;
      next.start();
    }
  }

  #keep(key: string, tile: ValueTile): void {
    this.#kept.delete(key);
    this.#kept.set(key, tile);
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= this.#keptCountMax) return;
      this.#kept.delete(oldest);
    }
  }
}

function keyOf({ hazard, scenario, analysisYear, metric, z, x, y }: TileAddress): string {
  return `${hazard}/${scenario}/${analysisYear}/${metric}/${z}/${x}/${y}`;
}

/** Returns the result of a promise unless the signal is aborted first. */
function untilAborted<Result>(result: Promise<Result>, signal: AbortSignal | undefined): Promise<Result> {
  if (signal === undefined) return result;
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason as Error);
    signal.addEventListener("abort", onAbort, { once: true });
    result.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}

/** As `Promise.withResolvers`, which Node.js 20 does not have. */
function withResolvers<Result>(): {
  readonly promise: Promise<Result>;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
} {
  let resolve!: (result: Result) => void;
  let reject!: (error: unknown) => void;
  const promise = new Promise<Result>((onResult, onError) => {
    resolve = onResult;
    reject = onError;
  });
  return { promise, resolve, reject };
}
