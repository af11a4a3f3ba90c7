import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { isFault } from "../../../src/errors.ts";
import { openGeoTiff, openStoredGeoTiff } from "../../../src/ingest/readers/geotiff/geotiff.ts";
import type { RasterOptions } from "../../../src/ingest/raster.ts";
import { type GeoTiffSpec, makeGeoTiff } from "../makeGeoTiff.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "isotherm-geotiff-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** 3 x 4 cells of 2 x 1 degrees (longitude x latitude), values 0 to 11, from latitude 50, longitude 10. */
const PLAIN: GeoTiffSpec = {
  rowCount: 3,
  columnCount: 4,
  values: Array.from({ length: 12 }, (_, i) => i),
  tiePoint: [10, 50],
  pixelScale: [2, 1],
};

let fileCount = 0;
async function writeMap(bytes: Uint8Array): Promise<string> {
  const file = join(folder, `map${fileCount++}.tif`);
  await writeFile(file, bytes);
  return file;
}

async function readAll(spec: GeoTiffSpec, options: RasterOptions = {}, band = 1) {
  const raster = await openGeoTiff(await writeMap(makeGeoTiff(spec)), options);
  try {
    const { rowCount, columnCount } = raster.grid;
    const values = await raster.readWindow({ band, firstRow: 0, rowCount, firstColumn: 0, columnCount });
    return { raster, grid: raster.grid, values: Array.from(values) };
  } finally {
    await raster.close();
  }
}

/** Returns the message with which a file is rejected; it must name the file. */
async function rejectionMessage(bytes: Uint8Array, options: RasterOptions = {}): Promise<string> {
  const file = await writeMap(bytes);
  const error = await readWhole(file, options).then(
    () => new Error("The file was not rejected."),
    (reason: unknown) => reason,
  );
  if (!isFault(error, "source_invalid")) throw error;
  expect(error.message).toContain(file);
  expect(error.details["file"]).toBe(file);
  return error.message;
}

async function readWhole(file: string, options: RasterOptions): Promise<void> {
  const raster = await openGeoTiff(file, options);
  const { rowCount, columnCount } = raster.grid;
  try {
    await raster.readWindow({ band: 1, firstRow: 0, rowCount, firstColumn: 0, columnCount });
  } finally {
    await raster.close();
  }
}

const GRID = { northDeg: 50, westDeg: 10, cellSizeLatDeg: 1, cellSizeLonDeg: 2, rowCount: 3, columnCount: 4 };
/** The transformation matrix of that grid with rows from south to north. */
const SOUTH_UP = [2, 0, 0, 10, 0, 1, 0, 47, 0, 0, 0, 0, 0, 0, 0, 1];
const FLIPPED = [8, 9, 10, 11, 4, 5, 6, 7, 0, 1, 2, 3];

describe("georeference", () => {
  test("reads a north-up grid with cell edges", async () => {
    const { grid, values } = await readAll(PLAIN);
    expect(grid).toEqual(GRID);
    expect(values).toEqual(PLAIN.values);
  });

  test("uses a PixelIsPoint tie point as the center of the first cell", async () => {
    const { grid } = await readAll({ ...PLAIN, tiePoint: [11, 49.5], pixelIsPoint: true });
    expect(grid).toEqual(GRID);
  });

  test("reads a tie point that is not at the first cell", async () => {
    const { grid } = await readAll({ ...PLAIN, tiePoint: [14, 48.5], tiePointCell: [2, 1.5] });
    expect(grid).toEqual(GRID);
  });

  test("reads a transformation matrix like a tie point and a pixel scale", async () => {
    const matrix = [2, 0, 0, 10, 0, -1, 0, 50, 0, 0, 0, 0, 0, 0, 0, 1];
    expect((await readAll({ ...PLAIN, matrix })).grid).toEqual(GRID);
  });

  test("flips south-up maps, with either registration", async () => {
    const area = await readAll({ ...PLAIN, matrix: SOUTH_UP });
    expect(area.grid).toEqual(GRID);
    expect(area.values).toEqual(FLIPPED);
    const atCenters = SOUTH_UP.map((number, index) => (index === 3 ? 11 : index === 7 ? 47.5 : number));
    const point = await readAll({ ...PLAIN, matrix: atCenters, pixelIsPoint: true });
    expect(point.grid).toEqual(GRID);
    expect(point.values).toEqual(FLIPPED);
  });

  test("rejects a negative scale of rows, which GDAL reads as north-up", async () => {
    const message = await rejectionMessage(makeGeoTiff({ ...PLAIN, tiePoint: [10, 47], pixelScale: [2, -1] }));
    expect(message).toMatch(/negative scale of rows.*GTIFF_HONOUR_NEGATIVE_SCALEY/);
  });

  test("reads windows of a flipped map across strips", async () => {
    const spec = { ...PLAIN, matrix: SOUTH_UP, rowsPerStrip: 2 };
    const raster = await openGeoTiff(await writeMap(makeGeoTiff(spec)));
    try {
      const values = await raster.readWindow({ band: 1, firstRow: 1, rowCount: 2, firstColumn: 1, columnCount: 2 });
      expect(Array.from(values)).toEqual([5, 6, 1, 2]);
    } finally {
      await raster.close();
    }
  });
});

