import { expect, test } from "vitest";
import { AdaptiveConcurrency } from "./adaptiveConcurrency.ts";

/** Sends requests that each take `durationMs` of a clock. @returns the largest number in progress */
async function sendAll(count: number, durationMs: number, concurrency: AdaptiveConcurrency, clock: { nowMs: number }) {
  let runningCount = 0;
  let runningCountMax = 0;
  const send = async (): Promise<void> => {
    runningCountMax = Math.max(runningCountMax, ++runningCount);
    await Promise.resolve();
    clock.nowMs += durationMs;
    runningCount--;
  };
  await Promise.all(Array.from({ length: count }, () => concurrency.run(send)));
  return runningCountMax;
}

test("raises the limit to the maximum while responses are fast, and reduces it to one while they are slow", async () => {
  const clock = { nowMs: 0 };
  const concurrency = new AdaptiveConcurrency({ max: 24, targetMs: 1_000, nowMs: () => clock.nowMs });
  expect(await sendAll(3, 1, concurrency, clock)).toBe(3);
  expect(await sendAll(1_000, 1, concurrency, clock)).toBe(24);
  expect(concurrency.limit).toBe(24);
  await sendAll(1_000, 2_000, concurrency, clock);
  expect(concurrency.limit).toBe(1);
  expect(await sendAll(2, 2_000, concurrency, clock)).toBe(1);
});
