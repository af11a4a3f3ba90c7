import { beforeAll, describe, expect, test } from "vitest";
import { type CircleCells, rowSpans, rowWeights } from "../../src/kernel/geodesy.ts";
import { Kernel } from "../../src/kernel/instance.ts";
import {
  STATUS_BAD_GRID,
  STEPS_MAX,
  STEPS_NODATA,
  STEPS_OUTSIDE,
  TILE_SIZE,
} from "../../src/kernel/kernel.generated.ts";
import { CircleAccumulator, type CircleSummary, type TileCells } from "../../src/kernel/circleAccumulator.ts";
import type { OracleCell, OracleGrid } from "../oracle/points.ts";
import {
  cellAreaByTextbook,
  circleByBisection,
  circleByDefinition,
  type OracleCircle,
  summarizeByDefinition,
} from "../oracle/radius.ts";
import { randomFrom, type SeededRandom, shuffled } from "../seededRandom.ts";
import { cellsOf, worldGrid } from "./circleCells.ts";

let kernel: Kernel;
beforeAll(async () => {
  kernel = await Kernel.load();
});

/** Returns the steps of one cell of one layer. */
type Raster = (cell: OracleCell, layer: number) => number;

/** Returns a pseudorandom number for each cell and layer. */
function hashOf({ row, column }: OracleCell, layer: number): number {
  let mixed = Math.imul(row + 1, 0x9e3779b1) ^ Math.imul(column + 1, 0x85ebca6b) ^ Math.imul(layer + 1, 0xc2b2ae35);
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x2c1b3c6d);
  return (mixed ^ (mixed >>> 13)) >>> 0;
}

/** Layers: 0 all valid, 1 some missing, 2 all nodata, 3 all outside, 4 mixed, 5 all zero, 6 all at the largest step. */
const MIXED: Raster = (cell, layer) => {
  const bits = hashOf(cell, layer);
  const steps = bits % (STEPS_MAX + 1);
  const choice = (bits >>> 16) % 10;
  switch (layer) {
    case 0:
      return steps;
    case 1:
      return choice < 4 ? STEPS_NODATA : steps;
    case 2:
      return STEPS_NODATA;
    case 3:
      return STEPS_OUTSIDE;
    case 4:
      return choice < 6 ? STEPS_NODATA : choice < 9 ? STEPS_OUTSIDE : steps;
    case 5:
      return 0;
    default:
      return STEPS_MAX;
  }
};
const MIXED_LAYER_COUNT = 7;

/** Returns the tiles that the circle touches, filled from the raster, in the given memory. */
function tilesOf(
  memory: Pick<Kernel, "reserve">,
  grid: OracleGrid,
  circle: CircleCells,
  raster: Raster,
  layerCount: number,
): TileCells[] {
  const tilesByName = new Map<string, { tileRow: number; tileColumn: number }>();
  for (const { row, column } of cellsOf(grid, circle)) {
    const tile = { tileRow: Math.floor(row / TILE_SIZE), tileColumn: Math.floor(column / TILE_SIZE) };
    tilesByName.set(`${tile.tileRow},${tile.tileColumn}`, tile);
  }
  return [...tilesByName.values()].map(({ tileRow, tileColumn }) => {
    const values = new Uint16Array(TILE_SIZE * TILE_SIZE * layerCount);
    for (let i = 0; i < TILE_SIZE * TILE_SIZE; i++) {
      const cell = {
        row: tileRow * TILE_SIZE + Math.floor(i / TILE_SIZE),
        column: tileColumn * TILE_SIZE + (i % TILE_SIZE),
      };
      const isInGrid = cell.row < grid.rowCount && cell.column < grid.columnCount;
      for (let layer = 0; layer < layerCount; layer++) {
        values[i * layerCount + layer] = isInGrid ? raster(cell, layer) : STEPS_OUTSIDE;
      }
    }
    const cells = memory.reserve(values.byteLength);
    kernel.u16(cells).set(values);
    return { tileRow, tileColumn, cells };
  });
}

