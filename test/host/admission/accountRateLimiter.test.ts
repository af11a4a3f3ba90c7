import fc from "fast-check";
import { expect, test } from "vitest";
import { isFault } from "../../../src/errors.ts";
import { Refusal } from "../../../src/host/problems/problem.ts";
import { AccountRateLimiter } from "../../../src/host/admission/accountRateLimiter.ts";

/** A token bucket, the reference implementation. */
class TokenBucket {
  #left: number;
  #atMs = 0;
  readonly #limits: { readonly requestsPerS: number; readonly requestBurst: number };
  constructor(limits: { readonly requestsPerS: number; readonly requestBurst: number }) {
    this.#limits = limits;
    this.#left = limits.requestBurst;
  }
  /** Takes a token. @returns the tokens left, or undefined if there was none */
  take(nowMs: number): number | undefined {
    const { requestsPerS, requestBurst } = this.#limits;
    this.#left = Math.min(requestBurst, this.#left + ((nowMs - this.#atMs) / 1000) * requestsPerS);
    this.#atMs = nowMs;
    if (this.#left < 1 - 1e-6) return undefined;
    this.#left -= 1;
    return Math.floor(this.#left + 1e-6);
  }
}

const remaining = (text: string): number => Number(/r=([0-9]+)/.exec(text)?.[1]);

function consume(rateLimiter: AccountRateLimiter, account: string, nowMs: number): number | Refusal {
  try {
    return remaining(rateLimiter.consume(account, nowMs));
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
}

test("accepts the same requests as a token bucket", () => {
  fc.assert(
    fc.property(
      // Powers of two, so that neither implementation rounds.
      fc.constantFrom(0.5, 1, 4, 64),
      fc.integer({ min: 1, max: 20 }),
      fc.array(fc.integer({ min: 0, max: 4000 }), { maxLength: 60 }),
      (requestsPerS, requestBurst, pausesMs) => {
        const limits = { requestsPerS, requestBurst };
        const [rateLimiter, bucket] = [new AccountRateLimiter(limits), new TokenBucket(limits)];
        let nowMs = 0;
        for (const pauseMs of pausesMs) {
          nowMs += pauseMs;
          const got = consume(rateLimiter, "a", nowMs);
          const expected = bucket.take(nowMs);
          expect(got instanceof Refusal ? undefined : got).toBe(expected);
        }
      },
    ),
  );
});

test("returns a Retry-After after which the next request is accepted", () => {
  fc.assert(
    fc.property(fc.constantFrom(0.1, 0.5, 3, 50), fc.integer({ min: 1, max: 10 }), (requestsPerS, requestBurst) => {
      const rateLimiter = new AccountRateLimiter({ requestsPerS, requestBurst });
      let refusal = consume(rateLimiter, "a", 1000);
      while (!(refusal instanceof Refusal)) refusal = consume(rateLimiter, "a", 1000);
      expect(isFault(refusal)).toBe(false);
      expect(refusal.code).toBe("rate_limited");
      const waitS = Number(refusal.headers["Retry-After"]);
      expect(consume(rateLimiter, "a", 1000 + waitS * 1000)).not.toBeInstanceOf(Refusal);
    }),
  );
});

test("rejected requests do not consume quota, and accounts are independent", () => {
  const rateLimiter = new AccountRateLimiter({ requestsPerS: 1, requestBurst: 1 });
  expect(consume(rateLimiter, "a", 0)).toBe(0);
  for (let i = 0; i < 100; i++) expect(consume(rateLimiter, "a", 500)).toBeInstanceOf(Refusal);
  expect(consume(rateLimiter, "b", 500)).toBe(0);
  expect(consume(rateLimiter, "a", 1000)).toBe(0);
});
