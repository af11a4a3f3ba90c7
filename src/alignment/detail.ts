import type { AlignmentDetail, EmissionsBudget, Entity, Pathway, TemperatureRange } from "../contract/wireTypes.ts";
import { alignDetail, type AlignmentFigures, type AlignmentRowDetail } from "../kernel/alignmentDetail.ts";
import { NO_GROWTH_SERIES, SCOPES } from "../kernel/alignmentColumns.ts";
import { ALIGNMENT_METHOD } from "../contract/names.ts";
import { type AlignedEntities, entityFlagsOf, firstRowOf, yearFlagsOf } from "./alignEntities.ts";
import { flagBit, flagsOfMask } from "./answer.ts";
import { type Benchmark, growthIndex } from "./benchmark.ts";
import type { EntityClassification } from "./classification.ts";
import { tablesOf } from "./sharedKernel.ts";

/** Compares the emissions of an entity with those that a scenario allows, in the unit of the request. */
export function budgetOf(
  scenario: string,
  { allowed, projected }: { readonly allowed: number; readonly projected: number },
): EmissionsBudget {
  return {
    scenario,
    allowed,
    projected,
    overshoot: projected - allowed,
    overshoot_pct: allowed <= 0 ? null : 100 * (projected / allowed - 1),
  };
}

/** Returns the details of the years of an entity. */
export function alignmentDetailsOf(aligned: AlignedEntities, index: number): readonly AlignmentDetail[] {
  const { kernel, entities, benchmark, rule, classifications, columns } = aligned;
  const entity = entities[index];
  const classification = classifications[index];
  if (entity === undefined || classification === undefined) throw new Error(`There is no entity ${index}.`);
  const rows = alignDetail(kernel, tablesOf(benchmark), columns, { ...rule, entity: index });
  const entityFlags = entityFlagsOf(aligned, index);
  const firstRow = firstRowOf(aligned, index);
  return rows.map((row, i) => {
    const flags = entityFlags | yearFlagsOf(aligned, firstRow + i);
    return detailOf(aligned, row, { entity, classification, recordIndex: i, flags });
  });
}

interface DetailedRow {
  readonly entity: Entity;
  readonly classification: EntityClassification;
  /** Index of the projection record in the entity. */
  readonly recordIndex: number;
  /** Bits of the flags of the entity and of the year. */
  readonly flags: number;
}

function detailOf(
  { benchmark, rule }: AlignedEntities,
  row: AlignmentRowDetail,
  detailed: DetailedRow,
): AlignmentDetail {
  const { classification, flags } = detailed;
  const { pathway, matched } = classification.match;
  const figures = row[rule.basis];
  const usable = SCOPES.filter((_, scope) => figures.usableScopes[scope] === true);
  const hasUsableScope = usable.length > 0;
  const hasBaseline = (flags & flagBit("zero_baseline")) === 0;
  const revenue = revenueOf(detailed, benchmark);
  const series = seriesOf(figures, classification, benchmark);
  return {
    method: ALIGNMENT_METHOD,
    benchmark: benchmark.id,
    credit: benchmark.credit,
    basis: rule.basis,
    temperature_intensity: finiteOrNull(row.intensity.temperatureC),
    temperature_emissions: finiteOrNull(row.emissions.temperatureC),
    temperature_cumulative: finiteOrNull(row.cumulative.temperatureC),
    pathway,
    matched: { on: matched?.on ?? null, row: matched?.row ?? null, key: matched?.key ?? null },
    scope_pathways: byScope(usable, (scope) => pathwayOfScope(scope, pathway)),
    emissions: {
      baseline: hasUsableScope ? finiteOrNull(figures.baseline) : null,
      projected: hasUsableScope ? finiteOrNull(figures.projected) : null,
    },
    emissions_ratio: hasBaseline ? finiteOrNull(Math.max(figures.projected, 0) / figures.baseline) : null,
    growth: { source: figures.growthSource ?? null, series, factor: finiteOrNull(figures.growthFactor) },
    growth_factor: finiteOrNull(figures.growthFactor),
    emissions_ratio_q: finiteOrNull(figures.ratioQ),
    evaluated_year: figures.evaluatedYear,
    anchors: benchmark.anchors,
    benchmark_ratio_at_anchors: listOrNull(figures.anchors),
    benchmark_ratio_raw: listOrNull(figures.rawAnchors),
    between: betweenOf(figures, benchmark),
    growth_region: series,
    revenue,
    intensity: {
      baseline: hasUsableScope ? quotientOrNull(figures.baseline, revenue.baseline) : null,
      projected: hasUsableScope ? quotientOrNull(figures.projected, revenue.projected) : null,
    },
    convergence: Number.isNaN(figures.kappa) ? null : { kappa: figures.kappa, gamma: rule.gamma },
    temperature_by_scope: byScope(usable, (_, index) => finiteOrNull(row.byScope[index]?.temperatureC ?? NaN)),
    range: rangeOrNull(figures.rangeLowC, figures.rangeHighC),
    climate_range: rangeOrNull(figures.climateLowC, figures.climateHighC),
    by_scope: {
      s1s2: finiteOrNull(row.scopes12.temperatureC),
      s3: finiteOrNull(row.byScope[2]?.temperatureC ?? NaN),
    },
    budget: budgetsOf(row, benchmark),
    coverage: finiteOrNull(figures.coverage),
    flags: flagsOfMask(flags),
  };
}

