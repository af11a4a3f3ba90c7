/**
 * Reads damaged files with every reader: each must be rejected with its name, or read. `ISOTHERM_FUZZ_FILES` sets the number
 * of files of each reader (20,000 for a full run), `ISOTHERM_FUZZ_SEED` the start of the random numbers.
 */
import { randomUUID } from "node:crypto";
import { cp, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { isFault } from "../../../src/errors.ts";
import type { RasterOptions, RasterValues } from "../../../src/ingest/raster.ts";
import { MapFiles } from "../../../src/ingest/readers/mapFiles.ts";
import { randomFrom } from "../../seededRandom.ts";
import { makeGeoTiff } from "../makeGeoTiff.ts";
import { damage } from "./damage.ts";
import { writeZarr3 } from "./makeZarr3.ts";

const ARRAYS = fileURLToPath(new URL("../../fixtures/arrays/", import.meta.url));
const GDAL = fileURLToPath(new URL("../../fixtures/gdal/", import.meta.url));
const FILE_COUNT = Number(process.env["ISOTHERM_FUZZ_FILES"] ?? 120);
const SEED = Number(process.env["ISOTHERM_FUZZ_SEED"] ?? 20_261_122);
const FILE_SECONDS_MAX = 10;
/** Growth of resident memory over a whole run; the WebAssembly memory of h5wasm is never returned. */
const GROWTH_BYTES_MAX = 700 << 20;
const folder = join(tmpdir(), `isotherm-fuzz-${randomUUID()}`);

/** A map, and the files of which one is damaged. */
interface FuzzedMap {
  readonly name: string;
  readonly damaged: readonly string[];
  readonly options: RasterOptions;
}

/** GeoTIFF files of every kind of encoding and of missing cells. */
const GEOTIFFS = [
  "DEFLATE-p3-Float64-strips",
  "LZW-p2-UInt16-tiles",
  "ZSTD-p3-Float32-tiles",
  "PACKBITS-p1-Int16-strips",
  "bands-PIXEL-ZSTD-p1-strips",
  "be-bands-PIXEL-p2-Int64-YES",
  "be-many-strips-bigtiff",
  "be-DEFLATE-p3-Float64",
  "LERC-bands-PIXEL-Int16-all",
  "LERC-kinds-LERC_DEFLATE-Float64-tiles",
  "LERC-mask-no-nodata",
  "alpha-UInt16-full-BAND-tiles",
  "mask-internal-tiles-ZSTD-Int16",
  "scaled-Int16-0.001--1.5",
  "sparse-deflate",
  "nbits12-UInt16-DEFLATE",
  "nbits4-bands-LZW-PIXEL-tiles-LITTLE",
  "nodata-values-Int16-tiles-PIXEL",
] as const;
const select = { return_period: 100 };
const ZARR2 = ["depth/.zarray", "depth/.zattrs", "depth/1.0.0", "depth/1.1.1", "lat/.zarray", "lat/0", "lon/0"];
const ZARR3 = [
  "zarr.json",
  "depth/zarr.json",
  "depth/c/0/0",
  "sharded/zarr.json",
  "sharded/c/0/0",
  "lat/zarr.json",
  "lat/c/0",
];

const READERS: Readonly<Record<string, readonly FuzzedMap[]>> = {
  GeoTIFF: [
    { name: "map.tif", damaged: ["map.tif"], options: {} },
    ...GEOTIFFS.map((name) => ({ name: `${name}.tif`, damaged: [`${name}.tif`], options: {} })),
    { name: "mask-file-planar.tif", damaged: ["mask-file-planar.tif.msk"], options: {} },
    { name: "aux-scale.tif", damaged: ["aux-scale.tif.aux.xml"], options: {} },
    {
      name: "aux-only-transform-and-srs.tif",
      damaged: ["aux-only-transform-and-srs.tif.aux.xml", "aux-only-transform-and-srs.tif"],
      options: {},
    },
  ],
  "NetCDF-3": [{ name: "netcdf3.nc", damaged: ["netcdf3.nc"], options: { variable: "depth", select } }],
  "NetCDF-4 and HDF5": [
    { name: "netcdf4.nc", damaged: ["netcdf4.nc"], options: { variable: "depth", select } },
    { name: "hdf5.h5", damaged: ["hdf5.h5"], options: { variable: "depth", select } },
  ],
  "Zarr version 2": [
    { name: "zarr2.zarr", damaged: ZARR2.map((key) => `zarr2.zarr/${key}`), options: { variable: "depth", select } },
  ],
  "Zarr version 3": ["depth", "sharded"].map((variable) => ({
    name: "zarr3.zarr",
    damaged: ZARR3.map((key) => `zarr3.zarr/${key}`),
    options: { variable },
  })),
  zip: [
    { name: "maps.zip/maps/netcdf3.nc", damaged: ["maps.zip"], options: { variable: "depth", select } },
    { name: "maps.zip/zarr2.zarr", damaged: ["maps.zip"], options: { variable: "depth", select } },
  ],
};

beforeAll(async () => {
  await mkdir(folder);
  await cp(ARRAYS, folder, { recursive: true });
  await cp(GDAL, folder, { recursive: true });
  const values = Array.from({ length: 240 }, (_, cell) => (cell % 7 === 0 ? -9999 : cell % 5));
  const spec = { rowCount: 12, columnCount: 20, tiePoint: [5, 50], pixelScale: [0.25, 0.25] } as const;
  await writeFile(join(folder, "map.tif"), makeGeoTiff({ ...spec, nodata: "-9999", rowsPerStrip: 5, values }));
  const grid = { northDeg: 50, westDeg: 5, cellSizeDeg: 0.25 };
  await writeZarr3(join(folder, "zarr3.zarr"), { values, rowCount: 12, columnCount: 20, grid });
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function readMap({ name, options }: FuzzedMap): Promise<RasterValues> {
  const maps = new MapFiles();
  try {
    const raster = await maps.open(join(folder, name), options);
    const rowCount = Math.min(raster.grid.rowCount, 64);
    const columnCount = Math.min(raster.grid.columnCount, 4096);
    const values = await raster.readWindow({ band: 1, firstRow: 0, rowCount, firstColumn: 0, columnCount });
    expect(values).toHaveLength(rowCount * columnCount);
    return values;
  } finally {
    await maps.close();
  }
}

function describe(error: unknown): string {
  return error instanceof Error ? String(error.stack).replaceAll(folder, "") : String(error);
}

test.each(Object.entries(READERS))(
  "%s: damaged files are rejected or read, in bounded time and memory",
  async (reader, maps) => {
    const random = randomFrom(SEED);
    const original = new Map<string, Uint8Array>();
    const expected = new Map<FuzzedMap, RasterValues>();
    for (const map of maps) {
      for (const path of map.damaged) original.set(path, await readFile(join(folder, path)));
      expected.set(map, await readMap(map));
    }
    const before = process.memoryUsage().rss;
    const outcomes = { rejected: 0, read: 0 };
    let slowestSeconds = 0;
    const unexpected: string[] = [];
    for (let i = 0; i < FILE_COUNT; i++) {
      const map = random.pick(maps);
      const path = random.pick(map.damaged);
      const bytes = original.get(path) ?? new Uint8Array(0);
      const damaged = damage(bytes, random);
      await writeFile(join(folder, path), damaged.bytes);
      const startedMs = performance.now();
      try {
        const values = await readMap(map);
        if (damaged.isTruncated) expect(values, `truncated file ${i} of ${path}`).toEqual(expected.get(map));
        outcomes.read++;
      } catch (error) {
        const isRejected = isFault(error, "source_invalid") && error.message.includes(folder);
        if (!isRejected || /undefined|\[object/.test(error.message))
          unexpected.push(`file ${i} of ${path}: ${describe(error)}`);
        outcomes.rejected++;
      }
      slowestSeconds = Math.max(slowestSeconds, (performance.now() - startedMs) / 1000);
      await writeFile(join(folder, path), bytes);
    }
    const growthBytes = process.memoryUsage().rss - before;
    console.log(
      `${reader}: ${JSON.stringify(outcomes)}, slowest ${slowestSeconds.toFixed(2)} s, growth ${growthBytes >> 20} MiB`,
    );
    expect(unexpected).toEqual([]);
    expect(outcomes.rejected).toBeGreaterThan(FILE_COUNT / 10);
    expect(slowestSeconds).toBeLessThan(FILE_SECONDS_MAX);
    expect(growthBytes).toBeLessThan(GROWTH_BYTES_MAX);
  },
  FILE_COUNT * 1000 + 60_000,
);
