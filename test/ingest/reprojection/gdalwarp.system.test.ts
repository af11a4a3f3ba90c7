import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { isProjected, type Raster } from "../../../src/ingest/raster.ts";
import { MapFiles } from "../../../src/ingest/readers/mapFiles.ts";
import { locate, openProjection } from "../../../src/ingest/reprojection/projection.ts";
import { cellCenter } from "../../../src/kernel/grid.ts";
import { openStoredGeoTiff } from "../../../src/ingest/readers/geotiff/geotiff.ts";
import { describeWithGdal, GDAL_PYTHON } from "../readers/mapPython.ts";

const SCRIPT = fileURLToPath(new URL("warpVariants.py", import.meta.url));
const POINT_COUNT = 1000;
/** Positions closer than this to the edge of a source cell, in cells, may differ by the rounding of the projections. */
const EDGE_CELLS = 1e-5;
/** Web Mercator from 0 to 360 degrees: gdalwarp leaves the western half of the result empty. */
const EMPTY_IN_GDAL = "web_mercator_360";

/** Returns numbers from 0 up to, but not including, 1 (mulberry32). */
function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

describeWithGdal("maps reprojected by GDAL", () => {
  let folder: string;
  const maps = new MapFiles({ maxDistortion: 3 });
  const rasters = new Map<string, Raster>();
  const optionsOf = (name: string) => (name.includes("sphere") ? { assumeWgs84: true } : {});

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "isotherm-warp-"));
    const run = (mode: string): void => {
      execFileSync(GDAL_PYTHON ?? "python3", [SCRIPT, mode, folder], { stdio: ["ignore", "ignore", "pipe"] });
    };
    run("make");
    const names = JSON.parse(readFileSync(join(folder, "variants.json"), "utf8")) as readonly string[];
    for (const name of names) rasters.set(name, await maps.open(join(folder, `${name}.tif`), optionsOf(name)));
    const grids = [...rasters].map(([name, { file, grid }]) => ({ name, file, grid }));
    writeFileSync(join(folder, "grids.json"), JSON.stringify(grids));
    run("warp");
  }, 240_000);
  afterAll(async () => {
    await maps.close();
    rmSync(folder, { recursive: true, force: true });
  });

  test("have the same value at random points, except at edges of source cells", async () => {
    const counts: Record<string, { same: number; edge: number }> = {};
    for (const [name, raster] of rasters) {
      const { grid } = raster;
      const bytes = readFileSync(join(folder, `${name}.i32`));
      const warped = new Int32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4);
      expect(warped.length).toBe(grid.rowCount * grid.columnCount);
      const window = { band: 1, firstRow: 0, firstColumn: 0, rowCount: grid.rowCount, columnCount: grid.columnCount };
      const values = await raster.readWindow(window);
      const stored = await openStoredGeoTiff(raster.file, optionsOf(name));
      if (!isProjected(stored)) throw new Error(`${name} is not projected.`);
      const projection = await openProjection(stored.projectedCrs);
      const next = randomNumbers(name.length);
      const count = { same: 0, edge: 0 };
      let validCount = 0;
      for (let i = 0; i < POINT_COUNT; i++) {
        const cell = Math.floor(next() * values.length);
        const value = values[cell] ?? NaN;
        const [ours, theirs] = [Number.isNaN(value) ? 0 : value, warped[cell] ?? NaN];
        if (ours > 0) validCount++;
        if (ours === theirs || (name === EMPTY_IN_GDAL && theirs === 0)) {
          count.same++;
          continue;
        }
        const row = Math.floor(cell / grid.columnCount);
        const { lonDeg, latDeg } = cellCenter(grid, { row, column: cell % grid.columnCount });
        const position = locate(projection, stored.plane, lonDeg, latDeg) ?? { row: 0.5, column: 0.5 };
        const distances = [position.row, position.column].map((value) => Math.abs(value - Math.round(value)));
        expect({ name, cell, ours, theirs, isAtEdge: Math.min(...distances) < EDGE_CELLS }).toMatchObject({
          isAtEdge: true,
        });
        count.edge++;
      }
      expect(validCount).toBeGreaterThan(POINT_COUNT / 4);
      await stored.close();
      counts[name] = count;
    }
    const total = Object.values(counts).reduce((sum, { edge }) => sum + edge, 0);
    console.log(`${rasters.size} reprojected maps, ${POINT_COUNT} points each; at edges of source cells: ${total}`);
    expect(rasters.size).toBeGreaterThan(30);
  }, 240_000);
});
