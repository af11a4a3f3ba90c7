/** The size of a quota, and how fast it is refilled. */
export interface RateLimit {
  /** Permits in a full quota; at least 1. */
  readonly burst: number;
  /** Permits that are added at the end of each interval, until the quota is full: 1 for a steady rate, `burst` for windows. */
  readonly refillCount: number;
  readonly refillIntervalMs: number;
}

/** The result of consuming a permit. */
export interface Consumption {
  readonly isAllowed: boolean;
  /** Whole permits left. */
  readonly leftCount: number;
  /** Milliseconds until the next permit is added; 0 or more. */
  readonly waitMs: number;
  /** Milliseconds until the quota is full again. */
  readonly fullAgainMs: number;
}

/** The used permits of a key. */
interface Quota {
  usedCount: number;
  /** When the current interval began. Intervals begin with the first permit that is taken from a full quota. */
  sinceMs: number;
}

/** Fraction of an interval by which a refill may be early, so that rounding errors of times do not cost a permit. */
const ROUNDING = 1e-6;

/**
 * Limits the permits that each key consumes, with token buckets that are refilled at intervals. Rejections consume nothing.
 * It is synchronous and uses no timers; a key's memory is released only with the limiter.
 */
export class RateLimiter {
  readonly #limit: RateLimit;
  readonly #quotas = new Map<string, Quota>();

  constructor(limit: RateLimit) {
    this.#limit = limit;
  }

  /** Number of keys that have consumed permits. */
  get keyCount(): number {
    return this.#quotas.size;
  }

  has(key: string): boolean {
    return this.#quotas.has(key);
  }

  /**
   * Consumes a permit if one is left.
   * @param nowMs time in milliseconds; must not decrease between calls
   */
  consume(key: string, nowMs: number): Consumption {
    const { burst, refillCount, refillIntervalMs } = this.#limit;
    let quota = this.#quotas.get(key);
    if (quota === undefined) {
      quota = { usedCount: 0, sinceMs: nowMs };
      this.#quotas.set(key, quota);
    }
    const intervalCount = Math.floor((nowMs - quota.sinceMs) / refillIntervalMs + ROUNDING);
    quota.usedCount = Math.max(0, quota.usedCount - intervalCount * refillCount);
    quota.sinceMs = quota.usedCount === 0 ? nowMs : quota.sinceMs + intervalCount * refillIntervalMs;
    const isAllowed = quota.usedCount < burst;
    if (isAllowed) quota.usedCount++;
    const { usedCount, sinceMs } = quota;
    return {
      isAllowed,
      leftCount: burst - usedCount,
      waitMs: Math.max(0, sinceMs + refillIntervalMs - nowMs),
      fullAgainMs: sinceMs + Math.ceil(usedCount / refillCount) * refillIntervalMs - nowMs,
    };
  }
}
