import { describe, expect, test } from "vitest";
import { estimateEmissions, totalClimateRisk } from "../../src/company/report.ts";
import { readCompanyRequest, readEmissionsRequest } from "../../src/company/request.ts";
import { SCENARIO_IDS } from "../../src/company/scenarios.ts";
import { faultOf, REQUEST, refusal, pointersAndCodes } from "./refusals.ts";

const MONEY = ["revenue", "total_assets", "ebitda", "total_debt"] as const;
/** Members of `assumptions`. */
const ASSUMPTIONS = ["discount_rate", "shock_year", "pass_through"] as const;

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
    [1e-6, 1e-6],
  ])("reads %j as %d", (given, value) => {
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
      expect(pointersAndCodes(refusal({ [name]: given }))).toEqual([`/${name} wrong_type`]);
    }
    for (const name of ASSUMPTIONS) {
      expect(pointersAndCodes(refusal({ assumptions: { [name]: given } }))).toEqual([
        `/assumptions/${name} wrong_type`,
      ]);
    }
  });

  test.each([NaN, Infinity, -Infinity])("rejects the number %d", (given) => {
    expect(pointersAndCodes(refusal({ ebitda: given }))).toEqual(["/ebitda not_finite"]);
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
    ["revenue", 9e-7],
    ["total_assets", 1e-300],
    ["scope3", "6.1e10"],
    ["scope3_upstream", -1],
    ["scope3_downstream", 6.1e10],
    ["total_liabilities", -1],
    ["pd", -0.01],
    ["pd", "1.01"],
    ["exposure", -1],
    ["lgd", 1.5],
  ] as const)("rejects %s of %j as out of range", (name, given) => {
    const fault = refusal({ [name]: given });
    expect(fault.code).toBe("invalid_request");
    expect(pointersAndCodes(fault)).toEqual([`/${name} out_of_range`]);
    expect(fault.message).toContain(name);
  });

  test.each([
    ["ebitda", -1e15],
    ["total_debt", 0],
    ["total_debt", "-0"],
    ["scope1", 0],
    ["total_liabilities", "0"],
    ["pd", "0"],
    ["pd", 1],
    ["lgd", "0.45"],
    ["exposure", 1e15],
    ["scope3_upstream", 6e10],
  ] as const)("accepts %s of %j", (name, given) => {
    const company = readCompanyRequest({ ...REQUEST, [name]: given });
    expect(Object.is(company.totalDebtUsd, -0)).toBe(false);
  });

  test.each([
    [{ discount_rate: -0.01 }, "/assumptions/discount_rate out_of_range"],
    [{ discount_rate: 0.31 }, "/assumptions/discount_rate out_of_range"],
    [{ shock_year: 2024 }, "/assumptions/shock_year out_of_range"],
    [{ shock_year: 2101 }, "/assumptions/shock_year out_of_range"],
    [{ shock_year: 2030.5 }, "/assumptions/shock_year wrong_type"],
    [{ pass_through: 1.01 }, "/assumptions/pass_through out_of_range"],
    [{ pass_trough: 1 }, "/assumptions/pass_trough unknown"],
    [[], "/assumptions wrong_type"],
    [null, "/assumptions wrong_type"],
    ["0.1", "/assumptions wrong_type"],
  ])("rejects the assumptions %j", (assumptions, expected) => {
    const fault = refusal({ assumptions });
    expect(fault.code).toBe("invalid_request");
    expect(pointersAndCodes(fault)).toEqual([expected]);
  });

  test("accepts assumptions as numbers and strings", () => {
    const { assumptions } = readCompanyRequest({
      ...REQUEST,
      lgd: "0.6",
      assumptions: { discount_rate: "0", shock_year: "2030", pass_through: 1 },
    });
    expect(assumptions).toMatchObject({ discountRate: 0, shockYear: 2030, passThrough: 1, lossGivenDefault: 0.6 });
    expect(readCompanyRequest({ ...REQUEST, assumptions: {} }).assumptions).toEqual(
      readCompanyRequest(REQUEST).assumptions,
    );
  });

  test.each(["revenue", "name", "country", "industry", "transition_scenarios", "assessment_years"])(
    "rejects a request without %s",
    (name) => {
      const fault = refusal({ [name]: undefined });
      expect(fault.code).toBe("invalid_request");
      expect(pointersAndCodes(fault)).toEqual([`/${name} missing`]);
    },
  );
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
    [{ assessment_years: [] }, "/assessment_years empty"],
    [{ assessment_years: 2030 }, "/assessment_years wrong_type"],
    [{ assessment_years: [2024] }, "/assessment_years/0 out_of_range"],
    [{ assessment_years: [2030, 2101] }, "/assessment_years/1 out_of_range"],
    [{ assessment_years: [2030.5] }, "/assessment_years/0 wrong_type"],
    [{ assessment_years: ["2030"] }, "/assessment_years/0 wrong_type"],
    [{ assessment_years: [null] }, "/assessment_years/0 wrong_type"],
  ])("rejects %j", (change, expected) => {
    const fault = refusal(change);
    expect(fault.code).toBe("invalid_request");
    expect(pointersAndCodes(fault)).toContain(expected);
  });

  test("stops after 100 unknown names of a long list", () => {
    const fault = refusal({ transition_scenarios: Array(100_000).fill("Atlantis") });
    expect(fault.items).toHaveLength(100);
    expect(pointersAndCodes(fault).at(-1)).toBe("/transition_scenarios/99 scenario_unknown");
  });

  test("counts a scenario and a year once, however often they are listed", () => {
    const company = readCompanyRequest({
      ...REQUEST,
      transition_scenarios: Array(1000).fill("NGFS_NDC"),
      assessment_years: Array(1000).fill(2030),
    });
    expect([company.scenarios.length, company.years]).toEqual([1, [2030]]);
  });

  test("rejects holes in a list", () => {
    // oxlint-disable-next-line no-sparse-arrays
    expect(pointersAndCodes(refusal({ assessment_years: [2030, , 2040] }))).toEqual(["/assessment_years/1 wrong_type"]);
    // oxlint-disable-next-line no-sparse-arrays
    expect(pointersAndCodes(refusal({ transition_scenarios: [, "NGFS_NDC"] }))).toEqual([
      "/transition_scenarios/0 wrong_type",
    ]);
  });

  test("accepts all 21 scenarios in all 76 years", () => {
    const years = Array.from({ length: 76 }, (_, i) => 2025 + i);
    const company = readCompanyRequest({ ...REQUEST, transition_scenarios: SCENARIO_IDS, assessment_years: years });
    expect([company.scenarios.length, company.years.length]).toEqual([21, 76]);
  });
});

