import { describe, expect, test } from "vitest";
import { ClockMonitor, futureFault, serverClockFault } from "../../src/ledger/clock.ts";

const START_MS = Date.parse("2026-03-01T00:00:00Z");
const MINUTE_MS = 60_000;

/** A monitor whose clocks the test sets, in milliseconds since the start. */
function monitorWith(clocks: { wallMs: number; monotonicMs: number }): ClockMonitor {
  return new ClockMonitor({ now: () => START_MS + clocks.wallMs, monotonicNow: () => 1234 + clocks.monotonicMs });
}

describe("the clock monitor", () => {
  test("accepts clocks that run together, and differences of up to five minutes", () => {
    const clocks = { wallMs: 0, monotonicMs: 0 };
    const monitor = monitorWith(clocks);
    expect(monitor.fault).toBeUndefined();
    Object.assign(clocks, { wallMs: 1000 * MINUTE_MS, monotonicMs: 1000 * MINUTE_MS });
    expect(monitor.fault).toBeUndefined();
    for (const differenceMs of [5 * MINUTE_MS, -5 * MINUTE_MS]) {
      clocks.wallMs = clocks.monotonicMs + differenceMs;
      expect(monitor.driftMs).toBe(differenceMs);
      expect(monitor.fault).toBeUndefined();
    }
  });

  test.each([
    [30 * 365 * 24 * 60 * MINUTE_MS, /set forward by 10950 days .* not recorded.* restart the service/],
    [3 * 60 * MINUTE_MS, /set forward by 3 hours/],
    [-6 * MINUTE_MS, /set back by 6 minutes/],
  ])("reports a clock that was set by %d ms, until it is right again", (differenceMs, message) => {
    const clocks = { wallMs: 0, monotonicMs: 0 };
    const monitor = monitorWith(clocks);
    clocks.wallMs = differenceMs;
    const expected = { code: "clock_unreliable", message: expect.stringMatching(message) as string };
    expect(monitor.fault).toMatchObject(expected);
    clocks.wallMs = MINUTE_MS;
    expect(monitor.fault).toBeUndefined();
  });
});

test("a time of the ledger more than five minutes in the future is reported", () => {
  const at = (ms: number): string => new Date(START_MS + ms).toISOString();
  expect(futureFault(at(-MINUTE_MS), START_MS)).toBeUndefined();
  expect(futureFault(at(5 * MINUTE_MS), START_MS)).toBeUndefined();
  expect(futureFault(at(5 * MINUTE_MS + 1), START_MS)).toMatchObject({
    code: "clock_unreliable",
    message: expect.stringMatching(/2026-03-01T00:05:00.001Z, is 5 minutes after the clock .*reset-clock/) as string,
  });
});

test("a clock of the database server that differs by more than five minutes is reported", () => {
  expect(serverClockFault(START_MS, START_MS - 5 * MINUTE_MS)).toBeUndefined();
  for (const differenceMs of [-6 * MINUTE_MS, 6 * MINUTE_MS]) {
    expect(serverClockFault(START_MS, START_MS + differenceMs)).toMatchObject({ code: "clock_unreliable" });
  }
});
