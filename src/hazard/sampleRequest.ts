import { FAULT_ITEM_COUNT_MAX, Fault, type FaultItem } from "../errors.ts";
import { isAbortSignal, type SchemaError, findUnknownMembers } from "../schemaErrors.ts";
import type { LocationArrays } from "../kernel/sampling.ts";
import { type HazardName, HAZARDS, isHazardName, type MetricName, type Scenario } from "./hazards.ts";

/**
 * A layer of a request. As in a query, the layer of 1980 is the baseline under every scenario.
 *
 * Bulk requests have the library's own names (`analysisYear`, `radiusKm`, `method`); queries have those of the HTTP
 * contract (`analysis_years`, `radius`, `aggregation_method`). Either is refused where the other belongs.
 */
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

const CELLS_MEMBERS = ["hazard", "layers", "latitudes", "longitudes", "signal", "onProgress", "into"] as const;
const SAMPLE_MEMBERS = [...CELLS_MEMBERS, "radiusKm", "method"] as const;
const LAYER_MEMBERS = ["scenario", "analysisYear", "metric"] as const;
const INTO_MEMBERS = ["values", "reasons"] as const;

/** What members of a query are called in a request for many places. */
const CELLS_ALIASES: Readonly<Record<string, string>> = {
  hazards: "hazard",
  scenario: "layers",
  scenarios: "layers",
  analysis_year: "layers",
  analysis_years: "layers",
  analysisYear: "layers",
  analysisYears: "layers",
  metric: "layers",
  metrics: "layers",
  latitude: "latitudes",
  longitude: "longitudes",
};
const SAMPLE_ALIASES: Readonly<Record<string, string>> = {
  ...CELLS_ALIASES,
  radius: "radiusKm",
  radius_km: "radiusKm",
  aggregation_method: "method",
  aggregationMethod: "method",
};
const LAYER_ALIASES: Readonly<Record<string, string>> = {
  scenarios: "scenario",
  year: "analysisYear",
  analysis_year: "analysisYear",
  analysis_years: "analysisYear",
  metrics: "metric",
};

type AddItem = (pointer: string, code: FaultItem["code"], detail: string) => void;

interface ItemCollector {
  readonly addItem: AddItem;
  readonly add: (items: readonly SchemaError[]) => void;
}

/**
 * Checks a request for values of many places.
 *
 * @returns the hazard's name
 * @throws Fault `invalid_request` or `combination_unavailable` with everything that is wrong, up to 100 items
 */
export function checkSample(request: SampleRequest): HazardName {
  return check(request, ({ addItem, add }) => {
    add(findUnknownMembers(request, { known: SAMPLE_MEMBERS, aliases: SAMPLE_ALIASES }));
    const { radiusKm = 0, method = "max" } = request;
    if (!(typeof radiusKm === "number" && radiusKm >= 0 && radiusKm <= 100)) {
      addItem("/radiusKm", "out_of_range", "radiusKm must be a number from 0 to 100.");
    }
    if (method !== "max" && method !== "mean") addItem("/method", "not_allowed", "method must be max or mean.");
    if (request.into === undefined) return;
    if (typeof request.into !== "object" || request.into === null) {
      addItem("/into", "wrong_type", "into must be an object with values and reasons.");
    } else {
      const { values, reasons } = request.into;
      add(findUnknownMembers(request.into, { known: INTO_MEMBERS, pointer: "/into" }));
      checkInto(request, { "/into/values": [values, Float64Array], "/into/reasons": [reasons, Uint8Array] }, addItem);
    }
  });
}

/** Checks a request for stored steps of many places. @throws Fault as `checkSample` */
export function checkSteps(request: StepsRequest): HazardName {
  return check(request, ({ addItem, add }) => {
    const skip = new Set(["radiusKm", "method"]);
    add(findUnknownMembers(request, { known: CELLS_MEMBERS, aliases: CELLS_ALIASES, skip }));
    const asked: StepsRequest & Pick<SampleRequest, "radiusKm" | "method"> = request;
    for (const name of ["radiusKm", "method"] as const) {
      if (asked[name] === undefined) continue;
      addItem(`/${name}`, "not_allowed", `Steps are of single cells: ${name} is for sample.`);
    }
    if (request.into !== undefined) checkInto(request, { "/into": [request.into, Uint16Array] }, addItem);
  });
}

