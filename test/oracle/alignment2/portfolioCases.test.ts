/** Known answers of portfolio aggregation, method version 1, against the reference implementation. */
import { expect, it } from "vitest";
import { aggregate } from "../portfolio.ts";
import type { Aggregate, Holding, Method, Scope } from "../portfolio.ts";
import { financedOf } from "../portfolioFinanced.ts";
import { financedElement, portfolioElement } from "../portfolioResponse.ts";
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
function aggregateElement(result: Aggregate) {
  const element = portfolioElement(result);
  if (!("groups" in element)) return element;
  const { groups, ...rest } = element;
  const [ofKey] = Object.values(groups);
  return { ...rest, ...(ofKey === undefined ? {} : { groups: ofKey }) };
}
