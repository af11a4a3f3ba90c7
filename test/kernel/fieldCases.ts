import type { Circle } from "../../src/kernel/geodesy.ts";
import type { Grid } from "../../src/kernel/grid.ts";
import { TILE_SIZE } from "../../src/kernel/kernel.generated.ts";
import type { SeededRandom } from "../seededRandom.ts";
import { worldGrid } from "./circleCells.ts";

/** A grid and a number of layers. */
export interface FieldCase {
  readonly name: string;
  readonly grid: Grid;
  readonly layerCount: number;
}

/**
 * Grids with row and column counts that are not multiples of 8, 64 or 512, that wrap around, contain a pole, or leave a
 * gap in longitude; layer counts that do and do not fill whole vectors.
 */
export const FIELD_CASES: readonly FieldCase[] = [
  { name: "1 layer, 1 degree", grid: worldGrid(1), layerCount: 1 },
  { name: "84 layers, 1 degree from 20 east", grid: worldGrid(1, { westDeg: 20 }), layerCount: 84 },
  {
    name: "21 layers, a crop with 0.02-degree cells",
    grid: { ...worldGrid(0.02, { westDeg: 8, northDeg: 65 }), rowCount: 203, columnCount: 531 },
    layerCount: 21,
  },
  {
    name: "3 layers, a crop in the north with spans several tiles wide",
    grid: { ...worldGrid(0.02, { westDeg: -20, northDeg: 84 }), rowCount: 345, columnCount: 1203 },
    layerCount: 3,
  },
  {
    name: "8 layers around the north pole",
    grid: { ...worldGrid(0.1, { westDeg: -180.05 }), rowCount: 43 },
    layerCount: 8,
  },
  {
    name: "9 layers around the south pole, cells of 0.3 x 0.05 degrees (width x height)",
    grid: { ...worldGrid(0.3, { westDeg: 0, heightDeg: 0.05, northDeg: -87 }), rowCount: 60 },
    layerCount: 9,
  },
  {
    name: "28 layers on a band of 360 degrees",
    grid: { ...worldGrid(0.3, { westDeg: -180, northDeg: 71 }), rowCount: 61 },
    layerCount: 28,
  },
  {
    name: "3 layers on a band that repeats its first meridian",
    grid: { ...worldGrid(0.3, { westDeg: -180, northDeg: 71 }), rowCount: 61, columnCount: 1201 },
    layerCount: 3,
  },
  {
    name: "1 layer with centers on the poles",
    grid: { ...worldGrid(0.5, { northDeg: 90.25 }), rowCount: 361 },
    layerCount: 1,
  },
];

/** Returns a circle with a radius of 100 m to 140 km near the grid, often at its edges or a pole. */
export function randomCircle(grid: Grid, random: SeededRandom): Circle {
  const southDeg = grid.northDeg - grid.rowCount * grid.cellSizeLatDeg;
  const eastDeg = grid.westDeg + grid.columnCount * grid.cellSizeLonDeg;
  const insideLatDeg = random.between({ min: Math.max(-90, southDeg), max: Math.min(90, grid.northDeg) });
  const latDeg = random.chance(0.2)
    ? random.pick([grid.northDeg, southDeg, grid.northDeg - TILE_SIZE * grid.cellSizeLatDeg])
    : insideLatDeg;
  const lonDeg = random.chance(0.25)
    ? random.pick([grid.westDeg, eastDeg]) + random.between({ min: -1, max: 1 })
    : random.between({ min: grid.westDeg, max: eastDeg });
  return {
    latDeg: Math.max(-90, Math.min(90, latDeg)),
    lonDeg,
    radiusM: random.chance(0.5) ? random.between({ min: 50_000, max: 140_000 }) : 100 * 1400 ** random.next(),
  };
}
