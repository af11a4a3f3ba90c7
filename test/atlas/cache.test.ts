import { beforeAll, describe, expect, test } from "vitest";
import { TileCache } from "../../src/atlas/cache.ts";
import { Kernel, type Region } from "../../src/kernel/instance.ts";
import { randomFrom } from "../seededRandom.ts";

let kernel: Kernel;
beforeAll(async () => {
  kernel = await Kernel.load();
});

/** A source that writes each key's number into its slot and counts how often it was asked. */
function counting(cache: TileCache): { fetched: Map<number, number>; use(keys: number[]): Promise<number[]> } {
  const fetched = new Map<number, number>();
  return {
    fetched,
    use: (keys) =>
      cache.use(
        keys,
        async (missing) => {
          await new Promise((resolve) => setImmediate(resolve));
          for (const { index, slot } of missing) {
            const key = keys[index] ?? 0;
            fetched.set(key, (fetched.get(key) ?? 0) + 1);
            kernel.i32(slot)[0] = key;
          }
        },
        (slots) => slots.map((slot) => kernel.i32(slot)[0] ?? -1),
      ),
  };
}

describe("the tile cache", () => {
  test("fetches a key once, however many ask for it at the same time", async () => {
    const cache = new TileCache(kernel, { slotCount: 20, slotBytes: 64 });
    const source = counting(cache);
    const answers = await Promise.all(Array.from({ length: 9 }, () => source.use([7, 8])));
    expect(answers.every(([a, b]) => a === 7 && b === 8)).toBe(true);
    expect([...source.fetched]).toEqual([
      [7, 1],
      [8, 1],
    ]);
  });

  test("drops what was used longest ago, and never what is in use", async () => {
    const cache = new TileCache(kernel, { slotCount: 4, slotBytes: 64 });
    const source = counting(cache);
    for (const key of [1, 2, 3, 4]) await source.use([key]);
    await source.use([1]); // now 2 is the oldest
    await source.use([5]);
    await source.use([1, 3]);
    expect(Object.fromEntries(source.fetched)).toEqual({ 1: 1, 2: 1, 3: 1, 4: 1, 5: 1 });
    await source.use([2]);
    expect(source.fetched.get(2)).toBe(2);
  });

  test("gives each call its own keys' bytes under random load, within its bound", async () => {
    const cache = new TileCache(kernel, { slotCount: 12, slotBytes: 64 });
    const source = counting(cache);
    const random = randomFrom(3);
    await Promise.all(
      Array.from({ length: 400 }, async () => {
        const keys = [...new Set(Array.from({ length: 1 + random.below(6) }, () => random.below(40)))];
        expect(await source.use(keys)).toEqual(keys);
      }),
    );
  });

  test("forgets what it failed to fetch, and fails only those who asked for it", async () => {
    const cache = new TileCache(kernel, { slotCount: 8, slotBytes: 64 });
    let attempts = 0;
    const failing = (keys: number[]): Promise<number> =>
      cache.use(
        keys,
        async (missing) => {
          attempts += 1;
          await new Promise((resolve) => setImmediate(resolve));
          if (missing.some(({ index }) => keys[index] === 13)) throw new Error("damaged");
          for (const { index, slot } of missing) kernel.i32(slot)[0] = keys[index] ?? 0;
        },
        (slots: readonly Region[]) => slots.length,
      );
    // The second asks for a key that the first is fetching together with a bad one: it fetches again by itself.
    const [first, second] = await Promise.allSettled([failing([1, 13]), failing([1, 2])]);
    expect(first.status).toBe("rejected");
    expect(second).toEqual({ status: "fulfilled", value: 2 });
    expect(attempts).toBeGreaterThanOrEqual(3);
    for (let i = 0; i < 30; i++) await expect(failing([13])).rejects.toThrow("damaged");
    expect(await failing([1, 2, 3, 4])).toBe(4);
  });

  test("refuses more keys in one call than it promises", async () => {
    const cache = new TileCache(kernel, { slotCount: 4, slotBytes: 64 });
    expect(cache.keysPerUseMax).toBe(2);
    await expect(counting(cache).use([1, 2, 3])).rejects.toThrow("3 tiles at once; the cache allows 2");
  });
});
