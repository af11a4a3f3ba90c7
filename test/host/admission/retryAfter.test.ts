import { describe, expect, test } from "vitest";
import { simulateRetries, type SimulationResult } from "./retrySimulation.ts";

const shareBelow = ({ waitRatios }: SimulationResult, ratio: number): number =>
  waitRatios.filter((each) => each <= ratio).length / waitRatios.length;

describe("clients that retry when they were told", () => {
  test.each([
    ["most of the deadline", 24_000],
    ["a tenth of the deadline", 3_000],
  ])("are admitted then, and the worker is never idle for long, if each takes %s", (_what, costMs) => {
    const result = simulateRetries(costMs);
    expect(result.waitRatios.length).toBeGreaterThan(50);
    // A new request may take the place of one that is due at the same moment.
    expect(shareBelow(result, 1.1)).toBeGreaterThan(0.8);
    expect(result.goodput).toBeGreaterThan(0.95);
  });

  test("are admitted then or a little later if estimates are off by up to 10 %", () => {
    const result = simulateRetries(24_000, { clientCount: 64, noise: 0.1 });
    expect(result.waitRatios.length).toBeGreaterThan(50);
    expect(shareBelow(result, 1.25)).toBeGreaterThan(0.9);
    expect(result.goodput).toBeGreaterThan(0.9);
  });

  test.each([
    [2, "a tenth of the deadline", 3_000],
    [8, "a tenth of the deadline", 3_000],
    [3, "two fifths of the deadline", 12_000],
    [4, "most of the deadline", 24_000],
  ])(
    "are admitted then, and in time to be answered, if %i accounts send too much, each %s",
    (accountCount, _, costMs) => {
      const result = simulateRetries(costMs, { accountCount, clientCount: 16 });
      expect(result.waitRatios.length).toBeGreaterThan(50);
      expect(shareBelow(result, 1.25)).toBeGreaterThan(0.9);
      expect(result.lateCount).toBeLessThan(0.01 * result.waitRatios.length);
      expect(result.goodput).toBeGreaterThan(0.95);
    },
  );
});
