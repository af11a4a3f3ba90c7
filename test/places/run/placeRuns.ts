/** Files of random places, and runs on them. */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll } from "vitest";
import type { Atlas } from "../../../src/hazard/answer.ts";
import { openAtlas } from "../../../src/openAtlas.ts";
import type { OutputFormat } from "../../../src/places/run/placeJob.ts";
import type { PlaceManifest } from "../../../src/places/run/placeManifest.ts";
import { type PlaceRun, scorePlaceFile } from "../../../src/places/run/scorePlaceFile.ts";
import { manifestPathOf } from "../../../src/places/run/workFolder.ts";
import { randomFrom } from "../../seededRandom.ts";

/** A row of a file of places; `latitude` is text, because it may be invalid. */
export interface PlaceRow {
  readonly id: string;
  readonly latitude: string;
  readonly longitude: string;
  readonly radiusKm: string;
}

/** Regions of the places, few and small because the demo atlas computes each tile when it is first read. */
const REGIONS = [
  { latitude: 14.6, longitude: 121 },
  { latitude: 11.6, longitude: 43.1 },
  { latitude: -16.5, longitude: 179.8 },
  { latitude: 0, longitude: -140 },
  { latitude: 52.4, longitude: 4.9 },
] as const;

/** Returns random places, of which one in a hundred has no valid latitude. */
export function randomPlaces(count: number, seed = 1): readonly PlaceRow[] {
  const random = randomFrom(seed);
  return Array.from({ length: count }, (_, i) => {
    const region = random.pick(REGIONS);
    return {
      id: `site ${i}`,
      latitude: random.below(100) === 0 ? "north" : (region.latitude + random.below(401) / 1000).toFixed(3),
      longitude: (region.longitude + random.below(201) / 1000).toFixed(3),
      radiusKm: String(random.below(3) * 4),
    };
  });
}

export function placesCsv(places: readonly PlaceRow[]): string {
  const lines = places.map(({ id, latitude, longitude, radiusKm }) => `${id},${latitude},${longitude},${radiusKm}\n`);
  return `id,latitude,longitude,uncertainty_km\n${lines.join("")}`;
}

/** Three blocks, of which the last is not full. */
export const ROW_COUNT = 17_000;

export const OPTIONS = { hazards: ["riverine_floods"], scenarios: ["rcp8p5"], analysis_years: [2050] } as const;

export async function writePlaces(folder: string, places = randomPlaces(ROW_COUNT)): Promise<string> {
  const path = join(folder, "places.csv");
  await writeFile(path, placesCsv(places));
  return path;
}

/** Returns a function that returns the demo atlas, which is open during the tests of the file. */
export function demoAtlas(): () => Atlas {
  let atlas: Atlas | undefined;
  beforeAll(async () => {
    atlas = await openAtlas("demo");
  });
  afterAll(async () => {
    await atlas?.close();
  });
  return () => {
    if (atlas === undefined) throw new Error("The atlas is open during the tests.");
    return atlas;
  };
}

/** Scores a file with the options of the tests. */
export function score(
  atlas: Atlas,
  run: Partial<PlaceRun> & Pick<PlaceRun, "input" | "output">,
): ReturnType<typeof scorePlaceFile> {
  return scorePlaceFile(atlas, { outputFormat: formatOf(run.output), options: OPTIONS, ...run });
}

function formatOf(output: string): OutputFormat {
  const extension = output.slice(output.lastIndexOf(".") + 1);
  return extension as OutputFormat;
}

export async function readManifest(output: string): Promise<PlaceManifest> {
  return JSON.parse(await readFile(manifestPathOf(output), "utf8")) as PlaceManifest;
}

/** Compares a file with the expected bytes. @throws Error with the place of the first difference */
export async function expectFile(path: string, expected: Buffer): Promise<void> {
  const actual = await readFile(path);
  if (actual.equals(expected)) return;
  let at = 0;
  while (actual[at] === expected[at]) at++;
  const around = (bytes: Buffer): string => JSON.stringify(bytes.subarray(Math.max(0, at - 60), at + 60).toString());
  throw new Error(
    `${path} has ${actual.length} bytes instead of ${expected.length}, and differs at ${at}: ` +
      `${around(actual)} instead of ${around(expected)}`,
  );
}
