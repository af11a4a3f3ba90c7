import { expect, test } from "vitest";
import { lostShareOf, ratingOf, scoreOf } from "../../src/company/loss.ts";

test.each([
  [0, 0],
  [0.25 / 9, 10],
  [0.25 / 3, 25],
  [0.25, 50],
  [0.75, 75],
  [1, 80],
  [1e300, 100],
])("a loss of %d of EBITDA scores %d", (share, score) => {
  expect(scoreOf(share)).toBeCloseTo(score, 12);
});

test.each([
  [0, "A"],
  [10, "A"],
  [10.000000001, "B"],
  [25, "B"],
  [25.000000001, "C"],
  [50, "C"],
  [50.000000001, "D"],
  [75, "D"],
  [75.000000001, "E"],
  [100, "E"],
])("a score of %d is rated %s", (score, rating) => {
  expect(ratingOf(score)).toBe(rating);
});

test.each([
  [0, 0],
  [0.1, 0.09516258196404043],
  [1, 0.6321205588285577],
  [1e6, 0.999999999999],
  [Infinity, 0.999999999999],
])("a loss ratio of %d leaves closures that lose %d of EBITDA", (ratio, share) => {
  expect(lostShareOf(ratio)).toBeCloseTo(share, 14);
});
