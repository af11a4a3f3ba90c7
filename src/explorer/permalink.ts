/**
 * The permalink: the state as parameters of the URL fragment, such as `#view=hazards&hazard=cyclones&year=2050`. Fragments
 * are not sent to any server.
 */
import { batch, type Signal } from "@preact/signals";
import { AGGREGATION_METHODS, HAZARD_NAMES, SCENARIOS } from "../contract/names.ts";
import {
  type ExplorerState,
  initialState,
  type MapPosition,
  placePosition,
  type SelectedPlace,
  VIEWS,
  ZOOM,
} from "./state.ts";

const RADIUS_KM_MAX = 100;
/** Decimals of the center of the map; 5 decimals are about a meter. */
const MAP_DECIMALS = 5;
const NAME_LENGTH_MAX = 200;

/** What a link says: the names of its parameters. */
export interface LinkReading {
  readonly accepted: ReadonlySet<string>;
  /** Those that are unknown, repeated or faulty. */
  readonly ignored: readonly string[];
}

/** How a part of the state is written as text. */
interface Codec<T> {
  /** Returns undefined if the parameter is to be absent. */
  readonly format: (value: T) => string | undefined;
  /** Returns undefined if the text is not a value. */
  readonly parse: (text: string) => T | undefined;
}

const oneOf = <T extends string>(names: readonly T[]): Codec<T> => ({
  format: (value) => value,
  parse: (text) => names.find((name) => name === text),
});

/** A parameter that is absent unless the value differs from the default. */
const optional = <T>(codec: Codec<T>, absent: T): Codec<T> => ({
  format: (value) => (value === absent ? undefined : codec.format(value)),
  parse: codec.parse,
});

const flag: Codec<boolean> = { format: String, parse: (text) => ({ true: true, false: false })[text] };

const number = (min: number, max: number): Codec<number> => ({
  format: String,
  parse: (text) => parseNumber(text, min, max),
});

const METRIC: Codec<string> = {
  format: (value) => value,
  parse: (text) => (/^[a-z][a-z0-9_.]{0,40}$/.test(text) ? text : undefined),
};

const YEAR: Codec<number> = { format: String, parse: (text) => (/^\d{4}$/.test(text) ? Number(text) : undefined) };

const THRESHOLD: Codec<number | undefined> = {
  format: (value) => value?.toString(),
  parse: (text) => parseNumber(text, -Number.MAX_VALUE, Number.MAX_VALUE),
};

/** `latitude,longitude`, or `latitude,longitude,name`. */
const PLACE: Codec<SelectedPlace | undefined> = {
  format: (place) =>
    place === undefined
      ? undefined
      : [place.latitude, place.longitude, ...(place.name === undefined ? [] : [place.name])].join(","),
  parse(text) {
    const [lat = "", lon = "", ...rest] = text.split(",");
    const [latitude, longitude] = [parseNumber(lat, -90, 90), parseNumber(lon, -180, 180)];
    if (latitude === undefined || longitude === undefined) return undefined;
    const name = rest.join(",").slice(0, NAME_LENGTH_MAX);
    return { latitude, longitude, ...(name === "" ? {} : { name }) };
  },
};

/** `zoom/latitude/longitude` */
const MAP: Codec<MapPosition> = {
  format: ({ latitude, longitude, zoom }) =>
    [zoom, ...[latitude, longitude].map((value) => Number(value.toFixed(MAP_DECIMALS)))].join("/"),
  parse(text) {
    const [z = "", lat = "", lon = "", ...rest] = text.split("/");
    const zoom = /^\d+$/.test(z) ? parseNumber(z, ZOOM.min, ZOOM.max) : undefined;
    const [latitude, longitude] = [parseNumber(lat, -90, 90), parseNumber(lon, -180, 180)];
    if (zoom === undefined || latitude === undefined || longitude === undefined || rest.length > 0) return undefined;
    return { latitude, longitude, zoom };
  },
};

const TEXT: Codec<string | undefined> = { format: (value) => value, parse: (text) => text };

/** A parameter of the fragment, bound to a part of a state. */
interface Parameter {
  readonly name: string;
  /** Whether a change adds a step to the browser's history. */
  readonly isHistoryStep: boolean;
  /** Returns the parameter's text; undefined if it is absent. */
  read(): string | undefined;
  /** Sets the part of the state; returns false if the text is not a value. */
  write(text: string): boolean;
  reset(): void;
}

