/** Properties that docs/methods/portfolio.md guarantees, on random portfolios up to the longest that is accepted. */
import { describe, expect, it } from "vitest";
import { HOLDING_COUNT_MAX, PORTFOLIO_METHODS, PORTFOLIO_SCOPES } from "../../src/contract/names.ts";
import type { Holding, HoldingScore, PortfolioOptions, PortfolioResult } from "../../src/contract/wireTypes.ts";
import { mergeHoldings } from "../../src/holdings/mergedHoldings.ts";
import { portfolioResults } from "../../src/holdings/portfolioResults.ts";
import { randomFrom } from "../seededRandom.ts";
import { PORTFOLIO_KINDS, randomPortfolio } from "./randomPortfolios.ts";

const OPTIONS: PortfolioOptions = {
  methods: PORTFOLIO_METHODS,
  scopes: PORTFOLIO_SCOPES,
  group_by: ["sector", "country"],
  goal: 1.5,
};
const LINE_COUNTS = [1, 2, 3, 10, 100];
const SEEDS_PER_SIZE = 4;
/** A third of them are again on another line, see `randomPortfolio`. */
const LONGEST_LINE_COUNT = 4000;

describe("the temperature of a portfolio", () => {
  it("lies between the lowest and the highest score", () => {
    forEachPortfolio((lines) => {
      for (const { temperature, contributions = [] } of resultsOf(lines)) {
        if (temperature === null) continue;
        const scores = contributions.filter(({ weight }) => weight > 0).map((each) => each.temperature);
        expect(temperature).toBeGreaterThanOrEqual(scores.reduce((low, score) => Math.min(low, score), Infinity));
        expect(temperature).toBeLessThanOrEqual(scores.reduce((high, score) => Math.max(high, score), -Infinity));
      }
    });
  });

  it("lies in its range, and never falls when a score rises", () => {
    forEachPortfolio((lines, seed) => {
      const before = resultsOf(lines);
      const random = randomFrom(seed);
      for (let k = 0; k < Math.min(lines.length, 10); k++) {
        const index = random.below(lines.length);
        const raised = lines.with(index, raiseScores(lines[index] as Holding, random.next()));
        for (const [i, { temperature, range }] of resultsOf(raised).entries()) {
          const earlier = before[i]?.temperature ?? null;
          if (temperature === null || earlier === null) expect(temperature).toBe(earlier);
          else expect(temperature).toBeGreaterThanOrEqual(earlier - 1e-12);
          expect(range?.low ?? 0).toBeLessThanOrEqual(temperature ?? 0);
          expect(range?.high ?? 0).toBeGreaterThanOrEqual(temperature ?? 0);
        }
      }
    });
  });

  it.each([
    ["values", ["value"]],
    ["emissions", ["scope1", "scope2", "scope3"]],
    ["company figures", ["market_cap", "enterprise_value", "cash", "evic", "total_assets", "revenue"]],
  ] as const)("does not depend on the unit of the %s", (_, members) => {
    forEachPortfolio((lines) => {
      const before = resultsOf(lines);
      // Powers of 2 scale exactly.
      for (const factor of [2 ** -5, 2 ** 7]) {
        const scaled = lines.map((line) => scale(line, members, factor));
        for (const [i, result] of resultsOf(scaled).entries()) expectClose(result.temperature, before[i]?.temperature);
      }
    });
  });

  it("does not depend on how a line of an issuer is split", () => {
    forEachPortfolio((lines) => {
      const split = lines.flatMap((line) =>
        [0.25, 0.75].map((share) => ({
          ...line,
          issuer: line.issuer ?? line.id,
          id: `${line.id}/${share}`,
          value: share * line.value,
        })),
      );
      const before = resultsOf(lines);
      for (const [i, result] of resultsOf(split).entries()) {
        const earlier = before[i];
        expectClose(result.temperature, earlier?.temperature);
        expectClose(result.range?.low ?? null, earlier?.range?.low ?? null);
        expect(result.coverage.holdings).toBe(earlier?.coverage.holdings);
        expect(result.uncovered).toEqual(earlier?.uncovered);
        expect(result.contributions?.map(({ id }) => id)).toEqual(earlier?.contributions?.map(({ id }) => id));
      }
    });
  });

  it("is the sum of the contributions of its holdings and of its groups", () => {
    forEachPortfolio((lines) => {
      for (const { temperature, contributions = [], groups = {} } of resultsOf(lines)) {
        if (temperature === null) continue;
        expectClose(sumOf(contributions.map(({ contribution }) => contribution)), temperature);
        expectClose(sumOf(contributions.map(({ weight }) => weight)), 1);
        expectClose(sumOf(contributions.map(({ share }) => share)), 1);
        expectClose(sumOf(contributions.map(({ above_goal }) => above_goal ?? NaN)), temperature - 1.5);
        expect(Object.keys(groups)).toEqual(["sector", "country"]);
        for (const group of Object.values(groups)) {
          expectClose(sumOf(group.map(({ contribution }) => contribution)), temperature);
          expectClose(sumOf(group.map(({ weight }) => weight)), 1);
        }
      }
    });
  });

  it("of the whole is within its bounds where every weight is known", () => {
    let checkedCount = 0;
    forEachPortfolio((lines, seed) => {
      const random = randomFrom(seed);
      const complete = lines.map((line) => {
        const missing = () => random.between({ min: 1.3, max: 3.2 });
        const { s1s2, s3, s1s2s3 } = line.temperature ?? {};
        return {
          ...line,
          temperature: { s1s2: s1s2 ?? missing(), s3: s3 ?? missing(), s1s2s3: s1s2s3 ?? missing() },
        };
      });
      const whole = resultsOf(complete);
      for (const [i, { bounds }] of resultsOf(lines).entries()) {
        if (bounds?.complete !== true) continue;
        checkedCount++;
        expect(whole[i]?.temperature).toBeGreaterThanOrEqual(bounds.low - 1e-12);
        expect(whole[i]?.temperature).toBeLessThanOrEqual(bounds.high + 1e-12);
      }
    });
    expect(checkedCount).toBeGreaterThan(100);
  });
});

