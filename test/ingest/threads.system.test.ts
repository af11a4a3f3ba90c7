/** Ingests with different numbers of threads, on the built library, because threads run built files. */
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { CATALOG_NAME, type Catalog } from "../../src/atlas/catalog.ts";
import type { ingestLayers, isFault } from "../../src/ingest/ingest.ts";
import { randomFrom } from "../seededRandom.ts";
import { makeGeoTiff } from "./makeGeoTiff.ts";

const LIBRARY = new URL("../../dist/ingest/ingest.js", import.meta.url).href;
const GRID = { rowCount: 500, columnCount: 330, tiePoint: [10, 20], pixelScale: [0.01, 0.01] } as const;
const THREAD_COUNTS = [0, 1, 2, 7];

let folder: string;
let ingest: typeof ingestLayers;
/** Of the built library, whose classes are not those of src/. */
let isFaultOfLibrary: typeof isFault;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "isotherm-threads-"));
  const library = (await import(LIBRARY)) as { ingestLayers: typeof ingestLayers; isFault: typeof isFault };
  ingest = library.ingestLayers;
  isFaultOfLibrary = library.isFault;
  const random = randomFrom(91);
  for (const name of ["a-50", "a-100", "b-50", "b-100", "metric"]) {
    const values = Array.from({ length: GRID.rowCount * GRID.columnCount }, (_, cell) => {
      const isDry = Math.floor(cell / 5000) % 2 === 0;
      return random.chance(0.1) ? -9999 : isDry ? 0 : Math.fround(5 * random.next());
    });
    await writeFile(join(folder, `${name}.tif`), makeGeoTiff({ ...GRID, nodata: "-9999", rowsPerStrip: 50, values }));
  }
  const values = new Float32Array(GRID.rowCount * GRID.columnCount);
  values[400 * GRID.columnCount + 7] = -5;
  values[449 * GRID.columnCount + 8] = -6;
  await writeFile(join(folder, "bad.tif"), makeGeoTiff({ ...GRID, nodata: "-9999", rowsPerStrip: 50, values }));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function manifest(name: string, layers: readonly object[]): Promise<string> {
  const file = join(folder, `${name}.json`);
  await writeFile(
    file,
    JSON.stringify({ hazard: "riverine_floods", source: { name: "Test", licence: "none" }, layers }),
  );
  return file;
}

/** Returns the content of the files of an atlas, and its catalog without the time. */
async function contentOf(atlas: string): Promise<unknown> {
  const names = (await readdir(atlas)).filter((name) => name !== CATALOG_NAME).toSorted();
  const {
    created_at: _time,
    sha256: _sha256,
    ...catalog
  } = parseCatalog(await readFile(join(atlas, CATALOG_NAME), "utf8"));
  const bytes = await Promise.all(names.map((name) => readFile(join(atlas, name), "base64")));
  return { catalog, files: Object.fromEntries(names.map((name, index) => [name, bytes[index]])) };
}

const parseCatalog = (text: string) => JSON.parse(text) as Catalog;

