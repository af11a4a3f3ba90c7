import { FAULT_ITEM_COUNT_MAX, Fault, type FaultItem } from "../errors.ts";
import {
  findUnknownMembers,
  isAbortSignal,
  quote,
  type SchemaError,
  summarizeItems,
} from "../validation/schemaErrors.ts";
import type { LocationArrays } from "../kernel/sampling.ts";
import { type HazardName, HAZARDS, isHazardName, type MetricName, type Scenario } from "./hazards.ts";

/**
 * A layer of a request. As in a query, the layer of 1980 is the baseline under every scenario.
 *
 * Bulk requests use the library's names (`analysisYear`, `radiusKm`, `method`), queries those of the HTTP contract
 * (`analysis_years`, `radius`, `aggregation_method`). Each kind of request rejects the names of the other kind.
 */
export interface SampleLayer {
  readonly scenario: Scenario;
  readonly analysisYear: number;
  readonly metric: MetricName;
}

/** Requests layers of one hazard for the cells that contain the given locations. */
export interface CellsRequest {
  /** Name of a hazard, a key of `HAZARDS`. */
  readonly hazard: string;
  readonly layers: readonly SampleLayer[];
  /** Degrees, -90 to 90. */
  readonly latitudes: Float64Array;
  /** Degrees, -180 to 180; same length as `latitudes`. */
  readonly longitudes: Float64Array;
  /** Cancels the request: the promise is rejected with the signal's reason. */
  readonly signal?: AbortSignal;
  /** Called after every few thousand points or 512 circles, and when the request is complete. */
  readonly onProgress?: (locationsDone: number, locationCount: number) => void;
}

/** Requests layers of one hazard at many locations, at points or over circles. */
export interface SampleRequest extends CellsRequest {
  /** 0 to 100. 0, the default, samples the cell at each location; otherwise all cells within this geodesic distance. */
  readonly radiusKm?: number;
  /** Aggregation over the circle; default max. */
  readonly method?: "max" | "mean";
  /**
   * Output arrays, each of locations x layers elements, which become the result. Reusing them in repeated large
   * requests avoids allocating fresh memory, which takes longer than the sampling. They must not share memory with each
   * other or with the locations. Their content is undefined if the promise is rejected.
   */
  readonly into?: SampleResult;
}

/** Values of the layers of a request, by location. */
export interface SampleResult {
  /** f64[location][layer], in the unit of the metric; NaN if there is no value. */
  readonly values: Float64Array;
  /** u8[location][layer]: index into SAMPLE_REASONS; 0 if there is a value. */
  readonly reasons: Uint8Array;
}

/** Requests layers of one hazard, in stored form, for the cells that contain the given locations. */
export interface StepsRequest extends CellsRequest {
  /** As in SampleRequest: an output array of locations x layers elements, which becomes `steps` of the result. */
  readonly into?: Uint16Array;
}

/**
 * Values in stored form, which take a quarter of the memory. `steps / stepsPerUnit + offset` equals the value from
 * `sample` bit for bit.
 */
export interface StepsResult {
  /** u16[location][layer]: at most 65,533; 65,534 means outside coverage or layer missing, 65,535 no data. */
  readonly steps: Uint16Array;
  /** Steps per unit of each layer; NaN if the atlas does not have it. */
  readonly stepsPerUnit: Float64Array;
  /** Offset of each layer, in its unit; NaN if the atlas does not have it. */
  readonly offsets: Float64Array;
}

/** Names of the members of `CellsRequest`, and of `into`, which both requests have. */
const CELLS_MEMBERS = ["hazard", "layers", "latitudes", "longitudes", "signal", "onProgress", "into"] as const;
const SAMPLE_MEMBERS = [...CELLS_MEMBERS, "radiusKm", "method"] as const;
const LAYER_MEMBERS = ["scenario", "analysisYear", "metric"] as const;
const INTO_MEMBERS = ["values", "reasons"] as const;

/** Members of a query, with the names of the equivalent members of a bulk request. */
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
 * Validates a request for values at many locations.
 *
 * @returns the name of the hazard
 * @throws Fault `invalid_request` or `combination_unavailable` with all errors, up to 100
 */
