import { describe, expect, test } from "vitest";
import type { ClassificationSystem } from "../../src/reference/industryCodes.ts";
import { INDUSTRY_CLASS_ROWS } from "../../src/reference/data/industryClasses.generated.ts";
import { INDUSTRY_SPELLING_ROWS } from "../../src/reference/data/industrySpellings.generated.ts";
import { LISTED_INDUSTRIES } from "../../src/reference/industries.ts";
import { matchIndustry } from "../../src/reference/industryNames.ts";
import { hasPathway } from "../../src/reference/pathwayNames.ts";
import { fixtureRows } from "./fixtureRows.ts";

/** Returns the ids of the industries that the text names: one if it is accepted. */
const idsOf = (text: string): readonly string[] => {
  const match = matchIndustry(text);
  if (match.kind === "ambiguous") return match.candidates.map(({ id }) => id);
  return match.kind === "found" ? [match.industry.id] : [];
};

describe("the tables of names", () => {
  test("mention listed industries only, each once per name", () => {
    const ids = new Set(LISTED_INDUSTRIES.map(({ id }) => id));
    for (const { industries } of [...INDUSTRY_SPELLING_ROWS, ...INDUSTRY_CLASS_ROWS]) {
      expect(industries.filter((id) => !ids.has(id))).toEqual([]);
      expect(new Set(industries).size).toBe(industries.length);
    }
  });

  test("give every spelling and title its own industries, so that no name has two meanings", () => {
    const named = [
      ...INDUSTRY_SPELLING_ROWS.map(({ spelling, industries }) => ({ name: spelling, industries })),
      ...INDUSTRY_CLASS_ROWS.map(({ title, industries }) => ({ name: title, industries })),
    ];
    expect(named.length).toBeGreaterThan(3000);
    expect(named.filter(({ name, industries }) => idsOf(name).join() !== industries.join())).toEqual([]);
  });

  test("give the names in the list of industries precedence", () => {
    for (const { id, names } of LISTED_INDUSTRIES) {
      for (const name of [id, ...names]) expect([name, idsOf(name)]).toEqual([name, [id]]);
    }
  });

  test("have every class of NACE Rev. 2, ISIC Rev. 4 and NAICS 2017 once", () => {
    const counts = { nace: 615, isic: 419, naics: 1057 };
    for (const [system, count] of Object.entries(counts)) {
      const codes = INDUSTRY_CLASS_ROWS.filter((row) => row.system === system).map(({ code }) => code);
      expect([system, new Set(codes).size, codes.length]).toEqual([system, count, count]);
    }
  });
});

describe("the share of accepted names", () => {
  test.each([
    { file: "gicsSubIndustries.csv", count: 163, acceptedCount: 157 },
    { file: "sicsIndustries.csv", count: 77, acceptedCount: 59 },
  ])("of $file is $acceptedCount of $count, each as judged", ({ file, count, acceptedCount }) => {
    const rows = fixtureRows(file);
    expect(rows).toHaveLength(count);
    for (const { name = "", industries } of rows) expect([name, idsOf(name).join(";")]).toEqual([name, industries]);
    expect(rows.filter(({ name = "" }) => idsOf(name).length === 1)).toHaveLength(acceptedCount);
    expect(rows.filter(({ name = "" }) => !hasPathway(name))).toEqual([]);
  });

  test.each([
    { system: "nace", acceptedCount: 574 },
    { system: "isic", acceptedCount: 382 },
    { system: "naics", acceptedCount: 1010 },
  ])("of the classes of $system is $acceptedCount, and all of these have a pathway", ({ system, acceptedCount }) => {
    const titles = INDUSTRY_CLASS_ROWS.filter((row) => row.system === system).map(({ title }) => title);
    const accepted = titles.filter((title) => idsOf(title).length === 1);
    expect(accepted).toHaveLength(acceptedCount);
    expect(accepted.filter((title) => !hasPathway(title))).toEqual([]);
  });
});

