import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { CellAtlas, CellSource } from "../../src/atlas/cellSource.ts";
import type { CircleSample } from "../../src/atlas/circleSampling.ts";
import type { Circle } from "../../src/kernel/geodesy.ts";
import type { Grid } from "../../src/kernel/grid.ts";
import { Kernel } from "../../src/kernel/instance.ts";
import { circleByBisection, summarizeByDefinition } from "../oracle/radius.ts";
import { randomFrom, type SeededRandom } from "../seededRandom.ts";
import { FLOOD_LAYERS, makeAtlas, type HazardFixture, patchyCells } from "./makeAtlas.ts";
import { closeSamplersAfterEach, layersOf, type OpenedSampler, openSampler } from "./openSampler.ts";

closeSamplersAfterEach();

/** 1/50 degree, 9 x 11 tiles in 2 x 2 pyramid tiles; row spans of a 100 km circle cover three or more tiles. */
const GRID: Grid = {
  northDeg: 64,
  westDeg: 172,
  cellSizeLatDeg: 0.02,
  cellSizeLonDeg: 0.02,
  rowCount: 530,
  columnCount: 690,
};

/** Returns cells that all have a value, mostly low with rare peaks. */
function fullCells(
  grid: Grid,
  { layerCount, seed }: { readonly layerCount: number; readonly seed: number },
): Uint16Array {
  const random = randomFrom(seed);
  return Uint16Array.from({ length: grid.rowCount * grid.columnCount * layerCount }, () =>
    random.chance(0.001) ? random.below(65_534) : random.below(200),
  );
}

const GROUPS: HazardFixture["groups"] = [
  { scenario: "baseline", year: 1980, layers: FLOOD_LAYERS, cells: patchyCells(GRID, { layerCount: 4, seed: 1 }) },
  { scenario: "rcp4p5", year: 2030, layers: FLOOD_LAYERS, cells: fullCells(GRID, { layerCount: 4, seed: 2 }) },
  {
    scenario: "rcp8p5",
    year: 2030,
    layers: FLOOD_LAYERS.slice(0, 2),
    cells: fullCells(GRID, { layerCount: 2, seed: 3 }),
  },
];

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "isotherm-test-"));
  await makeAtlas(await Kernel.load(), folder, [{ hazard: "riverine_floods", grid: GRID, groups: GROUPS }]);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const open = (options: Omit<Parameters<typeof openSampler>[0], "from"> = {}) =>
  openSampler({ from: folder, ...options });

/** Returns the same atlas without pyramids, so that circles read all their cells. */
function withoutPyramids(atlas: CellAtlas): CellAtlas {
  const withoutPyramid = (source: CellSource): CellSource => ({
    grid: source.grid,
    groups: source.groups,
    resolve: (tiles) => source.resolve(tiles),
    load: (tiles) => source.load(tiles),
    close: () => source.close(),
  });
  return {
    ...atlas,
    hazards: atlas.hazards.map((hazard) => ({ ...hazard, sources: hazard.sources.map(withoutPyramid) })),
  };
}

function stepsAt(layer: number, { row, column }: { readonly row: number; readonly column: number }): number {
  const group = layer < 4 ? 0 : layer < 8 ? 1 : 2;
  const { layers, cells } = GROUPS[group] as HazardFixture["groups"][number];
  return cells[(row * GRID.columnCount + column) * layers.length + (layer % 4)] ?? 65_534;
}

function randomCircle(random: SeededRandom): Circle {
  const lonDeg = GRID.westDeg + random.between({ min: -0.5, max: 14.3 });
  return {
    latDeg: random.between({ min: 53, max: 64.4 }),
    lonDeg: lonDeg > 180 && random.chance(0.5) ? lonDeg - 360 : lonDeg,
    radiusM: random.chance(0.3) ? 100_000 : 200 * 500 ** random.next(),
  };
}

/**
 * Returns the parts that must be equal for every implementation. The reason for a missing value is compared only if the
 * value is missing.
 */
function comparable({ cellCount, values }: CircleSample): unknown {
  return {
    cellCount,
    values: values.map(({ steps, hasNodata, validShare }) => ({
      steps,
      hasNodata: steps === undefined && hasNodata,
      validShare,
    })),
  };
}

/** Indices in `allLayers`: 0-3 are patchy, 4-7 and 8-9 full. */
const LAYER_SETS: readonly (readonly number[])[] = [
  [4, 5, 6, 7],
  [0, 1, 2, 3],
  [8],
  [9, 5],
  [0, 4, 8],
  [0, 1, 2, 3, 4, 5, 6, 7, 8, 9],
];

