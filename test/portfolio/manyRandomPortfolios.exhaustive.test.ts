/** Many random portfolios against the reference implementation of the method, up to the longest that is accepted. */
import { describeRandomPortfolios } from "./describeRandomPortfolios.ts";

describeRandomPortfolios(
  [
    { lineCount: 1, sampleCount: 300 },
    { lineCount: 2, sampleCount: 300 },
    { lineCount: 12, sampleCount: 200 },
    { lineCount: 300, sampleCount: 10 },
    { lineCount: 4000, sampleCount: 1 },
  ],
  60,
);
