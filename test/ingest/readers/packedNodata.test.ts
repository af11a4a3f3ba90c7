import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ArrayVariable } from "../../../src/ingest/readers/arrays/arrayFile.ts";
import { readPacking, unpack } from "../../../src/ingest/readers/arrays/values.ts";
import { openGeoTiff } from "../../../src/ingest/readers/geotiff/geotiff.ts";
import { storedIntegersOf } from "../../../src/ingest/readers/storedMap.ts";
import { makeGeoTiff } from "../makeGeoTiff.ts";

describe("the stored integer of a nodata value", () => {
  test.each([
    [999.9, 0.1, 0, [9999]],
    [99.99, Math.fround(0.01), 0, [9999]],
    [-99.9, -0.1, 0, [999]],
    [373.15, 0.01, 273.15, [10_000]],
    [0, 0.1, 0, [0]],
    [9999, 1e-6, 0, [9_999_000_000]],
    [999.95, 0.1, 0, []],
    [9999.4, 1, 0.5, []],
    [Infinity, 0.1, 0, []],
  ])("of %d with scale %d and offset %d is %j", (value, scale, offset, expected) => {
    expect(storedIntegersOf([value], { scale, offset })).toEqual(expected);
  });
});

describe("a nodata value from the user, after scale and offset", () => {
  test("marks cells of an array of scaled integers", () => {
    const attributes = new Map([["scale_factor", { value: [Math.fround(0.01)], type: "float32" as const }]]);
    const variable = { name: "wind", type: "int16", attributes, missing: [], hasDefaultFill: false };
    const packing = readPacking("winds.nc", variable as unknown as ArrayVariable, [99.99]);
    expect(Array.from(unpack(Int16Array.of(9999, 9998, 10_000), packing))).toEqual([
      NaN,
      9998 * Math.fround(0.01),
      10_000 * Math.fround(0.01),
    ]);
  });

  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "isotherm-packed-"));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  test("marks cells of a GeoTIFF of scaled integers", async () => {
    const file = join(folder, "scaled.tif");
    const metadata = '<GDALMetadata><Item name="SCALE" sample="0" role="scale">0.1</Item></GDALMetadata>';
    const grid = { rowCount: 1, columnCount: 3, tiePoint: [10, 50], pixelScale: [1, 1] } as const;
    await writeFile(file, makeGeoTiff({ ...grid, values: [9999, 9998, 10_000], type: "int32", metadata }));
    const raster = await openGeoTiff(file, { nodata: [999.9] });
    try {
      const values = await raster.readWindow({ band: 1, firstRow: 0, rowCount: 1, firstColumn: 0, columnCount: 3 });
      expect(Array.from(values)).toEqual([NaN, 9998 * 0.1, 1000]);
    } finally {
      await raster.close();
    }
  });
});
