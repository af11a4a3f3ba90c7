/** Compares portfolios with the reference implementation of the method. */
import { expect } from "vitest";
import type { Holding, PortfolioAnswer, PortfolioOptions } from "../../src/contract/wireTypes.ts";
import { alignPortfolio } from "../../src/holdings/alignPortfolio.ts";
import { differencesOf } from "../oracle/alignment2/closeTo.ts";
import { type Portfolio, scoredPortfolio } from "../oracle/portfolio/portfolio.ts";
import type { Line } from "../oracle/portfolio/holdings.ts";

/** Amounts are compared relative to their size, all other figures absolutely. */
const COMPARISON = {
  tolerance: 1e-9,
  relative: ["s1s2", "s3", "attribution", "allowed", "projected", "overshoot", "overshoot_pct", "waci_per_million"],
};

/** Expects the answer for lines with scores to equal that of the reference, every member of it. */
export async function expectReferencePortfolio(
  lines: readonly Holding[],
  options: PortfolioOptions,
  context: string,
): Promise<void> {
  const answer = await alignPortfolio(lines, options);
  expectPortfolio(answer, scoredPortfolio(lines as readonly Line[], referenceOptions(options)), context);
}

/** Expects results and financed emissions to equal those of the reference. */
export function expectPortfolio(answer: PortfolioAnswer, { results, financed }: Portfolio, context: string): void {
  const differences = differencesOf(
    { results, financed },
    { results: answer.results, financed: answer.financed },
    COMPARISON,
  );
  if (differences.length > 0) expect(differences.slice(0, 10), context).toEqual([]);
}

export function referenceOptions({
  methods = ["WATS"],
  scopes = ["s1s2s3"],
  goal,
  group_by: groupBy,
  default_score,
  missing_low,
  missing_high,
}: PortfolioOptions) {
  return {
    methods,
    scopes,
    ...(goal === undefined ? {} : { goal }),
    ...(groupBy === undefined ? {} : { groupBy }),
    ...(default_score === undefined ? {} : { defaultScore: default_score }),
    ...(missing_low === undefined ? {} : { missingLow: missing_low }),
    ...(missing_high === undefined ? {} : { missingHigh: missing_high }),
  };
}
