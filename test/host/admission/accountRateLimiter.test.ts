import fc from "fast-check";
import { expect, test } from "vitest";
import { isFault } from "../../../src/errors.ts";
import { Refusal } from "../../../src/host/problems/problem.ts";
import { AccountRateLimiter } from "../../../src/host/admission/accountRateLimiter.ts";

/** A bucket that is filled drop by drop: the definition. */
class Bucket {
  #left: number;
  #atMs = 0;
  readonly #limits: { readonly requestsPerS: number; readonly requestBurst: number };
  constructor(limits: { readonly requestsPerS: number; readonly requestBurst: number }) {
    this.#limits = limits;
    this.#left = limits.requestBurst;
  }
  /** How many may still come at once after this one; undefined where it may not. */
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

function taken(rates: AccountRateLimiter, account: string, nowMs: number): number | Refusal {
  try {
    return remaining(rates.consume(account, nowMs));
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
}

test("lets through what a bucket of drops would, whenever it is asked", () => {
  fc.assert(
    fc.property(
      // Powers of two, so that neither of the two rounds.
      fc.constantFrom(0.5, 1, 4, 64),
      fc.integer({ min: 1, max: 20 }),
      fc.array(fc.integer({ min: 0, max: 4000 }), { maxLength: 60 }),
      (requestsPerS, requestBurst, pausesMs) => {
        const limits = { requestsPerS, requestBurst };
        const [rates, bucket] = [new AccountRateLimiter(limits), new Bucket(limits)];
        let nowMs = 0;
        for (const pauseMs of pausesMs) {
          nowMs += pauseMs;
          const got = taken(rates, "a", nowMs);
          const wanted = bucket.take(nowMs);
          expect(got instanceof Refusal ? undefined : got).toBe(wanted);
        }
      },
    ),
  );
});

test("says when to come back, and not a second too early", () => {
  fc.assert(
    fc.property(fc.constantFrom(0.1, 0.5, 3, 50), fc.integer({ min: 1, max: 10 }), (requestsPerS, requestBurst) => {
      const rates = new AccountRateLimiter({ requestsPerS, requestBurst });
      let refusal = taken(rates, "a", 1000);
      while (!(refusal instanceof Refusal)) refusal = taken(rates, "a", 1000);
      expect(isFault(refusal)).toBe(false);
      expect(refusal.code).toBe("rate_limited");
      const waitS = Number(refusal.headers["Retry-After"]);
      expect(taken(rates, "a", 1000 + waitS * 1000)).not.toBeInstanceOf(Refusal);
    }),
  );
});

test("a refusal uses up nothing, and accounts are apart", () => {
  const rates = new AccountRateLimiter({ requestsPerS: 1, requestBurst: 1 });
  expect(taken(rates, "a", 0)).toBe(0);
  for (let i = 0; i < 100; i++) expect(taken(rates, "a", 500)).toBeInstanceOf(Refusal);
  expect(taken(rates, "b", 500)).toBe(0);
  expect(taken(rates, "a", 1000)).toBe(0);
});
