import { emptyResult, inProcessContender, type OpenCompetitor } from "../circleContender.ts";
import { LAYER_COUNT } from "../floodMaps.ts";
import { locationOf, readQueriedCells } from "../workload.ts";
import { STEPS_MAX } from "../../src/kernel/kernel.generated.ts";

const DEGREE = Math.PI / 180;
const MEAN_RADIUS_KM = 6371.0088;
/** Lower bound of the length of a degree of latitude. */
const KM_PER_DEGREE_MIN = 110;

/**
 * The straightforward implementation: tests every cell of the bounding box with the haversine formula and aggregates
 * the values of the cells inside.
 */
export const haversineLoop: OpenCompetitor = async ({ spec, cellsPath, places }) => {
  const { cells, grid } = await readQueriedCells(spec, cellsPath);
  return inProcessContender("plain JavaScript haversine loop, in memory", (index, radiusKm) => {
    const { latDeg, lonDeg } = locationOf({ places }, index);
    const radiusLatDeg = radiusKm / KM_PER_DEGREE_MIN;
    const firstRow = Math.max(0, Math.floor((grid.northDeg - latDeg - radiusLatDeg) / grid.cellSizeLatDeg));
    const lastRow = Math.min(
      grid.rowCount - 1,
      Math.ceil((grid.northDeg - latDeg + radiusLatDeg) / grid.cellSizeLatDeg),
    );
    const radiusLonDeg = radiusLatDeg / Math.cos((Math.abs(latDeg) + radiusLatDeg) * DEGREE);
    const firstColumn = Math.max(0, Math.floor((lonDeg - radiusLonDeg - grid.westDeg) / grid.cellSizeLonDeg));
    const lastColumn = Math.min(
      grid.columnCount - 1,
      Math.ceil((lonDeg + radiusLonDeg - grid.westDeg) / grid.cellSizeLonDeg),
    );
    const haversineMax = Math.sin(radiusKm / 2 / MEAN_RADIUS_KM) ** 2;
    const cosLat = Math.cos(latDeg * DEGREE);
    const maxSteps = new Float64Array(LAYER_COUNT).fill(-1);
    const totals = new Float64Array(LAYER_COUNT);
    const areas = new Float64Array(LAYER_COUNT);
    for (let row = firstRow; row <= lastRow; row++) {
      const rowLatRad = (grid.northDeg - (row + 0.5) * grid.cellSizeLatDeg) * DEGREE;
      const cosRowLat = Math.cos(rowLatRad);
      const latHaversine = Math.sin((rowLatRad - latDeg * DEGREE) / 2) ** 2;
      for (let column = firstColumn; column <= lastColumn; column++) {
        const cellLonDeg = grid.westDeg + (column + 0.5) * grid.cellSizeLonDeg;
        if (latHaversine + cosLat * cosRowLat * Math.sin(((cellLonDeg - lonDeg) * DEGREE) / 2) ** 2 > haversineMax)
          continue;
        const cell = (row * grid.columnCount + column) * LAYER_COUNT;
        for (let layer = 0; layer < LAYER_COUNT; layer++) {
          const steps = cells[cell + layer] as number;
          if (steps > STEPS_MAX) continue;
          if (steps > (maxSteps[layer] as number)) maxSteps[layer] = steps;
          totals[layer] = (totals[layer] as number) + cosRowLat * steps;
          areas[layer] = (areas[layer] as number) + cosRowLat;
        }
      }
    }
    const result = emptyResult();
    for (let layer = 0; layer < LAYER_COUNT; layer++) {
      if (areas[layer] === 0) continue;
      result.max[layer] = maxSteps[layer] as number;
      result.mean[layer] = (totals[layer] as number) / (areas[layer] as number);
    }
    return result;
  });
};
