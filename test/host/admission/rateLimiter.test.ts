import fc from "fast-check";
import { expect, test } from "vitest";
import { type RateLimit, RateLimiter } from "../../../src/host/admission/limiters.ts";

/** A bucket that is refilled one interval at a time: the reference implementation of the rate limiter. */
class ReferenceBucket {
  readonly #limit: RateLimit;
  #leftCount: number;
  #nextRefillMs = Infinity;

  constructor(limit: RateLimit) {
    this.#limit = limit;
    this.#leftCount = limit.burst;
  }

  consume(nowMs: number): { readonly isAllowed: boolean; readonly leftCount: number; readonly fullAgainMs: number } {
    const { burst, refillCount, refillIntervalMs } = this.#limit;
    while (this.#nextRefillMs <= nowMs) {
      this.#leftCount = Math.min(burst, this.#leftCount + refillCount);
      this.#nextRefillMs = this.#leftCount === burst ? Infinity : this.#nextRefillMs + refillIntervalMs;
    }
    const isAllowed = this.#leftCount > 0;
    if (isAllowed) this.#leftCount--;
    if (this.#nextRefillMs === Infinity) this.#nextRefillMs = nowMs + refillIntervalMs;
    let fullMs = this.#nextRefillMs;
    for (let left = this.#leftCount + refillCount; left < burst; left += refillCount) fullMs += refillIntervalMs;
    return { isAllowed, leftCount: this.#leftCount, fullAgainMs: fullMs - nowMs };
  }
}

test("accepts the same permits as a bucket that is refilled one interval at a time", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 12 }),
      fc.integer({ min: 1, max: 12 }),
      fc.constantFrom(1, 20, 1000),
      fc.array(fc.integer({ min: 0, max: 2500 }), { maxLength: 60 }),
      (burst, refillCount, refillIntervalMs, pausesMs) => {
        const limit = { burst, refillCount, refillIntervalMs };
        const [limiter, bucket] = [new RateLimiter(limit), new ReferenceBucket(limit)];
        let nowMs = 0;
        for (const pauseMs of pausesMs) {
          nowMs += pauseMs;
          expect(limiter.consume("a", nowMs)).toMatchObject(bucket.consume(nowMs));
        }
      },
    ),
  );
});

test("accepts the next permit after the stated wait, and not before", () => {
  const limiter = new RateLimiter({ burst: 3, refillCount: 3, refillIntervalMs: 60_000 });
  expect([0, 10, 20].map((nowMs) => limiter.consume("a", nowMs).leftCount)).toEqual([2, 1, 0]);
  const { isAllowed, waitMs } = limiter.consume("a", 40_000);
  expect([isAllowed, waitMs]).toEqual([false, 20_000]);
  expect(limiter.consume("a", 59_999).isAllowed).toBe(false);
  expect(limiter.consume("a", 60_000)).toMatchObject({ isAllowed: true, leftCount: 2 });
});

test("does not lose a permit to rounding", () => {
  const refillIntervalMs = 1000 / 3;
  const limiter = new RateLimiter({ burst: 1, refillCount: 1, refillIntervalMs });
  for (let i = 0; i < 10_000; i++) expect(limiter.consume("a", 5e12 + i * refillIntervalMs).isAllowed).toBe(true);
});

test("counts keys separately", () => {
  const limiter = new RateLimiter({ burst: 1, refillCount: 1, refillIntervalMs: 1000 });
  expect(["a", "b", "a"].map((key) => limiter.consume(key, 0).isAllowed)).toEqual([true, true, false]);
  expect([limiter.keyCount, limiter.has("b"), limiter.has("c")]).toEqual([2, true, false]);
});
