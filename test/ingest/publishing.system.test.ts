import { readdirSync } from "node:fs";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { CATALOG_NAME, type Catalog } from "../../src/atlas/catalog.ts";
import { publish, readCatalog } from "../../src/atlas/writer.ts";
import { ingestLayers, type IngestOptions, type IngestReport } from "../../src/ingest/ingest.ts";
import { type GeoTiffSpec, makeGeoTiff } from "./makeGeoTiff.ts";

/** More than one row of pyramid tiles, so that there is a checkpoint to resume from. */
const GRID = { rowCount: 600, columnCount: 70, tiePoint: [10, 20], pixelScale: [0.01, 0.01] } as const;

let folder: string;
let out: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "isotherm-ingest-"));
  out = join(folder, "atlas");
  await map("low.tif", 1);
  await map("high.tif", 2);
});
afterEach(() => rm(folder, { recursive: true, force: true }));

function bytesOfMap(depth: number, more: Partial<GeoTiffSpec> = {}): Buffer {
  const values = Array.from({ length: GRID.rowCount * GRID.columnCount }, (_, cell) => depth + (cell % 100) / 1000);
  return makeGeoTiff({ ...GRID, nodata: "-9999", rowsPerStrip: 8, values, ...more });
}

async function map(name: string, depth: number, more: Partial<GeoTiffSpec> = {}): Promise<void> {
  await writeFile(join(folder, name), bytesOfMap(depth, more));
}

interface DepthMapIngest extends Partial<IngestOptions> {
  readonly scenario?: string;
  readonly year?: number;
  readonly file?: string;
  readonly hazard?: string;
  readonly source?: object;
  readonly rules?: object;
}

/** Ingests one depth map as one (scenario, year). */
async function ingest({
  scenario = "rcp4p5",
  year = 2030,
  file = "low.tif",
  hazard = "riverine_floods",
  source = { name: "Test", licence: "none" },
  rules = {},
  ...options
}: DepthMapIngest = {}): Promise<IngestReport> {
  const manifest = join(folder, `${hazard}-${scenario}-${year}.json`);
  const layers = [{ scenario, year, metric: "depth_meters", file }];
  await writeFile(manifest, JSON.stringify({ hazard, source, rules, layers }));
  return ingestLayers({ manifest, out, ...options });
}

/** Returns the content of every file of an atlas except the catalog, which contains a timestamp. */
async function contentOf(atlas: string): Promise<ReadonlyMap<string, string>> {
  const names = (await readdir(atlas))
    .filter((name) => name !== CATALOG_NAME && !name.startsWith(".writing-"))
    .toSorted();
  return new Map(
    await Promise.all(
      names.map(async (name): Promise<[string, string]> => [name, await readFile(join(atlas, name), "base64")]),
    ),
  );
}

