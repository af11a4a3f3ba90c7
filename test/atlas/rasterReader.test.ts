import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { FieldLayer } from "../../src/atlas/cachedField.ts";
import type { CellSource, Pyramid } from "../../src/atlas/cellSource.ts";
import { RasterReader } from "../../src/atlas/rasterReader.ts";
import type { Grid } from "../../src/kernel/grid.ts";
import { Kernel } from "../../src/kernel/instance.ts";
import { TimeSlice } from "../../src/concurrency/timeSlice.ts";
import { blockMaximumByDefinition, type OracleLayer } from "../oracle/valueTile.ts";
import { randomFrom } from "../seededRandom.ts";
import { FLOOD_LAYERS, makeAtlas } from "./makeAtlas.ts";
import { closeSamplersAfterEach, openSampler } from "./openSampler.ts";

const OUTSIDE = 65_534;
const NODATA = 65_535;
/** Three by three pyramid tiles, of which the last row and column are cut. */
const GRID: Grid = {
  northDeg: 60,
  westDeg: 10,
  cellSizeLatDeg: 0.01,
  cellSizeLonDeg: 0.01,
  rowCount: 1100,
  columnCount: 1150,
};
const LAYERS = FLOOD_LAYERS.slice(1, 2);

closeSamplersAfterEach();

/** Cells in pyramid tiles of four kinds: outside, nodata, both in turn, and a few values among both. */
function makeCells(): Uint16Array {
  const random = randomFrom(5);
  const kinds = ["outside", "nodata", "both", "values", "outside", "both", "values", "nodata", "both"];
  const cells = new Uint16Array(GRID.rowCount * GRID.columnCount);
  for (let row = 0; row < GRID.rowCount; row++) {
    for (let column = 0; column < GRID.columnCount; column++) {
      const kind = kinds[3 * Math.floor(row / 512) + Math.floor(column / 512)];
      const isNodata = kind === "nodata" || (kind !== "outside" && (row >> 7) % 2 === (column >> 6) % 2);
      const isValue = kind === "values" && (row >> 6) % 3 === 0 && random.chance(0.001);
      cells[row * GRID.columnCount + column] = isValue ? random.below(OUTSIDE) : isNodata ? NODATA : OUTSIDE;
    }
  }
  return cells;
}

let folder: string;
let layer: OracleLayer;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "isotherm-test-"));
  const cells = makeCells();
  layer = { grid: GRID, cells, groupCells: [cells] };
  const groups = [{ scenario: "baseline", year: 1980, layers: LAYERS, cells }];
  await makeAtlas(await Kernel.load(), folder, [{ hazard: "riverine_floods", grid: GRID, groups }]);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function openLayer() {
  const { sampler, kernel, blobs } = await openSampler({ from: folder });
  const fieldLayer = sampler.hazards.get("riverine_floods")?.allLayers()[0];
  if (fieldLayer === undefined) throw new Error("The atlas has no layer.");
  return { fieldLayer, kernel, blobs };
}

function allBlocks(blockSizeCells: number) {
  return {
    blockSizeCells,
    rows: Int32Array.from({ length: Math.ceil(GRID.rowCount / blockSizeCells) }, (_, i) => i),
    columns: Int32Array.from({ length: Math.ceil(GRID.columnCount / blockSizeCells) }, (_, i) => i),
  };
}

const newRun = () => ({ timeSlice: new TimeSlice() });

