import { beforeAll, expect, test } from "vitest";
import { HAZARDS } from "../../src/hazard/hazards.ts";
import type { HazardPlan } from "../../src/ingest/plan.ts";
import type { BandWindow, Raster } from "../../src/ingest/raster.ts";
import { SlabReader } from "../../src/ingest/slabReader.ts";
import { Kernel } from "../../src/kernel/instance.ts";

const ROWS = 150;
const COLUMNS = 90;

let kernel: Kernel;
beforeAll(async () => {
  kernel = await Kernel.load();
});

/** Returns a map whose values encode their cell, and records the windows read from it. */
function recordingRaster(
  reads: BandWindow[],
  { blockRows, blockColumns }: { blockRows: number; blockColumns: number },
): Raster {
  return {
    file: "made.tif",
    grid: { northDeg: 50, westDeg: 0, cellSizeLatDeg: 0.1, cellSizeLonDeg: 0.1, rowCount: ROWS, columnCount: COLUMNS },
    bandCount: 1,
    declaredNodata: [undefined],
    declaredUnits: [undefined],
    blockRowCount: blockRows,
    blockColumnCount: blockColumns,
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
  { blockRows: 1, blockColumns: 90, decodedValues: 1e9, finishedSteps: 1e9, slabRows: 64, parts: 1 },
  { blockRows: 7, blockColumns: 90, decodedValues: 1e9, finishedSteps: 1e9, slabRows: 63, parts: 1 },
  { blockRows: 16, blockColumns: 16, decodedValues: 64 * 16 * 2, finishedSteps: 1e9, slabRows: 64, parts: 6 },
  { blockRows: 128, blockColumns: 32, decodedValues: 128 * 64 * 2, finishedSteps: 1e9, slabRows: 128, parts: 2 },
  { blockRows: 150, blockColumns: 90, decodedValues: 1e9, finishedSteps: 100 * 80 * 4, slabRows: 100, parts: 1 },
])("computes the same cells for any slab size: %o", async ({ blockRows, blockColumns, slabRows, parts, ...budget }) => {
  const reads: BandWindow[] = [];
  const raster = recordingRaster(reads, { blockRows, blockColumns });
  const maps = [50, 100].map((returnPeriodYears) => ({ raster, band: 1, unitFactor: 1, returnPeriodYears }));
  const plan: HazardPlan = {
    hazard: "riverine_floods",
    rules: HAZARDS.riverine_floods.rules,
    groups: [
      { scenario: "baseline", year: 1980, content: { kind: "curves", models: [{ model: "", maps }] }, provenance: {} },
    ],
  };
  const window = { firstRow: 5, rowCount: 140, firstColumn: 3, columnCount: 80 };
  const slabs = new SlabReader(kernel, plan, window, {
    clampToleranceOf: () => undefined,
    budget: { partValues: 25_000_000, ...budget },
  });
  const wrong: unknown[] = [];
  for (let row = 5; row < 145; row++) {
    const slab = await slabs.slabAt(row);
    const layerCount = 4;
    for (let column = 0; column < 80; column++) {
      const at = ((row - slab.firstRow) * 80 + column) * layerCount;
      const depthSteps = slab.groups[0]?.steps[at + 1];
      if (depthSteps !== Math.round(row * 100 + (column + 3))) wrong.push({ row, column, depthSteps });
    }
  }
  expect(wrong).toEqual([]);
  // Each cell of each map is read once.
  expect(reads.reduce((sum, read) => sum + read.rowCount * read.columnCount, 0)).toBe(2 * 140 * 80);
  expect(Math.max(...reads.map(({ rowCount }) => rowCount))).toBeLessThanOrEqual(slabRows);
  const firstSlab = reads.filter(({ firstRow }) => firstRow === 5);
  expect(firstSlab).toHaveLength(2 * parts);
  // Slabs start at block boundaries, so that no block is decoded for two slabs.
  expect(reads.filter(({ firstRow }) => firstRow !== 5 && firstRow % slabRows !== 0)).toEqual([]);
  const starts = reads.slice(2).filter(({ firstColumn }) => firstColumn > 3);
  expect(starts.every(({ firstColumn }) => firstColumn % blockColumns === 0)).toBe(true);
});
