import { PORTFOLIO_METHOD_ID } from "../contract/portfolioNames.ts";
import type { Holding, PortfolioAnswer, PortfolioOptions } from "../contract/wireTypes.ts";
import { financedEmissions } from "./financed.ts";
import { mergeHoldings } from "./mergedHoldings.ts";
import { portfolioResults } from "./portfolioResults.ts";
import { readPortfolio } from "./readPortfolio.ts";

/**
 * Computes the temperature of a portfolio from the scores of its companies, its financed emissions and its data quality,
 * by the method of docs/methods/portfolio.md.
 *
 * @returns unrounded figures; `roundPortfolio` rounds them as on the wire
 * @throws Fault `invalid_request` listing every error, each with a JSON pointer such as `/holdings/0/value` or
 *   `/options/methods/0`
 */
export async function alignPortfolio(
  holdings: readonly Holding[],
  options: PortfolioOptions = {},
): Promise<PortfolioAnswer> {
  const request = readPortfolio({ holdings, options });
  const columns = mergeHoldings(request.holdings);
  return {
    method: PORTFOLIO_METHOD_ID,
    scores: "alignment/2",
    year: options.year ?? "overall",
    results: [...portfolioResults(columns, options)],
    financed: financedEmissions(columns),
    entities: [],
  };
}
