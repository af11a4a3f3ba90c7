/** What the page shows, which the address repeats. */
import { type Signal, signal } from "@preact/signals";
import type { HazardName, Scenario } from "../contract/wireTypes.ts";

export const VIEWS = ["hazards", "places", "alignment", "climate-risk"] as const;
export type View = (typeof VIEWS)[number];

/** What is subtracted from the chosen layer: nothing, the baseline of 1980, or the same year under another scenario. */
export type Comparison = "none" | Scenario;

export interface SelectedPlace {
  readonly latitude: number;
  readonly longitude: number;
  /** Name from the gazetteer or from an uploaded list. */
  readonly name?: string;
}

/** Zoom levels of the map. */
export const ZOOM = { min: 1, max: 13 } as const;

export interface MapPosition {
  readonly latitude: number;
  readonly longitude: number;
  readonly zoom: number;
}

/** What the user has chosen. The permalink contains all of it (permalink.ts); the API key is never part of it. */
export interface ExplorerState {
  readonly view: Signal<View>;
  readonly hazard: Signal<HazardName>;
  /** A metric of the hazard, or `rp_T`: the value that is reached or exceeded once in T years on average. */
  readonly metric: Signal<string>;
  readonly scenario: Signal<Scenario>;
  readonly year: Signal<number>;
  readonly comparison: Signal<Comparison>;
  /** Cells below this value, in the unit of the metric, are not drawn; in a comparison, smaller differences are not. */
  readonly threshold: Signal<number | undefined>;
  readonly place: Signal<SelectedPlace | undefined>;
  /** Kilometers, 0 to 100; 0 is the cell at the place. */
  readonly radiusKm: Signal<number>;
  readonly method: Signal<"max" | "mean">;
  /** Adds intensity times probability to the panel of a place. */
  readonly totalHazard: Signal<boolean>;
  /** Shows changes since 1980 in the panel of a place. */
  readonly anthropogenic: Signal<boolean>;
  readonly map: Signal<MapPosition>;
  /** Input of the view for temperature alignment, as text that the view defines; undefined for its example. */
  readonly alignmentInput: Signal<string | undefined>;
  /** Input of the view for climate risk, as text that the view defines; undefined for its example. */
  readonly climateRiskInput: Signal<string | undefined>;
}

/** Returns the state of a page that was opened without a permalink. */
export function initialState(): ExplorerState {
  return {
    view: signal<View>("hazards"),
    hazard: signal<HazardName>("riverine_floods"),
    metric: signal("depth_meters"),
    scenario: signal<Scenario>("rcp8p5"),
    year: signal(2050),
    comparison: signal<Comparison>("none"),
    threshold: signal<number | undefined>(undefined),
    place: signal<SelectedPlace | undefined>(undefined),
    radiusKm: signal(0),
    method: signal<"max" | "mean">("max"),
    totalHazard: signal(false),
    anthropogenic: signal(false),
    map: signal<MapPosition>({ latitude: 20, longitude: 10, zoom: 2 }),
    alignmentInput: signal<string | undefined>(undefined),
    climateRiskInput: signal<string | undefined>(undefined),
  };
}

/** Zoom for a place without a radius: a town with its surroundings. */
const PLACE_ZOOM = 9;
/** Diameter that a circle may have on the map; a phone is 360 pixels wide. */
const CIRCLE_PIXELS_MAX = 300;
/** Circumference of the earth by the pixels of the world at zoom 0. */
const METERS_PER_PIXEL_ZOOM_0 = 40_075_016.686 / 256;
/** Closer to the poles, zooms are those of this latitude, where Web Mercator ends. */
const LATITUDE_DEG_MAX = 85;

/**
 * Returns a position of the map that shows a place and the whole circle around it.
 *
 * @param zoom present zoom of the map; without a circle, it is kept if it is closer
 */
export function placePosition(
  { latitude, longitude }: Pick<SelectedPlace, "latitude" | "longitude">,
  radiusKm: number,
  zoom = 0,
): MapPosition {
  if (radiusKm === 0) return { latitude, longitude, zoom: Math.max(PLACE_ZOOM, zoom) };
  const latitudeRad = (Math.min(Math.abs(latitude), LATITUDE_DEG_MAX) * Math.PI) / 180;
  const diameterPixelsZoom0 = (2000 * radiusKm) / (METERS_PER_PIXEL_ZOOM_0 * Math.cos(latitudeRad));
  const fitting = Math.floor(Math.log2(CIRCLE_PIXELS_MAX / diameterPixelsZoom0));
  return { latitude, longitude, zoom: Math.max(ZOOM.min, Math.min(ZOOM.max, fitting)) };
}
