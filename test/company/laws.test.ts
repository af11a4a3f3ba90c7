import { describe, expect, test } from "vitest";
import { TIER_A_COUNTRIES } from "../../src/company/countryFigures.ts";
import { INDUSTRIES } from "../../src/company/industryParameters.ts";
import { damageFractionOf, acuteLossFraction } from "../../src/company/physical.ts";
import { totalClimateRisk } from "../../src/company/report.ts";
import { SCENARIO_IDS } from "../../src/company/scenarios.ts";
import { scoreOf } from "../../src/company/loss.ts";
import { grossCostUsd, productUnitCostOf, transitionLossUsd, unitCostOf } from "../../src/company/transition.ts";
import type { CompanyAnswer, CompanyRequest, CompanyResult } from "../../src/contract/wireTypes.ts";
import { randomFrom, type SeededRandom } from "../seededRandom.ts";
import { isClose } from "./tolerance.ts";

/** Cases per law; docs/methods/company.md states the numbers of a full run. */
const COUNT = Number(process.env["ISOTHERM_COMPANY_LAWS"] ?? 400);
const TIMEOUT_MS = Math.max(120_000, 10 * COUNT);
/** Tolerance for figures that are rounded on both sides of a comparison. */
const ROUNDING = 1e-12;

const COUNTRY_IDS = TIER_A_COUNTRIES.map(({ iso3 }) => iso3);
const DAMAGE_FUNCTIONS = ["ngfs4", "kalkuhl_wenz", "howard_sterner", "dice2016", "ngfs5_kotz"] as const;

/** A company of any size and margin, in one scenario and year. */
function randomCompany(random: SeededRandom): CompanyRequest & { readonly revenue: number; readonly ebitda: number } {
  const industry = random.pick(INDUSTRIES);
  const revenue = 10 ** random.between({ min: 3, max: 12 });
  const assets = industry.assetsToRevenue * revenue * random.between({ min: 0.4, max: 2 });
  return {
    name: "Any",
    country: random.pick(COUNTRY_IDS),
    industry: industry.id,
    revenue,
    total_assets: assets,
    ebitda: revenue * random.between({ min: -0.5, max: 0.6 }),
    total_debt: assets * random.between({ min: 0, max: 1.3 }),
    transition_scenarios: [random.pick(SCENARIO_IDS)],
    assessment_years: [2025 + random.below(76)],
  };
}

const first = ({ results }: CompanyAnswer): CompanyResult => results[0] ?? expect.fail("no result");
const firstOf = (request: CompanyRequest): CompanyResult => first(totalClimateRisk(request));

