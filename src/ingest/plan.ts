/** The plan of an ingest: the groups to write for each hazard, and the maps from which they are computed. */
import type { HazardName, HazardRules, MetricName, Scenario } from "../hazard/hazards.ts";
import type { SupplementKind } from "../atlas/supplement.ts";
import { mapCountOfMethod } from "./computedMethod.ts";
import type { Raster } from "./raster.ts";

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
