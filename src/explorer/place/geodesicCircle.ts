/** The outline of a geodesic circle on the WGS84 ellipsoid, as a polygon for the map. */
import geodesic from "geographiclib-geodesic";
import type { CatalogGrid } from "../../contract/wireTypes.ts";
import type { MapPoint, MapRing } from "../map/mapOverlay.ts";

const WGS84 = geodesic.Geodesic.WGS84;
/** Maximum distance between an edge of the polygon and the circle, by default. 1 cm misplaced one cell in a hundred circles. */
const TOLERANCE_M = 0.001;
const METERS_PER_DEGREE = 111_320;
const START_COUNT = 16;
/** Halvings of the angle between two starting points; enough for a circle that passes through a pole. */
const DEPTH_MAX = 40;

/**
 * Returns the polygon of the points at a geodesic distance from a location. Its edges, straight in latitude and longitude,
 * are within the tolerance of the circle. Consecutive longitudes differ by less than 180 degrees, so they may exceed 180. A circle
 * around a pole is a ring of 360 degrees that ends with two points at the pole.
 */
export function geodesicCircle(center: MapPoint, radiusKm: number, toleranceM = TOLERANCE_M): MapRing {
  const rimPoint = (azimuthDeg: number): MapPoint => {
    const { lat2 = NaN, lon2 = NaN } = WGS84.Direct(
      center.latitude,
      center.longitude,
      azimuthDeg,
      radiusKm * 1000,
      geodesic.Geodesic.LATITUDE | geodesic.Geodesic.LONGITUDE,
    );
    return { latitude: lat2, longitude: lon2 };
  };
  const ring: MapPoint[] = [];
  let lastLongitude = center.longitude;
  const add = (point: MapPoint): void => {
    const unwrapped = unwrap(point, lastLongitude);
    ring.push(unwrapped);
    lastLongitude = unwrapped.longitude;
  };
  /** Adds the points between two points of the rim, then the second one. */
  const addArc = (fromDeg: number, from: MapPoint, toDeg: number, to: MapPoint, depth: number): void => {
    const middleDeg = (fromDeg + toDeg) / 2;
    const middle = rimPoint(middleDeg);
    if (depth < DEPTH_MAX && distanceToChordM(from, middle, to) > toleranceM) {
      addArc(fromDeg, from, middleDeg, middle, depth + 1);
      addArc(middleDeg, middle, toDeg, to, depth + 1);
    } else {
      add(to);
    }
  };
  const stepDeg = 360 / START_COUNT;
  const starts = Array.from({ length: START_COUNT }, (_, index) => rimPoint(index * stepDeg));
  for (const [index, from] of starts.entries()) {
    addArc(index * stepDeg, from, (index + 1) * stepDeg, starts[(index + 1) % START_COUNT] ?? from, 0);
  }
  const first = ring[0];
  const last = ring.at(-1);
  if (first === undefined || last === undefined) return ring;
  // Once around: the ring ends 360 degrees from where it began if it contains a pole, and where it began otherwise.
  const turnDeg = unwrap(first, last.longitude).longitude - first.longitude;
  if (Math.abs(turnDeg) < 180) return ring;
  const pole = center.latitude > 0 ? 90 : -90;
  ring.push({ latitude: first.latitude, longitude: first.longitude + turnDeg });
  ring.push({ latitude: pole, longitude: first.longitude + turnDeg }, { latitude: pole, longitude: first.longitude });
  return ring;
}

/** Returns the outline of the cell with a center. With a radius of 0, values are those of this cell. */
export function cellOutline(center: MapPoint, grid: CatalogGrid): MapRing {
  const { cell_size_lat_deg: heightDeg, cell_size_lon_deg: widthDeg } = grid;
  const north = Math.min(90, center.latitude + heightDeg / 2);
  const south = Math.max(-90, center.latitude - heightDeg / 2);
  const west = center.longitude - widthDeg / 2;
  const east = center.longitude + widthDeg / 2;
  return [
    { latitude: north, longitude: west },
    { latitude: north, longitude: east },
    { latitude: south, longitude: east },
    { latitude: south, longitude: west },
  ];
}

/** Returns the point with the longitude, of those 360 degrees apart, that is nearest to another one. */
function unwrap({ latitude, longitude }: MapPoint, nearDeg: number): MapPoint {
  return { latitude, longitude: longitude + 360 * Math.round((nearDeg - longitude) / 360) };
}

/** Returns about how far the middle of an arc is from its chord, which is straight in latitude and longitude. */
function distanceToChordM(from: MapPoint, middle: MapPoint, to: MapPoint): number {
  const start = unwrap(from, middle.longitude);
  const end = unwrap(to, start.longitude);
  const { longitude } = unwrap(middle, (start.longitude + end.longitude) / 2);
  const northDeg = (start.latitude + end.latitude) / 2 - middle.latitude;
  const eastDeg = (start.longitude + end.longitude) / 2 - longitude;
  // Sideways, along a meridian: the parallels are shorter by the cosine.
  return Math.hypot(northDeg, eastDeg * Math.cos((middle.latitude * Math.PI) / 180)) * METERS_PER_DEGREE;
}
