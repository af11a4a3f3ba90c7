// The temperatures of a portfolio in plain JavaScript: one loop over the objects of the holdings per method and scope.
import { PORTFOLIO_METHODS, PORTFOLIO_SCOPES } from "../src/contract/names.ts";
import type { Contribution, Holding, PortfolioMethod, PortfolioScope } from "../src/contract/wireTypes.ts";

export interface PlainResult {
  readonly temperature: number;
  readonly range: { readonly low: number; readonly high: number };
  readonly halfWidth: number;
  readonly coverage: { readonly holdings: number; readonly value: number; readonly weight: number };
  readonly bounds: { readonly low: number; readonly high: number };
  readonly uncovered: readonly { readonly id: string; readonly reason: string }[];
  readonly contributions: readonly Contribution[];
}

/** Computes the results of all methods and scopes. Does not validate, merge or group the holdings. */
export function plainPortfolio(holdings: readonly Holding[]): readonly PlainResult[] {
  return PORTFOLIO_METHODS.flatMap((method) => PORTFOLIO_SCOPES.map((scope) => resultOf(holdings, method, scope)));
}

function resultOf(holdings: readonly Holding[], method: PortfolioMethod, scope: PortfolioScope): PlainResult {
  const uncovered: { id: string; reason: string }[] = [];
  const covered: { id: string; weight: number; t: number; width: number }[] = [];
  let value = 0;
  let coveredValue = 0;
  let weight = 0;
  let score = 0;
  let low = 0;
  let high = 0;
  let missing = 0;
  for (const holding of holdings) {
    value += holding.value;
    const a = weightOf(holding, method, scope);
    if (typeof a === "string") {
      uncovered.push({ id: holding.id, reason: a });
      continue;
    }
    const given = holding.temperature?.[scope];
    if (given === undefined || given === null) {
      missing += a;
      uncovered.push({ id: holding.id, reason: "score_missing" });
      continue;
    }
    const { t, low: lowC, high: highC } = typeof given === "number" ? { t: given } : given;
    coveredValue += holding.value;
    weight += a;
    score += a * t;
    low += a * (lowC ?? t);
    high += a * (highC ?? t);
    covered.push({ id: holding.id, weight: a, t, width: (highC ?? t) - (lowC ?? t) });
  }
  let squares = 0;
  const temperature = score / weight;
  const contributions = covered.map(({ id, weight: a, t, width }) => {
    squares += ((a * width) / 2) ** 2;
    const contribution = (a * t) / weight;
    const without = weight - a === 0 ? null : (score - a * t) / (weight - a);
    return { id, weight: a / weight, temperature: t, contribution, share: contribution / temperature, without };
  });
  return {
    temperature,
    range: { low: low / weight, high: high / weight },
    halfWidth: Math.sqrt(squares) / weight,
    coverage: {
      holdings: covered.length / holdings.length,
      value: coveredValue / value,
      weight: weight / (weight + missing),
    },
    bounds: {
      low: (score + missing * 1.3) / (weight + missing),
      high: (score + missing * 3.2) / (weight + missing),
    },
    uncovered,
    contributions,
  };
}

function weightOf(holding: Holding, method: PortfolioMethod, scope: PortfolioScope): number | string {
  if (method === "WATS") return holding.value;
  const { scope1 = null, scope2 = null, scope3 = null } = holding;
  const scopes1And2 = scope1 === null && scope2 === null ? null : (scope1 ?? 0) + (scope2 ?? 0);
  const emissions =
    scope === "s1s2"
      ? scopes1And2
      : scope === "s3"
        ? scope3
        : scopes1And2 === null || scope3 === null
          ? null
          : scopes1And2 + scope3;
  if (emissions === null) return "emissions_missing";
  if (emissions < 0) return "emissions_negative";
  if (method === "TETS") return emissions;
  const denominator = denominatorOf(holding, method);
  if (denominator === null) return "denominator_missing";
  if (denominator <= 0) return "denominator_not_positive";
  return (holding.value / denominator) * emissions;
}

function denominatorOf(holding: Holding, method: Exclude<PortfolioMethod, "WATS" | "TETS">): number | null {
  switch (method) {
    case "MOTS":
      return holding.market_cap ?? null;
    case "EOTS":
      return holding.enterprise_value ?? null;
    case "ECOTS": {
      const { evic = null, enterprise_value: enterpriseValue = null, cash = null } = holding;
      if (evic !== null) return evic;
      return enterpriseValue === null || cash === null ? null : enterpriseValue + cash;
    }
    case "AOTS":
      return holding.total_assets ?? null;
    default:
      return holding.revenue ?? null;
  }
}
