import { describe, expect, test } from "vitest";
import { readCompanyRequest } from "../../src/company/request.ts";
import { SCENARIO_IDS } from "../../src/company/scenarios.ts";
import { REQUEST, refusal, told } from "./refusals.ts";

describe("unknown names", () => {
  test.each([
    [{ country: "Atlantis" }, "country_unknown", "/country"],
    [{ country: "Antarctica" }, "country_unknown", "/country"],
    [{ country: "Kosovo" }, "country_unknown", "/country"],
    [{ industry: "Basket weaving" }, "industry_unknown", "/industry"],
    [{ transition_scenarios: ["NGFS_NDC", "RCP85"] }, "scenario_unknown", "/transition_scenarios/1"],
  ] as const)("%j: %s", (change, code, pointer) => {
    const fault = refusal(change);
    expect(fault.code).toBe(code);
    expect(told(fault)).toEqual([`${pointer} ${code}`]);
    const [item] = fault.items;
    expect(item?.nearest?.length).toBe(5);
    expect(item?.detail).toContain(item?.nearest?.[0]);
    if (code === "scenario_unknown") expect(item?.allowed).toEqual(SCENARIO_IDS);
  });

  test.each([
    ["country", "the Republic of China", ["China", "Taiwan"]],
    ["industry", "ISIC 24", undefined],
  ])("does not guess the %s %j", (member, text, candidates) => {
    const [item] = refusal({ [member]: text }).items;
    expect(item?.code).toBe(`${member}_unknown`);
    if (candidates !== undefined) expect(item?.nearest).toEqual(candidates);
    expect(item?.detail).toContain(text);
  });

  test("does not read the beginning of a text that is longer than any name", () => {
    expect(told(refusal({ country: `Germany${" ".repeat(400)}x` }))).toEqual(["/country country_unknown"]);
    expect(told(refusal({ industry: `cement_lime${" ".repeat(400)}x` }))).toEqual(["/industry industry_unknown"]);
    expect(readCompanyRequest({ ...REQUEST, country: `Germany${" ".repeat(400)}` }).country.iso3).toBe("DEU");
  });

  test("reports several at once, with the fault code of the first", () => {
    const fault = refusal({ country: "Atlantis", industry: "?", transition_scenarios: ["a", "b"] });
    expect(fault.code).toBe("country_unknown");
    expect(told(fault)).toEqual([
      "/country country_unknown",
      "/industry industry_unknown",
      "/transition_scenarios/0 scenario_unknown",
      "/transition_scenarios/1 scenario_unknown",
    ]);
    expect(fault.message).toMatch(/^4 errors in the request\. The first: country: "Atlantis"/);
  });

  test("reports them together with other errors", () => {
    const fault = refusal({ country: "Atlantis", revenue: "x", assessment_years: [1], ebitda: "?" });
    expect(fault.code).toBe("invalid_request");
    expect(told(fault).toSorted()).toEqual([
      "/assessment_years/0 out_of_range",
      "/country country_unknown",
      "/ebitda wrong_type",
      "/revenue wrong_type",
    ]);
  });
});
