/** Scores one entity-year: value, ranges, coverage and flags of the year. */
import { blendedPathway, budgetsOf, givenYears, lineOf, meanOfLine, meanOfPathways } from "./budget.ts";
import type { Blend, Budget, Point } from "./budget.ts";
import { perAnchor, TABLE_END_YEAR } from "./benchmark.ts";
import { baselineShares, coverageOf, usableScopes, weightedSum, ZERO_BASELINE_MAX } from "./figures.ts";
import type { ScopeIndex, Scopes, ScopeWeights } from "./figures.ts";
import { isImplausibleChange, NOTABLE_DIFFERENCE_C, raisedFlags } from "./flags.ts";
import type { YearFlag } from "./flags.ts";
import { growthFactor, isRevenueSupplied } from "./growth.ts";
import type { Growth, GrowthSeries } from "./growth.ts";
import type { Pathway, Percentile, PerAnchor, Reference } from "./reference.ts";
import {
  comparisonYear,
  convergenceProgress,
  convergenceRatio,
  CUMULATIVE_GAP,
  emissionsRatio,
  extendedRatio,
  orderedAnchors,
  POINT_GAP,
  temperatureAt,
} from "./temperature.ts";

export type Basis = "intensity" | "emissions" | "cumulative";
export const BASES: readonly Basis[] = ["intensity", "emissions", "cumulative"];

/** Convergence with κ computed from the industry's factors (`convergenceRatio`), or with κ given. */
export type Convergence =
  | { readonly gamma: number; readonly kappa: number }
  | {
      readonly gamma: number;
      readonly revenueMUsd2022: number;
      readonly industryFactors: readonly [number, number, number];
    };

/** One entity-year. */
export interface Row {
  readonly basis: Basis;
  readonly pathway: Pathway;
  readonly growthSeries: GrowthSeries | null;
  readonly weights: ScopeWeights;
  readonly baselineYear: number;
  readonly baseline: Scopes;
  readonly year: number;
  readonly projected: Scopes;
  /** All records of the same label, this one included, in the order submitted. */
  readonly points: readonly Point[];
  readonly revenue: number | null;
  /** Null where the member is absent. */
  readonly projectedRevenue: number | null;
  /** `unusable` where convergence is asked for and the entity does not meet its conditions. */
  readonly convergence: Convergence | "unusable" | null;
  readonly isDuplicateYear: boolean;
}

export interface Interval {
  readonly low: number;
  readonly high: number;
}
type MissingReason = "no_usable_scope" | "zero_baseline";

/** Figures of a row; null where a figure does not exist. */
export interface ScoredRow {
  readonly temperature: number | null;
  readonly reason: MissingReason | null;
  readonly range: Interval | null;
  readonly climateRange: Interval | null;
  readonly byScope: { readonly s1s2: number | null; readonly s3: number | null };
  /** Null unless `scope_dropped` is raised. */
  readonly coverage: number | null;
  readonly budget: readonly Budget[] | null;
  /** q*. */
  readonly ratio: number | null;
  /** X after and before the anchors are ordered. */
  readonly anchors: PerAnchor | null;
  readonly rawAnchors: PerAnchor | null;
  readonly evaluatedYear: number;
  /** Null in the bases that do not use growth. */
  readonly growth: Growth | null;
  /** Null where convergence does not apply. */
  readonly kappa: number | null;
  /** (X_4 - X_1)², the weight in `overall` before the share of the label. */
  readonly weight: number;
  readonly flags: readonly YearFlag[];
}

/** The value for a set of usable scopes. */
interface Value {
  readonly temperature: number | null;
  readonly reason: MissingReason | null;
  readonly figures: Figures | null;
}

interface Figures {
  readonly ratio: number;
  /** q* with the projected emissions scaled, for the range and the sensitivity flag. */
  readonly ratioAt: (emissionsScale: number) => number;
  readonly anchors: PerAnchor;
  readonly rawAnchors: PerAnchor;
  readonly moved: boolean;
  readonly kappa: number | null;
}

