/** Every pixel of map tiles, compared with plain reads of the cells. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Atlas } from "../../src/hazard/answer.ts";
import type { Grid } from "../../src/kernel/grid.ts";
import { Kernel } from "../../src/kernel/instance.ts";
import { openAtlas } from "../../src/openAtlas.ts";
import { FLOOD_LAYERS, makeAtlas, patchyCells } from "../atlas/makeAtlas.ts";
import {
  blockSizeByDefinition,
  latitudeOfPixelByDefinition,
  longitudeOfPixelByDefinition,
  type OracleLayer,
  valueTileByDefinition,
} from "../oracle/valueTile.ts";
import { randomFrom } from "../seededRandom.ts";

const LAYERS = FLOOD_LAYERS.slice(0, 2);
const LAYER = { hazard: "riverine_floods", scenario: "rcp4p5", analysisYear: 2030, metric: "depth_meters" } as const;

/** Grids with sizes that are no multiples of a block, so that the last blocks are cut. */
const GRIDS: Readonly<Record<string, { readonly grid: Grid; readonly zoomMax: number }>> = {
  "the world from -180": {
    grid: { northDeg: 90, westDeg: -180, cellSizeLatDeg: 0.3, cellSizeLonDeg: 0.3, rowCount: 600, columnCount: 1200 },
    zoomMax: 5,
  },
  "the world from 0": {
    grid: { northDeg: 90, westDeg: 0, cellSizeLatDeg: 0.4, cellSizeLonDeg: 0.4, rowCount: 450, columnCount: 900 },
    zoomMax: 4,
  },
  "the world in cells of one degree, wider than high": {
    grid: { northDeg: 90, westDeg: -180, cellSizeLatDeg: 0.5, cellSizeLonDeg: 1, rowCount: 360, columnCount: 360 },
    zoomMax: 4,
  },
  "a region across the antimeridian": {
    grid: { northDeg: -12, westDeg: 170, cellSizeLatDeg: 0.05, cellSizeLonDeg: 0.05, rowCount: 181, columnCount: 403 },
    zoomMax: 7,
  },
  "a region narrower than a block": {
    grid: { northDeg: 12.7, westDeg: 41.75, cellSizeLatDeg: 0.01, cellSizeLonDeg: 0.01, rowCount: 57, columnCount: 61 },
    zoomMax: 9,
  },
  "a region around the end of Web Mercator in the north": {
    grid: { northDeg: 89, westDeg: -30, cellSizeLatDeg: 0.1, cellSizeLonDeg: 0.1, rowCount: 170, columnCount: 210 },
    zoomMax: 6,
  },
};

