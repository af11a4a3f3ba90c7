/** An ingested atlas for tests of `isotherm atlas`, and its expected depths. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { diskBlobs } from "../../src/atlas/diskBlobs.ts";
import { openPackedAtlas, type PackedAtlas } from "../../src/atlas/packedAtlas.ts";
import { ingestLayers } from "../../src/ingest/ingest.ts";
import { Kernel } from "../../src/kernel/instance.ts";
import { folder, map, out } from "../ingest/ingestFixture.ts";

/** Depth in meters of a cell of the fixture's grid of 70 x 80 cells; undefined where it is missing. */
export function depthAt(cell: number): number | undefined {
  if (cell % 11 === 5) return undefined;
  return Math.floor(cell / 80) < 20 ? 0 : (cell % 400) / 100;
}

/** Writes an atlas with depths for rcp4p5 2030 and the baseline. */
export async function writeFloodAtlas(): Promise<void> {
  await map("depth.tif", (cell) => depthAt(cell) ?? -9999);
  await map("baseline.tif", () => 0);
  const source = {
    name: "River maps <test> & more",
    licence: "CC BY 4.0",
    version: "2",
    credit: "Ward et al. (2020)",
    url: "https://example.com/floods",
  };
  const layers = [
    { scenario: "baseline", year: 1980, metric: "depth_meters", file: "baseline.tif" },
    { scenario: "rcp4p5", year: 2030, metric: "depth_meters", file: "depth.tif" },
  ];
  const manifest = join(folder, "manifest.json");
  await writeFile(manifest, JSON.stringify({ hazard: "riverine_floods", source, layers }));
  await ingestLayers({ manifest, out, release: "test-1" });
}

/** Depth in meters of a cell of the world atlas, which has 90 x 180 cells of 2 degrees from longitude -180. */
export function worldDepthAt(row: number, column: number): number | undefined {
  return (row + column) % 7 === 3 ? undefined : (row * 180 + column) / 1000;
}

/** Writes an atlas of the whole world with depths for rcp4p5 2030. */
export async function writeWorldAtlas(): Promise<void> {
  const values = Array.from(
    { length: 90 * 180 },
    (_, cell) => worldDepthAt(Math.floor(cell / 180), cell % 180) ?? -9999,
  );
  const grid = { rowCount: 90, columnCount: 180, tiePoint: [-180, 90], pixelScale: [2, 2] } as const;
  await map("world.tif", () => 0, { ...grid, values });
  const layers = [{ scenario: "rcp4p5", year: 2030, metric: "depth_meters", file: "world.tif" }];
  const manifest = join(folder, "manifest.json");
  const source = { name: "World maps", licence: "CC BY 4.0" };
  await writeFile(manifest, JSON.stringify({ hazard: "riverine_floods", source, layers }));
  await ingestLayers({ manifest, out, release: "test-3" });
}

/** The return periods of the atlas with curves: more than one group of a curve has. */
const RETURN_PERIODS = [2, 5, 10, 25, 50, 75, 100, 200, 500, 1000] as const;

/** Writes an atlas with curves for rcp4p5 2030: the depths of `curveDepthAt`. */
export async function writeCurveAtlas(): Promise<void> {
  const layers = [];
  for (const years of RETURN_PERIODS) {
    const file = `rp${years}.tif`;
    await map(file, (cell) => curveDepthAt(cell, years));
    layers.push({ scenario: "rcp4p5", year: 2030, return_period_years: years, file });
  }
  const source = { name: "River maps", licence: "CC BY 4.0", credit: "Ward et al. (2020)" };
  const manifest = join(folder, "manifest.json");
  await writeFile(manifest, JSON.stringify({ hazard: "riverine_floods", source, layers }));
  await ingestLayers({ manifest, out, release: "test-2", keepCurves: true });
}

export function curveDepthAt(cell: number, returnPeriodYears: number): number {
  return (returnPeriodYears / 1000) * (1 + (cell % 2));
}

export async function withPackedAtlas<T>(use: (atlas: PackedAtlas) => Promise<T>): Promise<T> {
  const blobs = diskBlobs(out);
  try {
    return await use(await openPackedAtlas(await Kernel.load(), blobs, { headerCacheBytes: 1 << 20 }));
  } finally {
    await blobs.close();
  }
}
