/** Samples the return-period curves that an atlas stores, at a point or over a circle. */
import type { CircleWork } from "../../atlas/circleWork.ts";
import type { LayerSet } from "../../atlas/layerSet.ts";
import type { Sampler } from "../../atlas/sampler.ts";
import type { NoDataReason } from "../../contract/wireTypes.ts";
import type { Circle } from "../../kernel/geodesy.ts";
import type { Location } from "../../kernel/grid.ts";
import { type HazardName, layerOf, type Scenario } from "../hazards.ts";
import type { PlannedLayer } from "../plannedLayer.ts";
import { type NamedSource, sourceOf } from "../provenance.ts";
import type { QueryRun } from "../queryRun.ts";
import { type SampledLayers, sampleLayers, type SampledSteps } from "../sampledLayers.ts";
import { valueOfSteps } from "../stepValues.ts";
import { type CurvePlan, curvePlanOf } from "./curvePlan.ts";

/** A scenario and year; the baseline and 1980 of any scenario share one stored curve. */
interface CurveLayer {
  readonly scenario: Scenario;
  readonly year: number;
}

export interface CurvesRequest {
  readonly hazard: HazardName;
  readonly latitude: number;
  readonly longitude: number;
  /** In kilometers; 0 samples the cell that contains the location. */
  readonly radius: number;
  /** How the cells of a circle are aggregated at each return period. */
  readonly aggregation_method: "max" | "mean";
  /** Whether to compute `cells` and `validShare` of a circle, which cost an additional pass for a maximum. */
  readonly detail: boolean;
  readonly layers: readonly CurveLayer[];
}

interface CurveOrigin {
  /** Source of the maps, as for metrics; undefined if the atlas has no metrics of this scenario and year. */
  readonly source: NamedSource | undefined;
  /** Rules of the hazard in this atlas. */
  readonly rules: Readonly<Record<string, unknown>>;
  /** Number of aggregated cells; 1 at a point, 0 outside the grid; only with `detail` for a circle, otherwise 0. */
  readonly cells: number;
  /** Share of the cells' area that has a value, 0 to 1; only with `detail` for a circle, otherwise 0. */
  readonly validShare: number;
  /** Center of the cell at a point; undefined for a circle. */
  readonly center: Location | undefined;
}

/** A curve. All lists have one element per return period, in ascending order of return period. */
export interface CurveValues extends CurveOrigin {
  readonly kind: "curve";
  readonly unit: string;
  /** Variate in which values are interpolated linearly between return periods. */
  readonly variate: "gumbel" | "log";
  readonly returnPeriodsYears: readonly number[];
  /** Non-decreasing. With several climate models, the mean over models at each return period. */
  readonly values: readonly number[];
  /** Smallest and largest value over climate models at each return period, non-decreasing; undefined unless kept. */
  readonly minimum: readonly number[] | undefined;
  readonly maximum: readonly number[] | undefined;
}

interface MissingCurve extends CurveOrigin {
  readonly kind: "missing";
  readonly reason: NoDataReason;
}

export type CurveSample = CurveValues | MissingCurve;

/**
 * Samples the curves of one hazard. Returns one element per requested layer, in order.
 * @throws Fault `atlas_unavailable`; the signal's reason when aborted
 */
export async function sampleCurves(
  sampler: Sampler,
  request: CurvesRequest,
  { timeSlice, signal }: QueryRun = {},
): Promise<readonly CurveSample[]> {
  const hazard = sampler.hazards.get(request.hazard);
  const rules = hazard?.rules ?? {};
  const samples = new Map<string, CurveSample>();
  for (const [name, { scenario, year }] of distinctLayers(request)) {
    signal?.throwIfAborted();
    const entry = hazard?.group(scenario, year)?.entry;
    const origin = { source: entry && sourceOf(request.hazard, entry), rules };
    const plan = curvePlanOf(sampler, request.hazard, { scenario, year });
    samples.set(
      name,
      plan === undefined
        ? { kind: "missing", reason: "layer_missing", ...origin, cells: 0, validShare: 0, center: undefined }
        : toCurveSample(plan, await sampleLayers(sampler, plan.set, request, timeSlice), origin),
    );
  }
  return request.layers.map(({ scenario, year }) => samples.get(nameOf(layerOf(scenario, year))) as CurveSample);
}

