/** Computes results again from a response and the constants of docs/methods/company.md alone. */
import { expect, test } from "vitest";
import { COUNTRIES } from "../../src/company/countryFigures.ts";
import { INDUSTRIES } from "../../src/company/industryParameters.ts";
import { totalClimateRisk } from "../../src/company/report.ts";
import { SCENARIO_IDS } from "../../src/company/scenarios.ts";
import type { CompanyAnswer, CompanyResult } from "../../src/contract/wireTypes.ts";
import { randomFrom } from "../seededRandom.ts";
import { isClose } from "./tolerance.ts";

const REQUEST_COUNT = 300;

const clamp = (value: number, min: number, max: number): number => Math.max(min, Math.min(max, value));

/** Modeled emissions by scope, t CO2e per year. */
function emissionsOf({ parameters, company }: CompanyAnswer) {
  const { industry, country } = parameters;
  const revenue = company.figures.revenue / 1e6 / 1.1;
  const priceLevel = clamp(country.price_level_rel_us ** -0.5, 0.8, 2.2);
  const scaling = {
    economy: clamp(country.ci_ratio_us ** industry.theta_s1, 0.4, 3),
    grid: country.grid_ratio_us * priceLevel,
    price_level: priceLevel,
    none: 1,
  }[industry.s1_scaling];
  return {
    scope1: industry.s1_t_per_musd * scaling * revenue,
    scope2: industry.s2_t_per_musd * Math.max(0.3, country.grid_ratio_us) * priceLevel * revenue,
    upstream: industry.s3up_t_per_musd * clamp(country.ci_ratio_us ** 0.4, 0.6, 2) * revenue,
    downstream: industry.s3down_t_per_musd * revenue,
  };
}

function unitCost(shock: number, year: number, [backstop, years, most]: readonly [number, number, number]): number {
  const abated = most * clamp((year - 2025) / years, 0, 1) * Math.min(1, shock / backstop);
  return shock * (1 - abated) + 0.5 * abated * Math.min(shock, backstop);
}

/** The loss ratio of a company that is not a bank. */
function lossRatioOf(answer: CompanyAnswer, { drivers, year }: CompanyResult): number {
  const { industry, country } = answer.parameters;
  const { revenue, total_assets, normalized_ebitda: ebitda } = answer.company.figures;
  const { scope1, scope2, upstream, downstream } = emissionsOf(answer);
  const { price_shock: shock, fuel_price_shock: buyersShock } = drivers;
  const own = [industry.abatement_backstop_usd_t, industry.abatement_years, industry.abatement_max_share] as const;
  const cost =
    scope1 * unitCost(shock, year, own) +
    0.85 * scope2 * unitCost(shock, year, [100, 20, 0.95]) +
    0.5 * upstream * unitCost(shock, year, [200, 25, 0.9]);
  const use = {
    fuel_world: buyersShock,
    fuel: buyersShock,
    durable: 0.5 * unitCost(buyersShock, year, [150, 20, 0.9]),
    none: 0,
  }[industry.product_channel];
  const rise = industry.pass_through_long - industry.pass_through;
  const passThrough = clamp(industry.pass_through + rise * clamp((year - 2025) / 15, 0, 1), 0, 1);
  const kept = Math.exp((-industry.demand_elasticity * (passThrough * cost + use * downstream)) / revenue);
  const transition = ebitda * (1 - kept) + (1 - passThrough) * cost;

  const { local_temperature: end, local_temperature_2020: start, gsat } = drivers;
  const damage = 3.35 * Math.max(0, -(0.00986 * (end - start) - 0.000904 * (end * end - start * start)));
  const labor = Math.max(0, industry.va_share * revenue - ebitda);
  const chronic = damage * industry.heat_sensitivity * (ebitda + 0.25 * labor);

  const growth = Math.max(0, gsat - 1.23);
  const average =
    (country.aal_flood ?? 0) * (1 + 0.65 * growth) +
    (country.aal_wind ?? 0) * (1 + 0.16 * growth) +
    (country.aal_surge ?? 0) * (1 + 0.2 * growth);
  const acute = total_assets * industry.tangible_share * average + ebitda * average;
  return (transition + chronic + acute) / ebitda;
}

test(`${REQUEST_COUNT} answers can be computed again from their parameters, drivers and figures`, () => {
  const random = randomFrom(41);
  const industries = INDUSTRIES.filter(({ isBank }) => !isBank);
  for (let i = 0; i < REQUEST_COUNT; i++) {
    const revenue = 10 ** random.between({ min: 3, max: 12 });
    const answer = totalClimateRisk({
      name: "Any",
      country: random.pick(COUNTRIES).iso3,
      industry: random.pick(industries).id,
      revenue,
      ebitda: revenue * random.between({ min: -0.2, max: 0.4 }),
      transition_scenarios: [random.pick(SCENARIO_IDS), random.pick(SCENARIO_IDS)],
      assessment_years: [2025, 2025 + random.below(76)],
    });
    const { ebitda, estimated, normalized_ebitda } = answer.company.figures;
    const { industry } = answer.parameters;
    expect(normalized_ebitda).toBe(Math.max(ebitda, 0.5 * industry.ebitda_margin * revenue));
    expect(estimated).toEqual(["total_assets", "total_debt"]);
    for (const result of answer.results) {
      const ratio = lossRatioOf(answer, result);
      const { loss_ratio, score, loss, pct_of_ebitda } = result.total;
      // The change of volume is computed as 1 minus an exponential here, which loses digits for small losses.
      expect(isClose(ratio, loss_ratio, 1e-3), `${answer.company.industry.id} ${result.year}`).toBe(true);
      expect(isClose(score, (100 * loss_ratio) / (loss_ratio + 0.25))).toBe(true);
      expect(isClose(loss, normalized_ebitda * -Math.expm1(-loss_ratio))).toBe(true);
      expect(isClose(pct_of_ebitda, (100 * loss) / normalized_ebitda)).toBe(true);
    }
  }
});
