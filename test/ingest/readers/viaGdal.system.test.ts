import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { MapFiles } from "../../../src/ingest/readers/mapFiles.ts";
import { describeWithGdal } from "./mapPython.ts";

const VALUES = [1, 2, 0, 4, -9999, 6];
const GRID = `ncols 3\nnrows 2\nxllcorner 10\nyllcorner 40\ncellsize 0.5\nNODATA_value -9999\n1 2 0\n4 -9999 6\n`;
const WGS84 =
  'GEOGCS["WGS 84",DATUM["WGS_1984",SPHEROID["WGS 84",6378137,298.257223563]],PRIMEM["Greenwich",0],UNIT["degree",0.0174532925199433],AUTHORITY["EPSG","4326"]]';
const WHOLE = { band: 1, firstRow: 0, rowCount: 2, firstColumn: 0, columnCount: 3 };

let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "isotherm-via-gdal-"));
  await writeFile(join(folder, "map.asc"), GRID);
  await writeFile(join(folder, "map.prj"), WGS84);
  await writeFile(join(folder, "noise.bin"), "not a map");
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("a map in a format without a reader", () => {
  test("is rejected with the option that converts it", async () => {
    await expect(new MapFiles().open(join(folder, "map.asc"))).rejects.toThrow(
      /map\.asc: is a format that is not recognized.*GeoTIFF, NetCDF, HDF5, Zarr.*--via-gdal/,
    );
  });

  describe("without GDAL on the PATH", () => {
    const { PATH } = process.env;
    beforeEach(() => {
      process.env["PATH"] = folder;
    });
    afterEach(() => {
      process.env["PATH"] = PATH;
    });

    test("is rejected with the command that installs GDAL", async () => {
      const maps = new MapFiles({ viaGdal: true });
      await expect(maps.open(join(folder, "map.asc"))).rejects.toMatchObject({
        code: "configuration_invalid",
        message: expect.stringMatching(/gdal_translate, which is not installed.*apt-get install gdal-bin/) as string,
      });
      await maps.close();
    });
  });
});

describeWithGdal("a map that GDAL converts", () => {
  const temporaryFolders = (): readonly string[] =>
    readdirSync(tmpdir()).filter((name) => name.startsWith("isotherm-maps-"));

  test("has the values and the grid of the source, and the version of GDAL in its notes", async () => {
    const before = temporaryFolders();
    const maps = new MapFiles({ viaGdal: true });
    const raster = await maps.open(join(folder, "map.asc"));
    expect(raster.file).toBe(join(folder, "map.asc"));
    expect(raster.grid).toEqual({
      northDeg: 41,
      westDeg: 10,
      cellSizeLatDeg: 0.5,
      cellSizeLonDeg: 0.5,
      rowCount: 2,
      columnCount: 3,
    });
    expect(Array.from(await raster.readWindow(WHOLE))).toEqual(VALUES.map((value) => (value === -9999 ? NaN : value)));
    expect(raster.notes).toMatchObject({
      converted_by: expect.stringMatching(/^GDAL \d/) as string,
      source_format: "AAIGrid",
    });
    await maps.close();
    expect(temporaryFolders()).toEqual(before);
  });

  test("may be GRIB, whose sphere is read as WGS84 only on request", async () => {
    const grib = join(folder, "map.grib2");
    execFileSync("gdal_translate", [
      "-q",
      "-of",
      "GRIB",
      "-ot",
      "Float32",
      "-a_nodata",
      "none",
      join(folder, "map.asc"),
      grib,
    ]);
    const text = execFileSync("gdal_translate", ["-q", "-of", "XYZ", grib, "/vsistdout/"]).toString();
    const expected = text
      .trim()
      .split("\n")
      .map((line) => Number(line.split(" ")[2]));
    expect(expected).toHaveLength(6);
    const maps = new MapFiles({ viaGdal: true });
    const raster = await maps.open(grib, { assumeWgs84: true, nodata: [-9999] });
    expect(raster.grid).toMatchObject({ rowCount: 2, columnCount: 3 });
    expect(raster.grid.westDeg).toBeCloseTo(10, 6);
    expect(raster.grid.northDeg).toBeCloseTo(41, 6);
    const read = await raster.readWindow(WHOLE);
    expect(Array.from(read)).toEqual(expected.map((value) => (value === -9999 ? NaN : value)));
    expect(raster.notes["source_format"]).toBe("GRIB");
    await maps.close();
    await expect(new MapFiles().open(grib)).rejects.toThrow(/is GRIB/);
  });

  test("is rejected with the reason of GDAL if it cannot read it", async () => {
    const maps = new MapFiles({ viaGdal: true });
    await expect(maps.open(join(folder, "noise.bin"))).rejects.toMatchObject({
      code: "source_invalid",
      message: expect.stringMatching(/noise\.bin: GDAL cannot convert it: .*not recognized/) as string,
    });
    await maps.close();
  });
});
