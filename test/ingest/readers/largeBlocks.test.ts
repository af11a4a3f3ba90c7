import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openGeoTiff } from "../../../src/ingest/readers/geotiff/geotiff.ts";
import { makeGeoTiff } from "../makeGeoTiff.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "isotherm-blocks-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

test("windows of blocks above 16 MiB, of which the last is kept, have the values of their own block", async () => {
  const rowsPerStrip = 4300;
  const columnCount = 4000;
  const values = new Uint8Array(2 * rowsPerStrip * columnCount);
  for (let row = 0; row < 2 * rowsPerStrip; row++) values.fill(row % 251, row * columnCount, (row + 1) * columnCount);
  const file = join(folder, "map.tif");
  const grid = { rowCount: 2 * rowsPerStrip, columnCount, tiePoint: [10, 50], pixelScale: [1e-3, 1e-3] } as const;
  await writeFile(file, makeGeoTiff({ ...grid, values, type: "uint8", rowsPerStrip }));
  const raster = await openGeoTiff(file);
  try {
    const read = async (firstRow: number): Promise<readonly number[]> =>
      Array.from(await raster.readWindow({ band: 1, firstRow, rowCount: 3, firstColumn: 7, columnCount: 1 }));
    const firstRows = [0, 100, 4298, 4299, 8000, 200, 8597];
    const expected = firstRows.map((row) => [row % 251, (row + 1) % 251, (row + 2) % 251]);
    const inTurn: (readonly number[])[] = [];
    for (const firstRow of firstRows) inTurn.push(await read(firstRow));
    expect(inTurn).toEqual(expected);
    expect(await Promise.all(firstRows.map(read))).toEqual(expected);
  } finally {
    await raster.close();
  }
});
