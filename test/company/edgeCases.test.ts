import { describe, expect, test } from "vitest";
import { COUNTRIES } from "../../src/company/countryFigures.ts";
import { estimateEmissions } from "../../src/company/report.ts";
import { isClose } from "./tolerance.ts";
import { REQUEST, ask, codes, first } from "./requests.ts";

describe("the edge cases of the method", () => {
  test.each([0, -1.38e9])(
    "EBITDA of %d: no volume loss, cap or lost earnings; relative to 16%% of revenue",
    (ebitda) => {
      const answer = ask({ ebitda, transition_scenarios: ["NGFS_NET_ZERO_2050"] });
      const { transition, physical, total, credit, interaction } = first(answer);
      const { pass_through } = first(answer).drivers;
      expect(
        isClose(transition.loss, (1 - pass_through) * transition.gross_cost * (1 + transition.volume_change)),
      ).toBe(true);
      expect([transition.capped, transition.uncapped]).toEqual([false, transition.loss]);
      expect(transition.loss).toBeGreaterThan(0.16 * REQUEST.revenue);
      expect([physical.chronic.loss, physical.acute.interruption, interaction]).toEqual([0, 0, 0]);
      expect(isClose(total.pct_of_ebitda, (100 * total.loss) / (0.16 * REQUEST.revenue))).toBe(true);
      expect(total.measured_by).toBe("16_pct_of_revenue");
      expect(credit.debt_to_ebitda).toEqual({ before: null, after: null });
      expect(credit.interest_coverage.before).toBeCloseTo(ebitda / (0.05 * REQUEST.total_debt), 9);
      expect(codes(answer)).toContain("ebitda_not_positive");
      const [valuation] = answer.valuation;
      expect(valuation?.value_at_risk_pct).toBeNull();
      expect(valuation?.npv_of_losses).toBe(REQUEST.total_assets);
      expect(valuation?.npv_uncapped).toBeGreaterThan(REQUEST.total_assets);
      expect([valuation?.asset_value_after, valuation?.pd_5y_after]).toEqual([0, 1]);
    },
  );

  test("without debt there is no default probability and no interest coverage", () => {
    const answer = ask({ total_debt: 0 });
    expect(first(answer).credit).toMatchObject({
      debt_to_ebitda: { before: 0, after: 0 },
      interest_coverage: { before: null, after: null },
    });
    expect(answer.valuation[0]).toMatchObject({ pd_5y_before: 0, pd_5y_after: 0 });
  });

  test("with more debt than assets default is likely before any loss", () => {
    const answer = ask({ total_debt: 20e9 });
    expect(answer.valuation[0]?.pd_5y_before).toBeGreaterThan(0.5);
    expect(codes(answer)).toContain("debt_above_assets");
  });

  test.each(["NGFS_CURRENT_POLICIES", "IPCC_C6", "IPCC_C7", "IPCC_C8", "IPCC_SSP2_45", "IPCC_SSP3_70", "IPCC_SSP5_85"])(
    "%s has no price shock, which a note explains",
    (scenario) => {
      const answer = ask({ transition_scenarios: [scenario], assessment_years: [2025, 2050, 2100] });
      for (const { transition, drivers, total } of answer.results) {
        expect(drivers.price_shock).toBe(0);
        expect([transition.loss, transition.score, transition.credit_loss]).toEqual([0, 0, 0]);
        expect(transition.note).toBe("no shock beyond current policies");
        expect(total.loss).toBeGreaterThan(0);
      }
      expect(codes(answer)).toContain("no_shock");
    },
  );

  test("a region without a price shock whose fuel buyers have one gets no note", () => {
    const oil = { country: "Russia", transition_scenarios: ["NGFS_NDC"] };
    const { drivers, transition } = first(ask({ ...oil, industry: "oil_gas_production" }));
    expect(drivers.price_shock).toBe(0);
    expect(drivers.fuel_price_shock).toBeGreaterThan(0);
    expect(transition.loss).toBeGreaterThan(0);
    expect(transition).not.toHaveProperty("note");
    expect(first(ask({ ...oil, industry: "gas_distribution" })).transition).toMatchObject({
      loss: 0,
      note: "no shock beyond current policies",
    });
  });

  test("a flag is set if the volume loss is limited to 80%", () => {
    const { results } = ask({ transition_scenarios: ["NGFS_NET_ZERO_2050"], assessment_years: [2030, 2050] });
    expect(results.map(({ transition }) => transition.volume_floor)).toEqual([false, true]);
    expect(results[1]?.transition.own_volume_change).toBe(-0.8);
  });

  test("a note says that the whole EBITDA is lost if every sensitivity case is capped", () => {
    const { results } = ask({ transition_scenarios: ["NGFS_NET_ZERO_2050"], assessment_years: [2030, 2050] });
    expect(results.map(({ transition, total }) => [transition.capped, total.note])).toEqual([
      [true, "loss of the whole EBITDA"],
      [true, undefined],
    ]);
    expect(results[0]?.credit.debt_to_ebitda.after).toBeNull();
  });

  test("the base year has losses with short-run pass-through", () => {
    const { drivers, transition } = first(ask({ assessment_years: [2025] }));
    expect([drivers.pass_through, drivers.gsat]).toEqual([0.3, 1.377]);
    expect(transition.loss).toBeGreaterThan(0);
  });

  test.each(["Iran", "Mongolia", "Uzbekistan", "Laos"])("%s: the scope 1 multiplier is limited to 3", (country) => {
    const answer = ask({ country });
    expect(codes(answer)).toContain("carbon_intensity_held");
    expect(answer.emissions.scope1.value).toBeCloseTo((4664.9 * 3 * 7870) / 1.1, 3);
    expect(codes(ask({ country, scope1: 1e7 }))).not.toContain("carbon_intensity_held");
  });

  test("the multiplier is limited for 4 countries in heavy industry, 18 in services and none with exponent 0", () => {
    const tierA = COUNTRIES.filter(({ tier }) => tier === "A").map(({ iso3 }) => iso3);
    const held = (industry: string): number =>
      tierA.filter((country) =>
        estimateEmissions({ country, industry, revenue: 1e6 }).warnings.some(
          ({ code }) => code === "carbon_intensity_held",
        ),
      ).length;
    expect([held("cement_lime"), held("software"), held("airlines")]).toEqual([4, 18, 0]);
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
      const told = ask({ country: iso3 }).warnings.filter(({ code }) => code === "country_fallback");
      expect(told.length).toBe(fallbacks.length);
      for (const [index, fallback] of fallbacks.entries()) expect(told[index]?.detail).toContain(fallback);
    }
  });

  test("a measured grid intensity at the floor is not reported as unknown", () => {
    const told = ask({ country: "Central African Republic" }).warnings.map(({ detail }) => detail);
    const floored = told.find((detail) => detail.includes("grid floored at 20 g/kWh"));
    expect(floored).toContain("Central African Republic");
    expect(floored).not.toMatch(/not known/);
  });

  test("53 countries without river flood losses in the source have a warning", () => {
    const dry = COUNTRIES.filter(({ iso3 }) => codes(ask({ country: iso3 })).includes("river_flood_not_shown"));
    expect(dry).toHaveLength(53);
    expect(dry.map(({ iso3 }) => iso3)).toEqual(expect.arrayContaining(["FIN", "NOR", "ISL"]));
  });
});
