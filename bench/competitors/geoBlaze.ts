import { readFile } from "node:fs/promises";
import { emptyResult, inProcessContender, type OpenCompetitor } from "../circleContender.ts";
import { LAYER_COUNT } from "../floodMaps.ts";
import { locationOf } from "../workload.ts";

const DEGREE = Math.PI / 180;
const MEAN_RADIUS_KM = 6371.0088;

/** The part of geoblaze that is used. The package is not a dependency, because it has 500 dependencies itself. */
interface GeoBlaze {
  parse(source: ArrayBuffer): Promise<unknown>;
  stats(
    raster: unknown,
    polygon: unknown,
    options: { readonly stats: readonly string[] },
  ): Promise<readonly { readonly max: number | undefined; readonly mean: number | undefined }[]>;
}

/**
 * geoblaze: statistics of a polygon with 128 corners, with the whole file in memory. Its mean is not weighted by area.
 */
export const geoBlaze: OpenCompetitor = async ({ geoTiffPath, places }) => {
  const name = "geoblaze";
  let geoblaze: GeoBlaze;
  try {
    geoblaze = ((await import(name)) as { default: GeoBlaze }).default;
  } catch {
    return "geoblaze is not installed (npm install --no-save geoblaze@2.8.0)";
  }
  const bytes = await readFile(geoTiffPath);
  const file = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength);
  const raster = await geoblaze.parse(file);
  return inProcessContender("geoblaze 2.8.0", async (index, radiusKm) => {
    const { latDeg, lonDeg } = locationOf({ places }, index);
    const arcRad = radiusKm / MEAN_RADIUS_KM;
    const centerLatRad = latDeg * DEGREE;
    const ring = Array.from({ length: 129 }, (_, i) => {
      const bearingRad = ((i % 128) / 128) * 2 * Math.PI;
      const latRad = Math.asin(
        Math.sin(centerLatRad) * Math.cos(arcRad) + Math.cos(centerLatRad) * Math.sin(arcRad) * Math.cos(bearingRad),
      );
      const eastRad = Math.atan2(
        Math.sin(bearingRad) * Math.sin(arcRad) * Math.cos(centerLatRad),
        Math.cos(arcRad) - Math.sin(centerLatRad) * Math.sin(latRad),
      );
      return [lonDeg + eastRad / DEGREE, latRad / DEGREE];
    });
    const stats = await geoblaze.stats(raster, { type: "Polygon", coordinates: [ring] }, { stats: ["max", "mean"] });
    const result = emptyResult();
    for (let layer = 0; layer < LAYER_COUNT; layer++) {
      result.max[layer] = stats[layer]?.max ?? Number.NaN;
      result.mean[layer] = stats[layer]?.mean ?? Number.NaN;
    }
    return result;
  });
};
