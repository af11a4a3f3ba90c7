import { describe, expect, test } from "vitest";
import { readCompanyRequest } from "../../src/company/request.ts";
import { SCENARIO_IDS } from "../../src/company/scenarios.ts";
import { REQUEST, refusal, pointersAndCodes } from "./refusals.ts";

describe("unknown names", () => {
  test.each([
    [{ country: "Atlantis" }, "country_unknown", "/country"],
    [{ country: "Kosovo" }, "country_unknown", "/country"],
    [{ transition_scenarios: ["NGFS_NDC", "RCP85"] }, "scenario_unknown", "/transition_scenarios/1"],
  ] as const)("%j: %s, with the five nearest names", (change, code, pointer) => {
    const fault = refusal(change);
    expect(fault.code).toBe(code);
    expect(pointersAndCodes(fault)).toEqual([`${pointer} ${code}`]);
    const [item] = fault.items;
    expect(item?.nearest?.length).toBe(5);
    expect(item?.detail).toContain(`the nearest are ${item?.nearest?.join("; ")}`);
    if (code === "scenario_unknown") expect(item?.allowed).toEqual(SCENARIO_IDS);
  });

  test.each([
    [{ country: "Germny" }, "Germany"],
    [{ country: "Cnina" }, "China"],
    [{ country: "Deutschlnd" }, "Deutschland"],
    [{ industry: "Stel" }, "Steel"],
    [{ industry: "Airlnes" }, "Airlines"],
    [{ transition_scenarios: ["NGFS_NET_ZRO_2050"] }, "NGFS_NET_ZERO_2050"],
    [{ transition_scenarios: ["NGFS_NET_ZERO"] }, "NGFS_NET_ZERO_2050"],
    [{ transition_scenarios: ["IPCC_C9"] }, "IPCC_C1"],
    [{ industry_classification_system: "nacee" }, "nace"],
  ])("%j: suggests %s", (change, meant) => {
    const [item] = refusal(change).items;
    expect(item?.did_you_mean).toBe(meant);
  });

  test.each([
    [{ country: "Atlantis" }],
    [{ country: "Antartica" }],
    [{ industry: "Zzyzx business" }],
    [{ transition_scenarios: ["RCP85"] }],
    [{ transition_scenarios: ["NGFS"] }],
    [{ industry_classification_system: "SIC 1987" }],
  ])("%j: suggests no name if none is close enough, or if the closest has no data", (change) => {
    expect(refusal(change).items[0]).not.toHaveProperty("did_you_mean");
  });

  test.each([
    [{ country: "" }, /^country: "" is empty; accepted are ISO 3166 codes \(two or three letters\) and names/],
    [{ country: "Antarctica" }, /^country: "Antarctica" is a country without data on its economy; accepted are ISO/],
    [{ country: "Atlantis" }, /^country: "Atlantis" is not a known country; the nearest are .*; accepted are ISO 3166/],
    [
      { country: "Germny" },
      /^country: "Germny" is not a known country \(did you mean Germany\?\); the nearest are Germany; /,
    ],
    [
      { country: "the Republic of China" },
      /^country: "the Republic of China" matches several countries: China; Taiwan; send one of these names/,
    ],
    [{ industry: " " }, /^industry: " " is empty; accepted are ids and names of industries/],
    [{ industry: "Basket weaving" }, /^industry: "Basket weaving" is not a known industry; accepted are ids/],
    [
      { industry: "Banks" },
      /^industry: "Banks" matches several industries: Banks, major; .*; send one of these names\.$/,
    ],
    [{ industry: "ISIC 24" }, /^industry: "ISIC 24" is a code of several industries: Iron and steel; /],
    [
      { industry: "A24.10" },
      /^industry: "A24.10" has the section A, but division 24 of NACE Rev. 2 is in section C; accepted are ids/,
    ],
    [
      { industry_classification_system: "SIC" },
      /^industry_classification_system must be one of gics, nace, naics, .* \(got "SIC"\)/,
    ],
    [
      { industry_classification_system: "NAICS 2022" },
      /^industry_classification_system: "NAICS 2022" is an edition whose codes are not supported; accepted are codes of ISIC/,
    ],
  ])("%j: explains the error and what is accepted", (change, detail) => {
    expect(refusal(change).items.map((item) => item.detail)).toEqual([expect.stringMatching(detail)]);
  });

  test.each([
    ["the Republic of China", "country", ["China", "Taiwan"]],
    ["Banks", "industry", ["Banks, major", "Banks, regional", "Savings banks"]],
  ] as const)("lists every match of %s", (text, member, names) => {
    const [item] = refusal({ [member]: text }).items;
    expect([item?.code, item?.nearest]).toEqual([`${member}_unknown`, names]);
  });

  test("reads a code in the stated system", () => {
    const industryOf = (industry: string, system: string): unknown => {
      const company = readCompanyRequest({ ...REQUEST, industry, industry_classification_system: system });
      return [company.industry.industry.id, company.industry.on];
    };
    expect(industryOf("2410", "ISIC")).toEqual(["iron_steel", "isic"]);
    expect(industryOf("331110", "NAICS 2017")).toEqual(["iron_steel", "naics"]);
    expect(industryOf("Steel", "gics")).toEqual(["iron_steel", "alias"]);
    expect(pointersAndCodes(refusal({ industry: "15104050", industry_classification_system: "gics" }))).toEqual([
      "/industry industry_unknown",
    ]);
    expect(pointersAndCodes(refusal({ industry_classification_system: 7 }))).toEqual([
      "/industry_classification_system wrong_type",
    ]);
  });

  test("does not read the beginning of a text that is longer than any name", () => {
    expect(pointersAndCodes(refusal({ country: `Germany${" ".repeat(400)}x` }))).toEqual(["/country country_unknown"]);
    expect(pointersAndCodes(refusal({ industry: `cement_lime${" ".repeat(400)}x` }))).toEqual([
      "/industry industry_unknown",
    ]);
    expect(readCompanyRequest({ ...REQUEST, country: `Germany${" ".repeat(400)}` }).country.iso3).toBe("DEU");
  });

  test("reports several unknown names at once, with the fault code of the first", () => {
    const fault = refusal({ country: "Atlantis", industry: "?", transition_scenarios: ["a", "b"] });
    expect(fault.code).toBe("country_unknown");
    expect(pointersAndCodes(fault)).toEqual([
      "/country country_unknown",
      "/industry industry_unknown",
      "/transition_scenarios/0 scenario_unknown",
      "/transition_scenarios/1 scenario_unknown",
    ]);
    expect(fault.message).toMatch(/^4 errors in the request\. The first: country: "Atlantis"/);
  });

  test("reports unknown names together with other errors", () => {
    const fault = refusal({ country: "Atlantis", revenue: "x", assessment_years: [1], ebitda: "?" });
    expect(fault.code).toBe("invalid_request");
    expect(pointersAndCodes(fault).toSorted()).toEqual([
      "/assessment_years/0 out_of_range",
      "/country country_unknown",
      "/ebitda wrong_type",
      "/revenue wrong_type",
    ]);
  });
});
