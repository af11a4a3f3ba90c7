/** Known answers of portfolio aggregation against the reference implementation. */
import { expect, it } from "vitest";
import type { PortfolioAnswer } from "../../src/contract/wireTypes.ts";
import { answerOfCase, COMPARISON, type PortfolioCase, requestOfCase } from "./portfolioCases.ts";
import { referenceOptions } from "./referencePortfolios.ts";
import { differencesOf } from "../oracle/alignment2/closeTo.ts";
import { describeWithSharedMethod, sharedCases } from "../oracle/alignment2/sharedMethod.ts";
import type { Line } from "../oracle/portfolio/holdings.ts";
import { scoredPortfolio } from "../oracle/portfolio/portfolio.ts";

const { cases } = sharedCases("portfolio") as { readonly cases: readonly PortfolioCase[] };

describeWithSharedMethod("the reference implementation of portfolios", () => {
  it.each(cases)("gives the known answer: $name", (known) => {
    const { holdings, options } = requestOfCase(known);
    const portfolio = scoredPortfolio(holdings as readonly Line[], referenceOptions(options));
    const answer = answerOfCase(known, portfolio as unknown as PortfolioAnswer);
    expect(differencesOf(known.expected, answer, COMPARISON)).toEqual([]);
  });
});
