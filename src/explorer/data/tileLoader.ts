import { SharedCalls } from "../../concurrency/sharedCalls.ts";
import type { ValueTile } from "../../tiles/valueTile.ts";
import type { TileAddress } from "./explorerData.ts";

export type LoadTile = (address: TileAddress, signal: AbortSignal) => Promise<ValueTile>;

export interface TileLoaderOptions {
  /** Maximum number of tiles that are kept, 128 KiB each. Default 192, enough for three maps on a large screen. */
  readonly keptCountMax?: number;
  /** Maximum number of tiles that are loaded at the same time. Default 6, the connections of a browser to one host. */
  readonly parallelMax?: number;
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
  #kept = new Map<string, ValueTile>();
  readonly #calls = new SharedCalls<ValueTile>();
  /** Starts of the loads that wait. The last one is started first: the user looks at it. */
  readonly #queue: (() => void)[] = [];
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
    return this.#calls.run(key, (abort) => this.#loadWhenFree(address, abort), signal);
  }

  /** Forgets all tiles. Loads that are running are answered, but their tiles are not kept. */
  clear(): void {
    this.#kept = new Map();
  }

  async #loadWhenFree(address: TileAddress, abort: AbortSignal): Promise<ValueTile> {
    if (this.#loadingCount >= this.#parallelMax) await this.#wait(abort);
    else this.#loadingCount += 1;
    const kept = this.#kept;
    try {
      const tile = await this.#load(address, abort);
      if (kept === this.#kept) this.#keep(keyOf(address), tile);
      return tile;
    } finally {
      this.#loadingCount -= 1;
      this.#startNext();
    }
  }

  /** Waits for a free place, which is taken when the promise resolves. */
  #wait(abort: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const start = (): void => {
        abort.removeEventListener("abort", onAbort);
        resolve();
      };
      const onAbort = (): void => {
        const index = this.#queue.indexOf(start);
        if (index >= 0) this.#queue.splice(index, 1);
        reject(abort.reason as Error);
      };
      abort.addEventListener("abort", onAbort, { once: true });
      this.#queue.push(start);
    });
  }

  #startNext(): void {
    const start = this.#queue.pop();
    if (start === undefined) return;
    this.#loadingCount += 1;
    start();
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
