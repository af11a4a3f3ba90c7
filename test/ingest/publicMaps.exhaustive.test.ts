import { readdirSync, readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { ingestAqueductFloods, ingestLayers } from "../../src/ingest/ingest.ts";
import { openAtlas } from "../../src/index.ts";
import { describeWithSharedData, SHARED_HAZARD_DATA } from "../sharedData.ts";

/** Folder of public maps with values sampled by other tools; it is not part of this repository. */
const DATA = SHARED_HAZARD_DATA;

let out: string;
beforeEach(async () => {
  out = await mkdtemp(join(tmpdir(), "isotherm-public-"));
});
afterEach(() => rm(out, { recursive: true, force: true }));

interface Sample {
  readonly longitude: number;
  readonly latitude: number;
  readonly nearest: number;
  readonly alternative: number;
  readonly isMissing: boolean;
}

/** Returns the samples inside a one-band map. */
function samplesOf(file: string): readonly Sample[] {
  const [head = "", ...lines] = readFileSync(`${file}.samples.csv`, "utf8").trim().split("\n");
  const names = head.split(",");
  return lines
    .map((line) => line.replaceAll(/"[^"]*"/g, "").split(","))
    .map((fields) => (name: string) => fields[names.indexOf(name)] ?? "")
    .filter((field) => field("inside") === "1")
    .map((field) => ({
      // The outermost half cells of the world map extend across the antimeridian.
      longitude: ((Number(field("lon")) + 540) % 360) - 180,
      latitude: Number(field("lat")),
      nearest: Number(field("nearest_value")),
      alternative: field("alt_nearest_value") === "" ? NaN : Number(field("alt_nearest_value")),
      isMissing: field("is_nodata") === "1",
    }));
}

type Query = Parameters<Awaited<ReturnType<typeof openAtlas>>["hazardRisk"]>[0];

/** Returns the samples for which the atlas differs from the source by more than half a step. */
async function mismatchedSamples(
  samples: readonly Sample[],
  {
    hazard,
    metric,
    stepSize,
    factor = 1,
    scenario,
    year,
  }: {
    readonly hazard: "riverine_floods" | "cyclones";
    readonly metric: "depth_meters" | "wind_speed_mps";
    readonly stepSize: number;
    readonly factor?: number;
    readonly scenario: "baseline" | "rcp4p5";
    readonly year: number;
  },
): Promise<readonly unknown[]> {
  const atlas = await openAtlas(out);
  const mismatches: unknown[] = [];
  try {
    for (const sample of samples) {
      const { longitude, latitude } = sample;
      const query: Query = { longitude, latitude, hazards: [hazard], scenarios: [scenario], analysis_years: [year] };
      const [answer] = (await atlas.hazardRisk(query)).results[0]?.scenarios[0]?.analysis_years ?? [];
      const value = answer?.metrics[metric];
      const isNear = (source: number): boolean =>
        typeof value === "number" && Math.abs(value - source * factor) <= stepSize / 2 + 1e-12;
      const isMatch = sample.isMissing
        ? value === null && answer?.no_data === "no_data"
        : isNear(sample.nearest) || isNear(sample.alternative);
      if (!isMatch) mismatches.push({ sample, answer });
    }
  } finally {
    await atlas.close();
  }
  return mismatches;
}

async function manifest(content: unknown): Promise<string> {
  const file = join(out, "manifest.json");
  await writeFile(file, JSON.stringify(content));
  return file;
}

describeWithSharedData("ingest of public maps", () => {
  test("returns the 100-year depth of nine maps of Djibouti at every sample", async () => {
    const aqueduct = join(DATA, "aqueduct");
    const sources = readdirSync(aqueduct)
      .filter((name) => /^djibouti_inunriver.*\.tif$/.test(name))
      .map((name) => join(aqueduct, name));
    expect(sources).toHaveLength(9);
    const report = await ingestAqueductFloods({ sources, out });
    const [group] = report.groups;
    // 29.54 % of the cells of these maps are missing.
    expect(group?.cells).toMatchObject({ valid: 42_028, nodata: 256 * 233 - 42_028, partlyMissing: 0, raised: 0 });
    expect(group?.largestRounding.depth_meters).toBeLessThanOrEqual(0.0005 + 1e-12);
    const samples = samplesOf(sources.find((name) => name.includes("rp00100")) ?? "");
    expect(samples.some(({ isMissing }) => isMissing)).toBe(true);
    const layer = { hazard: "riverine_floods", metric: "depth_meters", scenario: "rcp4p5", year: 2030 } as const;
    expect(await mismatchedSamples(samples, { ...layer, stepSize: 0.001 })).toEqual([]);
  });

  test("uses a single 1000-year map with hold_flat", async () => {
    const file = join(DATA, "aqueduct/horn_of_africa_native_inunriver_rcp4p5_MIROC-ESM-CHEM_2030_rp01000.tif");
    const layers = [{ scenario: "rcp4p5", year: 2030, return_period_years: 1000, file }];
    const content = { hazard: "riverine_floods", source: { name: "Aqueduct", licence: "CC BY 4.0" }, layers };
    await expect(ingestLayers({ manifest: await manifest(content), out })).rejects.toThrow(/do not span 100/);
    await ingestLayers({ manifest: await manifest({ ...content, options: { hold_flat: true } }), out });
    const layer = { hazard: "riverine_floods", metric: "depth_meters", scenario: "rcp4p5", year: 2030 } as const;
    expect(await mismatchedSamples(samplesOf(file), { ...layer, stepSize: 0.001 })).toEqual([]);
  });

  test("converts global 10-minute winds registered at cell centers to 1-minute winds", async () => {
    const file = join(DATA, "storm/STORM_present_2020_rp10_global_0p1deg.tif");
    const layers = [{ scenario: "baseline", year: 1980, return_period_years: 10, file, unit_factor: 1 / 0.88 }];
    const content = {
      hazard: "cyclones",
      source: { name: "STORM", licence: "CC0" },
      options: { hold_flat: true },
      layers,
    };
    await ingestLayers({ manifest: await manifest(content), out });
    const layer = { hazard: "cyclones", metric: "wind_speed_mps", scenario: "baseline", year: 1980 } as const;
    expect(await mismatchedSamples(samplesOf(file), { ...layer, stepSize: 0.01, factor: 1 / 0.88 })).toEqual([]);
  });

  test("rejects centimeters with an undeclared nodata value, and accepts them if the option states it", async () => {
    const file = join(DATA, "jrc_jamaica/JAM_label1in100_crop_RAW_cm_declared-nodata--9999_actual--999900.tif");
    const layer = { scenario: "baseline", year: 1980, return_period_years: 100, file, unit_factor: 0.01 };
    const content = { hazard: "riverine_floods", source: { name: "JRC", licence: "CC BY 4.0" } };
    const rejected = ingestLayers({ manifest: await manifest({ ...content, layers: [layer] }), out });
    await expect(rejected).rejects.toThrow(/row 0, column 0 .*the value is -999900, below zero.*--nodata -999900/s);
    await ingestLayers({ manifest: await manifest({ ...content, layers: [{ ...layer, nodata: -999_900 }] }), out });
    const samples = samplesOf(file).map((sample) => ({ ...sample, isMissing: sample.nearest === -999_900 }));
    const query = { hazard: "riverine_floods", metric: "depth_meters", scenario: "baseline", year: 1980 } as const;
    expect(await mismatchedSamples(samples, { ...query, stepSize: 0.001, factor: 0.01 })).toEqual([]);
  });

  test("rejects curves with negative values, and clamps and counts them with clampNegative", async () => {
    const file = join(DATA, "climada/derived_san_salvador_flood_extreme_cc_2040_6rp.tif");
    const layers = [10, 25, 50, 75, 100, 200].map((return_period_years, index) => ({
      scenario: "baseline",
      year: 1980,
      return_period_years,
      file,
      band: index + 1,
    }));
    const content = { hazard: "riverine_floods", source: { name: "San Salvador", licence: "test" }, layers };
    await expect(ingestLayers({ manifest: await manifest(content), out })).rejects.toThrow(
      /band \d, row \d+, column \d+ .*below zero/,
    );
    const report = await ingestLayers({ manifest: await manifest(content), out, clampNegative: true });
    expect(report.groups[0]?.cells.clampedNegative).toBeGreaterThan(0);
    expect(report.groups[0]?.cells.raised).toBeGreaterThan(1000);
  });
});
