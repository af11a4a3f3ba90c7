import { describe, expect, test } from "vitest";
import { indexCountries, LISTED_COUNTRIES, withoutTitles } from "../../src/reference/countries.ts";
import { indexIndustries, LISTED_INDUSTRIES } from "../../src/reference/industries.ts";
import { foldName } from "../../src/reference/names.ts";

const countriesCalled = (...lists: readonly (readonly string[])[]) =>
  lists.map(([name = "", ...others]) => {
    const names = [name, ...others];
    return { name, names, keys: names.map(foldName), iso3: name, iso2: name, region: "R5OECD" as const };
  });

describe("the list of countries", () => {
  test("has 249 entries with two codes, a region and unique keys", () => {
    expect(LISTED_COUNTRIES).toHaveLength(249);
    for (const { iso3, iso2, name, names, keys } of LISTED_COUNTRIES) {
      expect(iso3).toMatch(/^[A-Z]{3}$/);
      expect(iso2).toMatch(/^[A-Z]{2}$/);
      expect(names.slice(0, 3)).toEqual([name, iso3, iso2]);
      expect(keys).toEqual(names.map(foldName));
      expect(keys).not.toContain("");
    }
    const owners = new Map<string, string>();
    for (const { iso3, keys } of LISTED_COUNTRIES) {
      for (const key of keys) {
        expect(owners.get(key) ?? iso3, key).toBe(iso3);
        owners.set(key, iso3);
      }
    }
    const regions = new Set(LISTED_COUNTRIES.map(({ region }) => region));
    expect([...regions].toSorted()).toEqual(["R5ASIA", "R5LAM", "R5MAF", "R5OECD", "R5REF"]);
  });

  test.each([
    ["the republic of the congo", ["republic of the congo", "the congo", "congo"]],
    ["republic of kenya", ["kenya"]],
    ["the the gambia", ["the gambia", "gambia"]],
    ["republic of republic of kenya", ["republic of kenya"]],
    ["kenya", []],
    ["theland", []],
    ["the", []],
  ])("removes the titles of %j: %j", (key, forms) => {
    expect(withoutTitles(key)).toEqual(forms);
  });

  test("indexes a name without its titles if it belongs to one country only", () => {
    const [north, south] = countriesCalled(["the Republic of North"], ["Republic of South"]);
    const index = indexCountries(
      [north, south].filter((country) => country !== undefined),
      withoutTitles,
    );
    expect(index.get("north")).toBe(north);
    expect(index.get("republic of north")).toBe(north);
    expect(index.get("south")).toBe(south);
    expect(index.get("the south")).toBeUndefined();
  });

  test("does not index it if it belongs to two countries or is the name of another", () => {
    const index = indexCountries(
      countriesCalled(["A", "the X"], ["B", "Republic of X"], ["C", "the D"], ["D"]),
      withoutTitles,
    );
    expect(index.get("x")).toBeUndefined();
    expect(index.get("the x")?.name).toBe("A");
    expect(index.get("d")?.name).toBe("D");
    expect(index.get("the d")?.name).toBe("C");
  });
});

describe("the list of industries", () => {
  test("has 147 entries with figures and unique keys", () => {
    expect(LISTED_INDUSTRIES).toHaveLength(147);
    const owners = new Map<string, string>();
    for (const { id, name, names, keys, intensity } of LISTED_INDUSTRIES) {
      expect(id).toMatch(/^[a-z_]+$/);
      expect(names[0]).toBe(name);
      expect(names.length, id).toBeLessThanOrEqual(2);
      expect(keys).toEqual([id, ...names].map(foldName));
      for (const figure of Object.values(intensity)) expect(figure, id).toBeGreaterThanOrEqual(0);
      for (const key of keys) {
        expect(owners.get(key) ?? id, key).toBe(id);
        owners.set(key, id);
      }
    }
  });

  test("is indexed by id, name and alias; the first of several equal keys is used", () => {
    const index = indexIndustries([
      { id: "one", keys: ["one", "first", "uno"] },
      { id: "two", keys: ["two", "two", "two"] },
      { id: "three", keys: ["three", "third", "third"] },
    ]);
    const found = [...index].map(([key, { industry, on }]) => `${key}: ${industry.id} by ${on}`);
    expect(found).toEqual([
      "one: one by id",
      "first: one by name",
      "uno: one by alias",
      "two: two by id",
      "three: three by id",
      "third: three by name",
    ]);
  });
});
