/** Finds the layers of the return-period curves of an open atlas, and reads curves from their samples. */
import type { NoDataReason } from "../contract/wireTypes.ts";
import type { FieldLayer } from "../atlas/cachedField.ts";
import type { LayerSet, SampledGroup } from "../atlas/layerSet.ts";
import type { Sampler } from "../atlas/sampler.ts";
import { returnPeriodsOf, type SupplementKind, supplementKindOf, supplementName } from "../atlas/supplement.ts";
import type { HazardName, StoredLayer } from "./hazards.ts";
import { cachedPlans } from "./plan.ts";
import { type PlannedLayer, type SampledSteps, valueOfSteps } from "./sampledLayers.ts";

/** The layers of the curve of one scenario and year. All lists are in ascending order of return period. */
export interface CurvePlan {
  readonly set: LayerSet;
  readonly unit: string;
  readonly variate: "gumbel" | "log";
  readonly returnPeriodsYears: readonly number[];
  readonly values: readonly PlannedLayer[];
  /** Extremes over climate models; undefined if the atlas does not have them. */
  readonly minimum: readonly PlannedLayer[] | undefined;
  readonly maximum: readonly PlannedLayer[] | undefined;
}

/** Returns whether the atlas has the curve of at least one scenario and year of the hazard. */
export function hasCurves(sampler: Sampler, hazard: HazardName): boolean {
  const groups = sampler.hazards.get(supplementName(hazard))?.allGroups() ?? [];
  return groups.some(({ entry }) => supplementKindOf(entry) === "curve");
}

/** Returns the plan of a curve, or undefined if the atlas does not have it. */
export const curvePlanOf = cachedPlans(makeCurvePlan);

function makeCurvePlan(sampler: Sampler, hazard: HazardName, { scenario, year }: StoredLayer): CurvePlan | undefined {
  const supplement = sampler.hazards.get(supplementName(hazard));
  const groups = supplement?.groups(scenario, year) ?? [];
  const curve = curveLayers(groups, "curve");
  if (supplement === undefined || curve === undefined) return undefined;
  const periods = curve.returnPeriodsYears.join();
  const extremeLayers = (kind: SupplementKind): readonly FieldLayer[] | undefined => {
    const extreme = curveLayers(groups, kind);
    return extreme?.returnPeriodsYears.join() === periods ? extreme.layers : undefined;
  };
  const [minimum, maximum] = [extremeLayers("curve_min"), extremeLayers("curve_max")];
  const layers = [curve.layers, minimum ?? [], maximum ?? []].flat();
  const positionsOf = (some: readonly FieldLayer[]): readonly PlannedLayer[] =>
    some.map((layer) => ({ entry: layer.entry, position: layers.indexOf(layer) }));
  return {
    set: sampler.layerSet(supplement, layers),
    unit: curve.layers[0]?.entry.unit ?? "",
    variate: curve.variate,
    returnPeriodsYears: curve.returnPeriodsYears,
    values: positionsOf(curve.layers),
    minimum: minimum && positionsOf(minimum),
    maximum: maximum && positionsOf(maximum),
  };
}

/** Returns the layers of the groups of one kind by return period; undefined if there are none or they are invalid. */
function curveLayers(
  groups: readonly SampledGroup[],
  kind: SupplementKind,
):
  | {
      readonly layers: readonly FieldLayer[];
      readonly returnPeriodsYears: readonly number[];
      readonly variate: CurvePlan["variate"];
    }
  | undefined {
  const ofKind = groups.filter(({ entry }) => supplementKindOf(entry) === kind);
  const variate = ofKind[0]?.entry.provenance["variate"];
  if (variate !== "gumbel" && variate !== "log") return undefined;
  const nodes: { readonly period: number; readonly layer: FieldLayer }[] = [];
  for (const { source, group, entry } of ofKind) {
    const periods = returnPeriodsOf(entry);
    if (periods === undefined || entry.provenance["variate"] !== variate) return undefined;
    for (const [layer, period] of periods.entries()) {
      nodes.push({ period, layer: { source, group, layer, entry: entry.layers[layer] as FieldLayer["entry"] } });
    }
  }
  nodes.sort((a, b) => a.period - b.period);
  return { layers: nodes.map(({ layer }) => layer), returnPeriodsYears: nodes.map(({ period }) => period), variate };
}

/** Returns the values of a curve in ascending order of return period, or the reason why there is no curve. */
export function curveValuesOf({ values }: CurvePlan, sampled: SampledSteps): readonly number[] | NoDataReason {
  const missing = values.find(({ position }) => sampled.stepsOf(position) === undefined);
  return missing === undefined ? runningMaximum(values, sampled) : sampled.reasonOf(missing.position);
}

/** Returns the values of layers at a point or circle, each at least as large as the one before it. */
export function runningMaximum(layers: readonly PlannedLayer[], sampled: SampledSteps): readonly number[] {
  let largest = -Infinity;
  return layers.map(({ position, entry }) => {
    const value = valueOfSteps(sampled.stepsOf(position) ?? NaN, entry);
    if (value > largest) largest = value;
    return largest;
  });
}
