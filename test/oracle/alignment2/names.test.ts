/** Names of industries, sectors and countries. */
import { describe, expect, it } from "vitest";
import { optimalStringAlignment, suggestCountry, suggestIndustry } from "./didYouMean.ts";
import { findCountry, foldCountry, foldIndustry, growthSeriesOf, matchesKey, matchIndustry } from "./names.ts";
import { describeWithSharedMethod, sharedReference } from "./sharedMethod.ts";

describe("folding and keys", () => {
  it("drops accents and turns other characters into single spaces", () => {
    expect(foldIndustry("  Sidérurgie & Métaux – 24.1 ")).toBe("siderurgie metaux 24 1");
    expect(foldCountry("Taiwan, Province of China")).toBe("taiwan province of china");
    expect(foldCountry("Ελλάδα")).toBe("ελλαδα");
  });

  it("matches whole words in sequence and any ending at a star", () => {
    expect(matchesKey("real estate services", "real estate")).toBe(true);
    expect(matchesKey("surreal estate", "real estate")).toBe(false);
    expect(matchesKey("estate real", "real estate")).toBe(false);
    expect(matchesKey("transportation equipment", "transport* equipment")).toBe(true);
    expect(matchesKey("transport of equipment", "transport* equipment")).toBe(false);
    expect(matchesKey("autos", "auto")).toBe(false);
  });

  it("counts insertions, deletions, substitutions and transpositions of adjacent characters", () => {
    const distance = (a: string, b: string): number => optimalStringAlignment(Array.from(a), Array.from(b));
    expect(distance("germny", "germany")).toBe(1);
    expect(distance("cnina", "china")).toBe(1);
    expect(distance("chnia", "china")).toBe(1);
    expect(distance("ca", "abc")).toBe(3);
    expect(distance("", "abc")).toBe(3);
  });
});

describeWithSharedMethod("names in the reference tables", () => {
  const pathwayOf = (industry: string | null, sector: string | null = null) => {
    const { on, pathway } = matchIndustry(sharedReference(), industry, sector);
    return [on, pathway];
  };

  it("reads the 16 rows of industry keys", () => {
    expect(sharedReference().industryKeys.map(({ row }) => row)).toEqual(Array.from({ length: 16 }, (_, i) => i + 1));
  });

  it.each([
    ["Passenger Airlines", "transport"],
    ["Electric Utilities", "power"],
    ["Gas Utilities", "energy_supply"],
    ["Water Utilities", "economy"],
    ["Manufacture of electric motors", "industry"],
    ["Motor vehicle parts", "transport"],
    ["Multi-Utilities", "power"],
    ["Manufacture of coke oven products", "energy_supply"],
    ["Food retail", "economy"],
    ["Real estate investment trusts", "buildings"],
    ["Software", "economy"],
  ])("assigns %s to %s", (text, pathway) => {
    expect(pathwayOf(text)).toEqual(["industry", pathway]);
  });

  it("asks the sector only where no row matches the industry", () => {
    expect(pathwayOf("Zzyzx business", "Utilities")).toEqual(["sector", "power"]);
    expect(pathwayOf("Software", "Utilities")).toEqual(["industry", "economy"]);
    expect(pathwayOf(null, "Materials")).toEqual(["sector", "industry"]);
    expect(pathwayOf("Stel", "4010")).toEqual(["none", "economy"]);
  });

  it.each([
    ["Korea, Rep.", "KOR"],
    ["Taiwan, Province of China", "TWN"],
    ["Corée du Sud", "KOR"],
    ["the United States", "USA"],
    ["Republic of The Bahamas", "BHS"],
    ["de", "DEU"],
    ["中国", "CHN"],
    ["Türkiye", "TUR"],
  ])("finds %s as %s", (text, iso3) => {
    expect(findCountry(sharedReference(), text)).toBe(iso3);
  });

  it.each(["Germny", "410", "", "Kosovo", "Republic of"])("does not find %j", (text) => {
    expect(findCountry(sharedReference(), text)).toBeNull();
  });

  it("takes the series of the region where a country has none", () => {
    expect(growthSeriesOf(sharedReference(), "KOR")).toEqual({ id: "KOR", source: "country" });
    expect(growthSeriesOf(sharedReference(), "VEN")).toEqual({ id: "R5LAM", source: "region" });
  });

  it("finds every country of the table by each of its own keys", () => {
    const { countries } = sharedReference();
    const wrong = countries.flatMap(({ iso3, iso2, name, officialName, aliases }) =>
      [iso3, iso2, name, officialName, ...aliases]
        .filter((key) => key !== "" && findCountry(sharedReference(), key) !== iso3)
        .map((key) => `${iso3} ${key}`),
    );
    expect(wrong).toEqual([]);
  });

  it.each([
    ["Stel", "Steel"],
    ["Cemment", "cement"],
    ["Airlnes", "Airlines"],
    ["x", null],
    ["Zzyzx business", null],
  ])("suggests for the industry %s: %s", (text, name) => {
    expect(suggestIndustry(sharedReference(), text)).toBe(name);
  });

  it.each([
    ["Germny", "Germany"],
    ["Cnina", "China"],
    ["Atlantis", null],
    ["DEX", null],
  ])("suggests for the country %s: %s", (text, name) => {
    expect(suggestCountry(sharedReference(), text)).toBe(name);
  });
});
