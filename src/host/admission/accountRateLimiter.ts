import { RateLimiter } from "../../ledger/rateLimiter.ts";
import { HttpError } from "../problems/problem.ts";

export interface RateLimits {
  readonly requestsPerS: number;
  readonly requestBurst: number;
}

/** Limits each account to a sustained request rate and a burst. Rejected requests do not consume quota. */
export class AccountRateLimiter {
  /** Value of the header `RateLimit-Policy`. */
  readonly policy: string;
  /** Has at most one entry per account, because only authenticated requests are counted. */
  readonly #limiter: RateLimiter;

  constructor({ requestsPerS, requestBurst }: RateLimits) {
    this.#limiter = new RateLimiter({ burst: requestBurst, refillCount: 1, refillIntervalMs: 1000 / requestsPerS });
    this.policy = `"account";q=${requestBurst};w=${Math.max(1, Math.ceil(requestBurst / requestsPerS))}`;
  }

  /**
   * Counts one request.
   * @returns the value of the header `RateLimit`: requests left in the burst, and seconds until the burst is full again
   * @throws HttpError `rate_limited` with Retry-After
   */
  consume(accountId: string, nowMs: number): string {
    const { isAllowed, leftCount, waitMs, fullAgainMs } = this.#limiter.consume(accountId, nowMs);
    if (isAllowed) return `"account";r=${leftCount};t=${Math.ceil(fullAgainMs / 1000)}`;
    const waitS = Math.max(1, Math.ceil(waitMs / 1000));
    throw new HttpError("rate_limited", `The account exceeded its request rate; retry in ${waitS} s.`, {
      RateLimit: `"account";r=0;t=${waitS}`,
      "RateLimit-Policy": this.policy,
      "Retry-After": String(waitS),
    });
  }
}
