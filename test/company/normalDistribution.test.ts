import { describe, expect, test } from "vitest";
import { erfc, normalCdf, normalQuantile } from "../../src/company/normalDistribution.ts";

describe("the complementary error function", () => {
  // Reference values: erfc of the C library.
  test.each([
    [0, 1],
    [0.1, 0.8875370839817152],
    [0.46875, 0.5073865267820618],
    [0.5, 0.4795001221869535],
    [1, 0.15729920705028513],
    [2, 0.004677734981047266],
    [3, 2.209049699858544e-5],
    [4, 1.541725790028002e-8],
    [4.5, 1.966160441542887e-10],
    [6, 2.1519736712498913e-17],
    [7.7, 1.2942740067717136e-27],
    [9.3, 1.6532441840301348e-39],
    [10, 2.088487583762545e-45],
    [20.1, 9.735977140428878e-178],
    [-0.25, 1.2763263901682369],
    [-1, 1.8427007929497148],
    [-5, 1.9999999999984626],
  ])("of %d is %d", (x, value) => {
    expect(Math.abs(erfc(x) / value - 1)).toBeLessThan(2e-15);
  });

  test("has the limits 0 and 2", () => {
    expect([erfc(30), erfc(Infinity), erfc(-30), erfc(-Infinity)]).toEqual([0, 0, 2, 2]);
  });

  test("is continuous and decreasing across its three ranges", () => {
    for (const border of [0.46875, 4]) {
      for (const x of [border, -border]) {
        const [before, after] = [erfc(x - 1e-9), erfc(x + 1e-9)];
        expect(before).toBeGreaterThan(after);
        expect((before - after) / 2e-9).toBeCloseTo((2 / Math.sqrt(Math.PI)) * Math.exp(-x * x), 5);
      }
    }
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
