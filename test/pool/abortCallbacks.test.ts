import { getEventListeners } from "node:events";
import { expect, test } from "vitest";
import { onAbort } from "../../src/pool/abortCallbacks.ts";

test("an aborted signal calls all functions that were not removed, with one listener", () => {
  const stop = new AbortController();
  const called: number[] = [];
  const removals = Array.from({ length: 20 }, (_, i) => onAbort(stop.signal, () => called.push(i)));
  expect(getEventListeners(stop.signal, "abort")).toHaveLength(1);
  for (const remove of removals.slice(0, 18)) remove();
  stop.abort();
  expect(called).toEqual([18, 19]);
});

test("a signal keeps no listener after its last function, and can have functions again", () => {
  const stop = new AbortController();
  let calledCount = 0;
  const add = (): (() => void) => onAbort(stop.signal, () => void calledCount++);
  const removals = [add(), add()];
  for (const remove of removals) remove();
  expect(getEventListeners(stop.signal, "abort")).toEqual([]);
  add();
  stop.abort();
  expect(calledCount).toBe(1);
});
