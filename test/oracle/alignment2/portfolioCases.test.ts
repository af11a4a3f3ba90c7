/** Known answers of portfolio aggregation, method version 1, against the reference implementation. */
import { expect, it } from "vitest";
import { aggregate } from "../portfolio.ts";
import type { Aggregate, Holding, Method, Scope } from "../portfolio.ts";
import { financedOf } from "../portfolioFinanced.ts";
import type { Financed } from "../portfolioFinanced.ts";
import { differencesOf } from "./closeTo.ts";
import { describeWithSharedMethod, sharedCases } from "./sharedMethod.ts";

interface PortfolioCase {
  readonly name: string;
  readonly kind: "aggregate" | "financed";
  readonly holdings: readonly Holding[];
  readonly options: {
    readonly method?: Method;
    readonly scope?: Scope;
    readonly goal?: number;
    readonly group_by?: string;
    readonly default_score?: number;
    readonly missing_low?: number;
    readonly missing_high?: number;
  };
  readonly expected: Readonly<Record<string, unknown>>;
}

/** Amounts are compared relative to their size, all other figures absolutely. */
const COMPARISON = {
  tolerance: 1e-6,
  relative: ["s1s2", "s3", "allowed", "projected", "overshoot", "waci_per_million"],
};
const known = sharedCases("portfolio") as { readonly cases: readonly PortfolioCase[] };

describeWithSharedMethod("known answers of portfolio aggregation, method version 1", () => {
  it("include 20 aggregates and 3 of financed emissions", () => {
    const kinds = known.cases.map(({ kind }) => kind);
    expect([kinds.filter((kind) => kind === "aggregate").length, kinds.length]).toEqual([20, 23]);
  });

  it.each(known.cases)("agree: $name", ({ kind, holdings, options, expected }) => {
    const actual =
      kind === "financed" ? financedElement(financedOf(holdings)) : aggregateElement(aggregateOf(holdings, options));
    expect(differencesOf(expected, actual, COMPARISON)).toEqual([]);
  });
});

function aggregateOf(holdings: readonly Holding[], options: PortfolioCase["options"]): Aggregate {
  const {
    goal,
    group_by: key,
    default_score: defaultScore,
    missing_low: missingLow,
    missing_high: missingHigh,
  } = options;
  return aggregate(holdings, {
    method: options.method ?? "WATS",
    scope: options.scope ?? "s1s2s3",
    ...(goal === undefined ? {} : { goal }),
    ...(key === undefined ? {} : { groupBy: [key] }),
    ...(defaultScore === undefined ? {} : { defaultScore }),
    ...(missingLow === undefined ? {} : { missingLow }),
    ...(missingHigh === undefined ? {} : { missingHigh }),
  });
}

/** The members of an answer; `groups` is the list of the only key. */
function aggregateElement({ method, scope, coverage, uncovered, temperature, figures }: Aggregate) {
  const common = { method, scope, coverage, uncovered, temperature };
  if (figures === null) return { ...common, reason: "no_weight" };
  const [groups] = Object.values(figures.groups);
  return {
    ...common,
    ...(figures.defaultShare === null ? {} : { default_share: figures.defaultShare }),
    range: figures.range,
    range_independent: figures.rangeIndependent,
    range_coverage: figures.rangeCoverage,
    bounds: figures.bounds,
    contributions: figures.contributions.map(({ aboveGoal, ...contribution }) => ({
      ...contribution,
      ...(aboveGoal === null ? {} : { above_goal: aboveGoal }),
    })),
    ...(groups === undefined ? {} : { groups }),
  };
}

function financedElement(financed: Financed) {
  return {
    holdings: financed.holdings.map(({ id, attribution, isAboveOne, emissions: { s1s2, s3 } }) => ({
      id,
      attribution,
      ...(isAboveOne ? { flags: ["attribution_above_one"] } : {}),
      ...(s1s2 === null ? {} : { s1s2 }),
      ...(s3 === null ? {} : { s3 }),
    })),
    uncovered: financed.uncovered,
    financed_emissions: financed.emissions,
    coverage: financed.coverage,
    intensity_per_million: financed.intensityPerMillion,
    data_quality: financed.dataQuality,
    data_quality_coverage: financed.dataQualityCoverage,
    waci_per_million: financed.waciPerMillion,
    waci_coverage: financed.waciCoverage,
    budget: financed.budget === null ? null : budgetElement(financed.budget),
  };
}

function budgetElement({ overshootPct, ...budget }: NonNullable<Financed["budget"]>) {
  return { ...budget, overshoot_pct: overshootPct };
}
