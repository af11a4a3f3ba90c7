import { describe, expect, test } from "vitest";
import { COUNTRIES } from "../../src/company/countryFigures.ts";
import { findCountry } from "../../src/company/countryLookup.ts";
import { findIndustry } from "../../src/company/industryLookup.ts";
import { INDUSTRIES } from "../../src/company/industryParameters.ts";
import { findScenario, nearestScenarios, SCENARIO_IDS } from "../../src/company/scenarios.ts";

const countryOf = (text: string): string | undefined => {
  const found = findCountry(text);
  return "iso3" in found ? found.iso3 : undefined;
};
const industryOf = (text: string): string | undefined => {
  const found = findIndustry(text);
  return "industry" in found ? `${found.industry.id} by ${found.on}` : undefined;
};

describe("findCountry", () => {
  test("finds every code and name of the table", () => {
    for (const { iso3, names } of COUNTRIES) for (const name of names) expect(countryOf(name), name).toBe(iso3);
  });

  test.each([
    ["  cÔTE D’IVOIRE ", "CIV"],
    ["cote d ivoire", "CIV"],
    ["CURACAO", "CUW"],
    ["Aland   islands", "ALA"],
    ["antigua_and-barbuda", "ATG"],
    ["Antigua & Barbuda", "ATG"],
    ["ｊａｐａｎ", "JPN"],
    ["usa", "USA"],
    ["u.s.a.", "USA"],
    ["The United States of America", "USA"],
    ["us", "USA"],
    ["de", "DEU"],
    ["the Gambia", "GMB"],
    ["Republic of Albania", "ALB"],
    ["THE REPUBLIC OF ALBANIA", "ALB"],
    ["Republic of Korea", "KOR"],
    ["the Congo", "COG"],
    ["Democratic Republic of the Congo", "COD"],
    // With titles that the list does not have.
    ["Republic of Ireland", "IRL"],
    ["the Japan", "JPN"],
    ["The Republic of Hungary", "HUN"],
    ["Taiwan", "TWN"],
  ])("%s is %s", (text, iso3) => {
    expect(countryOf(text)).toBe(iso3);
  });

  test("does not look up texts longer than any name", () => {
    expect(countryOf(`Viet${" ".repeat(100)}Nam`)).toBe("VNM");
    expect(countryOf(`${" ".repeat(5000)}Viet Nam\n`)).toBe("VNM");
    expect(countryOf(`Viet${" ".repeat(5000)}Nam`)).toBeUndefined();
    expect(industryOf(`Cement${"-".repeat(5000)}and lime`)).toBeUndefined();
    expect(findCountry("Viet Nam ".repeat(1000))).toMatchObject({ nearest: expect.arrayContaining(["Vietnam"]) });
  });

  test("does not find a name that is part of the names of two countries", () => {
    expect(countryOf("Republic of China")).toBeUndefined();
    expect(countryOf("the Republic of China")).toBeUndefined();
    expect(countryOf("the People's Republic of China")).toBe("CHN");
    expect(countryOf("the Republic of Korea")).toBe("KOR");
  });
});

test.each(["", " ", "the", "Kosovo", "XKX", "Antarctica", "Atlantis", "USAA", "D E U", "republic of"])(
  "findCountry finds nothing for %j and suggests five names",
  (text) => {
    const found = findCountry(text);
    if ("iso3" in found) throw new Error(`It is ${found.iso3}.`);
    expect(found.nearest).toHaveLength(5);
    expect(new Set(found.nearest).size).toBe(5);
    expect(found.isUnsupported).toBe(text === "Antarctica");
  },
);

test.each([
  ["Grmany", "Germany"],
  ["Untied Kingdom", "UK"],
  ["Phillipines", "Philippines"],
  ["Ivory Cost", "Côte d’Ivoire"],
])("for %s the suggestions include %s", (text, name) => {
  const found = findCountry(text);
  expect("nearest" in found ? found.nearest.slice(0, 2) : []).toContain(name);
});

