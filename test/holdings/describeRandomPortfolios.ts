/** Compares random portfolios with the reference implementation of the method. */
import { describe, it } from "vitest";
import { PORTFOLIO_KINDS, randomPortfolio, randomPortfolioOptions } from "./randomPortfolios.ts";
import { expectReferencePortfolio } from "./referencePortfolios.ts";

/**
 * Declares the comparisons.
 *
 * @param sizes number of portfolios of each length, per kind
 */
export function describeRandomPortfolios(
  sizes: readonly { readonly lineCount: number; readonly sampleCount: number }[],
): void {
  describe.each(PORTFOLIO_KINDS)("random portfolios of the kind %s", (kind) => {
    for (const { lineCount, sampleCount } of sizes) {
      const title = `of ${lineCount} lines equal the reference in every figure, ${sampleCount} times`;
      it(title, { timeout: Math.max(60_000, 20 * lineCount * sampleCount) }, async () => {
        for (let seed = 1; seed <= sampleCount; seed++) {
          const lines = randomPortfolio(seed, { kind, lineCount });
          await expectReferencePortfolio(lines, randomPortfolioOptions(seed), `seed ${seed}`);
        }
      });
    }
  });
}
