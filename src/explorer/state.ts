import { type Signal, signal } from "@preact/signals";
import type { HazardName, Scenario } from "../contract/wireTypes.ts";

export const VIEWS = ["hazards", "alignment", "climate-risk"] as const;
export type View = (typeof VIEWS)[number];

/** What the map shows besides the layer itself: nothing, the change since the baseline, or the change from a scenario. */
export type Comparison = "none" | "baseline" | Exclude<Scenario, "baseline">;

export interface SelectedPlace {
  readonly latitude: number;
  readonly longitude: number;
  /** Name from the gazetteer or from an uploaded list. */
  readonly name?: string;
}

export interface MapPosition {
  readonly latitude: number;
  readonly longitude: number;
  readonly zoom: number;
}

/** What the user has chosen. The permalink contains all of it; the API key is never part of it. */
export interface ExplorerState {
  readonly view: Signal<View>;
  readonly hazard: Signal<HazardName>;
  readonly metric: Signal<string>;
  readonly scenario: Signal<Scenario>;
  readonly year: Signal<number>;
  readonly comparison: Signal<Comparison>;
  /** Cells below this value, in the unit of the metric, are not drawn. */
  readonly threshold: Signal<number | undefined>;
  readonly place: Signal<SelectedPlace | undefined>;
  /** Kilometers, 0 to 100; 0 is the cell at the place. */
  readonly radiusKm: Signal<number>;
  readonly method: Signal<"max" | "mean">;
  readonly map: Signal<MapPosition>;
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
    map: signal<MapPosition>({ latitude: 20, longitude: 10, zoom: 2 }),
  };
}