describe("matchIndustry", () => {
  test.each([
    ["Steel", "iron_steel", "alias"],
    ["iron-STEEL", "iron_steel", "id"],
    ["Iron & Steel", "iron_steel", "id"],
    ["Iron and steel", "iron_steel", "name"],
    ["IRON, AND STEEL.", "iron_steel", "name"],
    ["Oil ＆ Gas Production", "oil_gas_production", "id"],
    ["Aluminum", "aluminium", "alias"],
    ["Aerospace & Defence", "aerospace_defence", "id"],
    ["Jewelry, watches and leather goods", "consumer_specialties", "name"],
    ["Manufacture of jewelry and related articles", "consumer_specialties", "alias"],
    ["Healthcare Facilities", "hospitals", "alias"],
    ["Manufacture of other food products, nec", "food_specialty", "alias"],
    ["Passenger Airlines", "airlines", "alias"],
    ["Miscellaneous", "miscellaneous", "id"],
  ])("finds %s: %s by %s", (text, id, matchedOn) => {
    const match = matchIndustry(text);
    expect(match.kind === "found" ? [match.industry.id, match.matchedOn] : match.kind).toEqual([id, matchedOn]);
  });

  test("refuses a text that names several industries, with all of them", () => {
    expect(matchIndustry("Banks")).toMatchObject({
      kind: "ambiguous",
      on: "name",
      candidates: [{ id: "major_banks" }, { id: "regional_banks" }, { id: "savings_banks" }],
    });
  });

  test.each(["", " ", "Zzyzx business", "Central banking", "constructor", "__proto__", "&"])(
    "does not find %j",
    (text) => {
      expect(matchIndustry(text)).toEqual({ kind: "unknown" });
    },
  );

  test.each([
    ["Airline", "airlines"],
    ["Semiconductor", "semiconductors"],
    ["Electric Utility", "electric_utilities"],
    ["Auto Manufacturer", "motor_vehicles"],
    ["Hydroelectricity", "renewable_power"],
    ["Cement Producers", "cement_lime"],
    ["Stahl", "iron_steel"],
    ["Software - Application", "software"],
  ])("finds the usual spelling %s, in singular or plural: %s", (text, id) => {
    expect(idsOf(text)).toEqual([id]);
  });

  test.each(["Bank", "Gas", "Solar", "Auto", "Telecom", "Pharmaceutical Company", "Utility"])(
    "refuses %s, which is a word for several industries",
    (text) => {
      expect(idsOf(text).length).toBeGreaterThan(1);
    },
  );

  test.each([
    "Energy",
    "Materials",
    "Industrials",
    "Consumer Discretionary",
    "Consumer Staples",
    "Health Care",
    "Financials",
    "Information Technology",
    "Communication Services",
    "Utilities",
    "Real Estate",
  ])("refuses the GICS sector %s with its industries", (text) => {
    expect(matchIndustry(text)).toMatchObject({ kind: "ambiguous", on: "name" });
    expect(idsOf(text)).not.toContain("miscellaneous");
  });
});

