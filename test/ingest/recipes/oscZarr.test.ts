import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ingestRecipe, previewRecipe } from "../../../src/ingest/ingest.ts";
import { readOscPath } from "../../../src/ingest/recipes/oscStore.ts";
import { openAtlas } from "../../../src/index.ts";
import { folder, out, readCatalog, rejectionMessage, useIngestFolder } from "../ingestFixture.ts";

useIngestFolder();

const STORE = join(folder, "hazard.zarr");
const RETURN_PERIODS = [5, 10, 25, 50, 100, 250, 500, 1000];
const [ROW_COUNT, COLUMN_COUNT] = [4, 6];

interface OscArraySpec {
  /** Value of a return period in a cell. */
  readonly valueAt: (returnPeriodYears: number, cell: number) => number;
  readonly returnPeriods?: readonly number[];
  readonly attributes?: Readonly<Record<string, unknown>>;
}

/** Writes an array of the store in the layout of OS-Climate: Zarr version 2, [index, y, x], one chunk. */
async function writeArray(
  path: string,
  { valueAt, returnPeriods = RETURN_PERIODS, attributes = {} }: OscArraySpec,
): Promise<void> {
  const array = join(STORE, path);
  await mkdir(array, { recursive: true });
  const shape = [returnPeriods.length, ROW_COUNT, COLUMN_COUNT];
  const cellCount = ROW_COUNT * COLUMN_COUNT;
  const values = Float32Array.from({ length: returnPeriods.length * cellCount }, (_, i) =>
    valueAt(returnPeriods[Math.floor(i / cellCount)] ?? NaN, i % cellCount),
  );
  await writeFile(join(STORE, ".zgroup"), JSON.stringify({ zarr_format: 2 }));
  const metadata = { zarr_format: 2, shape, chunks: shape, dtype: "<f4", compressor: null, fill_value: "NaN" };
  await writeFile(join(array, ".zarray"), JSON.stringify({ ...metadata, order: "C", filters: null }));
  // Cells of half a degree from latitude 12, longitude 40.
  const stated = {
    transform_mat3x3: [0.5, 0, 40, 0, -0.5, 12, 0, 0, 1],
    crs: "EPSG:4326",
    index_name: "return period (years)",
    index_values: returnPeriods,
    units: "metres",
  };
  await writeFile(join(array, ".zattrs"), JSON.stringify({ ...stated, ...attributes }));
  await writeFile(join(array, "0.0.0"), new Uint8Array(values.buffer));
}

const river = (model: string): string => `inundation/wri/v2/inunriver_rcp8p5_${model}_2050`;

async function depthAt(latitude: number, longitude: number, hazard: "riverine_floods" | "coastal_floods") {
  const atlas = await openAtlas(out);
  try {
    const { results } = await atlas.hazardRisk({
      latitude,
      longitude,
      hazards: [hazard],
      scenarios: ["rcp8p5"],
      analysis_years: [2050],
    });
    return results[0]?.scenarios[0]?.analysis_years[0]?.metrics;
  } finally {
    await atlas.close();
  }
}

