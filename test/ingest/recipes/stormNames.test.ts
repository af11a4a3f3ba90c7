import { describe, expect, test } from "vitest";
import { previewRecipe } from "../../../src/ingest/ingest.ts";
import { readStormName, RETURN_PERIODS_YEARS, stormName } from "../../../src/ingest/recipes/stormWinds.ts";
import { faultOf, fixture, out, useRecipeFolder } from "./recipeFixture.ts";

useRecipeFolder();

const PRESENT = fixture("STORM_FIXED_RETURN_PERIODS_TIF_FILES.zip");

describe("readStormName", () => {
  test.each([
    ["STORM_FIXED_RETURN_PERIODS_EP_10_YR_RP.tif", undefined, "EP", 10],
    ["STORM_FIXED_RETURN_PERIODS_constant_WP_10000_YR_RP.tif", undefined, "WP", 10_000],
    ["STORM_FIXED_RETURN_PERIODS_CMCC-CM2-VHR4_NA_300_YR_RP.tif", "CMCC-CM2-VHR4", "NA", 300],
    ["STORM_FIXED_RETURN_PERIODS_HADGEM3-GC31-HM_SI_20_YR_RP.tif", "HadGEM3-GC31-HM", "SI", 20],
    ["STORM_FIXED_RETURN_PERIODS_constant_100_YR_RP.tif", undefined, "world", 100],
    ["STORM_FIXED_RETURN_PERIODS_EC-Earth3P-HR_100_YR_RP.tif", "EC-Earth3P-HR", "world", 100],
  ])("parses %s", (name, model, basin, returnPeriodYears) => {
    expect(readStormName(name)).toEqual({ kind: "map", map: { model, basin, returnPeriodYears } });
  });

  test("the product has 28 return periods for each basin, whose names are parsed back", () => {
    expect(RETURN_PERIODS_YEARS).toHaveLength(28);
    for (const returnPeriodYears of RETURN_PERIODS_YEARS) {
      const map = { model: "CNRM-CM6-1-HR", basin: "SP", returnPeriodYears };
      expect(readStormName(stormName(map))).toEqual({ kind: "map", map });
    }
  });

  test.each([
    ["STORM_FIXED_RETURN_PERIODS_EP_25_YR_RP.tif", /no return period of 25 years/],
    ["STORM_FIXED_RETURN_PERIODS_MIROC6_EP_10_YR_RP.tif", /not a climate model of the product/],
    ["STORM_FIXED_RETURN_PERIODS_EP.nc", /NetCDF edition/],
    ["STORM_FIXED_TC_WIND_SPEEDS_EP.nc", /fixed wind speeds/],
  ])("ignores %s with a reason", (name, reason) => {
    expect(readStormName(name)).toEqual({ kind: "ignored", reason: expect.stringMatching(reason) as string });
  });

  test.each(["STORM_present_2020_rp10_global_0p1deg.tif", "STORM_FIXED_RETURN_PERIODS_10_YR_RP.tif"])(
    "returns undefined for %s",
    (name) => expect(readStormName(name)).toBeUndefined(),
  );
});

describe("incomplete maps", () => {
  const name = (basin: string, years: number): string =>
    `${PRESENT}/${stormName({ model: undefined, basin, returnPeriodYears: years })}`;

  test("are rejected if a basin lacks a return period of another, all at once", async () => {
    const sources = [name("EP", 10), name("EP", 100), name("NA", 10), name("NA", 100), name("NA", 200), name("WP", 10)];
    const { items } = await faultOf(previewRecipe("storm-winds", { sources, out }));
    expect(items.map(({ detail }) => detail)).toEqual([
      "STORM_FIXED_RETURN_PERIODS_EP_200_YR_RP.tif is missing, but another basin has a map of 200 years.",
      "STORM_FIXED_RETURN_PERIODS_WP_100_YR_RP.tif is missing, but another basin has a map of 100 years.",
      "STORM_FIXED_RETURN_PERIODS_WP_200_YR_RP.tif is missing, but another basin has a map of 200 years.",
    ]);
  });

  test("are accepted for some basins and return periods, and the others are listed", async () => {
    const sources = [name("NA", 10), name("NA", 100)];
    const { missingFiles } = await previewRecipe("storm-winds", { sources, out });
    expect(missingFiles).toHaveLength(6 * 28 - 2);
    expect(missingFiles).toContain("STORM_FIXED_RETURN_PERIODS_WP_100_YR_RP.tif");
    expect(missingFiles).not.toContain("STORM_FIXED_RETURN_PERIODS_NA_100_YR_RP.tif");
  });

  test("must span 100 years", async () => {
    const { message } = await faultOf(previewRecipe("storm-winds", { sources: [name("NA", 10), name("NA", 50)], out }));
    expect(message).toMatch(/do not span 100/);
  });
});
