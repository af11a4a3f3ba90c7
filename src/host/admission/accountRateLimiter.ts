import { Refusal } from "../problems/problem.ts";

export interface RateLimits {
  readonly requestsPerS: number;
  readonly requestBurst: number;
}

/**
 * Limits each account to a sustained request rate and a burst, by the generic cell rate algorithm. It stores one number
 * per account: the time at which the account's quota will be full again. Rejected requests do not consume quota.
 *
 * The memory stores of published rate limiters count in fixed windows, do not support bursts, and return promises.
 */
export class AccountRateLimiter {
  /** Value of the header `RateLimit-Policy`. */
  readonly policy: string;
  /** Time between two requests at the sustained rate. */
  readonly #intervalMs: number;
  readonly #burstMs: number;
  /** By account id. Bounded by the number of accounts, because only authenticated requests are counted. */
  readonly #fullAgainMs = new Map<string, number>();

  constructor({ requestsPerS, requestBurst }: RateLimits) {
    this.#intervalMs = 1000 / requestsPerS;
    this.#burstMs = requestBurst * this.#intervalMs;
    this.policy = `"account";q=${requestBurst};w=${Math.max(1, Math.ceil(requestBurst / requestsPerS))}`;
  }

  /**
   * Counts one request.
   * @returns the value of the header `RateLimit`: requests left in the burst, and seconds until the burst is full again
   * @throws Refusal `rate_limited` with Retry-After
   */
  consume(accountId: string, nowMs: number): string {
    const before = Math.max(this.#fullAgainMs.get(accountId) ?? 0, nowMs);
    const fullAgainMs = before + this.#intervalMs;
    // Tolerates rounding by a millionth of a request, so that sums of fractions do not cost the last request.
    const leftMs = nowMs + this.#burstMs - fullAgainMs + this.#intervalMs * 1e-6;
    if (leftMs < 0) {
      const waitS = Math.max(1, Math.ceil(-leftMs / 1000));
      throw new Refusal("rate_limited", `The account exceeded its request rate; retry in ${waitS} s.`, {
        RateLimit: `"account";r=0;t=${waitS}`,
        "RateLimit-Policy": this.policy,
        "Retry-After": String(waitS),
      });
    }
    this.#fullAgainMs.set(accountId, fullAgainMs);
    return `"account";r=${Math.floor(leftMs / this.#intervalMs)};t=${Math.ceil((fullAgainMs - nowMs) / 1000)}`;
  }
}
