/** The emissions of an entity between its records, the cumulative basis and budgets. */
import { interpolate, normalizedPathway, perAnchor, scopePathways } from "./benchmark.ts";
import type { AnchorIndex } from "./benchmark.ts";
import { weightedSum } from "./figures.ts";
import type { ScopeIndex, Scopes, ScopeWeights } from "./figures.ts";
import type { Benchmark, Pathway, PerAnchor, Series } from "./reference.ts";

/** Emissions of one projection record. */
export interface Point {
  readonly year: number;
  readonly emissions: Scopes;
}

export interface Budget {
  readonly scenario: string;
  readonly allowed: number;
  readonly projected: number;
  readonly overshoot: number;
  /** Null where nothing is allowed. */
  readonly overshootPct: number | null;
}

/** Scopes of a row, the pathway of each and their shares. */
export interface Blend {
  readonly pathway: Pathway;
  readonly baselineYear: number;
  readonly usable: readonly ScopeIndex[];
  readonly shares: readonly [number, number, number];
}

/** Given years of the line: those with all usable scopes; of a year given twice the last record submitted. */
export function givenYears(points: readonly Point[], usable: readonly ScopeIndex[]): readonly Point[] {
  const complete = points.filter(({ emissions }) => usable.every((scope) => emissions[scope] !== null));
  const lastOfYear = new Map(complete.map((point) => [point.year, point]));
  return [...lastOfYear.values()].toSorted((a, b) => a.year - b.year);
}

/** L(t): emissions relative to the baseline year, linear between the given years, constant after the last. */
export function lineOf(
  points: readonly Point[],
  baseline: { readonly year: number; readonly sum: number },
  usable: readonly ScopeIndex[],
  weights: ScopeWeights,
): Series {
  const given = givenYears(points, usable);
  const levels = given.map(({ emissions }) => Math.max(weightedSum(emissions, usable, weights), 0) / baseline.sum);
  return { years: [baseline.year, ...given.map(({ year }) => year)], values: [1, ...levels] };
}

/** Sum over the usable scopes of g_i x_k(i),s(t): the entity's own blend of pathways in one year. */
export function blendedPathway(benchmark: Benchmark, blend: Blend, anchor: AnchorIndex, year: number): number {
  const pathways = scopePathways(blend.pathway);
  let sum = 0;
  for (const scope of blend.usable) {
    sum += blend.shares[scope] * normalizedPathway(benchmark, pathways[scope], anchor, blend.baselineYear, year);
  }
  return sum;
}

/** Cumulative basis, q*: mean of the line over the years from the baseline year to y*, both included. */
export function meanOfLine(line: Series, baselineYear: number, yearStar: number): number {
  return meanOver(baselineYear, yearStar, (year) => interpolate(line, year));
}

/** Cumulative basis, X_s before the anchors are ordered: mean of the blended pathway over the same years. */
export function meanOfPathways(benchmark: Benchmark, blend: Blend, yearStar: number): PerAnchor {
  return perAnchor((anchor) =>
    meanOver(blend.baselineYear, yearStar, (year) => blendedPathway(benchmark, blend, anchor, year)),
  );
}

/** Budget: emissions after the baseline year up to `year` against those that each anchor allows. */
export function budgetsOf(
  benchmark: Benchmark,
  blend: Blend,
  line: Series,
  baselineSum: number,
  year: number,
): readonly Budget[] {
  const first = blend.baselineYear + 1;
  const projected = baselineSum * sumOver(first, year, (t) => interpolate(line, t));
  return ([0, 1, 2, 3] as const).map((anchor) => {
    const allowed = baselineSum * sumOver(first, year, (t) => blendedPathway(benchmark, blend, anchor, t));
    return {
      scenario: benchmark.scenarios[anchor],
      allowed,
      projected,
      overshoot: projected - allowed,
      overshootPct: allowed <= 0 ? null : 100 * (projected / allowed - 1),
    };
  });
}

function meanOver(first: number, last: number, figure: (year: number) => number): number {
  return sumOver(first, last, figure) / (last - first + 1);
}

function sumOver(first: number, last: number, figure: (year: number) => number): number {
  let sum = 0;
  for (let year = first; year <= last; year += 1) sum += figure(year);
  return sum;
}
