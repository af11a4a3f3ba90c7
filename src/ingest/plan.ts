/** The plan of an ingest: the groups to write for each hazard, their layers, and the maps from which they are computed. */
import {
  type HazardName,
  type HazardRules,
  HAZARDS,
  type MetricName,
  type MetricSpec,
  type Scenario,
} from "../hazard/hazards.ts";
import type { SupplementKind } from "../atlas/supplement.ts";
import { mapCountOfMethod } from "./computedMethod.ts";
import type { Raster } from "./raster.ts";
import { type CurveRule, largestValue } from "../kernel/curve.ts";

/** One band of one file, and the factor to the metric's unit. */
export interface MapSource {
  readonly raster: Raster;
  /** From 1. */
  readonly band: number;
  /** Multiplies source values to give the metric's unit. */
  readonly unitFactor: number;
}

/** The return-period maps of one climate model, in ascending order; `model` is "" if the source has only one. */
export interface CurveSource {
  readonly model: string;
  readonly maps: readonly (MapSource & { readonly returnPeriodYears: number })[];
}

/** A map of the values of a metric. */
export interface MetricSource extends MapSource {
  /** Whether values above the metric's maximum are set to the maximum; otherwise they are rejected. */
  readonly saturate: boolean;
}

/** The maps of one (scenario, year): return-period curves, or maps of metrics. */
type GroupContent =
  | { readonly kind: "curves"; readonly models: readonly CurveSource[] }
  | {
      readonly kind: "metrics";
      readonly metrics: Readonly<Partial<Record<Exclude<MetricName, "total_hazard">, MetricSource>>>;
    };

export interface GroupPlan {
  readonly scenario: Scenario;
  readonly year: number;
  /** The year that the maps are for, if it is not `year`; it counts when years are interpolated. */
  readonly epochYear?: number;
  readonly content: GroupContent;
  /** The recipe's part of the provenance; the processing is added when the group is written. */
  readonly provenance: Readonly<Record<string, unknown>>;
}

/** Returns every map of a group, in a fixed order. */
export function mapsOf({ content }: GroupPlan): readonly MapSource[] {
  return content.kind === "curves" ? content.models.flatMap(({ maps }) => maps) : Object.values(content.metrics);
}

/** Returns the number of maps that are read for a group; those of a series are counted once for all metrics. */
export function mapCountOf(group: GroupPlan): number {
  const rasters = mapsOf(group).map(({ raster }) => raster);
  const series = new Set(rasters.flatMap(({ spec }) => (spec.kind === "computed" ? [spec.method] : [])));
  const single = rasters.filter(({ spec }) => spec.kind !== "computed").length;
  return [...series].reduce((count, method) => count + mapCountOfMethod(method), single);
}

/** Everything that one ingest writes in one pack: the metrics of a hazard, or a supplement of one scenario and year. */
export interface HazardPlan {
  readonly hazard: HazardName;
  /** Kinds of groups of a supplement, in the order of the pack; undefined for metrics. */
  readonly supplement?: readonly SupplementKind[];
  readonly rules: HazardRules;
  /** Steps per meter of depths; undefined for the default of the hazard. */
  readonly depthStepsPerMeter?: number;
  readonly groups: readonly GroupPlan[];
}

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

/** A file that was given or found in a folder but that the recipe does not use. */
export interface IgnoredFile {
  readonly file: string;
  readonly reason: string;
}
