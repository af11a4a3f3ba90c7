import { Turns } from "../atlas/manyPlaces.ts";
import type { FieldLayer } from "../atlas/residentField.ts";
import type { LayerSet, Sampler } from "../atlas/sampler.ts";
import { FAULT_ITEM_COUNT_MAX, Fault, type FaultItem } from "../errors.ts";
import { type AnswerArray, newAnswers, type PlaceAnswers, type Places, type PlaceValues } from "../kernel/places.ts";
import { STEPS_OUTSIDE } from "../kernel/kernel.generated.ts";
import { type HazardName, HAZARDS, isHazardName, layerOf, type MetricName, type Scenario } from "./hazards.ts";

/** A layer as it is asked for: the baseline answers for 1980 under every scenario, as in a query. */
export interface SampleLayer {
  readonly scenario: Scenario;
  readonly analysisYear: number;
  readonly metric: MetricName;
}

/** Many places, some layers of one hazard, of each place the cell that it lies in. */
export interface CellsRequest {
  readonly hazard: string;
  readonly layers: readonly SampleLayer[];
  /** Degrees, -90 to 90. */
  readonly latitudes: Float64Array;
  /** Degrees, -180 to 180; as many as latitudes. */
  readonly longitudes: Float64Array;
  /** Ends the work early: the promise is rejected with the signal's reason. */
  readonly signal?: AbortSignal;
  /** Told every few thousand places. */
  readonly onProgress?: (placesDone: number, placeCount: number) => void;
}

/** Many places, some layers of one hazard: arrays in, arrays out. */
export interface SampleRequest extends CellsRequest {
  /** 0 to 100, default 0: the cell at each place. Above 0 all cells within this geodesic distance. */
  readonly radiusKm?: number;
  /** How a radius is summed up; default max. */
  readonly method?: "max" | "mean";
  /**
   * Arrays to write the answer into, each of places x layers elements; the answer is then these. Who asks for million
   * after million saves the system's work of finding fresh memory, which takes longer than all the rest. They must
   * share no memory with each other or with the places, and hold nothing of use when the promise is rejected.
   */
  readonly into?: SampleResult;
}

export interface SampleResult {
  /** f64[place][layer]; NaN where there is no value. */
  readonly values: Float64Array;
  /** u8[place][layer]: index into SAMPLE_REASONS; 0 where there is a value. */
  readonly reasons: Uint8Array;
}

export interface StepsRequest extends CellsRequest {
  /** As of SampleRequest: an array of places x layers elements, which the answer's steps are then. */
  readonly into?: Uint16Array;
}

/**
 * Values as an atlas stores them: `steps / stepsPerUnit + offset`, bit for bit what `sample` answers, in a quarter of the
 * memory.
 */
export interface StepsResult {
  /** u16[place][layer]: at most 65,533; 65,534 outside coverage or where the atlas lacks the layer, 65,535 no data. */
  readonly steps: Uint16Array;
  /** Of each layer: steps of one unit, NaN where the atlas lacks it. */
  readonly stepsPerUnit: Float64Array;
  /** Of each layer, in its unit; NaN where the atlas lacks it. */
  readonly offsets: Float64Array;
}

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
        ? sampler.samplePlaces(set, request, answers, tell)
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
    read: (set, answers) => sampler.samplePlaces(set, request, answers, tell),
  });
  return {
    steps,
    stepsPerUnit: Float64Array.from(found.positions, (at) => found.distinct[at]?.entry.steps_per_unit ?? NaN),
    offsets: Float64Array.from(found.positions, (at) => found.distinct[at]?.entry.offset ?? NaN),
  };
}

/** The layers of a request as the atlas has them. */
interface FoundLayers {
  /** One lane a stored layer, however often it is asked for: the baseline answers for several years. */
  readonly distinct: readonly FieldLayer[];
  /** For each layer asked for its number in `distinct`, -1 where the atlas lacks it. */
  readonly positions: readonly number[];
  /** The distinct layers; undefined where there are none. */
  readonly set: LayerSet | undefined;
}