describe("codes", () => {
  const reasonOf = (text: string, system?: ClassificationSystem): string | undefined => {
    const match = matchIndustry(text, system);
    return match.kind === "unknown" ? match.codeReason : undefined;
  };
  const found = (text: string, system?: ClassificationSystem): string => {
    const match = matchIndustry(text, system);
    if (match.kind === "found") return `${match.industry.id} by ${match.matchedOn}`;
    return match.kind === "ambiguous" ? match.candidates.map(({ id }) => id).join(", ") : "unknown";
  };

  test.each([
    ["ISIC 2410", undefined, "iron_steel by code"],
    ["isic:2410", undefined, "iron_steel by code"],
    ["ISIC C2410", undefined, "iron_steel by code"],
    ["NACE 24.1", undefined, "iron_steel by code"],
    ["NACE 2410", undefined, "iron_steel by code"],
    ["24.10", undefined, "iron_steel by code"],
    ["C24.10", undefined, "iron_steel by code"],
    ["2410", "isic", "iron_steel by code"],
    ["C2410", "nace", "iron_steel by code"],
    ["24.42", "nace", "aluminium by code"],
    ["NAICS 3311", undefined, "iron_steel by code"],
    ["331110", "naics", "iron_steel by code"],
    ["NAICS 481", "isic", "airlines, air_freight_couriers"],
    // The prefix of the text takes precedence over the stated system.
    ["NAICS 327310", "nace", "cement_lime by code"],
    ["51.1", "nace", "airlines by code"],
  ] as const)("%s (%s): %s", (text, system, expected) => {
    expect(found(text, system)).toBe(expected);
  });

  test("of several industries are refused with all of them", () => {
    expect(found("ISIC 2420")).toBe("precious_metals, aluminium, other_metals_minerals");
    expect(found("NACE 64.19")).toBe("major_banks, regional_banks, savings_banks");
  });

  test("that also cover a class without an industry are refused", () => {
    // 08.92, the extraction of peat, has none; the other classes have the same.
    const match = matchIndustry("NACE 08.9");
    expect(match).toMatchObject({
      kind: "ambiguous",
      on: "partial_code",
      candidates: [{ id: "other_metals_minerals" }],
    });
    expect(found("NACE 08.91")).toBe("other_metals_minerals by code");
    expect(reasonOf("NACE 08.92")).toBe("is a code of NACE Rev. 2, but the list of industries has none for it");
  });

  const missingSystem =
    "is a code without its system; write ISIC, NACE or NAICS before it, or send industry_classification_system";

  test.each([
    ["NACE Rev. 2 24.10", undefined],
    ["NACE Rev.2: C24.10", undefined],
    ["NACE_R2 C24.10", undefined],
    ["NACE2 24.10", undefined],
    ["ISIC Rev. 4 2410", undefined],
    ["ISIC4 2410", undefined],
    ["NAICS 2017 331110", undefined],
    ["NAICS2017 331110", undefined],
  ] as const)("%s names the edition", (text, system) => {
    expect(found(text, system)).toBe("iron_steel by code");
  });

  test.each([
    ["2410", missingSystem],
    ["331110", missingSystem],
    ["C2410", missingSystem],
    ["A24.10", "has the section A, but division 24 of NACE Rev. 2 is in section C"],
    ["ISIC A2410", "has the section A, but division 24 of ISIC Rev. 4 is in section C"],
    ["NACE X24.10", "has the section X, but division 24 of NACE Rev. 2 is in section C"],
    ["NACE 99.9", "is not a code of NACE Rev. 2"],
    ["ISIC 241000", "is longer than a code of ISIC Rev. 4, which has 2 to 4 digits"],
    ["NAICS C331", "is not a code of NAICS 2017, which has 2 to 6 digits and neither letters nor points"],
    ["NAICS 33.11", "is not a code of NAICS 2017, which has 2 to 6 digits and neither letters nor points"],
    ["NAICS 2022 513210", "is a code of an edition that is not supported"],
    ["NACE Rev. 2.1 24.10", "is a code of an edition that is not supported"],
    ["ISIC Rev. 5 2410", "is a code of an edition that is not supported"],
    ["15104050", "is longer than any code that is matched"],
    ["GICS 15104050", "is a code of GICS, whose codes are not part of the data"],
  ])("%s is refused: %s", (text, reason) => {
    expect(reasonOf(text)).toBe(reason);
  });

  test.each([
    ["C24.10 - Manufacture of basic iron and steel and of ferro-alloys", "iron_steel by alias"],
    ["24.10 Manufacture of basic iron and steel", "iron_steel by alias"],
    ["NACE C24.10: Steel", "iron_steel by alias"],
    ["2410 – Manufacture of basic iron and steel", "iron_steel by alias"],
    ["331110 Iron and Steel Mills and Ferroalloy Manufacturing", "iron_steel by alias"],
    ["24.10 Airlines", "unknown"],
    ["9999 Steel", "unknown"],
    ["24.10 Zzyzx", "unknown"],
  ])("%s, a code with a title: %s", (text, expected) => {
    expect(found(text)).toBe(expected);
  });

  test("of a stated system whose codes are not in the tables are refused", () => {
    expect(reasonOf("15104050", "gics")).toMatch(/^is a code of GICS, whose codes are not part of the data$/);
    expect(reasonOf("2410", "custom")).toMatch(/^is a code of a custom system, whose codes/);
    // Names are matched whatever the system is.
    expect(matchIndustry("Steel", "gics")).toMatchObject({ kind: "found", industry: { id: "iron_steel" } });
  });

  test("of every class have the section of their division", () => {
    for (const { system, code } of INDUSTRY_CLASS_ROWS.filter((row) => row.system !== "naics")) {
      const sections = Array.from("ABCDEFGHIJKLMNOPQRSTU", (letter) => reasonOf(`${system} ${letter}${code}`));
      expect(sections.filter((reason) => reason?.startsWith("has the section") === true)).toHaveLength(20);
    }
  });

  test.each(["24.1.1", "1", "Rev. 2", "NACE"])("%s does not have the form of a code", (text) => {
    expect(matchIndustry(text)).toEqual({ kind: "unknown" });
  });

  test("never find the unclassified industry", () => {
    expect(found("ISIC 9609")).toBe("consumer_services by code");
  });
});