describe("a release name", () => {
  test("differs for every content, including the same map for another year or scenario", async () => {
    const releases = [
      (await ingest()).release,
      (await ingest({ year: 2050 })).release,
      (await ingest({ year: 2050, scenario: "rcp8p5" })).release,
      (await ingest({ hazard: "coastal_floods" })).release,
      (await ingest({ file: "high.tif" })).release, // replaces the first
    ];
    expect(new Set(releases).size).toBe(5);
    for (const release of releases) expect(release).toMatch(/^\d{8}-[0-9a-f]{8}$/);
    expect((await readCatalog(out))?.release).toBe(releases.at(-1));
    const repeated = (await ingest()).release;
    expect(repeated).toBe(releases[3]); // the same content as the fourth release, in another pack
  });

  test("differs between two atlases that have the same map as 2030 and as 2050", async () => {
    const releases = [await ingest(), await ingest({ year: 2050, out: join(folder, "other") })];
    expect(releases[0]?.release).not.toBe(releases[1]?.release);
  });

  test("does not depend on the order of ingests", async () => {
    await ingest();
    const first = (await ingest({ year: 2050, file: "high.tif" })).release;
    const other = join(folder, "other");
    await ingest({ year: 2050, file: "high.tif", out: other });
    expect((await ingest({ out: other })).release).toBe(first);
  });

  test("differs for equal cells with different sources or rules", async () => {
    const first = (await ingest({ source: { name: "One", licence: "CC0" } })).release;
    const other = { out: join(folder, "other") };
    const second = (await ingest({ ...other, source: { name: "One", licence: "CC BY 4.0" } })).release;
    const third = (
      await ingest({ out: join(folder, "third"), source: { name: "One", licence: "CC0" }, rules: { threshold: 0.6 } })
    ).release;
    expect(new Set([first, second, third]).size).toBe(3);
  });

  test("does not change if the same content is written on another day", async () => {
    const { release } = await ingest();
    await publish(out, (current) => {
      const { sha256: _, ...catalog } = current as Catalog;
      return { ...catalog, release: `20200229${release.slice(8)}` };
    });
    expect((await ingest()).release).toBe(`20200229${release.slice(8)}`);
  });

  test("can be reused for the same content only", async () => {
    await ingest({ release: "mine-1" });
    expect((await ingest({ release: "mine-1" })).release).toBe("mine-1");
    const before = await readFile(join(out, CATALOG_NAME));
    const nameTaken = {
      code: "invalid_request",
      message: expect.stringMatching(/mine-1.*another --release/) as string,
    };
    await expect(ingest({ release: "mine-1", file: "high.tif" })).rejects.toMatchObject(nameTaken);
    await expect(ingest({ release: "mine-1", source: { name: "Other", licence: "none" } })).rejects.toMatchObject(
      nameTaken,
    );
    // An ingest that adds a group is rejected before any map is read.
    let progressCount = 0;
    const added = ingest({ release: "mine-1", year: 2050, onProgress: () => void progressCount++ });
    await expect(added).rejects.toMatchObject(nameTaken);
    expect(progressCount).toBe(0);
    expect(await readFile(join(out, CATALOG_NAME))).toEqual(before);
    expect((await ingest({ release: "mine-2", year: 2050 })).release).toBe("mine-2");
  });

  test("can be set with the option release", async () => {
    expect((await ingest({ release: "mine-1" })).release).toBe("mine-1");
    expect((await readCatalog(out))?.release).toBe("mine-1");
  });
});

describe("a running ingest", () => {
  test("locks the folder and releases the lock", async () => {
    const locks: number[] = [];
    await ingest({
      onProgress: () => locks.push(readdirSync(out).filter((name) => name.startsWith(".lock-")).length),
    });
    expect(locks.length).toBeGreaterThan(2);
    expect(new Set(locks)).toEqual(new Set([1]));
    expect((await readdir(out)).filter((name) => name.startsWith("."))).toEqual([]);
  });

  test("is rejected while another process writes, and changes nothing", async () => {
    await ingest();
    const before = await contentOf(out);
    const lock = join(out, ".lock-00000000-0000-4000-8000-000000000000");
    await writeFile(lock, JSON.stringify({ pid: 77, host: "elsewhere", since: "2026-01-01T00:00:00.000Z" }));
    await expect(ingest({ year: 2050 })).rejects.toThrow(
      "being written by process 77 on elsewhere, since 2026-01-01T00:00:00.000Z",
    );
    await rm(lock);
    expect(await contentOf(out)).toEqual(before);
    expect((await ingest({ year: 2050 })).groups).toHaveLength(1);
  });

  test("is not published if the grid of the hazard changed during the ingest", async () => {
    await ingest();
    const before = await contentOf(out);
    let publishing: Promise<unknown> | undefined;
    const ingesting = ingest({
      year: 2050,
      file: "high.tif",
      onProgress: ({ rowsDone }) => {
        if (rowsDone < GRID.rowCount) return;
        // Extends the grid north by one row: the new cells would still fit, but would be one row too far north.
        publishing ??= publish(out, (catalog) => {
          if (catalog === undefined) throw new Error("no atlas");
          const { sha256: _, ...rest } = catalog;
          const hazards = catalog.hazards.map((hazard) => ({
            ...hazard,
            grid: { ...hazard.grid, north_deg: hazard.grid.north_deg + 0.01, row_count: hazard.grid.row_count + 1 },
          }));
          return { ...rest, release: "changed", hazards };
        });
      },
    });
    await expect(ingesting).rejects.toThrow(/grid of riverine_floods in the atlas changed during the ingest.*again/);
    await publishing;
    const catalog = await readCatalog(out);
    expect(catalog?.release).toBe("changed");
    expect(catalog?.hazards[0]?.packs).toHaveLength(1);
    for (const [name, bytes] of before) expect((await contentOf(out)).get(name)).toBe(bytes);
  });

  test("leaves no work folder after publishing", async () => {
    await ingest();
    expect((await readdir(out)).filter((name) => name.startsWith("."))).toEqual([]);
  });
});

