import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openGeoTiff } from "../../../src/ingest/readers/geotiff/geotiff.ts";
import { expandSamples } from "../../../src/ingest/readers/geotiff/decoders.ts";
import { type GeoTiffSpec, makeGeoTiff } from "../makeGeoTiff.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "isotherm-packed-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const PLAIN: GeoTiffSpec = {
  rowCount: 3,
  columnCount: 4,
  type: "uint8",
  values: Array.from({ length: 12 }, (_, i) => i),
  tiePoint: [10, 50],
  pixelScale: [2, 1],
};

async function read(spec: Partial<GeoTiffSpec>, band = 1): Promise<readonly number[]> {
  const file = join(folder, "map.tif");
  await writeFile(file, makeGeoTiff({ ...PLAIN, ...spec }));
  const raster = await openGeoTiff(file);
  try {
    return Array.from(await raster.readWindow({ band, firstRow: 0, rowCount: 3, firstColumn: 0, columnCount: 4 }));
  } finally {
    await raster.close();
  }
}

/** Returns the samples of a row that has one band. */
function expanded(storedBits: number, bits: 8 | 16 | 32, columnCount: number, bytes: readonly number[]): number[] {
  const layout = {
    storedBits,
    format: { kind: "unsigned", bits },
    blockColumnCount: columnCount,
    samplesPerCell: 1,
  } as const;
  const result = expandSamples(Uint8Array.from(bytes), layout);
  const numbers = { 8: Uint8Array, 16: Uint16Array, 32: Uint32Array }[bits];
  return Array.from(new numbers(new Uint8Array(result).buffer));
}

describe("samples that do not fill whole bytes", () => {
  test.each([
    [1, 8, 10, [0b10110000, 0b01000000], [1, 0, 1, 1, 0, 0, 0, 0, 0, 1]],
    [3, 8, 3, [0b11100010, 0b10000000], [7, 0, 5]],
    [12, 16, 3, [0x12, 0x3a, 0xbc, 0xff, 0xf0], [0x123, 0xabc, 0xfff]],
    [31, 32, 2, [0xff, 0xff, 0xff, 0xfe, 0, 0, 0, 4], [0x7fffffff, 1]],
  ] as const)("of %d bits follow each other from the most significant bit", (stored, bits, count, bytes, values) => {
    expect(expanded(stored, bits, count, bytes)).toEqual(values);
  });

  test("begin at a whole byte in each row, and an incomplete row is left out", () => {
    expect(expanded(4, 8, 3, [0x12, 0x30, 0x45, 0x60, 0x78])).toEqual([1, 2, 3, 4, 5, 6]);
  });

  test("are limited by the size of a block after they are expanded", async () => {
    const ofRows = (rowCount: number): Partial<GeoTiffSpec> => ({
      sparseStrips: [0],
      pixelScale: [1e-3, 1e-3],
      shortTags: { 256: [10_000], 257: [rowCount], 278: [rowCount], 258: [1] },
    });
    expect(await read(ofRows(6710))).toEqual(Array.from({ length: 12 }, () => 0));
    // The 67,120,000 cells have 8,390,000 bytes in the file.
    await expect(read(ofRows(6712))).rejects.toThrow(
      /6712 rows and 10000 columns have 67120000 bytes each; the limit is 67108864/,
    );
  });

  test("are read from a file", async () => {
    expect(await read({ shortTags: { 258: [4] } })).toEqual([0, 0, 0, 1, 0, 2, 0, 3, 0, 4, 0, 5]);
    expect(await read({ shortTags: { 258: [4] }, nodata: "5" })).toEqual([0, 0, 0, 1, 0, 2, 0, 3, 0, 4, 0, NaN]);
  });

  test.each([
    ["24 bits", { 258: [24] }, {}, /unsigned integers of 24 bits/],
    ["signed integers", { 258: [4], 339: [2] }, {}, /integers of 4 bits/],
    ["a predictor", { 258: [12], 317: [2] }, { compression: 8 }, /predictor 2 for 12-bit unsigned values/],
    ["LERC", { 258: [12] }, { compression: 34_887 }, /samples of 12 bits with LERC/],
  ] as const)("are rejected with %s", async (_, shortTags, more, message) => {
    await expect(read({ shortTags, ...more })).rejects.toThrow(message);
  });
});

describe("NODATA_VALUES", () => {
  const metadata = (text: string): string => `<GDALMetadata><Item name="NODATA_VALUES">${text}</Item></GDALMetadata>`;

  test("mark cells in which every band has its number", async () => {
    const values = [1, 2, 1, 3, 4, 2, 1, 2, ...Array.from({ length: 16 }, () => 7)];
    const spec = { bandCount: 2, values, metadata: metadata("1 2") };
    expect((await read(spec)).slice(0, 4)).toEqual([NaN, 1, 4, NaN]);
    expect((await read(spec, 2)).slice(0, 4)).toEqual([NaN, 3, 2, NaN]);
  });

  test.each([
    ["3", { nodata: "3" }, [3]],
    ["3", {}, [3]],
  ])("of %s with %j mark the cells of one band", async (text, more, missing) => {
    expect(await read({ metadata: metadata(text), ...more })).toEqual(
      (PLAIN.values as number[]).map((value) => (missing.includes(value) ? NaN : value)),
    );
  });

  test.each([
    ["1 2", {}, /2 NODATA_VALUES for 1 bands/],
    ["-1", {}, /NODATA_VALUES -1, which its numbers cannot represent/],
    ["0.5", {}, /NODATA_VALUES 0\.5, which its numbers cannot represent/],
    ["3", { nodata: "4" }, /the nodata value 4 and NODATA_VALUES \(3\)/],
    ["3", { bandCount: 2, values: new Uint8Array(24), shortTags: { 338: [2] } }, /an alpha band and NODATA_VALUES/],
  ])("of %s with %j are rejected", async (text, more, message) => {
    await expect(read({ metadata: metadata(text), ...more })).rejects.toThrow(message);
  });
});
