import { describe, expect, test } from "vitest";
import { editDistance } from "../../src/validation/editDistance.ts";
import { optimalStringAlignment } from "../oracle/alignment2/didYouMean.ts";
import { randomFrom } from "../seededRandom.ts";

const distance = (a: string, b: string, distanceMax = Infinity): number => editDistance(a, b, distanceMax);

describe("editDistance", () => {
  test.each([
    ["germny", "germany", 1],
    ["cnina", "china", 1],
    ["chnia", "china", 1],
    ["ca", "abc", 3],
    ["", "abc", 3],
    ["abc", "abc", 0],
    ["中国", "中國", 1],
    ["😀a", "a", 1],
  ])("of %j and %j is %d", (a, b, expected) => {
    expect(distance(a, b)).toBe(expected);
    expect(distance(b, a)).toBe(expected);
  });

  test("is Infinity above the limit and exact up to it", () => {
    expect(distance("kitten", "sitting", 2)).toBe(Infinity);
    expect(distance("kitten", "sitting", 3)).toBe(3);
    expect(distance("abcd", "badc", 2)).toBe(2);
    expect(distance("abcd", "badc", 1)).toBe(Infinity);
    expect(distance("a", "abcdef", 4)).toBe(Infinity);
  });
});

test("editDistance equals the table of all beginnings, within every limit", () => {
  const random = randomFrom(7);
  const text = (): string => Array.from({ length: random.below(9) }, () => random.pick(["a", "b", "c", "ä"])).join("");
  for (let i = 0; i < 3000; i++) {
    const [a, b] = [text(), text()];
    const expected = optimalStringAlignment(Array.from(a), Array.from(b));
    for (const limit of [0, 1, 2, 4, Infinity]) {
      expect([a, b, limit, distance(a, b, limit)]).toEqual([a, b, limit, expected > limit ? Infinity : expected]);
    }
  }
});