describe("an interrupted ingest", () => {
  /** Aborts at the first progress report at or after `rows`. */
  const abortAfter = (rows: number): Pick<IngestOptions, "signal" | "onProgress"> => {
    const stopping = new AbortController();
    return {
      signal: stopping.signal,
      onProgress: ({ rowsDone }) => {
        if (rowsDone >= rows) stopping.abort(new Error("enough"));
      },
    };
  };

  /** Runs an ingest and returns the row at which it starts. */
  async function startRow(options: DepthMapIngest): Promise<number | undefined> {
    const seen: number[] = [];
    await ingest({ ...options, onProgress: ({ rowsDone }) => seen.push(rowsDone) });
    return seen[0];
  }

  test("leaves the atlas unchanged, releases the lock and resumes at its checkpoint", async () => {
    const uninterrupted = join(folder, "whole");
    await ingest({ out: uninterrupted });
    await expect(ingest(abortAfter(512))).rejects.toThrow("enough");
    expect((await readdir(out)).filter((name) => !name.startsWith(".writing-"))).toEqual([]);
    expect(await startRow({})).toBe(512);
    expect(await contentOf(out)).toEqual(await contentOf(uninterrupted));
  });

  test("leaves nothing if aborted before it starts", async () => {
    await expect(ingest({ signal: AbortSignal.abort(new Error("never mind")) })).rejects.toThrow("never mind");
    await expect(readdir(out)).rejects.toThrow(/ENOENT/);
  });

  test("starts again if a remote map has changed", async () => {
    let bytes = bytesOfMap(1);
    let etag = '"one"';
    const server = createServer((request, response) => {
      if (request.url !== "/map.tif") {
        response.writeHead(404).end();
        return;
      }
      const [, from, to] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? "") ?? [];
      const part = bytes.subarray(Number(from ?? 0), to === undefined ? undefined : Number(to) + 1);
      const headers = { ETag: etag, "Content-Length": part.length };
      if (from === undefined) response.writeHead(200, headers);
      else {
        const range = `bytes ${from}-${Number(from) + part.length - 1}/${bytes.length}`;
        response.writeHead(206, { ...headers, "Content-Range": range });
      }
      response.end(request.method === "HEAD" ? undefined : part);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", () => resolve()));
    try {
      const file = `http://127.0.0.1:${(server.address() as AddressInfo).port}/map.tif`;
      await expect(ingest({ file, ...abortAfter(512) })).rejects.toThrow("enough");
      await expect(ingest({ file, ...abortAfter(512) })).rejects.toThrow("enough");
      bytes = bytesOfMap(2); // of the same size
      etag = '"two"';
      expect(await startRow({ file })).toBe(0);
      const uninterrupted = join(folder, "whole");
      await ingest({ file: "high.tif", out: uninterrupted });
      const [actual, expected] = await Promise.all([out, uninterrupted].map((atlas) => readCatalog(atlas)));
      expect(actual?.hazards[0]?.packs[0]?.id).toBe(expected?.hazards[0]?.packs[0]?.id);
    } finally {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    }
  });
});
