import { describe, expect, test } from "vitest";
import { COUNTRIES } from "../../src/company/countryFigures.ts";
import { estimateEmissions } from "../../src/company/report.ts";
import type { CompanyRequest } from "../../src/contract/wireTypes.ts";
import { REQUEST, ask, codes, first } from "./requests.ts";
import { isClose } from "./tolerance.ts";

describe("the edge cases of the method", () => {
  test.each([-1.38e9, 0, 1, 1e8])("EBITDA of %d is measured by half of the normal margin", (ebitda) => {
    const scenarios = { transition_scenarios: ["NGFS_NET_ZERO_2050"] };
    const margin = ask().parameters.industry.ebitda_margin;
    const floor = 0.5 * margin * REQUEST.revenue;
    const answer = ask({ ...scenarios, ebitda: Math.min(ebitda, 0.9 * floor) });
    const { total, credit } = first(answer);
    expect(answer.company.figures.normalized_ebitda).toBe(floor);
    expect(total.measured_by).toBe("normal_ebitda");
    expect(codes(answer)).toContain("ebitda_below_normal");
    const warning = answer.warnings.find(({ code }) => code === "ebitda_below_normal");
    expect(warning?.detail).toContain(String(Number(floor.toPrecision(6))));
    // The same losses as at the floor itself, where EBITDA is not below normal.
    const atFloor = ask({ ...scenarios, ebitda: floor });
    expect(first(atFloor).total).toEqual({ ...total, measured_by: "ebitda" });
    expect(codes(atFloor)).not.toContain("ebitda_below_normal");
    expect(answer.valuation).toEqual(atFloor.valuation);
    expect(credit.debt_to_ebitda.before === null).toBe(ebitda <= 0);
  });

  test("coverage and leverage use EBITDA as sent", () => {
    const { credit, total } = first(ask({ ebitda: -1e8 }));
    expect(credit.debt_to_ebitda).toEqual({ before: null, after: null });
    expect(isClose(credit.interest_coverage.before, -1e8 / (0.05 * REQUEST.total_debt))).toBe(true);
    expect(isClose(credit.interest_coverage.after, (-1e8 - total.loss) / (0.05 * REQUEST.total_debt))).toBe(true);
  });

  test("revenue that is tiny compared with assets is computed with a warning", () => {
    const answer = ask({ revenue: 1e6 });
    expect(codes(answer)).toContain("revenue_small");
    expect(first(answer).total.loss_ratio).toBeGreaterThan(0);
  });

  test("with more debt than assets, default is likely before any loss", () => {
    const answer = ask({ total_debt: 20e9 });
    expect(answer.valuation[0]?.pd_5y_before).toBeGreaterThan(0.5);
    expect(codes(answer)).toContain("debt_above_assets");
  });

  test("without debt there is no default probability and no interest coverage", () => {
    const answer = ask({ total_debt: 0 });
    expect(first(answer).credit).toMatchObject({
      debt_to_ebitda: { before: 0, after: 0 },
      interest_coverage: { before: null, after: null },
      pd_5y: { before: 0, after: 0 },
      pd_1y: { before: 0, after: 0, basis: "model" },
      expected_loss_bp: { before: 0, after: 0 },
    });
    expect(answer.valuation[0]).toMatchObject({ pd_5y_before: 0, pd_5y_after: 0 });
  });

  test.each(["NGFS_CURRENT_POLICIES", "IPCC_C6", "IPCC_C7", "IPCC_C8", "IPCC_SSP2_45", "IPCC_SSP3_70", "IPCC_SSP5_85"])(
    "%s has no price shock, which a note explains",
    (scenario) => {
      const answer = ask({ transition_scenarios: [scenario], assessment_years: [2025, 2050, 2100] });
      for (const { transition, drivers, total } of answer.results) {
        expect(drivers.price_shock).toBe(0);
        const figures = [transition.loss, transition.uncapped, transition.gross_cost, transition.volume_change];
        for (const figure of [...figures, transition.score, transition.credit_loss]) expect(figure).toBe(0);
        expect(transition.note).toBe("no shock beyond current policies");
        expect(total.loss).toBeGreaterThan(0);
      }
      expect(codes(answer)).toContain("no_shock");
    },
  );

  test("a later shock_year is named in the note only where it is the reason", () => {
    const noteOf = (scenario: string, change: Partial<CompanyRequest> = {}): string | undefined => {
      const assumptions = { shock_year: 2035 };
      return first(ask({ transition_scenarios: [scenario], assumptions, ...change })).transition.note;
    };
    expect(noteOf("NGFS_NET_ZERO_2050")).toBe("no shock beyond current policies before shock_year 2035");
    expect(noteOf("NGFS_CURRENT_POLICIES")).toBe("no shock beyond current policies");
    expect(noteOf("NGFS_NET_ZERO_2050", { assessment_years: [2035] })).toBeUndefined();
    const exporter = { country: "Russia", industry: "oil_gas_production" };
    expect(noteOf("NGFS_NDC", exporter)).toBe("no shock beyond current policies before shock_year 2035");
    expect(noteOf("NGFS_NDC", { ...exporter, industry: "gas_distribution" })).toBe("no shock beyond current policies");
  });

  test("a region without a price shock whose fuel buyers have one loses sales and gets no note", () => {
    const oil = { country: "Russia", transition_scenarios: ["NGFS_NDC"] };
    const { drivers, transition } = first(ask({ ...oil, industry: "oil_gas_production" }));
    expect(drivers.price_shock).toBe(0);
    expect(drivers.fuel_price_shock).toBeGreaterThan(0);
    expect(transition.product_volume_change).toBeLessThan(0);
    expect(transition.loss).toBeGreaterThan(0);
    expect(transition).not.toHaveProperty("note");
    expect(first(ask({ ...oil, industry: "gas_distribution" })).transition).toMatchObject({
      loss: 0,
      note: "no shock beyond current policies",
    });
  });

  test("with losses far above EBITDA, the loss approaches EBITDA while loss ratio and score keep rising", () => {
    const results = [1e9, 6e9, 6e10].map((scope1) => first(ask({ scope1, transition_scenarios: ["IPCC_C1"] })));
    const [low, middle, high] = results.map(({ total }) => total);
    if (low === undefined || middle === undefined || high === undefined) throw new Error("no results");
    expect(high.loss).toBeLessThan(REQUEST.ebitda);
    expect(high.loss / REQUEST.ebitda).toBeCloseTo(1, 10);
    expect(middle.loss_ratio).toBeGreaterThan(low.loss_ratio);
    expect(high.loss_ratio).toBeGreaterThan(middle.loss_ratio);
    expect(high.score).toBeGreaterThan(middle.score);
    expect(results.every(({ transition }) => transition.capped)).toBe(true);
  });

  test("the base year has losses at short-run pass-through, and nothing is abated", () => {
    const answer = ask({ assessment_years: [2025], transition_scenarios: ["NGFS_NET_ZERO_2050"] });
    const { drivers, transition } = first(answer);
    expect(drivers.pass_through).toBe(answer.parameters.industry.pass_through);
    expect([drivers.capital_renewed, drivers.abatement_share]).toEqual([0, 0]);
    expect(drivers.gsat).toBeCloseTo(1.4, 1);
    expect(transition.loss).toBeGreaterThan(0);
  });

  test.each(["Iran", "Mongolia", "Uzbekistan", "Laos"])("%s: the scope 1 multiplier is limited to 3", (country) => {
    const answer = ask({ country });
    expect(codes(answer)).toContain("carbon_intensity_held");
    const { s1_t_per_musd } = answer.parameters.industry;
    expect(answer.emissions.scope1.value).toBeCloseTo((s1_t_per_musd * 3 * 7870) / 1.1, 3);
  });

  test("the multiplier is never limited in industries that do not follow the economy", () => {
    const codesOf = (industry: string): string[] =>
      estimateEmissions({ country: "Iran", industry, revenue: 1e6 }).warnings.map(({ code }) => code);
    expect(codesOf("software")).toContain("carbon_intensity_held");
    expect(codesOf("airlines")).not.toContain("carbon_intensity_held");
  });

  test.each([
    ["Taiwan", "B"],
    ["North Korea", "B"],
    ["France", "A"],
  ])("%s is of tier %s", (country, tier) => {
    const answer = ask({ country });
    expect(answer.company.country.tier).toBe(tier);
    expect(codes(answer).includes("country_fallback")).toBe(tier === "B");
  });

  test("every estimated figure of a country has a warning", () => {
    for (const { iso3, fallbacks } of COUNTRIES.filter(({ tier }) => tier === "B")) {
      const warnings = ask({ country: iso3 }).warnings.filter(({ code }) => code === "country_fallback");
      expect(warnings.length).toBe(fallbacks.length);
      for (const [index, fallback] of fallbacks.entries()) expect(warnings[index]?.detail).toContain(fallback);
      for (const { detail } of warnings) expect(detail).not.toMatch(/_|: .*:|subregion median/);
    }
  });

  test("a country without river floods in the source gets a warning", () => {
    for (const country of ["Finland", "Norway"]) expect(codes(ask({ country }))).toContain("river_flood_not_shown");
    expect(codes(ask())).not.toContain("river_flood_not_shown");
  });

  test("ratios that no number can represent are null, as with tiny debt and EBITDA", () => {
    const { credit } = first(ask({ total_debt: 1e-320, ebitda: "1e-300" }));
    expect(credit.interest_coverage.before).not.toBe(Infinity);
    expect(first(ask({ total_debt: 1e15, ebitda: "1e-300" })).credit.debt_to_ebitda.before).toBeNull();
    expect(first(ask({ total_debt: 1e-320 })).credit.interest_coverage.before).toBeNull();
  });
});

describe("extreme amounts", () => {
  test.each([
    { revenue: 1e-6, total_assets: 1e-6, ebitda: 1e15, total_debt: 1e15, scope1: 6e10 },
    { revenue: 1e-6, total_assets: 1e15, ebitda: -1e15, total_debt: 0, scope3: 6e10 },
    { revenue: 1e15, total_assets: 1e-6, ebitda: 0, total_debt: 1e15, scope3_downstream: 6e10 },
  ])("%j give finite figures only", (amounts) => {
    const answer = ask({ ...amounts, pd: 1e-300, exposure: 1e15, transition_scenarios: ["IPCC_C1", "NGFS_NDC"] });
    const numbers: number[] = [];
    JSON.stringify(answer, (_, value: unknown) => {
      if (typeof value === "number") numbers.push(value);
      return value;
    });
    expect(numbers.length).toBeGreaterThan(100);
    expect(numbers.every(Number.isFinite)).toBe(true);
  });
});
