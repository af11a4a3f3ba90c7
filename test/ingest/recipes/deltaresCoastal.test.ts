import { describe, expect, test } from "vitest";
import { ingestRecipe, previewRecipe } from "../../../src/ingest/ingest.ts";
import { readDeltaresName } from "../../../src/ingest/recipes/deltaresCoastal.ts";
import { detailAt, faultOf, fixture, metricsAt, out, provenances, useRecipeFolder } from "./recipeFixture.ts";

useRecipeFolder();

const sources = [fixture("deltares.zip")];
const mapScenario = { "2018slr": "baseline", "2050slr": "rcp8p5" };
const MERIT = { sources, out, elevationModel: "MERIT", mapScenario } as const;
/** The center of a cell of the fixtures, which have rows from south to north. */
const cell = (row: number, column: number) => ({
  latitude: 4.3 + (row + 0.5) / 120,
  longitude: 73.4 + (column + 0.5) / 120,
  hazard: "coastal_floods" as const,
});
const depthAt = (row: number, column: number, years: number, more = 0): number =>
  0.1 * column + 0.05 * row + 0.25 * Math.log(years) + more;

describe("readDeltaresName", () => {
  const mapping = new Map([["2050slr", "rcp8p5" as const]]);
  test("parses the file names of the product", () => {
    expect(readDeltaresName("GFM_global_NASADEM90m_2050slr_rp0025_masked.nc", { mapping })).toEqual({
      kind: "map",
      map: { elevationModel: "NASA", resolution: "90m", seaLevel: "2050slr", returnPeriodYears: 25 },
    });
  });

  test.each([
    ["GFM_global_MERITDEM1km_2050slr_rp0000_masked.nc", /without a storm/],
    ["GFM_global_MERITDEM1km_2050slr_rp0020_masked.nc", /no return period of 20 years/],
    ["GFM_global_MERITDEM1km_2018slr_rp0100_masked.nc", /only on request, such as --map-scenario 2018slr=baseline/],
    ["GFM_global_MERITDEM1km_2100slr_rp0100_masked.nc", /no sea level of 2100/],
    ["GFM_global_NASADEM1km_2050slr_rp0100_masked.nc", /--elevation-model selects MERIT/],
    ["GFM_global_MERITDEM90m_2050slr_rp0100_masked.nc", /--resolution selects 1km/],
    ["GFM_global_LIDAR5km_2050slr_rp0100_masked.nc", /LiDAR/],
  ])("ignores %s with a reason", (name, reason) => {
    const choices = { elevationModel: "MERIT", resolution: "1km", mapping } as const;
    expect(readDeltaresName(name, choices)).toEqual({
      kind: "ignored",
      reason: expect.stringMatching(reason) as string,
    });
  });

  test("returns undefined for other names", () => {
    expect(readDeltaresName("GFM_global_MERITDEM1km_2050slr_rp100_masked.nc", { mapping })).toBeUndefined();
  });
});

describe("deltares-coastal", () => {
  test("writes the sea levels as the declared scenarios, and records them", async () => {
    const report = await ingestRecipe("deltares-coastal", MERIT);
    expect(report.groups.map(({ scenario, year }) => [scenario, year])).toEqual([
      ["baseline", 1980],
      ["rcp8p5", 2050],
    ]);
    expect(report.missingFiles).toEqual([]);
    expect((await metricsAt(cell(8, 6)))["depth_meters"]).toBeCloseTo(depthAt(8, 6, 100), 3);
    const future = { ...cell(8, 6), scenario: "rcp8p5", year: 2050 } as const;
    expect((await metricsAt(future))["depth_meters"]).toBeCloseTo(depthAt(8, 6, 100, 0.3), 3);
    expect(await metricsAt(cell(0, 0))).toMatchObject({ depth_meters: 0, probability: 0 });
    expect(await metricsAt(cell(8, 13))).toMatchObject({ depth_meters: null, no_data: "no_data" });
    const layers = await provenances();
    expect(layers["baseline 1980"]).toMatchObject({
      recipe: "deltares-coastal",
      licence: "CDLA-Permissive-1.0",
      elevation_model: "MERIT",
      resolution: "1km",
      proxy_of: "2018slr",
      sea_level_year: 2018,
    });
    expect(layers["rcp8p5 2050"]).toMatchObject({ proxy_of: "2050slr", sea_level_year: 2050 });
    expect(await detailAt(future)).toContain('"proxy_of":"2050slr"');
  });

  test("requires a choice between elevation models", async () => {
    const { message } = await faultOf(previewRecipe("deltares-coastal", { sources, out, mapScenario }));
    expect(message).toBe(
      "The sources have maps of MERIT at 1km and NASA at 1km. Select one with --elevation-model (elevationModel) and --resolution (resolution).",
    );
    await ingestRecipe("deltares-coastal", { ...MERIT, elevationModel: "NASA" });
    expect((await metricsAt(cell(8, 6)))["depth_meters"]).toBeCloseTo(depthAt(8, 6, 100, 0.2), 3);
  });

  test("uses no sea level without a declared scenario", async () => {
    const { message } = await faultOf(ingestRecipe("deltares-coastal", { sources, out, elevationModel: "MERIT" }));
    expect(message).toMatch(/no Deltares flood map that the recipe uses/);
    expect(message).toMatch(/32 files were ignored: .*NASADEM1km.* and 15 more: the elevation model NASA; .*; /);
    expect(message).toMatch(/2018slr.* and 6 more: 2018slr is used only on request.*--map-scenario 2018slr=baseline; /);
    expect(message).toMatch(/2050slr.* and 6 more: 2050slr is used only on request.*--map-scenario 2050slr=rcp4p5; /);
    expect(message).toMatch(/rp0000_masked.nc and 1 more: return period 0000 is the mean sea level without a storm\.$/);
    const wrong = { sources, out, mapScenario: { "2018slr": "rcp8p5", "2050slr": "rcp2p6", ssp585: "rcp8p5" } };
    const { items } = await faultOf(ingestRecipe("deltares-coastal", wrong));
    expect(items.map(({ detail }) => detail)).toEqual([
      "2018slr=rcp8p5: 2018slr may be used only for baseline.",
      "2050slr=rcp2p6: 2050slr may be used only for rcp4p5 or rcp8p5.",
      expect.stringContaining("Accepted are 2018slr, 2050slr."),
    ]);
  });

  test("interpolates 2030 between the sea levels of 2018 and 2050 on request", async () => {
    await ingestRecipe("deltares-coastal", { ...MERIT, interpolateYears: [2030], interpolateFromBaseline: true });
    const between = { ...cell(8, 6), scenario: "rcp8p5", year: 2030 } as const;
    expect((await metricsAt(between))["depth_meters"]).toBeCloseTo(depthAt(8, 6, 100, (0.3 * 12) / 32), 3);
    const provenance = (await provenances())["rcp8p5 2030"];
    expect(provenance).toMatchObject({
      proxy_of: "2050slr",
      interpolated: [2018, 2050],
      interpolated_from_baseline: true,
      interpolated_epochs: [
        { scenario: "baseline", year: 1980, proxy_of: "2018slr", sea_level_year: 2018 },
        { scenario: "rcp8p5", year: 2050, proxy_of: "2050slr", sea_level_year: 2050 },
      ],
    });
    // The sea level of the layer is neither that of 2018 nor that of 2050.
    expect(provenance).not.toHaveProperty("sea_level_year");
    expect(await detailAt(between)).toContain('"interpolated":[2018,2050]');
  });
});