function findLayers(sampler: Sampler, hazardName: HazardName, layers: readonly SampleLayer[]): FoundLayers {
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
async function answerInto<Answers extends PlaceAnswers>(
  out: Answers,
  { latitudes }: CellsRequest,
  { set, distinct, positions }: FoundLayers,
  { tell, read }: { readonly tell: Tell; readonly read: (set: LayerSet, out: Answers) => Promise<void> },
): Promise<void> {
  const isWhole = distinct.length === positions.length && positions.every((at, layer) => at === layer);
  if (set !== undefined && isWhole) {
    await read(set, out);
    return;
  }
  const narrow = newAnswers(out, latitudes.length * distinct.length);
  if (set !== undefined) await read(set, narrow);
  else tell(latitudes.length);
  const widen = (from: AnswerArray, to: AnswerArray, missing: number): void => {
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
  { out, tell }: { readonly out: PlaceValues; readonly tell: Tell },
): Promise<void> {
  const placeCount = latitudes.length;
  const order = sampler.orderOf(set, { latitudes, longitudes });
  const turns = new Turns();
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
        if (turns.isPaused || (position % CIRCLES_PER_LOOK === 0 && turns.isOver)) {
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
  await Promise.all(Array.from({ length: CIRCLES_PARALLEL }, work));
  if (failure !== undefined) throw failure.error;
  tell(toTell);
}

type Wrong = (pointer: string, code: FaultItem["code"], detail: string) => void;

/**
 * Checks a request for the bulk door.
 *
 * @returns the hazard's name
 * @throws Fault `invalid_request` or `combination_unavailable` with all that is wrong, up to 100 items
 */
export function checkSample(request: SampleRequest): HazardName {
  return check(request, (wrong) => {
    const { radiusKm = 0, method = "max" } = request;
    if (!(typeof radiusKm === "number" && radiusKm >= 0 && radiusKm <= 100)) {
      wrong("/radiusKm", "out_of_range", "radiusKm must be a number from 0 to 100.");
    }
    if (method !== "max" && method !== "mean") wrong("/method", "not_allowed", "method must be max or mean.");
    if (request.into === undefined) return;
    if (typeof request.into !== "object" || request.into === null) {
      wrong("/into", "wrong_type", "into must be an object with values and reasons.");
    } else {
      const { values, reasons } = request.into;
      checkInto(request, { "/into/values": [values, Float64Array], "/into/reasons": [reasons, Uint8Array] }, wrong);
    }
  });
}

function checkSteps(request: StepsRequest): HazardName {
  return check(request, (wrong) => {
    const asked: StepsRequest & Pick<SampleRequest, "radiusKm" | "method"> = request;
    for (const name of ["radiusKm", "method"] as const) {
      if (asked[name] === undefined) continue;
      wrong(`/${name}`, "not_allowed", `Steps are of single cells: ${name} is for sample.`);
    }
    if (request.into !== undefined) checkInto(request, { "/into": [request.into, Uint16Array] }, wrong);
  });
}

/** What both doors ask for, in the order of the request; `rest` adds what one of them does. */
function check(request: CellsRequest, rest: (wrong: Wrong) => void): HazardName {
  const items: FaultItem[] = [];
  const wrong: Wrong = (pointer, code, detail) => {
    if (items.length < FAULT_ITEM_COUNT_MAX) items.push({ pointer, code, detail });
  };
  if (typeof request !== "object" || request === null) {
    const detail = "What is asked of many places is an object with hazard, layers, latitudes and longitudes.";
    throw new Fault("invalid_request", detail, { items: [{ pointer: "", code: "wrong_type", detail }] });
  }
  const { hazard, layers, latitudes, longitudes } = request;
  if (!isHazardName(hazard))
    wrong("/hazard", "not_allowed", `hazard must be one of ${Object.keys(HAZARDS).join(", ")}.`);
  const isList = Array.isArray(layers) && layers.length > 0;
  if (!isList) wrong("/layers", "empty", "layers must name at least one layer.");
  for (const [i, layer] of (isList ? (layers as readonly unknown[]) : []).entries()) {
    if (typeof layer === "object" && layer !== null) continue;
    wrong(`/layers/${i}`, "wrong_type", `layer ${i} must be an object with scenario, analysisYear and metric.`);
  }
  if (!(latitudes instanceof Float64Array)) wrong("/latitudes", "wrong_type", "latitudes must be a Float64Array.");
  if (!(longitudes instanceof Float64Array)) wrong("/longitudes", "wrong_type", "longitudes must be a Float64Array.");
  const isShaped = items.length === 0;
  rest(wrong);
  if (isShaped) {
    if (latitudes.length !== longitudes.length) {
      wrong(
        "/longitudes",
        "out_of_range",
        `${latitudes.length} latitudes stand beside ${longitudes.length} longitudes.`,
      );
    }
    checkPlaces({ latitudes, longitudes }, wrong);
  }
  if (items.length > 0) {
    throw new Fault("invalid_request", summaryOf(items), { items });
  }
  const spec = HAZARDS[hazard as keyof typeof HAZARDS];
  for (const [i, { scenario, analysisYear, metric }] of layers.entries()) {
    const at = `/layers/${i}`;
    if (!spec.scenarios.includes(scenario)) {
      wrong(`${at}/scenario`, "combination_unavailable", `${hazard} offers ${spec.scenarios.join(", ")}.`);
    }
    if (!spec.years.includes(analysisYear)) {
      wrong(`${at}/analysisYear`, "combination_unavailable", `${hazard} offers ${spec.years.join(", ")}.`);
    }
    if (!spec.metrics.some((offered) => offered.metric === metric)) {
      const metrics = spec.metrics.map((offered) => offered.metric).join(", ");
      wrong(`${at}/metric`, "combination_unavailable", `${hazard} offers ${metrics}.`);
    }
  }
  if (items.length > 0) {
    throw new Fault("combination_unavailable", summaryOf(items), { items });
  }
  return spec.hazard;
}

function summaryOf(items: readonly FaultItem[]): string {
  const first = items[0]?.detail ?? "";
  return items.length === 1 ? first : `${first} In all ${items.length} things are wrong.`;
}

function checkPlaces({ latitudes, longitudes }: Places, wrong: Wrong): void {
  // Nearly always all are right, and then this is all: looking at them one by one takes ten times as long.
  if (isWithin(latitudes, 90) && isWithin(longitudes, 180)) return;
  for (let i = 0; i < latitudes.length; i++) {
    const [lat, lon] = [latitudes[i] ?? NaN, longitudes[i] ?? NaN];
    if (!(lat >= -90 && lat <= 90))
      wrong(`/latitudes/${i}`, "out_of_range", `latitude ${i} must be from -90 to 90, not ${lat}.`);
    if (!(lon >= -180 && lon <= 180))
      wrong(`/longitudes/${i}`, "out_of_range", `longitude ${i} must be from -180 to 180, not ${lon}.`);
  }
}

function isWithin(degrees: Float64Array, most: number): boolean {
  for (let i = 0; i < degrees.length; i++) if (!(Math.abs(degrees[i] ?? NaN) <= most)) return false;
  return true;
}

type IntoArray = [unknown, typeof Float64Array | typeof Uint16Array | typeof Uint8Array];

/** An answer must find room, and must not write over what is still to be read. */
function checkInto(
  { layers, latitudes, longitudes }: CellsRequest,
  into: Readonly<Record<string, IntoArray>>,
  wrong: Wrong,
): void {
  if (!Array.isArray(layers) || !(latitudes instanceof Float64Array) || !(longitudes instanceof Float64Array)) return;
  const length = latitudes.length * layers.length;
  const taken: (readonly [string, ArrayBufferView])[] = [
    ["latitudes", latitudes],
    ["longitudes", longitudes],
  ];
  for (const [pointer, [array, Kind]] of Object.entries(into)) {
    const name = pointer.slice(1).replace("/", ".");
    if (!(array instanceof Kind)) {
      wrong(pointer, "wrong_type", `${name} must be a ${Kind.name}.`);
    } else if (array.length !== length) {
      wrong(pointer, "out_of_range", `${name} must have ${length} elements, places x layers, not ${array.length}.`);
    } else {
      const other = taken.find(([, view]) => overlap(view, array));
      if (other !== undefined) wrong(pointer, "not_allowed", `${name} must share no memory with ${other[0]}.`);
      taken.push([name, array]);
    }
  }
}

function overlap(one: ArrayBufferView, other: ArrayBufferView): boolean {
  return (
    one.buffer === other.buffer &&
    one.byteOffset < other.byteOffset + other.byteLength &&
    other.byteOffset < one.byteOffset + one.byteLength
  );
}
