import { DEFAULT_BENCHMARK } from "../alignment/benchmarkNgfsPhase5.ts";
import { ALIGNMENT_METHOD, PORTFOLIO_METHOD_ID } from "../contract/names.ts";
import type {
  Holding,
  PortfolioAnswer,
  PortfolioCoverage,
  PortfolioOptions,
  PortfolioResult,
  RefusedEntity,
  ScoredHolding,
} from "../contract/wireTypes.ts";
import { scoreEntities } from "./entityScores.ts";
import { financedEmissions, portfolioResults } from "./portfolioResults.ts";
import { mergeHoldings } from "./mergedHoldings.ts";
import { readPortfolio } from "./readPortfolio.ts";
import { roundRange, roundResult, roundToHundredth } from "../alignment/answer.ts";

/**
 * Computes the temperature of a portfolio from the scores of its companies, its financed emissions and its data quality,
 * by the method of docs/methods/portfolio.md. Holdings come with a company to be scored (`entity`) or with scores from
 * elsewhere (`temperature`).
 *
 * @returns unrounded figures; `roundPortfolio` rounds them as on the wire
 * @throws Fault `invalid_request` listing up to 100 errors, each with a JSON pointer such as `/holdings/0/value` or
 *   `/options/methods/0`; an invalid entity is not an error: `entities` lists what is wrong with it
 */
export async function alignPortfolio(
  holdings: readonly Holding[],
  options: PortfolioOptions = {},
): Promise<PortfolioAnswer> {
  const request = readPortfolio({ holdings, options });
  const columns = mergeHoldings(request.holdings);
  const entities: (ScoredHolding | RefusedEntity)[] = [];
  for await (const scored of scoreEntities(columns, options)) entities.push(...scored.entities);
  return {
    ...portfolioHead(options),
    results: [...portfolioResults(columns, options)],
    financed: financedEmissions(columns),
    entities,
  };
}

/** Returns the members of an answer that name the versions of the methods and the year. */
export function portfolioHead({
  year = "overall",
}: PortfolioOptions): Pick<PortfolioAnswer, "method" | "scores" | "benchmark" | "year"> {
  return { method: PORTFOLIO_METHOD_ID, scores: ALIGNMENT_METHOD, benchmark: DEFAULT_BENCHMARK.id, year };
}

/** Rounds an answer as sent over the wire; tonnes and attributions stay unrounded. */
export function roundPortfolio(answer: PortfolioAnswer): PortfolioAnswer {
  return {
    ...answer,
    results: answer.results.map(roundPortfolioResult),
    financed: roundFinanced(answer.financed),
    entities: answer.entities.map(roundEntity),
  };
}

/** Rounds the temperatures of an entity as sent over the wire. */
export function roundEntity(entity: PortfolioAnswer["entities"][number]): PortfolioAnswer["entities"][number] {
  return "error" in entity ? entity : { id: entity.id, ...roundResult(entity) };
}

/** Rounds a result as sent over the wire: temperatures to 2 decimals; weights, shares, coverage and contributions to 6. */
export function roundPortfolioResult(result: PortfolioResult): PortfolioResult {
  const { range, range_independent, range_coverage, bounds, default_share, contributions, groups } = result;
  return {
    ...result,
    temperature: hundredthOrNull(result.temperature),
    ...(range === undefined ? {} : { range: roundRange(range) }),
    ...(range_independent === undefined ? {} : { range_independent: roundRange(range_independent) }),
    ...(range_coverage === undefined ? {} : { range_coverage: share(range_coverage) }),
    coverage: roundCoverage(result.coverage),
    ...(bounds === undefined ? {} : { bounds: { ...bounds, ...roundRange(bounds) } }),
    ...(default_share === undefined ? {} : { default_share: share(default_share) }),
    ...(contributions === undefined
      ? {}
      : {
          contributions: contributions.map((each) => ({
            ...each,
            weight: share(each.weight),
            temperature: roundToHundredth(each.temperature),
            contribution: share(each.contribution),
            share: share(each.share),
            ...(each.above_goal === undefined ? {} : { above_goal: share(each.above_goal) }),
            without: hundredthOrNull(each.without),
          })),
        }),
    ...(groups === undefined
      ? {}
      : {
          groups: Object.fromEntries(
            Object.entries(groups).map(([key, members]) => [
              key,
              members.map((group) => ({
                ...group,
                temperature: hundredthOrNull(group.temperature),
                coverage: roundCoverage(group.coverage),
                weight: share(group.weight),
                contribution: share(group.contribution),
              })),
            ]),
          ),
        }),
  };
}

/** Rounds financed emissions as sent over the wire: coverage to 6 decimals, percent to 2; tonnes are not rounded. */
export function roundFinanced(financed: PortfolioAnswer["financed"]): PortfolioAnswer["financed"] {
  const { coverage, data_quality_coverage, waci_coverage, budget, budget_coverage } = financed;
  return {
    ...financed,
    coverage: { s1s2: share(coverage.s1s2), s3: share(coverage.s3) },
    data_quality_coverage: { s1s2: share(data_quality_coverage.s1s2), s3: share(data_quality_coverage.s3) },
    waci_coverage: share(waci_coverage),
    budget: budget === null ? null : { ...budget, overshoot_pct: hundredthOrNull(budget.overshoot_pct) },
    budget_coverage: share(budget_coverage),
  };
}

function hundredthOrNull(value: number | null): number | null {
  return value === null ? null : roundToHundredth(value);
}

/** Rounds to 6 decimals. A contribution is rounded like a share, because those of many holdings are below 0.01 degrees. */
function share(value: number): number {
  return Math.round(1e6 * value) / 1e6;
}

function roundCoverage({ holdings, value, weight }: PortfolioCoverage): PortfolioCoverage {
  return { holdings: share(holdings), value: share(value), weight: share(weight) };
}
