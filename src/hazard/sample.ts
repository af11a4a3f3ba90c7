import { NO_DATA_REASONS } from "../contract/hazardNames.ts";
import type { FieldLayer } from "../atlas/cachedField.ts";
import type { LayerSet } from "../atlas/layerSet.ts";
import type { Sampler } from "../atlas/sampler.ts";
import { type LocationResults, type LocationValues, newResults, type ResultArray } from "../kernel/sampling.ts";
import { STEPS_OUTSIDE } from "../kernel/kernel.generated.ts";
import { TimeSlice } from "../threads/timeSlice.ts";
import { type HazardName, layerOf } from "./hazards.ts";
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

/** Meaning of the numbers in `reasons`, by index. */
export const SAMPLE_REASONS = ["value", ...NO_DATA_REASONS] as const;
const LAYER_MISSING = SAMPLE_REASONS.indexOf("layer_missing");

/** Number of circles that are sampled concurrently, so that reads of tiles overlap. */
const CIRCLE_CONCURRENCY = 16;
/** Circles between two progress reports. */
const CIRCLES_PER_PROGRESS_REPORT = 512;
/**
 * Circles between two checks of the clock. A cached circle takes microseconds; a circle that is read cell by cell takes
 * milliseconds.
 */
const CIRCLES_PER_TIME_CHECK = 4;

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
  const { layers, latitudes, radiusKm = 0, signal } = request;
  signal?.throwIfAborted();
  const length = latitudes.length * layers.length;
  const out = request.into ?? { values: new Float64Array(length), reasons: new Uint8Array(length) };
  const reportProgress = progressReporter(request);
  await sampleDistinctLayers(out, request, resolveLayers(sampler, hazard, layers), {
    reportProgress,
    read: (set, answers) =>
      radiusKm === 0
        ? sampler.sampleLocations(set, request, answers, { onProgress: reportProgress, timeSlice })
        : sampleCircles(sampler, set, request, { out: answers, reportProgress, timeSlice }),
  });
  return { values: out.values, reasons: out.reasons };
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
    read: (set, answers) => sampler.sampleLocations(set, request, answers, { onProgress: reportProgress, timeSlice }),
  });
  return {
    steps,
    stepsPerUnit: Float64Array.from(resolved.positions, (at) => resolved.distinct[at]?.entry.steps_per_unit ?? NaN),
    offsets: Float64Array.from(resolved.positions, (at) => resolved.distinct[at]?.entry.offset ?? NaN),
  };
}

/** The layers of a request, resolved to stored layers. */
interface ResolvedLayers {
  /** Stored layers without duplicates: the baseline layer, for example, serves several years. */
  readonly distinct: readonly FieldLayer[];
  /** Index in `distinct` of each requested layer; -1 if the atlas does not have it. */
  readonly positions: readonly number[];
  /** Layer set of `distinct`; undefined if it is empty. */
  readonly set: LayerSet | undefined;
}

function resolveLayers(sampler: Sampler, hazardName: HazardName, layers: readonly SampleLayer[]): ResolvedLayers {
  const hazard = sampler.hazards.get(hazardName);
  const distinct: FieldLayer[] = [];
  const positions = layers.map(({ scenario, analysisYear, metric }) => {
    const stored = layerOf(scenario, analysisYear);
    const at = hazard?.group(stored.scenario, stored.year);
    const layer = at?.entry.layers.findIndex((entry) => entry.metric === metric) ?? -1;
    const entry = at?.entry.layers[layer];
    if (at === undefined || entry === undefined) return -1;
    const { source, group } = at;
    const known = distinct.findIndex(
      (other) => other.source === source && other.group === group && other.layer === layer,
    );
    return known >= 0 ? known : distinct.push({ source, group, layer, entry }) - 1;
  });
  const set = hazard === undefined || distinct.length === 0 ? undefined : sampler.layerSet(hazard, distinct);
  return { distinct, positions, set };
}

/** Reads the distinct layers: directly into `out` if they are the requested layers, otherwise into a copy. */
async function sampleDistinctLayers<Answers extends LocationResults>(
  out: Answers,
  { latitudes }: CellsRequest,
  { set, distinct, positions }: ResolvedLayers,
  {
    reportProgress,
    read,
  }: { readonly reportProgress: ReportProgress; readonly read: (set: LayerSet, out: Answers) => Promise<void> },
): Promise<void> {
  const isWhole = distinct.length === positions.length && positions.every((at, layer) => at === layer);
  if (set !== undefined && isWhole) {
    await read(set, out);
    return;
  }
  const narrow = newResults(out, latitudes.length * distinct.length);
  if (set !== undefined) await read(set, narrow);
  else reportProgress(latitudes.length);
  const widen = (from: ResultArray, to: ResultArray, missing: number): void => {
    for (let location = 0; location < latitudes.length; location++) {
      for (let layer = 0; layer < positions.length; layer++) {
        const at = positions[layer] ?? -1;
        to[location * positions.length + layer] = at < 0 ? missing : (from[location * distinct.length + at] ?? missing);
      }
    }
  };
  if ("steps" in out && "steps" in narrow) {
    widen(narrow.steps, out.steps, STEPS_OUTSIDE);
  } else if ("values" in out && "values" in narrow) {
    widen(narrow.values, out.values, NaN);
    widen(narrow.reasons, out.reasons, LAYER_MISSING);
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

async function sampleCircles(
  sampler: Sampler,
  set: LayerSet,
  { latitudes, longitudes, radiusKm = 0, method = "max", signal }: SampleRequest,
  {
    out,
    reportProgress,
    timeSlice,
  }: { readonly out: LocationValues; readonly reportProgress: ReportProgress; readonly timeSlice: TimeSlice },
): Promise<void> {
  const locationCount = latitudes.length;
  const order = sampler.orderByTile(set, { latitudes, longitudes });
  let next = 0;
  let unreportedCount = locationCount;
  let failure: { readonly error: unknown } | undefined;
  const work = async (): Promise<void> => {
    try {
      for (let position = next++; position < locationCount; position = next++) {
        const location = order[position] ?? 0;
        const circle = {
          latDeg: latitudes[location] ?? NaN,
          lonDeg: longitudes[location] ?? NaN,
          radiusM: radiusKm * 1000,
        };
        const at = { circle, method, first: location * set.lanes.length };
        if (!sampler.readCircle(set, at, out)) await sampler.fetchCircle(set, at, out);
        if (position % CIRCLES_PER_PROGRESS_REPORT === CIRCLES_PER_PROGRESS_REPORT - 1) {
          unreportedCount -= CIRCLES_PER_PROGRESS_REPORT;
          reportProgress(CIRCLES_PER_PROGRESS_REPORT);
        }
        if (timeSlice.isPaused || (position % CIRCLES_PER_TIME_CHECK === 0 && timeSlice.isExpired)) {
          await timeSlice.yield();
          signal?.throwIfAborted();
        }
      }
    } catch (error) {
      failure ??= { error };
      next = locationCount; // stops the other loops
    }
  };
  // Waits for all loops even after a failure, because the caller may then reuse the output arrays.
  await Promise.all(Array.from({ length: CIRCLE_CONCURRENCY }, work));
  if (failure !== undefined) throw failure.error;
  reportProgress(unreportedCount);
}
