/**
 * Whole portfolios: refuses what section 1 of portfolio aggregation refuses, scores holdings that come as entities, and
 * aggregates by every method and scope asked for.
 */
import { labelShares, overallOf } from "./alignment2/blend.ts";
import type { LabeledScore } from "./alignment2/blend.ts";
import type { Budget } from "./alignment2/budget.ts";
import { restrictedScores, scoreEntity } from "./alignment2/entity.ts";
import type { ScoredEntity } from "./alignment2/entity.ts";
import type { ScopeIndex } from "./alignment2/figures.ts";
import type { Reference } from "./alignment2/reference.ts";
import { refusalsOf } from "./alignment2/refusals.ts";
import type { EntityOptions, EntityRequest } from "./alignment2/request.ts";
import { aggregate, METHODS, SCOPES } from "./portfolio.ts";
import type { Aggregate, AggregationOptions, Holding, Method, Scope, Score } from "./portfolio.ts";
import { financedOf } from "./portfolioFinanced.ts";
import type { Financed } from "./portfolioFinanced.ts";

const HOLDINGS_MAX = 5000;

export interface EntityHolding extends Holding {
  readonly entity?: EntityRequest;
}

export interface PortfolioOptions extends Omit<AggregationOptions, "method" | "scope"> {
  readonly methods?: readonly Method[];
  readonly scopes?: readonly Scope[];
  readonly year?: number | "overall";
  /** Options of alignment for the holdings with an entity. */
  readonly alignment?: EntityOptions;
  /** Anchor of an entity's budget, default Net Zero 2050. */
  readonly budgetAnchor?: 0 | 1 | 2 | 3;
}

export interface PortfolioResult {
  readonly results: readonly Aggregate[];
  readonly financed: Financed;
  readonly entities: readonly (ScoredEntity | null)[];
}

/** Returns what section 1 refuses: a pointer and a reason for each fault. */
export function portfolioRefusals(
  lines: readonly EntityHolding[],
  options: PortfolioOptions,
): readonly { readonly pointer: string; readonly reason: string }[] {
  const refusals: { pointer: string; reason: string }[] = [];
  const refuse = (pointer: string, reason: string): number => refusals.push({ pointer, reason });
  if (lines.length === 0 || lines.length > HOLDINGS_MAX) refuse("/holdings", "1 to 5,000 lines");
  for (const [index, line] of lines.entries()) {
    const pointer = `/holdings/${index}`;
    if (!Number.isFinite(line.value) || line.value < 0) refuse(`${pointer}/value`, "finite and not negative");
    if ((line.entity ?? null) === null && (line.temperature ?? null) === null) refuse(pointer, "entity or temperature");
    for (const scope of ["s1s2", "s3"] as const) {
      const quality = line.data_quality?.[scope] ?? null;
      if (quality !== null && !(quality >= 1 && quality <= 5)) refuse(`${pointer}/data_quality/${scope}`, "1 to 5");
    }
  }
  const currencies = new Set(lines.map(({ currency }) => currency ?? null).filter((currency) => currency !== null));
  if (currencies.size > 1) refuse("/holdings", "one currency");
  for (const method of options.methods ?? [])
    if (!METHODS.includes(method)) refuse("/options/methods", "known methods");
  for (const scope of options.scopes ?? []) if (!SCOPES.includes(scope)) refuse("/options/scopes", "known scopes");
  return refusals;
}

/** One element per method and scope, methods in the order asked, scopes within. */
export function scorePortfolio(
  reference: Reference,
  lines: readonly EntityHolding[],
  options: PortfolioOptions,
): PortfolioResult {
  const holdings = lines.map((line) => withScores(reference, line, options));
  return {
    results: (options.methods ?? (["WATS"] as const)).flatMap((method) =>
      (options.scopes ?? (["s1s2s3"] as const)).map((scope) => aggregate(holdings, { ...options, method, scope })),
    ),
    financed: financedOf(holdings),
    entities: lines
      .flatMap(({ entity }) => (entity === undefined ? [] : [entity]))
      .map((entity) => (isScoreable(entity) ? scoreEntity(reference, entity, options.alignment) : null)),
  };
}