/** Runs a check on portfolios of every kind and length. */
function forEachPortfolio(check: (lines: readonly Holding[], seed: number) => void): void {
  for (const kind of PORTFOLIO_KINDS) {
    for (const lineCount of LINE_COUNTS) {
      for (let seed = 1; seed <= SEEDS_PER_SIZE; seed++) check(randomPortfolio(seed, { kind, lineCount }), seed);
    }
  }
  const longest = randomPortfolio(1, { kind: "gaps", lineCount: LONGEST_LINE_COUNT });
  expect(longest.length).toBeLessThanOrEqual(HOLDING_COUNT_MAX);
  check(longest, 1);
}

function resultsOf(lines: readonly Holding[]): readonly PortfolioResult[] {
  return [...portfolioResults(mergeHoldings(lines), OPTIONS)];
}

/** Raises all scores of a line, with their intervals. */
function raiseScores(line: Holding, differenceC: number): Holding {
  const raise = (score: HoldingScore | null | undefined): HoldingScore | null => {
    if (score === null || score === undefined) return null;
    if (typeof score === "number") return score + differenceC;
    const { t, low, high } = score;
    return { t: t + differenceC, low: low ?? t, high: (high ?? t) + differenceC };
  };
  const { s1s2, s3, s1s2s3 } = line.temperature ?? {};
  return { ...line, temperature: { s1s2: raise(s1s2), s3: raise(s3), s1s2s3: raise(s1s2s3) } };
}

function scale(line: Holding, members: readonly (keyof Holding)[], factor: number): Holding {
  const scaled = members.map((member) => {
    const amount = line[member];
    return [member, typeof amount === "number" ? factor * amount : amount] as const;
  });
  return { ...line, ...Object.fromEntries(scaled) };
}

function sumOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}

function expectClose(actual: number | null, expected: number | null | undefined): void {
  if (actual === null || expected === null || expected === undefined) expect(actual).toBe(expected);
  else expect(Math.abs(actual - expected)).toBeLessThanOrEqual(1e-9);
}