describe(`laws, over ${COUNT} random cases each`, () => {
  test.each(["scope1", "scope2", "scope3_upstream", "scope3_downstream"] as const)(
    "more reported %s, up to 10,000 times, never lowers loss ratio or loss",
    (scope) => {
      const random = randomFrom(11);
      for (let i = 0; i < COUNT / 4; i++) {
        const company = randomCompany(random);
        const tonnes = company.revenue * 10 ** random.between({ min: -9, max: -5 });
        const more = Math.min(6e10, tonnes * 10 ** random.between({ min: 0, max: 4 }));
        const [low, high] = [tonnes, more].map((value) => firstOf({ ...company, [scope]: value }).total);
        if (low === undefined || high === undefined) throw new Error("no results");
        const isLower = high.loss_ratio < low.loss_ratio * (1 - ROUNDING) || high.loss < low.loss * (1 - ROUNDING);
        if (isLower) expect.fail(`${scope} ${tonnes} to ${more}: ${JSON.stringify(company)}`);
      }
    },
    TIMEOUT_MS,
  );

  test("a higher price shock, up to 5 times, never lowers cost and transition loss", () => {
    const random = randomFrom(12);
    for (let i = 0; i < COUNT; i++) {
      const industry = random.pick(INDUSTRIES);
      const revenueUsd = 1e9;
      const ebitdaUsd = industry.ebitdaMargin * revenueUsd * random.between({ min: 0.5, max: 3 });
      const emissions = {
        scope1: random.between({ min: 0, max: 1e7 }),
        scope2: random.between({ min: 0, max: 1e6 }),
        scope3Upstream: random.between({ min: 0, max: 1e6 }),
        scope3Downstream: random.between({ min: 0, max: 1e7 }),
      };
      const year = 2025 + random.below(76);
      const passThrough = random.next();
      const costsAt = (shock: number) => ({
        grossUsd: grossCostUsd(industry, emissions, shock, year),
        useUsd: productUnitCostOf(industry, shock, year) * emissions.scope3Downstream,
      });
      const lossAt = (shock: number): number =>
        transitionLossUsd({ industry, revenueUsd, ebitdaUsd }, costsAt(shock), passThrough);
      const shock = random.between({ min: 0, max: 1000 });
      const higher = shock * random.between({ min: 1, max: 5 });
      expect(costsAt(higher).grossUsd).toBeGreaterThanOrEqual(costsAt(shock).grossUsd * (1 - ROUNDING));
      expect(lossAt(higher)).toBeGreaterThanOrEqual(lossAt(shock) * (1 - ROUNDING));
    }
  });

  test("the cost per tonne is between 0 and the price shock", () => {
    const random = randomFrom(13);
    for (let i = 0; i < COUNT; i++) {
      const shock = random.between({ min: 0, max: 2000 });
      const { abatement } = random.pick(INDUSTRIES);
      const cost = unitCostOf(shock, abatement, 2025 + random.below(76));
      expect(cost).toBeGreaterThanOrEqual(0);
      expect(cost).toBeLessThanOrEqual(shock);
    }
  });

  test("more warming, up to 2 degrees, never lowers damages and average losses", () => {
    const random = randomFrom(14);
    for (let i = 0; i < COUNT; i++) {
      const country = random.pick(TIER_A_COUNTRIES);
      const damageFunction = random.pick(DAMAGE_FUNCTIONS);
      const startC = 1.227;
      const endC = random.between({ min: startC, max: 4.5 });
      const hotterC = endC + random.between({ min: 0, max: 2 });
      const [mild, hot] = [endC, hotterC].map((c) => damageFractionOf(damageFunction, country, { startC, endC: c }));
      expect(hot).toBeGreaterThanOrEqual(mild ?? NaN);
      expect(acuteLossFraction(country, hotterC)).toBeGreaterThanOrEqual(acuteLossFraction(country, endC));
    }
  });

  test(
    "multiplying all money by k multiplies losses by k and keeps ratios, scores and default probabilities",
    () => {
      const random = randomFrom(15);
      for (let i = 0; i < COUNT / 4; i++) {
        const company = randomCompany(random);
        const k = 10 ** random.between({ min: -2, max: 2 });
        const scaled = {
          ...company,
          revenue: k * company.revenue,
          total_assets: k * Number(company.total_assets),
          ebitda: k * company.ebitda,
          total_debt: k * Number(company.total_debt),
        };
        const [one, other] = [totalClimateRisk(company), totalClimateRisk(scaled)];
        const where = `${k}: ${JSON.stringify(company)}`;
        const [before, after] = [first(one), first(other)];
        if (!isClose(after.total.loss, k * before.total.loss)) expect.fail(where);
        if (!isClose(after.total.loss_ratio, before.total.loss_ratio)) expect.fail(where);
        if (!isClose(after.total.low, before.total.low) || !isClose(after.total.high, before.total.high))
          expect.fail(where);
        if (!isClose(other.valuation[0]?.npv_of_losses, k * (one.valuation[0]?.npv_of_losses ?? NaN)))
          expect.fail(where);
        if (!isClose(other.valuation[0]?.pd_5y_after, one.valuation[0]?.pd_5y_after, 1e-3)) expect.fail(where);
      }
    },
    TIMEOUT_MS,
  );

  test("a result does not depend on the other scenarios and years of the request", () => {
    const random = randomFrom(16);
    for (let i = 0; i < COUNT / 20; i++) {
      const company = randomCompany(random);
      const scenarios = [random.pick(SCENARIO_IDS), random.pick(SCENARIO_IDS)];
      const together = totalClimateRisk({
        ...company,
        transition_scenarios: scenarios,
        assessment_years: [2030, 2077],
      });
      for (const result of together.results) {
        const alone = { transition_scenarios: [result.scenario], assessment_years: [result.year] };
        expect(firstOf({ ...company, ...alone })).toStrictEqual(result);
      }
    }
  });

  test("sending the defaults gives the same answer as omitting them", () => {
    const random = randomFrom(17);
    for (let i = 0; i < COUNT / 20; i++) {
      const company = randomCompany(random);
      const defaults = {
        iam: "remind",
        damage_function: "ngfs4",
        lgd: 0.45,
        assumptions: { discount_rate: 0.08, shock_year: 2025 },
      };
      expect(totalClimateRisk({ ...company, ...defaults })).toStrictEqual(totalClimateRisk(company));
    }
  });
});

