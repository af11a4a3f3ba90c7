import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ingestRecipe, type IngestReport, previewRecipe, type RecipeOptions } from "../../../src/ingest/ingest.ts";
import { RETURN_PERIODS_YEARS, stormName } from "../../../src/ingest/recipes/stormWinds.ts";
import { detailAt, faultOf, fixture, metricsAt, out, provenances, useRecipeFolder } from "./recipeFixture.ts";

useRecipeFolder();

const PRESENT = fixture("STORM_FIXED_RETURN_PERIODS_TIF_FILES.zip");
const CMCC = fixture("STORM_FIXED_RETURN_PERIODS_CMCC-CM2-VHR4_TIF_FILES.zip");
const HADGEM = fixture("STORM_FIXED_RETURN_PERIODS_HADGEM3-GC31-HM_TIF_FILES.zip");
const mapScenario = { ssp585: "rcp8p5" };

/** The wind of the fixtures: means over 10 minutes. */
const windAt = (latitude: number, longitude: number, years: number, shift = 0): number =>
  26 + 6 * Math.sin(longitude / 3) + 4 * Math.cos(latitude * 2) + shift + 3 * Math.log(years / 10);
/** The annual probability of 33 m/s over one minute, for a curve that is linear in the logarithm of the return period. */
const probabilityAt = (latitude: number, longitude: number, shift = 0): number =>
  Math.min(0.1, 0.1 * Math.exp((windAt(latitude, longitude, 10, shift) - 33 * 0.88) / 3));
const cyclonesAt = (latitude: number, longitude: number) => ({ latitude, longitude, hazard: "cyclones" as const });
/** Half a step of the probability. */
const HALF_STEP = 0.5 / 60_000;

describe("storm-winds with the present climate", () => {
  let atlasFolder: string;
  let report: IngestReport;
  beforeAll(async () => {
    atlasFolder = await mkdtemp(join(tmpdir(), "isotherm-storm-"));
    report = await ingestRecipe("storm-winds", { sources: [PRESENT], out: atlasFolder });
  });
  afterAll(() => rm(atlasFolder, { recursive: true, force: true }));

  test("writes the baseline from six basins with 28 return periods", async () => {
    expect(report.groups.map(({ scenario, year }) => [scenario, year])).toEqual([["baseline", 1980]]);
    expect(report.missingFiles).toEqual([]);
    const { "baseline 1980": provenance } = await provenances(atlasFolder);
    expect(provenance).toMatchObject({
      recipe: "storm-winds",
      licence: "CC0 1.0",
      baseline_window: [1980, 2017],
      baseline_window_note: expect.stringContaining("10.1126/sciadv.abm8438") as string,
      basins: ["EP", "NA", "NI", "SI", "SP", "WP"],
      wind_averaging: "means over 10 minutes, divided by 0.88 to give those over 1 minute",
      registration: "cell centers at multiples of 0.1 degrees",
    });
    const [curve] = (provenance?.["return_period_maps"] ?? []) as {
      maps: { return_period_years: number; files: unknown[] }[];
    }[];
    expect(curve?.maps.map(({ return_period_years }) => return_period_years)).toEqual(RETURN_PERIODS_YEARS);
    expect(curve?.maps.every(({ files }) => files.length === 6)).toBe(true);
  });

  test("divides 10-minute winds by 0.88 and gives the probability of 33 m/s, in every basin and beyond 180 degrees", async () => {
    // Longitudes as in the files; EP and NA are beyond 180 degrees, SP crosses them.
    const places = [
      [13.9, 268.3],
      [13.6, 271],
      [13.7, 88.4],
      [13.5, 130.8],
      [13.9, 179.4],
      [13.9, 180.6],
      [13.8, 140.5],
    ] as const;
    for (const [latitude, longitude] of places) {
      const shown = longitude > 180 ? longitude - 360 : longitude;
      const { wind_speed_mps, probability } = await metricsAt(cyclonesAt(latitude, shown), atlasFolder);
      expect(wind_speed_mps).toBeCloseTo(windAt(latitude, longitude, 100) / 0.88, 2);
      expect(Math.abs(Number(probability) - probabilityAt(latitude, longitude))).toBeLessThanOrEqual(HALF_STEP);
    }
    // NaN is missing: no cyclones are known there.
    expect(await metricsAt(cyclonesAt(13.8, 140.4), atlasFolder)).toMatchObject({
      wind_speed_mps: null,
      no_data: "no_data",
    });
    // Outside of all basins.
    expect(await metricsAt(cyclonesAt(13.8, 20), atlasFolder)).toMatchObject({ wind_speed_mps: null });
  });

  test("does not shift cells by half a cell", async () => {
    for (const shiftDeg of [-0.04, 0.04]) {
      const { wind_speed_mps } = await metricsAt(cyclonesAt(13.8 + shiftDeg, 140.5 + shiftDeg), atlasFolder);
      expect(wind_speed_mps).toBeCloseTo(windAt(13.8, 140.5, 100) / 0.88, 2);
    }
  });
});