describe("osc-zarr", () => {
  test("reads the curves of all climate models, and lists other resources with the reason", async () => {
    await writeArray(river("00000NorESM1-M"), { valueAt: (years, cell) => (cell === 7 ? years / 100 : 0) });
    await writeArray(river("0000GFDL-ESM2M"), { valueAt: (years, cell) => (cell === 7 ? years / 50 : 0) });
    await writeArray(`${river("0000GFDL-ESM2M")}_map/1`, { valueAt: () => 0 });
    await writeArray("wind/iris/v1/max_speed_historical_2010", { valueAt: () => 0 });
    await writeArray("wind/jupiter/v1/max_1min_ssp585_2050", { valueAt: () => 0 });
    await writeArray("chronic_heat/osc/v2/mean_degree_days_above_32c_ACCESS-CM2_ssp585_2050", { valueAt: () => 0 });
    const report = await ingestRecipe("osc-zarr", { sources: [STORE], out });
    expect(report.groups).toMatchObject([{ hazard: "riverine_floods", scenario: "rcp8p5", year: 2050 }]);
    expect(report.ignoredFiles.map(({ reason }) => reason)).toEqual([
      expect.stringMatching(/not a resource that the recipe knows/),
      expect.stringMatching(/image pyramid/),
      expect.stringMatching(/shifts the IRIS winds by half a cell/),
      expect.stringMatching(/neither the unit of these winds/),
    ]);
    // Cell 7 is in row 1, column 1.
    expect(await depthAt(11.25, 40.75, "riverine_floods")).toMatchObject({ depth_meters: 1.5, intensity: 0.15 });
    expect(await depthAt(11.75, 40.25, "riverine_floods")).toMatchObject({ depth_meters: 0, probability: 0 });
    const provenance = (await readCatalog()).hazards[0]?.packs[0]?.groups[0]?.provenance ?? {};
    expect(provenance).toMatchObject({
      recipe: "osc-zarr",
      licence: "CC BY 4.0",
      return_period_maps: [{ model: "GFDL-ESM2M" }, { model: "NorESM1-M" }],
    });
    const [first] = provenance["return_period_maps"] as { readonly maps: readonly unknown[] }[];
    expect(first?.maps).toHaveLength(8);
    expect(first?.maps[0]).toMatchObject({ return_period_years: 5, band: 1, sha256: expect.any(String) as string });
  });

  test("accepts a part of the store, in any order of return periods", async () => {
    await writeArray("inundation/wri/v2/inuncoast_rcp8p5_wtsub_2050_0", {
      valueAt: (years) => years / 100,
      returnPeriods: [1000, 100, 2],
    });
    const part = join(STORE, "inundation", "wri", "v2");
    await ingestRecipe("osc-zarr", { sources: [part], out });
    expect(await depthAt(11.25, 40.75, "coastal_floods")).toMatchObject({ depth_meters: 1 });
    const [hazard] = (await readCatalog()).hazards;
    expect(hazard?.packs[0]?.groups[0]?.provenance).toMatchObject({ subsidence: "included", sea_level_percentile: 95 });
  });

  test.each([2, 3] as const)(
    "treats chunks that are not stored as missing, not as the fill value (Zarr version %i)",
    async (version) => {
      const array = join(STORE, river("00000NorESM1-M"));
      await mkdir(array, { recursive: true });
      const [shape, chunks] = [
        [3, ROW_COUNT, COLUMN_COUNT],
        [3, ROW_COUNT, COLUMN_COUNT / 2],
      ];
      const attributes = {
        transform_mat3x3: [0.5, 0, 40, 0, -0.5, 12, 0, 0, 1],
        crs: "EPSG:4326",
        index_values: [10, 100, 1000],
      };
      if (version === 2) {
        const metadata = { zarr_format: 2, shape, chunks, dtype: "<f4", compressor: null, fill_value: 0 };
        await writeFile(join(array, ".zarray"), JSON.stringify({ ...metadata, order: "C", filters: null }));
        await writeFile(join(array, ".zattrs"), JSON.stringify(attributes));
      } else {
        const metadata = {
          zarr_format: 3,
          node_type: "array",
          shape,
          data_type: "float32",
          chunk_grid: { name: "regular", configuration: { chunk_shape: chunks } },
          chunk_key_encoding: { name: "v2", configuration: { separator: "." } },
          fill_value: 0,
          codecs: [{ name: "bytes", configuration: { endian: "little" } }],
          attributes,
        };
        await writeFile(join(array, "zarr.json"), JSON.stringify(metadata));
      }
      // The western chunk is stored, and dry in its first cell; the eastern one is absent.
      const values = new Float32Array(3 * ROW_COUNT * (COLUMN_COUNT / 2)).fill(1.5);
      for (let period = 0; period < 3; period++) values[period * ROW_COUNT * (COLUMN_COUNT / 2)] = 0;
      await writeFile(join(array, "0.0.0"), new Uint8Array(values.buffer));
      await ingestRecipe("osc-zarr", { sources: [STORE], out });
      expect(await depthAt(11.75, 40.25, "riverine_floods")).toMatchObject({ depth_meters: 0 });
      expect(await depthAt(11.75, 40.75, "riverine_floods")).toMatchObject({ depth_meters: 1.5 });
      expect(await depthAt(11.75, 42.25, "riverine_floods")).toMatchObject({ depth_meters: null, probability: null });
      const provenance = JSON.stringify((await readCatalog()).hazards[0]?.packs[0]?.groups[0]?.provenance);
      expect(provenance).toContain('"cells_not_stored":"missing"');
    },
  );

  test.each([
    [[1, 10, 100], /return periods of riverine_floods must be different numbers above 1.*found 1, 10, 100/],
    [[10, 10, 100], /must be different numbers/],
    [[2, 5, 10], /do not span 100/],
  ])("rejects the return periods %j", async (returnPeriods, message) => {
    await writeArray(river("00000NorESM1-M"), { valueAt: () => 0, returnPeriods });
    expect(await rejectionMessage(ingestRecipe("osc-zarr", { sources: [STORE], out }))).toMatch(message);
  });

  test("rejects another unit, the same resource twice, addresses, and folders without a resource", async () => {
    await writeArray(river("00000NorESM1-M"), { valueAt: () => 0, attributes: { units: "millimetres" } });
    const ingest = (...sources: readonly string[]) => rejectionMessage(ingestRecipe("osc-zarr", { sources, out }));
    expect(await ingest(STORE)).toMatch(/unit "millimetres", but depth_meters is in m/);
    expect(await ingest(STORE, STORE)).toMatch(/is the same resource as/);
    expect(await ingest("https://example.com/hazard.zarr")).toMatch(/copy the resources of the store into a folder/);
    expect(await ingest(join(folder, "absent"))).toMatch(/there is no such folder/);
    await rm(STORE, { recursive: true });
    await mkdir(STORE);
    expect(await ingest(STORE)).toMatch(/has no Zarr array/);
    await writeArray("wind/jupiter/v1/max_1min_ssp585_2050", { valueAt: () => 0 });
    expect(await ingest(STORE)).toMatch(/no resource that the recipe uses.*neither the unit/);
    await expect(previewRecipe("osc-zarr", { sources: [], out })).rejects.toThrow(/at least one folder/);
  });
});

