/** Plans the supplements of an ingest: the return-period curves and the ranges over models that are kept. */
import type { GroupEntry } from "../atlas/catalog.ts";
import {
  curveLayerName,
  GROUP_LAYER_COUNT_MAX,
  RETURN_PERIOD_COUNT_MAX,
  type SupplementKind,
  supplementName,
} from "../atlas/supplement.ts";
import { Fault } from "../errors.ts";
import { HAZARDS, type MetricSpec } from "../hazard/hazards.ts";
import type { IngestOptions } from "./options.ts";
import { type GroupPlan, type HazardPlan, layersOfGroup, metricsOfPlan } from "./plan.ts";

type LayerEntry = GroupEntry["layers"][number];

/** A group of a pack: the metrics of one scenario and year, or layers of one kind of a supplement. */
export interface StoredGroup {
  /** At most GROUP_LAYER_COUNT_MAX. */
  readonly layers: readonly LayerEntry[];
  /** Provenance that describes the layers of a supplement; empty for metrics. */
  readonly provenance: Readonly<Record<string, unknown>>;
}

/**
 * Returns the plans of the supplements: one for each scenario and year, so that the memory of an ingest does not depend on how
 * many there are.
 */
export function supplementPlans(
  plan: HazardPlan,
  { keepCurves, keepRange }: Pick<IngestOptions, "keepCurves" | "keepRange">,
): readonly HazardPlan[] {
  return plan.groups.flatMap((group) => {
    if (group.content.kind !== "curves") return [];
    const hasModels = group.content.models.length > 1;
    const supplement: SupplementKind[] = [
      ...(keepCurves === true ? (["curve"] as const) : []),
      ...(keepCurves === true && keepRange === true && hasModels ? (["curve_min", "curve_max"] as const) : []),
      ...(keepRange === true && hasModels ? (["metrics_min", "metrics_max"] as const) : []),
    ];
    return supplement.length === 0 ? [] : [{ ...plan, supplement, groups: [group] }];
  });
}

/**
 * Rejects `keepCurves` and `keepRange` if no map of the plans has the kept data, and curves with too many return periods.
 * @throws Fault `invalid_request`
 */
export function checkSupplements(plans: readonly HazardPlan[], { keepCurves, keepRange }: IngestOptions): void {
  const contents = plans.flatMap(({ groups }) => groups.map(({ content }) => content));
  const curves = contents.flatMap((content) => (content.kind === "curves" ? [content.models] : []));
  if (keepCurves === true && curves.length === 0) {
    throw new Fault(
      "invalid_request",
      "--keep-curves (keepCurves) has no effect: no scenario and year has return-period maps. Omit the option.",
    );
  }
  if (keepRange === true && !curves.some((models) => models.length > 1)) {
    throw new Fault(
      "invalid_request",
      "--keep-range (keepRange) has no effect: no scenario and year has maps of several climate models. Omit the option.",
    );
  }
  if (keepCurves !== true) return;
  const count = Math.max(...curves.flatMap((models) => models.map(({ maps }) => maps.length)));
  if (count > RETURN_PERIOD_COUNT_MAX) {
    throw new Fault(
      "invalid_request",
      `An atlas stores curves of at most ${RETURN_PERIOD_COUNT_MAX} return periods; the maps have ${count}. ` +
        "Omit --keep-curves (keepCurves), or some of the maps.",
    );
  }
}

/** Returns the name under which the catalog lists the pack of a plan. */
export function catalogNameOf({ hazard, supplement }: HazardPlan): string {
  return supplement === undefined ? hazard : supplementName(hazard);
}

/** Returns the groups that the pack of a plan stores for a group, in the order of the pack. */
export function storedGroupsOf(plan: HazardPlan, group: GroupPlan): readonly StoredGroup[] {
  if (plan.supplement === undefined) return [{ layers: layersOfGroup(plan, group).map(layerEntry), provenance: {} }];
  return plan.supplement.flatMap((kind): readonly StoredGroup[] => {
    if (kind === "metrics_min" || kind === "metrics_max") {
      return [{ layers: metricsOfPlan(plan).map(layerEntry), provenance: { kind } }];
    }
    const entry = layerEntry(ownMetricOf(plan));
    const periods = returnPeriodsOfGroup(group);
    const groupCount = Math.ceil(periods.length / GROUP_LAYER_COUNT_MAX);
    return Array.from({ length: groupCount }, (_, index) => {
      const some = periods.slice(index * GROUP_LAYER_COUNT_MAX, (index + 1) * GROUP_LAYER_COUNT_MAX);
      return {
        layers: some.map((years) => ({ ...entry, metric: curveLayerName(years) })),
        provenance: { kind, return_periods_years: some, variate: plan.rules.curve ?? "gumbel" },
      };
    });
  });
}

/** Returns the layer counts of the groups that a group is stored as; a chunk has the layers of every group. */
export function storedLayerCounts(plan: HazardPlan, group: GroupPlan): readonly number[] {
  return storedGroupsOf(plan, group).map(({ layers }) => layers.length);
}

/** Returns the number of layers that are stored for a group of a plan. */
export function layerCountOf(plan: HazardPlan, group: GroupPlan): number {
  return storedLayerCounts(plan, group).reduce((sum, count) => sum + count, 0);
}

/** Returns the return periods of a group of curves, in years, ascending; all models have the same. */
export function returnPeriodsOfGroup({ content }: GroupPlan): readonly number[] {
  const maps = content.kind === "curves" ? (content.models[0]?.maps ?? []) : [];
  return maps.map(({ returnPeriodYears }) => returnPeriodYears);
}

/** Returns the metric whose unit and step size the values of a curve have. */
export function ownMetricOf(plan: HazardPlan): MetricSpec {
  const { ownMetric } = HAZARDS[plan.hazard];
  const spec = metricsOfPlan(plan).find(({ metric }) => metric === ownMetric);
  if (spec === undefined) throw new Error(`${plan.hazard} has no metric ${ownMetric}.`);
  return spec;
}

function layerEntry({ metric, stepsPerUnit, offset, unit }: MetricSpec): LayerEntry {
  return { metric, steps_per_unit: stepsPerUnit, offset, unit };
}
