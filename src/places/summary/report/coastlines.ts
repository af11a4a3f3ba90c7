import { COASTLINE_RINGS_BASE64, COASTLINE_STEPS_PER_DEG } from "./coastlines.generated.ts";

/** A rectangle of the map in degrees. */
export interface MapWindow {
  readonly west: number;
  readonly east: number;
  readonly south: number;
  readonly north: number;
}

/** Longitude and latitude in degrees. */
type MapPoint = readonly [longitude: number, latitude: number];

/**
 * Returns the coastlines as closed rings, reduced to what a map of the window shows: rings outside it are left out, and
 * points closer than `resolutionDeg` to the previous one or beyond its sides.
 */
export function coastlinesIn(window: MapWindow, resolutionDeg: number): readonly (readonly MapPoint[])[] {
  // A ring that crosses the antimeridian continues beyond 180 degrees, so it is on both sides of the map.
  const rings = decodeRings().flatMap((ring) => [-360, 0, 360].map((shiftDeg) => shifted(ring, shiftDeg)));
  return rings
    .filter((ring) => !isBeyondOneSide(ring, window))
    .map((ring) => simplify(ring, window, resolutionDeg))
    .filter((ring) => ring.length >= 3);
}

function decodeRings(): readonly (readonly MapPoint[])[] {
  const bytes = Buffer.from(COASTLINE_RINGS_BASE64, "base64");
  let offset = 0;
  const readNumber = (): number => {
    let number = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = bytes[offset++] ?? 0;
      number |= (byte & 127) << shift;
      if (byte < 128) return number;
    }
  };
  const readChange = (): number => {
    const zigzag = readNumber();
    return (zigzag >>> 1) ^ -(zigzag & 1);
  };
  const rings: MapPoint[][] = [];
  while (offset < bytes.length) {
    let [x, y] = [0, 0];
    const ring = Array.from({ length: readNumber() }, (): MapPoint => {
      x += readChange();
      y += readChange();
      return [x / COASTLINE_STEPS_PER_DEG, y / COASTLINE_STEPS_PER_DEG];
    });
    rings.push(ring);
  }
  return rings;
}

function shifted(ring: readonly MapPoint[], shiftDeg: number): readonly MapPoint[] {
  return shiftDeg === 0 ? ring : ring.map(([longitude, latitude]) => [longitude + shiftDeg, latitude]);
}

function simplify(ring: readonly MapPoint[], window: MapWindow, resolutionDeg: number): readonly MapPoint[] {
  const kept: MapPoint[] = [];
  for (const [index, point] of ring.entries()) {
    const previous = kept.at(-1);
    const next = ring[index + 1];
    if (previous !== undefined) {
      const change = Math.max(Math.abs(point[0] - previous[0]), Math.abs(point[1] - previous[1]));
      if (change < resolutionDeg) continue;
      // Without the point, the line stays beyond the same side.
      if (next !== undefined && isBeyondOneSide([previous, point, next], window)) continue;
    }
    kept.push(point);
  }
  return kept;
}

/** Returns whether all points are beyond the same side of the window. */
function isBeyondOneSide(points: readonly MapPoint[], { west, east, south, north }: MapWindow): boolean {
  return (
    points.every(([longitude]) => longitude < west) ||
    points.every(([longitude]) => longitude > east) ||
    points.every(([, latitude]) => latitude < south) ||
    points.every(([, latitude]) => latitude > north)
  );
}
