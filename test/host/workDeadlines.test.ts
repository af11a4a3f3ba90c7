import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { WorkDeadlines } from "../../src/host/workDeadlines.ts";

const never = (): Promise<never> => new Promise(() => undefined);

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test("ends the wait for work that takes too long, in the order of its start", async () => {
  const deadlines = new WorkDeadlines({ timeoutMs: 40 });
  const overloaded = { code: "overloaded", headers: { "Retry-After": "5" } };
  const ended: string[] = [];
  const wait = (name: string): Promise<unknown> =>
    deadlines.limit(never()).catch((error: unknown) => {
      ended.push(name);
      return error;
    });
  const first = wait("first");
  await vi.advanceTimersByTimeAsync(15);
  const second = wait("second");
  await vi.advanceTimersByTimeAsync(24);
  expect(ended).toEqual([]);
  await vi.advanceTimersByTimeAsync(14);
  expect(ended).toEqual(["first"]);
  await vi.advanceTimersByTimeAsync(2);
  expect(ended).toEqual(["first", "second"]);
  expect(await first).toMatchObject(overloaded);
  expect(await second).toMatchObject(overloaded);
});

test("returns results and errors of the work", async () => {
  const deadlines = new WorkDeadlines({ timeoutMs: 1000 });
  expect(await deadlines.limit(Promise.resolve(7))).toBe(7);
  await expect(deadlines.limit(Promise.reject(new Error("wrong")))).rejects.toThrow("wrong");
});
