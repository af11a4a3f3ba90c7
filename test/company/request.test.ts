import { describe, expect, test } from "vitest";
import { estimateEmissions, totalClimateRisk } from "../../src/company/report.ts";
import { readCompanyRequest } from "../../src/company/request.ts";
import { SCENARIO_IDS } from "../../src/company/scenarios.ts";
import { type Fault, isFault } from "../../src/errors.ts";

const REQUEST = {
  name: "Ours",
  country: "India",
  industry: "Cement and lime",
  revenue: "7870000000",
  total_assets: "11400000000",
  ebitda: "1380000000",
  total_debt: "1230000000",
  transition_scenarios: ["NGFS_NET_ZERO_2050"],
  assessment_years: [2030],
};
const MONEY = ["revenue", "total_assets", "ebitda", "total_debt"] as const;

function faultOf(run: () => unknown): Fault {
  try {
    run();
  } catch (error) {
    if (isFault(error)) return error;
    throw error;
  }
  return expect.fail("the request was not rejected");
}

const refusal = (change: object): Fault => faultOf(() => readCompanyRequest({ ...REQUEST, ...change }));
const told = ({ items }: Fault): string[] => items.map(({ pointer, code }) => `${pointer} ${code}`);

describe("numbers", () => {
  test.each([
    ["1", 1],
    [" 1.5\n", 1.5],
    ["1e3", 1000],
    ["1E+3", 1000],
    ["25e-1", 2.5],
    ["007", 7],
    ["1000000000000000", 1e15],
    [12.5, 12.5],
    [1e15, 1e15],
    [5e-324, 5e-324],
  ])("%j is %d", (given, value) => {
    expect(readCompanyRequest({ ...REQUEST, revenue: given }).revenueUsd).toBe(value);
  });

  test.each([
    "",
    " ",
    "1,000",
    "1 000",
    "1_000",
    "0x10",
    "1e",
    "1.",
    ".5",
    "+1",
    "--1",
    "NaN",
    "Infinity",
    "-Infinity",
    "1e3.5",
    "٣",
    "1n",
    "abc",
    "1000000 USD",
    "$5",
    true,
    null,
    [],
    {},
    ["1"],
  ])("rejects %j, which is not a number", (given) => {
    for (const name of MONEY) {
      expect(told(refusal({ [name]: given }))).toEqual([`/${name} wrong_type`]);
    }
  });

  test.each([NaN, Infinity, -Infinity])("rejects the number %d", (given) => {
    expect(told(refusal({ ebitda: given }))).toEqual(["/ebitda not_finite"]);
  });

  test.each([
    ["revenue", 0],
    ["revenue", "-0"],
    ["revenue", -1],
    ["revenue", 1.01e15],
    ["revenue", "1e400"],
    ["total_assets", "0"],
    ["total_assets", -5],
    ["total_assets", "1e16"],
    ["ebitda", "-1e16"],
    ["ebitda", 1e16],
    ["total_debt", -1],
    ["total_debt", 2e15],
    ["scope1", -1],
    ["scope2", "-0.001"],
    ["scope3", "1e16"],
    ["total_liabilities", -1],
  ] as const)("rejects %s of %j as out of range", (name, given) => {
    const fault = refusal({ [name]: given });
    expect(fault.code).toBe("invalid_request");
    expect(told(fault)).toEqual([`/${name} out_of_range`]);
    expect(fault.message).toContain(name);
  });

  test.each([
    ["ebitda", -1e15],
    ["total_debt", 0],
    ["total_debt", "-0"],
    ["scope1", 0],
    ["total_liabilities", "0"],
  ] as const)("accepts %s of %j", (name, given) => {
    const company = readCompanyRequest({ ...REQUEST, [name]: given });
    expect(Object.is(company.totalDebtUsd, -0)).toBe(false);
  });

  test.each([
    "revenue",
    "total_assets",
    "ebitda",
    "total_debt",
    "name",
    "country",
    "industry",
    "transition_scenarios",
    "assessment_years",
  ])("rejects a request without %s", (name) => {
    const fault = refusal({ [name]: undefined });
    expect(fault.code).toBe("invalid_request");
    expect(told(fault)).toEqual([`/${name} missing`]);
  });
});