describe("a world map with a repeated meridian", () => {
  const row = Array.from({ length: 37 }, (_, column) => column % 36);
  const world = (values: readonly number[]): GeoTiffSpec => ({
    rowCount: 2,
    columnCount: 37,
    values,
    tiePoint: [-185, 10],
    pixelScale: [10, 10],
  });

  test("is read without the repeated column", async () => {
    const { grid, values } = await readAll(world([...row, ...row]));
    expect(grid).toMatchObject({ columnCount: 36, westDeg: -185 });
    expect(values).toEqual([...row.slice(0, 36), ...row.slice(0, 36)]);
  });

  test("merges two columns that each have a part of the meridian", async () => {
    const { values } = await readAll(world([NaN, ...row.slice(1, 36), 5, 6, ...row.slice(1, 36), NaN]));
    expect([values[0], values[36]]).toEqual([5, 6]);
  });

  test("merges the columns in a partial window", async () => {
    const raster = await openGeoTiff(await writeMap(makeGeoTiff(world([NaN, ...row.slice(1, 36), 5, ...row]))));
    try {
      const values = await raster.readWindow({ band: 1, firstRow: 0, rowCount: 2, firstColumn: 0, columnCount: 3 });
      expect(Array.from(values)).toEqual([5, 1, 2, 0, 1, 2]);
    } finally {
      await raster.close();
    }
  });

  test("is rejected if the columns differ, and the message names the option", async () => {
    const message = await rejectionMessage(makeGeoTiff(world([...row, ...row.slice(0, 36), 7])));
    expect(message).toMatch(/row 1 the last column \(7\) contradicts the first \(0\)/);
    expect(message).toContain("--keep-meridian west");
  });

  test.each([
    ["west", 3],
    ["east", 7],
  ] as const)("keeps the %s column if the option selects it", async (keepMeridian, kept) => {
    const first = [NaN, ...row.slice(1, 36), 5];
    const second = [3, ...row.slice(1, 36), 7];
    const { raster, values } = await readAll(world([...first, ...second]), { keepMeridian });
    expect([values[0], values[36]]).toEqual([5, kept]);
    expect(values.slice(37, 72)).toEqual(row.slice(1, 36));
    expect(raster.notes["kept_meridian"]).toBe(`the ${keepMeridian} column if the two differ`);

    const part = await openGeoTiff(await writeMap(makeGeoTiff(world([...first, ...second]))), { keepMeridian });
    try {
      const read = await part.readWindow({ band: 1, firstRow: 0, rowCount: 2, firstColumn: 0, columnCount: 2 });
      expect(Array.from(read)).toEqual([5, 1, kept, 1]);
    } finally {
      await part.close();
    }
  });

  test("needs no option if the columns agree", async () => {
    const { raster } = await readAll(world([...row, ...row]));
    expect(raster.notes).not.toHaveProperty("kept_meridian");
  });
});

