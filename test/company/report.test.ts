import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { estimateEmissions, totalClimateRisk } from "../../src/company/report.ts";
import { SCENARIO_IDS } from "../../src/company/scenarios.ts";
import { isClose } from "./tolerance.ts";
import { BANK, REQUEST, ask, codes, first } from "./requests.ts";
import type { CompanyAnswer } from "../../src/contract/wireTypes.ts";

const NOTICE = readFileSync(new URL("../../NOTICE", import.meta.url), "utf8");

describe("the shape of an answer", () => {
  test("orders results by requested scenario, then year, with one valuation per scenario", () => {
    const answer = ask({ transition_scenarios: ["IPCC_C3", "NGFS_NDC"], assessment_years: [2050, 2030] });
    expect(answer.results.map(({ scenario, year }) => [scenario, year])).toEqual([
      ["IPCC_C3", 2030],
      ["IPCC_C3", 2050],
      ["NGFS_NDC", 2030],
      ["NGFS_NDC", 2050],
    ]);
    expect(answer.results.map(({ family, vintage }) => [family, vintage])).toEqual([
      ["IPCC", "AR6"],
      ["IPCC", "AR6"],
      ["NGFS", "5"],
      ["NGFS", "5"],
    ]);
    expect(answer.valuation.map(({ scenario }) => scenario)).toEqual(["IPCC_C3", "NGFS_NDC"]);
    expect(answer.company).toEqual({
      name: "Ours",
      country: { iso3: "IND", name: "India", tier: "A" },
      industry: { id: "cement_lime", name: "Cement and lime", matched_on: "id" },
    });
    expect(answer.units).toEqual({ money: "USD 2025 real per year", emissions: "t CO2e per year" });
    expect(answer.method_version).toBe("isotherm-company/1");
  });

  test("has all members and survives a JSON round trip", () => {
    const answer = ask({ transition_scenarios: SCENARIO_IDS, assessment_years: [2025, 2061, 2100] });
    expect(Object.keys(answer)).toEqual([
      "company",
      "units",
      "emissions",
      "results",
      "valuation",
      "headline",
      "data_quality",
      "warnings",
      "assumptions",
      "sources",
      "method_version",
    ]);
    expect(Object.keys(first(answer))).toEqual([
      "scenario",
      "family",
      "vintage",
      "year",
      "drivers",
      "transition",
      "physical",
      "interaction",
      "total",
      "credit",
    ]);
    expect(JSON.parse(JSON.stringify(answer))).toStrictEqual(answer);
  });

  test("has the worst result and the mean over all results as headline", () => {
    const { headline, results } = ask({ transition_scenarios: SCENARIO_IDS, assessment_years: [2030, 2050] });
    const scores = results.map(({ total }) => total.score);
    const percents = results.map(({ total }) => total.pct_of_ebitda ?? NaN);
    const worst = results[scores.indexOf(Math.max(...scores))];
    expect(headline.max).toEqual({
      score: Math.max(...scores),
      pct_of_ebitda: Math.max(...percents),
      scenario: worst?.scenario,
      year: worst?.year,
    });
    const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
    expect(headline.mean.score).toBeCloseTo(mean(scores), 10);
    expect(headline.mean.pct_of_ebitda).toBeCloseTo(mean(percents), 10);
  });

  test("has components that add up to the loss, and ratios derived from it", () => {
    for (const base of [REQUEST, BANK]) {
      for (const result of ask({ transition_scenarios: SCENARIO_IDS }, base).results) {
        const { transition, physical, interaction, total, credit } = result;
        const { chronic, acute } = physical;
        const sum =
          transition.loss + transition.credit_loss + chronic.loss + acute.asset_loss + acute.interruption + interaction;
        expect(isClose(total.loss, sum)).toBe(true);
        expect(isClose(total.pct_of_ebitda, (100 * total.loss) / base.ebitda)).toBe(true);
        expect(isClose(total.pct_of_assets, (100 * total.loss) / base.total_assets)).toBe(true);
        const share = total.loss / base.ebitda;
        expect(isClose(total.score, (100 * share) / (share + 0.25))).toBe(true);
        expect(total.low).toBeLessThanOrEqual(total.pct_of_ebitda ?? NaN);
        expect(total.high).toBeGreaterThanOrEqual(total.pct_of_ebitda ?? NaN);
        expect(credit.debt_to_ebitda.before).toBeCloseTo(base.total_debt / base.ebitda, 12);
      }
    }
  });

  test("names the sources of all figures, and only those of emissions for emissions alone", () => {
    const sources = (answer: Pick<CompanyAnswer, "sources">): string =>
      answer.sources.map(({ source }) => source).join("\n");
    const all = sources(ask());
    const emissions = sources(estimateEmissions({ country: "IND", industry: "cement_lime", revenue: 1 }));
    for (const origin of ["EPA", "USEEIO", "OECD ICIO", "EDGAR", "World Bank", "Ember"]) {
      expect(all).toContain(origin);
      expect(emissions).toContain(origin);
    }
    for (const origin of ["NGFS", "IPCC", "GIRI", "FLOPROS", "Burke", "CMIP6", "Kalkuhl"]) {
      expect(all).toContain(origin);
      expect(emissions).not.toContain(origin);
      expect(NOTICE).toContain(origin);
    }
    for (const origin of ["CE Delft", "ILO", "Alfieri", "Knutson", "Hallegatte"]) expect(NOTICE).toContain(origin);
  });

  test("is the same for strings, numbers, codes and names", () => {
    const { company: _, ...expected } = ask({ transition_scenarios: ["IPCC_NET_ZERO"] });
    const { company, ...other } = totalClimateRisk({
      name: "Ours",
      country: "  the Republic of INDIA",
      industry: "NAICS 327310",
      revenue: " 7870000000",
      total_assets: "1.14e10",
      ebitda: "1380000000.0",
      total_debt: "123E7",
      transition_scenarios: ["ipcc net-zero"],
      assessment_years: [2030, 2030],
    });
    expect(other).toStrictEqual(expected);
    expect(company.industry.matched_on).toBe("naics");
  });
});

describe("plausibility", () => {
  test.each([
    [{ ebitda: 8e9 }, "ebitda_above_revenue"],
    [{ total_assets: 400e9 }, "revenue_small"],
    [{ total_assets: 0.39e9 }, "revenue_large"],
    [{ total_debt: 11.5e9 }, "debt_above_assets"],
    [{ scope1: 72_950_408 / 5.1 }, "scope1_far_from_model"],
    [{ scope1: 72_950_408 * 5.1 }, "scope1_far_from_model"],
    [{ scope1: 0 }, "scope1_far_from_model"],
  ])("%j: %s", (change, code) => {
    expect(codes(ask(change))).toContain(code);
  });

  test("an ordinary company has no warnings", () => {
    expect(codes(ask())).toEqual([]);
    expect(codes(ask({ scope1: 72_950_408 * 4.9 }))).toEqual([]);
    expect(codes(ask({ scope1: 72_950_408 / 4.9 }))).toEqual([]);
  });

  test("an industry code without a classification system causes a warning", () => {
    expect(codes(ask({ industry: "327310" }))).toEqual(["industry_code_guessed"]);
    expect(codes(ask({ industry: "NAICS 327310" }))).toEqual([]);
  });
});
