import type { MapPosition } from "../state.ts";

interface Location {
  readonly latitude: number;
  readonly longitude: number;
}

const ZOOM = { min: 1, max: 10 } as const;
/** Degrees of longitude that are visible at zoom 0 on a map of 512 pixels. */
const VISIBLE_DEG = 720;

/** Returns a position of the map that shows all places; undefined if there are none. Places may be on both sides of 180 degrees. */
export function mapPosition(places: readonly Location[]): MapPosition | undefined {
  if (places.length === 0) return undefined;
  const latitudes = places.map(({ latitude }) => latitude);
  const [south, north] = [Math.min(...latitudes), Math.max(...latitudes)];
  const { centerDeg, widthDeg } = smallestArc(places.map(({ longitude }) => longitude));
  const latitude = (south + north) / 2;
  const heightDeg = (north - south) / Math.max(0.2, Math.cos((latitude * Math.PI) / 180));
  const spanDeg = Math.max(widthDeg, heightDeg, 0.01) * 1.3;
  const zoom = Math.max(ZOOM.min, Math.min(ZOOM.max, Math.floor(Math.log2(VISIBLE_DEG / spanDeg))));
  return { latitude, longitude: centerDeg, zoom };
}

/** Returns the middle and the width of the shortest arc with all longitudes. */
function smallestArc(longitudes: readonly number[]): { readonly centerDeg: number; readonly widthDeg: number } {
  const sorted = [...new Set(longitudes)].toSorted((a, b) => a - b);
  let start = 0;
  let largestGap = -1;
  for (const [index, longitude] of sorted.entries()) {
    const next = sorted[index + 1] ?? (sorted[0] ?? longitude) + 360;
    if (next - longitude > largestGap) {
      largestGap = next - longitude;
      start = next;
    }
  }
  const widthDeg = 360 - largestGap;
  const center = start + widthDeg / 2;
  return { centerDeg: ((((center + 180) % 360) + 360) % 360) - 180, widthDeg };
}
