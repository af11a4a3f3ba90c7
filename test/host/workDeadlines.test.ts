import { setTimeout } from "node:timers/promises";
import { expect, test } from "vitest";
import { WorkDeadlines } from "../../src/host/pipeline/workDeadlines.ts";

const never = (): Promise<never> => new Promise(() => undefined);

test("ends the wait for work that takes too long, in the order of its start", async () => {
  const deadlines = new WorkDeadlines({ timeoutMs: 40 });
  const overloaded = { code: "overloaded", headers: { "Retry-After": "5" } };
  const first = deadlines.limit(never());
  first.catch(() => undefined); // awaited below
  await setTimeout(15);
  let isSecondLate = false;
  const second = deadlines.limit(never()).catch((error: unknown) => {
    isSecondLate = true;
    return error;
  });
  await expect(first).rejects.toMatchObject(overloaded);
  expect(isSecondLate).toBe(false);
  expect(await second).toMatchObject(overloaded);
});

test("returns results and errors of the work", async () => {
  const deadlines = new WorkDeadlines({ timeoutMs: 1000 });
  expect(await deadlines.limit(Promise.resolve(7))).toBe(7);
  await expect(deadlines.limit(Promise.reject(new Error("wrong")))).rejects.toThrow("wrong");
});
