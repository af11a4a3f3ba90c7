import { Refusal } from "../problems/problem.ts";

export interface RateLimits {
  readonly requestsPerS: number;
  readonly requestBurst: number;
}

/**
 * How often each account may ask: so many requests a second in the long run, and so many at once. One number an account,
 * the time at which all it has asked would be used up (the generic cell rate algorithm); refusals use up nothing.
 *
 * A package for this was tried: its memory store counts in fixed windows, has no bursts, and answers by promises.
 */
export class AccountRateLimiter {
  /** What `RateLimit-Policy` says. */
  readonly policy: string;
  readonly #spacingMs: number;
  readonly #burstMs: number;
  /** Bounded by the number of accounts: only who has a key gets here. */
  readonly #usedUpMs = new Map<string, number>();

  constructor({ requestsPerS, requestBurst }: RateLimits) {
    this.#spacingMs = 1000 / requestsPerS;
    this.#burstMs = requestBurst * this.#spacingMs;
    this.policy = `"account";q=${requestBurst};w=${Math.max(1, Math.ceil(requestBurst / requestsPerS))}`;
  }

  /**
   * Counts one request.
   * @returns what `RateLimit` says: how many more may come at once, and in how many seconds all may again
   * @throws Refusal `rate_limited` with Retry-After
   */
  take(accountId: string, nowMs: number): string {
    const before = Math.max(this.#usedUpMs.get(accountId) ?? 0, nowMs);
    const usedUpMs = before + this.#spacingMs;
    // A millionth of a request: sums of thirds must not cost the last one.
    const leftMs = nowMs + this.#burstMs - usedUpMs + this.#spacingMs * 1e-6;
    if (leftMs < 0) {
      const waitS = Math.max(1, Math.ceil(-leftMs / 1000));
      throw new Refusal("rate_limited", `The account asks too often; ask again in ${waitS} s.`, {
        RateLimit: `"account";r=0;t=${waitS}`,
        "RateLimit-Policy": this.policy,
        "Retry-After": String(waitS),
      });
    }
    this.#usedUpMs.set(accountId, usedUpMs);
    return `"account";r=${Math.floor(leftMs / this.#spacingMs)};t=${Math.ceil((usedUpMs - nowMs) / 1000)}`;
  }
}
