import { describe, expect, test } from "vitest";
import { normalCdf, normalQuantile } from "../../src/company/defaultProbability.ts";

describe("the distribution function", () => {
  // Reference values: erfc(-z / √2) / 2 of the C library.
  test.each([
    [0, 0.5],
    [-0.1, 0.460172162722971],
    [-1, 0.15865525393145707],
    [-3, 0.0013498980316300957],
    [-8, 6.220960574271819e-16],
    [-28, 8.12386946965942e-173],
    [2, 0.9772498680518208],
  ])("of %d is %d", (z, value) => {
    expect(Math.abs(normalCdf(z) / value - 1)).toBeLessThan(2e-15);
  });

  test("has the limits 0 and 1", () => {
    expect([normalCdf(-40), normalCdf(-Infinity), normalCdf(40), normalCdf(Infinity)]).toEqual([0, 0, 1, 1]);
  });
});

describe("the quantile of the normal distribution", () => {
  // Reference values: mpmath 1.3 at 40 digits.
  test.each([
    [1e-300, -37.0470962993612],
    [1e-9, -5.9978070150076865],
    [0.004, -2.652069807902196],
    [0.3, -0.5244005127080408],
    [0.5, 0],
    [0.999999, 4.753424308817088],
  ])("of %d is %d", (p, quantile) => {
    expect(Math.abs(normalQuantile(p) - quantile)).toBeLessThan(1e-12);
  });

  test("inverts the distribution function, also far in the tails", () => {
    for (let z = -37; z <= 8; z += 0.01) {
      const p = normalCdf(z);
      if (p > 0.999) continue;
      expect(Math.abs(normalCdf(normalQuantile(p)) / p - 1), String(z)).toBeLessThan(1e-12);
    }
  });
});
