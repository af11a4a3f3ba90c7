import { Fault } from "../errors.ts";

/**
 * Maximum difference between the system clock and other clocks: the monotonic clock, the last time of the ledger, and
 * the clock of the database server. Above it, usage cannot be dated and is not recorded.
 */
export const CLOCK_TOLERANCE_MS = 5 * 60_000;

/** Detects that the system clock was set while the process was running, by comparing it with the monotonic clock. */
export class ClockMonitor {
  readonly #now: () => number;
  readonly #monotonicNow: () => number;
  readonly #offsetMs: number;

  constructor({ now, monotonicNow }: { readonly now: () => number; readonly monotonicNow: () => number }) {
    this.#now = now;
    this.#monotonicNow = monotonicNow;
    this.#offsetMs = now() - monotonicNow();
  }

  /** How far the system clock has moved from the monotonic clock since the start; positive if it was set forward. */
  get driftMs(): number {
    return this.#now() - this.#monotonicNow() - this.#offsetMs;
  }

  /** The reason why usage cannot be dated; undefined while the clock is within the tolerance. */
  get fault(): Fault | undefined {
    const { driftMs } = this;
    if (Math.abs(driftMs) <= CLOCK_TOLERANCE_MS) return undefined;
    const direction = driftMs > 0 ? "forward" : "back";
    return clockFault(
      `The clock of the service was set ${direction} by ${durationText(Math.abs(driftMs))} while it was running`,
      "Correct the clock; if it is right now, restart the service",
      { driftMs },
    );
  }
}

/** Returns a fault if the ledger's time is after the system clock by more than the tolerance. */
export function futureFault(lastAt: string, nowMs: number): Fault | undefined {
  const aheadMs = Date.parse(lastAt) - nowMs;
  if (!(aheadMs > CLOCK_TOLERANCE_MS)) return undefined;
  return clockFault(
    `The time of the ledger, ${lastAt}, is ${durationText(aheadMs)} after the clock of the service, ` +
      new Date(nowMs).toISOString(),
    "Correct the clock, or, if it is right, run isotherm usage reset-clock; then restart the service",
    { lastAt, aheadMs },
  );
}

/** Returns a fault if the clock of the database server differs by more than the tolerance. */
export function serverClockFault(serverMs: number, nowMs: number): Fault | undefined {
  const differenceMs = nowMs - serverMs;
  if (Math.abs(differenceMs) <= CLOCK_TOLERANCE_MS) return undefined;
  return clockFault(
    `The clock of the service, ${new Date(nowMs).toISOString()}, differs from that of the PostgreSQL server, ` +
      `${new Date(serverMs).toISOString()}`,
    "Correct the clocks and restart the service",
    { differenceMs },
  );
}

function clockFault(problem: string, advice: string, details: Readonly<Record<string, unknown>>): Fault {
  return new Fault("clock_unreliable", `${problem}, so usage cannot be dated and is not recorded. ${advice}.`, {
    details,
  });
}

/** Formats a duration of more than five minutes. */
function durationText(durationMs: number): string {
  const minutes = Math.round(durationMs / 60_000);
  if (minutes < 120) return `${minutes} minutes`;
  const hours = Math.round(minutes / 60);
  return hours < 48 ? `${hours} hours` : `${Math.round(hours / 24)} days`;
}