/** Checks what both requests have in common, in its order; `rest` checks what only one of them has. */
function check(request: CellsRequest, rest: (findings: ItemCollector) => void): HazardName {
  const items: FaultItem[] = [];
  const add: ItemCollector["add"] = (more) => items.push(...more.slice(0, FAULT_ITEM_COUNT_MAX - items.length));
  const addItem: AddItem = (pointer, code, detail) => add([{ pointer, code, detail }]);
  if (typeof request !== "object" || request === null) {
    const detail = "The request must be an object with hazard, layers, latitudes and longitudes.";
    throw new Fault("invalid_request", detail, { items: [{ pointer: "", code: "wrong_type", detail }] });
  }
  const { hazard, layers, latitudes, longitudes } = request;
  if (!isHazardName(hazard))
    addItem("/hazard", "not_allowed", `hazard must be one of ${Object.keys(HAZARDS).join(", ")}.`);
  const isList = Array.isArray(layers) && layers.length > 0;
  if (!isList) addItem("/layers", "empty", "layers must name at least one layer.");
  for (const [i, layer] of (isList ? (layers as readonly unknown[]) : []).entries()) add(layerErrors(layer, i));
  if (!(latitudes instanceof Float64Array)) addItem("/latitudes", "wrong_type", "latitudes must be a Float64Array.");
  if (!(longitudes instanceof Float64Array)) addItem("/longitudes", "wrong_type", "longitudes must be a Float64Array.");
  const areArraysValid = items.length === 0;
  const { signal, onProgress } = request as { readonly signal?: unknown; readonly onProgress?: unknown };
  if (signal !== undefined && !isAbortSignal(signal)) {
    addItem("/signal", "wrong_type", "signal must be an AbortSignal.");
  }
  if (onProgress !== undefined && typeof onProgress !== "function") {
    addItem("/onProgress", "wrong_type", "onProgress must be a function.");
  }
  rest({ addItem, add });
  if (areArraysValid) {
    if (latitudes.length !== longitudes.length) {
      addItem(
        "/longitudes",
        "out_of_range",
        `${latitudes.length} latitudes stand beside ${longitudes.length} longitudes.`,
      );
    }
    checkLocations({ latitudes, longitudes }, addItem);
  }
  if (items.length > 0) {
    throw new Fault("invalid_request", summarize(items), { items });
  }
  const spec = HAZARDS[hazard as keyof typeof HAZARDS];
  for (const [i, { scenario, analysisYear, metric }] of layers.entries()) {
    const at = `/layers/${i}`;
    if (!spec.scenarios.includes(scenario)) {
      addItem(`${at}/scenario`, "combination_unavailable", `${hazard} offers ${spec.scenarios.join(", ")}.`);
    }
    if (!spec.years.includes(analysisYear)) {
      addItem(`${at}/analysisYear`, "combination_unavailable", `${hazard} offers ${spec.years.join(", ")}.`);
    }
    if (!spec.metrics.some((offered) => offered.metric === metric)) {
      const metrics = spec.metrics.map((offered) => offered.metric).join(", ");
      addItem(`${at}/metric`, "combination_unavailable", `${hazard} offers ${metrics}.`);
    }
  }
  if (items.length > 0) {
    throw new Fault("combination_unavailable", summarize(items), { items });
  }
  return spec.hazard;
}

/** What is wrong with the members of a layer, whatever their values. */
function layerErrors(layer: unknown, index: number): readonly SchemaError[] {
  const pointer = `/layers/${index}`;
  if (typeof layer !== "object" || layer === null) {
    const detail = `layer ${index} must be an object with scenario, analysisYear and metric.`;
    return [{ pointer, code: "wrong_type", detail }];
  }
  const unknown = findUnknownMembers(layer, { known: LAYER_MEMBERS, aliases: LAYER_ALIASES, pointer });
  const given = layer as Readonly<Record<string, unknown>>;
  const missing = LAYER_MEMBERS.filter(
    (name) => given[name] === undefined && !unknown.some((item) => item.did_you_mean === name),
  );
  const details = missing.map((name): SchemaError => ({
    pointer: `${pointer}/${name}`,
    code: "missing",
    detail: `layer ${index} has no ${name}; give scenario, analysisYear and metric.`,
  }));
  return [...details, ...unknown];
}

function summarize(items: readonly FaultItem[]): string {
  const first = items[0]?.detail ?? "";
  return items.length === 1 ? first : `${first} In all ${items.length} things are wrong.`;
}

function checkLocations({ latitudes, longitudes }: LocationArrays, addItem: AddItem): void {
  // Nearly always all are right, and then this is all: looking at them one by one takes ten times as long.
  if (isWithin(latitudes, 90) && isWithin(longitudes, 180)) return;
  for (let i = 0; i < latitudes.length; i++) {
    const [lat, lon] = [latitudes[i] ?? NaN, longitudes[i] ?? NaN];
    if (!(lat >= -90 && lat <= 90))
      addItem(`/latitudes/${i}`, "out_of_range", `latitude ${i} must be from -90 to 90, not ${lat}.`);
    if (!(lon >= -180 && lon <= 180))
      addItem(`/longitudes/${i}`, "out_of_range", `longitude ${i} must be from -180 to 180, not ${lon}.`);
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
  addItem: AddItem,
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
      addItem(pointer, "wrong_type", `${name} must be a ${Kind.name}.`);
    } else if (array.length !== length) {
      addItem(pointer, "out_of_range", `${name} must have ${length} elements, places x layers, not ${array.length}.`);
    } else {
      const other = taken.find(([, view]) => overlap(view, array));
      if (other !== undefined) addItem(pointer, "not_allowed", `${name} must share no memory with ${other[0]}.`);
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
