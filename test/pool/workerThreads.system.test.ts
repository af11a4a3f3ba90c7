/** Worker threads run the built files, so this suite imports dist/. */
import { mkdtemp, readFile, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type * as isotherm from "../../src/index.ts";
import type { Grid } from "../../src/kernel/grid.ts";
import { Kernel } from "../../src/kernel/instance.ts";
import { FLOOD_LAYERS, makeAtlas, patchyCells } from "../atlas/makeAtlas.ts";
import { randomFrom } from "../seededRandom.ts";

const { openAtlas } = (await import(new URL("../../dist/index.js", import.meta.url).href)) as typeof isotherm;

const GRID: Grid = {
  northDeg: 90,
  westDeg: -180,
  cellSizeLatDeg: 0.1,
  cellSizeLonDeg: 0.1,
  rowCount: 1800,
  columnCount: 3600,
};
const LAYERS = [
  { scenario: "rcp4p5", analysisYear: 2030, metric: "depth_meters" },
  { scenario: "rcp4p5", analysisYear: 2030, metric: "probability" },
] as const;

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "isotherm-test-"));
  const cells = patchyCells(GRID, { layerCount: 4, seed: 31 });
  const groups = [{ scenario: "rcp4p5", year: 2030, layers: FLOOD_LAYERS, cells }];
  await makeAtlas(await Kernel.load(), folder, [{ hazard: "riverine_floods", grid: GRID, groups }]);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const random = randomFrom(41);
const COUNT = 20_000;
const places = {
  latitudes: Float64Array.from({ length: COUNT }, () => random.between({ min: -90, max: 90 })),
  longitudes: Float64Array.from({ length: COUNT }, () => random.pick([180, random.between({ min: -180, max: 180 })])),
};
const request = { hazard: "riverine_floods", layers: LAYERS, ...places };
const queries = Array.from({ length: 300 }, (_, i) => ({
  latitude: i === 7 ? 99 : random.between({ min: -90, max: 90 }),
  longitude: random.between({ min: -180, max: 180 }),
  hazards: ["riverine_floods" as const],
  scenarios: ["rcp4p5" as const, "baseline" as const],
  analysis_years: i === 9 ? [2025] : [2030],
  radius: random.pick([0, 25, 100]),
  aggregation_method: random.pick(["max", "mean"] as const),
}));

async function withWorkers<T>(workers: number, use: (atlas: isotherm.Atlas) => Promise<T>): Promise<T> {
  const atlas = await openAtlas(folder, { workers, cacheBytes: 96 << 20 });
  try {
    return await use(atlas);
  } finally {
    await atlas.close();
  }
}

const bitsOf = ({ values, reasons }: isotherm.SampleResult): Buffer =>
  Buffer.concat([Buffer.from(values.buffer), Buffer.from(reasons.buffer)]);

describe("an atlas with worker threads", () => {
  test("returns the same bits with 1, 2 and 7 workers as without", async () => {
    const resultsOf = (workers: number): Promise<readonly Buffer[]> =>
      withWorkers(workers, async (atlas) => [
        bitsOf(await atlas.sample(request)),
        bitsOf(await atlas.sample({ ...request, radiusKm: 30, method: "mean" })),
        bitsOf(await atlas.sample({ ...request, radiusKm: 60, method: "max" })),
        Buffer.from(JSON.stringify(await atlas.hazardRiskBatch(queries))),
      ]);
    const expected = await resultsOf(0);
    for (const workers of [1, 2, 7]) {
      const found = await resultsOf(workers);
      for (const [i, bits] of expected.entries()) expect(found[i]?.equals(bits), `${workers} workers, ${i}`).toBe(true);
    }
  });

  test("keeps the order of a batch, with a Fault for each invalid query", async () => {
    await withWorkers(2, async (atlas) => {
      const results = await atlas.hazardRiskBatch(queries);
      expect(results[7]).toMatchObject({
        error: { name: "Fault", code: "invalid_request", items: [{ pointer: "/latitude" }] },
      });
      expect(results[9]).toMatchObject({ error: { code: "combination_unavailable" } });
      expect(results[8]).toEqual(await atlas.hazardRisk(queries[8] as isotherm.HazardQueryInput));
    });
  });

  test("reports progress, and stops when it is canceled without affecting later calls", async () => {
    await withWorkers(2, async (atlas) => {
      const done: number[] = [];
      await atlas.sample({ ...request, onProgress: (count) => done.push(count) });
      expect(done).toEqual(done.toSorted((a, b) => a - b));
      expect(done.at(-1)).toBe(COUNT);

      const stop = new AbortController();
      const stopped = atlas.sample({ ...request, radiusKm: 50, signal: stop.signal });
      stop.abort(new Error("enough"));
      await expect(stopped).rejects.toThrow("enough");
      await expect(atlas.hazardRiskBatch(queries, { signal: stop.signal })).rejects.toThrow("enough");
      expect((await atlas.sample(request)).values.length).toBe(COUNT * 2);
    });
  });

  test("reports errors of a request with the caller's indices", async () => {
    await withWorkers(2, async (atlas) => {
      const latitudes = places.latitudes.slice();
      latitudes[12_345] = 91;
      await expect(atlas.sample({ ...request, latitudes })).rejects.toMatchObject({
        code: "invalid_request",
        items: [{ pointer: "/latitudes/12345" }],
      });
    });
  });

  test("names a damaged file, and works again after the file is repaired", async () => {
    await withWorkers(2, async (atlas) => {
      const name = (await readdir(folder)).find((file) => file.endsWith(".pyramid")) ?? "";
      const original = await readFile(join(folder, name));
      await writeFile(join(folder, name), new Uint8Array(original.length));
      await expect(atlas.sample(request)).rejects.toMatchObject({
        code: "atlas_unavailable",
        message: expect.stringContaining(name) as string,
      });
      await writeFile(join(folder, name), original);
      expect((await atlas.sample(request)).values.length).toBe(COUNT * 2);
    });
  });

  test("rejects an invalid number of workers", async () => {
    for (const workers of [-1, 1.5, 1000]) {
      await expect(openAtlas(folder, { workers })).rejects.toMatchObject({ code: "configuration_invalid" });
    }
  });
});
