import { NO_DATA_REASONS } from "../contract/names.ts";
import type { FieldLayer } from "../atlas/cachedField.ts";
import type { LayerSet } from "../atlas/layerSet.ts";
import type { Sampler } from "../atlas/sampler.ts";
import { type LocationResults, newResults, type ResultArray } from "../kernel/sampling.ts";
import { STEPS_OUTSIDE } from "../kernel/kernel.generated.ts";
import { TimeSlice } from "../concurrency/timeSlice.ts";
import { type HazardName, layerOf } from "./hazards.ts";
import { sampleCircles } from "./sampleCircles.ts";
import {
  type CellsRequest,
  checkSample,
  checkSteps,
  type SampleLayer,
  type SampleRequest,
  type SampleResult,
  type StepsRequest,
  type StepsResult,
} from "./sampleRequest.ts";

/** Meanings of the numbers in `reasons` of a `SampleResult`, by number: `value` (0), or why there is no value. */
export const SAMPLE_REASONS = ["value", ...NO_DATA_REASONS] as const;
const LAYER_MISSING = SAMPLE_REASONS.indexOf("layer_missing");

/**
 * Samples layers of one hazard at many locations, at points or over circles.
 *
 * @throws Fault `invalid_request` or `combination_unavailable` with all errors in the request
 */
export async function sample(
  sampler: Sampler,
  request: SampleRequest,
  timeSlice = new TimeSlice(),
): Promise<SampleResult> {
  const hazard = checkSample(request);
  const { layers, latitudes, longitudes, radiusKm = 0, method = "max", signal } = request;
  const circles = { latitudes, longitudes, radiusKmOf: () => radiusKm, method };
  signal?.throwIfAborted();
  const length = latitudes.length * layers.length;
  const results = request.into ?? { values: new Float64Array(length), reasons: new Uint8Array(length) };
  const reportProgress = progressReporter(request);
  await sampleDistinctLayers(results, request, resolveLayers(sampler, hazard, layers), {
    reportProgress,
    read: (set, out) =>
      radiusKm === 0
        ? sampler.sampleLocations(set, request, out, { onProgress: reportProgress, timeSlice })
        : sampleCircles(sampler, set, circles, { out, timeSlice, signal, reportProgress }),
  });
  return { values: results.values, reasons: results.reasons };
}

/**
 * Returns the stored steps of the cells at many locations.
 *
 * @throws Fault `invalid_request` or `combination_unavailable` with all errors in the request
 */
export async function sampleSteps(sampler: Sampler, request: StepsRequest): Promise<StepsResult> {
  const hazard = checkSteps(request);
  const { layers, latitudes, signal } = request;
  signal?.throwIfAborted();
  const steps = request.into ?? new Uint16Array(latitudes.length * layers.length);
  const resolved = resolveLayers(sampler, hazard, layers);
  const reportProgress = progressReporter(request);
  const timeSlice = new TimeSlice();
  await sampleDistinctLayers({ steps }, request, resolved, {
    reportProgress,
    read: (set, out) => sampler.sampleLocations(set, request, out, { onProgress: reportProgress, timeSlice }),
  });
  const entries = resolved.indices.map((index) => resolved.distinct[index]?.entry);
  return {
    steps,
    stepsPerUnit: Float64Array.from(entries, (entry) => entry?.steps_per_unit ?? NaN),
    offsets: Float64Array.from(entries, (entry) => entry?.offset ?? NaN),
  };
}

/** The layers of a request, resolved to stored layers. */
interface ResolvedLayers {
  /** Stored layers without duplicates: the baseline layer, for example, serves several years. */
  readonly distinct: readonly FieldLayer[];
  /** Index in `distinct` of each requested layer; -1 if the atlas does not have it. */
  readonly indices: readonly number[];
  /** Layer set of `distinct`; undefined if it is empty. */
  readonly set: LayerSet | undefined;
}

function resolveLayers(sampler: Sampler, hazardName: HazardName, layers: readonly SampleLayer[]): ResolvedLayers {
  const hazard = sampler.hazards.get(hazardName);
  const distinct: FieldLayer[] = [];
  const indices = layers.map(({ scenario, analysisYear, metric }) => {
    const stored = layerOf(scenario, analysisYear);
    const storedGroup = hazard?.group(stored.scenario, stored.year);
    const layer = storedGroup?.entry.layers.findIndex((entry) => entry.metric === metric) ?? -1;
    const entry = storedGroup?.entry.layers[layer];
    if (storedGroup === undefined || entry === undefined) return -1;
    const { source, group } = storedGroup;
    const known = distinct.findIndex(
      (other) => other.source === source && other.group === group && other.layer === layer,
    );
    return known >= 0 ? known : distinct.push({ source, group, layer, entry }) - 1;
  });
  const set = hazard === undefined || distinct.length === 0 ? undefined : sampler.layerSet(hazard, distinct);
  return { distinct, indices, set };
}

/**
 * Reads the distinct layers directly into `results` if they are the requested layers. Otherwise reads them into
 * temporary arrays, from which it copies each requested layer.
 */
async function sampleDistinctLayers<Results extends LocationResults>(
  results: Results,
  { latitudes }: CellsRequest,
  { set, distinct, indices }: ResolvedLayers,
  {
    reportProgress,
    read,
  }: { readonly reportProgress: ReportProgress; readonly read: (set: LayerSet, out: Results) => Promise<void> },
): Promise<void> {
  const isIdentity = distinct.length === indices.length && indices.every((index, layer) => index === layer);
  if (set !== undefined && isIdentity) {
    await read(set, results);
    return;
  }
  const distinctResults = newResults(results, latitudes.length * distinct.length);
  if (set !== undefined) await read(set, distinctResults);
  else reportProgress(latitudes.length);
  const copyToRequested = (from: ResultArray, to: ResultArray, missing: number): void => {
    for (let location = 0; location < latitudes.length; location++) {
      for (let layer = 0; layer < indices.length; layer++) {
        const index = indices[layer] ?? -1;
        to[location * indices.length + layer] =
          index < 0 ? missing : (from[location * distinct.length + index] ?? missing);
      }
    }
  };
  if ("steps" in results && "steps" in distinctResults) {
    copyToRequested(distinctResults.steps, results.steps, STEPS_OUTSIDE);
  } else if ("values" in results && "values" in distinctResults) {
    copyToRequested(distinctResults.values, results.values, NaN);
    copyToRequested(distinctResults.reasons, results.reasons, LAYER_MISSING);
  }
}

/** Receives the number of locations completed since the previous call. */
type ReportProgress = (count: number) => void;

/** Returns a function that reports progress to the caller and throws once the request is aborted. */
function progressReporter({ latitudes, signal, onProgress }: CellsRequest): ReportProgress {
  let locationsDone = 0;
  return (count) => {
    signal?.throwIfAborted();
    locationsDone += count;
    onProgress?.(locationsDone, latitudes.length);
  };
}
