import { describe, expect, test } from "vitest";
import { REQUEST, ask, codes, first } from "./requests.ts";

/** A scenario with the prices of one model only. */
const ONE_MODEL = { transition_scenarios: ["NGFS_NDC"] };

describe("scenarios", () => {
  test.each([
    ["IPCC_C1", ["world_price"]],
    ["IPCC_C2", ["world_price", "substitute_price"]],
    ["IPCC_C4", ["world_price", "substitute_price"]],
    ["IPCC_C5", ["world_price", "substitute_price"]],
    ["IPCC_SSP1_19", ["world_price"]],
    ["NGFS_DELAYED_TRANSITION", []],
    ["IPCC_C8", ["no_shock"]],
  ])("%s: has the warnings %j", (scenario, expected) => {
    expect(codes(ask({ transition_scenarios: [scenario] }))).toEqual(expected);
  });

  test("prices of the requested model are used and named", () => {
    const models = (["remind", "messageix", "gcam"] as const).map((iam) => first(ask({ iam })));
    expect(new Set(models.map(({ drivers }) => drivers.price)).size).toBe(3);
    expect(models.map(({ drivers }) => drivers.price_model)).toEqual(["remind", "messageix", "gcam"]);
    expect(models.map(({ drivers }) => drivers.price_region)).toEqual(["R5ASIA", "R5ASIA", "R5ASIA"]);
    expect(new Set(models.map(({ drivers }) => drivers.baseline_price)).size).toBe(1);
    // The total of each model is within the range reported with every other model.
    for (const one of models) {
      for (const other of models) {
        expect(one.total.pct_of_ebitda).toBeGreaterThanOrEqual(other.total.low);
        expect(one.total.pct_of_ebitda).toBeLessThanOrEqual(other.total.high);
      }
    }
    const ipcc = ask({ iam: "gcam", transition_scenarios: ["IPCC_C3"] });
    expect(codes(ipcc)).toContain("iam_unused");
    expect(ipcc.results).toStrictEqual(ask({ transition_scenarios: ["IPCC_C3"] }).results);
    expect(first(ipcc).drivers).toMatchObject({ price_model: "ar6", price_region: "World" });
  });

  test("prices of NDC above those of orderly scenarios are kept, with a warning per scenario", () => {
    const years = Array.from({ length: 76 }, (_, i) => 2025 + i);
    const ndc = { transition_scenarios: ["NGFS_NDC", "NGFS_NET_ZERO_2050"], assessment_years: years };
    const lastYears = (country: string): unknown =>
      ask({ ...ndc, country })
        .warnings.filter(({ code }) => code === "price_inversion")
        .map(({ scenario, inversions = [] }) => [
          scenario,
          ...inversions.map((inversion) => `${inversion.scenario} ${inversion.years.at(-1)}`),
        ]);
    expect(["USA", "BRA", "NGA", "CHN", "RUS"].map(lastYears)).toEqual([
      [["NGFS_NDC", "NGFS_LOW_DEMAND 2031", "NGFS_BELOW_2C 2060"]],
      [["NGFS_NDC", "NGFS_BELOW_2C 2046"]],
      [["NGFS_NDC", "NGFS_BELOW_2C 2033"]],
      [["NGFS_NDC", "NGFS_BELOW_2C 2030"]],
      [],
    ]);
    const [warning] = ask({ ...ndc, country: "USA", assessment_years: [2030, 2031, 2040] }).warnings;
    expect(warning?.detail).toContain(
      "than under NGFS_LOW_DEMAND in 2030 to 2031, NGFS_BELOW_2C in 2030 to 2031, 2040,",
    );
  });

  test("there is no shock before shock_year, but prices are shown", () => {
    const request = { assumptions: { shock_year: 2040 }, assessment_years: [2039, 2040] };
    const { results, valuation } = ask(request);
    expect(results.map(({ drivers }) => drivers.price_shock > 0)).toEqual([false, true]);
    expect(results[0]?.drivers.price).toBe(ask({ assessment_years: [2039] }).results[0]?.drivers.price);
    expect(results[0]?.transition.note).toBe("no shock beyond current policies before shock_year 2040");
    expect(valuation[0]?.npv_of_losses).toBeLessThan(ask().valuation[0]?.npv_of_losses ?? NaN);
  });

  test("a discount rate of 0 raises the net present value of losses", () => {
    const [undiscounted, discounted] = [ask({ assumptions: { discount_rate: 0 } }), ask()];
    const value = undiscounted.valuation[0];
    expect(value?.npv_of_losses).toBeGreaterThan(discounted.valuation[0]?.npv_of_losses ?? NaN);
    expect(value?.value_before).toBeCloseTo(Math.max(REQUEST.total_assets, REQUEST.ebitda * 0.75 * 25), 3);
    expect(undiscounted.results[0]?.total).toEqual(discounted.results[0]?.total);
  });

  test("a constant pass-through replaces the industry's and removes its contribution to the range", () => {
    const { drivers, total } = first(ask({ assumptions: { pass_through: 1 }, assessment_years: [2050] }));
    expect(drivers.pass_through).toBe(1);
    const withoutPassThrough = first(ask({ assumptions: { pass_through: 0 }, assessment_years: [2050] }));
    expect(withoutPassThrough.total.loss_ratio).toBeGreaterThan(total.loss_ratio);
    expect(withoutPassThrough.transition.own_volume_change).toBe(0);
    // Without other prices (one model) and modeled scope 1, only pass-through and damages contribute to the range.
    const request = { assessment_years: [2050], scope1: 1e7, damage_function: "howard_sterner", ...ONE_MODEL };
    const { drivers: industryDrivers, total: totalWithIndustryPassThrough } = first(ask(request));
    const constant = first(ask({ ...request, assumptions: { pass_through: industryDrivers.pass_through } })).total;
    expect(constant.loss_ratio).toBe(totalWithIndustryPassThrough.loss_ratio);
    expect(constant.low).toBeGreaterThan(totalWithIndustryPassThrough.low);
    expect(constant.high).toBeLessThan(totalWithIndustryPassThrough.high);
  });
});