/** Replaces an entity by its scores and takes from it emissions, revenue and budget where it gives them. */
function withScores(reference: Reference, line: EntityHolding, options: PortfolioOptions): Holding {
  const { entity } = line;
  if (entity === undefined) return line;
  if (!isScoreable(entity)) return { ...line, temperature: null };
  const [baseline] = entity.data;
  return {
    ...line,
    temperature: {
      s1s2s3: scoreOf(reference, entity, options, [0, 1, 2]),
      s1s2: scoreOf(reference, entity, options, [0, 1]),
      s3: scoreOf(reference, entity, options, [2]),
    },
    scope1: baseline?.emissions.scope1 ?? line.scope1 ?? null,
    scope2: baseline?.emissions.scope2 ?? line.scope2 ?? null,
    scope3: baseline?.emissions.scope3 ?? line.scope3 ?? null,
    revenue: baseline?.financials?.revenue ?? line.revenue ?? null,
    budget: budgetOf(reference, entity, options) ?? line.budget ?? null,
  };
}

function isScoreable(entity: EntityRequest): boolean {
  return refusalsOf(entity).length === 0;
}

/** Score of a part of the scopes: `overall`, or the value of a year, blended where several labels have one. */
function scoreOf(
  reference: Reference,
  entity: EntityRequest,
  options: PortfolioOptions,
  scopes: readonly ScopeIndex[],
): Score | null {
  const rows = restrictedScores(reference, entity, options.alignment ?? {}, scopes);
  const score = options.year === undefined || options.year === "overall" ? overallOf(rows) : yearOf(rows, options.year);
  return score === null ? null : { t: score.temperature, ...score.range };
}

/** Mean over the labels of a year by their shares, of the last record of each that has a value (equation 20). */
function yearOf(
  rows: readonly LabeledScore[],
  year: number,
): { readonly temperature: number; readonly range: { readonly low: number; readonly high: number } } | null {
  const items = lastOfLabels(rows, year).flatMap(({ share, temperature, range }) =>
    temperature === null || range === null ? [] : [{ share, temperature, range }],
  );
  const total = items.reduce((sum, { share }) => sum + share, 0);
  if (total === 0) return null;
  const mean = (figure: (item: (typeof items)[number]) => number): number =>
    items.reduce((sum, item) => sum + item.share * figure(item), 0) / total;
  return {
    temperature: mean(({ temperature }) => temperature),
    range: { low: mean(({ range }) => range.low), high: mean(({ range }) => range.high) },
  };
}

/** The last record of each label in a year; records without label count as one label. */
function lastOfLabels<Labeled extends { readonly year: number; readonly label: string | null }>(
  rows: readonly Labeled[],
  year: number,
): readonly Labeled[] {
  return [...new Map(rows.filter((row) => row.year === year).map((row) => [row.label, row])).values()];
}

/** Budget up to the year asked for, else up to the last year with one; the mean over its labels by their shares. */
function budgetOf(
  reference: Reference,
  entity: EntityRequest,
  options: PortfolioOptions,
): { readonly allowed: number; readonly projected: number } | null {
  const { rows } = scoreEntity(reference, entity, options.alignment);
  const lastYear = Math.max(...rows.filter(({ budget }) => budget !== null).map(({ year }) => year));
  const year = typeof options.year === "number" ? options.year : lastYear;
  const shares = labelShares(entity.projected_emissions);
  const items = lastOfLabels(rows, year).flatMap(({ label, budget }) => {
    const figures = budget?.[options.budgetAnchor ?? 0];
    return figures === undefined ? [] : [{ share: label === null ? 1 : (shares.get(label) ?? NaN), figures }];
  });
  const total = items.reduce((sum, { share }) => sum + share, 0);
  if (total === 0) return null;
  const mean = (figure: (budget: Budget) => number): number =>
    items.reduce((sum, { share, figures }) => sum + share * figure(figures), 0) / total;
  return { allowed: mean(({ allowed }) => allowed), projected: mean(({ projected }) => projected) };
}