describe("block maxima", () => {
  test.each([8, 64, 512, 4096])(
    "of %d cells equal those of the cells, or give the reason for a missing value",
    async (size) => {
      const { fieldLayer, kernel } = await openLayer();
      const all = allBlocks(size);
      // Every fifth row of the smallest blocks, because the reference implementation is slow.
      const blocks = size === 8 ? { ...all, rows: all.rows.filter((row) => row % 5 === 0) } : all;
      const steps = await new RasterReader(kernel, { cacheBytes: 0 }).readBlockMaxima(fieldLayer, blocks, newRun());
      const expected = [...blocks.rows].flatMap((row) =>
        [...blocks.columns].map((column) => blockMaximumByDefinition(layer, size, row, column)),
      );
      expect([...steps]).toEqual(expected);
      if (size < 4096) expect(expected).toEqual(expect.arrayContaining([OUTSIDE, NODATA]));
    },
  );

  test.each([
    { pyramidTiles: "outside", dataTiles: "outside", expected: OUTSIDE },
    { pyramidTiles: "cells", dataTiles: "outside", expected: OUTSIDE },
    { pyramidTiles: "cells", dataTiles: "nodata", expected: NODATA },
    { pyramidTiles: "nodata", dataTiles: "outside", expected: NODATA },
  ] as const)(
    "of several pyramid tiles without values, $pyramidTiles with $dataTiles data tiles, are $expected",
    async ({ pyramidTiles, dataTiles, expected }) => {
      const { fieldLayer, kernel } = await openLayer();
      const { grid, groups } = fieldLayer.source;
      const pyramid: Pick<Pyramid, "resolve" | "rootBounds"> = {
        resolve: (tiles) => tiles.map(() => pyramidTiles),
        rootBounds: () => Uint16Array.of(0),
      };
      const resolve: CellSource["resolve"] = (tiles) => Promise.resolve(tiles.map(() => dataTiles));
      const source = { grid, groups, resolve, pyramid: pyramid as Pyramid } as CellSource;
      const reader = new RasterReader(kernel, { cacheBytes: 0 });
      const steps = await reader.readBlockMaxima({ ...fieldLayer, source }, allBlocks(4096), newRun());
      expect([...steps]).toEqual([expected]);
    },
  );

  test("read no cells", async () => {
    const { fieldLayer, kernel, blobs } = await openLayer();
    const reader = new RasterReader(kernel, { cacheBytes: 0 });
    for (const size of [8, 64, 512]) await reader.readBlockMaxima(fieldLayer, allBlocks(size), newRun());
    expect(blobs.reads.filter(({ name }) => name.endsWith(".tiles"))).toEqual([]);
    expect(blobs.reads.some(({ name }) => name.endsWith(".pyramid"))).toBe(true);
  });

  test("need a pyramid", async () => {
    const { fieldLayer, kernel } = await openLayer();
    const source = { ...fieldLayer.source, pyramid: undefined } as unknown as CellSource;
    const reading = new RasterReader(kernel, { cacheBytes: 0 }).readBlockMaxima(
      { ...fieldLayer, source },
      allBlocks(8),
      newRun(),
    );
    await expect(reading).rejects.toThrow("no pyramid");
  });
});

describe("cells", () => {
  const crossings = {
    rows: Int32Array.of(5, -1, 5, 700, 1099),
    columns: Int32Array.of(1149, 3, -1, 3),
  };
  const expected = () =>
    [...crossings.rows].flatMap((row) =>
      [...crossings.columns].map((column) =>
        row < 0 || column < 0 ? OUTSIDE : layer.cells[row * GRID.columnCount + column],
      ),
    );

  test("at repeated and outside rows and columns are those of the atlas", async () => {
    const { fieldLayer, kernel } = await openLayer();
    const steps = await new RasterReader(kernel, { cacheBytes: 0 }).readCells(fieldLayer, crossings, newRun());
    expect([...steps]).toEqual(expected());
  });

  test("are read again only if their tiles were evicted, least recently used first", async () => {
    const { fieldLayer, kernel, blobs } = await openLayer();
    // One tile of 64 x 64 steps fits, two do not.
    const reader = new RasterReader(kernel, { cacheBytes: 10_000 });
    const readCountOf = async (column: number): Promise<number> => {
      const before = blobs.reads.filter(({ name }) => name.endsWith(".tiles")).length;
      await reader.readCells(fieldLayer, { rows: Int32Array.of(960), columns: Int32Array.of(column) }, newRun());
      return blobs.reads.filter(({ name }) => name.endsWith(".tiles")).length - before;
    };
    expect([await readCountOf(1), await readCountOf(2)]).toEqual([1, 0]);
    expect(reader.cachedBytes).toBe(8192);
    expect([await readCountOf(65), await readCountOf(1)]).toEqual([1, 1]);
    expect(reader.cachedBytes).toBe(8192);
  });

  test("are not read after the signal has aborted", async () => {
    const { fieldLayer, kernel, blobs } = await openLayer();
    const reader = new RasterReader(kernel, { cacheBytes: 0 });
    const signal = AbortSignal.abort(new Error("gone"));
    const reading = reader.readCells(fieldLayer, crossings, { timeSlice: new TimeSlice(), signal });
    await expect(reading).rejects.toThrow("gone");
    expect(blobs.reads).toEqual([]);
  });

  test("of a source that computes single cells are computed once each", async () => {
    const { fieldLayer, kernel } = await openLayer();
    const computed: string[] = [];
    const computing: Pick<CellSource, "readCells"> = {
      readCells(_group, cells) {
        for (const { row, column } of cells) computed.push(`${row}/${column}`);
        return Uint16Array.from(cells, ({ row, column }) => layer.cells[row * GRID.columnCount + column] ?? 0);
      },
    };
    const { grid, groups } = fieldLayer.source;
    const source = { grid, groups, ...computing } as CellSource;
    const computedLayer: FieldLayer = { ...fieldLayer, source };
    const steps = await new RasterReader(kernel, { cacheBytes: 0 }).readCells(computedLayer, crossings, newRun());
    expect([...steps]).toEqual(expected());
    expect(computed.toSorted((a, b) => a.localeCompare(b))).toEqual(
      [...new Set(computed)].toSorted((a, b) => a.localeCompare(b)),
    );
  });
});
