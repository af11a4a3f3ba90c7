import { describe, expect, test } from "vitest";
import type { CompanyRequest } from "../../../src/contract/wireTypes.ts";
import {
  decodeRiskForm,
  encodeRiskForm,
  EXAMPLE_RISK,
  type RiskForm,
  riskCallOf,
} from "../../../src/explorer/company/riskForm.ts";
import {
  discountedParts,
  LOSS_PARTS,
  lossPartsOf,
  shownParts,
  VALUE_YEARS,
  valueWaterfall,
  type WaterfallStep,
  yearWaterfall,
} from "../../../src/explorer/company/waterfall.ts";
import { referenceIndustries, referenceScenarios, totalClimateRisk } from "../../../src/index.ts";

const EXAMPLE = requestOf(EXAMPLE_RISK);
const BANK: CompanyRequest = {
  ...EXAMPLE,
  industry: "Banks, major",
  total_assets: "50000000000",
  total_liabilities: "45000000000",
};
const LOSSES_ABOVE_EBITDA: CompanyRequest = { ...EXAMPLE, country: "India", industry: "Cement and lime" };

describe("the waterfall of a year", () => {
  test.each([
    ["a paper maker", EXAMPLE],
    ["a bank", BANK],
    ["losses above EBITDA", LOSSES_ABOVE_EBITDA],
  ])("leads from EBITDA before to EBITDA after: %s", (_, request) => {
    const answer = totalClimateRisk(request);
    const ebitdaUsd = answer.company.figures.normalized_ebitda;
    expect(answer.results).toHaveLength(9);
    for (const result of answer.results) {
      const steps = yearWaterfall(result, ebitdaUsd, LOSS_PARTS);
      expectConnected(steps);
      expect(steps.at(-1)?.amountUsd).toBe(ebitdaUsd - result.total.loss);
      expectSum(steps);
    }
  });

  test("the overlap by closures increases the figure, and the losses reduce it", () => {
    const [result] = totalClimateRisk(LOSSES_ABOVE_EBITDA).results;
    if (result === undefined) throw new Error("there must be a result");
    const steps = yearWaterfall(result, 1e9, LOSS_PARTS);
    expect(steps.find(({ id }) => id === "closures")?.amountUsd).toBeGreaterThan(1e6);
    expect(steps.find(({ id }) => id === "transition")?.amountUsd).toBe(-result.transition.loss);
  });

  test("defaults of borrowers are shown only if a scenario has some", () => {
    const partsOf = (request: CompanyRequest) => shownParts(totalClimateRisk(request).results.map(lossPartsOf));
    expect(partsOf(EXAMPLE)).not.toContain("credit");
    expect(partsOf(BANK)).toContain("credit");
  });
});

describe("the waterfall of the value", () => {
  test.each([
    ["a paper maker", EXAMPLE],
    ["a bank", BANK],
    ["losses above EBITDA", LOSSES_ABOVE_EBITDA],
    ["another discount rate", { ...EXAMPLE, assumptions: { discount_rate: "0.02" } }],
  ])("has the present values of the parts, which add up to those of the API: %s", (_, request) => {
    const answer = totalClimateRisk({ ...request, assessment_years: VALUE_YEARS });
    expect(answer.valuation).toHaveLength(3);
    for (const valuation of answer.valuation) {
      const results = answer.results.filter(({ scenario }) => scenario === valuation.scenario);
      const parts = discountedParts(results, answer.assumptions.discount_rate);
      const sumUsd = LOSS_PARTS.reduce((sum, part) => sum + parts[part], 0);
      expect(sumUsd / valuation.npv_of_losses).toBeCloseTo(1, 12);
      const steps = valueWaterfall(valuation, parts, LOSS_PARTS);
      expectConnected(steps);
      expectSum(steps);
      expect(steps[0]?.amountUsd).toBe(valuation.value_before);
      expect(1 - (steps.at(-1)?.amountUsd ?? NaN) / valuation.value_before).toBeCloseTo(
        valuation.value_at_risk_pct / 100,
        12,
      );
    }
  });
});

describe("the form of the climate-risk view", () => {
  test("the example names an industry and scenarios of the reference lists, and leaves debt to be estimated", () => {
    expect(referenceIndustries().map(({ name }) => name)).toContain(EXAMPLE_RISK.industry);
    expect(referenceScenarios().map(({ id }) => id)).toEqual(expect.arrayContaining([...EXAMPLE_RISK.scenarios]));
    expect(totalClimateRisk(EXAMPLE).company.figures.estimated).toEqual(["total_debt"]);
  });

  test("amounts are sent as typed, blank ones are absent, and assumptions are grouped", () => {
    expect(
      requestOf({
        ...EXAMPLE_RISK,
        ebitda: " ",
        years: "2030;2040 2050",
        shock_year: "2030",
        lgd: "0.4",
        iam: "gcam",
        scope1: "1,5",
      }),
    ).toEqual({
      name: "Example Paper plc",
      country: "Germany",
      industry: "Pulp and paper",
      revenue: "5000000000",
      total_assets: "5500000000",
      transition_scenarios: EXAMPLE_RISK.scenarios,
      assessment_years: [2030, 2040, 2050],
      scope1: "1,5",
      lgd: "0.4",
      iam: "gcam",
      assumptions: { shock_year: "2030" },
    });
  });

  test("years that are not numbers are reported at the list of years", () => {
    expect(riskCallOf({ ...EXAMPLE_RISK, years: "2030, soon, 20x0" })).toEqual({
      items: [
        {
          pointer: "/assessment_years",
          code: "wrong_type",
          detail: 'assessment_years must be years separated by commas, such as 2030, 2050 (got "soon", "20x0").',
        },
      ],
    });
  });

  test("a form survives the permalink unchanged, and the example has none", () => {
    const form: RiskForm = {
      ...EXAMPLE_RISK,
      name: "Ö=&#",
      ebitda: "",
      scenarios: ["IPCC_C1"],
      damageFunction: "dice2016",
    };
    expect(decodeRiskForm(encodeRiskForm(form) ?? "")).toEqual(form);
    expect(encodeRiskForm({ ...EXAMPLE_RISK })).toBeUndefined();
    expect(decodeRiskForm("{}")).toBeUndefined();
    expect(decodeRiskForm('{"scenarios":[7,"IPCC_C1"],"iam":"best"}')).toMatchObject({
      scenarios: ["IPCC_C1"],
      iam: "",
    });
  });
});

function requestOf(form: RiskForm): CompanyRequest {
  const { request, items } = riskCallOf(form);
  if (request === undefined) throw new Error(`the form must be readable: ${JSON.stringify(items)}`);
  return request;
}

/** Every bar starts where the one before ended. */
function expectConnected(steps: readonly WaterfallStep[]): void {
  for (const [index, step] of steps.slice(1, -1).entries()) {
    expect(step.fromUsd).toBe(steps[index]?.toUsd);
    expect(step.toUsd).toBe(step.fromUsd + step.amountUsd);
  }
}

/** The changes lead from the first to the last figure. */
function expectSum(steps: readonly WaterfallStep[]): void {
  const startUsd = steps[0]?.amountUsd ?? NaN;
  const changesUsd = steps.slice(1, -1).reduce((sum, { amountUsd }) => sum + amountUsd, 0);
  expect((startUsd + changesUsd - (steps.at(-1)?.amountUsd ?? NaN)) / startUsd).toBeCloseTo(0, 12);
}