export function scoreRow(reference: Reference, row: Row): ScoredRow {
  const usable = usableScopes(row.baseline, row.projected, row.weights);
  const growth = row.basis === "intensity" ? growthFactor(reference.growth, row) : null;
  const factor = growth?.factor ?? 1;
  const value = valueOf(reference, row, usable, factor);
  const flags = flagsOf(reference, row, usable, value, growth);
  const restricted = (scopes: readonly ScopeIndex[]): number | null => restrictedTo(reference, row, scopes).temperature;
  return {
    temperature: value.temperature,
    reason: value.reason,
    range: rangeOf(reference, value),
    climateRange: climateRangeOf(reference, value),
    byScope: { s1s2: restricted([0, 1]), s3: restricted([2]) },
    coverage: flags.includes("scope_dropped") ? coverageOf(row.baseline, row.projected, usable, row.weights) : null,
    budget: value.figures === null ? null : rowBudgets(reference, row, usable),
    ratio: value.figures?.ratio ?? null,
    anchors: value.figures?.anchors ?? null,
    rawAnchors: value.figures?.rawAnchors ?? null,
    evaluatedYear: Math.min(comparisonYear(row.baselineYear, row.year), TABLE_END_YEAR),
    growth,
    kappa: value.figures?.kappa ?? null,
    weight: value.figures === null ? 0 : (value.figures.anchors[3] - value.figures.anchors[0]) ** 2,
    flags,
  };
}

/**
 * Part of the scopes: the row with its usable scopes restricted to these. Also gives `temperature_by_scope` (each scope alone)
 * and the rows for the overall score of a part of the scopes over all years.
 */
export function restrictedTo(
  reference: Reference,
  row: Row,
  scopes: readonly ScopeIndex[],
): { readonly temperature: number | null; readonly range: Interval | null; readonly weight: number } {
  const usable = usableScopes(row.baseline, row.projected, row.weights).filter((scope) => scopes.includes(scope));
  const factor = row.basis === "intensity" ? growthFactor(reference.growth, row).factor : 1;
  const value = valueOf(reference, row, usable, factor);
  return {
    temperature: value.temperature,
    range: rangeOf(reference, value),
    weight: value.figures === null ? 0 : (value.figures.anchors[3] - value.figures.anchors[0]) ** 2,
  };
}

/** The value, or why there is none. */
function valueOf(reference: Reference, row: Row, usable: readonly ScopeIndex[], growthFactor: number): Value {
  if (usable.length === 0) return { temperature: null, reason: "no_usable_scope", figures: null };
  const baselineSum = weightedSum(row.baseline, usable, row.weights);
  if (baselineSum < ZERO_BASELINE_MAX) return zeroBaseline(reference, row, usable);
  const figures =
    row.basis === "cumulative"
      ? cumulativeFigures(reference, row, usable)
      : pointFigures(reference, row, usable, growthFactor);
  return { temperature: medianTemperature(reference, figures, figures.ratio), reason: null, figures };
}

function medianTemperature(reference: Reference, { anchors }: Figures, ratio: number): number {
  const { p50 } = reference.benchmark.warming;
  return temperatureAt(Math.max(ratio, 0), anchors, p50, p50);
}

/** Section 11: 1.3 where nothing is emitted later either (cumulative: in no year of the line), else null. */
function zeroBaseline(reference: Reference, row: Row, usable: readonly ScopeIndex[]): Value {
  const later = row.basis === "cumulative" ? givenYears(row.points, usable) : [{ emissions: row.projected }];
  const hasEmissions = later.some(({ emissions }) => weightedSum(emissions, usable, row.weights) > 0);
  return {
    temperature: hasEmissions ? null : reference.benchmark.warming.p50.floor,
    reason: hasEmissions ? "zero_baseline" : null,
    figures: null,
  };
}

