/** The layers that the groups of a plan have, and how their values are stored. */
import { type HazardName, type HazardRules, HAZARDS, type MetricName, type MetricSpec } from "../hazard/hazards.ts";
import { type CurveRule, largestValue } from "../kernel/curve.ts";
import type { CurveSource, GroupPlan, HazardPlan } from "./plan.ts";

/** Numbers of steps per meter that messages suggest, the finest first. */
const DEPTH_STEPS_SUGGESTED = [1000, 500, 200, 100, 50, 20, 10, 5, 2, 1];

/** Returns the metrics of a plan's hazard with the step sizes of the plan. */
export function metricsOfPlan({ hazard, depthStepsPerMeter }: HazardPlan): readonly MetricSpec[] {
  const { metrics } = HAZARDS[hazard];
  if (depthStepsPerMeter === undefined) return metrics;
  return metrics.map((spec) => (spec.unit === "m" ? { ...spec, stepsPerUnit: depthStepsPerMeter } : spec));
}

/** Returns the metric of a hazard that is a depth in meters, if it has one. */
export function depthMetricOf(hazard: HazardName): MetricName | undefined {
  return HAZARDS[hazard].metrics.find(({ unit }) => unit === "m")?.metric;
}

/** Returns the layers that a group will have. */
export function layersOfGroup(plan: HazardPlan, group: GroupPlan): readonly MetricSpec[] {
  const { content } = group;
  const metrics = metricsOfPlan(plan);
  if (content.kind === "curves") return metrics;
  const names = new Set(Object.keys(content.metrics) as MetricName[]);
  if (names.has(HAZARDS[plan.hazard].ownMetric) && derivesIntensity(plan.rules)) names.add("intensity");
  return layersFrom(metrics, names);
}

/** Returns the layers that a group with these metrics has, in the order of the hazard's metrics. */
function layersFrom(all: readonly MetricSpec[], metrics: ReadonlySet<MetricName>): readonly MetricSpec[] {
  const has = (metric: MetricName): boolean => metrics.has(metric);
  return all.filter(({ metric }) => (metric === "total_hazard" ? has("intensity") && has("probability") : has(metric)));
}

/** Returns whether intensity is derived from the hazard's own metric, which must be a return level. */
export function derivesIntensity(rules: HazardRules): boolean {
  return rules.design_return_period_years !== undefined;
}

/** Returns how the metrics of a plan are computed from the maps of a curve. */
export function curveRuleOf({ rules }: HazardPlan, { maps }: CurveSource): Omit<CurveRule, "unitFactor"> {
  return {
    family: rules.curve ?? "gumbel",
    returnPeriods: maps.map(({ returnPeriodYears }) => returnPeriodYears),
    designReturnPeriodYears: rules.design_return_period_years ?? NaN,
    threshold: rules.threshold,
  };
}

/** Returns the largest value that a layer accepts: its last step, or the metric's maximum if that is smaller. */
export function largestAllowed(spec: MetricSpec): number {
  return Math.min(spec.max ?? Infinity, largestValue(spec));
}

/** Returns the sentence of an error message that says how a larger depth can be stored; empty for other metrics. */
export function depthStepsHint({ unit }: MetricSpec, value: number): string {
  const steps = DEPTH_STEPS_SUGGESTED.find((stepsPerUnit) => value <= largestValue({ stepsPerUnit, offset: 0 }));
  if (unit !== "m" || steps === undefined) return "";
  const largest = Number(largestValue({ stepsPerUnit: steps, offset: 0 }).toPrecision(5));
  return ` If it is a depth, --depth-steps-per-meter ${steps} stores depths up to ${largest} m in a new atlas.`;
}
