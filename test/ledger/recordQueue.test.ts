import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { UsageEntry } from "../../src/ledger/ledger.ts";
import { RecordQueue } from "../../src/ledger/entry.ts";
import { usageEntryOf } from "./usageEntry.ts";

const unitsOf = (entries: readonly { readonly entry: UsageEntry }[]): readonly number[] =>
  entries.map(({ entry }) => entry.units);

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test("returns entries in order, at most the number that is asked for", async () => {
  const queue = new RecordQueue({ timeoutMs: 10_000 });
  const added = [1, 2, 3].map((units) => queue.add(usageEntryOf(units)));
  const first = queue.take(2);
  expect(unitsOf(first)).toEqual([1, 2]);
  expect(queue.waitingCount).toBe(1);
  const rest = queue.take();
  expect(unitsOf(rest)).toEqual([3]);
  expect(queue.take()).toEqual([]);
  for (const { entry, resolve } of [...first, ...rest]) resolve({ units: entry.units, isReplay: false });
  expect(await Promise.all(added)).toEqual([1, 2, 3].map((units) => ({ units, isReplay: false })));
});

test("rejects an entry at its deadline: one that waits is never recorded, and a later result of one in work is ignored", async () => {
  const queue = new RecordQueue({ timeoutMs: 40 });
  const ended: number[] = [];
  const add = (units: number): Promise<unknown> =>
    queue.add(usageEntryOf(units)).catch((error: unknown) => {
      ended.push(units);
      return error;
    });
  const inWork = add(1);
  const [taken] = queue.take();
  const waiting = add(2);
  await vi.advanceTimersByTimeAsync(20);
  const later = add(3);
  await vi.advanceTimersByTimeAsync(19);
  expect(ended).toEqual([]);
  await vi.advanceTimersByTimeAsync(2);
  expect(ended).toEqual([1, 2]);
  const late = { code: "usage_not_recorded", cause: { message: "The ledger did not respond within 0.04 s." } };
  expect(await inWork).toMatchObject(late);
  expect(await waiting).toMatchObject(late);
  taken?.resolve({ units: 1, isReplay: false });
  expect(unitsOf(queue.take())).toEqual([3]);
  await vi.advanceTimersByTimeAsync(20);
  expect(await later).toMatchObject(late);
});

test("does not reject entries that were recorded or rejected before the deadline", async () => {
  const queue = new RecordQueue({ timeoutMs: 20 });
  const recorded = queue.add(usageEntryOf(1));
  const failed = queue.add(usageEntryOf(2));
  failed.catch(() => undefined); // awaited below
  const [first, second] = queue.take();
  first?.resolve({ units: 1, isReplay: false });
  second?.reject(new Error("disk"));
  await vi.advanceTimersByTimeAsync(40);
  expect(await recorded).toEqual({ units: 1, isReplay: false });
  await expect(failed).rejects.toThrow("disk");
});
