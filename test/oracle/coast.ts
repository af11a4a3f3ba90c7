import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

/** Outlines of the world's land, in the format of the source file. */
interface Topology {
  readonly transform: { readonly scale: readonly [number, number]; readonly translate: readonly [number, number] };
  readonly arcs: readonly (readonly (readonly [number, number])[])[];
  readonly objects: {
    readonly land: { readonly geometries: readonly { readonly arcs: readonly (readonly (readonly number[])[])[] }[] };
  };
}

const KM_PER_DEG = (6371 * Math.PI) / 180;

/** All edges of the outlines; no edge spans more than 180 degrees of longitude. */
export interface Coast {
  /** f64[count][4]: longitude and latitude of both ends, degrees; longitudes may exceed 180. */
  readonly edges: Float64Array;
}

/** Reads the coast directly from the source file, without a grid or projection. */
export function readCoast(): Coast {
  const file = createRequire(import.meta.url).resolve("world-atlas/land-10m.json");
  const { transform, arcs, objects } = JSON.parse(readFileSync(file, "utf8")) as Topology;
  const decoded = arcs.map((arc) => {
    let x = 0;
    let y = 0;
    return arc.map(([dx, dy]): [number, number] => {
      x += dx;
      y += dy;
      return [x * transform.scale[0] + transform.translate[0], y * transform.scale[1] + transform.translate[1]];
    });
  });
  const edges: number[] = [];
  for (const index of objects.land.geometries.flatMap((geometry) => geometry.arcs.flat(2))) {
    // The arcs of a ring join end to end, so the edges can be collected arc by arc.
    const arc = decoded[index < 0 ? ~index : index] ?? [];
    for (const [i, [lon, lat]] of arc.entries()) {
      const [lonBefore, latBefore] = arc[i - 1] ?? [lon, lat];
      if (i > 0) edges.push(lonBefore, latBefore, lon + 360 * Math.round((lonBefore - lon) / 360), lat);
    }
  }
  return { edges: Float64Array.from(edges) };
}

/**
 * Returns whether a location is on land: the meridian from it to the North Pole, which is at sea, then crosses an odd
 * number of coasts.
 */
export function isLand({ edges }: Coast, { latDeg, lonDeg }: { latDeg: number; lonDeg: number }): boolean {
  let crossings = 0;
  for (let i = 0; i < edges.length; i += 4) {
    const lon0 = edges[i] ?? 0;
    const lon1 = edges[i + 2] ?? 0;
    const lon = lonDeg + 360 * Math.round((lon0 - lonDeg) / 360);
    if (lon0 <= lon === lon1 <= lon) continue;
    const lat0 = edges[i + 1] ?? 0;
    const lat1 = edges[i + 3] ?? 0;
    if (lat0 + ((lon - lon0) / (lon1 - lon0)) * (lat1 - lat0) > latDeg) crossings += 1;
  }
  return crossings % 2 === 1;
}

/** Returns the distance to the nearest coast, km, to within 1 % up to 60 km; for larger distances at least 50 km. */
export function coastDistanceKm({ edges }: Coast, { latDeg, lonDeg }: { latDeg: number; lonDeg: number }): number {
  const kmPerLonDeg = KM_PER_DEG * Math.cos((latDeg * Math.PI) / 180);
  let least = Infinity;
  for (let i = 0; i < edges.length; i += 4) {
    if (Math.abs((edges[i + 1] ?? 0) - latDeg) > 1.5) continue;
    const turn = 360 * Math.round(((edges[i] ?? 0) - lonDeg) / 360);
    const x0 = ((edges[i] ?? 0) - turn - lonDeg) * kmPerLonDeg;
    const y0 = ((edges[i + 1] ?? 0) - latDeg) * KM_PER_DEG;
    const dx = ((edges[i + 2] ?? 0) - (edges[i] ?? 0)) * kmPerLonDeg;
    const dy = ((edges[i + 3] ?? 0) - (edges[i + 1] ?? 0)) * KM_PER_DEG;
    const length2 = dx * dx + dy * dy;
    const share = length2 === 0 ? 0 : Math.min(1, Math.max(0, -(x0 * dx + y0 * dy) / length2));
    least = Math.min(least, Math.hypot(x0 + share * dx, y0 + share * dy));
  }
  return least;
}