/** Returns the id of the growth series that the growth factor is computed from; null if there is none. */
function seriesOf(
  { growthSource }: AlignmentFigures,
  { growthSeries }: EntityClassification,
  { growth }: Benchmark,
): string | null {
  return growthSource === "country" || growthSource === "region" ? (growth[growthSeries]?.id ?? null) : null;
}

/**
 * Returns the revenue of the baseline, and that of the year: as given or, if it is not given, grown with the economy of
 * the entity's country.
 */
function revenueOf(
  { entity, classification, recordIndex }: DetailedRow,
  benchmark: Benchmark,
): AlignmentDetail["revenue"] {
  const [baseline] = entity.data;
  const record = entity.projected_emissions[recordIndex];
  if (baseline === undefined || record === undefined) throw new Error("An entity has a baseline and projections.");
  const baselineRevenue = baseline.financials?.revenue ?? null;
  const given = record.financials?.revenue;
  if (given !== undefined) return { baseline: baselineRevenue, projected: given };
  const { growthSeries } = classification;
  const series = growthSeries === NO_GROWTH_SERIES ? undefined : benchmark.growth[growthSeries];
  if (baselineRevenue === null || !(baselineRevenue > 0) || series === undefined) {
    return { baseline: baselineRevenue, projected: null };
  }
  const growth = growthIndex(benchmark, series, record.year) / growthIndex(benchmark, series, baseline.year);
  return { baseline: baselineRevenue, projected: baselineRevenue * growth };
}

/** Returns the budgets against all anchors; null without a usable scope or with a baseline of zero. */
function budgetsOf({ budget }: AlignmentRowDetail, { anchors }: Benchmark): readonly EmissionsBudget[] | null {
  const { projected, allowed } = budget;
  if (Number.isNaN(projected)) return null;
  return anchors.map(({ scenario }, anchor) => budgetOf(scenario, { allowed: allowed[anchor] ?? NaN, projected }));
}

function finiteOrNull(value: number): number | null {
  return Number.isFinite(value) ? value : null;
}

function listOrNull(values: readonly number[]): readonly number[] | null {
  return values.some(Number.isNaN) ? null : values;
}

function rangeOrNull(low: number, high: number): TemperatureRange | null {
  return Number.isNaN(low) || Number.isNaN(high) ? null : { low, high };
}

/** Returns emissions divided by revenue; null unless the revenue is positive. */
function quotientOrNull(emissions: number, revenue: number | null): number | null {
  return revenue === null || !(revenue > 0) ? null : finiteOrNull(emissions / revenue);
}

type Scope = (typeof SCOPES)[number];

function byScope<Value>(
  usable: readonly Scope[],
  valueOf: (scope: Scope, index: number) => Value,
): Partial<Record<Scope, Value>> {
  return Object.fromEntries(usable.map((scope) => [scope, valueOf(scope, SCOPES.indexOf(scope))]));
}

function pathwayOfScope(scope: Scope, pathway: Pathway): Pathway {
  if (scope === "scope1") return pathway;
  if (scope === "scope2") return "power";
  return pathway === "transport" || pathway === "buildings" ? pathway : "economy";
}

function betweenOf({ segment, weight }: AlignmentFigures, { anchors }: Benchmark): AlignmentDetail["between"] {
  if (Number.isNaN(segment)) return null;
  return { below: anchors[segment - 1]?.scenario ?? null, above: anchors[segment]?.scenario ?? null, weight };
}
