/** The small product files of test/fixtures/recipes, and access to the atlas that a recipe writes from them. */
import { randomUUID } from "node:crypto";
import { mkdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach } from "vitest";
import { CATALOG_NAME, decodeCatalog } from "../../../src/atlas/catalog.ts";
import { type Fault, isFault } from "../../../src/errors.ts";
import { openAtlas } from "../../../src/index.ts";
import type { HazardName, Scenario } from "../../../src/ingest/ingest.ts";

const FIXTURES = fileURLToPath(new URL("../../fixtures/recipes/", import.meta.url));

/** Returns the path of a fixture. */
export const fixture = (name: string): string => join(FIXTURES, name);

/** Folder for the files of one test. */
export const folder = join(tmpdir(), `isotherm-recipe-${randomUUID()}`);
/** Folder of the atlas of one test. */
export const out = join(folder, "atlas");
beforeEach(() => mkdir(folder));
afterEach(() => rm(folder, { recursive: true, force: true }));

/** Returns the provenance of each layer, by `scenario year`. */
export async function provenances(
  atlasFolder = out,
): Promise<Readonly<Record<string, Readonly<Record<string, unknown>>>>> {
  const { hazards } = await decodeCatalog(await readFile(join(atlasFolder, CATALOG_NAME)));
  return Object.fromEntries(
    hazards.flatMap(({ packs }) =>
      packs.flatMap(({ groups }) =>
        groups.map(({ scenario, year, provenance }) => [`${scenario} ${year}`, provenance] as const),
      ),
    ),
  );
}

/** A location, and the layers to return for it. */
export interface LocationQuery {
  readonly latitude: number;
  readonly longitude: number;
  readonly hazard: HazardName;
  readonly scenario?: Scenario;
  readonly year?: number;
}

/** Returns the metrics of a location through the public API; null members with the reason `no_data`. */
export async function metricsAt(query: LocationQuery, atlasFolder = out): Promise<Readonly<Record<string, unknown>>> {
  const { latitude, longitude, hazard, scenario = "baseline", year = 1980 } = query;
  const atlas = await openAtlas(atlasFolder);
  try {
    const { results } = await atlas.hazardRisk({
      latitude,
      longitude,
      hazards: [hazard],
      scenarios: [scenario],
      analysis_years: [year],
    });
    const [answer] = results[0]?.scenarios[0]?.analysis_years ?? [];
    return { ...answer?.metrics, ...(answer?.no_data === undefined ? {} : { no_data: answer.no_data }) };
  } finally {
    await atlas.close();
  }
}

/** Returns the `detail` of the answer for a location, as text. */
export async function detailAt(query: LocationQuery): Promise<string> {
  const { latitude, longitude, hazard, scenario = "baseline", year = 1980 } = query;
  const atlas = await openAtlas(out);
  try {
    const answer = await atlas.hazardRisk({
      latitude,
      longitude,
      hazards: [hazard],
      scenarios: [scenario],
      analysis_years: [year],
      detail: true,
    });
    return JSON.stringify(answer);
  } finally {
    await atlas.close();
  }
}

/** Returns the fault that an ingest or a preview fails with. */
export async function faultOf(run: Promise<unknown>): Promise<Fault> {
  try {
    await run;
  } catch (error) {
    if (isFault(error)) return error;
    throw error;
  }
  throw new Error("It was not rejected.");
}
