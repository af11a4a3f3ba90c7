import { RADIUS_M_MAX } from "../../src/kernel/geodesy.ts";
import type { OracleGrid } from "../oracle/points.ts";
import { centerByDefinition } from "../oracle/radius.ts";
import type { SeededRandom } from "../seededRandom.ts";
import { worldGrid } from "./circleCells.ts";

/** Grids of many shapes, keyed by description. */
export const GRIDS: Readonly<Record<string, OracleGrid>> = {
  "1 degree": worldGrid(1),
  "half a degree, west edge at Greenwich": worldGrid(0.5, { westDeg: 0 }),
  "half a degree, west edge at 20": worldGrid(0.5, { westDeg: 20 }),
  "0.4 degree, center-registered in longitude": worldGrid(0.4, { westDeg: -180.2 }),
  "0.5 degree, center-registered both ways: a row of centers on each pole": {
    ...worldGrid(0.5, { westDeg: -180.25, northDeg: 90.25 }),
    rowCount: 361,
  },
  "0.7 degree, last row extends beyond the south pole": { ...worldGrid(0.72, { heightDeg: 0.7 }), rowCount: 258 },
  "wide cells of 3 x 0.9 degrees (width x height)": worldGrid(3, { heightDeg: 0.9 }),
  "high cells of 0.25 x 0.9 degrees (width x height)": worldGrid(0.25, { heightDeg: 0.9 }),
  "first meridian repeated at the end": { ...worldGrid(0.5, { westDeg: -180.25 }), columnCount: 721 },
  "from 89.8 north to 60 south": { ...worldGrid(0.4, { northDeg: 89.8 }), rowCount: 375 },
  "crop 170 east to 170 west": { ...worldGrid(0.2, { westDeg: 170 }), columnCount: 100 },
  "crop 160 to 180 east": { ...worldGrid(0.2, { westDeg: 160 }), columnCount: 100 },
  "crop 180 to 160 west": { ...worldGrid(0.2, { westDeg: -180 }), columnCount: 100 },
  "two cells short of 360 degrees": { ...worldGrid(0.5), columnCount: 718 },
  "a single cell over Java": {
    northDeg: -6,
    westDeg: 106,
    cellSizeLatDeg: 1.5,
    cellSizeLonDeg: 2,
    rowCount: 1,
    columnCount: 1,
  },
  "a single cell, the whole Earth": {
    northDeg: 90,
    westDeg: -180,
    cellSizeLatDeg: 180,
    cellSizeLonDeg: 360,
    rowCount: 1,
    columnCount: 1,
  },
};

/** Returns a random location, often a difficult one: at a pole, an edge, a corner or a center of the grid. */
export function edgeCaseLocation(grid: OracleGrid, random: SeededRandom): { latDeg: number; lonDeg: number } {
  const row = random.below(grid.rowCount);
  const column = random.below(grid.columnCount);
  const center = centerByDefinition(grid, { row, column });
  const edgeLatDeg = Math.max(-90, Math.min(90, grid.northDeg - row * grid.cellSizeLatDeg));
  const edgeLonDeg = grid.westDeg + column * grid.cellSizeLonDeg;
  const latDeg = random.pick([
    90,
    -90,
    90 - 1e-8,
    -90 + 1e-8,
    90 - random.between({ min: 0, max: 1.5 }),
    -90 + random.between({ min: 0, max: 1.5 }),
    0,
    center.latDeg,
    center.latDeg,
    edgeLatDeg,
    edgeLatDeg,
    random.between({ min: -90, max: 90 }),
    random.between({ min: -90, max: 90 }),
  ]);
  const lonDeg = random.pick([
    180,
    -180,
    180 - 1e-9,
    -180 + random.between({ min: 0, max: 1 }),
    180 - random.between({ min: 0, max: 1 }),
    center.lonDeg,
    center.lonDeg,
    edgeLonDeg,
    edgeLonDeg,
    grid.westDeg + random.between({ min: -0.5, max: 0.5 }),
    grid.westDeg + grid.columnCount * grid.cellSizeLonDeg + random.between({ min: -0.5, max: 0.5 }),
    random.between({ min: -180, max: 180 }),
    random.between({ min: -180, max: 180 }),
  ]);
  return { latDeg, lonDeg };
}

/** Returns a radius from 50 m to RADIUS_M_MAX, uniform in its logarithm. */
export function randomRadiusM(random: SeededRandom): number {
  return random.chance(0.1) ? RADIUS_M_MAX : 50 * (RADIUS_M_MAX / 50) ** random.next();
}
