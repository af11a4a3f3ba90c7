import { expect, test } from "vitest";
import { TIER_A_COUNTRIES } from "../../src/company/countryFigures.ts";
import { INDUSTRIES } from "../../src/company/industryParameters.ts";
import { totalClimateRisk } from "../../src/company/report.ts";
import { SCENARIO_IDS } from "../../src/company/scenarios.ts";
import type { CompanyAnswer, CompanyResult } from "../../src/contract/wireTypes.ts";
import { randomFrom } from "../seededRandom.ts";

/** All 180 countries of tier A and all years instead of three each: 42 million results, which take about an hour. */
const IS_FULL = process.env["ISOTHERM_COMPANY_SWEEP"] === "1";
const YEARS = IS_FULL ? Array.from({ length: 76 }, (_, i) => 2025 + i) : [2025, 2050, 2100];
const TIMEOUT_MS = IS_FULL ? 7_200_000 : 120_000;
/** Relative tolerance of a difference of large numbers. */
const TOLERANCE = 1e-12;

const countriesFor = (index: number): readonly string[] => {
  const all = TIER_A_COUNTRIES.map(({ iso3 }) => iso3);
  if (IS_FULL) return all;
  const random = randomFrom(index);
  return [random.pick(all), random.pick(all), random.pick(all)];
};

/** Checks that all figures are finite, in their ranges and in order. */
function isResultSound(
  { transition, physical, interaction, total, drivers, credit }: CompanyResult,
  ebitda: number,
): boolean {
  const { chronic, acute } = physical;
  const nonNegative = [
    drivers.price,
    drivers.baseline_price,
    drivers.price_shock,
    drivers.fuel_price_shock,
    drivers.unit_cost,
    drivers.unit_cost_scope2,
    drivers.unit_cost_upstream,
    drivers.product_unit_cost,
    transition.gross_cost,
    transition.loss,
    transition.uncapped,
    transition.credit_loss,
    chronic.damage_fraction,
    chronic.loss,
    acute.by_hazard.flood ?? 0,
    acute.by_hazard.wind ?? 0,
    acute.by_hazard.surge ?? 0,
    acute.aal_fraction,
    acute.asset_loss,
    acute.interruption,
    total.loss,
    total.loss_ratio,
    total.pct_of_assets,
    total.low,
  ];
  const shares = [
    drivers.abatement_share,
    drivers.capital_renewed,
    drivers.pass_through,
    -transition.volume_change,
    credit.pd_5y.before ?? 0,
    credit.pd_5y.after ?? 0,
    credit.pd_1y.before ?? 0,
    credit.pd_1y.after ?? 0,
  ];
  const percents = [
    transition.score,
    physical.score,
    total.score,
    physical.percentile.acute,
    physical.percentile.chronic,
    total.high,
  ];
  return (
    nonNegative.every((figure) => figure >= 0 && figure < Infinity) &&
    shares.every((share) => share >= 0 && share <= 1) &&
    percents.every((percent) => percent >= 0 && percent <= 100) &&
    interaction <= TOLERANCE * total.loss_ratio * ebitda &&
    transition.loss <= transition.uncapped &&
    total.loss < ebitda &&
    total.low <= total.pct_of_ebitda &&
    total.pct_of_ebitda <= total.high
  );
}

/** Checks that the valuation of each scenario is finite, in range and in order. */
function isValuationSound({ valuation, company }: CompanyAnswer): boolean {
  return valuation.every(
    ({ npv_of_losses, npv_uncapped, value_before, value_at_risk_pct, asset_value_after, pd_5y_before, pd_5y_after }) =>
      npv_of_losses >= 0 &&
      npv_of_losses <= npv_uncapped &&
      npv_uncapped < Infinity &&
      value_before >= company.figures.total_assets &&
      value_at_risk_pct >= 0 &&
      value_at_risk_pct < 100 &&
      asset_value_after > 0 &&
      asset_value_after <= company.figures.total_assets &&
      (pd_5y_before === null) === (pd_5y_after === null) &&
      (pd_5y_after ?? 0) >= (pd_5y_before ?? 0),
  );
}

test(
  `figures are finite, in range and ordered for every industry and scenario (${IS_FULL ? "all tier A countries and all years" : "three countries and years"})`,
  () => {
    let count = 0;
    let ratioMax = 0;
    for (const [index, { id: industry }] of INDUSTRIES.entries()) {
      for (const country of countriesFor(index)) {
        const answer = totalClimateRisk({
          name: "Any",
          industry,
          country,
          revenue: 1e9,
          transition_scenarios: SCENARIO_IDS,
          assessment_years: YEARS,
        });
        const ebitda = answer.company.figures.normalized_ebitda;
        for (const result of answer.results) {
          if (!isResultSound(result, ebitda)) expect.fail(`${industry} ${country}: ${JSON.stringify(result)}`);
          ratioMax = Math.max(ratioMax, result.total.loss_ratio);
          count++;
        }
        if (!isValuationSound(answer)) expect.fail(`${industry} ${country}: ${JSON.stringify(answer.valuation)}`);
      }
    }
    expect(count).toBe(147 * (IS_FULL ? 180 * 76 : 9) * 21);
    expect(ratioMax).toBeLessThan(8.22);
  },
  TIMEOUT_MS,
);