describe("missing values", () => {
  test("are the declared nodata, the nodata of the options, and NaN", async () => {
    const values = [0, -9999, 2, NaN, 4, 5, -999900, 7, 8, 9, 10, -9998];
    const { values: read } = await readAll({ ...PLAIN, values, nodata: "-9999" }, { nodata: [-999900] });
    expect(read).toEqual([0, NaN, 2, NaN, 4, 5, NaN, 7, 8, 9, 10, -9998]);
  });

  test("are compared with nodata rounded to 32 bits in float32 files", async () => {
    const values = [...Array.from(PLAIN.values).slice(1), -3.4028234663852886e38];
    const { values: read } = await readAll({ ...PLAIN, values, nodata: "-3.40282346638529e+38" });
    expect(read[11]).toBeNaN();
  });

  test("are recognized in float64 and integer files, and other values stay exact", async () => {
    const values = Array.from(PLAIN.values, (value) => value + 0.1);
    expect((await readAll({ ...PLAIN, values, type: "float64" })).values).toEqual(values);
    const large = Array.from(PLAIN.values, (value) => 16_777_217 + value);
    expect((await readAll({ ...PLAIN, values: large, type: "int32" })).values).toEqual(large);
    expect((await readAll({ ...PLAIN, type: "uint8", nodata: "3" })).values[3]).toBeNaN();
  });

  test("include omitted strips if the file declares nodata; otherwise omitted strips are zero", async () => {
    const spec = { ...PLAIN, rowsPerStrip: 1, sparseStrips: [1] };
    for (const nodata of ["-9999", "nan"]) {
      const { values } = await readAll({ ...spec, nodata });
      expect(values.slice(4, 8)).toEqual([NaN, NaN, NaN, NaN]);
      expect(values.slice(8)).toEqual([8, 9, 10, 11]);
    }
    expect((await readAll(spec)).values.slice(4, 8)).toEqual([0, 0, 0, 0]);
  });

  test("do not include strips of 0 bytes at an offset, which are rejected as damaged", async () => {
    for (const nodata of ["-9999", undefined]) {
      const spec = { ...PLAIN, rowsPerStrip: 1, emptyStrips: [1], ...(nodata === undefined ? {} : { nodata }) };
      expect(await rejectionMessage(makeGeoTiff(spec))).toMatch(/damaged at band 1, rows 0 to 2.*0 bytes at byte \d+/);
    }
  });

  test("are correct in windows that are read concurrently", async () => {
    const rowCount = 3000;
    const values = Array.from({ length: 4 * rowCount }, (_, cell) => Math.floor(cell / 4));
    const sparseStrips = Array.from({ length: rowCount / 3 }, (_, i) => 3 * i);
    const spec = {
      ...PLAIN,
      rowCount,
      values,
      rowsPerStrip: 1,
      sparseStrips,
      pixelScale: [1e-3, 1e-3],
      nodata: "-9999",
    } as const;
    const raster = await openGeoTiff(await writeMap(makeGeoTiff(spec)));
    try {
      const windows = Array.from({ length: 30 }, (_, i) => ({ firstRow: ((i * 7) % 30) * 100, rowCount: 100 }));
      const read = await Promise.all(
        windows.map((rows) => raster.readWindow({ band: 1, ...rows, firstColumn: 1, columnCount: 1 })),
      );
      const expected = windows.map(({ firstRow }) =>
        Array.from({ length: 100 }, (_, i) => ((firstRow + i) % 3 === 0 ? NaN : firstRow + i)),
      );
      expect(read.map((part) => Array.from(part))).toEqual(expected);
    } finally {
      await raster.close();
    }
  });

  test("are read from the requested band", async () => {
    const values = Array.from(PLAIN.values).flatMap((value) => [value, 100 + value]);
    const spec = { ...PLAIN, values, bandCount: 2 };
    expect((await readAll(spec, {}, 2)).values).toEqual(Array.from(PLAIN.values, (value) => 100 + value));
    expect((await readAll(spec, {}, 1)).values).toEqual(PLAIN.values);
  });
});

