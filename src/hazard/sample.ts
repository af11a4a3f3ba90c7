import type { Places, Sampler } from "../atlas/sampler.ts";
import { FAULT_ITEM_COUNT_MAX, Fault, type FaultItem } from "../errors.ts";
import { type HazardName, HAZARDS, isHazardName, layerOf, type MetricName, type Scenario } from "./hazards.ts";

/** A layer as it is asked for: the baseline answers for 1980 under every scenario, as in a query. */
export interface SampleLayer {
  readonly scenario: Scenario;
  readonly analysisYear: number;
  readonly metric: MetricName;
}

/** Many places, some layers of one hazard: arrays in, arrays out. */
export interface SampleRequest {
  readonly hazard: string;
  readonly layers: readonly SampleLayer[];
  /** Degrees, -90 to 90. */
  readonly latitudes: Float64Array;
  /** Degrees, -180 to 180; as many as latitudes. */
  readonly longitudes: Float64Array;
  /** 0 to 100, default 0: the cell at each place. Above 0 all cells within this geodesic distance. */
  readonly radiusKm?: number;
  /** How a radius is summed up; default max. */
  readonly method?: "max" | "mean";
  /** Ends the work early: the promise is rejected with the signal's reason. */
  readonly signal?: AbortSignal;
  /** Told every few thousand places. */
  readonly onProgress?: (placesDone: number, placeCount: number) => void;
}

export interface SampleResult {
  /** f64[place][layer]; NaN where there is no value. */
  readonly values: Float64Array;
  /** u8[place][layer]: index into SAMPLE_REASONS; 0 where there is a value. */
  readonly reasons: Uint8Array;
}

/** What the numbers in `reasons` mean. */
export const SAMPLE_REASONS = ["value", "outside_coverage", "no_data", "layer_missing"] as const;
const LAYER_MISSING = SAMPLE_REASONS.indexOf("layer_missing");

/** Circles that are in work at the same time: enough to keep reads busy. */
const CIRCLES_PARALLEL = 16;
/** Circles between two looks at the signal. */
const CIRCLES_PER_TURN = 512;

/**
 * @throws Fault `invalid_request` or `combination_unavailable` with all that is wrong with the request
 */
export async function sample(sampler: Sampler, request: SampleRequest): Promise<SampleResult> {
  const hazardName = checkSample(request);
  const { layers, latitudes, longitudes, radiusKm = 0, method = "max", signal } = request;
  const placeCount = latitudes.length;
  const values = new Float64Array(placeCount * layers.length);
  const reasons = new Uint8Array(placeCount * layers.length);
  signal?.throwIfAborted();

  const hazard = sampler.hazards.get(hazardName);
  const found = layers.map(({ scenario, analysisYear, metric }) => {
    const stored = layerOf(scenario, analysisYear);
    const group = hazard?.group(stored.scenario, stored.year);
    const layer = group?.entry.layers.findIndex((entry) => entry.metric === metric) ?? -1;
    const entry = group?.entry.layers[layer];
    return group === undefined || entry === undefined ? undefined : { ...group, layer, entry };
  });
  const present = found.flatMap((layer, column) => (layer === undefined ? [] : [{ layer, column }]));
  // One lane a stored layer, however often it is asked for: the baseline answers for several years.
  const distinct: (typeof present)[number]["layer"][] = [];
  const columns = present.map(({ layer, column }) => {
    const known = distinct.findIndex(
      (other) => other.source === layer.source && other.group === layer.group && other.layer === layer.layer,
    );
    return { column, from: known >= 0 ? known : distinct.push(layer) - 1 };
  });
  let placesDone = 0;
  const onPlaces = (count: number): void => {
    signal?.throwIfAborted();
    placesDone += count;
    request.onProgress?.(placesDone, placeCount);
  };
  if (hazard === undefined || distinct.length === 0) {
    values.fill(NaN);
    reasons.fill(LAYER_MISSING);
    onPlaces(placeCount);
    return { values, reasons };
  }

  const set = sampler.layerSet(hazard, distinct);
  const isWhole = columns.length === layers.length && columns.every(({ from }, column) => from === column);
  const narrow = isWhole
    ? { values, reasons }
    : { values: new Float64Array(placeCount * distinct.length), reasons: new Uint8Array(placeCount * distinct.length) };
  const places = { latitudes, longitudes };
  if (radiusKm === 0) await sampler.samplePlaces(set, places, narrow, onPlaces);
  else await sampleCircles();
  if (!isWhole) {
    values.fill(NaN);
    reasons.fill(LAYER_MISSING);
    for (let place = 0; place < placeCount; place++) {
      for (const { column, from } of columns) {
        values[place * layers.length + column] = narrow.values[place * distinct.length + from] ?? NaN;
        reasons[place * layers.length + column] = narrow.reasons[place * distinct.length + from] ?? 0;
      }
    }
  }
  return { values, reasons };

  async function sampleCircles(): Promise<void> {
    const order = sampler.orderOf(set, places);
    let next = 0;
    const work = async (): Promise<void> => {
      for (let position = next++; position < placeCount; position = next++) {
        const place = order[position] ?? 0;
        const circle = {
          latDeg: latitudes[place] ?? NaN,
          lonDeg: longitudes[place] ?? NaN,
          radiusM: radiusKm * 1000,
        };
        const at = { circle, method, first: place * distinct.length };
        if (!sampler.readCircle(set, at, narrow)) await sampler.fetchCircle(set, at, narrow);
        if (position % CIRCLES_PER_TURN === CIRCLES_PER_TURN - 1) {
          onPlaces(CIRCLES_PER_TURN);
          await sampler.giveWay();
        }
      }
    };
    await Promise.all(Array.from({ length: CIRCLES_PARALLEL }, work));
    onPlaces(placeCount - placesDone);
  }
}