describe("the atlas does not depend on the number of threads", () => {
  test("of curves of two models and of a metric, in a chunk of the map", { timeout: 120_000 }, async () => {
    const curve = (model: string, return_period_years: number) => ({
      scenario: "rcp4p5",
      year: 2030,
      model,
      return_period_years,
      file: `${model}-${return_period_years}.tif`,
    });
    const file = await manifest("curves", [
      ...["a", "b"].flatMap((model) => [curve(model, 50), curve(model, 100)]),
      { scenario: "rcp4p5", year: 2050, metric: "depth_meters", file: "metric.tif" },
    ]);
    const bbox = { westDeg: 10.105, southDeg: 15.2, eastDeg: 13.1, northDeg: 19.875 };
    const contents: unknown[] = [];
    for (const threads of THREAD_COUNTS) {
      const out = join(folder, `atlas-${threads}`);
      await ingest({ manifest: file, out, bbox, threads, keepCurves: true, keepRange: true });
      contents.push(await contentOf(out));
    }
    // Three files of the metrics, and three of the curves and ranges of 2030.
    expect(Object.keys((contents[0] as { files: object }).files)).toHaveLength(6);
    for (const content of contents.slice(1)) expect(content).toEqual(contents[0]);
  });

  test.each([
    ["reprojected maps", { zones: [33], columnCount: 400 }],
    ["mosaics of reprojected maps that overlap", { zones: [32, 33], columnCount: 260 }],
  ])("of curves on %s", { timeout: 300_000 }, async (_, { zones, columnCount }) => {
    const random = randomFrom(92);
    const name = `zones-${zones.join("-")}`;
    const layers: object[] = [];
    for (const return_period_years of [20, 100, 500]) {
      const files: string[] = [];
      for (const zone of zones) {
        const values = Array.from({ length: 300 * columnCount }, (_, cell) => {
          const isDry = Math.floor(cell / 3000) % 2 === 0;
          return random.chance(0.05) ? -9999 : isDry ? 0 : Math.fround(random.next() * Math.log(return_period_years));
        });
        const file = `${name}-${zone}-${return_period_years}.tif`;
        const place = { tiePoint: [300_000, 5_500_000], pixelScale: [1500, 1500] } as const;
        const geoKeys = { 1024: 1, 3072: 32_600 + zone };
        const size = { rowCount: 300, columnCount, rowsPerStrip: 45 };
        await writeFile(join(folder, file), makeGeoTiff({ ...size, ...place, geoKeys, nodata: "-9999", values }));
        files.push(file);
      }
      const source = zones.length === 1 ? { file: files[0] } : { files, overlap: "first" };
      layers.push({ scenario: "rcp4p5", year: 2030, return_period_years, ...source });
    }
    const file = await manifest(name, layers);
    const contents: unknown[] = [];
    for (const threads of THREAD_COUNTS) {
      const out = join(folder, `atlas-${name}-${threads}`);
      const report = await ingest({ manifest: file, out, threads });
      expect(report.totals.cells.valid - report.totals.cells.zero).toBeGreaterThan(20_000);
      contents.push(await contentOf(out));
    }
    for (const content of contents.slice(1)) expect(content).toEqual(contents[0]);
  });

  test.each(THREAD_COUNTS)("nor does the list of rejected values: %d threads", { timeout: 60_000 }, async (threads) => {
    const file = await manifest(`bad-${threads}`, [
      { scenario: "rcp4p5", year: 2030, metric: "depth_meters", file: "bad.tif" },
    ]);
    try {
      await ingest({ manifest: file, out: join(folder, `bad-${threads}`), threads });
      throw new Error("The value was not rejected.");
    } catch (error) {
      expect(isFaultOfLibrary(error, "source_invalid")).toBe(true);
      expect((error as Error).message).toMatch(/bad\.tif: row 400, column 7 .*the value is -5, below zero/);
      expect((error as Error).message.split("\n").slice(1)).toEqual([
        `${join(folder, "bad.tif")}, band 1: 2 below zero`,
        "  row 400, column 7 (latitude 15.99500, longitude 10.07500): -5, below zero",
        "  row 449, column 8 (latitude 15.50500, longitude 10.08500): -6, below zero",
      ]);
    }
  });

  test.each(THREAD_COUNTS)("an abort stops %d threads with its reason", { timeout: 60_000 }, async (threads) => {
    const file = await manifest(`abort-${threads}`, [
      { scenario: "rcp4p5", year: 2030, metric: "depth_meters", file: "metric.tif" },
    ]);
    const stopping = new AbortController();
    const reason = new Error("enough");
    const run = ingest({
      manifest: file,
      out: join(folder, `abort-${threads}`),
      threads,
      signal: stopping.signal,
      onProgress: () => stopping.abort(reason),
    });
    await expect(run).rejects.toBe(reason);
  });

  test.each([-1, 1.5, 65])("rejects %d threads", async (threads) => {
    const file = await manifest("threads", [
      { scenario: "rcp4p5", year: 2030, metric: "depth_meters", file: "metric.tif" },
    ]);
    await expect(ingest({ manifest: file, out: join(folder, "none"), threads })).rejects.toThrow(
      /integer from 0 to 64/,
    );
  });
});