/** Ratio and ordered anchors of the bases `intensity` and `emissions`. */
function pointFigures(reference: Reference, row: Row, usable: readonly ScopeIndex[], growthFactor: number): Figures {
  const kappa = kappaOf(row, usable);
  const gamma = row.convergence === null || row.convergence === "unusable" ? 0 : row.convergence.gamma;
  const ratioAt = (emissionsScale: number): number => {
    const ratio = emissionsRatio({
      growthFactor,
      projectedSum: emissionsScale * weightedSum(row.projected, usable, row.weights),
      baselineSum: weightedSum(row.baseline, usable, row.weights),
      convergenceFactor: kappa === null ? 1 : kappa ** (gamma * convergenceProgress(row.baselineYear, row.year)),
    });
    return extendedRatio(ratio, row.baselineYear, row.year);
  };
  const yearStar = comparisonYear(row.baselineYear, row.year);
  const rawAnchors = blendedAnchors(reference, blendOf(row, usable), yearStar);
  return { ratio: ratioAt(1), ratioAt, rawAnchors, ...orderedAnchors(rawAnchors, POINT_GAP), kappa };
}

/** Section 7: means of the line and of the pathways over the years, basis `cumulative`. */
function cumulativeFigures(reference: Reference, row: Row, usable: readonly ScopeIndex[]): Figures {
  const yearStar = comparisonYear(row.baselineYear, row.year);
  const line = rowLine(row, usable);
  const ratioAt = (emissionsScale: number): number => {
    const values = line.values.map((level, index) => (index === 0 ? level : emissionsScale * level));
    return meanOfLine({ years: line.years, values }, row.baselineYear, yearStar);
  };
  const rawAnchors = meanOfPathways(reference.benchmark, blendOf(row, usable), yearStar);
  return { ratio: ratioAt(1), ratioAt, rawAnchors, ...orderedAnchors(rawAnchors, CUMULATIVE_GAP), kappa: null };
}

/** X_s: the entity's own blend of pathways in the comparison year. */
function blendedAnchors(reference: Reference, blend: Blend, yearStar: number): PerAnchor {
  return perAnchor((anchor) => blendedPathway(reference.benchmark, blend, anchor, yearStar));
}

/** Convergence ratio κ for these scopes; null where convergence is off or its industry has no intensity to compare with. */
function kappaOf(row: Row, usable: readonly ScopeIndex[]): number | null {
  const { convergence } = row;
  if (convergence === null || convergence === "unusable") return null;
  if ("kappa" in convergence) return convergence.kappa;
  const industryIntensity = weightedSum(convergence.industryFactors, usable, row.weights);
  if (!(industryIntensity > 0)) return null;
  const baselineSum = weightedSum(row.baseline, usable, row.weights);
  return convergenceRatio(baselineSum, convergence.revenueMUsd2022, industryIntensity);
}

/** Emissions range: the value at 95 % and at 105 % of the projected emissions. */
function rangeOf(reference: Reference, { temperature, figures }: Value): Interval | null {
  if (temperature === null) return null;
  if (figures === null) return { low: temperature, high: temperature };
  return {
    low: medianTemperature(reference, figures, figures.ratioAt(0.95)),
    high: medianTemperature(reference, figures, figures.ratioAt(1.05)),
  };
}

/** Climate range: the ratio as given, at the 10th and 90th percentile of the climate response. */
function climateRangeOf(reference: Reference, value: Value): Interval | null {
  if (value.temperature === null) return null;
  const { warming } = reference.benchmark;
  const { figures } = value;
  const at = (percentile: Percentile): number =>
    figures === null
      ? warming[percentile].floor
      : temperatureAt(Math.max(figures.ratio, 0), figures.anchors, warming[percentile], warming.p50);
  return { low: at("p10"), high: at("p90") };
}

/** The value in another basis, with the same convergence. */
function temperatureInBasis(reference: Reference, row: Row, basis: Basis): number | null {
  const usable = usableScopes(row.baseline, row.projected, row.weights);
  const factor = basis === "intensity" ? growthFactor(reference.growth, row).factor : 1;
  return valueOf(reference, { ...row, basis }, usable, factor).temperature;
}

