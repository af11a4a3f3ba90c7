/** Portfolios whose holdings come as entities, against the reference implementation of the method. */
import { expect, it } from "vitest";
import type { Entity, Holding, PortfolioOptions } from "../../src/contract/wireTypes.ts";
import { alignPortfolio } from "../../src/portfolio/alignPortfolio.ts";
import type { EntityRequest } from "../oracle/alignment2/request.ts";
import { randomEntity } from "../oracle/alignment2/randomEntities.ts";
import { describeWithSharedMethod, sharedReference } from "../oracle/alignment2/sharedMethod.ts";
import { type EntityHolding, scorePortfolio } from "../oracle/portfolioEntities.ts";
import { randomFrom } from "../seededRandom.ts";
import { expectFinanced, expectTemperatures, referenceOptions } from "./referencePortfolios.ts";
import { randomPortfolio } from "./randomPortfolios.ts";

const PORTFOLIO_COUNT = 40;
const BUDGET_ANCHORS = { net_zero_2050: 0, below_2c: 1, ndcs: 2, current_policies: 3 } as const;

describeWithSharedMethod("random portfolios with entities", () => {
  it("equal the reference in all scopes, years, bases and scenarios of the budget", async () => {
    const reference = sharedReference();
    let scoredCount = 0;
    for (let seed = 1; seed <= PORTFOLIO_COUNT; seed++) {
      const random = randomFrom(seed);
      const lines = randomPortfolio(seed, { kind: "gaps", lineCount: 12 }).map((line, index): Holding => {
        if (random.chance(0.3)) return line;
        const { request } = randomEntity(reference, 1000 * seed + index);
        const { temperature: _temperature, ...rest } = line;
        return { ...rest, entity: random.chance(0.1) ? withEarlyYear(request) : withoutCurrency(request) };
      });
      const budget_scenario = random.pick(["net_zero_2050", "below_2c", "ndcs", "current_policies"] as const);
      const basis = random.pick(["intensity", "emissions", "cumulative"] as const);
      const options: PortfolioOptions = {
        methods: ["WATS", "TETS", "ROTS"],
        scopes: ["s1s2", "s3", "s1s2s3"],
        year: random.chance(0.5) ? "overall" : random.pick([2030, 2035, 2050]),
        basis,
        group_by: ["sector"],
        budget_scenario,
      };
      const answer = await alignPortfolio(lines, options);
      const expected = scorePortfolio(reference, lines as readonly EntityHolding[], {
        ...referenceOptions(options),
        methods: options.methods ?? [],
        scopes: options.scopes ?? [],
        year: options.year ?? "overall",
        alignment: { basis },
        budgetAnchor: BUDGET_ANCHORS[budget_scenario],
      });
      for (const [index, result] of answer.results.entries()) {
        expectTemperatures(result, expected.results[index], `seed ${seed}, result ${index}`);
        scoredCount += result.contributions?.length ?? 0;
      }
      expectFinanced(answer.financed, expected.financed, `seed ${seed}`);
    }
    expect(scoredCount).toBeGreaterThan(100);
  });
});

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