describe("lists", () => {
  test("removes duplicates; keeps the order of scenarios and sorts years", () => {
    const company = readCompanyRequest({
      ...REQUEST,
      transition_scenarios: ["ipcc-net-zero", "NGFS Below 2C", "IPCC_NET_ZERO", "ngfs_below_2c", "IPCC C1"],
      assessment_years: [2100, 2025, 2030, 2025],
    });
    expect(company.scenarios.map(({ id }) => id)).toEqual(["IPCC_NET_ZERO", "NGFS_BELOW_2C", "IPCC_C1"]);
    expect(company.years).toEqual([2025, 2030, 2100]);
  });

  test.each([
    [{ transition_scenarios: [] }, "/transition_scenarios empty"],
    [{ transition_scenarios: "NGFS_NDC" }, "/transition_scenarios wrong_type"],
    [{ transition_scenarios: [7] }, "/transition_scenarios/0 wrong_type"],
    [{ transition_scenarios: Array(22).fill("NGFS_NDC") }, "/transition_scenarios too_many"],
    [{ assessment_years: [] }, "/assessment_years empty"],
    [{ assessment_years: 2030 }, "/assessment_years wrong_type"],
    [{ assessment_years: [2024] }, "/assessment_years/0 out_of_range"],
    [{ assessment_years: [2030, 2101] }, "/assessment_years/1 out_of_range"],
    [{ assessment_years: [2030.5] }, "/assessment_years/0 wrong_type"],
    [{ assessment_years: ["2030"] }, "/assessment_years/0 wrong_type"],
    [{ assessment_years: [null] }, "/assessment_years/0 wrong_type"],
    [{ assessment_years: Array(77).fill(2030) }, "/assessment_years too_many"],
  ])("rejects %j", (change, expected) => {
    const fault = refusal(change);
    expect(fault.code).toBe("invalid_request");
    expect(told(fault)).toContain(expected);
  });

  test("limits the lookups of a list that is too long", () => {
    const fault = refusal({ transition_scenarios: Array(1000).fill("Atlantis") });
    expect(told(fault)).toEqual([
      "/transition_scenarios too_many",
      ...SCENARIO_IDS.map((_, index) => `/transition_scenarios/${index} scenario_unknown`),
    ]);
  });

  test("rejects holes in a list", () => {
    // oxlint-disable-next-line no-sparse-arrays
    expect(told(refusal({ assessment_years: [2030, , 2040] }))).toEqual(["/assessment_years/1 wrong_type"]);
    // oxlint-disable-next-line no-sparse-arrays
    expect(told(refusal({ transition_scenarios: [, "NGFS_NDC"] }))).toEqual(["/transition_scenarios/0 wrong_type"]);
  });

  test("accepts all 21 scenarios in all 76 years", () => {
    const years = Array.from({ length: 76 }, (_, i) => 2025 + i);
    const company = readCompanyRequest({ ...REQUEST, transition_scenarios: SCENARIO_IDS, assessment_years: years });
    expect([company.scenarios.length, company.years.length]).toEqual([21, 76]);
  });
});

describe("unknown names", () => {
  test.each([
    [{ country: "Atlantis" }, "country_unknown", "/country"],
    [{ country: "Antarctica" }, "country_unknown", "/country"],
    [{ country: "Kosovo" }, "country_unknown", "/country"],
    [{ industry: "Basket weaving" }, "industry_unknown", "/industry"],
    [{ industry: "ISIC 3510" }, "industry_unknown", "/industry"],
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
    const fault = refusal({ country: "Atlantis", revenue: "x", assessment_years: [1], ebitda: undefined });
    expect(fault.code).toBe("invalid_request");
    expect(told(fault).toSorted()).toEqual([
      "/assessment_years/0 out_of_range",
      "/country country_unknown",
      "/ebitda missing",
      "/revenue wrong_type",
    ]);
  });
});

