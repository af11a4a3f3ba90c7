/** Small maps and manifests for ingest tests, and access to the atlas that an ingest writes. */
import { randomUUID } from "node:crypto";
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach } from "vitest";
import { CATALOG_NAME, type Catalog, decodeCatalog } from "../../src/atlas/catalog.ts";
import { isFault } from "../../src/errors.ts";
import type { IngestReport } from "../../src/ingest/ingest.ts";
import { type Atlas, openAtlas } from "../../src/index.ts";
import { type GeoTiffSpec, makeGeoTiff } from "./makeGeoTiff.ts";

/** Folder of the maps of a test. */
export const folder = join(tmpdir(), `isotherm-ingest-${randomUUID()}`);
/** Folder of the atlas written from the maps. */
export const out = join(folder, "atlas");

/** Gives each test of the calling file an empty folder. */
export function useIngestFolder(): void {
  beforeEach(() => mkdir(folder));
  afterEach(() => rm(folder, { recursive: true, force: true }));
}

/** 70 x 80 cells of a tenth of a degree, from latitude 20, longitude 10: more than one tile in each direction. */
const GRID = { rowCount: 70, columnCount: 80, tiePoint: [10, 20], pixelScale: [0.1, 0.1] } as const;
export const CELL_COUNT = GRID.rowCount * GRID.columnCount;
const cellCenter = (row: number, column: number) => ({
  latitude: 20 - (row + 0.5) / 10,
  longitude: 10 + (column + 0.5) / 10,
});

/** Writes a map with the value `at(cell)` in each cell and returns its path. */
export async function map(
  name: string,
  at: (cell: number) => number,
  more: Partial<GeoTiffSpec> = {},
): Promise<string> {
  const file = join(folder, name);
  const values = Array.from({ length: CELL_COUNT }, (_, cell) => at(cell));
  await writeFile(file, makeGeoTiff({ ...GRID, nodata: "-9999", rowsPerStrip: 7, values, ...more }));
  return file;
}

/** Writes a manifest and returns its path. */
export async function manifest(content: Record<string, unknown>, name = "manifest.json"): Promise<string> {
  const file = join(folder, name);
  await writeFile(
    file,
    JSON.stringify({ hazard: "riverine_floods", source: { name: "Test", licence: "none" }, ...content }),
  );
  return file;
}

/** Returns the file name of an Aqueduct river map. */
export const river = (years: number, { model = "00000NorESM1-M", year = 2030 } = {}): string =>
  `inunriver_rcp4p5_${model}_${year}_rp${String(years).padStart(5, "0")}.tif`;

export async function readCatalog(): Promise<Catalog> {
  return decodeCatalog(await readFile(join(out, CATALOG_NAME)));
}

export interface CellQuery {
  readonly row: number;
  readonly column: number;
  readonly scenario?: "baseline" | "rcp4p5" | "rcp8p5";
  readonly year?: number;
  readonly hazard?: "riverine_floods" | "cyclones" | "wildfire";
}

/** Returns the metrics of one cell through the public API. */
export async function metricsAt(atlas: Atlas, query: CellQuery): Promise<Readonly<Record<string, unknown>>> {
  const { results } = await atlas.hazardRisk({
    ...cellCenter(query.row, query.column),
    hazards: [query.hazard ?? "riverine_floods"],
    scenarios: [query.scenario ?? "rcp4p5"],
    analysis_years: [query.year ?? 2030],
    total_hazard: true,
  });
  const [year] = results[0]?.scenarios[0]?.analysis_years ?? [];
  return { ...year?.metrics, ...(year?.no_data === undefined ? {} : { no_data: year.no_data }) };
}

export async function withAtlas<T>(act: (atlas: Atlas) => Promise<T>): Promise<T> {
  const atlas = await openAtlas(out);
  try {
    return await act(atlas);
  } finally {
    await atlas.close();
  }
}

/** Returns the content of every file of the atlas except unfinished work. */
export async function snapshot(): Promise<Readonly<Record<string, string>>> {
  const names = (await readdir(out)).filter((name) => !name.startsWith(".")).toSorted();
  const bytes = await Promise.all(names.map((name) => readFile(join(out, name), "base64")));
  return Object.fromEntries(names.map((name, i) => [name, bytes[i] ?? ""]));
}

/** Returns the message of the fault that an ingest fails with. */
export async function rejectionMessage(run: Promise<IngestReport>): Promise<string> {
  try {
    await run;
  } catch (error) {
    if (isFault(error)) return error.message;
    throw error;
  }
  throw new Error("The ingest was not rejected.");
}
