import { describe, expect, test } from "vitest";
import { TIER_A_COUNTRIES } from "../../src/company/countryFigures.ts";
import { INDUSTRIES } from "../../src/company/industryParameters.ts";
import { totalClimateRisk } from "../../src/company/report.ts";
import { SCENARIO_IDS } from "../../src/company/scenarios.ts";
import { randomFrom } from "../seededRandom.ts";
import type { CompanyAnswer, CompanyResult } from "../../src/contract/wireTypes.ts";

const IS_FULL = process.env["ISOTHERM_COMPANY_SWEEP"] === "1";
const YEARS = [2025, 2050, 2100] as const;
const TIMEOUT_MS = IS_FULL ? 1_800_000 : 120_000;

const countriesFor = (index: number): readonly string[] => {
  const all = TIER_A_COUNTRIES.map(({ iso3 }) => iso3);
  if (IS_FULL) return all;
  const random = randomFrom(index);
  return [random.pick(all), random.pick(all), random.pick(all)];
};

/** Checks that all losses are finite and those that cannot be negative are not. */
function isSound({ transition, physical, interaction, total, drivers }: CompanyResult): boolean {
  const { chronic, acute } = physical;
  const nonNegative = [
    drivers.price,
    drivers.baseline_price,
    drivers.price_shock,
    drivers.fuel_price_shock,
    drivers.unit_cost,
    drivers.abatement_share,
    drivers.emissions_cut,
    drivers.pass_through,
    transition.gross_cost,
    transition.loss,
    transition.uncapped,
    transition.credit_loss,
    transition.score,
    physical.score,
    total.score,
    chronic.damage_fraction,
    chronic.loss,
    chronic.loss_upper_bound,
    acute.by_hazard.flood,
    acute.by_hazard.wind,
    acute.by_hazard.surge,
    acute.aal_fraction,
    acute.asset_loss,
    acute.interruption,
    physical.percentile.acute,
    physical.percentile.chronic,
    total.loss,
    total.pct_of_ebitda ?? NaN,
    total.pct_of_assets ?? NaN,
    total.low ?? NaN,
    total.high ?? NaN,
  ];
  const shares = [drivers.abatement_share, drivers.emissions_cut, drivers.pass_through, -transition.volume_change];
  const scores = [
    transition.score,
    physical.score,
    total.score,
    physical.percentile.acute,
    physical.percentile.chronic,
  ];
  return (
    nonNegative.every((figure) => figure >= 0 && figure < Infinity) &&
    shares.every((share) => share >= 0 && share <= 1) &&
    scores.every((score) => score <= 100) &&
    interaction <= 0 &&
    Number.isFinite(interaction) &&
    transition.loss <= transition.uncapped &&
    (total.low ?? NaN) <= (total.pct_of_ebitda ?? NaN) &&
    (total.pct_of_ebitda ?? NaN) <= (total.high ?? NaN)
  );
}

function isSoundValue({ valuation }: CompanyAnswer, totalAssets: number): boolean {
  return valuation.every(
    ({ npv_of_losses, npv_uncapped, value_at_risk_pct, asset_value_after, pd_5y_before, pd_5y_after }) =>
      npv_of_losses >= 0 &&
      npv_of_losses <= Math.min(npv_uncapped, totalAssets) &&
      (value_at_risk_pct ?? NaN) >= 0 &&
      asset_value_after >= 0 &&
      asset_value_after <= totalAssets &&
      (pd_5y_before === null) === (pd_5y_after === null) &&
      (pd_5y_before ?? 0) >= 0 &&
      (pd_5y_after ?? 1) <= 1 &&
      (pd_5y_after ?? 0) >= (pd_5y_before ?? 0),
  );
}

const COMPANY = { name: "Any", revenue: 1, ebitda: 0.16, total_assets: 1.5, total_debt: 0.4 };

describe("every industry in every country, scenario and year", () => {
  test(
    `is finite and not negative where it cannot be (${IS_FULL ? "all" : "three countries per industry"})`,
    () => {
      let count = 0;
      for (const [index, { id: industry }] of INDUSTRIES.entries()) {
        for (const country of countriesFor(index)) {
          const request = {
            ...COMPANY,
            industry,
            country,
            transition_scenarios: SCENARIO_IDS,
            assessment_years: YEARS,
          };
          const answer = totalClimateRisk(request);
          for (const result of answer.results) {
            if (!isSound(result)) expect.fail(`${industry} ${country}: ${JSON.stringify(result)}`);
            count++;
          }
          if (!isSoundValue(answer, COMPANY.total_assets)) {
            expect.fail(`${industry} ${country}: ${JSON.stringify(answer.valuation)}`);
          }
        }
      }
      expect(count).toBe(147 * (IS_FULL ? 180 : 3) * 21 * 3);
    },
    TIMEOUT_MS,
  );
});

describe("the sweep of docs/methods/company.md: 147 industries, 10 countries, 3 scenarios, 2030", () => {
  const SCENARIOS = ["NGFS_NET_ZERO_2050", "NGFS_BELOW_2C", "NGFS_CURRENT_POLICIES"] as const;
  const countries = ["USA", "DEU", "GBR", "JPN", "CHN", "IND", "BRA", "ZAF", "SAU", "NGA"];
  const results = INDUSTRIES.flatMap(({ id: industry }) =>
    countries.flatMap(
      (country) =>
        totalClimateRisk({
          ...COMPANY,
          industry,
          country,
          transition_scenarios: SCENARIOS,
          assessment_years: [2030],
        }).results,
    ),
  );
  const of = (scenario: string): readonly CompanyResult[] => results.filter((result) => result.scenario === scenario);
  const percents = (scenario: string): readonly number[] =>
    of(scenario)
      .map(({ total }) => total.pct_of_ebitda ?? NaN)
      .toSorted((one, other) => one - other);
  const quantile = (sorted: readonly number[], share: number): number =>
    sorted[Math.floor(share * sorted.length)] ?? NaN;

  test("4,410 results, 45 of them capped, 44 under Net Zero 2050", () => {
    expect(results).toHaveLength(4410);
    expect(results.every(isSound)).toBe(true);
    expect(results.filter(({ transition }) => transition.capped)).toHaveLength(45);
    expect(of("NGFS_NET_ZERO_2050").filter(({ transition }) => transition.capped)).toHaveLength(44);
  });

  test("Net Zero 2050: a median of 7%, a tenth below 2% and above 40%; its ratings", () => {
    const sorted = percents("NGFS_NET_ZERO_2050");
    expect(quantile(sorted, 0.5)).toBeCloseTo(7, 0);
    expect(quantile(sorted, 0.1)).toBeCloseTo(2, 0);
    expect(quantile(sorted, 0.9) / 40).toBeCloseTo(1, 1);
    const count = (rating: string): number =>
      of("NGFS_NET_ZERO_2050").filter(({ total }) => total.rating === rating).length;
    expect(["A", "B", "C", "D", "E"].map(count)).toEqual([215, 594, 430, 158, 73]);
  });

  test("Current Policies: a median of 0.9%, at most 4%", () => {
    const sorted = percents("NGFS_CURRENT_POLICIES");
    expect(quantile(sorted, 0.5)).toBeCloseTo(0.9, 1);
    expect(sorted.at(-1)).toBeLessThan(4.5);
    expect(sorted.at(-1)).toBeGreaterThan(3.5);
  });
});
