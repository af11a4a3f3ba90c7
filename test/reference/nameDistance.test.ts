import { describe, expect, test } from "vitest";
import { optimalStringAlignment } from "../oracle/alignment2/didYouMean.ts";
import { randomFrom } from "../seededRandom.ts";
import { editDistance, nameCandidate, nearestName, nearestNames } from "../../src/reference/nameDistance.ts";

const distance = (a: string, b: string, distanceMax = Infinity): number => editDistance(a, b, distanceMax);
const candidates = (...names: readonly string[]) => names.map((name) => nameCandidate(name, name.toLowerCase()));

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

test("nearestNames equals a complete comparison", () => {
  const random = randomFrom(8);
  const text = (): string => Array.from({ length: 1 + random.below(6) }, () => random.pick(["a", "b", "c"])).join("");
  for (let i = 0; i < 300; i++) {
    const named = Array.from({ length: 20 }, () => ({ name: `name ${random.below(10)}`, spelling: text() }));
    const given = text();
    const names = [...new Set(named.map(({ name }) => name))];
    const distanceTo = (name: string): number =>
      Math.min(
        ...named
          .filter((other) => other.name === name)
          .map(({ spelling }) => optimalStringAlignment(Array.from(given), Array.from(spelling))),
      );
    const expected = names.toSorted((one, other) => distanceTo(one) - distanceTo(other)).slice(0, 5);
    const found = nearestNames(
      given,
      named.map(({ name, spelling }) => nameCandidate(name, spelling)),
      5,
    );
    expect(found).toEqual(expected);
  }
});

describe("nearestName", () => {
  test("accepts one edit, and one per five characters of the text", () => {
    expect(nearestName("stel", candidates("Steel"))).toBe("Steel");
    expect(nearestName("ste", candidates("Steel"))).toBeUndefined();
    expect(nearestName("cemmentt", candidates("Cement"))).toBeUndefined();
    expect(nearestName("cemmenttttwork", candidates("Cementtttwork"))).toBe("Cementtttwork");
    expect(nearestName("abcdefghij", candidates("abcdefghxy"))).toBe("abcdefghxy");
    expect(nearestName("abcdefghi", candidates("abcdefgxy"))).toBeUndefined();
  });

  test("returns the nearest candidate, the first of several", () => {
    expect(nearestName("abcdefghij", candidates("abcdefghxy", "abcdefghix", "abcdefghiy"))).toBe("abcdefghix");
  });

  test("ignores candidates of fewer than four characters", () => {
    expect(nearestName("chin", candidates("Chi", "Chinx"))).toBe("Chinx");
  });
});

test("nearestNames returns each name once, nearest first, and the first of equal ones first", () => {
  const named = [...candidates("Cars", "Carts", "Bars"), nameCandidate("Cars", "autos")];
  expect(nearestNames("cars", named, 2)).toEqual(["Cars", "Carts"]);
  expect(nearestNames("auto", named, 1)).toEqual(["Cars"]);
  expect(nearestNames("", named, 5)).toEqual(["Cars", "Bars", "Carts"]);
  expect(nearestNames("x".repeat(100_000), named, 5)).toHaveLength(3);
  expect(nearestNames("cars", named, 5, 1)).toEqual(["Cars", "Carts", "Bars"]);
  expect(nearestNames("car", named, 5, 1)).toEqual(["Cars"]);
});
