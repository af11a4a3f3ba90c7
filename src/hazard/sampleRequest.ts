import { FAULT_ITEM_COUNT_MAX, Fault, type FaultItem } from "../errors.ts";
import type { LocationArrays } from "../kernel/sampling.ts";
import { type HazardName, HAZARDS, isHazardName, type MetricName, type Scenario } from "./hazards.ts";

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

/** The same for the door of steps. @throws Fault as `checkSample` */
export function checkSteps(request: StepsRequest): HazardName {
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

function checkPlaces({ latitudes, longitudes }: LocationArrays, wrong: Wrong): void {
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
