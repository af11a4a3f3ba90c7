import type { LayerSet } from "../../atlas/layerSet.ts";
import type { Sampler } from "../../atlas/sampler.ts";
import type { PlannedBounds } from "../bounds.ts";
import { HazardPlanner, type PlannedMetric } from "../plan.ts";
import { type HazardName, HAZARDS, type MetricName } from "../hazards.ts";
import { firstColumnsOf } from "./scoreArrays.ts";
import type { ScoreGroup, ScoreRequest } from "./scoreRequest.ts";

/** How the groups of one hazard are computed from the steps of a set of layers. */
export interface HazardPlan {
  readonly hazard: HazardName;
  /** Undefined if the atlas has none of the layers. */
  readonly set: LayerSet | undefined;
  readonly groups: readonly PlannedGroup[];
}

export interface PlannedGroup {
  /** Index in the request. */
  readonly index: number;
  readonly group: ScoreGroup;
  readonly columns: readonly PlannedColumn[];
  /** Undefined if the group has no bounded metric, or if no probability can be only a bound. */
  readonly bounds: PlannedBounds | undefined;
}

interface PlannedColumn extends PlannedMetric {
  /** Index among the columns of the request. */
  readonly column: number;
}

/** Plans the groups of a request, hazard by hazard. */
export function planHazards(
  sampler: Sampler,
  { groups, anthropogenic }: Pick<ScoreRequest, "groups" | "anthropogenic">,
): readonly HazardPlan[] {
  const firsts = firstColumnsOf(groups);
  return [...new Set(groups.map(({ hazard }) => hazard))].map((hazard) => {
    const planner = new HazardPlanner(sampler, hazard);
    const planned = groups.flatMap((group, index): readonly PlannedGroup[] => {
      if (group.hazard !== hazard) return [];
      const { scenario, analysisYear: year, metrics } = group;
      const plannedYear = planner.plan({ scenario, year }, sampledMetrics(hazard, metrics), {
        isChange: anthropogenic,
      });
      const columns = metrics.map((metric, i) => ({
        ...(plannedYear.metrics.find((each) => each.metric === metric) as PlannedMetric),
        column: (firsts[index] ?? 0) + i,
      }));
      return [{ index, group, columns, bounds: plannedYear.bounds }];
    });
    return { hazard, set: planner.set, groups: planned };
  });
}

/** Returns the metrics of which values or bounds of the requested metrics are computed. */
function sampledMetrics(hazard: HazardName, metrics: readonly MetricName[]): readonly MetricName[] {
  const needed = new Set(metrics);
  if (needed.has("total_hazard")) needed.add("intensity").add("probability");
  return HAZARDS[hazard].metrics.map(({ metric }) => metric).filter((metric) => needed.has(metric));
}
