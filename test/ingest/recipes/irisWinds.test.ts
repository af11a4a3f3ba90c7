import { describe, expect, test } from "vitest";
import { ingestRecipe, previewRecipe } from "../../../src/ingest/ingest.ts";
import { detailAt, faultOf, fixture, metricsAt, out, provenances, useRecipeFolder } from "./recipeFixture.ts";

useRecipeFolder();

const sources = ["PRESENT", "2050-SSP1", "2050-SSP2", "2050-SSP5"].map((name) =>
  fixture(`IRIS_vmax_maps_${name}_tenthdeg.nc`),
);
/** The center of a cell of the fixtures, which have rows from south to north. */
const cell = (row: number, column: number) => ({
  latitude: 17.8 + row / 10,
  longitude: -67 + column / 10,
  hazard: "cyclones" as const,
});
const windAt = (row: number, column: number, years: number, shift = 0): number =>
  20 + shift + row + 0.5 * column + 4 * Math.log10(years);

describe("iris-winds", () => {
  test("writes the baseline, and lists future maps as not requested", async () => {
    const report = await ingestRecipe("iris-winds", { sources, out });
    expect(report.groups.map(({ scenario, year }) => [scenario, year])).toEqual([["baseline", 1980]]);
    expect(report.ignoredFiles.map(({ reason }) => reason)).toEqual([
      "SSP1-2.6 is used only on request, such as --map-scenario ssp126=rcp2p6",
      "SSP2-4.5 is used only on request, such as --map-scenario ssp245=rcp4p5",
      "SSP5-8.5 is used only on request, such as --map-scenario ssp585=rcp8p5",
    ]);
    const { wind_speed_mps, probability } = await metricsAt(cell(4, 8));
    expect(wind_speed_mps).toBeCloseTo(windAt(4, 8, 100), 2);
    // 33 = 20 + 4 + 4 + 4 log10(T): T = 10^1.25
    expect(probability).toBeCloseTo(10 ** -1.25, 4);
  });

  test("places the cells by their coordinates, which are centers", async () => {
    await ingestRecipe("iris-winds", { sources, out });
    // 0.04 degrees from a center is in its cell, 0.06 degrees in the next one.
    const { latitude, longitude, hazard } = cell(4, 4);
    const winds: unknown[] = [];
    for (const shiftDeg of [-0.06, -0.04, 0.04, 0.06]) {
      winds.push((await metricsAt({ hazard, latitude, longitude: longitude + shiftDeg }))["wind_speed_mps"]);
    }
    expect(winds.map(Number)).toEqual(
      [3, 4, 4, 5].map((column) => expect.closeTo(windAt(4, column, 100), 2) as number),
    );
    expect(await metricsAt(cell(0, 8))).toMatchObject({ wind_speed_mps: null, no_data: "no_data" });
    expect((await provenances())["baseline 1980"]).toMatchObject({
      recipe: "iris-winds",
      licence: "CC BY 4.0",
      baseline_window_note: expect.stringContaining("42 years") as string,
      registration: "cell centers at multiples of 0.1 degrees",
    });
  });

  test("uses future maps for the scenarios that the user declares", async () => {
    const mapScenario = { ssp245: "rcp4p5", ssp585: "rcp8p5" };
    await ingestRecipe("iris-winds", { sources, out, mapScenario });
    const future = { ...cell(4, 8), scenario: "rcp8p5", year: 2050 } as const;
    expect((await metricsAt(future))["wind_speed_mps"]).toBeCloseTo(windAt(4, 8, 100, 3), 2);
    const layers = await provenances();
    expect(Object.keys(layers)).toEqual(["baseline 1980", "rcp4p5 2050", "rcp8p5 2050"]);
    expect(layers["rcp4p5 2050"]).toMatchObject({ proxy_of: "ssp245", source_scenario: "SSP2" });
    expect(await detailAt(future)).toContain('"proxy_of":"ssp585"');
  });

  test("rejects SSP1-1.9 for any scenario, and names maps that a mapping needs", async () => {
    const { message } = await faultOf(ingestRecipe("iris-winds", { sources, out, mapScenario: { ssp119: "rcp2p6" } }));
    expect(message).toMatch(/there is no RCP scenario with the forcing of SSP1-1\.9/);
    const some = { sources: sources.slice(1, 2), out, mapScenario: { ssp126: "rcp2p6", ssp585: "rcp8p5" } };
    expect((await previewRecipe("iris-winds", some)).missingFiles).toEqual([
      "IRIS_vmax_maps_PRESENT_tenthdeg.nc",
      "IRIS_vmax_maps_2050-SSP5_tenthdeg.nc",
    ]);
  });
});
