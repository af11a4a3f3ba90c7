/** A few random portfolios against the reference implementation of the method. */
import { describeRandomPortfolios } from "./describeRandomPortfolios.ts";

describeRandomPortfolios([
  { lineCount: 1, sampleCount: 8 },
  { lineCount: 2, sampleCount: 8 },
  { lineCount: 12, sampleCount: 5 },
  { lineCount: 80, sampleCount: 1 },
]);
