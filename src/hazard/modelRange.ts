/** Samples the range of metrics over climate models, which `isotherm ingest --keep-range` stores. */
import type { LayerSet, SampledGroup } from "../atlas/layerSet.ts";
import type { Sampler } from "../atlas/sampler.ts";
import { type SupplementKind, supplementKindOf, supplementName } from "../atlas/supplement.ts";
import type { ModelRanges } from "../contract/wireTypes.ts";
import { type HazardName, layerOf, type MetricName } from "./hazards.ts";
import { cachedPlans } from "./plan.ts";
import type { PlannedLayer } from "./sampledLayers.ts";
import type { HazardQuery } from "./query.ts";
import type { QueryRun } from "./batch.ts";
import { type SampledLayers, sampleLayers, valueOfSteps } from "./sampledLayers.ts";

/** The layers of the range of one scenario and year. */
export interface RangePlan {
  readonly set: LayerSet;
  readonly metrics: readonly {
    readonly metric: MetricName;
    readonly minimum: PlannedLayer;
    readonly maximum: PlannedLayer;
  }[];
}

/** Ranges by scenario and year, see `rangeKey`; scenarios and years without a stored range are absent. */
export type SampledRanges = ReadonlyMap<string, ModelRanges>;

export const NO_RANGES: SampledRanges = new Map();

/** Returns the key of a requested scenario and year. */
export function rangeKey(scenario: HazardQuery["scenarios"][number], year: number): string {
  const stored = layerOf(scenario, year);
  return `${stored.scenario} ${stored.year}`;
}

/**
 * Returns the plans of the ranges that the details of a query state, by scenario and year. A change has no range, because the
 * ranges of both sides do not determine it.
 */
export function plannedRanges(
  sampler: Sampler,
  hazard: HazardName,
  query: HazardQuery,
): ReadonlyMap<string, RangePlan> {
  const ranges = new Map<string, RangePlan>();
  if (!query.detail || query.anthropogenic || !sampler.hazards.has(supplementName(hazard))) return ranges;
  for (const scenario of query.scenarios) {
    for (const year of query.analysis_years) {
      const plan = rangePlanOf(sampler, hazard, layerOf(scenario, year));
      if (plan !== undefined) ranges.set(rangeKey(scenario, year), plan);
    }
  }
  return ranges;
}

/** Samples the ranges that the details of a query state. @throws Fault `atlas_unavailable`; the signal's reason when aborted */
export async function sampleRanges(
  sampler: Sampler,
  hazard: HazardName,
  query: HazardQuery,
  { timeSlice, signal }: QueryRun,
): Promise<SampledRanges> {
  const plans = plannedRanges(sampler, hazard, query);
  if (plans.size === 0) return NO_RANGES;
  const ranges = new Map<string, ModelRanges>();
  for (const [key, { set, metrics }] of plans) {
    signal?.throwIfAborted();
    const sampled = await sampleLayers(sampler, set, { ...query, detail: false }, timeSlice);
    const stated: { -readonly [Metric in keyof ModelRanges]: ModelRanges[Metric] } = {};
    for (const { metric, minimum, maximum } of metrics) {
      if (metric === "total_hazard" && !query.total_hazard) continue;
      const values = { minimum: valueOf(minimum, sampled), maximum: valueOf(maximum, sampled) };
      if (values.minimum !== undefined && values.maximum !== undefined) {
        stated[metric] = { minimum: values.minimum, maximum: values.maximum };
      }
    }
    if (Object.keys(stated).length > 0) ranges.set(key, stated);
  }
  return ranges;
}

function valueOf({ position, entry }: PlannedLayer, sampled: SampledLayers): number | undefined {
  const steps = sampled.stepsOf(position);
  return steps === undefined ? undefined : valueOfSteps(steps, entry);
}

const rangePlanOf = cachedPlans((sampler, hazard, { scenario, year }): RangePlan | undefined => {
  const supplement = sampler.hazards.get(supplementName(hazard));
  const groups = supplement?.groups(scenario, year) ?? [];
  const [minimum, maximum] = [groupOf(groups, "metrics_min"), groupOf(groups, "metrics_max")];
  if (supplement === undefined || minimum === undefined || maximum === undefined) return undefined;
  const layers = [minimum, maximum].flatMap(({ source, group, entry }) =>
    entry.layers.map((layerEntry, layer) => ({ source, group, layer, entry: layerEntry })),
  );
  const metrics = minimum.entry.layers.flatMap((entry, position) => {
    const at = maximum.entry.layers.findIndex(({ metric }) => metric === entry.metric);
    const maximumEntry = maximum.entry.layers[at];
    if (maximumEntry === undefined) return [];
    return [
      {
        metric: entry.metric as MetricName,
        minimum: { entry, position },
        maximum: { entry: maximumEntry, position: minimum.entry.layers.length + at },
      },
    ];
  });
  return { set: sampler.layerSet(supplement, layers), metrics };
});

function groupOf(groups: readonly SampledGroup[], kind: SupplementKind): SampledGroup | undefined {
  return groups.find(({ entry }) => supplementKindOf(entry) === kind);
}
