import { RateLimiter } from "../../ledger/rateLimiter.ts";
import { HttpError } from "../problems/problem.ts";

export interface RateLimits {
  readonly requestsPerS: number;
  readonly requestBurst: number;
}

/** Kinds of requests with separate limits, as the header fields name them, and what the message of a rejection calls them. */
const KINDS = { account: "request", tiles: "map tile" } as const;
export type RateLimitKind = keyof typeof KINDS;

/**
 * Rejections of an account that are tolerated, as multiples of its sustained rate and of its burst. Clients that exceed
 * their rate by mistake stay below.
 */
const TOLERATED_RATE_FACTOR = 2;
const TOLERATED_BURST_FACTOR = 10;

/** Limits each account to a sustained request rate and a burst. Rejected requests do not consume quota. */
export class AccountRateLimiter {
  /** Value of the header `RateLimit-Policy`. */
  readonly policy: string;
  readonly #kind: RateLimitKind;
  /** Has at most one entry per account, because only authenticated requests are counted. */
  readonly #limiter: RateLimiter;
  readonly #rejections: RateLimiter;

  constructor({ requestsPerS, requestBurst }: RateLimits, kind: RateLimitKind = "account") {
    this.#kind = kind;
    this.#limiter = new RateLimiter({ burst: requestBurst, refillCount: 1, refillIntervalMs: 1000 / requestsPerS });
    this.#rejections = new RateLimiter({
      burst: TOLERATED_BURST_FACTOR * requestBurst,
      refillCount: 1,
      refillIntervalMs: 1000 / (TOLERATED_RATE_FACTOR * requestsPerS),
    });
    this.policy = `"${kind}";q=${requestBurst};w=${Math.max(1, Math.ceil(requestBurst / requestsPerS))}`;
  }

  /**
   * Counts one request.
   * @returns the value of the header `RateLimit`: requests left in the burst, and seconds until the burst is full again
   * @throws HttpError `rate_limited` with Retry-After
   */
  consume(accountId: string, nowMs: number): string {
    const { isAllowed, leftCount, waitMs, fullAgainMs } = this.#limiter.consume(accountId, nowMs);
    if (isAllowed) return `"${this.#kind}";r=${leftCount};t=${Math.ceil(fullAgainMs / 1000)}`;
    const waitS = Math.max(1, Math.ceil(waitMs / 1000));
    throw new HttpError("rate_limited", `The account exceeded its ${KINDS[this.#kind]} rate; retry in ${waitS} s.`, {
      RateLimit: `"${this.#kind}";r=0;t=${waitS}`,
      "RateLimit-Policy": this.policy,
      "Retry-After": String(waitS),
    });
  }

  /** Counts a rejected request. @returns whether the account keeps sending far above its rate */
  countRejection(accountId: string, nowMs: number): boolean {
    return !this.#rejections.consume(accountId, nowMs).isAllowed;
  }
}