/** Estimates the cost of sampling the circles of the curves; nothing for a point. */
export function estimateCurveWork(sampler: Sampler, request: CurvesRequest): CircleWork {
  let [cellVectorCount, coldTileVectorCount] = [0, 0];
  for (const set of circleSets(sampler, request)) {
    const work = sampler.estimateCircleWork(set, circleOf(request));
    cellVectorCount += work.cellVectorCount;
    coldTileVectorCount += work.coldTileVectorCount;
  }
  return { cellVectorCount, coldTileVectorCount };
}

/** Returns the number of cell vectors that the circles would read cell by cell; 0 for points and with a pyramid. */
export function estimateCurveCellVectors(sampler: Sampler, request: CurvesRequest): number {
  return circleSets(sampler, request).reduce(
    (count, set) => count + sampler.estimateCellVectors(set, circleOf(request)),
    0,
  );
}

function circleSets(sampler: Sampler, request: CurvesRequest): readonly LayerSet[] {
  if (request.radius === 0) return [];
  return [...distinctLayers(request).values()].flatMap(
    (layer) => curvePlanOf(sampler, request.hazard, layer)?.set ?? [],
  );
}

function circleOf({ latitude, longitude, radius }: CurvesRequest): Circle {
  return { latDeg: latitude, lonDeg: longitude, radiusM: radius * 1000 };
}

/** Returns the stored scenarios and years of a request by name. */
function distinctLayers({ layers }: CurvesRequest): ReadonlyMap<string, CurveLayer> {
  return new Map(
    layers.map(({ scenario, year }) => layerOf(scenario, year)).map((layer) => [nameOf(layer), layer] as const),
  );
}

function nameOf({ scenario, year }: CurveLayer): string {
  return `${scenario} ${year}`;
}

function toCurveSample(
  plan: CurvePlan,
  sampled: SampledLayers,
  origin: Pick<CurveOrigin, "source" | "rules">,
): CurveSample {
  const { unit, variate, returnPeriodsYears, minimum, maximum } = plan;
  const [first] = plan.values;
  if (first === undefined) throw new Error("A curve has at least one return period.");
  const { cells, center } = sampled;
  const shared = { ...origin, cells, center, validShare: sampled.shareOf(first.position) };
  const read = (layers: readonly PlannedLayer[]): readonly number[] => runningMaximum(layers, sampled);
  const values = curveValuesOf(plan, sampled);
  if (typeof values === "string") return { kind: "missing", reason: values, ...shared };
  return {
    kind: "curve",
    ...shared,
    unit,
    variate,
    returnPeriodsYears,
    values,
    minimum: minimum && read(minimum),
    maximum: maximum && read(maximum),
  };
}

/** Returns the values of a curve in ascending order of return period, or the reason why there is no curve. */
export function curveValuesOf({ values }: CurvePlan, sampled: SampledSteps): readonly number[] | NoDataReason {
  const missing = values.find(({ position }) => sampled.stepsOf(position) === undefined);
  return missing === undefined ? runningMaximum(values, sampled) : sampled.reasonOf(missing.position);
}

/** Returns the values of layers, each at least as large as the one before it. */
function runningMaximum(layers: readonly PlannedLayer[], sampled: SampledSteps): readonly number[] {
  let largest = -Infinity;
  return layers.map(({ position, entry }) => {
    const value = valueOfSteps(sampled.stepsOf(position) ?? NaN, entry);
    if (value > largest) largest = value;
    return largest;
  });
}