describe("options", () => {
  test.each([
    [{}, "ngfs4", "remind"],
    [{ damage_function: "Howard-Sterner" }, "howard_sterner", "remind"],
    [{ damage_function: "NGFS5_KOTZ", iam: "GCAM" }, "ngfs5_kotz", "gcam"],
    [{ iam: "GCAM 6.0 NGFS" }, "ngfs4", "gcam"],
    [{ iam: "messageix-globiom 2.0-m-r12-ngfs" }, "ngfs4", "messageix"],
  ])("%j: sets damage function %s and model %s", (change, damageFunction, iam) => {
    expect(readCompanyRequest({ ...REQUEST, ...change })).toMatchObject({ assumptions: { damageFunction, iam } });
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
    expect(pointersAndCodes(fault)).toEqual([expected]);
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
    expect(pointersAndCodes(fault)).toEqual(["/iam combination_unavailable"]);
    expect(fault.message).toContain(scenario);
  });

  test("missing prices are reported together with other errors", () => {
    const fault = refusal({ iam: "gcam", transition_scenarios: ["NGFS_NDC", "NGFS_BELOW_2C"], pd: 2, industry: "?" });
    expect(pointersAndCodes(fault).toSorted()).toEqual([
      "/iam combination_unavailable",
      "/industry industry_unknown",
      "/pd out_of_range",
    ]);
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
    expect(pointersAndCodes(fault)).toEqual([" wrong_type"]);
  }
});

test("reports every missing member of an empty object", () => {
  expect(pointersAndCodes(faultOf(() => readCompanyRequest({}))).toSorted()).toEqual(
    ["revenue", "name", "country", "industry", "transition_scenarios", "assessment_years"]
      .map((name) => `/${name} missing`)
      .toSorted(),
  );
});

test("a request for emissions accepts no members that do not affect them", () => {
  const { country, industry, revenue, total_assets } = REQUEST;
  const emitter = { country, industry, revenue, total_assets, scope1: 5 };
  expect(readEmissionsRequest(emitter).reported.scope1).toBe(5);
  const unused = {
    ebitda: 1,
    total_debt: 1,
    pd: 2,
    lgd: "x",
    exposure: 1,
    total_liabilities: 1,
    assumptions: { a: 1 },
  };
  const fault = faultOf(() => readEmissionsRequest({ ...emitter, ...unused }));
  expect(pointersAndCodes(fault).toSorted()).toEqual(
    Object.keys(unused)
      .map((name) => `/${name} unknown`)
      .toSorted(),
  );
});

test("estimates absent assets, EBITDA and debt, in this order", () => {
  const { total_assets: _, ebitda: __, total_debt: ___, ...rest } = REQUEST;
  const company = readCompanyRequest(rest);
  const { assetsToRevenue, ebitdaMargin, debtToAssets } = company.industry.industry;
  expect(company.totalAssetsUsd).toBe(assetsToRevenue * 7.87e9);
  expect(company.ebitdaUsd).toBe(ebitdaMargin * 7.87e9);
  expect(company.totalDebtUsd).toBe(debtToAssets * company.totalAssetsUsd);
  expect(company.estimated).toEqual(["total_assets", "ebitda", "total_debt"]);
  expect(readCompanyRequest({ ...rest, total_assets: 1e9 }).totalDebtUsd).toBe(debtToAssets * 1e9);
  expect(readCompanyRequest(REQUEST).estimated).toEqual([]);
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
