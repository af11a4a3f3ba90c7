/** Atlases for the explorer's tests, written by the built command line. */
import { execFile } from "node:child_process";
import { mkdir, readdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { writeFloodMaps } from "../generatedMaps.ts";
import { SHARED_HAZARD_DATA } from "../sharedData.ts";

const CLI = fileURLToPath(new URL("../../dist/cli/main.js", import.meta.url));

/** Extent of the generated maps, degrees. */
export const GENERATED_BOX = { south: 11.75, north: 12, west: 43, east: 43.33 } as const;

async function ingest(...words: readonly string[]): Promise<void> {
  await promisify(execFile)(process.execPath, [CLI, "ingest", ...words], { maxBuffer: 1 << 26 });
}

/** Writes an atlas of generated flood maps with curves, for rcp4p5 2030. @returns its folder */
export async function writeGeneratedAtlas(folder: string): Promise<string> {
  const maps = join(folder, "generated maps");
  await mkdir(maps, { recursive: true });
  writeFloodMaps(maps);
  const out = join(folder, "generated");
  await ingest("aqueduct-floods", maps, "--keep-curves", "--out", out);
  return out;
}

/** Writes an atlas of the public maps of floods in Djibouti (with curves, rcp4p5 2030) and of cyclones in the world (baseline). */
export async function writePublicAtlas(folder: string): Promise<string> {
  const maps = join(folder, "public maps");
  await mkdir(maps, { recursive: true });
  const floodFolder = join(SHARED_HAZARD_DATA, "aqueduct");
  for (const name of await readdir(floodFolder)) {
    if (/^djibouti_inunriver_.*\.tif$/.test(name)) await symlink(join(floodFolder, name), join(maps, name));
  }
  const out = join(folder, "public");
  await ingest("aqueduct-floods", maps, "--keep-curves", "--out", out);
  const file = join(SHARED_HAZARD_DATA, "storm/STORM_present_2020_rp10_global_0p1deg.tif");
  const content = {
    hazard: "cyclones",
    source: { name: "STORM", licence: "CC0 1.0" },
    options: { hold_flat: true },
    // Winds over 10 minutes as winds over 1 minute.
    layers: [{ scenario: "baseline", year: 1980, return_period_years: 10, file, unit_factor: 1 / 0.88 }],
  };
  const manifest = join(folder, "storm.json");
  await writeFile(manifest, JSON.stringify(content));
  await ingest("layers", manifest, "--out", out);
  return out;
}
