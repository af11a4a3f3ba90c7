import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openGeoTiff, openStoredGeoTiff } from "../../src/ingest/readers/geotiff/geotiff.ts";
import { isProjected, type Raster } from "../../src/ingest/raster.ts";
import { isInside, locate, openProjection } from "../../src/ingest/reprojection/projection.ts";
import { closesAt360, locateCell } from "../../src/kernel/grid.ts";
import { Kernel } from "../../src/kernel/instance.ts";
import { describeWithSharedData, readSamples, SHARED_HAZARD_DATA } from "../sharedData.ts";

/** Maps in a projected coordinate system. */
const PROJECTED = "cartograms";

const mapsIn = (folder: string): readonly string[] =>
  // Without the folder the suite below is skipped, but vitest still collects its tests.
  existsSync(folder)
    ? readdirSync(folder, { recursive: true, encoding: "utf8" })
        .filter((name) => /\.tiff?$/.test(name))
        .toSorted()
    : [];
const files = mapsIn(SHARED_HAZARD_DATA).filter((name) => !name.startsWith(PROJECTED));

describeWithSharedData("cells of public maps match the values of other tools", () => {
  let kernel: Kernel;
  beforeAll(async () => {
    kernel = await Kernel.load();
  });

  test("the data folder contains all maps", () => expect(files.length).toBeGreaterThanOrEqual(19));

  describe.each(files)("%s", (name) => {
    const path = join(SHARED_HAZARD_DATA, name);
    let raster: Raster;
    beforeAll(async () => {
      raster = await openGeoTiff(path);
    });
    afterAll(() => raster.close());

    const samples = readSamples(`${path}.samples.csv`);
    test("has samples", () => expect(samples.length).toBeGreaterThan(3));

    test.each(samples)("$id: latitude $latDeg, longitude $lonDeg", async (sample) => {
      const cell = locateCell(kernel, raster.grid, sample);
      // A sample outside the file is inside a map that spans 360 degrees.
      const isInsideGrid = sample.isInside || closesAt360(raster.grid);
      expect(cell !== undefined).toBe(isInsideGrid);
      if (!sample.isInside || cell === undefined) return;

      const cellWindow = { firstRow: cell.row, rowCount: 1, firstColumn: cell.column, columnCount: 1 };
      const [value = Infinity] = await raster.readWindow({ ...cellWindow, band: sample.band });
      const expected = sample.isNodata ? [NaN] : [sample.nearest, sample.alternative];
      expect(expected).toContainEqual(value);
      const bands = sample.isNodata ? [] : (sample.allBands ?? []);
      const read = await Promise.all(bands.map((_, index) => raster.readWindow({ ...cellWindow, band: index + 1 })));
      expect(read.map(([other]) => other)).toEqual(bands);
    });
  });

  test("drops the repeated meridian of the world wind map, so that the grid closes", async () => {
    const raster = await openGeoTiff(join(SHARED_HAZARD_DATA, "storm/STORM_present_2020_rp10_global_0p1deg.tif"));
    try {
      const { grid } = raster;
      expect(grid.columnCount).toBe(3600);
      expect(closesAt360(grid)).toBe(true);
      expect(grid.westDeg + 0.5 * grid.cellSizeLonDeg).toBeCloseTo(-180, 9);
      // The dropped column was at longitude 180, which is now in the first column.
      expect(locateCell(kernel, grid, { latDeg: 10, lonDeg: 180 })?.column).toBe(0);
      const all = await raster.readWindow({ band: 1, firstRow: 0, rowCount: 1201, firstColumn: 0, columnCount: 3600 });
      const part = await raster.readWindow({ band: 1, firstRow: 380, rowCount: 9, firstColumn: 0, columnCount: 100 });
      // Row 90 has a value in the last column of the file and none in the first; the reader merges the two.
      expect(all[90 * 3600]).toBe(18.037017822265625);
      for (let row = 0; row < 9; row++) {
        expect(part.slice(row * 100, row * 100 + 100)).toEqual(all.slice((380 + row) * 3600, (380 + row) * 3600 + 100));
      }
    } finally {
      await raster.close();
    }
  });

  test("accepts a nodata value that the file does not declare", async () => {
    const path = join(
      SHARED_HAZARD_DATA,
      "jrc_jamaica/JAM_label1in100_crop_RAW_cm_declared-nodata--9999_actual--999900.tif",
    );
    const raster = await openGeoTiff(path, { nodata: [-999900] });
    try {
      const window = { firstRow: 0, rowCount: 1140, firstColumn: 0, columnCount: 2760 };
      const values = await raster.readWindow({ ...window, band: 1 });
      const valid = Array.from(values).filter((value) => !Number.isNaN(value));
      expect(valid.reduce((largest, value) => Math.max(largest, value), -Infinity)).toBe(3249);
      expect(valid.every((value) => value >= 0)).toBe(true);
      expect(valid.length).toBeLessThan(values.length);
    } finally {
      await raster.close();
    }
  });

  describe.each(mapsIn(join(SHARED_HAZARD_DATA, PROJECTED)))("%s, projected", (name) => {
    const path = join(SHARED_HAZARD_DATA, PROJECTED, name);
    test.each(readSamples(`${path}.samples.csv`))("$id: latitude $latDeg, longitude $lonDeg", async (sample) => {
      const raster = await openStoredGeoTiff(path);
      if (!isProjected(raster)) throw new Error(`${name} is not projected.`);
      const projection = await openProjection(raster.projectedCrs);
      const position = locate(projection, raster.plane, sample.lonDeg, sample.latDeg);
      expect(position !== undefined && isInside(raster.plane, position)).toBe(sample.isInside);
      if (position !== undefined && sample.isInside) {
        const [firstRow, firstColumn] = [Math.floor(position.row), Math.floor(position.column)];
        const window = { band: sample.band, firstRow, rowCount: 1, firstColumn, columnCount: 1 };
        const [value = Infinity] = await raster.readWindow(window);
        expect(sample.isNodata ? [NaN] : [sample.nearest, sample.alternative]).toContainEqual(value);
      }
      await raster.close();
    });
  });
});
