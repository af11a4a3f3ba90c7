import { expect, test } from "vitest";
import { LISTED_COUNTRIES } from "../../src/reference/countryNames.ts";
import { COUNTRY_NAME_ROWS } from "../../src/reference/data/countryNames.generated.ts";
import { PATHWAY_KEY_ROWS } from "../../src/reference/data/pathwayKeys.generated.ts";
import { LISTED_INDUSTRIES } from "../../src/reference/industries.ts";
import { foldName } from "../../src/reference/names.ts";
import { describeWithSharedMethod, sharedReference } from "../oracle/alignment2/sharedMethod.ts";

/** Returns the keys that belong to two of the items. */
function sharedKeys(items: readonly { readonly id: string; readonly names: readonly string[] }[]): readonly string[] {
  const owners = new Map<string, string>();
  return items.flatMap(({ id, names }) =>
    names.map(foldName).filter((key) => {
      const owner = owners.get(key) ?? id;
      owners.set(key, owner);
      return owner !== id;
    }),
  );
}

test("the list of countries has 249 entries with two codes, a region and unique names", () => {
  expect(LISTED_COUNTRIES).toHaveLength(249);
  for (const { iso3, iso2, name, names } of LISTED_COUNTRIES) {
    expect(iso3).toMatch(/^[A-Z]{3}$/);
    expect(iso2).toMatch(/^[A-Z]{2}$/);
    expect(names.slice(0, 3)).toEqual([name, iso3, iso2]);
    expect(names.map(foldName)).not.toContain("");
  }
  expect(sharedKeys(LISTED_COUNTRIES.map(({ iso3, names }) => ({ id: iso3, names })))).toEqual([]);
  const regions = new Set(LISTED_COUNTRIES.map(({ region }) => region));
  expect([...regions].toSorted()).toEqual(["R5ASIA", "R5LAM", "R5MAF", "R5OECD", "R5REF"]);
});

test("the list of industries has 147 entries with figures and unique names", () => {
  expect(LISTED_INDUSTRIES).toHaveLength(147);
  for (const { id, name, names, intensity } of LISTED_INDUSTRIES) {
    expect(id).toMatch(/^[a-z_]+$/);
    expect(names[0]).toBe(name);
    expect(names.length, id).toBeLessThanOrEqual(2);
    for (const figure of Object.values(intensity)) expect(figure, id).toBeGreaterThanOrEqual(0);
  }
  expect(sharedKeys(LISTED_INDUSTRIES.map(({ id, names }) => ({ id, names: [id, ...names] })))).toEqual([]);
});

describeWithSharedMethod("the tables equal their sources", () => {
  test("in the names and regions of 249 countries", () => {
    const given = sharedReference().countries.map(({ iso3, iso2, name, officialName, aliases, region }) => ({
      iso3,
      iso2,
      name,
      names: [name, iso3, iso2, officialName, ...aliases].filter((known) => known !== ""),
      region,
    }));
    expect(LISTED_COUNTRIES).toEqual(given);
  });

  test("in 4,048 names of countries in other languages", () => {
    const rows = COUNTRY_NAME_ROWS.flatMap(({ iso3, names }) => names.map((name) => ({ iso3, name })));
    expect(rows).toHaveLength(4048);
    // The source exchanges the Portuguese names of the two Congos.
    const corrected: Readonly<Record<string, string>> = {
      "República Democrática do Congo": "COD",
      "República Popular do Congo": "COG",
    };
    const inOrder = (names: readonly { readonly iso3: string; readonly name: string }[]): readonly string[] =>
      names.map(({ iso3, name }) => `${corrected[name] ?? iso3} ${name}`).toSorted();
    expect(inOrder(rows)).toEqual(inOrder(sharedReference().countryNames));
    expect(rows.filter(({ name }) => name in corrected).map(({ iso3, name }) => corrected[name] === iso3)).toEqual([
      true,
      true,
    ]);
  });

  test("in the names of 147 industries", () => {
    const given = sharedReference().industries.map(({ name, alias }) => [name, ...(alias === "" ? [] : [alias])]);
    expect(LISTED_INDUSTRIES.map(({ names }) => names)).toEqual(given);
  });

  test("in the rows of pathway keys", () => {
    expect(PATHWAY_KEY_ROWS).toEqual(sharedReference().industryKeys);
  });
});