describe("a circle of an atlas", () => {
  for (const method of ["max", "mean"] as const) {
    test(`has the same ${method}, to the last bit, by the pyramid, by its cells and with a tiny cache`, async () => {
      const withPyramid = await open();
      const cellsOnly = await open({ change: withoutPyramids });
      const tinyCache = await open({ cacheBytes: 20 * 16_384 });
      const random = randomFrom(method === "max" ? 11 : 12);
      for (let i = 0; i < 90; i++) {
        const numbers = LAYER_SETS[i % LAYER_SETS.length] ?? [];
        const circle = randomCircle(random);
        const [byPyramid, byCells, byTinyCache] = await Promise.all(
          [withPyramid, cellsOnly, tinyCache].map(({ sampler }) =>
            sampler.sampleCircle(layersOf(sampler, numbers), circle, { method, shares: true }),
          ),
        );
        const context = JSON.stringify({ circle, numbers });
        expect(comparable(byPyramid as CircleSample), context).toEqual(comparable(byCells as CircleSample));
        expect(comparable(byTinyCache as CircleSample), context).toEqual(comparable(byCells as CircleSample));
      }
    });

    test(`has the ${method} that the reference implementation computes`, async () => {
      const { sampler } = await open();
      const random = randomFrom(13);
      for (let i = 0; i < 12; i++) {
        const circle = { ...randomCircle(random), radiusM: 1000 + 40_000 * random.next() };
        const cells = circleByBisection(GRID, circle);
        const numbers = [1, 6, 9];
        const { cellCount, values } = await sampler.sampleCircle(layersOf(sampler, numbers), circle, {
          method,
          shares: true,
        });
        expect(cellCount).toBe(cells.length);
        for (const [position, layer] of numbers.entries()) {
          const expected = summarizeByDefinition(GRID, cells, (cell) => stepsAt(layer, cell));
          const { steps, hasNodata, validShare } = values[position] ?? {};
          if (method === "max") expect(steps).toBe(expected.maxSteps);
          else if (expected.meanSteps === undefined) expect(steps).toBeUndefined();
          else expect(Math.abs((steps ?? NaN) - expected.meanSteps)).toBeLessThanOrEqual(1e-11 * expected.meanSteps);
          if (expected.maxSteps === undefined) expect(hasNodata).toBe(expected.hasNodata);
          expect(validShare).toBeCloseTo(expected.validShare, 11);
        }
      }
    });
  }

  test("returns the layers in the order requested", async () => {
    const { sampler } = await open();
    const circle = { latDeg: 60, lonDeg: 178, radiusM: 30_000 };
    const single = await Promise.all(
      [4, 5, 6, 7, 8, 9].map(async (number) => {
        const { values } = await sampler.sampleCircle(layersOf(sampler, [number]), circle, {
          method: "mean",
          shares: false,
        });
        return values[0];
      }),
    );
    const order = [9, 4, 7, 5, 8, 6];
    const all = await sampler.sampleCircle(layersOf(sampler, order), circle, { method: "mean", shares: false });
    expect(all.values).toEqual(order.map((number) => single[number - 4]));
    expect(new Set(single.map((value) => value?.steps)).size).toBe(6);
  });

  test("concurrent circles give the same results as sequential ones", async () => {
    const random = randomFrom(21);
    const circles = Array.from({ length: 60 }, () => randomCircle(random));
    const sample = ({ sampler }: OpenedSampler, i: number): Promise<CircleSample> =>
      sampler.sampleCircle(layersOf(sampler, LAYER_SETS[i % LAYER_SETS.length] ?? []), circles[i] as Circle, {
        method: i % 2 === 0 ? "max" : "mean",
        shares: i % 3 === 0,
      });
    const sequential = await open();
    const expected: CircleSample[] = [];
    for (const i of circles.keys()) expected.push(await sample(sequential, i));
    for (const cacheBytes of [64 << 20, 40 * 16_384]) {
      const concurrent = await open({ cacheBytes });
      const found = await Promise.all([...circles.keys()].map((i) => sample(concurrent, i)));
      for (const [i, circleSample] of found.entries()) {
        const steps = ({ values }: CircleSample): unknown => values.map((value) => value.steps);
        expect(steps(circleSample), JSON.stringify(circles[i])).toEqual(steps(expected[i] as CircleSample));
      }
    }
  });

  test("handles kernel memory that grows between calls", async () => {
    const { kernel, sampler } = await open();
    const circle = { latDeg: 60, lonDeg: 178, radiusM: 80_000 };
    const sample = (method: "max" | "mean"): Promise<CircleSample> =>
      sampler.sampleCircle(layersOf(sampler, [4, 5]), circle, { method, shares: true });
    const before = [await sample("max"), await sample("mean")];
    for (let i = 0; i < 5; i++) {
      const { buffer } = kernel.words;
      kernel.reserve(64 << 20); // memory grows by 64 MiB
      expect(kernel.words.buffer === buffer).toBe(false);
      expect([await sample("max"), await sample("mean")]).toEqual(before);
      const growing = Promise.all([sample("max"), sample("mean")]);
      kernel.reserve(64 << 20);
      expect(await growing).toEqual(before);
    }
  });
});

