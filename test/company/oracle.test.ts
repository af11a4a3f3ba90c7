import { expect, test } from "vitest";
import { totalClimateRisk } from "../../src/company/report.ts";
import { describeWithReference } from "../alignment/sharedReference.ts";
import {
  emissionsByDefinition,
  ORACLE_COUNTRIES,
  ORACLE_INDUSTRIES,
  ORACLE_SCENARIOS,
  type OracleCompany,
  type OracleYear,
  resultByDefinition,
  valuationByDefinition,
} from "../oracle/company.ts";
import { randomFrom } from "../seededRandom.ts";
import { DEFAULT_TOLERANCE, expectClose } from "./tolerance.ts";
import { randomCompany, requestOf } from "./companies.ts";
import type { CompanyResult } from "../../src/contract/wireTypes.ts";

/** Number of requests, each of one scenario and year. */
const REQUEST_COUNT = Number(process.env["ISOTHERM_COMPANY_REQUESTS"] ?? 1500);
const TIMEOUT_MS = Math.max(120_000, 60 * REQUEST_COUNT);

/** Converts a result to the names of the reference implementation. */
function figuresOf({ drivers, transition, physical, interaction, total, credit }: CompanyResult): OracleYear {
  return {
    price: drivers.price,
    base: drivers.baseline_price,
    dp: drivers.price_shock,
    dpf: drivers.fuel_price_shock,
    cut: drivers.emissions_cut,
    alpha: drivers.abatement_share,
    u1: drivers.unit_cost,
    rho: drivers.pass_through,
    G: transition.gross_cost,
    q: transition.own_volume_change,
    qf: transition.fuel_volume_change,
    vol: transition.volume_change,
    volume_floor: transition.volume_floor,
    transition_raw: transition.uncapped,
    transition: transition.loss,
    capped: transition.capped,
    gsat: drivers.gsat,
    T0: drivers.local_temperature_2020,
    Tt: drivers.local_temperature,
    D: physical.chronic.damage_fraction,
    flood: physical.acute.by_hazard.flood,
    wind: physical.acute.by_hazard.wind,
    surge: physical.acute.by_hazard.surge,
    aal: physical.acute.aal_fraction,
    chronic: physical.chronic.loss,
    chronic_bound: physical.chronic.loss_upper_bound,
    acute: physical.acute.asset_loss,
    bi: physical.acute.interruption,
    ecl: transition.credit_loss,
    interaction,
    total: total.loss,
    x: (total.pct_of_ebitda ?? NaN) / 100,
    score: total.score,
    transition_score: transition.score,
    physical_score: physical.score,
    rating: total.rating,
    lev0: credit.debt_to_ebitda.before,
    lev1: credit.debt_to_ebitda.after,
    cov0: credit.interest_coverage.before,
    cov1: credit.interest_coverage.after,
    low: (total.low ?? NaN) / 100,
    high: (total.high ?? NaN) / 100,
    always_capped: total.note !== undefined,
    percentile_acute: physical.percentile.acute,
    percentile_chronic: physical.percentile.chronic,
  };
}

/** Damages and remaining earnings are differences, so their error is relative to the operands. */
const DIFFERENCES = new Set(["D", "chronic", "chronic_bound", "interaction", "vol", "q", "lev1", "cov1", "ecl"]);
const toleranceOf = (name: string): number =>
  name.startsWith("pd") ? DEFAULT_TOLERANCE : DIFFERENCES.has(name) ? 1e-8 : 1e-9;

describeWithReference("compared with the reference implementation", () => {
  test(
    `${REQUEST_COUNT} random requests, every figure`,
    () => {
      const random = randomFrom(71);
      for (let i = 0; i < REQUEST_COUNT; i++) {
        const scenario = ORACLE_SCENARIOS[i % ORACLE_SCENARIOS.length] ?? "";
        const hasModels = scenario === "NGFS_NET_ZERO_2050" || scenario === "NGFS_BELOW_2C";
        const iam =
          hasModels || scenario.startsWith("IPCC")
            ? random.pick([undefined, "remind", "messageix", "gcam"] as const)
            : undefined;
        const isShort = hasModels && iam !== undefined && iam !== "remind";
        const year = 2025 + random.below(isShort ? 36 : 76);
        const company: OracleCompany = {
          ...randomCompany(random, { industries: ORACLE_INDUSTRIES, countries: ORACLE_COUNTRIES }),
          iam,
          allowGains: random.chance(0.2),
        };
        const where = `request ${i}: ${scenario} ${year} ${JSON.stringify(company)}`;
        const answer = totalClimateRisk(requestOf(company, { scenarios: [scenario], years: [year] }), {
          allowGains: company.allowGains === true,
        });
        const { s1, s2, s3up, s3down, financed } = emissionsByDefinition(company);
        const { emissions } = answer;
        expectClose(
          {
            s1: emissions.scope1.value,
            s2: emissions.scope2.value,
            s3up: emissions.scope3_upstream.value,
            s3down: emissions.scope3_downstream.value,
            financed: emissions.financed?.value ?? null,
          },
          { s1, s2, s3up, s3down, financed },
          where,
        );
        const result = answer.results[0] ?? expect.fail(where);
        const expected = resultByDefinition(company, scenario, year);
        expectClose(figuresOf(result), expected, where, toleranceOf);
        if (i % 5 !== 0) continue;
        const [valuation] = answer.valuation;
        expectClose(
          {
            npv: valuation?.npv_of_losses,
            npv_raw: valuation?.npv_uncapped,
            V1: valuation?.asset_value_after,
            var_pct: valuation?.value_at_risk_pct,
            pd0: valuation?.pd_5y_before,
            pd1: valuation?.pd_5y_after,
          },
          valuationByDefinition(company, scenario),
          where,
          toleranceOf,
        );
      }
    },
    TIMEOUT_MS,
  );
});
