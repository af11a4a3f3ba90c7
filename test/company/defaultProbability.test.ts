import { describe, expect, test } from "vitest";
import { defaultProbability, erfc } from "../../src/company/defaultProbability.ts";

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

describe("the probability of default", () => {
  const healthy = { assets: 100, debt: 40, volatility: 0.25 };

  test("equals a value computed by hand: ln 2.5 / (0.25 √5), drift -0.00625", () => {
    const distance = (Math.log(2.5) + (0.03 - 0.25 ** 2 / 2) * 5) / (0.25 * Math.sqrt(5));
    expect(distance).toBeCloseTo(1.628, 3);
    expect(defaultProbability(healthy)).toBeCloseTo(0.0517, 3);
    expect(defaultProbability(healthy)).toBeCloseTo(erfc(distance / Math.SQRT2) / 2, 15);
  });

  test.each([
    [{ ...healthy, debt: 0 }, 0],
    [{ ...healthy, debt: 0, assets: 0 }, 0],
    [{ ...healthy, assets: 0 }, 1],
    [{ ...healthy, assets: -5 }, 1],
    [{ ...healthy, debt: 5e-324 }, 0],
    [{ ...healthy, assets: 5e-324, debt: 1e15 }, 1],
  ])("%j: %d", (of, expected) => {
    expect(defaultProbability(of)).toBe(expected);
  });

  test("increases with debt and decreases with assets", () => {
    expect(defaultProbability({ ...healthy, debt: 50 })).toBeGreaterThan(defaultProbability(healthy));
    expect(defaultProbability({ ...healthy, assets: 120 })).toBeLessThan(defaultProbability(healthy));
  });
});
