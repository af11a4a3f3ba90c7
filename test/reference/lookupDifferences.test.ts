import { describe, expect, test } from "vitest";
import { ngfsRegionOf } from "../../src/alignment/growthRegions.ts";
import { intensityOfIndustry } from "../../src/alignment/industryIntensities.ts";
import { findCountry } from "../../src/company/countryLookup.ts";
import { findIndustry } from "../../src/company/industryLookup.ts";
import { INDUSTRIES } from "../../src/company/industryParameters.ts";
import { LISTED_COUNTRIES, withoutTitles } from "../../src/reference/countries.ts";
import { LISTED_INDUSTRIES } from "../../src/reference/industries.ts";

/**
 * Alignment and the company method look up names in the same lists by different rules. docs/architecture.md lists the
 * differences; these tests check that there are no others.
 */
const regionForCompanies = (text: string): string | undefined => {
  const found = findCountry(text);
  return "iso3" in found ? found.region : undefined;
};
const industryForCompanies = (text: string): string | undefined => {
  const found = findIndustry(text);
  return "industry" in found ? found.industry.id : undefined;
};

describe("a country", () => {
  /** Covers every text that can match, since lookups only remove titles and compare the rest. */
  const texts = new Set(
    LISTED_COUNTRIES.flatMap(({ keys }) => keys.flatMap((key) => [key, ...withoutTitles(key)])).flatMap((rest) =>
      ["", "the "].flatMap((first) =>
        ["", "republic of "].flatMap((title) => ["", "the "].map((last) => `${first}${title}${last}${rest}`)),
      ),
    ),
  );
  const differing = [...texts].filter((text) => ngfsRegionOf(text) !== regionForCompanies(text));
  const isAntarctica = (text: string): boolean => /(^| )(antarctica|ata|aq)$/.test(text);
  const isRepeating = (text: string): boolean => /(^| )the the |republic of (the )?republic of /.test(text);

  test("has the same region in both methods, with any title before any name, except for the names tested below", () => {
    expect(texts.size).toBe(8497);
    const others = differing.filter((text) => !isAntarctica(text) && !isRepeating(text));
    expect(others.toSorted()).toEqual(["republic of china", "the republic of china"]);
  });

  test("named Republic of China has a region but no figures, because it is ambiguous", () => {
    expect(ngfsRegionOf("Republic of China")).toBe("R5ASIA");
    expect(regionForCompanies("Republic of China")).toBeUndefined();
    expect(regionForCompanies("the Republic of China")).toBeUndefined();
  });

  test("without figures, Antarctica, still has a region", () => {
    const names = [...texts].filter(isAntarctica);
    expect(names).toHaveLength(21);
    expect(new Set(names.map(ngfsRegionOf))).toEqual(new Set(["R5ASIA"]));
    expect(new Set(names.map(regionForCompanies))).toEqual(new Set([undefined]));
  });

  test("with a repeated title is found only if titles are removed one by one", () => {
    const repeating = differing.filter(isRepeating).filter((text) => !isAntarctica(text));
    expect(repeating).toHaveLength(438);
    expect(repeating).toContain("the the republic of albania");
    for (const text of repeating) {
      expect(ngfsRegionOf(text), text).toBeUndefined();
      expect(regionForCompanies(text), text).toBeDefined();
    }
  });

  test("in a text longer than any name is found by alignment only", () => {
    const spaced = (count: number): string => `Viet${" ".repeat(count)}Nam`;
    expect([393, 394].map(spaced).map(ngfsRegionOf)).toEqual(["R5ASIA", "R5ASIA"]);
    expect([393, 394].map(spaced).map(regionForCompanies)).toEqual(["R5ASIA", undefined]);
  });
});

describe("an industry", () => {
  test("has the same intensity in both methods, by its id and by all its names", () => {
    for (const { id, names, intensity } of LISTED_INDUSTRIES) {
      for (const text of [id, ...names]) {
        expect(industryForCompanies(text)).toBe(id);
        expect(intensityOfIndustry(text)).toEqual({
          scope1TCO2ePerMUSD: intensity.scope1,
          scope2TCO2ePerMUSD: intensity.scope2,
          scope3TCO2ePerMUSD: intensity.scope3Upstream + intensity.scope3Downstream,
        });
      }
    }
  });

  test("by code, or in a text longer than any name, is found by one method only", () => {
    const codes = INDUSTRIES.flatMap((industry) => industry.codes.naics.map((code) => `NAICS ${code}`));
    expect(codes.filter((code) => industryForCompanies(code) !== undefined).length).toBeGreaterThan(100);
    expect(codes.filter((code) => intensityOfIndustry(code) !== undefined)).toEqual([]);
    const text = `Iron${" ".repeat(400)}and steel`;
    expect(intensityOfIndustry(text)).toEqual(intensityOfIndustry("Iron and steel"));
    expect(industryForCompanies(text)).toBeUndefined();
  });
});
