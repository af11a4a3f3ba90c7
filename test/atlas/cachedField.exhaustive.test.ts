import { beforeEach, describe, expect, test } from "vitest";
import { TileCache } from "../../src/atlas/cache.ts";
import type { CellSource, Pyramid, TileState } from "../../src/atlas/cellSource.ts";
import { type FieldLayer, CachedField } from "../../src/atlas/cachedField.ts";
import { cutTile, extentOf, PyramidSections, tileStateOf, tilingOf } from "../../src/atlas/tile.ts";
import { FieldGrid, LANES, type TileForm } from "../../src/kernel/field.ts";
import type { Grid } from "../../src/kernel/grid.ts";
import { Kernel } from "../../src/kernel/instance.ts";
import { worldGrid } from "../kernel/circleCells.ts";
import { patchyRaster, type Raster, SyntheticField } from "../kernel/syntheticField.ts";
import { randomFrom, shuffled } from "../seededRandom.ts";
import { FLOOD_LAYERS } from "./makeAtlas.ts";

/** 3 x 10 tiles in 1 x 2 pyramid tiles, with partial tiles at both edges. */
const GRID: Grid = { ...worldGrid(0.1, { westDeg: 10, northDeg: 50 }), rowCount: 150, columnCount: 601 };
const FORMS: readonly TileForm[] = ["cells", "prefixes", "bounds", "totals"];
const LAYER = FLOOD_LAYERS[1] as (typeof FLOOD_LAYERS)[number];

let kernel: Kernel;
beforeEach(async () => {
  kernel = await Kernel.load({ scratchBytes: 16 << 20 });
});

/** A source of in-memory rasters that records its loads. */
class RasterSource implements CellSource {
  readonly grid = GRID;
  readonly groups: CellSource["groups"];
  readonly pyramid: Pyramid;
  readonly rasters: readonly Raster[];
  readonly loaded: string[] = [];
  /** Runs before data is returned. */
  beforeReturn: () => Promise<void> = () => new Promise((resolve) => setImmediate(resolve));

