import type { FoundLayers } from "./found.ts";
import type { MetricName } from "./hazards.ts";
import type { Plan, PlannedLayer, PlannedScenario, PlannedYear } from "./plan.ts";
import type { HazardQuery } from "./query.ts";
import type { AnalysisYearResult, AnswerDetail, NoDataReason, ScenarioResult } from "./result.ts";

/** The object of one scenario: what was found, as values, and why there is none. */
export function shape(
  query: HazardQuery,
  plan: Plan,
  { scenario, years }: PlannedScenario,
  found: FoundLayers,
): ScenarioResult {
  return { scenario, analysis_years: years.map((year) => shapeYear(query, plan, year, found)) };
}

/** The object of one analysis year. */
function shapeYear(query: HazardQuery, plan: Plan, planned: PlannedYear, found: FoundLayers): AnalysisYearResult {
  const metrics: Partial<Record<MetricName, number | null>> = {};
  let reason: NoDataReason | undefined;
  for (const { metric, own, reference } of planned.metrics) {
    const why = missing(own, found) ?? (query.anthropogenic ? missing(reference, found) : undefined);
    reason ??= why;
    metrics[metric] = why !== undefined || own === undefined ? null : valueOf(own, reference, found);
  }
  const { year } = planned;
  if (reason === undefined && !query.detail) return { analysis_year: year, metrics };
  return {
    analysis_year: year,
    metrics,
    ...(reason === undefined ? {} : { no_data: reason }),
    ...(query.detail ? { detail: detailOf(plan, planned, found) } : {}),
  };
}

function missing(layer: PlannedLayer | undefined, found: FoundLayers): NoDataReason | undefined {
  if (layer === undefined) return "layer_missing";
  return found.stepsOf(layer.position) === undefined ? found.reasonOf(layer.position) : undefined;
}

/**
 * A layer's value, or its change where a reference is given. Of two values on the same steps the steps are subtracted:
 * 0.412 m less 0.4 m is then 0.012 m, not 0.01199….
 */
function valueOf(own: PlannedLayer, reference: PlannedLayer | undefined, found: FoundLayers): number {
  const steps = found.stepsOf(own.position) ?? NaN;
  const { steps_per_unit, offset } = own.entry;
  const value = steps / steps_per_unit + offset;
  if (reference === undefined) return value;
  const before = found.stepsOf(reference.position) ?? NaN;
  const isSame = reference.entry.steps_per_unit === steps_per_unit && reference.entry.offset === offset;
  if (isSame) return (steps - before) / steps_per_unit;
  return value - (before / reference.entry.steps_per_unit + reference.entry.offset);
}

function detailOf({ rules }: Plan, { entry, metrics }: PlannedYear, found: FoundLayers): AnswerDetail {
  if (entry === undefined) return { cells: 0, valid_share: 0, source: {}, rules };
  const shares = metrics.map(({ own }) => (own === undefined ? 0 : found.shareOf(own.position)));
  const { centre } = found;
  return {
    cells: found.cells,
    valid_share: Math.min(1, ...shares),
    ...(centre === undefined ? {} : { cell_centre: { latitude: centre.latDeg, longitude: centre.lonDeg } }),
    source: { scenario: entry.scenario, analysis_year: entry.year, ...entry.provenance },
    rules,
  };
}