describe.each(Object.entries(GRIDS))("map tiles of %s", (_, { grid, zoomMax }) => {
  let folder: string;
  let atlas: Atlas;
  let layer: OracleLayer;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "isotherm-test-"));
    const cells = patchyCells(grid, { layerCount: LAYERS.length, seed: 77 });
    const groups = [{ scenario: "rcp4p5", year: 2030, layers: LAYERS, cells }];
    await makeAtlas(await Kernel.load(), folder, [{ hazard: "riverine_floods", grid, groups }]);
    atlas = await openAtlas(folder, { cacheBytes: 8 << 20 });
    const groupCells = LAYERS.map((__, i) => cells.filter((___, at) => at % LAYERS.length === i));
    layer = { grid, groupCells, cells: groupCells[1] ?? new Uint16Array() };
  });
  afterAll(async () => {
    await atlas.close();
    await rm(folder, { recursive: true, force: true });
  });

  test("equal the cells, or the maxima of blocks, at every pixel", async () => {
    const random = randomFrom(11);
    for (let z = 0; z <= zoomMax; z++) {
      for (const { x, y } of addressesOver(grid, z, random.below)) {
        const { steps, ...header } = await atlas.valueTile({ ...LAYER, z, x, y });
        const blockSizeCells = blockSizeByDefinition(grid, z);
        expect(header).toEqual({ stepsPerUnit: 1000, offset: 0, isBlockMaximum: blockSizeCells > 1, blockSizeCells });
        const expected = valueTileByDefinition(layer, { z, x, y });
        const first = steps.findIndex((step, i) => step !== expected[i]);
        const where = `tile ${z}/${x}/${y}, row ${first >> 8}, column ${first & 255}`;
        expect({ where, step: steps[first] }).toEqual({ where, step: expected[first] });
      }
    }
  });

  test("at native zoom decode to the step that a query of the pixel's center gives", async () => {
    const random = randomFrom(12);
    const { nativeZoom: z, blockSizeCellsByZoom, stepsPerUnit, offset } = atlas.valueTileLayer(LAYER);
    const expectedSizes = Array.from({ length: z + 1 }, (__, zoom) => blockSizeByDefinition(grid, zoom));
    expect(blockSizeCellsByZoom).toEqual(expectedSizes);
    expect(blockSizeByDefinition(grid, z)).toBe(1);
    expect(blockSizeByDefinition(grid, z - 1)).toBe(8);
    for (const { x, y } of addressesOver(grid, z, random.below)) {
      const { steps } = await atlas.valueTile({ ...LAYER, z, x, y });
      const pixels = Array.from({ length: 200 }, () => ({ row: random.below(256), column: random.below(256) }));
      const sampled = await atlas.sampleSteps({
        hazard: LAYER.hazard,
        layers: [LAYER].map(({ scenario, analysisYear, metric }) => ({ scenario, analysisYear, metric })),
        latitudes: Float64Array.from(pixels, ({ row }) => latitudeOfPixelByDefinition(z, y * 256 + row + 0.5)),
        longitudes: Float64Array.from(pixels, ({ column }) => longitudeOfPixelByDefinition(z, x * 256 + column + 0.5)),
      });
      expect(pixels.map(({ row, column }) => steps[row * 256 + column])).toEqual([...sampled.steps]);
      expect([...sampled.stepsPerUnit, ...sampled.offsets]).toEqual([stepsPerUnit, offset]);
    }
  });

  test("show the largest value of the layer at every zoom", async () => {
    const largest = layer.cells.filter((step) => step < 65_534).reduce((max, step) => Math.max(max, step), 0);
    const row = Math.floor(layer.cells.indexOf(largest) / grid.columnCount);
    if (Math.abs(grid.northDeg - (row + 0.5) * grid.cellSizeLatDeg) > 85) return;
    for (let z = 0; z < Math.min(3, zoomMax); z++) {
      let shown = 0;
      for (let x = 0; x < 2 ** z; x++) {
        for (let y = 0; y < 2 ** z; y++) {
          const { steps } = await atlas.valueTile({ ...LAYER, z, x, y });
          shown = steps.reduce((max, step) => (step < 65_534 ? Math.max(max, step) : max), shown);
        }
      }
      expect({ z, shown }).toEqual({ z, shown: largest });
    }
  });
});

/** Returns tiles of a zoom that contain corners of the grid, its center, a random place, and the corners of the world. */
function addressesOver(grid: Grid, z: number, below: (count: number) => number): { x: number; y: number }[] {
  const count = 2 ** z;
  const south = grid.northDeg - grid.rowCount * grid.cellSizeLatDeg;
  const east = grid.westDeg + grid.columnCount * grid.cellSizeLonDeg;
  const margin = 1e-3;
  const places = [
    [grid.northDeg - margin, grid.westDeg + margin],
    [south + margin, east - margin],
    [(grid.northDeg + south) / 2, (grid.westDeg + east) / 2],
    [
      grid.northDeg - below(grid.rowCount) * grid.cellSizeLatDeg,
      grid.westDeg + below(grid.columnCount) * grid.cellSizeLonDeg,
    ],
    [85, -179.999],
    [-85, 179.999],
  ] as const;
  const addresses = places.map(([latDeg, lonDeg]) => {
    const lat = (Math.max(-85.05, Math.min(85.05, latDeg)) * Math.PI) / 180;
    const x = Math.floor((((((lonDeg + 180) % 360) + 360) % 360) / 360) * count);
    const y = Math.floor(((1 - Math.asinh(Math.tan(lat)) / Math.PI) / 2) * count);
    return `${x}/${y}`;
  });
  return [...new Set(addresses)].map((address) => {
    const [x = 0, y = 0] = address.split("/").map(Number);
    return { x, y };
  });
}
