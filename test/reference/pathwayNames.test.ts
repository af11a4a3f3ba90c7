import { describe, expect, test } from "vitest";
import { PATHWAY_KEY_ROWS } from "../../src/reference/data/pathwayKeys.generated.ts";
import { LISTED_INDUSTRIES } from "../../src/reference/industries.ts";
import { hasPathway, matchPathway, pathwayOfIndustry, suggestIndustryName } from "../../src/reference/pathwayNames.ts";

test("the table has 16 rows, in order", () => {
  expect(PATHWAY_KEY_ROWS.map(({ row }) => row)).toEqual(Array.from({ length: 16 }, (_, i) => i + 1));
  expect(PATHWAY_KEY_ROWS.flatMap(({ keys }) => keys).length).toBe(371);
});

describe("matchPathway by the table of keys", () => {
  test.each([
    ["Railroads", "transport", 13, "rail*"],
    ["Autos", "transport", 8, "autos"],
    ["Énergie, Solar", "power", 11, "solar"],
    ["Sidérurgie", "industry", 14, "siderurg*"],
    ["Électricité", "power", 5, "electricite"],
    ["Multi-Utilities", "power", 5, "multi utilit*"],
    ["Non-Energy Minerals", "industry", 10, "non energy"],
    ["Electric Vehicle Manufacturers", "transport", 4, "electric vehicle*"],
    ["Manufacture of electric motors", "industry", 3, "manufacture of electric*"],
    ["Transportation equipment", "industry", 10, "transport* equipment"],
    ["Real_estate", "buildings", 2, "real estate"],
    ["Home building and Mortgages", "economy", 1, "mortgage*"],
    ["Ｓｔｅｅｌ", "industry", 14, "steel"],
    ["Gas Utilities", "energy_supply", 6, "gas utilit*"],
    ["Water Utilities", "economy", 9, "water"],
    ["Food retail", "economy", 7, "retail*"],
    ["Utilities", "power", 15, "utilit*"],
    ["Software", "economy", 9, "software"],
  ])("%s: %s by row %d, %s", (industry, pathway, row, key) => {
    expect(matchPathway({ industry })).toEqual({ pathway, matched: { on: "industry", row, key }, flags: [] });
  });

  test("reads & as and where the text itself matches no key", () => {
    const matched = { on: "industry", row: 10, key: "ship and boat build*" };
    expect(matchPathway({ industry: "Ship & boat building" })).toMatchObject({ pathway: "industry", matched });
    // The "&" decides nothing here: "without accommodation" of row 1 comes first.
    expect(matchPathway({ industry: "Steam & air, without accommodation" }).matched?.row).toBe(1);
  });

  test("uses the sector if no row matches the industry, and says so", () => {
    expect(matchPathway({ industry: "Zzyzx business", sector: "Utilities" })).toEqual({
      pathway: "power",
      matched: { on: "sector", row: 15, key: "utilit*" },
      flags: ["industry_from_sector"],
    });
    expect(matchPathway({ industry: "Media", sector: "Utilities" }).pathway).toBe("economy");
    expect(matchPathway({ sector: "Materials" }).flags).toEqual([]);
  });

  test.each([{}, { industry: "" }, { industry: "Trailers" }, { industry: "Real, or estate" }, { industry: "2410" }])(
    "finds nothing for %o",
    (texts) => {
      expect(matchPathway(texts)).toEqual({ pathway: "economy", matched: undefined, flags: ["unknown_industry"] });
    },
  );
});

describe("matchPathway by the list of industries", () => {
  test.each([
    ["Zinc", undefined, "industry", "Other metals and minerals"],
    ["Hospitality services and Zinc", undefined, "economy", undefined],
    ["ISIC 2410", undefined, "industry", "Iron and steel"],
    ["24.10", undefined, "industry", "Iron and steel"],
    ["2410", "isic", "industry", "Iron and steel"],
    ["3510", "isic", "power", "Electric utilities"],
    ["481111", "naics", "transport", "Airlines"],
  ] as const)("%s (%s): %s, %s", (industry, codeSystem, pathway, key) => {
    const matched = key === undefined ? { row: 16 } : { on: "industry", row: null, key };
    expect(matchPathway({ industry, codeSystem })).toMatchObject({ pathway, matched, flags: [] });
  });

  test("comes after the sector text, so that it changes nothing that the table decides", () => {
    expect(matchPathway({ industry: "Zinc", sector: "Utilities" })).toMatchObject({
      pathway: "power",
      flags: ["industry_from_sector"],
    });
    expect(matchPathway({ industry: "Zzyzx", sector: "Zinc" })).toMatchObject({
      pathway: "industry",
      matched: { on: "sector", row: null, key: "Other metals and minerals" },
      flags: ["industry_from_sector"],
    });
  });

  test("gives a pathway to everything that names one industry, except the unclassified one", () => {
    for (const { id, names } of LISTED_INDUSTRIES) {
      for (const name of [id, ...names]) expect([name, hasPathway(name)]).toEqual([name, id !== "miscellaneous"]);
    }
    expect(matchPathway({ industry: "Miscellaneous" })).toMatchObject({
      pathway: "economy",
      flags: ["unknown_industry"],
    });
  });

  test("gives none to a text that names several", () => {
    expect(hasPathway("64.19")).toBe(false);
    expect(hasPathway("Brokerage of zinc")).toBe(true);
  });
});

test("an industry of the list has the pathway of its own name", () => {
  const byPathway = new Map<string, number>();
  for (const industry of LISTED_INDUSTRIES) {
    const pathway = pathwayOfIndustry(industry);
    byPathway.set(pathway, (byPathway.get(pathway) ?? 0) + 1);
  }
  expect(Object.fromEntries(byPathway)).toEqual({
    buildings: 4,
    economy: 66,
    energy_supply: 8,
    industry: 53,
    power: 5,
    transport: 11,
  });
});

test.each([
  ["Stel", "Steel"],
  ["Cemment", "cement"],
  ["Airlnes", "Airlines"],
  ["Electrc utilitis", "Electric utilities"],
  ["Zzyzx business", undefined],
  ["x", undefined],
])("for %s suggestIndustryName suggests %s", (text, name) => {
  expect(suggestIndustryName(text)).toBe(name);
});

test("remembers texts correctly, however many and however long", () => {
  for (let i = 0; i < 5000; i++) matchPathway({ industry: `Unheard-of ${i}` });
  expect(matchPathway({ industry: "Unheard-of 7" }).matched).toBeUndefined();
  expect(matchPathway({ industry: "Airlines" }).pathway).toBe("transport");
  expect(matchPathway({ industry: `${"zz ".repeat(100)}cement` }).matched?.key).toBe("cement");
});
