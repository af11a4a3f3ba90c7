/** An atlas of riverine floods, and layers and locations to sample. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll } from "vitest";
import type { Atlas } from "../../src/hazard/answer.ts";
import type { SampleLayer } from "../../src/hazard/sampleRequest.ts";
import type { Grid } from "../../src/kernel/grid.ts";
import { Kernel } from "../../src/kernel/instance.ts";
import { openAtlas } from "../../src/openAtlas.ts";
import { FLOOD_LAYERS, makeAtlas, type HazardFixture, patchyCells } from "../atlas/makeAtlas.ts";
import type { SeededRandom } from "../seededRandom.ts";

const GRID: Grid = {
  northDeg: 60,
  westDeg: -180,
  cellSizeLatDeg: 0.3,
  cellSizeLonDeg: 0.3,
  rowCount: 330,
  columnCount: 1200,
};
/** Less than the tiles of the atlas take. */
export const CACHE_BYTES = 8 << 20;
const group = (scenario: string, year: number, seed: number): HazardFixture["groups"][number] => ({
  scenario,
  year,
  layers: FLOOD_LAYERS,
  cells: patchyCells(GRID, { layerCount: 4, seed }),
});

/** Folder of the atlas; assigned by `useSampledAtlas`. */
export let folder: string;
/** The opened atlas, with a small cache, so that tiles are evicted; assigned by `useSampledAtlas`. */
export let packed: Atlas;

/** Writes and opens the atlas before the tests of the calling file, and deletes it after them. */
export function useSampledAtlas(): void {
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "isotherm-test-"));
    const groups = [group("baseline", 1980, 21), group("rcp4p5", 2030, 22), group("rcp8p5", 2080, 23)];
    await makeAtlas(await Kernel.load(), folder, [{ hazard: "riverine_floods", grid: GRID, groups }]);
    packed = await openAtlas(folder, { cacheBytes: CACHE_BYTES });
  });
  afterAll(async () => {
    await packed.close();
    await rm(folder, { recursive: true, force: true });
  });
}

export function placesFrom(random: SeededRandom, count: number): { latitudes: Float64Array; longitudes: Float64Array } {
  const lat = (): number =>
    random.pick([random.between({ min: -90, max: 90 }), (Math.round(random.next() * 200) * 3) / 10]);
  const lon = (): number => random.pick([random.between({ min: -180, max: 180 }), 180, -180, -179.99]);
  return {
    latitudes: Float64Array.from({ length: count }, lat),
    longitudes: Float64Array.from({ length: count }, lon),
  };
}

export const LAYERS: readonly SampleLayer[] = [
  { scenario: "rcp8p5", analysisYear: 2080, metric: "probability" },
  { scenario: "rcp4p5", analysisYear: 2030, metric: "depth_meters" },
  { scenario: "rcp4p5", analysisYear: 2050, metric: "depth_meters" }, // not in the test atlas
  { scenario: "rcp4p5", analysisYear: 1980, metric: "depth_meters" }, // the baseline, twice
  { scenario: "baseline", analysisYear: 2030, metric: "depth_meters" },
  { scenario: "rcp8p5", analysisYear: 2080, metric: "total_hazard" },
];
