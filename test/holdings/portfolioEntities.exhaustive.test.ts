/**
 * Portfolios whose holdings come as entities, with labels, missing years and all options, against the reference
 * implementation of the method. ISOTHERM_ENTITY_PORTFOLIOS sets the number of portfolios.
 */
import { expect, it } from "vitest";
import type { Entity, Holding, PortfolioAnswer, PortfolioOptions } from "../../src/contract/wireTypes.ts";
import { alignPortfolio } from "../../src/holdings/alignPortfolio.ts";
import type { EntityRequest } from "../oracle/alignment2/request.ts";
import { randomEntity } from "../oracle/alignment2/randomEntities.ts";
import { describeWithSharedMethod, sharedReference } from "../oracle/alignment2/sharedMethod.ts";
import { entityPortfolio } from "../oracle/portfolio/portfolio.ts";
import { randomFrom, type SeededRandom } from "../seededRandom.ts";
import { expectPortfolio, referenceOptions } from "./referencePortfolios.ts";
import { PORTFOLIO_KINDS, randomPortfolio, randomPortfolioOptions } from "./randomPortfolios.ts";

const PORTFOLIO_COUNT = Number(process.env["ISOTHERM_ENTITY_PORTFOLIOS"] ?? 120);
const BUDGET_SCENARIOS = ["net_zero_2050", "below_2c", "ndcs", "current_policies"] as const;
const BASES = ["intensity", "emissions", "cumulative"] as const;

describeWithSharedMethod("random portfolios with entities", () => {
  it(
    `equal the reference in every figure, ${PORTFOLIO_COUNT} times`,
    async () => {
      const reference = sharedReference();
      const seen = { scored: 0, unscored: 0, excludedLabels: 0, groupReasons: 0, noWeight: 0, refused: 0 };
      for (let seed = 1; seed <= PORTFOLIO_COUNT; seed++) {
        const random = randomFrom(seed);
        const lines = randomLines(random, seed);
        const budget_scenario = random.pick(BUDGET_SCENARIOS);
        const basis = random.pick(BASES);
        const year = random.pick(["overall", "overall", 2030, 2050] as const);
        const options: PortfolioOptions = {
          ...randomPortfolioOptions(seed),
          year,
          basis,
          budget_scenario,
        };
        const answer = await alignPortfolio(lines, options);
        const scoring = {
          ...referenceOptions(options),
          year,
          basis,
          budgetAnchor: BUDGET_SCENARIOS.indexOf(budget_scenario),
        };
        const expected = entityPortfolio(reference, lines, scoring);
        expectPortfolio(answer, expected, `seed ${seed}`);
        count(seen, answer);
      }
      for (const [what, number] of Object.entries(seen)) expect(number, what).toBeGreaterThan(0);
    },
    Math.max(60_000, 100 * PORTFOLIO_COUNT),
  );
});

/** Lines of which most have an entity, some of them an invalid one. */
function randomLines(random: SeededRandom, seed: number): readonly Holding[] {
  const kind = random.pick(PORTFOLIO_KINDS);
  return randomPortfolio(seed, { kind, lineCount: 1 + random.below(9) }).map((line, index): Holding => {
    if (random.chance(0.3)) return line;
    const { request } = randomEntity(sharedReference(), 1000 * seed + index);
    const { temperature: _temperature, ...rest } = line;
    return { ...rest, entity: random.chance(0.1) ? withEarlyYear(request) : withoutCurrency(request) };
  });
}

/** Counts what the portfolios contain, so that a case that no longer occurs is noticed. */
function count(
  seen: Record<"scored" | "unscored" | "excludedLabels" | "groupReasons" | "noWeight" | "refused", number>,
  { results, entities }: PortfolioAnswer,
): void {
  for (const { contributions = [], uncovered, groups = {}, reason } of results) {
    seen.scored += contributions.length;
    seen.unscored += uncovered.length;
    seen.noWeight += reason === undefined ? 0 : 1;
    seen.groupReasons += Object.values(groups)
      .flat()
      .filter((group) => group.reason !== undefined).length;
  }
  for (const entity of entities) {
    seen.refused += "error" in entity ? 1 : 0;
    seen.excludedLabels += "excluded_labels" in entity ? 1 : 0;
  }
}

/** Makes an entity invalid, which leaves its holding uncovered. */
function withEarlyYear(request: EntityRequest): Entity {
  const entity = withoutCurrency(request);
  return { ...entity, projected_emissions: [{ year: 1900, emissions: { scope1: 1 } }] };
}

/** Leaves out currencies: entities of a portfolio must have the same one. */
function withoutCurrency({ data: [baseline], ...request }: EntityRequest): Entity {
  const { currency: _currency, price_year: _priceYear, ...financials } = baseline?.financials ?? {};
  return { ...request, data: [{ ...baseline, financials }] } as unknown as Entity;
}
