/** Known answers of the method, computed by an independent implementation in another language. */
import { expect, it } from "vitest";
import { alignPortfolio } from "../../src/holdings/alignPortfolio.ts";
import { differencesOf } from "../oracle/alignment2/closeTo.ts";
import { describeWithSharedMethod, sharedCases } from "../oracle/alignment2/sharedMethod.ts";
import { answerOfCase, COMPARISON, type PortfolioCase, requestOfCase } from "./portfolioCases.ts";

const { cases } = sharedCases("portfolio") as { readonly cases: readonly PortfolioCase[] };

describeWithSharedMethod("known answers of portfolios", () => {
  it("are 20 temperatures and 3 of financed emissions", () => {
    const temperatures = cases.filter(({ kind }) => kind === "aggregate");
    expect([temperatures.length, cases.length]).toEqual([20, 23]);
  });

  it.each(cases)("agree: $name", async (known) => {
    const { holdings, options } = requestOfCase(known);
    const answer = await alignPortfolio(holdings, options);
    expect(differencesOf(known.expected, answerOfCase(known, answer), COMPARISON)).toEqual([]);
  });
});
