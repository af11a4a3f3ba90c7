import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Raster } from "../../src/ingest/raster.ts";
import { openGeoTiff } from "../../src/ingest/readers/geotiff/geotiff.ts";
import { MapFiles } from "../../src/ingest/readers/mapFiles.ts";
import { Kernel } from "../../src/kernel/instance.ts";
import { locateCell } from "../../src/kernel/grid.ts";
import { describeWithSharedData, readSamples, SHARED_HAZARD_DATA } from "../sharedData.ts";

const pathOf = (name: string): string => join(SHARED_HAZARD_DATA, name);

describeWithSharedData("public maps in NetCDF and Zarr", () => {
  let maps: MapFiles;
  beforeAll(() => {
    maps = new MapFiles();
  });
  afterAll(() => maps.close());

  describe("climada/flddph_2000_DEMO.nc", () => {
    const path = pathOf("climada/flddph_2000_DEMO.nc");
    let raster: Raster;
    let kernel: Kernel;
    beforeAll(async () => {
      raster = await maps.open(path, { assumeWgs84: true });
      kernel = await Kernel.load();
    });

    test.each(readSamples(`${path}.samples.csv`))("$id: latitude $latDeg, longitude $lonDeg", async (sample) => {
      const cell = locateCell(kernel, raster.grid, sample);
      expect(cell !== undefined).toBe(sample.isInside);
      if (cell === undefined) return;
      const window = { band: 1, firstRow: cell.row, rowCount: 1, firstColumn: cell.column, columnCount: 1 };
      const [value] = await raster.readWindow(window);
      expect(sample.isNodata ? [NaN] : [sample.nearest, sample.alternative]).toContainEqual(value);
    });

    test("requires the statement that its degrees are WGS84", async () => {
      await expect(maps.open(path)).rejects.toThrow(/without a datum.*--assume-wgs84/);
    });
  });

  test("the 29 storms of the NetCDF file are the bands of the GeoTIFF that was derived from it", async () => {
    const file = pathOf("opengira/PRI_max_wind_field_29_IBTrACS_storms.nc");
    const derived = await openGeoTiff(pathOf("opengira/derived_PRI_max_wind_29storms_northup.tif"));
    try {
      const { rowCount, columnCount } = derived.grid;
      const window = { firstRow: 0, rowCount, firstColumn: 0, columnCount };
      expect(derived.bands).toHaveLength(29);
      for (const [index] of derived.bands.entries()) {
        const raster = await maps.open(file, { select: { event_id: { index } } });
        for (const [name, expected] of Object.entries(derived.grid) as [keyof Raster["grid"], number][]) {
          expect(raster.grid[name], name).toBeCloseTo(expected, 6);
        }
        const [read, expected] = [
          await raster.readWindow({ ...window, band: 1 }),
          await derived.readWindow({ ...window, band: index + 1 }),
        ];
        expect(read.length).toBe(expected.length);
        // The GeoTIFF was computed with 32-bit floats.
        const isEqual = (value: number, wanted = Infinity): boolean =>
          Number.isNaN(wanted) ? Number.isNaN(value) : Math.abs(value - wanted) < 1e-5;
        expect(read.every((value, cell) => isEqual(value, expected[cell]))).toBe(true);
      }
    } finally {
      await derived.close();
    }
  });

  test("the world climatology in Zarr is read without its repeated meridian", async () => {
    const raster = await maps.open(pathOf("zarr/climatology-hd35-annual-mean.zarr"), {
      assumeWgs84: true,
      keepMeridian: "west",
    });
    expect(raster.grid).toMatchObject({ rowCount: 181, columnCount: 360, cellSizeLatDeg: 1, cellSizeLonDeg: 1 });
    expect(raster.bands[0]?.name).toBe("Band1");
    const values = await raster.readWindow({ band: 1, firstRow: 0, rowCount: 181, firstColumn: 0, columnCount: 360 });
    const valid = values.filter((value) => !Number.isNaN(value));
    expect(valid.length).toBeGreaterThan(1000);
    expect(valid.every((value) => value >= 0 && value <= 366)).toBe(true);
  });

  test.each([
    ["wildfire/GFWED_sample_2017.nc", /has no map.*FWI \(4 x 365\)/],
    ["wildfire/cffdrs_test_fwi.nc", /has no map.*bui \(2 x 48\)/],
  ])("rejects %s, which has time series instead of maps", async (name, message) => {
    await expect(maps.open(pathOf(name))).rejects.toThrow(message);
  });
});
