import { TimeSlice } from "../atlas/bulkSampling.ts";
import type { FieldLayer } from "../atlas/cachedField.ts";
import type { LayerSet } from "../atlas/layerSet.ts";
import type { Sampler } from "../atlas/sampler.ts";
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
const CIRCLES_PARALLEL = 16;
/** Circles between two words of progress. */
const CIRCLES_PER_TELL = 512;
/** Circles between two looks at the clock: a warm one takes microseconds, one that is read cell by cell milliseconds. */
const CIRCLES_PER_LOOK = 4;

/**
 * @throws Fault `invalid_request` or `combination_unavailable` with all that is wrong with the request
 */
export async function sample(sampler: Sampler, request: SampleRequest): Promise<SampleResult> {
  const hazard = checkSample(request);
  const { layers, latitudes, radiusKm = 0, signal } = request;
  signal?.throwIfAborted();
  const length = latitudes.length * layers.length;
  const out = request.into ?? { values: new Float64Array(length), reasons: new Uint8Array(length) };
  const tell = progressOf(request);
  await answerInto(out, request, findLayers(sampler, hazard, layers), {
    tell,
    read: (set, answers) =>
      radiusKm === 0
        ? sampler.sampleLocations(set, request, answers, tell)
        : sampleCircles(sampler, set, request, { out: answers, tell }),
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
  const found = findLayers(sampler, hazard, layers);
  const tell = progressOf(request);
  await answerInto({ steps }, request, found, {
    tell,
    read: (set, answers) => sampler.sampleLocations(set, request, answers, tell),
  });
  return {
    steps,
    stepsPerUnit: Float64Array.from(found.positions, (at) => found.distinct[at]?.entry.steps_per_unit ?? NaN),
    offsets: Float64Array.from(found.positions, (at) => found.distinct[at]?.entry.offset ?? NaN),
  };
}

/** The layers of a request as the atlas has them. */
interface LayersInPlace {
  /** One lane a stored layer, however often it is asked for: the baseline answers for several years. */
  readonly distinct: readonly FieldLayer[];
  /** For each layer asked for its number in `distinct`, -1 where the atlas lacks it. */
  readonly positions: readonly number[];
  /** The distinct layers; undefined where there are none. */
  readonly set: LayerSet | undefined;
}

function findLayers(sampler: Sampler, hazardName: HazardName, layers: readonly SampleLayer[]): LayersInPlace {
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
async function answerInto<Answers extends LocationResults>(
  out: Answers,
  { latitudes }: CellsRequest,
  { set, distinct, positions }: LayersInPlace,
  { tell, read }: { readonly tell: Tell; readonly read: (set: LayerSet, out: Answers) => Promise<void> },
): Promise<void> {
  const isWhole = distinct.length === positions.length && positions.every((at, layer) => at === layer);
  if (set !== undefined && isWhole) {
    await read(set, out);
    return;
  }
  const narrow = newResults(out, latitudes.length * distinct.length);
  if (set !== undefined) await read(set, narrow);
  else tell(latitudes.length);
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
type Tell = (count: number) => void;

/** Counts the places that are done, and stops the work where the signal says so. */
function progressOf({ latitudes, signal, onProgress }: CellsRequest): Tell {
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
  { out, tell }: { readonly out: LocationValues; readonly tell: Tell },
): Promise<void> {
  const placeCount = latitudes.length;
  const order = sampler.orderByTile(set, { latitudes, longitudes });
  const turns = new TimeSlice();
  let next = 0;
  let toTell = placeCount;
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
        if (position % CIRCLES_PER_TELL === CIRCLES_PER_TELL - 1) {
          toTell -= CIRCLES_PER_TELL;
          tell(CIRCLES_PER_TELL);
        }
        if (turns.isPaused || (position % CIRCLES_PER_LOOK === 0 && turns.isExpired)) {
          await turns.yield();
          signal?.throwIfAborted();
        }
      }
    } catch (error) {
      failure ??= { error };
      next = placeCount; // nobody wants the rest any more
    }
  };
  // Until all have ended: whoever hears of a failure may ask anew into the same arrays.
  await Promise.all(Array.from({ length: CIRCLES_PARALLEL }, work));
  if (failure !== undefined) throw failure.error;
  tell(toTell);
}
