/** Response elements of scored rows and entities: unrounded; members without content are absent. */
import type { Budget } from "./budget.ts";
import type { ScoredEntity } from "./entity.ts";
import type { ScoredRow } from "./row.ts";

/** Element of `results` without `entity_info`, with every member that `include` can add and all four budgets. */
export function entityElement(entity: ScoredEntity): Readonly<Record<string, unknown>> {
  const { overall } = entity;
  return withContent({
    data: entity.rows.map((row) => ({
      year: row.year,
      ...(row.label === null ? {} : { label: row.label }),
      ...yearElement(row),
      by_scope: row.byScope,
    })),
    overall:
      overall === null
        ? null
        : { temperature_alignment: overall.temperature, range: overall.range, years: overall.years },
    blended: entity.blended.map(({ year, temperature, range }) => ({
      year,
      temperature_alignment: temperature,
      range,
    })),
    flags: entity.flags,
    did_you_mean: entity.didYouMean,
  });
}

/** Members of a year without `year`, `label` and `by_scope`. */
export function yearElement(row: ScoredRow): Readonly<Record<string, unknown>> {
  return {
    temperature_alignment: row.temperature,
    ...(row.reason === null ? {} : { reason: row.reason }),
    ...withContent({
      range: row.range ?? [],
      climate_range: row.climateRange ?? [],
      budget: (row.budget ?? []).map(budgetElement),
      flags: row.flags,
    }),
    ...(row.coverage === null ? {} : { coverage: row.coverage }),
  };
}

function budgetElement(budget: Budget): Readonly<Record<string, unknown>> {
  const { scenario, allowed, projected, overshoot, overshootPct } = budget;
  return { scenario, allowed, projected, overshoot, overshoot_pct: overshootPct };
}

/** Drops empty lists and empty objects. */
function withContent(members: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(members).filter(
      ([, value]) => typeof value !== "object" || value === null || Object.keys(value).length > 0,
    ),
  );
}
