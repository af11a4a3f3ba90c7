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
      figures: {
        revenue: 7.87e9,
        total_assets: 11.4e9,
        ebitda: 1.38e9,
        total_debt: 1.23e9,
        normalized_ebitda: 1.38e9,
        estimated: [],
      },
    });
    expect(answer.units).toEqual({ money: "USD 2025 real per year", emissions: "t CO2e per year" });
    expect(answer.method_version).toBe("2");
  });

  test("has all members and survives a JSON round trip", () => {
    const answer = ask({ transition_scenarios: SCENARIO_IDS, assessment_years: [2025, 2061, 2100] });
    expect(Object.keys(answer)).toEqual([
      "company",
      "units",
      "assumptions",
      "parameters",
      "emissions",
      "results",
      "valuation",
      "headline",
      "data_quality",
      "warnings",
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

  test("has the worst result by loss ratio and the mean over all results as headline", () => {
    const { headline, results } = ask({ transition_scenarios: SCENARIO_IDS, assessment_years: [2030, 2050] });
    const ratios = results.map(({ total }) => total.loss_ratio);
    const worst = results[ratios.indexOf(Math.max(...ratios))];
    if (worst === undefined) throw new Error("no results");
    const { score, loss_ratio, pct_of_ebitda } = worst.total;
    expect(headline.max).toEqual({ scenario: worst.scenario, year: worst.year, score, loss_ratio, pct_of_ebitda });
    for (const figure of ["score", "loss_ratio", "pct_of_ebitda"] as const) {
      const sum = results.reduce((total, result) => total + result.total[figure], 0);
      expect(isClose(headline.mean[figure], sum / results.length)).toBe(true);
    }
  });

  test("has the first of equal results as the worst", () => {
    const { headline } = ask({ transition_scenarios: ["IPCC_C1", "IPCC_NET_ZERO"] });
    expect(headline.max.scenario).toBe("IPCC_C1");
  });

  test("has components that add up to the loss, and ratios derived from it", () => {
    for (const base of [REQUEST, BANK]) {
      for (const result of ask({ transition_scenarios: SCENARIO_IDS }, base).results) {
        const { transition, physical, interaction, total } = result;
        const { chronic, acute } = physical;
        const others = transition.credit_loss + chronic.loss + acute.asset_loss + acute.interruption;
        expect(isClose(total.loss, transition.loss + others + interaction)).toBe(true);
        expect(isClose(total.loss_ratio, (transition.uncapped + others) / base.ebitda)).toBe(true);
        expect(isClose(total.loss, base.ebitda * (1 - Math.exp(-total.loss_ratio)))).toBe(true);
        expect(isClose(transition.loss, base.ebitda * (1 - Math.exp(-transition.uncapped / base.ebitda)))).toBe(true);
        expect(isClose(total.pct_of_ebitda, (100 * total.loss) / base.ebitda)).toBe(true);
        expect(isClose(total.pct_of_assets, (100 * total.loss) / base.total_assets)).toBe(true);
        expect(isClose(total.score, (100 * total.loss_ratio) / (total.loss_ratio + 0.25))).toBe(true);
        expect(total.low).toBeLessThanOrEqual(total.pct_of_ebitda);
        expect(total.high).toBeGreaterThanOrEqual(total.pct_of_ebitda);
      }
    }
  });

  test("names the sources of all figures, and only those of emissions for emissions alone", () => {
    const sources = (answer: Pick<CompanyAnswer, "sources">): string =>
      answer.sources.map(({ source }) => source).join("\n");
    const all = sources(ask());
    const emissions = sources(estimateEmissions({ country: "IND", industry: "cement_lime", revenue: 1 }));
    for (const origin of ["EPA", "USEEIO", "OECD ICIO", "Carbon Gap", "EDGAR", "World Bank", "Ember"]) {
      expect(all).toContain(origin);
      expect(emissions).toContain(origin);
    }
    for (const origin of [
      "NGFS",
      "IPCC",
      "GIRI",
      "FLOPROS",
      "Burke",
      "CMIP6",
      "Kalkuhl",
      "van der Wijst",
      "Damodaran",
    ]) {
      expect(all).toContain(origin);
      expect(emissions).not.toContain(origin);
      expect(NOTICE).toContain(origin);
    }
    for (const origin of ["CE Delft", "ILO", "Alfieri", "Knutson", "Hallegatte", "Carbon Gap"])
      expect(NOTICE).toContain(origin);
  });

  test("is the same for strings, numbers, codes and names", () => {
    const { company: _, ...expected } = ask({ transition_scenarios: ["IPCC_NET_ZERO"] });
    const { company, ...other } = totalClimateRisk({
      name: "Ours",
      country: "  the Republic of INDIA",
      industry: "NACE 23.51",
      revenue: " 7870000000",
      total_assets: "1.14e10",
      ebitda: "1380000000.0",
      total_debt: "123E7",
      transition_scenarios: ["ipcc net-zero"],
      assessment_years: [2030, 2030],
    });
    expect(other).toStrictEqual(expected);
    expect(company.industry.matched_on).toBe("nace");
  });
});

describe("plausibility", () => {
  test.each([
    [{ ebitda: 8e9 }, "ebitda_above_revenue"],
    [{ total_assets: 400e9 }, "revenue_small"],
    [{ total_assets: 0.39e9 }, "revenue_large"],
    [{ total_debt: 11.5e9 }, "debt_above_assets"],
  ])("%j: has the warning %s", (change, code) => {
    expect(codes(ask(change))).toContain(code);
  });

  test("an ordinary company has no warnings", () => {
    expect(codes(ask())).toEqual([]);
  });
});
