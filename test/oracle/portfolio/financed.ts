/** Financed emissions. */
import type { Budget, Holding } from "./holdings.ts";
import { emissionsOf, evicOf } from "./weights.ts";

interface PerScope<Value> {
  readonly s1s2: Value;
  readonly s3: Value;
}

interface FinancedHolding {
  readonly id: string;
  readonly attribution: number;
  readonly flags?: readonly ["attribution_above_one"];
  readonly s1s2?: number;
  readonly s3?: number;
}

/** The member `financed`. */
export interface Financed {
  readonly holdings: readonly FinancedHolding[];
  readonly uncovered: readonly {
    readonly id: string;
    readonly reason: "denominator_missing" | "denominator_not_positive";
  }[];
  readonly financed_emissions: PerScope<number>;
  readonly coverage: PerScope<number>;
  readonly intensity_per_million: PerScope<number | null>;
  readonly data_quality: PerScope<number | null>;
  readonly data_quality_coverage: PerScope<number>;
  readonly waci_per_million: number | null;
  readonly waci_coverage: number;
  readonly budget: (Budget & { readonly overshoot: number; readonly overshoot_pct: number | null }) | null;
  readonly budget_coverage: number;
}

interface Attributed {
  readonly holding: Holding;
  readonly factor: number;
}

export function financedOf(holdings: readonly Holding[]): Financed {
  const attributed = holdings.flatMap((holding): readonly Attributed[] => {
    const factor = attributionOf(holding);
    return typeof factor === "number" ? [{ holding, factor }] : [];
  });
  const valueSum = sum(holdings, ({ value }) => value);
  const shareOfValue = (part: readonly Holding[]): number =>
    valueSum > 0 ? sum(part, ({ value }) => value) / valueSum : 0;
  const perScope = <Value>(figure: (scope: "s1s2" | "s3") => Value): PerScope<Value> => ({
    s1s2: figure("s1s2"),
    s3: figure("s3"),
  });
  const withEmissions = perScope((scope) => attributed.filter(({ holding }) => emissionsOf(holding, scope) !== null));
  const financedEmissions = perScope((scope) =>
    sum(withEmissions[scope], ({ holding, factor }) => factor * (emissionsOf(holding, scope) ?? NaN)),
  );
  const withQuality = perScope((scope) =>
    withEmissions[scope].map(({ holding }) => holding).filter(({ quality }) => quality[scope] !== null),
  );
  const withIntensity = holdings.filter(
    (holding) => emissionsOf(holding, "s1s2") !== null && (holding.figures.revenue ?? 0) > 0,
  );
  const withBudget = attributed.filter(({ holding }) => holding.budget !== null);
  return {
    holdings: attributed.map((item) => financedHolding(item)),
    uncovered: holdings.flatMap((holding) => {
      const reason = attributionOf(holding);
      return typeof reason === "string" ? [{ id: holding.id, reason }] : [];
    }),
    financed_emissions: financedEmissions,
    coverage: perScope((scope) => shareOfValue(withEmissions[scope].map(({ holding }) => holding))),
    intensity_per_million: perScope((scope) => {
      const value = sum(withEmissions[scope], ({ holding }) => holding.value);
      return value > 0 ? (1e6 * financedEmissions[scope]) / value : null;
    }),
    data_quality: perScope((scope) => meanByValue(withQuality[scope], ({ quality }) => quality[scope] ?? NaN)),
    data_quality_coverage: perScope((scope) => shareOfValue(withQuality[scope])),
    waci_per_million: meanByValue(
      withIntensity,
      (holding) => 1e6 * ((emissionsOf(holding, "s1s2") ?? NaN) / (holding.figures.revenue ?? NaN)),
    ),
    waci_coverage: shareOfValue(withIntensity),
    budget: budgetOf(withBudget),
    budget_coverage: shareOfValue(withBudget.map(({ holding }) => holding)),
  };
}

/** Attribution factor: V / EVIC, or V / (equity + debt) where EVIC is missing; or why there is no factor. */
function attributionOf({ value, figures }: Holding): number | "denominator_missing" | "denominator_not_positive" {
  const { equity = null, debt = null } = figures;
  const denominator = evicOf(figures) ?? (equity === null || debt === null ? null : equity + debt);
  if (denominator === null) return "denominator_missing";
  return denominator > 0 ? value / denominator : "denominator_not_positive";
}

function financedHolding({ holding, factor }: Attributed): FinancedHolding {
  const [s1s2, s3] = [emissionsOf(holding, "s1s2"), emissionsOf(holding, "s3")];
  return {
    id: holding.id,
    attribution: factor,
    ...(factor > 1 ? { flags: ["attribution_above_one"] } : {}),
    ...(s1s2 === null ? {} : { s1s2: factor * s1s2 }),
    ...(s3 === null ? {} : { s3: factor * s3 }),
  };
}

/** Financed budget: allowed and projected emissions of the holdings that have a budget. */
function budgetOf(withBudget: readonly Attributed[]): Financed["budget"] {
  if (withBudget.length === 0) return null;
  const total = (member: keyof Budget): number =>
    sum(withBudget, ({ holding, factor }) => factor * (holding.budget?.[member] ?? NaN));
  const [allowed, projected] = [total("allowed"), total("projected")];
  return {
    allowed,
    projected,
    overshoot: projected - allowed,
    overshoot_pct: allowed <= 0 ? null : 100 * (projected / allowed - 1),
  };
}

/** Mean weighted by value; null where the values add up to 0. */
function meanByValue(holdings: readonly Holding[], figure: (holding: Holding) => number): number | null {
  const total = sum(holdings, ({ value }) => value);
  return total > 0 ? sum(holdings, (holding) => holding.value * figure(holding)) / total : null;
}

function sum<Item>(items: readonly Item[], figure: (item: Item) => number): number {
  return items.reduce((total, item) => total + figure(item), 0);
}
