import { beforeEach, describe, expect, test } from "vitest";
import { TileCache, type TileSlot } from "../../src/atlas/cache.ts";
import { Kernel, type Region } from "../../src/kernel/instance.ts";
import { randomFrom, shuffled } from "../seededRandom.ts";

/** Allocation unit of the cache, and the size of a tile that takes one unit including padding. */
const PAGE = 16_384;
const ONE_PAGE = PAGE - 64;

let kernel: Kernel;
beforeEach(async () => {
  kernel = await Kernel.load({ scratchBytes: 1 << 16 });
});

/** Waits for some iterations of the event loop. */
async function eventLoopTurns(count: number): Promise<void> {
  for (let i = 0; i < count; i++) await new Promise((resolve) => setImmediate(resolve));
}

/** Returns a promise and the function that resolves it. */
function latch(): { readonly released: Promise<void>; release(): void } {
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => (release = resolve));
  return { released, release };
}

/** Numbered tiles, each with a word in a directory. All words of a tile contain its number. */
class Tiles {
  readonly cache: TileCache;
  readonly fetched: number[] = [];
  /** Tiles being written. */
  readonly #writing = new Map<number, Region>();
  readonly #directory: number;
  readonly #sizeOf: (tile: number) => number;

  constructor(cache: TileCache, { sizeOf = () => ONE_PAGE }: { readonly sizeOf?: (tile: number) => number } = {}) {
    this.cache = cache;
    this.#sizeOf = sizeOf;
    this.#directory = kernel.reserve(4 * 4096).pointer >> 2;
  }

