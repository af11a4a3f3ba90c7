import { beforeAll, expect, test } from "vitest";
import { HAZARDS } from "../../src/hazard/hazards.ts";
import type { HazardPlan } from "../../src/ingest/plan.ts";
import type { BandWindow, Raster } from "../../src/ingest/raster.ts";
import { ChunkComputer, type ChunkKey } from "../../src/ingest/chunkComputer.ts";
import { SlabReader } from "../../src/ingest/slabReader.ts";
import { Kernel } from "../../src/kernel/instance.ts";

const ROW_COUNT = 150;
const COLUMN_COUNT = 90;

let kernel: Kernel;
beforeAll(async () => {
  kernel = await Kernel.load();
});

/** Returns a raster whose values encode their cell and which records the windows read from it. */
function recordingRaster(
  reads: BandWindow[],
  { blockRowCount, blockColumnCount }: { blockRowCount: number; blockColumnCount: number },
): Raster {
  return {
    spec: { kind: "file", file: "generated.tif", options: {} },
    file: "generated.tif",
    grid: {
      northDeg: 50,
      westDeg: 0,
      cellSizeLatDeg: 0.1,
      cellSizeLonDeg: 0.1,
      rowCount: ROW_COUNT,
      columnCount: COLUMN_COUNT,
    },
    crs: "EPSG:4326",
    bands: [{ name: undefined, type: "float64", nodata: [], scale: 1, offset: 0, unit: undefined, coordinates: {} }],
    blockRowCount,
    blockColumnCount,
    notes: {},
    readWindow(window) {
      reads.push(window);
      const { firstRow, rowCount, firstColumn, columnCount } = window;
      const values = Float64Array.from({ length: rowCount * columnCount }, (_, i) => {
        const row = firstRow + Math.floor(i / columnCount);
        return row * 0.1 + (firstColumn + (i % columnCount)) * 0.001;
      });
      return Promise.resolve(values);
    },
    close: () => Promise.resolve(),
  };
}

test.each([
  { blockRowCount: 1, blockColumnCount: 90, decodedValues: 1e9, finishedSteps: 1e9, slabRowCount: 64, chunkCount: 1 },
  { blockRowCount: 7, blockColumnCount: 90, decodedValues: 1e9, finishedSteps: 1e9, slabRowCount: 63, chunkCount: 1 },
  {
    blockRowCount: 16,
    blockColumnCount: 16,
    decodedValues: 64 * 16 * 2,
    finishedSteps: 1e9,
    slabRowCount: 64,
    chunkCount: 6,
  },
  {
    blockRowCount: 128,
    blockColumnCount: 32,
    decodedValues: 128 * 64 * 2,
    finishedSteps: 1e9,
    slabRowCount: 128,
    chunkCount: 2,
  },
  {
    blockRowCount: 150,
    blockColumnCount: 90,
    decodedValues: 1e9,
    finishedSteps: 100 * 80 * 4,
    slabRowCount: 100,
    chunkCount: 1,
  },
])(
  "computes the same cells for any slab size: %o",
  async ({ blockRowCount, blockColumnCount, slabRowCount, chunkCount, ...budget }) => {
    const reads: BandWindow[] = [];
    const raster = recordingRaster(reads, { blockRowCount, blockColumnCount });
    const maps = [50, 100].map((returnPeriodYears) => ({ raster, band: 1, unitFactor: 1, returnPeriodYears }));
    const plan: HazardPlan = {
      hazard: "riverine_floods",
      rules: HAZARDS.riverine_floods.rules,
      groups: [
        {
          scenario: "baseline",
          year: 1980,
          content: { kind: "curves", models: [{ model: "", maps }] },
          provenance: {},
        },
      ],
    };
    const window = { firstRow: 5, rowCount: 140, firstColumn: 3, columnCount: 80 };
    const computer = new ChunkComputer(kernel, plan, { clampToleranceOf: () => undefined, atlasRowOfSource: -5 });
    const runner = { concurrency: 1, compute: (key: ChunkKey) => computer.compute(key) };
    const slabs = new SlabReader(plan, window, { runner, budget: { chunkValues: 25_000_000, ...budget } });
    const mismatches: unknown[] = [];
    for (let row = 5; row < 145; row++) {
      const slab = await slabs.slabAt(row);
      const layerCount = 4;
      for (let column = 0; column < 80; column++) {
        const chunk = slab.chunks.find((each) => column + 3 < each.window.firstColumn + each.window.columnCount);
        const { firstColumn = 0, columnCount = 0 } = chunk?.window ?? {};
        const firstStep = ((row - slab.firstRow) * columnCount + column + 3 - firstColumn) * layerCount;
        const depthSteps = chunk?.rows.steps[firstStep + 1];
        if (depthSteps !== Math.round(row * 100 + (column + 3))) mismatches.push({ row, column, depthSteps });
      }
    }
    expect(mismatches).toEqual([]);
    // Each cell of each map is read exactly once.
    expect(reads.reduce((sum, read) => sum + read.rowCount * read.columnCount, 0)).toBe(2 * 140 * 80);
    expect(Math.max(...reads.map(({ rowCount }) => rowCount))).toBeLessThanOrEqual(slabRowCount);
    const firstSlab = reads.filter(({ firstRow }) => firstRow === 5);
    expect(firstSlab).toHaveLength(2 * chunkCount);
    // Slabs start at block boundaries, so that each block is decoded for only one slab.
    expect(reads.filter(({ firstRow }) => firstRow !== 5 && firstRow % slabRowCount !== 0)).toEqual([]);
    const starts = reads.slice(2).filter(({ firstColumn }) => firstColumn > 3);
    expect(starts.every(({ firstColumn }) => firstColumn % blockColumnCount === 0)).toBe(true);
  },
);