function parametersOf(state: ExplorerState): readonly Parameter[] {
  const defaults = initialState();
  const parameter = <K extends keyof ExplorerState>(
    name: string,
    key: K,
    codec: Codec<ExplorerState[K]["value"]>,
    isHistoryStep = true,
  ): Parameter => {
    const part = state[key] as Signal<ExplorerState[K]["value"]>;
    return {
      name,
      isHistoryStep,
      read: () => codec.format(part.value),
      write(text) {
        const value = codec.parse(text);
        if (value !== undefined) part.value = value;
        return value !== undefined;
      },
      reset: () => (part.value = defaults[key].value),
    };
  };
  return [
    parameter("view", "view", oneOf(VIEWS)),
    parameter("hazard", "hazard", oneOf(HAZARD_NAMES)),
    parameter("metric", "metric", METRIC),
    parameter("scenario", "scenario", oneOf(SCENARIOS)),
    parameter("year", "year", YEAR),
    parameter("minus", "comparison", optional(oneOf(["none", ...SCENARIOS]), "none")),
    parameter("threshold", "threshold", THRESHOLD, false),
    parameter("place", "place", PLACE),
    parameter("radius", "radiusKm", optional(number(0, RADIUS_KM_MAX), 0), false),
    parameter("method", "method", optional(oneOf(AGGREGATION_METHODS), "max"), false),
    parameter("total", "totalHazard", optional(flag, false), false),
    parameter("change", "anthropogenic", optional(flag, false), false),
    parameter("map", "map", MAP, false),
    parameter("entity", "alignmentInput", TEXT, false),
    parameter("company", "climateRiskInput", TEXT, false),
  ];
}

/** Returns the fragment for a state, without `#`. Reads every signal, so that an effect runs again when one changes. */
export function fragmentOf(state: ExplorerState): string {
  return encode(parametersOf(state));
}

/** Returns the parts of the fragment that make a step of the browser's history when they change. */
export function historyStepOf(state: ExplorerState): string {
  return encode(parametersOf(state).filter(({ isHistoryStep }) => isHistoryStep));
}

/** Sets a state from the fragment of a link, like `applyFragment`. */
export function readLink(state: ExplorerState, fragment: string): LinkReading {
  const ignored = applyFragment(state, fragment);
  const given = new URLSearchParams(fragment.replace(/^#/, ""));
  return { ignored, accepted: new Set([...given.keys()].filter((name) => !ignored.includes(name))) };
}

/**
 * Sets a state from a fragment, with or without `#`. Absent parameters get their defaults, also those that are faulty. Without a
 * position of the map, the map shows the place.
 * @returns the names of the parameters that are unknown, repeated or faulty
 */
export function applyFragment(state: ExplorerState, fragment: string): readonly string[] {
  const given = new URLSearchParams(fragment.replace(/^#/, ""));
  const parameters = parametersOf(state);
  const known = new Set(parameters.map(({ name }) => name));
  const ignored = new Set([...given.keys()].filter((name) => !known.has(name)));
  batch(() => {
    for (const parameter of parameters) {
      const [text, ...others] = given.getAll(parameter.name);
      parameter.reset();
      if (text === undefined) continue;
      if (!parameter.write(text) || others.length > 0) ignored.add(parameter.name);
    }
    const place = state.place.value;
    if (place !== undefined && !given.has("map")) state.map.value = placePosition(place, state.radiusKm.value);
  });
  return [...ignored];
}

function encode(parameters: readonly Parameter[]): string {
  const entries = parameters.flatMap(({ name, read }) => {
    const text = read();
    return text === undefined ? [] : [`${name}=${encodeText(text)}`];
  });
  return entries.join("&");
}

/** Leaves characters that need no encoding in a fragment readable: the comma and the slash. */
function encodeText(text: string): string {
  return encodeURIComponent(text.replaceAll(/\p{Surrogate}/gu, "\uFFFD"))
    .replaceAll("%2C", ",")
    .replaceAll("%2F", "/");
}

function parseNumber(text: string, min: number, max: number): number | undefined {
  if (!/^-?\d+(\.\d+)?(e[+-]?\d+)?$/.test(text)) return undefined;
  const value = Number(text);
  return value >= min && value <= max ? value : undefined;
}
