import { Turns } from "../atlas/manyPlaces.ts";
import type { FieldLayer } from "../atlas/residentField.ts";
import type { LayerSet, Sampler } from "../atlas/sampler.ts";
import { type LocationResults, type LocationValues, newResults, type ResultArray } from "../kernel/sampling.ts";
import { STEPS_OUTSIDE } from "../kernel/kernel.generated.ts";
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

/** What the numbers in `reasons` mean. */
export const SAMPLE_REASONS = ["value", "outside_coverage", "no_data", "layer_missing"] as const;
const LAYER_MISSING = SAMPLE_REASONS.indexOf("layer_missing");

/** Circles that are in work at the same time: enough to keep reads busy. */
const CIRCLE_CONCURRENCY = 16;
/** Circles between two words of progress. */
const CIRCLES_PER_PROGRESS_REPORT = 512;
/** Circles between two looks at the clock: a warm one takes microseconds, one that is read cell by cell milliseconds. */
const CIRCLES_PER_TIME_CHECK = 4;

/**
 * @throws Fault `invalid_request` or `combination_unavailable` with all that is wrong with the request
 */
export async function sample(sampler: Sampler, request: SampleRequest): Promise<SampleResult> {
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
        ? sampler.samplePlaces(set, request, answers, reportProgress)
        : sampleCircles(sampler, set, request, { out: answers, reportProgress }),
  });
  return { values: out.values, reasons: out.reasons };
}

/**
 * The cells of many places as they are stored.
 *
 * @throws Fault `invalid_request` or `combination_unavailable` with all that is wrong with the request
 */
export async function sampleSteps(sampler: Sampler, request: StepsRequest): Promise<StepsResult> {
  const hazard = checkSteps(request);
  const { layers, latitudes, signal } = request;
  signal?.throwIfAborted();
  const steps = request.into ?? new Uint16Array(latitudes.length * layers.length);
  const found = resolveLayers(sampler, hazard, layers);
  const reportProgress = progressReporter(request);
  await sampleDistinctLayers({ steps }, request, found, {
    reportProgress,
    read: (set, answers) => sampler.samplePlaces(set, request, answers, reportProgress),
  });
  return {
    steps,
    stepsPerUnit: Float64Array.from(found.positions, (at) => found.distinct[at]?.entry.steps_per_unit ?? NaN),
    offsets: Float64Array.from(found.positions, (at) => found.distinct[at]?.entry.offset ?? NaN),
  };
}

/** The layers of a request as the atlas has them. */
interface ResolvedLayers {
  /** One lane a stored layer, however often it is asked for: the baseline answers for several years. */
  readonly distinct: readonly FieldLayer[];
  /** For each layer asked for its number in `distinct`, -1 where the atlas lacks it. */
  readonly positions: readonly number[];
  /** The distinct layers; undefined where there are none. */
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

/** Has the distinct layers read, straight into `out` where these are all the layers asked for, each once. */
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
    for (let place = 0; place < latitudes.length; place++) {
      for (let layer = 0; layer < positions.length; layer++) {
        const at = positions[layer] ?? -1;
        to[place * positions.length + layer] = at < 0 ? missing : (from[place * distinct.length + at] ?? missing);
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

/** Told how many more places are done. */
type ReportProgress = (count: number) => void;

/** Counts the places that are done, and stops the work where the signal says so. */
function progressReporter({ latitudes, signal, onProgress }: CellsRequest): ReportProgress {
  let placesDone = 0;
  return (count) => {
    signal?.throwIfAborted();
    placesDone += count;
    onProgress?.(placesDone, latitudes.length);
  };
}

async function sampleCircles(
  sampler: Sampler,
  set: LayerSet,
  { latitudes, longitudes, radiusKm = 0, method = "max", signal }: SampleRequest,
  { out, reportProgress }: { readonly out: LocationValues; readonly reportProgress: ReportProgress },
): Promise<void> {
  const placeCount = latitudes.length;
  const order = sampler.orderOf(set, { latitudes, longitudes });
  const turns = new Turns();
  let next = 0;
  let unreportedCount = placeCount;
  let failure: { readonly error: unknown } | undefined;
  const work = async (): Promise<void> => {
    try {
      for (let position = next++; position < placeCount; position = next++) {
        const place = order[position] ?? 0;
        const circle = {
          latDeg: latitudes[place] ?? NaN,
          lonDeg: longitudes[place] ?? NaN,
          radiusM: radiusKm * 1000,
        };
        const at = { circle, method, first: place * set.lanes.length };
        if (!sampler.readCircle(set, at, out)) await sampler.fetchCircle(set, at, out);
        if (position % CIRCLES_PER_PROGRESS_REPORT === CIRCLES_PER_PROGRESS_REPORT - 1) {
          unreportedCount -= CIRCLES_PER_PROGRESS_REPORT;
          reportProgress(CIRCLES_PER_PROGRESS_REPORT);
        }
        if (turns.isPaused || (position % CIRCLES_PER_TIME_CHECK === 0 && turns.isOver)) {
          await turns.giveWay();
          signal?.throwIfAborted();
        }
      }
    } catch (error) {
      failure ??= { error };
      next = placeCount; // nobody wants the rest any more
    }
  };
  // Until all have ended: whoever hears of a failure may ask anew into the same arrays.
  await Promise.all(Array.from({ length: CIRCLE_CONCURRENCY }, work));
  if (failure !== undefined) throw failure.error;
  reportProgress(unreportedCount);
}