describe("storm-winds", () => {
  test("uses future maps only on request, as the mean of the metrics of the models", async () => {
    const both: RecipeOptions<"storm-winds"> = { sources: [PRESENT, CMCC, HADGEM], out };
    const preview = await previewRecipe("storm-winds", both);
    expect(preview.hazards[0]?.groups.map(({ scenario }) => scenario)).toEqual(["baseline"]);
    expect(new Set(preview.ignoredFiles.map(({ reason }) => reason))).toEqual(
      new Set(["SSP5-8.5 is used only on request, such as --map-scenario ssp585=rcp8p5"]),
    );
    await ingestRecipe("storm-winds", { ...both, mapScenario, overlap: "largest" });
    const future = { ...cyclonesAt(13.8, 140.5), scenario: "rcp8p5", year: 2050 } as const;
    const { wind_speed_mps, probability } = await metricsAt(future);
    expect(wind_speed_mps).toBeCloseTo(windAt(13.8, 140.5, 100, 3) / 0.88, 2);
    const mean = (probabilityAt(13.8, 140.5, 2) + probabilityAt(13.8, 140.5, 4)) / 2;
    expect(Math.abs(Number(probability) - mean)).toBeLessThanOrEqual(HALF_STEP);
    expect((await provenances())["rcp8p5 2050"]).toMatchObject({ proxy_of: "ssp585", period: [2015, 2050] });
    const detail = await detailAt(future);
    expect(detail).toContain('"proxy_of":"ssp585"');
    expect(detail).toContain('"climate_models":["CMCC-CM2-VHR4","HadGEM3-GC31-HM"]');
  });

  test("selects climate models, and rejects names of models without maps", async () => {
    const one = { sources: [CMCC, HADGEM], out, mapScenario, models: ["CMCC-CM2-VHR4"] };
    await ingestRecipe("storm-winds", one);
    const future = { ...cyclonesAt(13.8, 140.5), scenario: "rcp8p5", year: 2050 } as const;
    expect((await metricsAt(future))["wind_speed_mps"]).toBeCloseTo(windAt(13.8, 140.5, 100, 2) / 0.88, 2);
    const { message } = await faultOf(ingestRecipe("storm-winds", { ...one, models: ["EC-Earth3P-HR"] }));
    expect(message).toMatch(/no STORM map|no maps of the model EC-Earth3P-HR/);
    const unknown = { ...one, models: ["MIROC6"] };
    expect((await faultOf(ingestRecipe("storm-winds", unknown))).items[0]?.pointer).toBe("/models/0");
  });

  test("rejects different values of two basins, unless a rule is chosen", async () => {
    const options: RecipeOptions<"storm-winds"> = { sources: [HADGEM], out, mapScenario };
    // Compared with NA, the fixture of EP has one m/s more in the first of these cells, and one less in the second.
    const windsAt = async (latitude: number): Promise<unknown> => {
      const future = { scenario: "rcp8p5", year: 2050 } as const;
      return (await metricsAt({ ...cyclonesAt(latitude, 269.5 - 360), ...future }))["wind_speed_mps"];
    };
    const { message } = await faultOf(ingestRecipe("storm-winds", options));
    expect(message).toMatch(/latitude 13\.70000, longitude 269\.50000.*--overlap/s);
    const [north, south] = [windAt(13.7, 269.5, 100, 4), windAt(13.6, 269.5, 100, 4)];
    await ingestRecipe("storm-winds", { ...options, overlap: "largest" });
    expect(await windsAt(13.7)).toBeCloseTo((north + 1) / 0.88, 2);
    expect(await windsAt(13.6)).toBeCloseTo(south / 0.88, 2);
    expect(JSON.stringify((await provenances())["rcp8p5 2050"])).toContain("the largest value");
    await ingestRecipe("storm-winds", { ...options, overlap: "first" });
    expect(await windsAt(13.7)).toBeCloseTo((north + 1) / 0.88, 2);
    expect(await windsAt(13.6)).toBeCloseTo((south - 1) / 0.88, 2);
  });

  test("interpolates years between the baseline and 2050 on request, model by model", async () => {
    const periods = [10, 50, 100, 1000].flatMap((years) =>
      ["EP", "NA", "NI", "SI", "SP", "WP"].map(
        (basin) => `${PRESENT}/${stormName({ model: undefined, basin, returnPeriodYears: years })}`,
      ),
    );
    await ingestRecipe("storm-winds", {
      sources: [...periods, CMCC, HADGEM],
      out,
      mapScenario,
      overlap: "largest",
      interpolateYears: [2025, 2030],
      interpolateFromBaseline: true,
      proxyScenario: { rcp6p0: "rcp8p5" },
    });
    const layers = await provenances();
    expect(Object.keys(layers)).toEqual([
      "baseline 1980",
      "rcp6p0 2025",
      "rcp6p0 2030",
      "rcp6p0 2050",
      "rcp8p5 2025",
      "rcp8p5 2030",
      "rcp8p5 2050",
    ]);
    expect(layers["rcp8p5 2030"]).toMatchObject({ interpolated: [1980, 2050], interpolated_from_baseline: true });
    expect(layers["rcp6p0 2030"]).toMatchObject({ proxy_of: ["rcp8p5", "ssp585"], interpolated: [1980, 2050] });
    const shift = (3 * 50) / 70;
    for (const scenario of ["rcp8p5", "rcp6p0"] as const) {
      const { wind_speed_mps } = await metricsAt({ ...cyclonesAt(13.8, 140.5), scenario, year: 2030 });
      expect(wind_speed_mps).toBeCloseTo(windAt(13.8, 140.5, 100, shift) / 0.88, 2);
    }
  });
});
