/** Ingests of maps that change before, during or after a part of the ingest. */
import { createHash } from "node:crypto";
import { mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { readCatalog } from "../../src/atlas/writer.ts";
import { ingestLayers, type IngestOptions, type IngestReport } from "../../src/ingest/ingest.ts";
import { makeGeoTiff } from "./makeGeoTiff.ts";

const GRID = { rowCount: 300, columnCount: 70, tiePoint: [10, 20], pixelScale: [0.01, 0.01] } as const;

let folder: string;
let out: string;
let file: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "isotherm-test-"));
  out = join(folder, "atlas");
  file = join(folder, "map.tif");
  await writeFile(file, bytesOfMap(1));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

function bytesOfMap(depth: number): Buffer {
  const values = Array.from({ length: GRID.rowCount * GRID.columnCount }, (_, cell) => depth + (cell % 100) / 1000);
  return makeGeoTiff({ ...GRID, rowsPerStrip: 8, values });
}

/** Writes other values to the same file, keeping its size and modification time. */
async function changeInPlace(depth: number): Promise<void> {
  const { atime, mtime } = await stat(file);
  await writeFile(file, bytesOfMap(depth), { flag: "r+" });
  await utimes(file, atime, mtime);
}

async function ingest(options: Partial<IngestOptions> & { readonly source?: string } = {}): Promise<IngestReport> {
  const { source = file, ...rest } = options;
  const manifest = join(folder, "manifest.json");
  const layers = [{ scenario: "rcp4p5", year: 2030, metric: "depth_meters", file: source }];
  const content = { hazard: "riverine_floods", source: { name: "Test", licence: "none" }, layers };
  await writeFile(manifest, JSON.stringify(content));
  return ingestLayers({ manifest, out, checkpointSeconds: 0, ...rest });
}

/** Returns an `onProgress` that calls `act` once, after `row` rows. */
function atRow(row: number, act: () => void): Pick<IngestOptions, "onProgress"> {
  let isDone = false;
  return {
    onProgress({ rowsDone }) {
      if (isDone || rowsDone < row) return;
      isDone = true;
      act();
    },
  };
}

function abortAt(row: number): Pick<IngestOptions, "onProgress" | "signal"> {
  const stopping = new AbortController();
  return { signal: stopping.signal, ...atRow(row, () => stopping.abort(new Error("enough"))) };
}

/** Runs an ingest and returns the row at which it starts. */
async function startRow(options: Parameters<typeof ingest>[0] = {}): Promise<number | undefined> {
  const seen: number[] = [];
  await ingest({ ...options, onProgress: ({ rowsDone }) => void seen.push(rowsDone) });
  return seen[0];
}

const packOf = async (atlas: string) => (await readCatalog(atlas))?.hazards[0]?.packs[0];

describe("a local map", () => {
  test("is read from the start if it changed during an interruption, even with the same size and time", async () => {
    await expect(ingest(abortAt(128))).rejects.toThrow("enough");
    await changeInPlace(2);
    expect(await startRow()).toBe(0);
    const uninterrupted = join(folder, "whole");
    await ingest({ out: uninterrupted });
    expect((await packOf(out))?.id).toBe((await packOf(uninterrupted))?.id);
  });

  test("is resumed if it has the same content, even in a new file", async () => {
    await expect(ingest(abortAt(128))).rejects.toThrow("enough");
    const bytes = await readFile(file);
    await rm(file);
    await writeFile(file, bytes);
    expect(await startRow()).toBe(128);
  });

  test("is rejected if it changes while being read, and leaves nothing to resume", async () => {
    const changes: Promise<void>[] = [];
    const ingesting = ingest(atRow(128, () => void changes.push(changeInPlace(2))));
    await expect(ingesting).rejects.toMatchObject({
      code: "source_invalid",
      message: expect.stringMatching(/map\.tif: was replaced or changed while it was being read/) as string,
    });
    await Promise.all(changes);
    expect(await readCatalog(out)).toBeUndefined();
    expect((await readdir(out)).filter((name) => name !== ".writing-sources.json")).toEqual([]);
    expect(await startRow()).toBe(0);
  });

  test("has its SHA-256 and size in the provenance, and leaves no hash cache", async () => {
    await ingest();
    const bytes = await readFile(file);
    const sha256 = createHash("sha256").update(bytes).digest("hex");
    const [group] = (await packOf(out))?.groups ?? [];
    expect(group?.provenance).toMatchObject({ metric_maps: [{ file: "map.tif", sha256, size_bytes: bytes.length }] });
    expect((await readdir(out)).filter((name) => name.startsWith("."))).toEqual([]);
  });
});

describe("a remote map", () => {
  let server: Server;
  let bytes: Buffer;
  let validators: Readonly<Record<string, string>>;
  let shouldAnswerProbes: boolean;
  let source: string;

  beforeEach(async () => {
    bytes = bytesOfMap(1);
    validators = { ETag: '"one"' };
    shouldAnswerProbes = true;
    server = createServer((request, response) => {
      if (request.url !== "/map.tif") {
        response.writeHead(404).end();
        return;
      }
      const [, from, to] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? "") ?? [];
      const isProbe = request.method === "HEAD" || (from === "0" && to === "0");
      if (isProbe && !shouldAnswerProbes) {
        response.writeHead(503).end();
        return;
      }
      const part = bytes.subarray(Number(from ?? 0), to === undefined ? undefined : Number(to) + 1);
      const headers = { ...validators, "Content-Length": part.length };
      const range = `bytes ${from}-${Number(from) + part.length - 1}/${bytes.length}`;
      if (from === undefined) response.writeHead(200, headers);
      else response.writeHead(206, { ...headers, "Content-Range": range });
      response.end(request.method === "HEAD" ? undefined : part);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", () => resolve()));
    source = `http://127.0.0.1:${(server.address() as AddressInfo).port}/map.tif`;
  });
  afterEach(async () => {
    server.closeAllConnections();
    await new Promise<void>((resolve) => server.close(() => resolve()));
  });

  test("is rejected if it changes while being read, and is not published", async () => {
    const ingesting = ingest({ source, ...atRow(256, () => void (validators = { ETag: '"two"' })) });
    await expect(ingesting).rejects.toThrow(/changed while it was being read/);
    expect(await readCatalog(out)).toBeUndefined();
  });

  test.each([
    ["no headers", {}],
    ["only a weak ETag", { ETag: 'W/"one"' }],
  ])("without usable validators (%s) is read again after an interruption", async (_, headers) => {
    validators = headers;
    await expect(ingest({ source, ...abortAt(128) })).rejects.toThrow("enough");
    expect(await readdir(out)).toEqual([]);
    expect(await startRow({ source })).toBe(0);
    expect((await packOf(out))?.groups[0]?.provenance).toMatchObject({ metric_maps: [{ version_unknown: true }] });
  });

  test.each([{ ETag: '"one"' }, { "Last-Modified": "Sun, 22 Nov 2026 08:00:00 GMT" }])(
    "with the unchanged validators %j is resumed",
    async (headers) => {
      validators = headers;
      await expect(ingest({ source, ...abortAt(128) })).rejects.toThrow("enough");
      expect(await startRow({ source })).toBe(128);
    },
  );

  test("that cannot be checked at the end is not published, and its work is kept", async () => {
    const ingesting = ingest({ source, ...atRow(300, () => void (shouldAnswerProbes = false)) });
    await expect(ingesting).rejects.toThrow(/could not be checked after reading \(HTTP 503\).*to continue/s);
    expect(await readCatalog(out)).toBeUndefined();
    shouldAnswerProbes = true;
    expect(await startRow({ source })).toBe(300);
  });
});
