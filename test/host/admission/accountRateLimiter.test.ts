import fc from "fast-check";
import { expect, test } from "vitest";
import { Fault } from "../../../src/errors.ts";
import { AccountRateLimiter } from "../../../src/host/admission/limiters.ts";

/** A token bucket: the reference implementation of the rate limiter. */
class TokenBucket {
  #tokenCount: number;
  #updatedAtMs = 0;
  readonly #limits: { readonly requestsPerS: number; readonly requestBurst: number };
  constructor(limits: { readonly requestsPerS: number; readonly requestBurst: number }) {
    this.#limits = limits;
    this.#tokenCount = limits.requestBurst;
  }
  /** Takes a token. @returns the tokens left, or undefined if there was none */
  take(nowMs: number): number | undefined {
    const { requestsPerS, requestBurst } = this.#limits;
    this.#tokenCount = Math.min(requestBurst, this.#tokenCount + ((nowMs - this.#updatedAtMs) / 1000) * requestsPerS);
    this.#updatedAtMs = nowMs;
    if (this.#tokenCount < 1 - 1e-6) return undefined;
    this.#tokenCount -= 1;
    return Math.floor(this.#tokenCount + 1e-6);
  }
}

const remaining = (text: string): number => Number(/r=([0-9]+)/.exec(text)?.[1]);

function consume(rateLimiter: AccountRateLimiter, account: string, nowMs: number): number | Fault {
  try {
    return remaining(rateLimiter.consume(account, nowMs));
  } catch (error) {
    if (error instanceof Fault) return error;
    throw error;
  }
}

test("accepts the same requests as a token bucket", () => {
  fc.assert(
    fc.property(
      // Powers of two, for which the limiter's refill interval is exact. The tolerance of the bucket covers its own rounding.
      fc.constantFrom(0.5, 1, 4, 64),
      fc.integer({ min: 1, max: 20 }),
      fc.array(fc.integer({ min: 0, max: 4000 }), { maxLength: 60 }),
      (requestsPerS, requestBurst, pausesMs) => {
        const limits = { requestsPerS, requestBurst };
        const [rateLimiter, bucket] = [new AccountRateLimiter(limits), new TokenBucket(limits)];
        let nowMs = 0;
        for (const pauseMs of pausesMs) {
          nowMs += pauseMs;
          const remainingCount = consume(rateLimiter, "a", nowMs);
          const expected = bucket.take(nowMs);
          expect(remainingCount instanceof Fault ? undefined : remainingCount).toBe(expected);
        }
      },
    ),
  );
});

test("returns a Retry-After after which the next request is accepted", () => {
  fc.assert(
    fc.property(fc.constantFrom(0.1, 0.5, 3, 50), fc.integer({ min: 1, max: 10 }), (requestsPerS, requestBurst) => {
      const rateLimiter = new AccountRateLimiter({ requestsPerS, requestBurst });
      let rejection = consume(rateLimiter, "a", 1000);
      while (!(rejection instanceof Fault)) rejection = consume(rateLimiter, "a", 1000);
      expect(rejection.code).toBe("rate_limited");
      const waitS = Number(rejection.headers["Retry-After"]);
      expect(consume(rateLimiter, "a", 1000 + waitS * 1000)).not.toBeInstanceOf(Fault);
    }),
  );
});

test("rejected requests do not consume quota, and accounts are independent", () => {
  const rateLimiter = new AccountRateLimiter({ requestsPerS: 1, requestBurst: 1 });
  expect(consume(rateLimiter, "a", 0)).toBe(0);
  for (let i = 0; i < 100; i++) expect(consume(rateLimiter, "a", 500)).toBeInstanceOf(Fault);
  expect(consume(rateLimiter, "b", 500)).toBe(0);
  expect(consume(rateLimiter, "a", 1000)).toBe(0);
});

test("tolerates ten bursts of rejections of an account, and then twice its rate", () => {
  const rateLimiter = new AccountRateLimiter({ requestsPerS: 1, requestBurst: 3 });
  const count = (account: string, nowMs: number): boolean => rateLimiter.countRejection(account, nowMs);
  expect(Array.from({ length: 30 }, () => count("a", 0))).toStrictEqual(Array.from({ length: 30 }, () => false));
  expect([count("a", 0), count("a", 499), count("b", 499)]).toStrictEqual([true, true, false]);
  expect([count("a", 500), count("a", 500)]).toStrictEqual([false, true]);
});
