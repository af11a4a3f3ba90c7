import { emptyResult, inProcessContender, type OpenCompetitor } from "../circleContender.ts";
import { LAYER_COUNT } from "../floodMaps.ts";
import { readQueriedCells } from "../workload.ts";
import { STEPS_MAX } from "../../src/kernel/kernel.generated.ts";

const DEGREE = Math.PI / 180;
const MEAN_RADIUS_KM = 6371.0088;

/**
 * The straightforward implementation: for each cell of the bounding box, the haversine formula; then the values of the
 * cells inside.
 */
export const haversineLoop: OpenCompetitor = async ({ spec, cellsPath, places }) => {
  const { cells, grid } = await readQueriedCells(spec, cellsPath);
  return inProcessContender("plain JavaScript haversine loop, in memory", (index, radiusKm) => {
    const { latDeg, lonDeg } = places[index] ?? { latDeg: 0, lonDeg: 0 };
    const reachDeg = radiusKm / 110;
    const firstRow = Math.max(0, Math.floor((grid.northDeg - latDeg - reachDeg) / grid.cellSizeLatDeg));
    const lastRow = Math.min(grid.rowCount - 1, Math.ceil((grid.northDeg - latDeg + reachDeg) / grid.cellSizeLatDeg));
    const reachLonDeg = reachDeg / Math.cos((Math.abs(latDeg) + reachDeg) * DEGREE);
    const firstColumn = Math.max(0, Math.floor((lonDeg - reachLonDeg - grid.westDeg) / grid.cellSizeLonDeg));
    const lastColumn = Math.min(
      grid.columnCount - 1,
      Math.ceil((lonDeg + reachLonDeg - grid.westDeg) / grid.cellSizeLonDeg),
    );
    const limit = Math.sin(radiusKm / 2 / MEAN_RADIUS_KM) ** 2;
    const cosLat = Math.cos(latDeg * DEGREE);
    const largest = new Float64Array(LAYER_COUNT).fill(-1);
    const totals = new Float64Array(LAYER_COUNT);
    const areas = new Float64Array(LAYER_COUNT);
    for (let row = firstRow; row <= lastRow; row++) {
      const rowLat = (grid.northDeg - (row + 0.5) * grid.cellSizeLatDeg) * DEGREE;
      const area = Math.cos(rowLat);
      const vertical = Math.sin((rowLat - latDeg * DEGREE) / 2) ** 2;
      for (let column = firstColumn; column <= lastColumn; column++) {
        const lon = grid.westDeg + (column + 0.5) * grid.cellSizeLonDeg;
        if (vertical + cosLat * area * Math.sin(((lon - lonDeg) * DEGREE) / 2) ** 2 > limit) continue;
        const cell = (row * grid.columnCount + column) * LAYER_COUNT;
        for (let layer = 0; layer < LAYER_COUNT; layer++) {
          const steps = cells[cell + layer] as number;
          if (steps > STEPS_MAX) continue;
          if (steps > (largest[layer] as number)) largest[layer] = steps;
          totals[layer] = (totals[layer] as number) + area * steps;
          areas[layer] = (areas[layer] as number) + area;
        }
      }
    }
    const result = emptyResult();
    for (let layer = 0; layer < LAYER_COUNT; layer++) {
      if (areas[layer] === 0) continue;
      result.max[layer] = largest[layer] as number;
      result.mean[layer] = (totals[layer] as number) / (areas[layer] as number);
    }
    return result;
  });
};
