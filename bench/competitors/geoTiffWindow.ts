import { fromFile } from "geotiff";
import { STEPS_MAX } from "../../src/kernel/kernel.generated.ts";
import { emptyResult, inProcessContender, type OpenCompetitor } from "../circleContender.ts";
import { LAYER_COUNT } from "../floodMaps.ts";
import { locationOf } from "../workload.ts";

const DEGREE = Math.PI / 180;
const MEAN_RADIUS_KM = 6371.0088;
/** Lower bound of the length of a degree of latitude. */
const KM_PER_DEGREE_MIN = 110;

/** geotiff.js: reads the bounding box from the open file, then loops over it with the haversine formula. */
export const geoTiffWindow: OpenCompetitor = async ({ spec: { grid }, geoTiffPath, places }) => {
  const file = await fromFile(geoTiffPath);
  const image = await file.getImage();
  return inProcessContender(
    "geotiff.js 3.0.5 readRasters + loop",
    async (index, radiusKm) => {
      const { latDeg, lonDeg } = locationOf({ places }, index);
      const radiusLatDeg = radiusKm / KM_PER_DEGREE_MIN;
      const radiusLonDeg = radiusLatDeg / Math.cos((Math.abs(latDeg) + radiusLatDeg) * DEGREE);
      const top = Math.max(0, Math.floor((grid.northDeg - latDeg - radiusLatDeg) / grid.cellSizeLatDeg));
      const bottom = Math.min(
        grid.rowCount,
        Math.ceil((grid.northDeg - latDeg + radiusLatDeg) / grid.cellSizeLatDeg) + 1,
      );
      const left = Math.max(0, Math.floor((lonDeg - radiusLonDeg - grid.westDeg) / grid.cellSizeLonDeg));
      const right = Math.min(
        grid.columnCount,
        Math.ceil((lonDeg + radiusLonDeg - grid.westDeg) / grid.cellSizeLonDeg) + 1,
      );
      const bands = await image.readRasters({ window: [left, top, right, bottom] });

      const width = right - left;
      const cellsInside: number[] = [];
      const areas: number[] = [];
      const haversineMax = Math.sin(radiusKm / 2 / MEAN_RADIUS_KM) ** 2;
      const cosLat = Math.cos(latDeg * DEGREE);
      for (let row = top; row < bottom; row++) {
        const rowLatRad = (grid.northDeg - (row + 0.5) * grid.cellSizeLatDeg) * DEGREE;
        const cosRowLat = Math.cos(rowLatRad);
        const latHaversine = Math.sin((rowLatRad - latDeg * DEGREE) / 2) ** 2;
        for (let column = left; column < right; column++) {
          const cellLonDeg = grid.westDeg + (column + 0.5) * grid.cellSizeLonDeg;
          if (latHaversine + cosLat * cosRowLat * Math.sin(((cellLonDeg - lonDeg) * DEGREE) / 2) ** 2 > haversineMax)
            continue;
          cellsInside.push((row - top) * width + column - left);
          areas.push(cosRowLat);
        }
      }
      const result = emptyResult();
      for (let layer = 0; layer < LAYER_COUNT; layer++) {
        const band = bands[layer] as Uint16Array;
        let [maxSteps, total, totalArea] = [-1, 0, 0];
        for (let i = 0; i < cellsInside.length; i++) {
          const steps = band[cellsInside[i] as number] as number;
          if (steps > STEPS_MAX) continue;
          const area = areas[i] as number;
          maxSteps = Math.max(maxSteps, steps);
          total += area * steps;
          totalArea += area;
        }
        if (totalArea === 0) continue;
        result.max[layer] = maxSteps;
        result.mean[layer] = total / totalArea;
      }
      return result;
    },
    { close: async () => void (await file.close()) },
  );
};
