import { beforeAll, expect, test } from "vitest";
import { demoTileState, type DemoWorld, fillDemoTile, makeDemoCells, reserveDemoLand } from "../../src/kernel/demo.ts";
import { Kernel, KernelError } from "../../src/kernel/instance.ts";
import { STEPS_NODATA, TILE_SIZE } from "../../src/kernel/kernel.generated.ts";

const NODES_PER_DEG = 1;
const ROWS = 181;
const COLUMNS = 360;
const WORLD_GRID = {
  northDeg: 90,
  westDeg: -180,
  cellSizeLatDeg: 0.5,
  cellSizeLonDeg: 0.5,
  rowCount: 360,
  columnCount: 720,
};

let kernel: Kernel;
let world: DemoWorld;

/** One square island from 20 to 30 north and 0 to 10 east: its nodes are 10 km inland, all others 250 km offshore. */
function islandCodes(): Int8Array {
  const codes = new Int8Array(ROWS * COLUMNS).fill(-50);
  for (let row = 60; row <= 70; row++) codes.fill(10, row * COLUMNS + 180, row * COLUMNS + 191);
  return codes;
}

beforeAll(async () => {
  kernel = await Kernel.load();
  const land = reserveDemoLand(kernel, { codes: islandCodes(), nodesPerDeg: NODES_PER_DEG, kmPerCodeSquared: 0.1 });
  world = { hazard: "wildfire", land, grid: WORLD_GRID };
});

test("interpolates the coast distances between the nodes", () => {
  const columnsAt = (latDeg: number): number[] => {
    const row = (90 - latDeg) * 2 - 0.5;
    const cells = Array.from({ length: 720 }, (_, column) => ({ row, column }));
    const steps = makeDemoCells(kernel, world, { cells, warmingC: 0 });
    return cells.flatMap(({ column }) => (steps[column * 4] === STEPS_NODATA ? [] : [column]));
  };
  // From 10 km inland to 250 km offshore within a degree: the next cell center is 55 km offshore, beyond the margin of
  // 42 km.
  expect(columnsAt(25.25)).toEqual(Array.from({ length: 20 }, (_, i) => 360 + i));
  expect(columnsAt(20.25)).toEqual(Array.from({ length: 20 }, (_, i) => 360 + i));
  expect(columnsAt(19.25)).toEqual([]);
});

test("rejects coast distances of the wrong size", () => {
  expect(() =>
    reserveDemoLand(kernel, { codes: new Int8Array(COLUMNS * 180), nodesPerDeg: NODES_PER_DEG, kmPerCodeSquared: 0.1 }),
  ).toThrow("coast distances must have 65160 nodes (got 64800)");
});

test("rejects a slot that is too small for a tile without writing to it", () => {
  const slot = kernel.reserve(TILE_SIZE * TILE_SIZE * 8 - 8);
  kernel.u16(slot).fill(7);
  expect(() => fillDemoTile(kernel, world, { tileRow: 0, tileColumn: 0, warmingC: 0 }, slot)).toThrow(RangeError);
  expect(new Set(kernel.u16(slot))).toEqual(new Set([7]));
});

test.each([
  { row: -1, column: 0 },
  { row: 360, column: 0 },
  { row: 0, column: -1 },
  { row: 0, column: 720 },
])("rejects cell $row, $column outside the grid", (cell) => {
  expect(() => makeDemoCells(kernel, world, { cells: [{ row: 0, column: 0 }, cell], warmingC: 0 })).toThrow(
    KernelError,
  );
});

test.each([
  { tileRow: -1, tileColumn: 0 },
  { tileRow: 6, tileColumn: 0 },
  { tileRow: 0, tileColumn: -1 },
  { tileRow: 0, tileColumn: 12 },
])("rejects tile $tileRow, $tileColumn outside the grid", (tile) => {
  const slot = kernel.reserve(TILE_SIZE * TILE_SIZE * 8);
  expect(() => fillDemoTile(kernel, world, { ...tile, warmingC: 0 }, slot)).toThrow(KernelError);
  expect(() => demoTileState(kernel, world, tile)).toThrow("outside the grid");
});
