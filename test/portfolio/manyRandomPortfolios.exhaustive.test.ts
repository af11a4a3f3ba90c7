/** Many random portfolios against the reference implementation of the method, up to the longest that is accepted. */
import { describe, it } from "vitest";
import { PORTFOLIO_KINDS, randomPortfolio, randomPortfolioOptions } from "./randomPortfolios.ts";
import { expectReferenceFinanced, expectReferenceTemperatures, expectReferenceWithout } from "./referencePortfolios.ts";

const SIZES = [
  { lineCount: 1, sampleCount: 300 },
  { lineCount: 2, sampleCount: 300 },
  { lineCount: 12, sampleCount: 200 },
  { lineCount: 300, sampleCount: 10 },
  { lineCount: 4000, sampleCount: 1 },
];
const SAMPLE_COUNT = 60;

describe.each(PORTFOLIO_KINDS)("random portfolios of the kind %s", (kind) => {
  it.each(SIZES)("of $lineCount lines have the temperatures of the reference", ({ lineCount, sampleCount }) => {
    for (let seed = 1; seed <= sampleCount; seed++) {
      const lines = randomPortfolio(seed, { kind, lineCount });
      expectReferenceTemperatures(lines, randomPortfolioOptions(seed), `seed ${seed}`);
    }
  });

  it("have the temperatures of the reference without each holding", () => {
    for (let seed = 1; seed <= SAMPLE_COUNT; seed++) {
      const lines = randomPortfolio(seed, { kind, lineCount: 12 });
      expectReferenceWithout(lines, randomPortfolioOptions(seed), `seed ${seed}`);
    }
  });

  it.each(SIZES)("of $lineCount lines have the financed emissions of the reference", ({ lineCount, sampleCount }) => {
    for (let seed = 1; seed <= sampleCount; seed++) {
      expectReferenceFinanced(randomPortfolio(seed, { kind, lineCount }), `seed ${seed}`);
    }
  });
});
