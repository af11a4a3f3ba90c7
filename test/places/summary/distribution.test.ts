import { describe, expect, test } from "vitest";
import { Distribution, QUANTILE_SHARES } from "../../../src/places/summary/distribution.ts";
import { referenceStatistics } from "../../oracle/placeSummary.ts";
import { randomFrom, shuffled } from "../../seededRandom.ts";

const EXACT = { distinctCountMax: 10_000, roundedBits: 10 };
const THRESHOLDS = [-1, 0, 0.5, 3];

function summarize(values: readonly number[], precision = EXACT) {
  const distribution = new Distribution(THRESHOLDS, precision);
  for (const value of values) distribution.add(value);
  return distribution.summarize();
}

const reference = (values: readonly number[]) =>
  referenceStatistics(values, { shares: QUANTILE_SHARES, thresholds: THRESHOLDS });

describe("distribution of values", () => {
  test("equals the statistics of the sorted values, for any number of values", () => {
    const random = randomFrom(1);
    for (let count = 1; count <= 120; count++) {
      const values = Array.from({ length: count }, () => Math.round(random.between({ min: -4, max: 8 }) * 4) / 4 + 0);
      const { mean, quantileError, ...exact } = summarize(values) ?? {};
      const { mean: expectedMean, ...expected } = reference(values) ?? {};
      expect(exact).toEqual(expected);
      expect(mean).toBeCloseTo(expectedMean ?? NaN, 12);
      expect(quantileError).toBe(0);
    }
  });

  test("has no statistics without values", () => {
    expect(summarize([])).toBeUndefined();
  });

  test("does not distinguish 0 and -0", () => {
    const summary = summarize([0, -0, 0], { distinctCountMax: 1, roundedBits: 1 });
    expect(summary?.quantileError).toBe(0);
    expect(summary).toMatchObject({ minimum: 0, maximum: 0, quantiles: QUANTILE_SHARES.map(() => 0) });
  });

  test.each([1, 5, 10, 19])("rounds too many different values to %i bits, with the stated error", (roundedBits) => {
    const random = randomFrom(roundedBits);
    const values = Array.from(
      { length: 3000 },
      () => (random.next() - 0.3) * 10 ** random.between({ min: -8, max: 8 }),
    );
    const summary = summarize(values, { distinctCountMax: 500, roundedBits });
    const expected = reference(values);
    const error = 2 ** -(roundedBits + 1);
    expect(summary?.quantileError).toBe(error);
    expect(summary?.aboveCounts).toEqual(expected?.aboveCounts);
    expect([summary?.minimum, summary?.maximum]).toEqual([expected?.minimum, expected?.maximum]);
    for (const [i, quantile] of (summary?.quantiles ?? []).entries()) {
      const exact = expected?.quantiles[i] ?? NaN;
      expect(Math.abs(quantile - exact)).toBeLessThanOrEqual(error * Math.abs(exact));
    }
  });

  test("has the same quantiles for values in any order, rounded or not", () => {
    const random = randomFrom(3);
    const values = Array.from({ length: 2000 }, () => random.between({ min: -1, max: 1 }));
    for (const distinctCountMax of [100, 1999, 2000]) {
      const precision = { distinctCountMax, roundedBits: 4 };
      const expected = summarize(values, precision);
      expect(expected?.quantileError).toBe(distinctCountMax < 2000 ? 1 / 32 : 0);
      expect(summarize(shuffled(random, values), precision)?.quantiles).toEqual(expected?.quantiles);
    }
  });

  test("has a mean that is exact to rounding where a plain sum is not", () => {
    expect(summarize([1e16, 1, -1e16, 1])?.mean).toBe(0.5);
  });
});
