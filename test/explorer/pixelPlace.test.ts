import { describe, expect, test } from "vitest";
import { catalogGridOf } from "../../src/atlas/catalog.ts";
import { placeOfPixel } from "../../src/explorer/map/mapOverlay.ts";
import { type Grid, locateCell, worldGrid } from "../../src/kernel/grid.ts";
import { Kernel } from "../../src/kernel/instance.ts";
import { type MapPixel, pixelAt, pixelCenter } from "../../src/tiles/mercator.ts";
import { randomFrom } from "../seededRandom.ts";

const kernel = await Kernel.load();

const REGION: Grid = {
  northDeg: 18.7,
  westDeg: 176.35,
  cellSizeLatDeg: 0.0089,
  cellSizeLonDeg: 0.0103,
  rowCount: 700,
  columnCount: 800,
};

function decimalsOf(deg: number): number {
  return (String(deg).split(".")[1] ?? "").length;
}

/** Returns pixels of a zoom with their centers in the grid, and the two beside the antimeridian. */
function pixelsIn(grid: Grid, z: number): readonly MapPixel[] {
  const random = randomFrom(z);
  return Array.from({ length: 500 }, () =>
    pixelAt(z, {
      latDeg: Math.max(-85, Math.min(85, grid.northDeg - random.next() * grid.rowCount * grid.cellSizeLatDeg)),
      lonDeg: grid.westDeg + random.next() * grid.columnCount * grid.cellSizeLonDeg,
    }),
  ).concat({ z, column: 0, row: 2 ** (z + 7) }, { z, column: 2 ** (z + 8) - 1, row: 2 ** (z + 7) - 1 });
}

describe("the place of a pixel", () => {
  test.each([
    // The longitudes of all centers are edges of cells up to zoom 7.
    { name: "cells of a power of two", grid: worldGrid(65_536), zooms: [1, 5, 7, 8, 13] },
    { name: "cells of 30 arc seconds", grid: worldGrid(43_200), zooms: [1, 4, 8, 9, 13] },
    { name: "a region across the antimeridian", grid: REGION, zooms: [6, 8, 11, 13] },
  ])("is in the cell that tiles show there: $name", ({ grid, zooms }) => {
    const catalogGrid = catalogGridOf(grid);
    const cellsByZoom = zooms.map((z) =>
      pixelsIn(grid, z).map((pixel) => {
        const { latitude, longitude } = placeOfPixel(pixel, catalogGrid);
        return { pixel, cell: locateCell(kernel, grid, { latDeg: latitude, lonDeg: longitude }) };
      }),
    );
    for (const { pixel, cell } of cellsByZoom.flat()) {
      expect({ pixel, cell }).toEqual({ pixel, cell: locateCell(kernel, grid, pixelCenter(pixel)) });
    }
  });

  test("has at most 5 decimals, unless rounding could leave the cell", () => {
    const grid = worldGrid(43_200);
    let exactCount = 0;
    for (const pixel of pixelsIn(grid, 9)) {
      const { latitude, longitude } = placeOfPixel(pixel, catalogGridOf(grid));
      const center = pixelCenter(pixel);
      const isExact = latitude === center.latDeg || longitude === center.lonDeg;
      if (isExact) exactCount += 1;
      else expect(Math.max(decimalsOf(latitude), decimalsOf(longitude))).toBeLessThanOrEqual(5);
      expect(Math.abs(latitude - center.latDeg)).toBeLessThanOrEqual(0.5e-5 + 1e-12);
      expect(Math.abs(longitude - center.lonDeg)).toBeLessThanOrEqual(0.5e-5 + 1e-12);
    }
    expect(exactCount).toBeLessThan(50);
  });

  test("is rounded if the atlas has no cells", () => {
    const pixel = pixelAt(9, { latDeg: 52.5, lonDeg: 4.8 });
    const { latitude, longitude } = placeOfPixel(pixel, null);
    expect([latitude, longitude].map(decimalsOf)).toEqual([5, 5]);
  });
});
