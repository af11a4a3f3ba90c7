import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ingestRecipe, previewRecipe } from "../../../src/ingest/ingest.ts";
import { readJrcName } from "../../../src/ingest/recipes/jrcFloods.ts";
import { describeWithSharedData, SHARED_HAZARD_DATA } from "../../sharedData.ts";
import { faultOf, fixture, folder, metricsAt, out, provenances, useRecipeFolder } from "./recipeFixture.ts";

useRecipeFolder();

const PERIODS = [10, 20, 50, 100, 200, 500];
const sources = PERIODS.map((years) => fixture(`floodMapGL_rp${years}y.zip`));
/** The center of a cell of the fixtures, which have cells of 1/120 degree from latitude 50, longitude 8. */
const cell = (row: number, column: number) => ({
  latitude: 50 - (row + 0.5) / 120,
  longitude: 8 + (column + 0.5) / 120,
  hazard: "riverine_floods" as const,
});
/** The depth of the fixtures. */
const depthAt = (row: number, column: number, years: number): number =>
  Math.log(years) * 0.2 + column * 0.1 - row * 0.15;

describe("readJrcName", () => {
  test("parses the file names of the product", () => {
    for (const years of PERIODS) expect(readJrcName(`floodMapGL_rp${years}y.tif`)).toEqual({ kind: "map", map: years });
  });

  test.each([
    ["floodMapGL_rp25y.tif", /no map of 25 years/],
    ["floodMapGL_permWB.tif", /permanent water/],
    ["ID110_N20_E100_RP100_depth.tif", /version 2/],
  ])("ignores %s with a reason", (name, reason) => {
    expect(readJrcName(name)).toEqual({ kind: "ignored", reason: expect.stringMatching(reason) as string });
  });

  test("returns undefined for other names", () => expect(readJrcName("flood_rp100y.tif")).toBeUndefined());
});

describe("jrc-floods", () => {
  test("writes the baseline from the zip archives of the product, as they are downloaded", async () => {
    const report = await ingestRecipe("jrc-floods", { sources, out });
    expect(report.groups.map(({ scenario, year }) => [scenario, year])).toEqual([["baseline", 1980]]);
    expect(report.missingFiles).toEqual([]);
    const { depth_meters } = await metricsAt(cell(1, 9));
    expect(depth_meters).toBeCloseTo(depthAt(1, 9, 100), 3);
    const { "baseline 1980": provenance } = await provenances();
    expect(provenance).toMatchObject({
      recipe: "jrc-floods",
      licence: "CC BY 4.0",
      version: "1",
      baseline_window_note: "not recorded: the file names state no years",
    });
  });

  test("a cell that is missing on some maps is missing, unless missing cells are dry", async () => {
    // Its depth is above 0.05 m from 50 years on.
    const at = cell(5, 1);
    expect([depthAt(5, 1, 20) > 0.05, depthAt(5, 1, 50) > 0.05]).toEqual([false, true]);
    const report = await ingestRecipe("jrc-floods", { sources, out });
    expect(report.totals.cells.partlyMissing).toBeGreaterThan(0);
    expect(await metricsAt(at)).toMatchObject({ depth_meters: null, no_data: "no_data" });

    const filled = await ingestRecipe("jrc-floods", { sources, out, missingAsDry: true });
    expect(filled.totals.cells.partlyMissing).toBe(0);
    expect((await metricsAt(at))["depth_meters"]).toBeCloseTo(depthAt(5, 1, 100), 3);
    // Missing on all maps: the recipe cannot know whether it is dry land or the sea.
    expect(await metricsAt(cell(1, 11))).toMatchObject({ depth_meters: null, no_data: "no_data" });
    expect((await provenances())["baseline 1980"]).toMatchObject({ missing_as_dry: true });
  });

  test("lists return periods that are missing, and rejects maps that do not span 100 years", async () => {
    const some = sources.filter((_, index) => index !== 2);
    expect((await previewRecipe("jrc-floods", { sources: some, out })).missingFiles).toEqual(["floodMapGL_rp50y.tif"]);
    const short = { sources: sources.slice(0, 3), out };
    const { message } = await faultOf(ingestRecipe("jrc-floods", short));
    expect(message).toMatch(/return periods of 10, 20, 50 years, which do not span 100/);
    await ingestRecipe("jrc-floods", { ...short, holdFlat: true });
    expect((await provenances())["baseline 1980"]).toMatchObject({ hold_flat: true });
    expect((await metricsAt(cell(1, 9)))["depth_meters"]).toBeCloseTo(depthAt(1, 9, 50), 3);
  });

  test("finds maps in folders with archives, and reports every file that it cannot use", async () => {
    const maps = join(folder, "maps");
    await mkdir(maps);
    for (const years of PERIODS) {
      const name = `floodMapGL_rp${years}y.zip`;
      await writeFile(join(maps, name), await readFile(fixture(name)));
    }
    await writeFile(join(maps, "floodMapGL_permWB.tif"), "");
    await writeFile(join(maps, "other.tif"), "");
    const preview = await previewRecipe("jrc-floods", { sources: [maps], out });
    expect(preview.files).toHaveLength(6);
    expect(preview.ignoredFiles.map(({ file }) => file)).toEqual([
      join(maps, "floodMapGL_permWB.tif"),
      join(maps, "other.tif"),
    ]);
    const named = [join(maps, "other.tif"), fixture("floodMapGL_rp10y.zip"), join(maps, "floodMapGL_rp10y.zip")];
    const { message, items } = await faultOf(previewRecipe("jrc-floods", { sources: named, out }));
    expect(message).toBe("2 of the source files are rejected.");
    expect(items.map(({ code, pointer }) => [code, pointer])).toEqual([
      ["unknown", "/sources"],
      ["duplicate", "/sources"],
    ]);
  });
});

describeWithSharedData("jrc-floods on a public map in centimeters", () => {
  test("rejects depths that cannot be meters, instead of reading centimeters as meters", async () => {
    const crop = join(
      SHARED_HAZARD_DATA,
      "jrc_jamaica/JAM_label1in100_crop_RAW_cm_declared-nodata--9999_actual--999900.tif",
    );
    const renamed = join(folder, "floodMapGL_rp100y.tif");
    await writeFile(renamed, await readFile(crop));
    const options = { sources: [renamed], out, holdFlat: true };
    expect((await faultOf(ingestRecipe("jrc-floods", options))).message).toMatch(/-999900/);
    const { message } = await faultOf(ingestRecipe("jrc-floods", { ...options, nodata: -999_900 }));
    expect(message).toMatch(/floodMapGL_rp100y\.tif.*depth/s);
  });
});