  word(tile: number): number {
    return this.#directory + tile;
  }
  slot(tile: number): TileSlot {
    return { word: this.word(tile), sizeBytes: this.#sizeOf(tile) };
  }
  isCached(tile: number): boolean {
    return kernel.words[this.word(tile)] !== 0;
  }
  region(tile: number): Region {
    return { pointer: (kernel.words[this.word(tile)] ?? 0) & ~1, sizeBytes: this.#sizeOf(tile) };
  }
  /** Marks the tile as used, as a kernel does when it reads it. */
  touch(tile: number): void {
    kernel.words[this.word(tile)] = (kernel.words[this.word(tile)] ?? 0) | 1;
  }

  /**
   * Pins the tiles and fetches the missing ones once `before` has resolved. Returns whether each tile has the correct
   * content.
   */
  load(
    tiles: readonly number[],
    before: (missing: readonly number[]) => Promise<void> = () => eventLoopTurns(1),
  ): Promise<boolean[]> {
    return this.cache.withTiles(
      tiles.map((tile) => this.slot(tile)),
      async (missing) => {
        const numbers = missing.map(({ index }) => tiles[index] ?? -1);
        this.fetched.push(...numbers);
        for (const [i, { region }] of missing.entries()) this.#startWriting(numbers[i] ?? -1, region);
        try {
          await before(numbers);
          for (const [i, { region }] of missing.entries()) kernel.i32(region).fill(numbers[i] ?? -1);
        } finally {
          for (const tile of numbers) this.#writing.delete(tile);
        }
      },
      () => tiles.map((tile) => this.isComplete(tile)),
    );
  }

  isComplete(tile: number): boolean {
    const words = kernel.i32(this.region(tile));
    return this.isCached(tile) && words.every((word) => word === tile);
  }

  #startWriting(tile: number, region: Region): void {
    for (const [other, pinnedCall] of this.#writing) {
      const isApart =
        region.pointer >= pinnedCall.pointer + pinnedCall.sizeBytes ||
        pinnedCall.pointer >= region.pointer + region.sizeBytes;
      if (!isApart) throw new Error(`tiles ${tile} and ${other} are written to the same bytes`);
    }
    this.#writing.set(tile, region);
  }
}

describe("the tile cache", () => {
  test("fetches a tile once for concurrent calls", async () => {
    const tiles = new Tiles(new TileCache(kernel, { sizeBytes: 40 * PAGE }));
    const areCorrect = await Promise.all(Array.from({ length: 9 }, () => tiles.load([7, 8])));
    expect(areCorrect.flat()).toEqual(Array.from({ length: 18 }, () => true));
    expect(tiles.fetched).toEqual([7, 8]);
    expect(await tiles.load([8, 7])).toEqual([true, true]);
    expect(tiles.fetched).toEqual([7, 8]);
  });

  test("enters a tile in the directory only once it is complete, and marks it as used", async () => {
    const tiles = new Tiles(new TileCache(kernel, { sizeBytes: 8 * PAGE }));
    const fetch = latch();
    const pinnedCall = tiles.load([5], () => fetch.released);
    await eventLoopTurns(3);
    expect(tiles.isCached(5)).toBe(false);
    fetch.release();
    await pinnedCall;
    expect((kernel.words[tiles.word(5)] ?? 0) & 1).toBe(1);
    expect(tiles.isComplete(5)).toBe(true);
  });

  test("gives tiles that were used since the clock hand last passed a second chance", async () => {
    const tiles = new Tiles(new TileCache(kernel, { sizeBytes: 8 * PAGE }));
    for (const tile of [0, 1, 2, 3, 4, 5, 6, 7]) await tiles.load([tile]);
    expect(tiles.cache.usedBytes).toBe(8 * PAGE);
    await tiles.load([10]); // all were used: the hand clears the marks and evicts the first tile
    expect(tiles.isCached(0)).toBe(false);
    tiles.touch(1);
    tiles.touch(3);
    await tiles.load([11]);
    await tiles.load([12]);
    expect([1, 2, 3, 4].map((tile) => tiles.isCached(tile))).toEqual([true, false, true, false]);
    // They have not been used since, so they are evicted on the next revolution of the hand.
    for (const tile of [13, 14, 15, 16, 17, 18]) await tiles.load([tile]);
    expect([1, 3].map((tile) => tiles.isCached(tile))).toEqual([false, false]);
  });

  test("never evicts pinned tiles", async () => {
    const tiles = new Tiles(new TileCache(kernel, { sizeBytes: 8 * PAGE }));
    for (const tile of [0, 1, 2]) await tiles.load([tile]);
    const fetch = latch();
    const pinnedCall = tiles.load([0, 1, 2, 50], () => fetch.released);
    await eventLoopTurns(1);
    for (let tile = 20; tile < 60; tile++) if (tile !== 50) expect(await tiles.load([tile])).toEqual([true]);
    expect([0, 1, 2].map((tile) => tiles.isComplete(tile))).toEqual([true, true, true]);
    fetch.release();
    expect(await pinnedCall).toEqual([true, true, true, true]);
    expect(tiles.fetched.filter((tile) => tile < 3)).toEqual([0, 1, 2]);
  });

  test("ignores directory entries that it did not allocate", async () => {
    const tiles = new Tiles(new TileCache(kernel, { sizeBytes: 8 * PAGE }));
    const constant = kernel.reserve(ONE_PAGE);
    kernel.i32(constant).fill(9);
    kernel.words[tiles.word(9)] = constant.pointer;
    expect(await tiles.load([9, 1])).toEqual([true, true]);
    expect(tiles.fetched).toEqual([1]);
    for (let tile = 20; tile < 60; tile++) await tiles.load([tile]);
    expect(tiles.region(9).pointer).toBe(constant.pointer);
  });

  test("removes tiles that failed to load, and fails only the calls that requested them", async () => {
    const tiles = new Tiles(new TileCache(kernel, { sizeBytes: 16 * PAGE }));
    const failing = async (missing: readonly number[]): Promise<void> => {
      await eventLoopTurns(2);
      if (missing.includes(13)) throw new Error("damaged");
    };
    // The second call requests a tile that the first is fetching together with a bad one; it fetches that tile again.
    const results = await Promise.allSettled([tiles.load([1, 13], failing), tiles.load([1, 2], failing)]);
    expect(results.map(({ status }) => status)).toEqual(["rejected", "fulfilled"]);
    expect(tiles.fetched.toSorted((a, b) => a - b)).toEqual([1, 1, 2, 13]);
    expect([tiles.isCached(13), tiles.isComplete(1)]).toEqual([false, true]);
    // A failure leaves nothing behind: no space is lost, and no later call finds a partial tile.
    for (let i = 0; i < 50; i++) await expect(tiles.load([13, 14, 15], failing)).rejects.toThrow("damaged");
    const cachedTiles = Array.from({ length: 20 }, (_, tile) => tile).filter((tile) => tiles.isCached(tile));
    expect(cachedTiles.length).toBeLessThanOrEqual(2);
    expect(tiles.cache.usedBytes).toBe(cachedTiles.length * PAGE);
    expect(await tiles.load([13, 3, 4, 5, 6, 7, 8, 9])).toEqual(Array.from({ length: 8 }, () => true));
  });

  test("treats a fetch that throws synchronously as a failed fetch", async () => {
    const tiles = new Tiles(new TileCache(kernel, { sizeBytes: 8 * PAGE }));
    const fill = (): Promise<void> => {
      throw new Error("fetch failed");
    };
    await expect(tiles.cache.withTiles([tiles.slot(1)], fill, () => 1)).rejects.toThrow("fetch failed");
    expect(tiles.cache.usedBytes).toBe(0);
    expect(await tiles.load([1, 2, 3, 4])).toEqual([true, true, true, true]);
  });

  test("unpins the tiles when `read` throws", async () => {
    const tiles = new Tiles(new TileCache(kernel, { sizeBytes: 8 * PAGE }));
    const read = (): never => {
      throw new Error("read failed");
    };
    for (let tile = 0; tile < 40; tile++) {
      await expect(tiles.cache.withTiles([tiles.slot(tile)], () => eventLoopTurns(1), read)).rejects.toThrow(
        "read failed",
      );
    }
    expect(await tiles.load([50, 51, 52, 53])).toEqual([true, true, true, true]);
  });

  test("rejects a call that would pin more than half of its size", async () => {
    const cache = new TileCache(kernel, { sizeBytes: 8 * PAGE + 5 });
    expect(cache.pinnedBytesMax).toBe(4 * PAGE);
    const tiles = new Tiles(cache, {
      sizeOf: (tile) => (tile === 99 ? 4 * PAGE - 64 : ONE_PAGE + (tile === 98 ? 1 : 0)),
    });
    expect(TileCache.costBytes(ONE_PAGE)).toBe(PAGE);
    expect(TileCache.costBytes(ONE_PAGE + 1)).toBe(2 * PAGE);
    expect(await tiles.load([99])).toEqual([true]);
    expect(await tiles.load([1, 2, 98])).toEqual([true, true, true]);
    await expect(tiles.load([1, 2, 3, 98])).rejects.toThrow("at most 65536 bytes of tiles (got 81920)");
    await expect(tiles.load([1, 99])).rejects.toThrow("(got 81920)");
  });

  test("admits calls in order, so that small calls do not starve a large one", async () => {
    const tiles = new Tiles(new TileCache(kernel, { sizeBytes: 8 * PAGE }));
    const fetch = latch();
    const order: string[] = [];
    const first = tiles.load([0, 1, 2, 3], () => fetch.released).then(() => order.push("first"));
    const second = tiles.load([4, 5], () => fetch.released).then(() => order.push("second"));
    const large = tiles.load([6, 7, 8, 9]).then(() => order.push("large"));
    const small = [10, 11, 12].map((tile) => tiles.load([tile]).then(() => order.push(`small ${tile}`)));
    await eventLoopTurns(10);
    expect(order).toEqual([]);
    expect(tiles.fetched).toEqual([0, 1, 2, 3, 4, 5]);
    fetch.release();
    await Promise.all([first, second, large, ...small]);
    expect(tiles.fetched.slice(6, 10)).toEqual([6, 7, 8, 9]);
    expect(order.slice(0, 2)).toEqual(["first", "second"]);
  });

  test("finds space for a tile once pinned tiles no longer fragment the free space", async () => {
    const tiles = new Tiles(new TileCache(kernel, { sizeBytes: 16 * PAGE }), {
      sizeOf: (tile) => (tile >= 200 ? 6 * PAGE - 64 : ONE_PAGE),
    });
    for (let tile = 0; tile < 16; tile++) await tiles.load([tile]);
    // One of every five consecutive pages is pinned until the latch is released.
    const fetch = latch();
    const pinnedCall = [tiles.load([4, 9, 100], () => fetch.released), tiles.load([14, 101], () => fetch.released)];
    await eventLoopTurns(1);
    const large = tiles.load([200, 102]);
    const later = tiles.load([103]);
    await eventLoopTurns(10);
    expect(tiles.isCached(200)).toBe(false);
    fetch.release();
    expect((await Promise.all(pinnedCall)).flat()).toEqual([true, true, true, true, true]);
    expect(await large).toEqual([true, true]);
    expect(await later).toEqual([true]);
    // Every tile in the directory is complete.
    for (let tile = 0; tile < 210; tile++)
      if (tiles.isCached(tile)) expect(tiles.isComplete(tile), `${tile}`).toBe(true);
  });

  test("allocates neither of two tiles while there is space for only one", async () => {
    const tiles = new Tiles(new TileCache(kernel, { sizeBytes: 16 * PAGE }), {
      sizeOf: (tile) => (tile >= 200 ? 3 * PAGE - 64 : ONE_PAGE),
    });
    for (let tile = 0; tile < 16; tile++) await tiles.load([tile]);
    // The new tile takes the first page; three consecutive pages are left once, two several times.
    const fetch = latch();
    const pinnedCall = tiles.load([4, 7, 10, 13, 100], () => fetch.released);
    await eventLoopTurns(1);
    const both = tiles.load([200, 201]);
    await eventLoopTurns(5);
    expect(tiles.fetched).not.toContain(200);
    expect(tiles.cache.usedBytes).toBeLessThanOrEqual(13 * PAGE);
    fetch.release();
    await pinnedCall;
    expect(await both).toEqual([true, true]);
  });

  test("always has space for half of its size in tiles of mixed sizes", async () => {
    const random = randomFrom(77);
    const sizes = [0.5, 1, 2, 3, 5, 9, 13];
    const tiles = new Tiles(new TileCache(kernel, { sizeBytes: 64 * PAGE }), {
      sizeOf: (tile) => Math.floor((sizes[tile % sizes.length] ?? 1) * PAGE) - 64,
    });
    for (let round = 0; round < 300; round++) {
      let remainingBytes = tiles.cache.pinnedBytesMax;
      const requested = shuffled(
        random,
        Array.from({ length: 120 }, (_, tile) => tile),
      ).filter((tile) => {
        const cost = TileCache.costBytes(tiles.slot(tile).sizeBytes);
        if (cost > remainingBytes) return false;
        remainingBytes -= cost;
        return true;
      });
      expect(remainingBytes).toBeLessThan(PAGE);
      expect((await tiles.load(requested, async () => undefined)).every(Boolean)).toBe(true);
    }
  });

  test("handles kernel memory that grows while tiles are fetched", async () => {
    const tiles = new Tiles(new TileCache(kernel, { sizeBytes: 16 * PAGE }));
    const before = kernel.words.buffer;
    const growing = async (): Promise<void> => {
      await eventLoopTurns(1);
      kernel.reserve(20 << 20); // memory grows by 64 MiB
    };
    const areCorrect = await Promise.all([1, 2, 3, 4].map((tile) => tiles.load([tile, 5], growing)));
    expect(areCorrect.flat().every(Boolean)).toBe(true);
    // A failed comparison of the buffers would print them.
    expect(kernel.words.buffer === before).toBe(false);
    for (let tile = 20; tile < 60; tile++) expect(await tiles.load([tile], growing)).toEqual([true]);
  });

  test("under a random mixture of calls, each call finds its tiles complete and the size limit holds", async () => {
    const sizeBytes = 60 * PAGE;
    const cache = new TileCache(kernel, { sizeBytes });
    const tiles = new Tiles(cache, { sizeOf: (tile) => 400 + (tile % 9) * 11_000 });
    const pages = kernel.words.length;
    const random = randomFrom(3);
    let failureCount = 0;
    let peakBytes = 0;
    const call = async (): Promise<void> => {
      for (let i = 0; i < 60; i++) {
        const requested = [
          ...new Set(Array.from({ length: 1 + random.below(6) }, () => random.below(random.pick([15, 90])))),
        ];
        const isBad = random.chance(0.1);
        const need = requested.reduce((sum, tile) => sum + TileCache.costBytes(tiles.slot(tile).sizeBytes), 0);
        try {
          const areComplete = await tiles.load(requested, async () => {
            await eventLoopTurns(random.below(4));
            if (isBad) throw new Error("damaged");
          });
          expect(areComplete.every(Boolean), requested.join()).toBe(true);
        } catch (error) {
          if (need > cache.pinnedBytesMax) expect(String(error)).toContain("must pin at most");
          else expect(String(error)).toContain("damaged");
          failureCount += 1;
        }
        peakBytes = Math.max(peakBytes, cache.usedBytes);
        if (random.chance(0.3)) await eventLoopTurns(random.below(3));
        if (random.chance(0.2)) for (const tile of requested) if (tiles.isCached(tile)) tiles.touch(tile);
      }
    };
    await Promise.all(Array.from({ length: 25 }, call));
    expect(peakBytes).toBeLessThanOrEqual(sizeBytes);
    expect(peakBytes).toBeGreaterThan(0.8 * sizeBytes);
    expect(failureCount).toBeGreaterThan(20);
    expect(kernel.words.length).toBe(pages);
    // No tile is pinned anymore, so half of the size can be pinned.
    let remainingBytes = cache.pinnedBytesMax;
    const fittingTiles = Array.from({ length: 90 }, (_, tile) => tile).filter((tile) => {
      remainingBytes -= TileCache.costBytes(tiles.slot(tile).sizeBytes);
      return remainingBytes >= 0;
    });
    expect((await tiles.load(fittingTiles)).every(Boolean)).toBe(true);
    for (let tile = 0; tile < 90; tile++) if (tiles.isCached(tile)) expect(tiles.isComplete(tile)).toBe(true);
  });
});
