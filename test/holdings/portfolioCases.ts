/** The known answers of ../shared/cases/portfolio.json as requests of the service, and answers in their shape. */
import type {
  Holding,
  PortfolioAnswer,
  PortfolioMethod,
  PortfolioOptions,
  PortfolioScope,
} from "../../src/contract/wireTypes.ts";

export interface PortfolioCase {
  readonly name: string;
  readonly kind: "aggregate" | "financed";
  readonly holdings: readonly Holding[];
  readonly options: Pick<PortfolioOptions, "goal" | "default_score" | "missing_low" | "missing_high"> & {
    readonly method?: PortfolioMethod;
    readonly scope?: PortfolioScope;
    readonly group_by?: string;
  };
  readonly expected: Readonly<Record<string, unknown>>;
}

/** Amounts are compared relative to their size, all other figures absolutely. */
export const COMPARISON = {
  tolerance: 1e-6,
  relative: ["s1s2", "s3", "allowed", "projected", "overshoot", "waci_per_million"],
};

export function requestOfCase({ holdings, options }: PortfolioCase): {
  readonly holdings: readonly Holding[];
  readonly options: PortfolioOptions;
} {
  const { method, scope, group_by: key, ...others } = options;
  return {
    holdings,
    options: {
      ...others,
      ...(method === undefined ? {} : { methods: [method] }),
      ...(scope === undefined ? {} : { scopes: [scope] }),
      ...(key === undefined ? {} : { group_by: [key] }),
    },
  };
}

/** Returns the part of an answer that a case states; `groups` is the list of the only key. */
export function answerOfCase({ kind, options }: PortfolioCase, answer: PortfolioAnswer): unknown {
  if (kind === "financed") {
    const { budget_coverage: _notInCases, ...financed } = answer.financed;
    return financed;
  }
  const [result, ...others] = answer.results;
  if (result === undefined || others.length > 0) throw new Error("A case must have one result.");
  const { groups, ...figures } = result;
  return groups === undefined ? figures : { ...figures, groups: groups[options.group_by ?? ""] };
}
