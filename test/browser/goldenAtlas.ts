import type { GroupEntry } from "../../src/atlas/catalog.ts";
import { type HazardName, HAZARDS } from "../../src/hazard/hazards.ts";
import type { Grid } from "../../src/kernel/grid.ts";
import type { Kernel } from "../../src/kernel/instance.ts";
import { makeAtlas, type HazardFixture } from "../atlas/makeAtlas.ts";
import type { GoldenRun } from "../goldenQueries.ts";

/** The region with the finer grid: around Fiji, across the antimeridian. */
export const GOLDEN_REGION = { southDeg: -24, northDeg: -14, westDeg: 172, eastDeg: 188 } satisfies GoldenRun["region"];

/** Covers the whole Earth, poles included. */
const GLOBAL: Grid = {
  northDeg: 90,
  westDeg: -180,
  cellSizeLatDeg: 0.25,
  cellSizeLonDeg: 0.25,
  rowCount: 720,
  columnCount: 1440,
};
/** Also wraps around the Earth, but with its seam elsewhere, non-square cells, and rows that end short of the poles. */
const SHIFTED: Grid = {
  northDeg: 78,
  westDeg: 12.125,
  cellSizeLatDeg: 0.3,
  cellSizeLonDeg: 0.25,
  rowCount: 520,
  columnCount: 1440,
};
const FINE: Grid = {
  northDeg: GOLDEN_REGION.northDeg,
  westDeg: GOLDEN_REGION.westDeg,
  cellSizeLatDeg: 1 / 60,
  cellSizeLonDeg: 1 / 60,
  rowCount: 600,
  columnCount: 960,
};

/**
 * Writes an atlas of three hazards on three grids. The fourth hazard is left out, so that some results are
 * `layer_missing`. Cells are in patches of values, zeros, nodata and outside, so that some tiles are constant and
 * others are mixed.
 */
export async function makeGoldenAtlas(kernel: Kernel, folder: string): Promise<void> {
  await makeAtlas(kernel, folder, [
    hazardOf("riverine_floods", GLOBAL, ["baseline/1980", "rcp4p5/2030", "rcp8p5/2050"]),
    hazardOf("cyclones", SHIFTED, ["baseline/1980", "rcp8p5/2050"]),
    hazardOf("coastal_floods", FINE, ["baseline/1980", "rcp8p5/2080"]),
  ]);
}

function hazardOf(hazard: HazardName, grid: Grid, names: readonly string[]): HazardFixture {
  const layers: GroupEntry["layers"] = HAZARDS[hazard].metrics.map(({ metric, stepsPerUnit, offset, unit }) => ({
    metric,
    steps_per_unit: stepsPerUnit,
    offset,
    unit,
  }));
  return {
    hazard,
    grid,
    rules: { ...HAZARDS[hazard].rules },
    groups: names.map((name, group) => {
      const [scenario = "", year] = name.split("/");
      const seed = hazard.length * 16 + group;
      return { scenario, year: Number(year), layers, cells: cellsOf(grid, { layerCount: layers.length, seed }) };
    }),
  };
}

const PATCH_SIZE = 48;

function cellsOf(
  grid: Grid,
  { layerCount, seed }: { readonly layerCount: number; readonly seed: number },
): Uint16Array {
  const cells = new Uint16Array(grid.rowCount * grid.columnCount * layerCount);
  let index = 0;
  for (let row = 0; row < grid.rowCount; row++) {
    for (let column = 0; column < grid.columnCount; column++) {
      const patch = scramble(Math.floor(row / PATCH_SIZE) * 4099 + Math.floor(column / PATCH_SIZE) + seed * 7919) % 16;
      for (let layer = 0; layer < layerCount; layer++) {
        const drawn = scramble(index + seed * 104_729);
        const value = drawn % 61_000;
        cells[index++] =
          patch < 2 ? 0 : patch === 2 ? 65_535 : patch === 3 ? 65_534 : drawn % 17 === 0 ? 65_535 : value;
      }
    }
  }
  return cells;
}

/** Scrambles the bits of a number (the MurmurHash3 finalizer), fast enough for ten million draws. */
function scramble(number: number): number {
  let bits = Math.imul(number ^ (number >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return (bits ^ (bits >>> 16)) >>> 0;
}