/**
 * Checks a request for the bulk door.
 * @returns the hazard's name
 * @throws Fault `invalid_request` or `combination_unavailable` with all that is wrong, up to 100 items
 */
export function checkSample(request: SampleRequest): HazardName {
  const items: FaultItem[] = [];
  const wrong = (pointer: string, code: FaultItem["code"], detail: string): void => {
    if (items.length < FAULT_ITEM_COUNT_MAX) items.push({ pointer, code, detail });
  };
  const { hazard, layers, latitudes, longitudes, radiusKm = 0, method = "max" } = request;
  if (!isHazardName(hazard))
    wrong("/hazard", "not_allowed", `hazard must be one of ${Object.keys(HAZARDS).join(", ")}.`);
  const isList = Array.isArray(layers) && layers.length > 0;
  if (!isList) wrong("/layers", "empty", "layers must name at least one layer.");
  if (!(latitudes instanceof Float64Array)) wrong("/latitudes", "wrong_type", "latitudes must be a Float64Array.");
  if (!(longitudes instanceof Float64Array)) wrong("/longitudes", "wrong_type", "longitudes must be a Float64Array.");
  if (!(typeof radiusKm === "number" && radiusKm >= 0 && radiusKm <= 100)) {
    wrong("/radiusKm", "out_of_range", "radiusKm must be a number from 0 to 100.");
  }
  if (method !== "max" && method !== "mean") wrong("/method", "not_allowed", "method must be max or mean.");
  if (items.length === 0) {
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
    throw new Fault("invalid_request", `${items[0]?.detail} In all ${items.length} things are wrong.`, { items });
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
    throw new Fault("combination_unavailable", `${items[0]?.detail} In all ${items.length} things are wrong.`, {
      items,
    });
  }
  return spec.hazard;
}

function checkPlaces(
  { latitudes, longitudes }: Places,
  wrong: (pointer: string, code: FaultItem["code"], detail: string) => void,
): void {
  for (let i = 0; i < latitudes.length; i++) {
    const [lat, lon] = [latitudes[i] ?? NaN, longitudes[i] ?? NaN];
    if (!(lat >= -90 && lat <= 90))
      wrong(`/latitudes/${i}`, "out_of_range", `latitude ${i} must be from -90 to 90, not ${lat}.`);
    if (!(lon >= -180 && lon <= 180))
      wrong(`/longitudes/${i}`, "out_of_range", `longitude ${i} must be from -180 to 180, not ${lon}.`);
  }
}