test("orders locations by tile, those outside the grid first, and keeps the input order within a tile", async () => {
  const { sampler } = await open();
  const random = randomFrom(23);
  const count = 3000;
  const latitudes = Float64Array.from({ length: count }, () => random.between({ min: 53, max: 65 }));
  const longitudes = Float64Array.from({ length: count }, () => random.between({ min: 172, max: 180 }));
  const tiles = Array.from(latitudes, (latDeg, i) => {
    const row = Math.floor((GRID.northDeg - latDeg) / GRID.cellSizeLatDeg);
    const column = Math.floor(((longitudes[i] ?? NaN) - GRID.westDeg) / GRID.cellSizeLonDeg);
    return row < 0 || row >= GRID.rowCount ? -1 : Math.floor(row / 64) * 11 + Math.floor(column / 64);
  });
  const order = sampler.orderByTile(layersOf(sampler, [0]), { latitudes, longitudes });
  expect(tiles).toContain(-1);
  expect([...order]).toEqual([...tiles.keys()].toSorted((a, b) => (tiles[a] ?? 0) - (tiles[b] ?? 0) || a - b));
});

describe("the cost of a circle", () => {
  const INSIDE = { latDeg: 59, lonDeg: 178.5, radiusM: 90_000 };

  test("reads nothing when it is repeated", async () => {
    for (const method of ["max", "mean"] as const) {
      const { sampler, blobs } = await open();
      const first = await sampler.sampleCircle(layersOf(sampler, [4, 5, 6, 7]), INSIDE, { method, shares: true });
      expect(blobs.countAndReset("").count).toBeGreaterThan(0);
      expect(await sampler.sampleCircle(layersOf(sampler, [4, 5, 6, 7]), INSIDE, { method, shares: true })).toEqual(
        first,
      );
      expect(blobs.countAndReset("").count).toBe(0);
    }
  });

  test("reads a few of its tiles for a maximum, and for a mean the tiles where its row spans end", async () => {
    // Covers three or more tiles and is centered on a row of tiles, so that it contains every cell of one tile.
    const circle = { latDeg: 62.08, lonDeg: 178.5, radiusM: 100_000 };
    const bytesOf = async (method: "max" | "mean", change?: typeof withoutPyramids): Promise<number> => {
      const { sampler, blobs } = await open(change === undefined ? {} : { change });
      await sampler.sampleCircle(layersOf(sampler, [4, 5, 6, 7]), circle, { method, shares: false });
      return blobs.countAndReset(".tiles").sizeBytes;
    };
    const all = await bytesOf("mean", withoutPyramids);
    expect(await bytesOf("max", withoutPyramids)).toBe(all);
    expect(await bytesOf("max")).toBeLessThan(0.5 * all);
    expect(await bytesOf("mean")).toBeLessThan(0.95 * all);
  });

  test("does not include layers that are not queried", async () => {
    const bytesOf = async (numbers: readonly number[]): Promise<number> => {
      const { sampler, blobs } = await open();
      await sampler.sampleCircle(layersOf(sampler, numbers), INSIDE, { method: "mean", shares: false });
      return blobs.countAndReset(".tiles").sizeBytes;
    };
    const [four, two, both] = [await bytesOf([4, 5, 6, 7]), await bytesOf([8, 9]), await bytesOf([4, 5, 6, 7, 8, 9])];
    expect(four).toBeGreaterThan(100_000);
    expect(two).toBeLessThan(0.6 * four);
    // Adjacent parts are read in one range, which has at most their total size plus the gaps between them.
    expect(both).toBeLessThanOrEqual((four + two) * 1.02);
    expect(both).toBeGreaterThanOrEqual((four + two) * 0.98);
    // Querying one layer reads the whole group, but no other group.
    expect(await bytesOf([8])).toBe(two);
  });

  test("reads one tile of only the groups needed, for a single cell", async () => {
    const { sampler, blobs } = await open();
    const sample = await sampler.sampleCell(layersOf(sampler, [9, 8]), { latDeg: 59.01, lonDeg: 178.51 });
    const cell = { row: Math.floor((64 - 59.01) / 0.02), column: Math.floor((178.51 - 172) / 0.02) };
    expect([...(sample?.steps ?? [])]).toEqual([stepsAt(9, cell), stepsAt(8, cell)]);
    const { count, sizeBytes: bytes } = blobs.countAndReset(".tiles");
    expect(count).toBe(1);
    expect(bytes).toBeLessThan(64 * 64 * 2 * 2);
    expect(await sampler.sampleCell(layersOf(sampler, [9]), { latDeg: 20, lonDeg: 178.51 })).toBeUndefined();
  });

  test("serves more sets of layers than it keeps fields for", async () => {
    const { sampler } = await open();
    const place = { latDeg: 59.01, lonDeg: 178.51 };
    const cell = { row: 249, column: 325 };
    for (let bits = 1; bits < 1 << 7; bits++) {
      const numbers = [3, 4, 5, 6, 7, 8, 9].filter((_, i) => ((bits >> i) & 1) === 1).toReversed();
      const sample = await sampler.sampleCell(layersOf(sampler, numbers), place);
      expect([...(sample?.steps ?? [])]).toEqual(numbers.map((number) => stepsAt(number, cell)));
    }
  });
});