  constructor(rasters: readonly Raster[]) {
    this.rasters = rasters;
    this.groups = rasters.map(({ layerCount }, i) => ({
      scenario: "baseline",
      year: 2000 + i,
      layers: Array.from({ length: layerCount }, () => LAYER),
      provenance: {},
    }));
    const sections = rasters.map((raster, group) => this.#sectionsOf(raster, group));
    const sectionAt = (at: { readonly group: number; readonly pyramidColumn: number }): PyramidSections =>
      sections[at.group]?.[at.pyramidColumn] as PyramidSections;
    this.pyramid = {
      resolve: (tiles) => tiles.map(({ group, pyramidColumn }) => this.#stateUnder(group, pyramidColumn)),
      loadBounds: async (tiles) => {
        for (const { group, pyramidColumn } of tiles) this.loaded.push(`bounds ${group} ${pyramidColumn}`);
        await this.beforeReturn();
        return tiles.map((tile) => sectionAt(tile).maxima);
      },
      loadTotals: async (tiles) => {
        for (const { group, pyramidColumn } of tiles) this.loaded.push(`totals ${group} ${pyramidColumn}`);
        await this.beforeReturn();
        return tiles.map((tile) => sectionAt(tile).totals);
      },
      loadTileBounds: () => Promise.reject(new Error("fields do not read the bounds of tiles")),
      rootBounds: () => {
        throw new Error("fields do not read the bounds of the root");
      },
    };
  }

  async resolve(tiles: Parameters<CellSource["resolve"]>[0]): Promise<readonly TileState[]> {
    return tiles.map((tile) => this.#stateOf(tile));
  }
  async load(tiles: Parameters<CellSource["load"]>[0]): Promise<readonly Uint16Array[]> {
    for (const { group, tileRow, tileColumn } of tiles) this.loaded.push(`cells ${group} ${tileRow} ${tileColumn}`);
    await this.beforeReturn();
    return tiles.map((tile) => this.#cut(tile));
  }
  async close(): Promise<void> {
    // No resources to release.
  }

  #cut({
    group,
    tileRow,
    tileColumn,
  }: {
    readonly group: number;
    readonly tileRow: number;
    readonly tileColumn: number;
  }): Uint16Array {
    const { steps, layerCount } = this.rasters[group] as Raster;
    const rowLength = GRID.columnCount * layerCount;
    const rowCount = Math.min(64, GRID.rowCount - tileRow * 64);
    const band = steps.subarray(tileRow * 64 * rowLength, (tileRow * 64 + rowCount) * rowLength);
    return cutTile(band, { firstRow: tileRow * 64, rowCount }, { grid: GRID, layerCount, tileColumn });
  }

  #stateOf(tile: Parameters<CellSource["resolve"]>[0][number]): TileState {
    return tileStateOf(this.#cut(tile), this.rasters[tile.group]?.layerCount ?? 0, extentOf(GRID, tile));
  }

  /** Returns the state shared by all tiles under a pyramid tile, or "cells" if they differ. */
  #stateUnder(group: number, pyramidColumn: number): TileState {
    const { tileRowCount, tileColumnCount } = tilingOf(GRID);
    const states = new Set<TileState>();
    for (let tileRow = 0; tileRow < tileRowCount; tileRow++) {
      for (
        let tileColumn = pyramidColumn * 8;
        tileColumn < Math.min(tileColumnCount, pyramidColumn * 8 + 8);
        tileColumn++
      ) {
        states.add(this.#stateOf({ group, tileRow, tileColumn }));
      }
    }
    const [first = "outside"] = states;
    return states.size === 1 ? first : "cells";
  }

  #sectionsOf({ layerCount }: Raster, group: number): PyramidSections[] {
    const { tileRowCount, tileColumnCount, pyramidColumnCount } = tilingOf(GRID);
    const sections = Array.from({ length: pyramidColumnCount }, () => new PyramidSections(layerCount));
    for (let tileRow = 0; tileRow < tileRowCount; tileRow++) {
      for (let tileColumn = 0; tileColumn < tileColumnCount; tileColumn++) {
        const position = { row: tileRow, column: tileColumn % 8 };
        sections[Math.floor(tileColumn / 8)]?.put(this.#cut({ group, tileRow, tileColumn }), position);
      }
    }
    return sections;
  }
}

/** Returns all layers of the sources in random order. */
function shuffledLayers(sources: readonly RasterSource[], seed: number): FieldLayer[] {
  const layers = sources.flatMap((source) =>
    source.rasters.flatMap(({ layerCount }, group) =>
      Array.from({ length: layerCount }, (_, layer) => ({ source, group, layer, entry: LAYER })),
    ),
  );
  return shuffled(randomFrom(seed), layers);
}

/** Interleaves the layers into one raster. */
function rasterOf(layers: readonly FieldLayer[]): Raster {
  const count = layers.length;
  const steps = new Uint16Array(GRID.rowCount * GRID.columnCount * count);
  for (const [lane, { source, group, layer }] of layers.entries()) {
    const raster = (source as RasterSource).rasters[group] as Raster;
    for (let cell = 0; cell < GRID.rowCount * GRID.columnCount; cell++) {
      steps[cell * count + lane] = raster.steps[cell * raster.layerCount + layer] ?? 0;
    }
  }
  return { layerCount: count, steps };
}

function constantRaster(layerCount: number, steps: number): Raster {
  return { layerCount, steps: new Uint16Array(GRID.rowCount * GRID.columnCount * layerCount).fill(steps) };
}

function fieldOf(layers: readonly FieldLayer[], { sizeBytes = 16 << 20 }: { readonly sizeBytes?: number } = {}) {
  const cache = new TileCache(kernel, { sizeBytes });
  const grid = new FieldGrid(kernel, GRID);
  return { cache, grid, cachedField: new CachedField(kernel, cache, grid, layers) };
}

function tileCount(grid: FieldGrid, form: TileForm): number {
  return form === "cells" || form === "prefixes"
    ? grid.tileRowCount * grid.tileColumnCount
    : grid.pyramidRowCount * grid.pyramidColumnCount;
}

/** Returns the numbers of a tile that belong to its layers and are within the grid. */
function numbersOf(
  form: TileForm,
  index: number,
  tile: { readonly numbers: ArrayLike<number>; readonly layerCount: number },
): number[] {
  const laneCount = Math.ceil(tile.layerCount / LANES) * LANES;
  const { tileColumnCount, pyramidColumnCount } = tilingOf(GRID);
  const isPyramid = form === "bounds" || form === "totals";
  const [edge, columns] = isPyramid ? [512, pyramidColumnCount] : [64, tileColumnCount];
  const rowsLeft = GRID.rowCount - Math.floor(index / columns) * edge;
  const columnsLeft = GRID.columnCount - (index % columns) * edge;
  // Numbers per row, and how many rows and columns are within the grid.
  const [width, rowCount, columnCount] = {
    cells: [64, rowsLeft, columnsLeft],
    prefixes: [65, rowsLeft, columnsLeft + 1],
    bounds: [64, Math.ceil(rowsLeft / 8), Math.ceil(columnsLeft / 8)],
    totals: [8, rowsLeft, Math.floor(columnsLeft / 64)],
  }[form] as [number, number, number];
  const height = tile.numbers.length / laneCount / width;
  const out: number[] = [];
  for (let row = 0; row < Math.min(height, rowCount); row++) {
    for (let column = 0; column < Math.min(width, columnCount); column++) {
      const first = (row * width + column) * laneCount;
      for (let lane = 0; lane < tile.layerCount; lane++) out.push(tile.numbers[first + lane] ?? -1);
    }
  }
  return out;
}

function firstDifference(actual: readonly number[], expected: readonly number[]): unknown {
  const index = expected.findIndex((number, i) => number !== actual[i]);
  return index < 0 && actual.length === expected.length
    ? undefined
    : { index, actual: actual[index], expected: expected[index] };
}

describe("a cached field", () => {
  test("assembles its tiles from the groups of its sources, layer by layer, in every form", async () => {
    const sources = [
      new RasterSource([
        patchyRaster(GRID, { layerCount: 4, seed: 1 }),
        patchyRaster(GRID, { layerCount: 2, seed: 2 }),
      ]),
      new RasterSource([
        constantRaster(3, 0),
        patchyRaster(GRID, { layerCount: 1, seed: 3 }),
        constantRaster(2, 65_535),
      ]),
    ];
    const zeros = shuffledLayers(sources, 4).filter(({ source, group }) => source === sources[1] && group === 0);
    const missing = shuffledLayers(sources, 5).filter(({ source, group }) => source === sources[1] && group === 2);
    const sets = [
      shuffledLayers(sources, 1),
      shuffledLayers(sources, 2).slice(0, 5),
      shuffledLayers(sources, 3).slice(0, 1),
      zeros,
      missing,
      [...zeros, ...missing],
    ];
    for (const layers of sets) {
      const { cachedField, grid } = fieldOf(layers);
      const reference = await SyntheticField.of(GRID, rasterOf(layers));
      for (const form of FORMS) {
        for (let index = 0; index < tileCount(grid, form); index++) {
          const found = await cachedField.withTiles([{ form, indices: [index] }], () => {
            const region = {
              pointer: kernel.pointerAt(cachedField.wordOf(form, index)),
              sizeBytes: cachedField.bytesOf(form),
            };
            const numbers = form === "cells" || form === "bounds" ? kernel.u16(region) : kernel.i32(region);
            return numbersOf(form, index, { numbers, layerCount: layers.length });
          });
          const region = reference.tile(form, index);
          const numbers =
            form === "cells" || form === "bounds" ? reference.kernel.u16(region) : reference.kernel.i32(region);
          const expected = numbersOf(form, index, { numbers, layerCount: layers.length });
          expect({ form, index, difference: firstDifference(found, expected) }).toEqual({
            form,
            index,
            difference: undefined,
          });
        }
      }
    }
  });

  test("loads only the groups of its layers, and each tile once for concurrent calls", async () => {
    const source = new RasterSource([3, 4, 5].map((seed) => patchyRaster(GRID, { layerCount: 2, seed })));
    const layers = shuffledLayers([source], 4).filter(({ group }) => group === 1);
    const { cachedField } = fieldOf(layers);
    const states = await source.resolve(
      Array.from({ length: 10 }, (_, tileColumn) => ({ group: 1, tileRow: 1, tileColumn })),
    );
    const indices = states.flatMap((state, i) => (state === "cells" ? [10 + i] : []));
    const loadAll = (): Promise<boolean> =>
      cachedField.withTiles(
        [
          { form: "cells", indices: [...indices, ...indices] },
          { form: "totals", indices: [1, 0, 1] },
        ],
        () => indices.every((index) => kernel.words[cachedField.wordOf("cells", index)] !== 0),
      );
    expect(await Promise.all([loadAll(), loadAll(), loadAll()])).toEqual([true, true, true]);
    expect(source.loaded.toSorted()).toEqual(
      [...indices.map((index) => `cells 1 1 ${index - 10}`), "totals 1 0", "totals 1 1"].toSorted(),
    );
  });

  test("shares one tile per constant state, which uses no cache space and is never evicted", async () => {
    for (const [steps, expected] of [
      [0, 0],
      [65_535, 65_535],
      [65_534, 65_534],
    ] as const) {
      const source = new RasterSource([constantRaster(2, steps), constantRaster(1, steps)]);
      const { cachedField, cache } = fieldOf(shuffledLayers([source], 5), { sizeBytes: 1 << 20 });
      const pointers = await cachedField.withTiles([{ form: "cells", indices: [0, 9, 17, 29] }], () =>
        [0, 9, 17, 29].map((index) => kernel.pointerAt(cachedField.wordOf("cells", index))),
      );
      expect(new Set(pointers).size).toBe(1);
      expect(source.loaded).toEqual([]);
      expect(cache.usedBytes).toBe(0);
      const region = { pointer: pointers[0] ?? 0, sizeBytes: cachedField.bytesOf("cells") };
      expect(kernel.u16(region).every((cell, i) => i % LANES >= 3 || cell === expected)).toBe(true);
    }
  });

  test("does not treat a tile as constant if its groups differ", async () => {
    const source = new RasterSource([constantRaster(1, 0), constantRaster(1, 65_535)]);
    const { cachedField } = fieldOf(shuffledLayers([source], 6));
    const lanes = cachedField.layers.map(({ group }) => (group === 0 ? 0 : 65_535));
    const cell = await cachedField.withTiles([{ form: "cells", indices: [4] }], () => {
      const pointer = kernel.pointerAt(cachedField.wordOf("cells", 4));
      return [...kernel.u16({ pointer, sizeBytes: 4 })];
    });
    expect(cell).toEqual(lanes);
    expect(source.loaded).toEqual([]);
  });

  test("fails the calls that need a failing source, and leaves nothing allocated", async () => {
    const good = new RasterSource([patchyRaster(GRID, { layerCount: 1, seed: 7 })]);
    const bad = new RasterSource([patchyRaster(GRID, { layerCount: 1, seed: 8 })]);
    const { cachedField, cache } = fieldOf(shuffledLayers([good, bad], 7));
    const wait = bad.beforeReturn;
    bad.beforeReturn = async () => {
      await wait();
      throw new Error("damaged");
    };
    for (const form of FORMS) {
      const indices = Array.from({ length: tileCount(cachedField.field.grid, form) }, (_, index) => index);
      await expect(cachedField.withTiles([{ form, indices }], () => 0)).rejects.toThrow("damaged");
    }
    expect(cache.usedBytes).toBe(0);
    bad.beforeReturn = wait;
    const all = FORMS.map((form) => ({ form, indices: [0, 1] }));
    const areCorrect = await cachedField.withTiles(all, () =>
      all.every(({ form, indices }) => indices.every((index) => kernel.words[cachedField.wordOf(form, index)] !== 0)),
    );
    expect(areCorrect).toBe(true);
  });

  test("handles kernel memory that grows while sources load", async () => {
    const source = new RasterSource([patchyRaster(GRID, { layerCount: 2, seed: 9 })]);
    source.beforeReturn = async () => {
      await new Promise((resolve) => setImmediate(resolve));
      kernel.reserve(4 << 20);
    };
    const layers = shuffledLayers([source], 8);
    const { cachedField } = fieldOf(layers);
    const reference = await SyntheticField.of(GRID, rasterOf(layers));
    for (const form of FORMS) {
      await Promise.all(
        [0, 1].map(async (index) => {
          const found = await cachedField.withTiles([{ form, indices: [index] }], () => {
            const region = {
              pointer: kernel.pointerAt(cachedField.wordOf(form, index)),
              sizeBytes: cachedField.bytesOf(form),
            };
            return numbersOf(form, index, {
              numbers: form === "cells" || form === "bounds" ? kernel.u16(region) : kernel.i32(region),
              layerCount: 2,
            });
          });
          const region = reference.tile(form, index);
          const numbers =
            form === "cells" || form === "bounds" ? reference.kernel.u16(region) : reference.kernel.i32(region);
          expect(firstDifference(found, numbersOf(form, index, { numbers, layerCount: 2 }))).toBeUndefined();
        }),
      );
    }
  });
});
