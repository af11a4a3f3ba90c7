/** Scores, budget and figures that a holding takes from its entity. */
import { overallOf } from "../alignment2/blend.ts";
import type { LabeledScore } from "../alignment2/blend.ts";
import { scoreEntity, restrictedScores } from "../alignment2/entity.ts";
import type { Reference } from "../alignment2/reference.ts";
import { refusalsOf } from "../alignment2/refusals.ts";
import { baselineOf } from "../alignment2/request.ts";
import type { EntityOptions, EntityRequest } from "../alignment2/request.ts";
import type { Budget, EntityFigures, Scope, Score } from "./holdings.ts";

export interface ScoringOptions extends EntityOptions {
  readonly year: number | "overall";
  /** Anchor of the budget, 0 for Net Zero 2050. */
  readonly budgetAnchor: number;
}

type LabeledBudget = Pick<LabeledScore, "year" | "label" | "share"> & { readonly budget: Budget | null };

const RESTRICTED_SCOPES = { s1s2: [0, 1], s3: [2] } as const;

/** An entity that alignment.md refuses has neither scores nor figures. */
export function entityFigures(reference: Reference, entity: EntityRequest, options: ScoringOptions): EntityFigures {
  if (refusalsOf(entity, options).length > 0) {
    return { scores: { s1s2: null, s3: null, s1s2s3: null }, budget: null, figures: {} };
  }
  const all = restrictedScores(reference, entity, options, [0, 1, 2]);
  const rows = scoreEntity(reference, entity, options).rows;
  const scoreOf = (scope: Scope): Score | null => {
    const scores = scope === "s1s2s3" ? all : restrictedScores(reference, entity, options, RESTRICTED_SCOPES[scope]);
    return options.year === "overall" ? overallScore(scores) : scoreOfYear(scores, options.year);
  };
  const budgets = rows.map(({ year, label, budget }, index) => ({
    year,
    label,
    share: all[index]?.share ?? NaN,
    budget: budget?.[options.budgetAnchor] ?? null,
  }));
  const { emissions, financials } = baselineOf(entity);
  return {
    scores: { s1s2: scoreOf("s1s2"), s3: scoreOf("s3"), s1s2s3: scoreOf("s1s2s3") },
    budget: budgetUntil(budgets, options.year),
    figures: { ...emissions, revenue: financials?.revenue ?? null },
  };
}

/** Overall score of an entity: the weighted mean over its years. */
function overallScore(scores: readonly LabeledScore[]): Score | null {
  const overall = overallOf(scores);
  return overall === null ? null : { t: overall.temperature, interval: overall.range };
}

/** Blended score of a year over the labels that have a value in the year; one label is its own mean. */
function scoreOfYear(scores: readonly LabeledScore[], year: number): Score | null {
  const scored = lastOfLabels(scores, year).flatMap(({ temperature: t, range, share }) =>
    t === null || range === null ? [] : [{ t, low: range.low, high: range.high, share }],
  );
  const mean = meanByShare(scored, ["t", "low", "high"]);
  return mean === null ? null : { t: mean.t, interval: { low: mean.low, high: mean.high } };
}

/** Cumulative budget up to the year, or up to the last year that has a budget. */
function budgetUntil(budgets: readonly LabeledBudget[], year: number | "overall"): Budget | null {
  const years = budgets.filter(({ budget }) => budget !== null).map((row) => row.year);
  const given = lastOfLabels(budgets, year === "overall" ? Math.max(...years) : year).flatMap(({ budget, share }) =>
    budget === null ? [] : [{ allowed: budget.allowed, projected: budget.projected, share }],
  );
  return meanByShare(given, ["allowed", "projected"]);
}

/** The last row of each label in a year. */
function lastOfLabels<Row extends { readonly year: number; readonly label: string | null }>(
  rows: readonly Row[],
  year: number,
): readonly Row[] {
  const last = new Map<string | null, Row>();
  for (const row of rows) if (row.year === year) last.set(row.label, row);
  return [...last.values()];
}

function meanByShare<Member extends string>(
  items: readonly (Readonly<Record<Member, number>> & { readonly share: number })[],
  members: readonly Member[],
): Record<Member, number> | null {
  const total = items.reduce((sum, { share }) => sum + share, 0);
  if (!(total > 0)) return null;
  const mean = (member: Member): number => items.reduce((sum, item) => sum + item.share * item[member], 0) / total;
  return Object.fromEntries(members.map((member) => [member, mean(member)])) as Record<Member, number>;
}
