import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { changeCaveats, sourceOf } from "../../src/hazard/provenance.ts";
import { openAtlas } from "../../src/index.ts";
import { ingestAqueductFloods, ingestLayers } from "../../src/ingest/ingest.ts";
import { makeGeoTiff } from "../ingest/makeGeoTiff.ts";
import type { AnalysisYearResult, HazardQueryInput, HazardResult } from "../../src/contract/wireTypes.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "isotherm-test-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** Writes a map of 4 x 4 cells of 0.1 degrees, northwest corner at (10, 20). */
async function writeMap(name: string, values: (cell: number) => number): Promise<string> {
  const file = join(folder, name);
  const shape = { rowCount: 4, columnCount: 4, tiePoint: [20, 10], pixelScale: [0.1, 0.1] } as const;
  await writeFile(file, makeGeoTiff({ ...shape, values: Array.from({ length: 16 }, (_, cell) => values(cell)) }));
  return file;
}

const QUERY: HazardQueryInput = {
  latitude: 9.95,
  longitude: 20.05,
  hazards: ["riverine_floods"],
  analysis_years: [2050],
  scenarios: ["rcp8p5"],
  detail: true,
};

function yearOf({ results }: HazardResult, index = 0): AnalysisYearResult {
  const year = results[0]?.scenarios[0]?.analysis_years[index];
  if (year === undefined) throw new Error("no analysis year");
  return year;
}

async function withAtlas<T>(use: (atlas: Awaited<ReturnType<typeof openAtlas>>) => Promise<T>): Promise<T> {
  const atlas = await openAtlas(join(folder, "atlas"));
  try {
    return await use(atlas);
  } finally {
    await atlas.close();
  }
}

const MODELS = ["00000NorESM1-M", "0000GFDL-ESM2M", "0000HadGEM2-ES", "00IPSL-CM5A-LR", "MIROC-ESM-CHEM"];
const PERIODS = [2, 5, 10, 25, 50, 100, 250, 500, 1000];

/**
 * Ingests a river atlas with the structure of the public one: one model for the past, five for the future, nine maps
 * each.
 */
async function aqueduct(): Promise<string> {
  for (const period of PERIODS) {
    const rp = String(period).padStart(5, "0");
    await writeMap(`inunriver_historical_000000000WATCH_1980_rp${rp}.tif`, (cell) => (cell * period) / 5000);
    for (const [m, model] of MODELS.entries()) {
      for (const year of [2030, 2050]) {
        await writeMap(`inunriver_rcp8p5_${model}_${year}_rp${rp}.tif`, (cell) => (cell * period * (m + 1)) / 5000);
      }
    }
  }
  await ingestAqueductFloods({ sources: [folder], out: join(folder, "atlas") });
  return join(folder, "atlas");
}

describe("sources", () => {
  test("are listed once per result, without their maps, which the holdings list", async () => {
    await aqueduct();
    await withAtlas(async (atlas) => {
      const years = [2030, 2050, 1980];
      const result = await atlas.hazardRisk({ ...QUERY, analysis_years: years, scenarios: ["rcp8p5", "baseline"] });
      const { sources = {} } = result;
      expect(Object.keys(sources)).toStrictEqual([
        "riverine_floods/rcp8p5/2030",
        "riverine_floods/rcp8p5/2050",
        "riverine_floods/baseline/1980",
      ]);
      expect(years.map((_, i) => yearOf(result, i).detail?.source)).toStrictEqual(Object.keys(sources));
      expect(sources["riverine_floods/rcp8p5/2050"]).toMatchObject({
        scenario: "rcp8p5",
        analysis_year: 2050,
        recipe: "aqueduct-floods",
        climate_models: expect.arrayContaining(["NorESM1-M", "MIROC-ESM-CHEM"]) as string[],
        return_periods_years: PERIODS,
        map_count: 45,
      });
      expect(yearOf(result).detail?.rules).toMatchObject({ threshold: 0.5, return_periods_years: PERIODS });
      expect(yearOf(result).detail).not.toHaveProperty("baseline_source");
      const heldSource = atlas.holdings[0]?.layers.find(({ analysis_year }) => analysis_year === 2050)?.source;
      expect(JSON.stringify(heldSource?.["return_period_maps"]).match(/\.tif/g)).toHaveLength(45);
      expect(JSON.stringify(result)).not.toContain(".tif");
      expect(await atlas.hazardRisk({ ...QUERY, detail: false })).not.toHaveProperty("sources");
      // Size that docs/operations.md states.
      const bytesOf = (answer: HazardResult): number => JSON.stringify(answer).length;
      const one = bytesOf(await atlas.hazardRisk(QUERY));
      expect(one).toBeLessThan(2000);
    });
  });
});