describe("findIndustry", () => {
  test("finds every id, name and alias", () => {
    for (const { id, name, names } of INDUSTRIES) {
      expect(industryOf(id)).toBe(`${id} by id`);
      for (const other of names) expect(industryOf(other), other).toMatch(new RegExp(`^${id} by`));
      expect(industryOf(` ${name.toUpperCase()} `)).toMatch(new RegExp(`^${id} by`));
    }
  });

  test.each([
    ["Steel", "iron_steel by alias"],
    ["iron-STEEL", "iron_steel by id"],
    ["Iron & Steel", "iron_steel by id"],
    ["Iron and steel", "iron_steel by name"],
    ["Oil & Gas Production", "oil_gas_production by id"],
    ["Miscellaneous", "miscellaneous by id"],
    ["ISIC 2410", "iron_steel by isic"],
    ["isic:2410", "iron_steel by isic"],
    ["ISIC C2410", "iron_steel by isic"],
    ["2410", "iron_steel by isic"],
    ["NACE 24.1", "iron_steel by nace"],
    ["NACE 24.10", "iron_steel by nace"],
    ["C24.10", "iron_steel by nace"],
    ["NACE 2410", "iron_steel by nace"],
    ["NAICS 3311", "iron_steel by naics"],
    ["NAICS 331110", "iron_steel by naics"],
    ["327310", "cement_lime by naics"],
    ["ISIC 5110", "airlines by isic"],
    ["NACE 51.1", "airlines by nace"],
    // Each of these is shared, covers more than one industry, or belongs to none.
    ["ISIC 2420", undefined],
    ["ISIC 3510", undefined],
    ["NACE 28", undefined],
    ["ISIC 2815", undefined],
    ["NAICS 33", undefined],
    ["ISIC 12", undefined],
    ["ISIC 9609", "consumer_services by isic"],
    ["ISIC 241000", undefined],
    ["NACE 99.0", undefined],
    ["1", undefined],
    ["24.1.1", undefined],
    ["", undefined],
  ])("%s: %s", (text, expected) => {
    expect(industryOf(text)).toBe(expected);
  });

  test("lists all industries that share a code", () => {
    expect(findIndustry("ISIC 2420")).toEqual({
      nearest: ["Aluminium", "Precious metals mining and refining", "Other metals and minerals"],
      isCode: true,
    });
    expect(findIndustry("ISIC 19")).toMatchObject({ isCode: true, nearest: expect.arrayContaining(["Coal mining"]) });
  });

  test("distinguishes codes with and without a classification system", () => {
    expect(findIndustry("2410")).toMatchObject({ isGuessedSystem: true });
    expect(findIndustry("ISIC 2410")).toMatchObject({ isGuessedSystem: false });
  });

  test("finds the unclassified industry by name only, not by code", () => {
    for (const code of ["ISIC 9609", "NACE 96.09"]) expect(industryOf(code)).not.toMatch(/miscellaneous/);
  });
});

test.each([
  ["Banking", "Banks, regional"],
  ["Oil and gas extraction", "Oil and gas production"],
  ["Semi conductors", "Semiconductors"],
  ["Aluminnium", "Aluminium"],
])("findIndustry does not find %s and suggests %s", (text, name) => {
  const found = findIndustry(text);
  if ("industry" in found) throw new Error(`It is ${found.industry.id}.`);
  expect(found.nearest).toHaveLength(5);
  expect(found.nearest).toContain(name);
});

describe("findScenario", () => {
  test.each(SCENARIO_IDS)("finds %s regardless of case and separators", (id) => {
    for (const text of [
      id,
      id.toLowerCase(),
      id.replaceAll("_", "-"),
      id.replaceAll("_", " "),
      id.replaceAll("_", ""),
    ]) {
      expect(findScenario(text)?.id, text).toBe(id);
    }
  });

  test("finds Net Zero of both families", () => {
    expect(findScenario("NGFS Net Zero 2050")?.id).toBe("NGFS_NET_ZERO_2050");
    expect(findScenario("ipcc-net-zero")?.id).toBe("IPCC_NET_ZERO");
  });

  test("does not find an unknown id; nearestScenarios suggests five", () => {
    expect(findScenario("NET_ZERO")).toBeUndefined();
    expect(nearestScenarios("NGFS_NETZERO_2060")[0]).toBe("NGFS_NET_ZERO_2050");
    expect(nearestScenarios("")).toHaveLength(5);
  });
});
