/** Number, files and sizes of the range reads of a query on a newly opened atlas. */
import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Blobs } from "../../src/atlas/blobs.ts";
import { diskBlobs } from "../../src/atlas/diskBlobs.ts";
import { httpBlobs } from "../../src/atlas/httpBlobs.ts";
import { openPackedAtlas } from "../../src/atlas/packedAtlas.ts";
import type { CircleSample } from "../../src/atlas/circleSampling.ts";
import type { LayerSet } from "../../src/atlas/layerSet.ts";
import { Sampler } from "../../src/atlas/sampler.ts";
import type { Circle } from "../../src/kernel/geodesy.ts";
import type { Grid } from "../../src/kernel/grid.ts";
import { Kernel } from "../../src/kernel/instance.ts";
import { randomFrom } from "../seededRandom.ts";
import { RecordingBlobs } from "./recordingBlobs.ts";
import { FLOOD_LAYERS, makeAtlas, type HazardFixture } from "./makeAtlas.ts";
import { filesOf, startRangeServer } from "./rangeServer.ts";

/** 9 x 11 tiles in 2 x 2 pyramid tiles: the northwestern one reaches to 53.76 north and 178.24 west. */
const GRID: Grid = {
  northDeg: 64,
  westDeg: 172,
  cellSizeLatDeg: 0.02,
  cellSizeLonDeg: 0.02,
  rowCount: 530,
  columnCount: 690,
};
const YEARS = [2030, 2050, 2080];
const GROUPS: HazardFixture["groups"] = YEARS.map((year) => ({
  scenario: "rcp4p5",
  year,
  layers: FLOOD_LAYERS,
  cells: cellsOf(year),
}));
/** Circles within the northwestern pyramid tile, across its east edge, and across the corner of all four tiles. */
const CIRCLES: readonly (Circle & { readonly pyramidTileCount: number })[] = [
  { latDeg: 59, lonDeg: 177, radiusM: 100_000, pyramidTileCount: 1 },
  { latDeg: 59, lonDeg: -178.3, radiusM: 100_000, pyramidTileCount: 2 },
  { latDeg: 53.8, lonDeg: -177.8, radiusM: 15_000, pyramidTileCount: 4 },
];

function cellsOf(seed: number): Uint16Array {
  const random = randomFrom(seed);
  return Uint16Array.from({ length: GRID.rowCount * GRID.columnCount * FLOOD_LAYERS.length }, () =>
    random.chance(0.001) ? random.below(65_534) : random.below(200),
  );
}

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "isotherm-test-"));
  await makeAtlas(await Kernel.load(), folder, [{ hazard: "riverine_floods", grid: GRID, groups: GROUPS }]);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

interface ColdAtlas {
  readonly blobs: RecordingBlobs;
  sample(circle: Circle, method: "max" | "mean"): Promise<CircleSample>;
}

/** Opens an atlas, looks up all layers and loads no tile. */
async function openCold(from: Blobs): Promise<ColdAtlas> {
  const kernel = await Kernel.load({ scratchBytes: 16 << 20 });
  const blobs = new RecordingBlobs(from);
  const sampler = new Sampler(kernel, await openPackedAtlas(kernel, blobs, { headerCacheBytes: 1 << 20 }), {
    cacheBytes: 64 << 20,
  });
  const hazard = sampler.hazards.get("riverine_floods");
  if (hazard === undefined) throw new Error("no such hazard");
  const set: LayerSet = sampler.layerSet(hazard, hazard.allLayers());
  blobs.reads.length = 0;
  return { blobs, sample: (circle, method) => sampler.sampleCircle(set, circle, { method, shares: false }) };
}

describe("a cold circle", () => {
  for (const method of ["max", "mean"] as const) {
    test(`reads two ranges per pyramid tile for ${method}: the header and the sections of all groups`, async () => {
      for (const { pyramidTileCount, ...circle } of CIRCLES) {
        const disk = diskBlobs(folder);
        const { blobs, sample } = await openCold(disk);
        await sample(circle, method);
        const { count } = blobs.countAndReset(".pyramid");
        const context = JSON.stringify(circle);
        // A mean needs totals only if a row span covers a whole data tile.
        if (method === "max" || pyramidTileCount === 1) expect(count, context).toBe(2 * pyramidTileCount);
        else expect(count, context).toBeLessThan(2 * pyramidTileCount);
        await disk.close();
      }
    });
  }

  test("reads the headers of its pyramid tiles in parallel", async () => {
    const disk = diskBlobs(folder);
    let inProgress = 0;
    let peak = 0;
    const { sample } = await openCold({
      ...disk,
      async read(name, range) {
        inProgress += 1;
        peak = Math.max(peak, inProgress);
        // Delays each read, so that sequential reads are detected even on a fast disk.
        await new Promise((resolve) => setTimeout(resolve, 5));
        const bytes = await disk.read(name, range);
        inProgress -= 1;
        return bytes;
      },
    });
    const [, , corner] = CIRCLES;
    await sample(corner as Circle, "mean");
    expect(peak).toBeGreaterThanOrEqual(4);
    await disk.close();
  });

  test("reads the same ranges over HTTP as from a folder, and never a whole file", async () => {
    const disk = diskBlobs(folder);
    const server = await startRangeServer(filesOf(folder));
    try {
      for (const { pyramidTileCount: _, ...circle } of CIRCLES) {
        for (const method of ["max", "mean"] as const) {
          const fromDisk = await openCold(disk);
          const overHttp = await openCold(httpBlobs(server.url));
          server.requests.length = 0;
          expect(await overHttp.sample(circle, method)).toEqual(await fromDisk.sample(circle, method));
          const expected = fromDisk.blobs.reads.map(
            ({ name, offset, sizeBytes }) => `${name} bytes=${offset}-${offset + sizeBytes - 1}`,
          );
          const requested = server.requests.map(({ name, headers }) => `${name} ${headers.range}`);
          expect(requested.toSorted()).toEqual(expected.toSorted());
          for (const { name, sizeBytes } of fromDisk.blobs.reads) {
            expect(sizeBytes).toBeLessThan((await stat(join(folder, name))).size);
          }
        }
      }
    } finally {
      await server.close();
      await disk.close();
    }
  });
});
