/** Compares portfolios with the reference implementation of the method. */
import { expect } from "vitest";
import { PORTFOLIO_METHODS, PORTFOLIO_SCOPES } from "../../src/contract/portfolioNames.ts";
import type { Financed, Holding, PortfolioOptions, PortfolioResult } from "../../src/contract/wireTypes.ts";
import { financedEmissions } from "../../src/portfolio/financed.ts";
import { mergeHoldings } from "../../src/portfolio/mergedHoldings.ts";
import { portfolioResults } from "../../src/portfolio/portfolioResults.ts";
import { differencesOf } from "../oracle/alignment2/closeTo.ts";
import { aggregate, type Aggregate, type Holding as ReferenceHolding, mergedHoldings } from "../oracle/portfolio.ts";
import { financedOf } from "../oracle/portfolioFinanced.ts";
import { financedElement, portfolioElement } from "../oracle/portfolioResponse.ts";

const TOLERANCE = 1e-9;

/** Expects the temperatures of every method and scope to equal those of the reference, all members but `without`. */
export function expectReferenceTemperatures(
  lines: readonly Holding[],
  options: PortfolioOptions,
  context: string,
): void {
  const results = [...portfolioResults(mergeHoldings(lines), options)];
  const pairs = PORTFOLIO_METHODS.flatMap((method) => PORTFOLIO_SCOPES.map((scope) => ({ method, scope })));
  expect(results.map(({ method, scope }) => ({ method, scope }))).toEqual(pairs);
  for (const [index, pair] of pairs.entries()) {
    const expected = aggregate(referenceLines(lines), { ...pair, ...referenceOptions(options) });
    expectTemperatures(results[index], expected, `${context}, ${pair.method}, ${pair.scope}`);
  }
}

/** Expects a result to equal that of the reference, all members but `without`. */
export function expectTemperatures(
  result: PortfolioResult | undefined,
  expected: Aggregate | undefined,
  context: string,
): void {
  if (expected === undefined) throw new Error(`${context}: the reference has no such result`);
  const comparison = { tolerance: TOLERANCE, relative: [] };
  expect(
    differencesOf(withoutWithout(portfolioElement(expected)), withoutWithout(result), comparison),
    context,
  ).toEqual([]);
}

/** Expects `without` of every holding to be the temperature of the portfolio that lacks it. */
export function expectReferenceWithout(lines: readonly Holding[], options: PortfolioOptions, context: string): void {
  const holdings = mergedHoldings(referenceLines(lines));
  for (const { method, scope, contributions = [] } of portfolioResults(mergeHoldings(lines), options)) {
    for (const { id, without } of contributions) {
      const rest = aggregate(
        holdings.filter((holding) => holding.id !== id),
        { method, scope, ...referenceOptions(options) },
      );
      expectClose(without, rest.temperature, `${context}, ${method}, ${scope}, ${id}`);
    }
  }
}

/** Expects the financed emissions to equal those of the reference; amounts relative to their size. */
export function expectReferenceFinanced(lines: readonly Holding[], context: string): void {
  const financed = financedEmissions(mergeHoldings(lines));
  expectFinanced(financed, financedOf(referenceLines(lines)), context);
  expectClose(financed.budget_coverage, referenceBudgetCoverage(lines), context);
}

/** Expects financed emissions to equal those of the reference, which does not state the coverage of the budget. */
export function expectFinanced(
  { budget_coverage: _budgetCoverage, ...actual }: Financed,
  expected: ReturnType<typeof financedOf>,
  context: string,
): void {
  const differences = differencesOf(financedElement(expected), actual, {
    tolerance: TOLERANCE,
    relative: ["s1s2", "s3", "attribution", "allowed", "projected", "overshoot", "overshoot_pct", "waci_per_million"],
  });
  expect(differences, context).toEqual([]);
}

function expectClose(actual: number | null, expected: number | null, context: string): void {
  if (actual === null || expected === null) expect(actual, context).toBe(expected);
  else expect(Math.abs(actual - expected), context).toBeLessThanOrEqual(TOLERANCE);
}

/** The reference has no type for a score with `low: null`. */
function referenceLines(lines: readonly Holding[]): readonly ReferenceHolding[] {
  return lines as readonly ReferenceHolding[];
}

export function referenceOptions({
  goal,
  group_by: groupBy,
  default_score,
  missing_low,
  missing_high,
}: PortfolioOptions) {
  return {
    ...(goal === undefined ? {} : { goal }),
    ...(groupBy === undefined ? {} : { groupBy }),
    ...(default_score === undefined ? {} : { defaultScore: default_score }),
    ...(missing_low === undefined ? {} : { missingLow: missing_low }),
    ...(missing_high === undefined ? {} : { missingHigh: missing_high }),
  };
}

/**
 * Leaves out `without`, which the reference computes as a difference: where one holding has nearly all of the weight, its
 * rounding errors exceed the tolerance.
 */
function withoutWithout(result: PortfolioResult | ReturnType<typeof portfolioElement> | undefined): unknown {
  if (result === undefined || !("contributions" in result) || result.contributions === undefined) return result;
  return { ...result, contributions: result.contributions.map(({ without: _without, ...rest }) => rest) };
}

/** Share of the value that has an attribution factor and a budget. */
function referenceBudgetCoverage(lines: readonly Holding[]): number {
  const holdings = mergedHoldings(referenceLines(lines));
  const attributed = new Set(financedOf(referenceLines(lines)).holdings.map(({ id }) => id));
  const valueOf = (those: typeof holdings): number => those.reduce((sum, { value }) => sum + value, 0);
  const withBudget = holdings.filter(({ id, budget }) => attributed.has(id) && (budget ?? null) !== null);
  const total = valueOf(holdings);
  return total === 0 ? 0 : valueOf(withBudget) / total;
}