function flagsOf(
  reference: Reference,
  row: Row,
  usable: readonly ScopeIndex[],
  value: Value,
  growth: Growth | null,
): readonly YearFlag[] {
  const hasScore = value.figures !== null;
  const conditions: Partial<Record<YearFlag, boolean>> = {
    scope_dropped: ([0, 1, 2] as const).some(
      (scope) => row.weights[scope] > 0 && (row.baseline[scope] === null) !== (row.projected[scope] === null),
    ),
    no_usable_scope: usable.length === 0,
    zero_baseline: usable.length > 0 && weightedSum(row.baseline, usable, row.weights) < ZERO_BASELINE_MAX,
    negative_scope: [...row.baseline, ...row.projected].some((emissions) => emissions !== null && emissions < 0),
    implausible_change: hasScore && hasImplausibleChange(row, usable),
    growth_default: growth?.source === "default",
    growth_region: growth?.source === "region",
    growth_limited: growth?.isLimited === true,
    growth_driven:
      row.basis === "intensity" && differs(value.temperature, temperatureInBasis(reference, row, "emissions")),
    revenue_unusable: isRevenueUnusable(row) || isConvergenceUnusable(row, usable),
    short_horizon: row.year < comparisonYear(row.baselineYear, row.year),
    beyond_table: comparisonYear(row.baselineYear, row.year) > TABLE_END_YEAR,
    duplicate_year: row.isDuplicateYear,
    anchors_close: value.figures?.moved === true,
    sensitive: value.figures !== null && isSensitive(reference, value.figures),
  };
  return raisedFlags(conditions, hasScore);
}

/** Sensitivity flag: 7.5 % more or less emissions move the value by more than 0.3 °C. */
function isSensitive(reference: Reference, figures: Figures): boolean {
  const at = (emissionsScale: number): number => medianTemperature(reference, figures, figures.ratioAt(emissionsScale));
  return at(1.075) - at(1) > NOTABLE_DIFFERENCE_C || at(1) - at(0.925) > NOTABLE_DIFFERENCE_C;
}

/** `implausible_change`: the sum, a usable scope with a share of at least 0.1, or supplied revenue. */
function hasImplausibleChange(row: Row, usable: readonly ScopeIndex[]): boolean {
  const years = row.year - row.baselineYear;
  const shares = baselineShares(row.baseline, usable, row.weights);
  const sum = (emissions: Scopes): number => weightedSum(emissions, usable, row.weights);
  return (
    isImplausibleChange(sum(row.baseline), sum(row.projected), years) ||
    usable.some(
      (scope) =>
        shares[scope] >= 0.1 && isImplausibleChange(row.baseline[scope] ?? NaN, row.projected[scope] ?? NaN, years),
    ) ||
    (isRevenueSupplied(row) && isImplausibleChange(row.revenue ?? NaN, row.projectedRevenue ?? NaN, years))
  );
}

/** `revenue_unusable`, basis `intensity`: projected revenue is given and the growth factor cannot use it. */
function isRevenueUnusable(row: Row): boolean {
  return row.basis === "intensity" && row.projectedRevenue !== null && !isRevenueSupplied(row);
}

/** `revenue_unusable`, point bases: convergence is asked for and cannot apply. */
function isConvergenceUnusable(row: Row, usable: readonly ScopeIndex[]): boolean {
  return row.basis !== "cumulative" && row.convergence !== null && kappaOf(row, usable) === null;
}

function differs(a: number | null, b: number | null): boolean {
  return a !== null && b !== null && Math.abs(a - b) > NOTABLE_DIFFERENCE_C;
}

function blendOf(row: Row, usable: readonly ScopeIndex[]): Blend {
  const shares = baselineShares(row.baseline, usable, row.weights);
  return { pathway: row.pathway, baselineYear: row.baselineYear, usable, shares };
}

function rowLine(row: Row, usable: readonly ScopeIndex[]) {
  const sum = weightedSum(row.baseline, usable, row.weights);
  return lineOf(row.points, { year: row.baselineYear, sum }, usable, row.weights);
}

function rowBudgets(reference: Reference, row: Row, usable: readonly ScopeIndex[]): readonly Budget[] {
  const baselineSum = weightedSum(row.baseline, usable, row.weights);
  return budgetsOf(reference.benchmark, blendOf(row, usable), rowLine(row, usable), baselineSum, row.year);
}
