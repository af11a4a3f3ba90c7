/**
 * Interrupts an ingest repeatedly by SIGKILL and by its abort signal; the result has the same bytes as an uninterrupted ingest.
 * There are several models and groups, so that chunks of slabs are saved as well.
 */
import { spawn } from "node:child_process";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { CATALOG_NAME } from "../../src/atlas/catalog.ts";
import { readCatalog } from "../../src/atlas/writer.ts";
import { ingestLayers } from "../../src/ingest/ingest.ts";
import { randomFrom } from "../seededRandom.ts";
import { makeGeoTiff } from "./makeGeoTiff.ts";

const LIBRARY = new URL("../../dist/ingest/ingest.js", import.meta.url).href;
const ROOT = fileURLToPath(new URL("../..", import.meta.url));
/** Child process that prints the number of finished rows. With checkpointSeconds 0, every kill finds saved work. */
const CHILD = `
  const { ingestLayers } = await import(${JSON.stringify(LIBRARY)});
  const [manifest, out, threads, keep] = process.argv.slice(1);
  const onProgress = ({ rowsDone }) => process.stdout.write(rowsDone + " ");
  const options = keep === "true" ? { keepCurves: true, keepRange: true } : {};
  await ingestLayers({ manifest, out, checkpointSeconds: 0, threads: Number(threads), onProgress, ...options });
`;
const GRID = { rowCount: 700, columnCount: 300, tiePoint: [10, 20], pixelScale: [0.01, 0.01] } as const;
const KILL_COUNT_MAX = 100;
/** Ingests that are killed and resumed until they finish; each is killed about ten times. */
const KILLED_INGEST_COUNT = Number(process.env["ISOTHERM_KILLED_INGESTS"] ?? 1);

let folder: string;
let manifest: string;
/** What uninterrupted ingests write, without and with curves and ranges. */
let plain: Written;
let withCurves: Written;

interface Written {
  readonly content: Readonly<Record<string, string>>;
  readonly provenance: unknown;
}

async function contentOf(atlas: string): Promise<Readonly<Record<string, string>>> {
  const names = (await readdir(atlas)).filter((name) => name !== CATALOG_NAME).toSorted();
  const bytes = await Promise.all(names.map((name) => readFile(join(atlas, name), "base64")));
  return Object.fromEntries(names.map((name, i) => [name, bytes[i] ?? ""]));
}
const provenanceIn = async (atlas: string) =>
  (await readCatalog(atlas))?.hazards.map(({ packs }) =>
    packs.map(({ groups }) => groups.map((group) => group.provenance)),
  );
const writtenTo = async (atlas: string): Promise<Written> => ({
  content: await contentOf(atlas),
  provenance: await provenanceIn(atlas),
});

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "isotherm-test-"));
  const random = randomFrom(77);
  const layers: object[] = [];
  for (const year of [2030, 2050]) {
    for (const model of ["a", "b"]) {
      for (const return_period_years of [50, 100, 500]) {
        const file = `${year}-${model}-${return_period_years}.tif`;
        const values = Array.from({ length: GRID.rowCount * GRID.columnCount }, () =>
          random.chance(0.1) ? -9999 : random.next() * Math.log(return_period_years),
        );
        // Tall strips make a slab taller than a row of tiles.
        await writeFile(join(folder, file), makeGeoTiff({ ...GRID, nodata: "-9999", rowsPerStrip: 100, values }));
        layers.push({ scenario: "rcp4p5", year, model, return_period_years, file });
      }
    }
  }
  manifest = join(folder, "manifest.json");
  const content = { hazard: "riverine_floods", source: { name: "Test", licence: "none" }, layers };
  await writeFile(manifest, JSON.stringify(content));
  await ingestLayers({ manifest, out: join(folder, "whole") });
  plain = await writtenTo(join(folder, "whole"));
  await ingestLayers({ manifest, out: join(folder, "curves"), keepCurves: true, keepRange: true });
  withCurves = await writtenTo(join(folder, "curves"));
}, 120_000);
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Runs the ingest in a child process, which is killed `delayMs` after it has reported its progress `reportCount` times. */
async function ingestAndKill(
  { reportCount, delayMs }: { readonly reportCount: number; readonly delayMs: number },
  out: string,
  { threads, keep }: { readonly threads: number; readonly keep: boolean },
): Promise<{ isDone: boolean; rows: readonly number[] }> {
  const given = [manifest, out, String(threads), String(keep)];
  const child = spawn(process.execPath, ["--input-type=module", "-e", CHILD, ...given], { cwd: ROOT });
  let stdoutText = "";
  let errorText = "";
  child.stderr.on("data", (piece: Buffer) => (errorText += piece.toString()));
  child.stdout.on("data", (piece: Buffer) => {
    const before = stdoutText.split(" ").length - 1;
    stdoutText += piece.toString();
    const after = stdoutText.split(" ").length - 1;
    if (before < reportCount && after >= reportCount) setTimeout(() => child.kill("SIGKILL"), delayMs);
  });
  const { code, signal } = await new Promise<{ code: number | null; signal: string | null }>((resolve) =>
    child.once("close", (code, signal) => resolve({ code, signal })),
  );
  if (code !== 0 && signal !== "SIGKILL") throw new Error(errorText);
  return { isDone: code === 0, rows: stdoutText.trim().split(" ").map(Number) };
}

