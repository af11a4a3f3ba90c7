import { expect, test } from "vitest";
import { SizedCache } from "../../src/concurrency/sizedCache.ts";

test("a cache keeps values up to its size and evicts those used least recently", () => {
  const cache = new SizedCache<string>(10);
  cache.set("a", "A", 4);
  cache.set("b", "B", 4);
  expect(cache.get("a")).toBe("A");
  cache.set("c", "C", 4);
  expect([cache.get("a"), cache.get("b"), cache.get("c")]).toEqual(["A", undefined, "C"]);
  expect(cache.sizeBytes).toBe(8);
});

test("a cache replaces values with their size, and does not keep a value larger than itself", () => {
  const cache = new SizedCache<string>(10);
  cache.set("a", "A", 4);
  cache.set("a", "A2", 6);
  expect([cache.get("a"), cache.sizeBytes]).toEqual(["A2", 6]);
  cache.set("b", "B", 11);
  expect([cache.get("a"), cache.get("b"), cache.sizeBytes]).toEqual([undefined, undefined, 0]);
});