function summarize(
  grid: OracleGrid,
  circle: CircleCells,
  batches: readonly (readonly TileCells[])[],
  layerCount: number,
): CircleSummary[] {
  const sums = new CircleAccumulator(circle, layerCount);
  for (const batch of batches) sums.add(kernel, batch);
  return sums.summarize(kernel, rowWeights(kernel, grid, sums.rows));
}

/** Relative difference of sums of some thousand doubles added in different orders. */
const ROUNDING = 1e-11;

/** Returns the layers that differ from the reference implementation. */
function differences(
  got: readonly CircleSummary[],
  {
    grid,
    cells,
    raster,
  }: { readonly grid: OracleGrid; readonly cells: readonly OracleCell[]; readonly raster: Raster },
): unknown[] {
  return got.flatMap((summary, layer) => {
    const expected = summarizeByDefinition(grid, cells, (cell) => raster(cell, layer));
    const isEqual =
      summary.maxSteps === expected.maxSteps &&
      summary.validCellCount === expected.validCells &&
      summary.hasNodata === expected.hasNodata &&
      summary.hasOutsideCoverage === expected.hasOutside &&
      Math.abs(summary.validShare - expected.validShare) <= ROUNDING &&
      (summary.meanSteps === expected.meanSteps ||
        Math.abs((summary.meanSteps ?? NaN) - (expected.meanSteps ?? NaN)) <= ROUNDING * (expected.meanSteps ?? NaN));
    return isEqual ? [] : [{ layer, summary, expected, grid, firstCell: cells[0], cells: cells.length }];
  });
}

const GRIDS: Readonly<Record<string, OracleGrid>> = {
  "1 degree": worldGrid(1),
  "0.5 degree from 20 east": worldGrid(0.5, { westDeg: 20 }),
  "cells 0.4 wide, 0.3 high": worldGrid(0.4, { heightDeg: 0.3, westDeg: -180.2 }),
  "0.5 degree with centers on the poles": { ...worldGrid(0.5, { northDeg: 90.25 }), rowCount: 361 },
  "a crop over the antimeridian": {
    ...worldGrid(0.2, { westDeg: 170, northDeg: 70 }),
    rowCount: 130,
    columnCount: 100,
  },
  "a single cell": { northDeg: 10, westDeg: 10, cellSizeLatDeg: 1, cellSizeLonDeg: 1, rowCount: 1, columnCount: 1 },
};

function randomCircle(grid: OracleGrid, random: SeededRandom): OracleCircle {
  const southDeg = grid.northDeg - grid.rowCount * grid.cellSizeLatDeg;
  const eastDeg = grid.westDeg + grid.columnCount * grid.cellSizeLonDeg;
  const latDeg = random.chance(0.3)
    ? random.pick([90, -90, 89.9, -89.9, grid.northDeg - grid.cellSizeLatDeg])
    : random.between({ min: southDeg, max: grid.northDeg });
  return {
    latDeg: Math.max(-90, Math.min(90, latDeg)),
    lonDeg: random.chance(0.3)
      ? random.pick([180, -180, grid.westDeg])
      : random.between({ min: grid.westDeg, max: eastDeg }),
    radiusM: 100 * 1400 ** random.next(),
  };
}