describe("coordinate systems", () => {
  test.each([
    ["a system without code or ellipsoid", { 2048: 32767, 2050: 32767 }, /user-defined datum without an ellipsoid/],
    ["the datum NAD27", { 2048: 4267 }, /EPSG:4267, whose transformation to WGS84 is not known/],
    ["a projection without parameters", { 1024: 1, 3072: 32767 }, /with no projection/],
    ["geocentric coordinates", { 1024: 3 }, /model type 3/],
    ["a model that is not defined", { 1024: 32767 }, /model type 32767/],
    ["coordinates in grads", { 2054: 9105 }, /another unit than degrees/],
    ["the meridian of Paris", { 2051: 8903 }, /prime meridian other than Greenwich/],
  ])("rejects %s and names the accepted system", async (_, geoKeys, expected) => {
    const message = await rejectionMessage(makeGeoTiff({ ...PLAIN, geoKeys }));
    expect(message).toMatch(expected);
    expect(message).toContain("gdalwarp -t_srs EPSG:4326");
  });

  test("uses coordinates on NAD83 as WGS84, and states the accuracy", async () => {
    const raster = await openGeoTiff(await writeMap(makeGeoTiff({ ...PLAIN, geoKeys: { 2048: 4269 } })));
    expect(raster.grid).toEqual(GRID);
    expect(raster.notes["datum"]).toMatch(/NAD83, used as WGS 84 .* within 4 m/);
    await raster.close();
  });

  test("opens a projected map with its grid in meters", async () => {
    const file = await writeMap(makeGeoTiff({ ...PLAIN, geoKeys: { 1024: 1, 3072: 32633 } }));
    const raster = await openStoredGeoTiff(file);
    const { westDeg, northDeg, cellSizeLatDeg, cellSizeLonDeg, ...size } = GRID;
    const plane = { westX: westDeg, northY: northDeg, cellWidth: cellSizeLonDeg, cellHeight: cellSizeLatDeg, ...size };
    expect(raster).toMatchObject({ plane, projectedCrs: { method: "tmerc", parameters: { lon_0: 15 } } });
    await raster.close();
    await expect(openGeoTiff(file)).rejects.toThrow(/projected.*EPSG:32633.*EPSG:4326/);
  });

  test("rejects a missing system unless assumeWgs84 is set and the numbers are plausible degrees", async () => {
    const bytes = makeGeoTiff({ ...PLAIN, geoKeys: null });
    expect(await rejectionMessage(bytes)).toMatch(/no coordinate system.*--assume-wgs84/s);
    expect((await readAll({ ...PLAIN, geoKeys: null }, { assumeWgs84: true })).grid).toEqual(GRID);
    const meters = makeGeoTiff({ ...PLAIN, geoKeys: null, tiePoint: [500_000, 4_000_000] });
    expect(await rejectionMessage(meters, { assumeWgs84: true })).toMatch(/no coordinate system/);
  });
});