describe("options", () => {
  test.each([
    [{}, "kalkuhl_wenz", "remind"],
    [{ damage_function: "Howard-Sterner" }, "howard_sterner", "remind"],
    [{ damage_function: "NGFS5_KOTZ", iam: "GCAM" }, "ngfs5_kotz", "gcam"],
    [{ iam: "GCAM 6.0 NGFS" }, "kalkuhl_wenz", "gcam"],
    [{ iam: "messageix-globiom 2.0-m-r12-ngfs" }, "kalkuhl_wenz", "messageix"],
  ])("%j", (change, damageFunction, iam) => {
    expect(readCompanyRequest({ ...REQUEST, ...change })).toMatchObject({ damageFunction, iam });
  });

  test.each([
    [{ damage_function: "kotz" }, "/damage_function not_allowed"],
    [{ damage_function: 3 }, "/damage_function wrong_type"],
    [{ iam: "IMAGE" }, "/iam not_allowed"],
    [{ iam: null }, "/iam wrong_type"],
    [{ scope_1: 5 }, "/scope_1 unknown"],
    [{ revenues: 5 }, "/revenues unknown"],
  ])("rejects %j", (change, expected) => {
    const fault = refusal(change);
    expect(fault.code).toBe("invalid_request");
    expect(told(fault)).toEqual([expected]);
  });

  test("suggests the correct name for a misspelled one", () => {
    const [item] = refusal({ damage_function: "dice2061" }).items;
    expect(item?.did_you_mean).toBe("dice2016");
    expect(refusal({ scope_1: 5 }).items[0]?.did_you_mean).toBe("scope1");
  });

  test.each([
    ["gcam", "NGFS_NDC", 2030],
    ["messageix", "NGFS_CURRENT_POLICIES", 2030],
    ["gcam", "NGFS_NET_ZERO_2050", 2061],
    ["messageix", "NGFS_BELOW_2C", 2100],
  ])("%s has no prices for %s in %d", (iam, scenario, year) => {
    const fault = refusal({ iam, transition_scenarios: [scenario, "IPCC_C1"], assessment_years: [2030, year] });
    expect(fault.code).toBe("combination_unavailable");
    expect(told(fault)).toEqual(["/iam combination_unavailable"]);
    expect(fault.message).toContain(scenario);
  });

  test.each([
    ["gcam", ["NGFS_NET_ZERO_2050", "IPCC_C7"], 2060],
    ["messageix", ["NGFS_BELOW_2C"], 2025],
    ["gcam", ["IPCC_C1"], 2100],
    ["remind", ["NGFS_NDC"], 2100],
  ])("%s has prices for %j in %d", (iam, scenarios, year) => {
    const company = readCompanyRequest({
      ...REQUEST,
      iam,
      transition_scenarios: scenarios,
      assessment_years: [year],
    });
    expect(company.years).toEqual([year]);
  });
});

test.each([undefined, null, "text", 7, [], [REQUEST], true])("rejects %j, which is not a request", (input) => {
  for (const run of [() => totalClimateRisk(input as never), () => estimateEmissions(input as never)]) {
    const fault = faultOf(run);
    expect(fault.code).toBe("invalid_request");
    expect(told(fault)).toEqual([" wrong_type"]);
  }
});

test("reports nine missing members of an empty object", () => {
  expect(told(faultOf(() => readCompanyRequest({}))).toSorted()).toEqual(
    [...MONEY, "name", "country", "industry", "transition_scenarios", "assessment_years"]
      .map((name) => `/${name} missing`)
      .toSorted(),
  );
});

test("reports at most 100 errors", () => {
  const fault = refusal(Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`x${i}`, 1])));
  expect(fault.items).toHaveLength(100);
  expect(fault.message).toMatch(/^At least 100 errors/);
});

test("neither modifies nor shares the input", () => {
  const input = Object.freeze({
    ...REQUEST,
    transition_scenarios: Object.freeze([...REQUEST.transition_scenarios]),
    assessment_years: Object.freeze([2050, 2030]),
  });
  expect(readCompanyRequest(input).years).not.toBe(input.assessment_years);
});
