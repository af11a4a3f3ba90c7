/**
 * Many random portfolios against the reference implementation of the method, up to the longest that is accepted.
 * ISOTHERM_PORTFOLIOS sets the number of portfolios over all kinds.
 */
import { describeRandomPortfolios } from "./describeRandomPortfolios.ts";
import { PORTFOLIO_KINDS } from "./randomPortfolios.ts";

const COUNT_PER_KIND = Number(process.env["ISOTHERM_PORTFOLIOS"] ?? 2400) / PORTFOLIO_KINDS.length;

describeRandomPortfolios([
  { lineCount: 1, sampleCount: Math.ceil(0.35 * COUNT_PER_KIND) },
  { lineCount: 2, sampleCount: Math.ceil(0.35 * COUNT_PER_KIND) },
  { lineCount: 12, sampleCount: Math.ceil(0.3 * COUNT_PER_KIND) },
  { lineCount: 300, sampleCount: 10 },
  { lineCount: 4000, sampleCount: 1 },
]);
