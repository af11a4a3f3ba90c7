import { randomUUID } from "node:crypto";
import { cp, mkdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { isFault } from "../../../src/errors.ts";
import type { Raster, RasterOptions } from "../../../src/ingest/raster.ts";
import { MapFiles } from "../../../src/ingest/readers/mapFiles.ts";
import type { Grid } from "../../../src/kernel/grid.ts";
import { randomFrom } from "../../seededRandom.ts";
import { makeGeoTiff } from "../makeGeoTiff.ts";

/** Files written by writeArrayFixtures.py, and the values of their maps by return period. */
const FIXTURES = fileURLToPath(new URL("../../fixtures/arrays/", import.meta.url));
const { grid, maps: values } = JSON.parse(await readFile(join(FIXTURES, "maps.json"), "utf8")) as {
  readonly grid: Grid;
  readonly maps: Readonly<Record<string, readonly (number | null)[]>>;
};
const folder = join(tmpdir(), `isotherm-contract-${randomUUID()}`);
const expectedValues = (values["100"] ?? []).map((value) => value ?? NaN);

interface ContractFile {
  readonly format: string;
  /** Path in the fixture folder, or in the temporary folder for the GeoTIFF, which is written there. */
  readonly name: string;
  readonly options: RasterOptions;
  /** The file or folder that is copied and damaged. */
  readonly stored?: string;
}

const select = { return_period: 100 };
const FILES: readonly ContractFile[] = [
  { format: "GeoTIFF", name: "map.tif", options: {} },
  { format: "NetCDF-4", name: "netcdf4.nc", options: { select } },
  { format: "NetCDF-3 from south to north", name: "netcdf3.nc", options: { select } },
  { format: "HDF5", name: "hdf5.h5", options: { select } },
  { format: "Zarr", name: "zarr2.zarr", options: { select }, stored: "zarr2.zarr/depth/1.0.1" },
  { format: "NetCDF-4 in a zip archive", name: "maps.zip/maps/netcdf4.nc", options: { select }, stored: "maps.zip" },
  { format: "NetCDF-3 in a zip archive", name: "maps.zip/maps/netcdf3.nc", options: { select }, stored: "maps.zip" },
  { format: "Zarr in a zip archive", name: "maps.zip/zarr2.zarr", options: { select }, stored: "maps.zip" },
];

beforeAll(async () => {
  await mkdir(folder, { recursive: true });
  await cp(FIXTURES, folder, { recursive: true });
  const { rowCount, columnCount, westDeg, northDeg, cellSizeLonDeg, cellSizeLatDeg } = grid;
  const bytes = makeGeoTiff({
    rowCount,
    columnCount,
    tiePoint: [westDeg, northDeg],
    pixelScale: [cellSizeLonDeg, cellSizeLatDeg],
    nodata: "-9999",
    metadata: `<GDALMetadata><Item name="UNITTYPE" sample="0" role="unittype">m</Item></GDALMetadata>`,
    rowsPerStrip: 5,
    values: (values["100"] ?? []).map((value) => value ?? -9999),
  });
  await writeFile(join(folder, "map.tif"), bytes);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describe.each(FILES)("$format", ({ name, options, stored = name }) => {
  const maps = new MapFiles();
  afterAll(() => maps.close());
  const open = (more: RasterOptions = {}): Promise<Raster> => maps.open(join(folder, name), { ...options, ...more });
  /** The map, opened once, because opening some formats takes long. */
  let raster: Raster;
  beforeAll(async () => {
    raster = await open();
  });
  const whole = { band: 1, firstRow: 0, rowCount: grid.rowCount, firstColumn: 0, columnCount: grid.columnCount };

  test("describes grid, coordinate system and band", async () => {
    for (const [member, expected] of Object.entries(grid) as [keyof Grid, number][]) {
      expect(raster.grid[member], member).toBeCloseTo(expected, 9);
    }
    expect(raster.file).toBe(join(folder, name));
    expect(raster.crs).toMatch(/WGS 84|EPSG:4326/);
    expect(raster.bands).toHaveLength(1);
    const hasSelection = options.select !== undefined;
    expect(raster.bands[0]).toEqual({
      name: hasSelection ? "depth" : undefined,
      type: "float32",
      nodata: [-9999],
      scale: 1,
      offset: 0,
      unit: "m",
      coordinates: hasSelection ? { return_period: 100 } : {},
    });
    expect(raster.blockRowCount).toBeGreaterThanOrEqual(1);
    expect(raster.blockColumnCount).toBeGreaterThanOrEqual(1);
  });

  test("reads missing cells as NaN and dry cells as 0", async () => {
    const read = await raster.readWindow(whole);
    expect(Array.from(read)).toEqual(expectedValues);
    expect(expectedValues).toContain(0);
    expect(expectedValues.some(Number.isNaN)).toBe(true);
  });

  test("every window equals that part of the whole, also if windows are read at the same time", async () => {
    const random = randomFrom(5);
    const windows = Array.from({ length: 30 }, () => {
      const firstRow = random.below(grid.rowCount);
      const firstColumn = random.below(grid.columnCount);
      return {
        band: 1,
        firstRow,
        firstColumn,
        rowCount: 1 + random.below(grid.rowCount - firstRow),
        columnCount: 1 + random.below(grid.columnCount - firstColumn),
      };
    });
    const read = await Promise.all(windows.map((window) => raster.readWindow(window)));
    for (const [i, { firstRow, firstColumn, rowCount, columnCount }] of windows.entries()) {
      const part = Array.from({ length: rowCount }, (_, row) => {
        const start = (firstRow + row) * grid.columnCount + firstColumn;
        return expectedValues.slice(start, start + columnCount);
      }).flat();
      expect(Array.from(read[i] ?? [])).toEqual(part);
    }
  });

  test("another thread can open the map from its description", async () => {
    const remapped = await open({ nodata: [0] });
    const spec = structuredClone(remapped.spec);
    const values = Array.from(await remapped.readWindow(whole));
    const otherMaps = new MapFiles();
    const opened = await otherMaps.openSpec(spec);
    expect(await otherMaps.openSpec(structuredClone(spec))).toBe(opened);
    expect(opened.file).toBe(remapped.file);
    expect(opened.spec).toEqual(spec);
    expect(opened.grid).toEqual(remapped.grid);
    expect(Array.from(await opened.readWindow(whole))).toEqual(values);
    await otherMaps.close();
    const reason = new Error("stopped");
    const stopped = new MapFiles({ signal: AbortSignal.abort(reason) });
    await expect(stopped.openSpec(spec)).rejects.toBe(reason);
  });

  test("applies nodata values of the user and records them", async () => {
    const remapped = await open({ nodata: [0] });
    expect(Array.from(await remapped.readWindow(whole))).toEqual(
      expectedValues.map((value) => (value === 0 ? NaN : value)),
    );
    expect(remapped.notes["extra_nodata"]).toEqual([0]);
  });

  test.each([
    { ...whole, rowCount: grid.rowCount + 1 },
    { ...whole, firstColumn: 1 },
    { ...whole, firstRow: -1 },
    { ...whole, band: 2 },
    { ...whole, band: NaN },
    { ...whole, rowCount: 0 },
  ])("rejects a window outside the map: %j", async (window) => {
    await expect((async () => raster.readWindow(window))()).rejects.toThrow(/outside 12 x 20 cells/);
  });

  test("stops with the abort reason of the signal", async () => {
    const reason = new Error("stopped");
    await expect(new MapFiles({ signal: AbortSignal.abort(reason) }).open(join(folder, name), options)).rejects.toBe(
      reason,
    );
    const stopping = new AbortController();
    const stoppable = new MapFiles({ signal: stopping.signal });
    const stopped = await stoppable.open(join(folder, name), options);
    stopping.abort(reason);
    await expect((async () => stopped.readWindow(whole))()).rejects.toBe(reason);
    await stoppable.close();
  });

  test("a truncated file is rejected with its name, or read correctly", async () => {
    const bytes = await readFile(join(folder, stored));
    const { size } = await stat(join(folder, stored));
    const copy = join(folder, randomUUID());
    await cp(FIXTURES, copy, { recursive: true });
    await cp(join(folder, "map.tif"), join(copy, "map.tif"));
    let rejectedCount = 0;
    for (const share of [0, 0.01, 0.2, 0.5, 0.8, 0.95, 0.999]) {
      await writeFile(join(copy, stored), bytes.subarray(0, Math.floor(share * size)));
      const damaged = new MapFiles();
      try {
        const opened = await damaged.open(join(copy, name), options);
        expect(Array.from(await opened.readWindow(whole)), `at ${share}`).toEqual(expectedValues);
      } catch (error) {
        if (!isFault(error, "source_invalid")) throw error;
        expect(error.message).toContain(copy);
        rejectedCount++;
      } finally {
        await damaged.close();
      }
    }
    expect(rejectedCount).toBeGreaterThanOrEqual(5);
    await rm(copy, { recursive: true });
  });
});

test.each(["none.nc", "maps.zip/none.nc", "zarr2.zarr/none"])(
  "rejects the missing file %s with its name",
  async (name) => {
    const maps = new MapFiles();
    await expect(maps.open(join(folder, name))).rejects.toThrow(join(folder, name));
    await maps.close();
  },
);

test("lists the maps of an archive if its path names none of them", async () => {
  const maps = new MapFiles();
  await expect(maps.open(join(folder, "maps.zip"))).rejects.toThrow(
    /several maps; append the name.*maps\/netcdf3\.nc, maps\/netcdf4\.nc, zarr2\.zarr/,
  );
  await maps.close();
});

test("rejects a variable for a file with bands", async () => {
  const maps = new MapFiles();
  await expect(maps.open(join(folder, "map.tif"), { variable: "depth" })).rejects.toThrow(/bands: give band.*variable/);
  await maps.close();
});
