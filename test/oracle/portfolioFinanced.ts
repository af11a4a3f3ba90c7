/** Financed emissions of a portfolio after PCAF: equations 15 to 20 of portfolio aggregation, method version 1. */
import { emissionsOf, evicOf, mergedHoldings } from "./portfolio.ts";
import type { Holding } from "./portfolio.ts";

type PcafScope = "s1s2" | "s3";
type PerScope<T> = Readonly<Record<PcafScope, T>>;

interface FinancedHolding {
  readonly id: string;
  readonly attribution: number;
  readonly isAboveOne: boolean;
  /** t CO2e; null where the company's emissions are missing. */
  readonly emissions: PerScope<number | null>;
}

export interface Financed {
  readonly holdings: readonly FinancedHolding[];
  readonly uncovered: readonly { readonly id: string; readonly reason: DenominatorReason }[];
  /** t CO2e. */
  readonly emissions: PerScope<number>;
  /** Share of the value whose emissions are in `emissions`. */
  readonly coverage: PerScope<number>;
  readonly intensityPerMillion: PerScope<number | null>;
  readonly dataQuality: PerScope<number | null>;
  readonly dataQualityCoverage: PerScope<number>;
  readonly waciPerMillion: number | null;
  readonly waciCoverage: number;
  /** Null where no holding has a budget. */
  readonly budget: {
    readonly allowed: number;
    readonly projected: number;
    readonly overshoot: number;
    readonly overshootPct: number | null;
  } | null;
}

type DenominatorReason = "denominator_missing" | "denominator_not_positive";

/** Equation 15, φ: share of the company that the holding finances, or why there is none. */
function attributionOf(holding: Holding): number | DenominatorReason {
  const { equity, debt } = holding;
  const equityAndDebt = (equity ?? null) === null || (debt ?? null) === null ? null : (equity ?? 0) + (debt ?? 0);
  const denominator = evicOf(holding) ?? equityAndDebt;
  if (denominator === null) return "denominator_missing";
  if (denominator <= 0) return "denominator_not_positive";
  return holding.value / denominator;
}

/** Financed emissions of the holdings after merging. */
export function financedOf(lines: readonly Holding[]): Financed {
  const all = mergedHoldings(lines).map((holding) => ({ holding, attribution: attributionOf(holding) }));
  const attributed = all.flatMap(({ holding, attribution }) =>
    typeof attribution === "number" ? [{ holding, attribution }] : [],
  );
  const value = sumOf(all, ({ holding }) => holding.value);
  return {
    holdings: attributed.map(({ holding, attribution }) => ({
      id: holding.id,
      attribution,
      isAboveOne: attribution > 1,
      emissions: perScope((scope) => financedEmissions(holding, attribution, scope)),
    })),
    uncovered: all.flatMap(({ holding, attribution }) =>
      typeof attribution === "number" ? [] : [{ id: holding.id, reason: attribution }],
    ),
    emissions: perScope((scope) => portfolioEmissions(attributed, scope)),
    coverage: perScope((scope) => shareOf(valueOf(withEmissions(attributed, scope)), value)),
    intensityPerMillion: perScope((scope) => intensityPerMillion(attributed, scope)),
    dataQuality: perScope((scope) => dataQuality(attributed, scope)),
    dataQualityCoverage: perScope((scope) => shareOf(valueOf(withQuality(attributed, scope)), value)),
    waciPerMillion: waciPerMillion(all),
    waciCoverage: shareOf(valueOf(withIntensity(all)), value),
    budget: budgetOf(attributed),
  };
}

interface Attributed {
  readonly holding: Holding;
  readonly attribution: number;
}

function financedEmissions(holding: Holding, attribution: number, scope: PcafScope): number | null {
  const emissions = emissionsOf(holding, scope);
  return emissions === null ? null : attribution * emissions;
}

function withEmissions(attributed: readonly Attributed[], scope: PcafScope): readonly Attributed[] {
  return attributed.filter(({ holding }) => emissionsOf(holding, scope) !== null);
}

function withQuality(attributed: readonly Attributed[], scope: PcafScope): readonly Attributed[] {
  return withEmissions(attributed, scope).filter(({ holding }) => qualityOf(holding, scope) !== null);
}

function withIntensity<T extends { readonly holding: Holding }>(all: readonly T[]): readonly T[] {
  return all.filter(({ holding }) => emissionsOf(holding, "s1s2") !== null && (holding.revenue ?? 0) > 0);
}

function qualityOf(holding: Holding, scope: PcafScope): number | null {
  return holding.data_quality?.[scope] ?? null;
}

/** Equation 16. */
function portfolioEmissions(attributed: readonly Attributed[], scope: PcafScope): number {
  return sumOf(attributed, ({ holding, attribution }) => financedEmissions(holding, attribution, scope) ?? 0);
}

/** Equation 17, t CO2e per million of value; null where no value has emissions. */
function intensityPerMillion(attributed: readonly Attributed[], scope: PcafScope): number | null {
  const value = valueOf(withEmissions(attributed, scope));
  return value === 0 ? null : (1e6 * portfolioEmissions(attributed, scope)) / value;
}

/** Equation 18; null where no holding of equation 16 has a score. */
function dataQuality(attributed: readonly Attributed[], scope: PcafScope): number | null {
  const withScore = withQuality(attributed, scope);
  const value = valueOf(withScore);
  return value === 0
    ? null
    : sumOf(withScore, ({ holding }) => holding.value * (qualityOf(holding, scope) ?? 0)) / value;
}

/** Equation 19, t CO2e per million of revenue, over holdings with scopes 1 and 2 and positive revenue. */
function waciPerMillion(all: readonly { readonly holding: Holding }[]): number | null {
  const known = withIntensity(all);
  const value = valueOf(known);
  const sum = sumOf(
    known,
    ({ holding }) => holding.value * ((emissionsOf(holding, "s1s2") ?? 0) / (holding.revenue ?? 0)),
  );
  return value === 0 ? null : (1e6 * sum) / value;
}

/** Equation 20. */
function budgetOf(attributed: readonly Attributed[]): Financed["budget"] {
  const known = attributed.flatMap(({ holding: { budget }, attribution }) =>
    budget === undefined || budget === null ? [] : [{ budget, attribution }],
  );
  if (known.length === 0) return null;
  const allowed = sumOf(known, ({ budget, attribution }) => attribution * budget.allowed);
  const projected = sumOf(known, ({ budget, attribution }) => attribution * budget.projected);
  const overshootPct = allowed <= 0 ? null : 100 * (projected / allowed - 1);
  return { allowed, projected, overshoot: projected - allowed, overshootPct };
}

function valueOf(items: readonly { readonly holding: Holding }[]): number {
  return sumOf(items, ({ holding }) => holding.value);
}

function shareOf(part: number, whole: number): number {
  return whole === 0 ? 0 : part / whole;
}

function perScope<T>(figure: (scope: PcafScope) => T): PerScope<T> {
  return { s1s2: figure("s1s2"), s3: figure("s3") };
}

function sumOf<T>(items: readonly T[], figure: (item: T) => number): number {
  return items.reduce((sum, item) => sum + figure(item), 0);
}
