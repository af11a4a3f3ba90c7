import { expect, it } from "vitest";
import { erfc, inverseNormalCdf, normalCdf } from "./normal.ts";

/** Computed with mpmath 1.3 at 40 digits, rounded to f64. */
const ERFC: readonly (readonly [number, number])[] = [
  [-3, 1.9999779095030015],
  [-0.5, 1.5204998778130465],
  [0, 1.0],
  [1e-10, 0.999999999887162],
  [0.3, 0.6713732405408726],
  [0.999, 0.15771472979350307],
  [1, 0.15729920705028513],
  [1.001, 0.15688451452192373],
  [2, 0.004677734981047266],
  [3.5, 7.430983723414128e-7],
  [6, 2.1519736712498913e-17],
  [10, 2.088487583762545e-45],
  [20, 5.395865611607901e-176],
  [26.5, 2.2109076642637343e-307],
];
const INVERSE: readonly (readonly [number, number])[] = [
  [1e-300, -37.0470962993612],
  [1e-9, -5.9978070150076865],
  [0.004, -2.652069807902196],
  [0.3, -0.5244005127080408],
  [0.999999, 4.753424308817088],
];

it.each(ERFC)("erfc(%f) agrees with mpmath to 1e-13", (x, expected) => {
  expect(Math.abs(erfc(x) / expected - 1)).toBeLessThan(1e-13);
});

it.each(INVERSE)("the inverse normal distribution of %f agrees with mpmath to 1e-12", (p, expected) => {
  expect(Math.abs(inverseNormalCdf(p) - expected)).toBeLessThan(1e-12);
});

it("returns the limits of the normal distribution and its symmetry", () => {
  expect(normalCdf(-Infinity)).toBe(0);
  expect(normalCdf(Infinity)).toBe(1);
  expect(normalCdf(0)).toBe(0.5);
  expect(inverseNormalCdf(0.5)).toBeCloseTo(0, 12);
  for (const z of [0.1, 0.7, 1.4, 1.5, 3]) expect(normalCdf(z) + normalCdf(-z)).toBeCloseTo(1, 14);
});