export function checkSample(request: SampleRequest): HazardName {
  return checkCells(request, ({ addItem, add }) => {
    add(findUnknownMembers(request, { known: SAMPLE_MEMBERS, aliases: SAMPLE_ALIASES }));
    const { radiusKm = 0, method = "max" } = request;
    if (!(typeof radiusKm === "number" && radiusKm >= 0 && radiusKm <= 100)) {
      addItem("/radiusKm", "out_of_range", `radiusKm must be a number between 0 and 100 (got ${quote(radiusKm)}).`);
    }
    if (method !== "max" && method !== "mean")
      addItem("/method", "not_allowed", `method must be max or mean (got ${quote(method)}).`);
    if (request.into === undefined) return;
    if (typeof request.into !== "object" || request.into === null) {
      addItem("/into", "wrong_type", `into must be an object with values and reasons (got ${quote(request.into)}).`);
    } else {
      const { values, reasons } = request.into;
      add(findUnknownMembers(request.into, { known: INTO_MEMBERS, pointer: "/into" }));
      checkInto(request, { "/into/values": [values, Float64Array], "/into/reasons": [reasons, Uint8Array] }, addItem);
    }
  });
}

/** Validates a request for stored steps at many locations. @throws Fault as `checkSample` does */
export function checkSteps(request: StepsRequest): HazardName {
  return checkCells(request, ({ addItem, add }) => {
    const skip = new Set(["radiusKm", "method"]);
    add(findUnknownMembers(request, { known: CELLS_MEMBERS, aliases: CELLS_ALIASES, skip }));
    const members: StepsRequest & Pick<SampleRequest, "radiusKm" | "method"> = request;
    for (const name of ["radiusKm", "method"] as const) {
      if (members[name] === undefined) continue;
      addItem(
        `/${name}`,
        "not_allowed",
        `${name} is not accepted, because stored steps exist only for single cells; use sample for circles.`,
      );
    }
    if (request.into !== undefined) checkInto(request, { "/into": [request.into, Uint16Array] }, addItem);
  });
}

/** Validates the members that both requests share; `checkOthers` validates the other members. */
function checkCells(request: CellsRequest, checkOthers: (collector: ItemCollector) => void): HazardName {
  const items: FaultItem[] = [];
  const add: ItemCollector["add"] = (more) => items.push(...more.slice(0, FAULT_ITEM_COUNT_MAX - items.length));
  const addItem: AddItem = (pointer, code, detail) => add([{ pointer, code, detail }]);
  if (typeof request !== "object" || request === null) {
    const detail = `The request must be an object with hazard, layers, latitudes and longitudes (got ${quote(request)}).`;
    throw new Fault("invalid_request", detail, { items: [{ pointer: "", code: "wrong_type", detail }] });
  }
  const { hazard, layers, latitudes, longitudes } = request;
  if (!isHazardName(hazard))
    addItem(
      "/hazard",
      "not_allowed",
      `hazard must be one of ${Object.keys(HAZARDS).join(", ")} (got ${quote(hazard)}).`,
    );
  const isList = Array.isArray(layers) && layers.length > 0;
  if (!isList) addItem("/layers", "empty", "layers must be an array of at least one layer.");
  for (const [i, layer] of (isList ? (layers as readonly unknown[]) : []).entries()) add(layerErrors(layer, i));
  if (!(latitudes instanceof Float64Array))
    addItem("/latitudes", "wrong_type", `latitudes must be a Float64Array (got ${quote(latitudes)}).`);
  if (!(longitudes instanceof Float64Array))
    addItem("/longitudes", "wrong_type", `longitudes must be a Float64Array (got ${quote(longitudes)}).`);
  const areArraysValid = items.length === 0;
  const { signal, onProgress } = request as { readonly signal?: unknown; readonly onProgress?: unknown };
  if (signal !== undefined && !isAbortSignal(signal)) {
    addItem("/signal", "wrong_type", `signal must be an AbortSignal (got ${quote(signal)}).`);
  }
  if (onProgress !== undefined && typeof onProgress !== "function") {
    addItem("/onProgress", "wrong_type", `onProgress must be a function (got ${quote(onProgress)}).`);
  }
  checkOthers({ addItem, add });
  if (areArraysValid) {
    if (latitudes.length !== longitudes.length) {
      addItem(
        "/longitudes",
        "out_of_range",
        `longitudes must have as many elements as latitudes, ${latitudes.length} (got ${longitudes.length}).`,
      );
    }
    checkLocations({ latitudes, longitudes }, addItem);
  }
  if (items.length > 0) {
    throw new Fault("invalid_request", summarizeItems(items, "the request"), { items });
  }
  const spec = HAZARDS[hazard as keyof typeof HAZARDS];
  for (const [i, { scenario, analysisYear, metric }] of layers.entries()) {
    const pointer = `/layers/${i}`;
    if (!spec.scenarios.includes(scenario)) {
      addItem(
        `${pointer}/scenario`,
        "combination_unavailable",
        `${hazard} has no scenario ${quote(scenario)}; it offers ${spec.scenarios.join(", ")}.`,
      );
    }
    if (!spec.years.includes(analysisYear)) {
      addItem(
        `${pointer}/analysisYear`,
        "combination_unavailable",
        `${hazard} has no analysis year ${quote(analysisYear)}; it offers ${spec.years.join(", ")}.`,
      );
    }
    if (!spec.metrics.some((offered) => offered.metric === metric)) {
      const metrics = spec.metrics.map((offered) => offered.metric).join(", ");
      addItem(
        `${pointer}/metric`,
        "combination_unavailable",
        `${hazard} has no metric ${quote(metric)}; it offers ${metrics}.`,
      );
    }
  }
  if (items.length > 0) {
    throw new Fault("combination_unavailable", summarizeItems(items, "the request"), { items });
  }
  return spec.hazard;
}

