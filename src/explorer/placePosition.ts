/** Where the map is when it shows a place. */
import { type MapPosition, type SelectedPlace, ZOOM } from "./state.ts";

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