test.each(
  Array.from({ length: KILLED_INGEST_COUNT }, (_, index) => [
    { threads: 0, keep: false, seed: 78 + index },
    { threads: 2, keep: false, seed: 78 + index },
    { threads: 2, keep: true, seed: 78 + index },
  ]).flat(),
)("finishes with the same bytes after repeated SIGKILL: %o", { timeout: 300_000 }, async ({ threads, keep, seed }) => {
  const random = randomFrom(seed);
  const out = join(folder, `killed-${threads}-${keep}-${seed}`);
  const startRows: number[] = [];
  let killCount = 0;
  for (let isDone = false; !isDone; killCount++) {
    expect(killCount).toBeLessThan(KILL_COUNT_MAX);
    // Counted in reports, so that the test also ends on a busy machine; the first report is made before any work.
    const moment = { reportCount: 1 + random.below(keep ? 9 : 3), delayMs: 30 * random.next() };
    // A process that is killed after publishing, before it exits, leaves nothing to resume: the next one starts at row 0.
    const isPublished = (await readCatalog(out)) !== undefined;
    const outcome = await ingestAndKill(moment, out, { threads, keep });
    isDone = outcome.isDone;
    if (!isPublished && Number.isFinite(outcome.rows[0])) startRows.push(outcome.rows[0] ?? NaN);
  }
  console.info(`killed ${killCount - 1} times; started at rows ${startRows.join(", ")}`);
  expect(killCount - 1).toBeGreaterThan(2);
  expect(startRows).toEqual(startRows.toSorted((a, b) => a - b));
  expect(await writtenTo(out)).toEqual(keep ? withCurves : plain);
});

test("finishes with the same bytes after repeated aborts by its signal", { timeout: 120_000 }, async () => {
  const random = randomFrom(79);
  const out = join(folder, "stopped");
  let stopCount = 0;
  for (let isDone = false; !isDone;) {
    const stopping = new AbortController();
    // Aborts are scheduled by event loop iterations rather than time, independent of machine load.
    let steps = Math.floor(random.next() * 40 * (1 + stopCount / 20));
    let isRunning = true;
    const count = (): void => {
      if (steps-- <= 0) stopping.abort(new Error("enough"));
      else if (isRunning) setImmediate(count);
    };
    const onProgress = (): void => void (steps > 0 && setImmediate(count));
    isDone = await ingestLayers({ manifest, out, checkpointSeconds: 3600, signal: stopping.signal, onProgress }).then(
      () => true,
      (error: Error) => {
        if (error.message !== "enough") throw error;
        stopCount++;
        return false;
      },
    );
    isRunning = false;
    expect(stopCount).toBeLessThan(500);
  }
  console.info(`stopped ${stopCount} times`);
  expect(stopCount).toBeGreaterThan(2);
  expect(await writtenTo(out)).toEqual(plain);
});