/** Returns the errors in the structure of a layer: missing and unknown members. */
function layerErrors(layer: unknown, index: number): readonly SchemaError[] {
  const pointer = `/layers/${index}`;
  if (typeof layer !== "object" || layer === null) {
    const detail = `layers[${index}] must be an object with scenario, analysisYear and metric (got ${quote(layer)}).`;
    return [{ pointer, code: "wrong_type", detail }];
  }
  const unknown = findUnknownMembers(layer, { known: LAYER_MEMBERS, aliases: LAYER_ALIASES, pointer });
  const layerMembers = layer as Readonly<Record<string, unknown>>;
  const missing = LAYER_MEMBERS.filter(
    (name) => layerMembers[name] === undefined && !unknown.some((item) => item.did_you_mean === name),
  );
  const details = missing.map((name): SchemaError => ({
    pointer: `${pointer}/${name}`,
    code: "missing",
    detail: `layers[${index}].${name} is required.`,
  }));
  return [...details, ...unknown];
}

function checkLocations({ latitudes, longitudes }: LocationArrays, addItem: AddItem): void {
  // Usually all locations are valid, and finding the invalid ones takes ten times as long.
  if (areWithin(latitudes, 90) && areWithin(longitudes, 180)) return;
  for (let i = 0; i < latitudes.length; i++) {
    const [lat, lon] = [latitudes[i] ?? NaN, longitudes[i] ?? NaN];
    if (!(lat >= -90 && lat <= 90))
      addItem(`/latitudes/${i}`, "out_of_range", `latitudes[${i}] must be between -90 and 90 (got ${lat}).`);
    if (!(lon >= -180 && lon <= 180))
      addItem(`/longitudes/${i}`, "out_of_range", `longitudes[${i}] must be between -180 and 180 (got ${lon}).`);
  }
}

function areWithin(degrees: Float64Array, limitDeg: number): boolean {
  for (let i = 0; i < degrees.length; i++) if (!(Math.abs(degrees[i] ?? NaN) <= limitDeg)) return false;
  return true;
}

type IntoArray = [unknown, typeof Float64Array | typeof Uint16Array | typeof Uint8Array];

/** Checks that output arrays have the right type and length, and do not overlap the input or each other. */
function checkInto(
  { layers, latitudes, longitudes }: CellsRequest,
  into: Readonly<Record<string, IntoArray>>,
  addItem: AddItem,
): void {
  if (!Array.isArray(layers) || !(latitudes instanceof Float64Array) || !(longitudes instanceof Float64Array)) return;
  const length = latitudes.length * layers.length;
  const otherArrays: (readonly [string, ArrayBufferView])[] = [
    ["latitudes", latitudes],
    ["longitudes", longitudes],
  ];
  for (const [pointer, [array, Kind]] of Object.entries(into)) {
    const name = pointer.slice(1).replace("/", ".");
    if (!(array instanceof Kind)) {
      addItem(pointer, "wrong_type", `${name} must be a ${Kind.name} (got ${quote(array)}).`);
    } else if (array.length !== length) {
      addItem(
        pointer,
        "out_of_range",
        `${name} must have ${length} elements, locations x layers (got ${array.length}).`,
      );
    } else {
      const overlapping = otherArrays.find(([, view]) => overlap(view, array));
      if (overlapping !== undefined)
        addItem(pointer, "not_allowed", `${name} must not share memory with ${overlapping[0]}.`);
      otherArrays.push([name, array]);
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
