import type { Grid } from "../../src/kernel/grid.ts";
import { FLOOD_LAYERS, type HazardFixture, patchyCells } from "./makeAtlas.ts";

/** Two by two pyramid tiles with partial tiles at both edges. */
export const GRID: Grid = {
  northDeg: 20,
  westDeg: 30,
  cellSizeLatDeg: 0.01,
  cellSizeLonDeg: 0.02,
  rowCount: 530,
  columnCount: 590,
};
/** Adds an all-nodata tile, which `patchyCells` never produces. */
function withMissingTile(cells: Uint16Array, layerCount: number): Uint16Array {
  for (let row = 0; row < 64; row++)
    cells.fill(65_535, row * GRID.columnCount * layerCount, (row * GRID.columnCount + 64) * layerCount);
  return cells;
}

/** Two groups with tiles in every state. */
export const FLOODS: HazardFixture = {
  hazard: "riverine_floods",
  grid: GRID,
  groups: [
    {
      scenario: "baseline",
      year: 1980,
      layers: FLOOD_LAYERS.slice(0, 2),
      cells: withMissingTile(patchyCells(GRID, { layerCount: 2, seed: 31 }), 2),
    },
    { scenario: "rcp4p5", year: 2030, layers: FLOOD_LAYERS, cells: patchyCells(GRID, { layerCount: 4, seed: 32 }) },
  ],
};
