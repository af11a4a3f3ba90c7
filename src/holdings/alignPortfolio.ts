import { DEFAULT_BENCHMARK } from "../alignment/benchmarkNgfsPhase5.ts";
import { ALIGNMENT_METHOD, PORTFOLIO_METHOD_ID } from "../contract/names.ts";
import type {
  Holding,
  PortfolioAnswer,
  PortfolioOptions,
  RefusedEntity,
  ScoredHolding,
} from "../contract/wireTypes.ts";
import { scoreEntities } from "./entityScores.ts";
import { financedEmissions } from "./financed.ts";
import { mergeHoldings } from "./mergedHoldings.ts";
import { portfolioResults } from "./portfolioResults.ts";
import { readPortfolio } from "./readPortfolio.ts";

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
