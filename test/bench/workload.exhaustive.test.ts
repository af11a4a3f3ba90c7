import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { fromArrayBuffer } from "geotiff";
import { writeGeoTiff } from "../../bench/geoTiff.ts";
import {
  QUERIED_LAYERS,
  QUERIED_METRICS,
  HAZARD,
  interleaveLayers,
  LAYER_COUNT,
  FloodMaps,
  STEPS_PER_UNIT,
} from "../../bench/floodMaps.ts";
import { generatePlaces, generatePoints, prepare, type WorkloadSpec } from "../../bench/workload.ts";
import { openAtlas } from "../../src/index.ts";
import { geodesicDistanceM } from "../../src/kernel/geodesy.ts";
import { cellCenter, type Grid } from "../../src/kernel/grid.ts";
import { Kernel } from "../../src/kernel/instance.ts";
import { STEPS_NODATA } from "../../src/kernel/kernel.generated.ts";
import { withTempFolder } from "../atlas/makeAtlas.ts";

const grid: Grid = {
  northDeg: 47.5,
  westDeg: 10,
  cellSizeLatDeg: 0.0089,
  cellSizeLonDeg: 0.0089,
  rowCount: 600,
  columnCount: 700,
};
const spec: WorkloadSpec = { name: "small", seed: 7, grid, places: { count: 200, townCount: 8 } };

/** Hashes cells for comparison, because expect would compare millions of cells one by one. */
function hashOf(cells: Uint16Array): string {
  return createHash("sha256")
    .update(new Uint8Array(cells.buffer, cells.byteOffset, cells.byteLength))
    .digest("hex");
}

/** geotiff.js requires an ArrayBuffer that holds nothing else. */
function openGeoTiff(bytes: Uint8Array) {
  return fromArrayBuffer(new Uint8Array(bytes).buffer);
}

/** u16[rowCount][columnCount][21] */
function cellsOf({ grid, seed }: Pick<WorkloadSpec, "grid" | "seed">): Uint16Array {
  return interleaveLayers(new FloodMaps({ grid, seed }).readBand({ firstRow: 0, rowCount: grid.rowCount }));
}

describe("the benchmark maps", () => {
  const cells = cellsOf(spec);
  const layers = QUERIED_LAYERS.map((_, layer) => cells.filter((_, at) => at % LAYER_COUNT === layer));

  test("have 7 (scenario, year) pairs with 3 metrics each", () => {
    expect(QUERIED_LAYERS).toHaveLength(21);
    expect(new Set(QUERIED_LAYERS.map((layer) => JSON.stringify(layer))).size).toBe(21);
    expect(STEPS_PER_UNIT.slice(0, 3)).toEqual([10_000, 1000, 60_000]);
  });

  test("are dry in 76 to 80 % of the cells and nodata in 2 to 7 %", () => {
    for (const layer of layers) {
      const share = (steps: number): number => layer.filter((value) => value === steps).length / layer.length;
      expect(share(0)).toBeGreaterThan(0.755);
      expect(share(0)).toBeLessThan(0.805);
      expect(share(STEPS_NODATA)).toBeGreaterThan(0.02);
      expect(share(STEPS_NODATA)).toBeLessThan(0.07);
    }
  });

  test("have contiguous areas of water and nodata: neighbors are nearly always of the same kind", () => {
    const kindOf = (steps: number): number => (steps === 0 ? 0 : steps === STEPS_NODATA ? 1 : 2);
    const [depth = new Uint16Array()] = layers.slice(QUERIED_METRICS.indexOf("depth_meters"));
    let same = 0;
    for (let at = 1; at < depth.length; at++) if (kindOf(depth[at] ?? 0) === kindOf(depth[at - 1] ?? 0)) same += 1;
    expect(same / depth.length).toBeGreaterThan(0.95);
    expect(new Set(depth).size).toBeGreaterThan(1000);
  });

  test("depend only on the seed, not on how they are cut into bands", () => {
    expect(hashOf(cellsOf(spec))).toBe(hashOf(cells));
    const maps = new FloodMaps(spec);
    const rowLength = grid.columnCount * LAYER_COUNT;
    const band = interleaveLayers(maps.readBand({ firstRow: 333, rowCount: 64 }));
    expect(hashOf(band)).toBe(hashOf(cells.slice(333 * rowLength, 397 * rowLength)));
    expect(hashOf(cellsOf({ grid, seed: 8 }))).not.toBe(hashOf(cells));
  });
});

