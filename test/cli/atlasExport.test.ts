import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { exportLayer, type ExportRequest } from "../../src/cli/atlasExport.ts";
import { writeGeoTiff } from "../../src/cli/geotiffFile.ts";
import { openGeoTiff } from "../../src/ingest/readers/geotiff/geotiff.ts";
import { folder, useIngestFolder } from "../ingest/ingestFixture.ts";
import {
  curveDepthAt,
  depthAt,
  withPackedAtlas,
  worldDepthAt,
  writeCurveAtlas,
  writeFloodAtlas,
  writeWorldAtlas,
} from "./atlasFixture.ts";

useIngestFolder();

const LAYER = { hazard: "riverine_floods", scenario: "rcp4p5", year: 2030, metric: "depth_meters" } as const;
const file = join(folder, "export.tif");

const exported = (request: Partial<ExportRequest>) =>
  withPackedAtlas((atlas) => exportLayer(atlas, { ...LAYER, bbox: undefined, file, ...request }));

/** Returns the values of all cells of the exported file, and its raster. */
async function readExport() {
  const raster = await openGeoTiff(file);
  try {
    const { rowCount, columnCount } = raster.grid;
    const values = await raster.readWindow({ band: 1, firstRow: 0, rowCount, firstColumn: 0, columnCount });
    return { raster, values };
  } finally {
    await raster.close();
  }
}

describe("exportLayer", () => {
  test("writes the stored values of every cell, with NaN for missing ones", async () => {
    await writeFloodAtlas();
    const report = await exported({});
    const { raster, values } = await readExport();
    expect(raster.grid).toMatchObject({ northDeg: 20, westDeg: 10, rowCount: 70, columnCount: 80 });
    expect(raster.bands[0]).toMatchObject({ type: "float32", unit: "m" });
    const expected = Float32Array.from({ length: 70 * 80 }, (_, cell) => depthAt(cell) ?? NaN);
    expect(values).toEqual(expected);
    expect(report).toEqual({
      file,
      rowCount: 70,
      columnCount: 80,
      validCellCount: expected.filter((value) => !Number.isNaN(value)).length,
    });
  });

  test("writes the cells that a box touches", async () => {
    await writeFloodAtlas();
    // Rows 45 to 66 and columns 30 to 64, which are on four tiles.
    await exported({ bbox: { westDeg: 13.05, eastDeg: 16.5, northDeg: 15.45, southDeg: 13.3 } });
    const { raster, values } = await readExport();
    expect(raster.grid).toMatchObject({ rowCount: 22, columnCount: 35 });
    expect([raster.grid.northDeg, raster.grid.westDeg]).toEqual([
      expect.closeTo(15.5, 9) as number,
      expect.closeTo(13, 9) as number,
    ]);
    const expected = Float32Array.from(
      { length: 22 * 35 },
      (_, cell) => depthAt((45 + Math.floor(cell / 35)) * 80 + 30 + (cell % 35)) ?? NaN,
    );
    expect(values).toEqual(expected);
  });

  test.each([
    ["W > E", { westDeg: 175, eastDeg: -170 }],
    ["an east edge above 180", { westDeg: 175, eastDeg: 190 }],
    ["edges below -180", { westDeg: -185, eastDeg: -170 }],
  ])("continues beyond longitude 180 with a box across the antimeridian, given with %s", async (_, lonDeg) => {
    await writeWorldAtlas();
    // Rows 10 to 79, which are on two tiles; columns 177 to 179 and 0 to 4.
    const report = await exported({ bbox: { ...lonDeg, northDeg: 70, southDeg: -70 } });
    const { raster, values } = await readExport();
    expect(raster.grid).toMatchObject({ northDeg: 70, westDeg: 174, cellSizeLonDeg: 2, rowCount: 70, columnCount: 8 });
    const expected = Float32Array.from(
      { length: 70 * 8 },
      (__, cell) => worldDepthAt(10 + Math.floor(cell / 8), (177 + (cell % 8)) % 180) ?? NaN,
    );
    expect(values).toEqual(expected);
    expect(report).toMatchObject({ columnCount: 8, validCellCount: values.filter((value) => value >= 0).length });
  });

  test("writes zeros for tiles that are zero everywhere", async () => {
    await writeFloodAtlas();
    await exported({ scenario: "baseline", year: 1980 });
    expect((await readExport()).values).toEqual(new Float32Array(70 * 80));
  });

  test("writes the value of a curve at any of its return periods, with the attribution", async () => {
    await writeCurveAtlas();
    for (const years of [2, 1000]) {
      await exported({ metric: `rp_${years}` });
      const { raster, values } = await readExport();
      expect(raster.bands[0]).toMatchObject({ unit: "m" });
      expect(Array.from(values.slice(0, 2), (value) => Number(value.toFixed(3)))).toEqual([
        curveDepthAt(0, years),
        curveDepthAt(1, years),
      ]);
      const text = (await readFile(file)).toString("latin1");
      expect(text).toContain("River maps");
      expect(text).toContain("Ward et al. (2020)");
    }
    await expect(exported({ metric: "rp_30" })).rejects.toThrow(
      /no rp_30\. It has .*probability.*rp_2, .*rp_500, rp_1000/,
    );
    await expect(exported({ hazard: "cyclones" })).rejects.toThrow(/It has riverine_floods\.$/);
    await expect(exported({ hazard: "riverine_floods.supplement", metric: "rp_2" })).rejects.toThrow(/has no riverine/);
  });

  test.each([
    [{ hazard: "cyclones" }, /has no cyclones\. It has riverine_floods/],
    [{ scenario: "rcp8p5" }, /no riverine_floods for rcp8p5 2030\. It has baseline 1980, rcp4p5 2030/],
    [{ metric: "probability" }, /has no probability\. It has intensity, depth_meters/],
    [{ bbox: { westDeg: 50, eastDeg: 51, southDeg: 0, northDeg: 1 } }, /touches no cell/],
  ])("rejects %j with what the atlas has, and writes no file", async (request, message) => {
    await writeFloodAtlas();
    await expect(exported(request)).rejects.toThrow(message);
    expect(await readdir(folder)).not.toContain("export.tif");
  });
});

describe("writeGeoTiff", () => {
  const grid = { northDeg: 10, westDeg: 190, cellSizeLatDeg: 0.5, cellSizeLonDeg: 0.25, rowCount: 3, columnCount: 2 };

  test("writes longitudes of 180 and more as those west of it, and texts with special characters", async () => {
    async function* strips() {
      yield Float32Array.of(1, 2, 3, 4);
      yield Float32Array.of(5, NaN);
    }
    const options = { grid, rowsPerStrip: 2, unit: "m/s", description: 'a<b & "c"', texts: {} };
    await writeGeoTiff(file, options, strips());
    const { raster, values } = await readExport();
    expect(raster.grid.westDeg).toBe(-170);
    expect(values).toEqual(Float32Array.of(1, 2, 3, 4, 5, NaN));
    expect((await readFile(file)).toString("latin1")).toContain("a&amp;lt;b &amp;amp; &amp;quot;c&amp;quot;");
  });

  test("leaves no file if the values cannot be read", async () => {
    async function* strips(): AsyncGenerator<Float32Array> {
      yield Float32Array.of(1, 2, 3, 4);
      throw new Error("damaged");
    }
    const options = { grid, rowsPerStrip: 2, unit: "m", description: "", texts: {} };
    await expect(writeGeoTiff(file, options, strips())).rejects.toThrow("damaged");
    expect(await readdir(folder)).not.toContain("export.tif");
  });
});