describe("rejected files", () => {
  test.each([
    [
      "GeoKeys without a model type",
      makeGeoTiff({ ...PLAIN, shortTags: { 34735: [1, 1, 0, 2, 1025, 0, 1, 1, 2048, 0, 1, 4326] } }),
      /no GTModelTypeGeoKey/,
    ],
    [
      "GeoKeys of another version",
      makeGeoTiff({ ...PLAIN, shortTags: { 34735: [2, 1, 0, 1, 1024, 0, 1, 2] } }),
      /GeoKey directory has version 2/,
    ],
    [
      "GeoKeys with missing values",
      makeGeoTiff({ ...PLAIN, shortTags: { 34735: [1, 1, 0, 2, 1024, 0, 1, 2, 2057, 34736, 1, 0] } }),
      /refers to values of key 2057 that the file does not have/,
    ],
    [
      "fewer GeoKeys than stated",
      makeGeoTiff({ ...PLAIN, shortTags: { 34735: [1, 1, 0, 9, 1024, 0, 1, 2] } }),
      /too few for 9 keys/,
    ],
    [
      "a GeoKey twice",
      makeGeoTiff({ ...PLAIN, shortTags: { 34735: [1, 1, 0, 2, 1024, 0, 1, 2, 1024, 0, 1, 1] } }),
      /the key 1024 twice/,
    ],
    ["a text file", Buffer.from("not a map at all"), /is not a GeoTIFF/],
    ["an empty file", Buffer.alloc(0), /is not a GeoTIFF/],
    ["a header without a directory", makeGeoTiff(PLAIN).subarray(0, 8), /damaged or truncated/],
    ["a truncated directory", makeGeoTiff(PLAIN).subarray(0, 60), /damaged or truncated/],
    ["a big-endian file without a directory", Buffer.from("4d4d002a00000008", "hex"), /damaged or truncated/],
    [
      "a map without georeference",
      makeGeoTiff({ rowCount: 3, columnCount: 4, values: PLAIN.values }),
      /no georeference/,
    ],
    [
      "a rotated map",
      makeGeoTiff({ ...PLAIN, matrix: [2, 0.1, 0, 10, 0.1, -1, 0, 50, 0, 0, 0, 0, 0, 0, 0, 1] }),
      /rotated/,
    ],
    [
      "columns that run west",
      makeGeoTiff({ ...PLAIN, pixelScale: [-2, 1] }),
      /both must be finite, and the width above 0/,
    ],
    [
      "rows beyond the pole",
      makeGeoTiff({ ...PLAIN, tiePoint: [10, 95] }),
      /has an invalid grid: the centers of all rows must be between the poles/,
    ],
    ["a width above 360 degrees", makeGeoTiff({ ...PLAIN, pixelScale: [200, 1] }), /width must be at most 360 degrees/],
    ["LERC compression of other data", makeGeoTiff({ ...PLAIN, compression: 34887 }), /cannot be read at band 1/],
    ["rows in bottom-up order", makeGeoTiff({ ...PLAIN, shortTags: { 274: [4] } }), /orientation 4/],
    ["reversed bit order", makeGeoTiff({ ...PLAIN, shortTags: { 266: [2] } }), /fill order 2/],
    ["a predictor without compression", makeGeoTiff({ ...PLAIN, shortTags: { 317: [2] } }), /predictor 2/],
    ["an unknown predictor", makeGeoTiff({ ...PLAIN, compression: 8, shortTags: { 317: [7] } }), /predictor 7/],
    ["a CMYK image", makeGeoTiff({ ...PLAIN, shortTags: { 262: [5] } }), /photometric interpretation 5/],
    [
      "a file that starts with an overview",
      makeGeoTiff({ ...PLAIN, shortTags: { 254: [1] } }),
      /starts with an overview or a mask/,
    ],
    [
      "an alpha band of floats",
      makeGeoTiff({ ...PLAIN, shortTags: { 338: [2] } }),
      /1 is alpha. An alpha band is supported/,
    ],
    [
      "one offset for three strips",
      makeGeoTiff({ ...PLAIN, shortTags: { 278: [1] } }),
      /3 blocks, but it lists 1 offsets/,
    ],
    ["blocks without rows", makeGeoTiff({ ...PLAIN, shortTags: { 278: [0] } }), /both must be at least 1/],
    [
      "more bands than number formats",
      makeGeoTiff({ ...PLAIN, shortTags: { 277: [2] } }),
      /2 bands but BitsPerSample for 1/,
    ],
    [
      "an offset in metadata with single quotes",
      makeGeoTiff({
        ...PLAIN,
        metadata: "<GDALMetadata><Item sample='0' role='offset' name='OFFSET'>five</Item></GDALMetadata>",
      }),
      /band 1 declares an offset of "five"/,
    ],
    [
      "malformed metadata",
      makeGeoTiff({ ...PLAIN, metadata: "<GDALMetadata><Item>" }),
      /its GDAL metadata cannot be read \(/,
    ],
    ["an unknown compression", makeGeoTiff({ ...PLAIN, compression: 34925 }), /method 34925/],
    ["image compression", makeGeoTiff({ ...PLAIN, compression: 7 }), /method 7/],
    ["a nodata value that is a word", makeGeoTiff({ ...PLAIN, nodata: "none" }), /nodata value "none"/],
    [
      "a scale in metadata",
      makeGeoTiff({
        ...PLAIN,
        metadata: '<GDALMetadata><Item name="SCALE" sample="0" role="scale">0</Item></GDALMetadata>',
      }),
      /band 1 declares a scale of "0"/,
    ],
  ])("rejects %s", async (_, bytes, expected) => {
    expect(await rejectionMessage(bytes)).toMatch(expected);
  });

  test("rejects a file that is truncated in its values, and names the window", async () => {
    const bytes = makeGeoTiff({ ...PLAIN, rowsPerStrip: 1 });
    const message = await rejectionMessage(bytes.subarray(0, bytes.length - 5));
    expect(message).toMatch(/truncated at band 1, rows 0 to 2, columns 0 to 3/);
    expect(message).toContain(`end at byte ${bytes.length}, but the file ends at byte ${bytes.length - 5}`);
  });

  test("rejects a missing file", async () => {
    await expect(openGeoTiff(join(folder, "none.tif"))).rejects.toThrow(/none\.tif: cannot be opened/);
  });
});
