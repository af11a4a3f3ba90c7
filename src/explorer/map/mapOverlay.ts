/** What is on the map besides the values: the circle around the place, the places of a list, and the edges. */
import { type ReadonlySignal, signal } from "@preact/signals";
import type { CatalogGrid } from "../../contract/wireTypes.ts";
import { type MapPixel, MERCATOR_LAT_DEG_MAX, pixelCenter } from "../../tiles/mercator.ts";
import { formatCount } from "../format.ts";

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

/** Decimals of a place that is chosen on the map; 5 decimals are about a meter. */
const PLACE_DECIMALS = 5;
/** A coordinate closer to an edge than this, in cells, is not rounded. The engine takes 1e-9 cells as on the edge. */
const EDGE_DISTANCE_MIN = 1e-6;

/**
 * Returns the center of a pixel, with rounded coordinates unless they could be in another cell. Tiles show the cell at the exact
 * center, so that the values of the place are those that the map shows.
 *
 * @param grid the cells of the map; null if the atlas has none
 */
export function placeOfPixel(pixel: MapPixel, grid: CatalogGrid | null): MapPoint {
  const { latDeg, lonDeg } = pixelCenter(pixel);
  if (grid === null) return { latitude: rounded(latDeg), longitude: rounded(lonDeg) };
  const { north_deg, west_deg, cell_size_lat_deg, cell_size_lon_deg } = grid;
  const turn = (deg: number): number => ((deg % 360) + 360) % 360;
  return {
    latitude: roundedInCell(latDeg, (deg) => (north_deg - deg) / cell_size_lat_deg),
    longitude: roundedInCell(lonDeg, (deg) => turn(deg - west_deg) / cell_size_lon_deg),
  };
}

/** @param positionOf returns the distance from the edge of the grid, in cells */
function roundedInCell(deg: number, positionOf: (deg: number) => number): number {
  const [exact, near] = [positionOf(deg), positionOf(rounded(deg))];
  const isInSameCell = Math.floor(exact) === Math.floor(near);
  return isInSameCell && isOffEdge(exact) && isOffEdge(near) ? rounded(deg) : deg;
}

function isOffEdge(position: number): boolean {
  return Math.abs(position - Math.round(position)) >= EDGE_DISTANCE_MIN;
}

function rounded(deg: number): number {
  return Number(deg.toFixed(PLACE_DECIMALS));
}

interface Location {
  readonly latitude: number;
}

const EDGE = `${MERCATOR_LAT_DEG_MAX.toFixed(2)}°`;

/** Returns where the marker of a place is, if the map does not reach the place. */
export function placeBeyondMapText(place: Location): string | undefined {
  if (!isBeyondMap(place)) return undefined;
  return `The map ends at ${EDGE} ${place.latitude < 0 ? "S" : "N"}; the place is drawn at its edge.`;
}

/** As `placeBeyondMapText`, for the places of a list. */
export function placesBeyondMapText(places: readonly Location[]): string | undefined {
  const count = places.filter(isBeyondMap).length;
  if (count === 0) return undefined;
  const what =
    count === 1 ? "1 place beyond is drawn at its edge" : `${formatCount(count)} places beyond are drawn at its edges`;
  return `The map ends at ${EDGE} N and S; ${what}.`;
}

function isBeyondMap({ latitude }: Location): boolean {
  return Math.abs(latitude) > MERCATOR_LAT_DEG_MAX;
}
