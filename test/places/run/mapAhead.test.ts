import { setImmediate as nextTurn } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { eventually } from "../../eventually.ts";
import { mapAhead } from "../../../src/places/run/encodedChunks.ts";

/** Items that are available when they are pushed, and their mappings, which end when the test says so. */
function controlled(count: number) {
  const state = { takenCount: 0, isClosed: false };
  const ends = new Map<number, { resolve: () => void; reject: (error: Error) => void }>();
  async function* items(): AsyncGenerator<number> {
    try {
      for (let item = 0; item < count; item++) {
        state.takenCount++;
        yield item;
      }
    } finally {
      state.isClosed = true;
    }
  }
  const map = (item: number): Promise<string> =>
    new Promise((resolve, reject) => ends.set(item, { resolve: () => resolve(`result ${item}`), reject }));
  return { items: items(), map, ends, state };
}

describe("mapAhead", () => {
  test("yields the results in the order of the items, whichever ends first", async () => {
    const { items, map, ends } = controlled(3);
    const results = mapAhead(items, 3, map);
    const first = results.next();
    await eventually(() => expect(ends.size).toBe(3));
    for (const item of [2, 0, 1]) ends.get(item)?.resolve();
    expect(await first).toEqual({ value: "result 0", done: false });
    expect(await results.next()).toEqual({ value: "result 1", done: false });
    expect(await results.next()).toEqual({ value: "result 2", done: false });
    expect(await results.next()).toEqual({ value: undefined, done: true });
  });

  test("maps a bounded number of items at a time", async () => {
    const { items, map, ends } = controlled(10);
    const results = mapAhead(items, 4, map);
    const first = results.next();
    await eventually(() => expect(ends.size).toBe(4));
    for (let turn = 0; turn < 10; turn++) await nextTurn();
    expect(ends.size).toBe(4);
    ends.get(0)?.resolve();
    await first;
    const second = results.next();
    await eventually(() => expect(ends.size).toBe(5));
    ends.get(1)?.resolve();
    await second;
  });

  test("yields a result while the source has no further item", async () => {
    const never = new Promise<void>(() => undefined);
    async function* items(): AsyncGenerator<number> {
      yield 1;
      await never;
    }
    const results = mapAhead(items(), 2, (item) => Promise.resolve(item * 2));
    expect(await results.next()).toEqual({ value: 2, done: false });
  });

  test("throws the error of a mapping after the others have ended, and closes the source", async () => {
    const { items, map, ends, state } = controlled(10);
    const results = mapAhead(items, 2, map);
    let hasThrown = false;
    const first = results.next().catch((error: unknown) => {
      hasThrown = true;
      return error;
    });
    await eventually(() => expect(ends.size).toBe(2));
    ends.get(0)?.reject(new Error("broken"));
    for (let turn = 0; turn < 10; turn++) await nextTurn();
    expect(hasThrown).toBe(false);
    ends.get(1)?.resolve();
    expect(await first).toMatchObject({ message: "broken" });
    expect(state.isClosed).toBe(true);
  });

  test("throws the error of the source", async () => {
    async function* items(): AsyncGenerator<number> {
      yield 1;
      throw new Error("unreadable");
    }
    const results = mapAhead(items(), 2, (item) => Promise.resolve(item));
    expect(await results.next()).toEqual({ value: 1, done: false });
    await expect(results.next()).rejects.toThrow("unreadable");
  });
});
