/** What is drawn on the map besides the values: the circle around the place, and the places of a list. */
import { type ReadonlySignal, signal } from "@preact/signals";

export interface MapPoint {
  readonly latitude: number;
  /** Degrees east. In rings, consecutive longitudes differ by less than 180 degrees, so they may exceed 180. */
  readonly longitude: number;
}

/** A ring of points; the last one is connected to the first. The map draws copies of it in every copy of the world. */
export type MapRing = readonly MapPoint[];

/** A place of a list, drawn as a point. */
interface MapPlace extends MapPoint {
  /** Distinguishes the places of a list. */
  readonly id: string;
  /** Shown and read out when the point is focused. */
  readonly label: string;
  /** CSS color of the point; undefined if the place has no value. */
  readonly color: string | undefined;
}

export interface MapPlaces {
  readonly places: readonly MapPlace[];
  readonly onSelect: (id: string) => void;
}

export interface MapOverlay {
  readonly circle: ReadonlySignal<readonly MapRing[] | undefined>;
  readonly places: ReadonlySignal<MapPlaces | undefined>;
  /** Replaces the circle; undefined removes it. A circle that contains a pole is one ring that ends at the pole. */
  showCircle(rings: readonly MapRing[] | undefined): void;
  /** Replaces the points of the list; undefined removes them. */
  showPlaces(places: MapPlaces | undefined): void;
}

export function createMapOverlay(): MapOverlay {
  const circle = signal<readonly MapRing[] | undefined>(undefined);
  const places = signal<MapPlaces | undefined>(undefined);
  return {
    circle,
    places,
    showCircle: (rings) => (circle.value = rings),
    showPlaces: (shown) => (places.value = shown),
  };
}