/** Companies of the sweep over EBITDA. */
const SWEEP_COUNT = Number(process.env["ISOTHERM_COMPANY_EBITDA_SWEEP"] ?? 5);

test(
  `${SWEEP_COUNT} companies: no step above 2 points of score or of default probability from -20 to +20% EBITDA margin`,
  () => {
    const random = randomFrom(18);
    let [scoreStepMax, probabilityStepMax] = [0, 0];
    for (let i = 0; i < SWEEP_COUNT; i++) {
      const { ebitda: _, ...company } = randomCompany(random);
      const request = { ...company, assessment_years: [2030, 2050] };
      let before: CompanyAnswer | undefined;
      for (let tenths = -200; tenths <= 200; tenths++) {
        const answer = totalClimateRisk({ ...request, ebitda: (tenths / 1000) * company.revenue });
        for (const [k, { total, transition, physical, credit }] of answer.results.entries()) {
          const last = before?.results[k];
          if (last === undefined) continue;
          const scoreSteps = [
            total.score - last.total.score,
            transition.score - last.transition.score,
            physical.score - last.physical.score,
          ];
          scoreStepMax = Math.max(scoreStepMax, ...scoreSteps.map(Math.abs));
          const step = 100 * Math.abs((credit.pd_5y.after ?? 0) - (last.credit.pd_5y.after ?? 0));
          probabilityStepMax = Math.max(probabilityStepMax, step);
        }
        const [value, lastValue] = [answer.valuation[0], before?.valuation[0]];
        if (lastValue !== undefined) {
          const step = 100 * Math.abs((value?.pd_5y_after ?? 0) - (lastValue.pd_5y_after ?? 0));
          probabilityStepMax = Math.max(probabilityStepMax, step);
        }
        before = answer;
      }
    }
    if (SWEEP_COUNT > 5) console.log(`largest steps: score ${scoreStepMax}, probability ${probabilityStepMax} points`);
    expect(scoreStepMax).toBeLessThan(2);
    expect(probabilityStepMax).toBeLessThan(2);
    expect(scoreStepMax).toBeGreaterThan(0.1);
  },
  TIMEOUT_MS + 2000 * SWEEP_COUNT,
);

const IS_EVERY_PAIR = process.env["ISOTHERM_COMPANY_PAIRS"] === "1";

test(
  `under NDC losses of 2030 are at most those under Net Zero 2050 (${IS_EVERY_PAIR ? "all pairs" : "4 countries per industry"})`,
  () => {
    const random = randomFrom(19);
    let count = 0;
    for (const { id: industry } of INDUSTRIES) {
      const countries = IS_EVERY_PAIR ? COUNTRY_IDS : Array.from({ length: 4 }, () => random.pick(COUNTRY_IDS));
      for (const country of countries) {
        const scenarios = ["NGFS_NDC", "NGFS_NET_ZERO_2050"];
        const request = { name: "Any", industry, country, revenue: 1e9, assessment_years: [2030] };
        const { results } = totalClimateRisk({ ...request, transition_scenarios: scenarios });
        const [ndc, netZero] = results.map(({ total }) => total.loss_ratio);
        if (!(ndc !== undefined && netZero !== undefined && ndc <= netZero)) {
          expect.fail(`${industry} ${country}: ${ndc} above ${netZero}`);
        }
        count++;
      }
    }
    expect(count).toBe(147 * (IS_EVERY_PAIR ? 180 : 4));
  },
  TIMEOUT_MS,
);

test("the score rises strictly with the loss ratio, also far above EBITDA", () => {
  const scores = [0, 1e-9, 0.1, 1, 5, 50, 1e4, 1e9].map(scoreOf);
  for (const [i, score] of scores.entries()) if (i > 0) expect(score).toBeGreaterThan(scores[i - 1] ?? NaN);
});
