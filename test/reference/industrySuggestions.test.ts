import { describe, expect, test } from "vitest";
import { matchIndustry } from "../../src/reference/industryNames.ts";
import { type IndustryRefusal, nearestIndustryNames, refuseIndustry } from "../../src/reference/industrySuggestions.ts";
import { suggestIndustryName } from "../../src/reference/pathwayNames.ts";

const refusalOf = (text: string): IndustryRefusal => {
  const match = matchIndustry(text);
  return match.kind === "found" ? expect.fail(`${text} was accepted`) : refuseIndustry(text, match);
};

describe("refuseIndustry", () => {
  test("suggests the same name as alignment for a misspelling", () => {
    for (const text of ["Stel", "Cemment", "Airlnes", "Telecomunications equipment"]) {
      const { didYouMean = "", problem } = refusalOf(text);
      expect(didYouMean).toBe(suggestIndustryName(text));
      expect(problem).toContain(`is not a known industry (did you mean ${didYouMean}?)`);
      expect(matchIndustry(didYouMean).kind).toBe("found");
    }
  });

  test("suggests usual spellings that alignment does not have", () => {
    expect(suggestIndustryName("Hydroelectricty plants operatr")).toBeUndefined();
    expect(refusalOf("Steel manufacturin").didYouMean).toBe("Steel manufacturing");
  });

  test.each(["Zzyzx business", "Xqwvb", "__proto__", "中国", "a"])(
    "suggests nothing for %s, which is near to no name, and says what is accepted",
    (text) => {
      const { didYouMean, nearest, problem } = refusalOf(text);
      expect([didYouMean, nearest]).toEqual([undefined, []]);
      expect(problem).toBe(
        "is not a known industry; accepted are ids and names of industries (GET /api/v1/reference/industries) and codes of ISIC Rev. 4, NACE Rev. 2 and NAICS 2017, such as ISIC 2410",
      );
    },
  );

  test("says that a text is empty", () => {
    expect(refusalOf(" ").problem).toMatch(/^is empty; accepted are/);
  });

  test("lists the industries that an ambiguous text matches", () => {
    expect(refusalOf("Banks")).toEqual({
      problem: "matches several industries: Banks, major; Banks, regional; Savings banks; send one of these names",
      nearest: ["Banks, major", "Banks, regional", "Savings banks"],
    });
    expect(refusalOf("NACE 64.19").problem).toBe(
      "is a code of several industries: Banks, major; Banks, regional; Savings banks; send one of these names or a code with more digits",
    );
    expect(refusalOf("NACE 08.9").problem).toBe(
      "is a code that covers Other metals and minerals, but also classes that have no industry in the list; send a name or a code with more digits",
    );
  });

  test("gives the reason for a code and suggests no names", () => {
    expect(refusalOf("A24.10")).toEqual({
      problem:
        "has the section A, but division 24 of NACE Rev. 2 is in section C; accepted are ids and names of industries (GET /api/v1/reference/industries) and codes of ISIC Rev. 4, NACE Rev. 2 and NAICS 2017, such as ISIC 2410",
      nearest: [],
    });
  });
});

describe("nearestIndustryNames", () => {
  test.each([
    ["Aluminnium", "Aluminium"],
    ["Iron and steal", "Iron and steel"],
    ["Airlnes", "Airlines"],
    ["Cheap airlines of Europe", "Airlines"],
    ["Cruise ship operators", "Hotels, resorts and cruise lines"],
  ])("of %s begin with %s", (text, name) => {
    expect(nearestIndustryNames(text)[0]).toBe(name);
  });

  test("never contain the unclassified industry", () => {
    for (const text of ["Miscelaneous", "Miscellaneous company", "Unclassified", "Other"]) {
      expect(nearestIndustryNames(text).join()).not.toContain("unclassified");
    }
  });

  test("are at most five, without repetition", () => {
    for (const text of ["bank steel airline cement retail software", "Insurence", "Telecoms and media"]) {
      const names = nearestIndustryNames(text);
      expect(names.length).toBeLessThanOrEqual(5);
      expect(new Set(names).size).toBe(names.length);
    }
  });
});