describe("readOscPath", () => {
  test.each([
    ["a/hazard.zarr/inundation/wri/v2/inunriver_historical_000000000WATCH_1980", "riverine_floods", "baseline", 1980],
    ["inundation/wri/v2/inunriver_rcp4p5_MIROC-ESM-CHEM_2080", "riverine_floods", "rcp4p5", 2080],
    ["inundation/wri/v2/inuncoast_historical_nosub_hist_0", "coastal_floods", "baseline", 1980],
    ["inundation/wri/v2/inuncoast_rcp4p5_wtsub_2030_0", "coastal_floods", "rcp4p5", 2030],
  ])("recognizes %s", (path, hazard, scenario, year) => {
    expect(readOscPath(path, {})).toMatchObject({ kind: "array", array: { hazard, scenario, year } });
  });

  test.each([
    ["inundation/wri/v2/inuncoast_rcp4p5_wtsub_2030_0_perc_50", /percentile 50/],
    ["inundation/wri/v2/inuncoast_historical_wtsub_2030_0", /subsidence until 2030/],
    ["inundation/river_tudelft/v2/flood_depth_unprot_rcp8p5_2035", /1985, 2035 and 2070/],
    [
      "wind/jupiter/v1/max_1min_ssp585_2050",
      /disagree between km\/h and m\/s.*nor that their index is a return period/,
    ],
    ["fire/jupiter/v1/fire_probability_ssp585_2050", /not the probability of a Fire Weather Index/],
    ["inundation/wri/v3/inunriver_rcp4p5_MIROC-ESM-CHEM_2080", /not a resource that the recipe knows/],
  ])("ignores %s with a reason", (path, reason) => {
    expect(readOscPath(path, {})).toEqual({ kind: "ignored", reason: expect.stringMatching(reason) as string });
  });
});
