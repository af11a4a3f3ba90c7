import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { CachedCheck } from "../../src/ledger/ledgerBase.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** Returns a check whose runs the test finishes. */
function manualCheck() {
  const runs: { resolve(): void; reject(problem: Error): void }[] = [];
  const check = (): Promise<void> =>
    new Promise((resolve, reject) => {
      runs.push({ resolve, reject });
    });
  return { runs, check: new CachedCheck({ check, validMs: 2_000, timeoutMs: 1_000, nowMs: () => Date.now() }) };
}

describe("a cached check", () => {
  test("runs once for many callers, and again when its result has expired", async () => {
    const { runs, check } = manualCheck();
    const callers = Array.from({ length: 100 }, () => check.run());
    expect(runs).toHaveLength(1);
    runs[0]?.resolve();
    await Promise.all(callers);
    vi.advanceTimersByTime(1_999);
    await check.run();
    expect(runs).toHaveLength(1);
    vi.advanceTimersByTime(1);
    const next = check.run();
    expect(runs).toHaveLength(2);
    runs[1]?.reject(new Error("disk full"));
    await expect(next).rejects.toThrow("disk full");
    await expect(check.run()).rejects.toThrow("disk full");
    expect(runs).toHaveLength(2);
  });

  test("rejects after the timeout, at once while it hangs, and never runs twice at the same time", async () => {
    const { runs, check } = manualCheck();
    const first = check.run().catch((problem: unknown) => problem);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(await first).toMatchObject({
      code: "ledger_unavailable",
      message: expect.stringMatching(/has not responded for 1 s/) as string,
    });
    vi.advanceTimersByTime(60_000);
    await expect(check.run()).rejects.toMatchObject({ code: "ledger_unavailable" });
    expect(runs).toHaveLength(1);
    runs[0]?.resolve();
    await vi.advanceTimersByTimeAsync(0);
    await check.run();
    expect(runs).toHaveLength(1);
  });
});