describe("a change", () => {
  test("states the source of the baseline and the members that differ from it", async () => {
    await aqueduct();
    await withAtlas(async (atlas) => {
      const result = await atlas.hazardRisk({ ...QUERY, anthropogenic: true });
      expect(yearOf(result).detail).toMatchObject({
        source: "riverine_floods/rcp8p5/2050",
        baseline_source: "riverine_floods/baseline/1980",
      });
      expect(Object.keys(result.sources ?? {})).toStrictEqual([
        "riverine_floods/rcp8p5/2050",
        "riverine_floods/baseline/1980",
      ]);
      const caveatsOf = (answer: HazardResult): string => yearOf(answer).detail?.caveats?.join("\n") ?? "";
      expect(caveatsOf(result)).toMatch(/^The climate models differ.*MIROC-ESM-CHEM.*WATCH for the baseline/);
      expect(caveatsOf(result)).not.toContain("maxima");
      const maximum = { ...QUERY, anthropogenic: true, radius: 20 } as const;
      expect(caveatsOf(await atlas.hazardRisk(maximum))).toContain("A change of maxima");
      expect(caveatsOf(await atlas.hazardRisk({ ...maximum, aggregation_method: "mean" }))).not.toContain("maxima");
      // The baseline minus itself has no caveats.
      const baselineChange = await atlas.hazardRisk({ ...maximum, analysis_years: [1980] });
      expect(yearOf(baselineChange).detail).not.toHaveProperty("caveats");
      expect(yearOf(baselineChange)).not.toHaveProperty("bounds");
    });
  });

  test("states no baseline source if the atlas has no baseline", async () => {
    const file = await writeMap("depth.tif", () => 1);
    await ingestLayers({
      manifest: await writeManifest([{ ...LATER, metric: "depth_meters", file }]),
      out: join(folder, "atlas"),
    });
    await withAtlas(async (atlas) => {
      const year = yearOf(await atlas.hazardRisk({ ...QUERY, anthropogenic: true }));
      expect(year.metrics.depth_meters).toBeNull();
      expect(year.detail).not.toHaveProperty("baseline_source");
      expect(year.detail?.valid_share).toBe(1);
      expect(year.detail?.metrics?.depth_meters).toStrictEqual({ valid_share: 1, no_data: "layer_missing" });
    });
  });

  const sourceWith = (scenario: string, provenance: Record<string, unknown>) =>
    sourceOf("coastal_floods", {
      scenario,
      year: scenario === "baseline" ? 1980 : 2050,
      layers: [],
      provenance,
    });

  test.each([
    ["subsidence", { subsidence: "none" }, { subsidence: "included" }, "The subsidence differs: included for"],
    ["a percentile", {}, { sea_level_percentile: 95 }, "95 for rcp8p5 2050, not stated for the baseline"],
    ["the product", { product: "A" }, { product: "B", version: "2" }, "The product differs: B 2 for"],
    ["the recipe", { recipe: "layers" }, { recipe: "aqueduct-floods" }, "The recipe differs"],
    ["the definition", {}, { definition: "local percentile" }, "The definition differs: local percentile"],
    [
      "return periods",
      { return_periods_years: [10] },
      { return_periods_years: [10, 100] },
      "The return periods differ",
    ],
  ])("between sources that differ in %s has a caveat", (_, before, after, words) => {
    const caveats = changeCaveats(sourceWith("rcp8p5", after), sourceWith("baseline", before));
    expect(caveats).toHaveLength(1);
    expect(caveats[0]).toContain(words);
    expect(changeCaveats(sourceWith("rcp8p5", after), sourceWith("baseline", after))).toStrictEqual([]);
  });
});

const LATER = { scenario: "rcp8p5", year: 2050 } as const;

async function writeManifest(layers: readonly object[]): Promise<string> {
  const file = join(folder, "manifest.json");
  const source = { name: "synthetic", licence: "none" };
  await writeFile(file, JSON.stringify({ hazard: "riverine_floods", source, layers }));
  return file;
}

describe("shares and reasons", () => {
  test("are given for each metric if they differ, with the minimum of the shares as the overall share", async () => {
    const depth = await writeMap("depth.tif", (cell) => (cell % 2 === 0 ? NaN : 1));
    const intensity = await writeMap("intensity.tif", () => 0.1);
    const layers = [
      { ...LATER, metric: "depth_meters", file: depth },
      { ...LATER, metric: "intensity", file: intensity },
    ];
    await ingestLayers({ manifest: await writeManifest(layers), out: join(folder, "atlas") });
    await withAtlas(async (atlas) => {
      const point = yearOf(await atlas.hazardRisk(QUERY));
      expect(point.no_data).toBe("no_data");
      expect(point.detail?.valid_share).toBe(0);
      expect(point.detail?.metrics).toStrictEqual({
        intensity: { valid_share: 1 },
        depth_meters: { valid_share: 0, no_data: "no_data" },
        probability: { no_data: "layer_missing" },
      });
      const circle = yearOf(await atlas.hazardRisk({ ...QUERY, radius: 60 }));
      expect(circle.detail?.valid_share).toBeCloseTo(0.5, 2);
      expect(circle.detail?.metrics?.intensity).toStrictEqual({ valid_share: 1 });
      expect(circle.detail?.metrics?.depth_meters?.valid_share).toBe(circle.detail?.valid_share);
      expect(circle.detail?.metrics?.probability).toStrictEqual({ no_data: "layer_missing" });
    });
  });

  test("are not given for each metric if they are equal or the atlas has no layer", async () => {
    const file = await writeMap("depth.tif", (cell) => (cell === 0 ? NaN : cell / 8));
    const layers = [10, 100].map((return_period_years) => ({ ...LATER, return_period_years, file }));
    await ingestLayers({ manifest: await writeManifest(layers), out: join(folder, "atlas") });
    await withAtlas(async (atlas) => {
      expect(yearOf(await atlas.hazardRisk(QUERY)).detail).not.toHaveProperty("metrics");
      expect(yearOf(await atlas.hazardRisk({ ...QUERY, radius: 30 })).detail).not.toHaveProperty("metrics");
      const none = await atlas.hazardRisk({ ...QUERY, analysis_years: [2080] });
      expect(yearOf(none).detail).toStrictEqual({ cells: 0, valid_share: 0, rules: expect.anything() as unknown });
      expect(none.sources).toStrictEqual({});
    });
  });
});
