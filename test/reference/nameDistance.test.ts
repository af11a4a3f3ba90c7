import { describe, expect, test } from "vitest";
import { optimalStringAlignment } from "../oracle/alignment2/didYouMean.ts";
import { randomFrom } from "../seededRandom.ts";
import { nameCandidate, nearestName, nearestNames } from "../../src/reference/names.ts";

const candidates = (...names: readonly string[]) => names.map((name) => nameCandidate(name, name.toLowerCase()));

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
