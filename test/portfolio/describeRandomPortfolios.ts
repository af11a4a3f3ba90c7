/** Compares random portfolios with the reference implementation of the method. */
import { describe, it } from "vitest";
import { PORTFOLIO_KINDS, randomPortfolio, randomPortfolioOptions } from "./randomPortfolios.ts";
import { expectReferenceFinanced, expectReferenceTemperatures, expectReferenceWithout } from "./referencePortfolios.ts";

/**
 * Declares the comparisons.
 *
 * @param sizes number of portfolios of each length
 * @param withoutCount number of portfolios that are compared without each of their holdings
 */
export function describeRandomPortfolios(
  sizes: readonly { readonly lineCount: number; readonly sampleCount: number }[],
  withoutCount: number,
): void {
  describe.each(PORTFOLIO_KINDS)("random portfolios of the kind %s", (kind) => {
    it.each(sizes)("of $lineCount lines have the temperatures of the reference", ({ lineCount, sampleCount }) => {
      for (let seed = 1; seed <= sampleCount; seed++) {
        const lines = randomPortfolio(seed, { kind, lineCount });
        expectReferenceTemperatures(lines, randomPortfolioOptions(seed), `seed ${seed}`);
      }
    });

    it("have the temperatures of the reference without each holding", () => {
      for (let seed = 1; seed <= withoutCount; seed++) {
        const lines = randomPortfolio(seed, { kind, lineCount: 12 });
        expectReferenceWithout(lines, randomPortfolioOptions(seed), `seed ${seed}`);
      }
    });

    it.each(sizes)("of $lineCount lines have the financed emissions of the reference", ({ lineCount, sampleCount }) => {
      for (let seed = 1; seed <= sampleCount; seed++) {
        expectReferenceFinanced(randomPortfolio(seed, { kind, lineCount }), `seed ${seed}`);
      }
    });
  });
}