describe("the benchmark places", () => {
  const places = generatePlaces(spec);

  test("are as many as requested and the same in every run", () => {
    expect(places).toHaveLength(200);
    expect(generatePlaces(spec)).toEqual(places);
  });

  test("keep a circle of 100 km within the grid", () => {
    const last = cellCenter(grid, { row: grid.rowCount - 1, column: grid.columnCount - 1 });
    for (const { latDeg, lonDeg } of places) {
      const place = { latDeg, lonDeg };
      expect(geodesicDistanceM(place, { latDeg: grid.northDeg, lonDeg })).toBeGreaterThan(100_000);
      expect(geodesicDistanceM(place, { latDeg: last.latDeg, lonDeg })).toBeGreaterThan(100_000);
      expect(geodesicDistanceM(place, { latDeg, lonDeg: grid.westDeg })).toBeGreaterThan(100_000);
      expect(geodesicDistanceM(place, { latDeg, lonDeg: last.lonDeg })).toBeGreaterThan(100_000);
    }
  });

  test("cluster around towns: the nearest neighbor is closer than for random places", () => {
    const nearestM = (from: number, among: typeof places): number =>
      Math.min(...among.map((to, i) => (i === from ? Infinity : geodesicDistanceM(at(among, from), to))));
    const { latitudes, longitudes } = generatePoints(spec, places.length);
    const random = Array.from(latitudes, (latDeg, i) => ({ latDeg, lonDeg: longitudes[i] ?? 0 }));
    const medianNearestM = (list: typeof places): number =>
      list.map((_, i) => nearestM(i, list)).toSorted((a, b) => a - b)[list.length >> 1] ?? 0;
    expect(medianNearestM(places)).toBeLessThan(medianNearestM(random) / 2);
  });
});

test("the atlas, the raw cells and the GeoTIFF of a workload hold the same values", async () => {
  await withTempFolder(async (folder) => {
    const workload = await prepare(await Kernel.load(), spec, { folder });
    const bytes = await readFile(workload.cellsPath);
    const cells = new Uint16Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / 2);
    expect(hashOf(cells)).toBe(hashOf(cellsOf(spec)));

    const tiff = await readFile(workload.geoTiffPath);
    const file = await openGeoTiff(tiff);
    const image = await file.getImage();
    expect(image.getBoundingBox()[0]).toBe(grid.westDeg);
    expect(image.getGDALNoData()).toBe(STEPS_NODATA);
    const bands = await image.readRasters();
    expect(bands).toHaveLength(LAYER_COUNT);

    const atlas = await openAtlas(workload.atlasFolder);
    try {
      for (const cell of [0, 12_345, 222_222, cells.length / LAYER_COUNT - 1]) {
        const row = Math.floor(cell / grid.columnCount);
        const { latDeg, lonDeg } = cellCenter(grid, { row, column: cell % grid.columnCount });
        const layer = QUERIED_LAYERS.findIndex(({ metric, year }) => metric === "depth_meters" && year === 2080);
        const steps = cells[cell * LAYER_COUNT + layer] ?? Number.NaN;
        expect((bands[layer] as Uint16Array)[cell]).toBe(steps);
        const { results } = await atlas.hazardRisk({
          latitude: latDeg,
          longitude: lonDeg,
          hazards: [HAZARD],
          scenarios: ["rcp4p5"],
          analysis_years: [2080],
        });
        const value = results[0]?.scenarios[0]?.analysis_years[0]?.metrics.depth_meters;
        expect(value).toBe(steps === STEPS_NODATA ? null : steps / 1000);
      }
    } finally {
      await atlas.close();
    }
  });
});

test("reuses a workload that was generated before", async () => {
  await withTempFolder(async (folder) => {
    const kernel = await Kernel.load();
    const tiny = { ...spec, grid: { ...grid, rowCount: 300, columnCount: 320 } };
    const made = await prepare(kernel, { ...tiny, places: { count: 1, townCount: 1 } }, { folder });
    const before = await readFile(join(made.atlasFolder, "atlas.json"), "utf8");
    const found = await prepare(kernel, { ...tiny, places: { count: 1, townCount: 1 } }, { folder });
    expect(found).toEqual(made);
    expect(await readFile(join(found.atlasFolder, "atlas.json"), "utf8")).toBe(before);
  });
});

test("a GeoTIFF with partial edge tiles reads back cell for cell", async () => {
  const small = { ...grid, rowCount: 130, columnCount: 257 };
  const cells = Uint16Array.from({ length: small.rowCount * small.columnCount * 2 }, (_, i) => (i * 7919) % 65_536);
  const tiff = await writeGeoTiff({ grid: small, bandCount: 2, nodata: STEPS_NODATA, cells });
  const file = await openGeoTiff(tiff);
  const [first, second] = await (await file.getImage()).readRasters();
  expect(hashOf(first as Uint16Array)).toBe(hashOf(cells.filter((_, i) => i % 2 === 0)));
  expect(hashOf(second as Uint16Array)).toBe(hashOf(cells.filter((_, i) => i % 2 === 1)));
});

function at<T>(list: readonly T[], index: number): T {
  return list[index] as T;
}
