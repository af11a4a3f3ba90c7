import { expect, test } from "vitest";
import { ngfsRegionOf } from "../../src/alignment/growthRegions.ts";
import { intensityOfIndustry } from "../../src/alignment/industryIntensities.ts";
import { describeWithReference, readSharedRows } from "./sharedReference.ts";

test.each([
  ["USA", "R5OECD"],
  ["us", "R5OECD"],
  ["U.S.", "R5OECD"],
  ["United States", "R5OECD"],
  ["The United States of America", "R5OECD"],
  ["  france ", "R5OECD"],
  ["Côte d'Ivoire", "R5MAF"],
  ["COTE D IVOIRE", "R5MAF"],
  ["Republic of Korea", "R5ASIA"],
  ["korea_republic_of", "R5ASIA"],
  ["Antigua and Barbuda", "R5LAM"],
  ["Republic of Albania", "R5OECD"],
  ["The Republic of the Congo", "R5MAF"],
  ["the Netherlands", "R5OECD"],
  ["the India", "R5ASIA"],
  ["Republic of Kenya", "R5MAF"],
  ["Russian Federation", "R5REF"],
])("%s is in %s", (name, region) => {
  expect(ngfsRegionOf(name)).toBe(region);
});

test.each(["", "Atlantis", "republic of", "the", "Europe"])("finds no country named %s", (name) => {
  expect(ngfsRegionOf(name)).toBeUndefined();
});

describeWithReference("the tables match their sources", () => {
  test("finds 249 countries by their codes, names and aliases", () => {
    const rows = readSharedRows("reference/countries.csv");
    expect(rows).toHaveLength(249);
    for (const { iso3 = "", iso2 = "", name = "", aliases = "", ngfs_r5 } of rows) {
      for (const text of [iso3, iso2, name, ...aliases.split("|").filter((alias) => alias !== "")]) {
        expect([text, ngfsRegionOf(text)]).toEqual([text, ngfs_r5]);
      }
    }
  });

  test("finds 147 industries by their ids, names and aliases", () => {
    const rows = readSharedRows("reference/industries.csv");
    expect(rows).toHaveLength(147);
    for (const row of rows) {
      const expected = {
        scope1TCO2ePerMUSD: Number(row["s1_t_per_musd"]),
        scope2TCO2ePerMUSD: Number(row["s2_t_per_musd"]),
        scope3TCO2ePerMUSD: Number(row["s3up_t_per_musd"]) + Number(row["s3down_t_per_musd"]),
      };
      for (const text of [row["id"] ?? "", row["name"] ?? "", ...(row["alias"] === "" ? [] : [row["alias"] ?? ""])]) {
        expect([text, intensityOfIndustry(text)]).toEqual([text, expected]);
      }
    }
  });
});
