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