describe("CircleAccumulator", () => {
  for (const [index, [name, grid]] of Object.entries(GRIDS).entries()) {
    test(`matches the reference implementation on random circles: ${name}`, () => {
      const random = randomFrom(400 + index);
      for (let i = 0; i < 25; i++) {
        const circle = randomCircle(grid, random);
        const cells = rowSpans(kernel, grid, circle);
        const got = kernel.withScratch((scratch) =>
          summarize(grid, cells, [tilesOf(scratch, grid, cells, MIXED, MIXED_LAYER_COUNT)], MIXED_LAYER_COUNT),
        );
        expect(differences(got, { grid, cells: circleByDefinition(grid, circle), raster: MIXED })).toEqual([]);
      }
    });
  }

  test("matches the reference implementation on a large circle and a fine grid", () => {
    const grid = { ...worldGrid(1 / 120, { westDeg: 8, northDeg: 62 }), rowCount: 480, columnCount: 960 };
    const circle = { latDeg: 60.1, lonDeg: 12, radiusM: 80_000 };
    const cells = rowSpans(kernel, grid, circle);
    const got = summarize(grid, cells, [tilesOf(kernel, grid, cells, MIXED, 2)], 2);
    expect(differences(got, { grid, cells: circleByBisection(grid, circle), raster: MIXED })).toEqual([]);
  });

  for (const circle of [
    { latDeg: 71, lonDeg: -179.3, radiusM: 130_000 }, // two spans per row, across the west edge
    { latDeg: 89.7, lonDeg: 10, radiusM: 90_000 }, // entire rows
    { latDeg: -0.1, lonDeg: 12.8, radiusM: 140_000 },
  ]) {
    test(`returns the same bits for any order and batches of tiles: ${JSON.stringify(circle)}`, () => {
      const grid = worldGrid(0.05);
      const random = randomFrom(500);
      const cells = rowSpans(kernel, grid, circle);
      const tiles = tilesOf(kernel, grid, cells, MIXED, 5);
      expect(tiles.length).toBeGreaterThan(3);
      const expected = summarize(grid, cells, [tiles], 5);
      for (let i = 0; i < 12; i++) {
        const order = shuffled(random, tiles);
        const batches: TileCells[][] = [[]];
        for (const tile of order) {
          if (random.chance(0.4)) batches.push([]);
          batches.at(-1)?.push(tile);
        }
        const actual = summarize(grid, cells, batches, 5);
        for (const [layer, summary] of actual.entries()) {
          expect(Object.is(summary.meanSteps, expected[layer]?.meanSteps)).toBe(true);
          expect(summary).toEqual(expected[layer]);
        }
      }
    });
  }

  test("weights each row by the area of its cells", () => {
    const grid = worldGrid(1);
    // Two cells of the row at 60 degrees and one of the row below it: 10, 20 and 90 steps.
    const circle: CircleCells = { spans: Int32Array.of(30, 5, 6, 31, 6, 6), spanCount: 2, ambiguousCount: 0 };
    const steps = new Map([
      ["30,5", 10],
      ["30,6", 20],
      ["31,6", 90],
    ]);
    const raster: Raster = ({ row, column }) => steps.get(`${row},${column}`) ?? 60_000;
    const [got] = summarize(grid, circle, [tilesOf(kernel, grid, circle, raster, 1)], 1);
    const north = cellAreaByTextbook(grid, 30);
    const south = cellAreaByTextbook(grid, 31);
    expect(south).toBeGreaterThan(north * 1.02);
    expect(got?.meanSteps).toBeCloseTo((north * 30 + south * 90) / (2 * north + south), 10);
    expect(got).toMatchObject({
      maxSteps: 90,
      validCellCount: 3,
      validShare: 1,
      hasNodata: false,
      hasOutsideCoverage: false,
    });
  });

  test("returns a valid share of exactly 1 if all cells are valid, less if one is not, and 0 if none is", () => {
    const grid = worldGrid(0.5);
    for (const latDeg of [-75, 3, 41, 66, 89.6]) {
      const cells = rowSpans(kernel, grid, { latDeg, lonDeg: 179.9, radiusM: 140_000 });
      const [row = 0, column = 0] = cells.spans;
      const raster: Raster = (cell, layer) =>
        layer === 2 || (layer === 1 && cell.row === row && cell.column === column) ? STEPS_NODATA : 7;
      const [all, allButOne, none] = summarize(grid, cells, [tilesOf(kernel, grid, cells, raster, 3)], 3);
      expect(all?.validShare).toBe(1);
      expect(allButOne?.validShare).toBeLessThan(1);
      expect(allButOne).toMatchObject({ maxSteps: 7, hasNodata: true, hasOutsideCoverage: false });
      expect(none?.validShare).toBe(0);
    }
  });

  test("distinguishes zero from missing", () => {
    const grid = worldGrid(1);
    const circle: CircleCells = { spans: Int32Array.of(40, 100, 101), spanCount: 1, ambiguousCount: 0 };
    const raster: Raster = ({ column }, layer) => (layer === 0 ? 0 : column === 100 ? STEPS_OUTSIDE : STEPS_NODATA);
    const [zero, missing] = summarize(grid, circle, [tilesOf(kernel, grid, circle, raster, 2)], 2);
    expect(zero).toEqual({
      maxSteps: 0,
      meanSteps: 0,
      validCellCount: 2,
      validShare: 1,
      hasNodata: false,
      hasOutsideCoverage: false,
    });
    expect(missing).toEqual({
      maxSteps: undefined,
      meanSteps: undefined,
      validCellCount: 0,
      validShare: 0,
      hasNodata: true,
      hasOutsideCoverage: true,
    });
  });

  test("sums beyond 32 bits exactly", () => {
    // One row of 70,400 cells at the largest step: 4.6e9 steps. One tile serves as all 1,100 tiles.
    const grid: OracleGrid = { ...worldGrid(360 / 70_400), northDeg: 10, rowCount: 1 };
    const circle: CircleCells = { spans: Int32Array.of(0, 0, 70_399), spanCount: 1, ambiguousCount: 0 };
    const cells = kernel.reserve(TILE_SIZE * TILE_SIZE * 2);
    kernel.u16(cells).fill(STEPS_MAX);
    const tiles = Array.from({ length: 1100 }, (_, tileColumn) => ({ tileRow: 0, tileColumn, cells }));
    const [got] = summarize(grid, circle, [tiles], 1);
    expect(got?.validCellCount).toBe(70_400);
    expect(Math.abs((got?.meanSteps ?? NaN) / STEPS_MAX - 1)).toBeLessThan(1e-15);
  });

  test("ignores tiles that the circle does not touch", () => {
    const grid = worldGrid(1);
    const circle: CircleCells = { spans: Int32Array.of(63, 63, 64, 64, 64, 64), spanCount: 2, ambiguousCount: 0 };
    const tiles = tilesOf(kernel, grid, circle, MIXED, 1);
    expect(tiles).toHaveLength(3);
    const elsewhere = [
      { tileRow: 1, tileColumn: 0 },
      { tileRow: 2, tileColumn: 1 },
      { tileRow: 0, tileColumn: 2 },
      { tileRow: 0, tileColumn: 5 },
    ].map((tile) => ({ ...tile, cells: tiles[0]?.cells ?? kernel.reserve(TILE_SIZE * TILE_SIZE * 2) }));
    expect(summarize(grid, circle, [elsewhere, tiles, elsewhere], 1)).toEqual(summarize(grid, circle, [tiles], 1));
    expect(summarize(grid, circle, [elsewhere], 1)).toMatchObject([
      { validCellCount: 0, maxSteps: undefined, validShare: 0 },
    ]);
  });

  test("returns empty summaries for a circle without cells", () => {
    const nothing: CircleCells = { spans: new Int32Array(0), spanCount: 0, ambiguousCount: 0 };
    expect(new CircleAccumulator(nothing, 1).rows).toEqual({ firstRow: 0, rowCount: 0 });
    expect(summarize(worldGrid(1), nothing, [], 2)).toEqual(
      Array.from({ length: 2 }, () => ({
        maxSteps: undefined,
        meanSteps: undefined,
        validCellCount: 0,
        validShare: 0,
        hasNodata: false,
        hasOutsideCoverage: false,
      })),
    );
  });

  test("rejects weights of the wrong length", () => {
    const circle: CircleCells = { spans: Int32Array.of(3, 0, 0, 5, 0, 0), spanCount: 2, ambiguousCount: 0 };
    const sums = new CircleAccumulator(circle, 1);
    expect(sums.rows).toEqual({ firstRow: 3, rowCount: 3 });
    expect(() => sums.summarize(kernel, new Float64Array(2))).toThrow(
      "weights must have 3 elements, one per row (got 2)",
    );
  });

  test("rejects a span in a row without sums", () => {
    kernel.withScratch((scratch) => {
      const cells = scratch.reserve(TILE_SIZE * TILE_SIZE * 2);
      const spans = scratch.copyIn(Int32Array.of(5, 0, 0));
      const out = scratch.reserve(64).pointer;
      for (const firstRow of [4, 6]) {
        const status = kernel.exports.addTile(
          cells.pointer,
          1,
          0,
          0,
          spans.pointer,
          1,
          firstRow,
          1,
          out,
          out,
          out,
          out,
        );
        expect(status, `rows from ${firstRow}`).toBe(STATUS_BAD_GRID);
      }
    });
  });
});
