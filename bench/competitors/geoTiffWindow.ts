import { fromFile } from "geotiff";
import { STEPS_MAX } from "../../src/kernel/kernel.generated.ts";
import { emptyResult, inProcessContender, type OpenCompetitor } from "../circleContender.ts";
import { LAYER_COUNT } from "../floodMaps.ts";

const DEGREE = Math.PI / 180;
const MEAN_RADIUS_KM = 6371.0088;

/** geotiff.js: reads the bounding box from the open file, then loops over it with the haversine formula. */
export const geoTiffWindow: OpenCompetitor = async ({ spec: { grid }, geoTiffPath, places }) => {
  const file = await fromFile(geoTiffPath);
  const image = await file.getImage();
  return inProcessContender(
    "geotiff.js 3.0.5 readRasters + loop",
    async (index, radiusKm) => {
      const { latDeg, lonDeg } = places[index] ?? { latDeg: 0, lonDeg: 0 };
      const reachDeg = radiusKm / 110;
      const reachLonDeg = reachDeg / Math.cos((Math.abs(latDeg) + reachDeg) * DEGREE);
      const top = Math.max(0, Math.floor((grid.northDeg - latDeg - reachDeg) / grid.cellSizeLatDeg));
      const bottom = Math.min(grid.rowCount, Math.ceil((grid.northDeg - latDeg + reachDeg) / grid.cellSizeLatDeg) + 1);
      const left = Math.max(0, Math.floor((lonDeg - reachLonDeg - grid.westDeg) / grid.cellSizeLonDeg));
      const right = Math.min(
        grid.columnCount,
        Math.ceil((lonDeg + reachLonDeg - grid.westDeg) / grid.cellSizeLonDeg) + 1,
      );
      const bands = await image.readRasters({ window: [left, top, right, bottom] });

      const width = right - left;
      const cellsInside: number[] = [];
      const areas: number[] = [];
      const limit = Math.sin(radiusKm / 2 / MEAN_RADIUS_KM) ** 2;
      const cosLat = Math.cos(latDeg * DEGREE);
      for (let row = top; row < bottom; row++) {
        const rowLat = (grid.northDeg - (row + 0.5) * grid.cellSizeLatDeg) * DEGREE;
        const area = Math.cos(rowLat);
        const vertical = Math.sin((rowLat - latDeg * DEGREE) / 2) ** 2;
        for (let column = left; column < right; column++) {
          const lon = grid.westDeg + (column + 0.5) * grid.cellSizeLonDeg;
          if (vertical + cosLat * area * Math.sin(((lon - lonDeg) * DEGREE) / 2) ** 2 > limit) continue;
          cellsInside.push((row - top) * width + column - left);
          areas.push(area);
        }
      }
      const result = emptyResult();
      for (let layer = 0; layer < LAYER_COUNT; layer++) {
        const band = bands[layer] as Uint16Array;
        let [largest, total, totalArea] = [-1, 0, 0];
        for (let i = 0; i < cellsInside.length; i++) {
          const steps = band[cellsInside[i] as number] as number;
          if (steps > STEPS_MAX) continue;
          const area = areas[i] as number;
          largest = Math.max(largest, steps);
          total += area * steps;
          totalArea += area;
        }
        if (totalArea === 0) continue;
        result.max[layer] = largest;
        result.mean[layer] = total / totalArea;
      }
      return result;
    },
    { close: async () => void (await file.close()) },
  );
};
