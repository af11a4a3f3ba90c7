import { readFileSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { HAZARDS } from "../../../src/hazard/hazards.ts";
import { findAqueductFiles, readAqueductName } from "../../../src/ingest/recipes/aqueductFloods.ts";
import { describeWithSharedData, SHARED_HAZARD_DATA } from "../../sharedData.ts";

const DATA = join(SHARED_HAZARD_DATA, "aqueduct");

describe("readAqueductName", () => {
  test.each([
    ["inunriver_historical_000000000WATCH_1980_rp00100.tif", "riverine_floods", "baseline", 1980, "WATCH", 100],
    ["inunriver_rcp4p5_0000GFDL-ESM2M_2030_rp00002.tif", "riverine_floods", "rcp4p5", 2030, "GFDL-ESM2M", 2],
    [
      "x/djibouti_inunriver_rcp4p5_MIROC-ESM-CHEM_2030_rp01000.tif",
      "riverine_floods",
      "rcp4p5",
      2030,
      "MIROC-ESM-CHEM",
      1000,
    ],
    ["inuncoast_historical_nosub_hist_rp0001_5.tif", "coastal_floods", "baseline", 1980, "nosub", 1.5],
    ["inuncoast_rcp8p5_wtsub_2080_rp1000_0.tif", "coastal_floods", "rcp8p5", 2080, "wtsub", 1000],
  ])("parses %s", (name, hazard, scenario, year, model, returnPeriodYears) => {
    expect(readAqueductName(name)).toEqual({ kind: "map", map: { hazard, scenario, year, model, returnPeriodYears } });
  });

  test.each([
    ["inuncoast_rcp8p5_wtsub_2080_rp1000_0_perc_05.tif", /percentile 05/],
    ["inuncoast_rcp8p5_nosub_2080_rp1000_0.tif", /without land subsidence/],
    ["inuncoast_historical_wtsub_2030_rp0100_0.tif", /subsidence until 2030/],
    ["inuncoast_historical_wtsub_hist_rp0100_0.tif", /baseline is the historical map without/],
    ["inunriver_rcp8p5_00000NorESM1-M_2040_rp00100.tif", /has no such layer/],
    ["inunriver_rcp2p6_00000NorESM1-M_2030_rp00100.tif", /has no such layer/],
    ["inunriver_historical_00000NorESM1-M_1980_rp00100.tif", /WATCH/],
  ])("ignores %s with a reason", (name, reason) => {
    expect(readAqueductName(name)).toEqual({ kind: "ignored", reason: expect.stringMatching(reason) as string });
  });

  test("selects percentile, subsidence and climate models", () => {
    const kindOf = (name: string, choices: Parameters<typeof readAqueductName>[1]) =>
      readAqueductName(name, choices)?.kind;
    const choices = { percentile: "5", subsidence: "without", models: ["NorESM1-M"] } as const;
    expect(kindOf("inuncoast_rcp8p5_nosub_2080_rp1000_0_perc_05.tif", choices)).toBe("map");
    expect(kindOf("inuncoast_rcp8p5_nosub_2080_rp1000_0.tif", choices)).toBe("ignored");
    expect(kindOf("inuncoast_rcp8p5_wtsub_2080_rp1000_0_perc_05.tif", choices)).toBe("ignored");
    expect(kindOf("inuncoast_historical_nosub_hist_rp0100_0.tif", choices)).toBe("map");
    expect(kindOf("inunriver_rcp8p5_00000NorESM1-M_2050_rp00100.tif", choices)).toBe("map");
    expect(kindOf("inunriver_rcp8p5_0000GFDL-ESM2M_2050_rp00100.tif", choices)).toBe("ignored");
    expect(kindOf("inunriver_historical_000000000WATCH_1980_rp00100.tif", choices)).toBe("map");
  });

  test.each(["floods.tif", "inunriver_rcp4p5_MIROC_2030_rp100.tif", "inuncoast_rcp4p5_wtsub_2030_rp0100.tif"])(
    "returns undefined for %s",
    (name) => expect(readAqueductName(name)).toBeUndefined(),
  );
});

describeWithSharedData("readAqueductName for the inventory of the release", () => {
  const urls = (name: string): readonly string[] =>
    readFileSync(join(DATA, name), "utf8")
      .trim()
      .split("\n")
      .slice(1)
      .map((line) => line.trim().split(",").at(-1) ?? "");

  test("accepts all 279 river maps, with five models for each future year and one for 1980", () => {
    const names = urls("inventory_aqueduct_river.csv").map((url) => readAqueductName(url));
    expect(names).toHaveLength(279);
    const maps = names.flatMap((name) => (name?.kind === "map" ? [name.map] : []));
    expect(maps).toHaveLength(279);
    const models = (year: number): number =>
      new Set(maps.filter((map) => map.year === year).map(({ model }) => model)).size;
    expect([1980, 2030, 2050, 2080].map(models)).toEqual([1, 5, 5, 5]);
    expect(new Set(maps.map((map) => Object.values(map).join())).size).toBe(279);
  });

  test("recognizes all coastal maps and uses ten return periods for each scenario and year", () => {
    const names = urls("inventory_aqueduct_coastal.csv").map((url) => readAqueductName(url));
    expect(names).toHaveLength(410);
    expect(names.filter((name) => name === undefined)).toEqual([]);
    const maps = names.flatMap((name) => (name?.kind === "map" ? [name.map] : []));
    // 7 groups of 10 return periods: the baseline, and two scenarios for three years each.
    expect(maps).toHaveLength(70);
    expect(new Set(maps.map(({ returnPeriodYears }) => returnPeriodYears))).toEqual(
      new Set([1.5, 2, 5, 10, 25, 50, 100, 250, 500, 1000]),
    );
    for (const { scenario, year } of maps) {
      expect(HAZARDS.coastal_floods.scenarios).toContain(scenario);
      expect(HAZARDS.coastal_floods.years).toContain(year);
    }
    const reasons = new Set(
      names.flatMap((name) => (name?.kind === "ignored" ? [name.reason.replaceAll(/\d+/g, "N")] : [])),
    );
    expect(reasons.size).toBe(4);
  });
});

describe("findAqueductFiles", () => {
  let folder: string;
  const river = (years: string): string => `inunriver_rcp4p5_00000NorESM1-M_2030_rp${years}.tif`;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "isotherm-find-"));
    await mkdir(join(folder, "a/b"), { recursive: true });
    await mkdir(join(folder, "twice"));
    const names = [river("00100"), `a/b/${river("00250")}`, "a/other.tif", "a/readme.txt", `twice/x_${river("00100")}`];
    for (const name of names) await writeFile(join(folder, name), "");
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  test("searches folders recursively and lists files that are not part of the release", async () => {
    const { files, ignoredFiles } = await findAqueductFiles({
      sources: [join(folder, river("00100")), join(folder, "a")],
    });
    expect(files.map(({ map }) => map.returnPeriodYears)).toEqual([100, 250]);
    expect(ignoredFiles).toEqual([
      { file: join(folder, "a/other.tif"), reason: expect.stringMatching(/name/) as string },
    ]);
  });

  test("uses a file once that several sources contain, also if their paths are written differently", async () => {
    const sources = [join(folder, "a"), `${folder}/./a/b`, `${folder}/a/../a/b/${river("00250")}`];
    const { files, ignoredFiles } = await findAqueductFiles({ sources });
    expect(files.map(({ file }) => file)).toEqual([join(folder, "a/b", river("00250"))]);
    expect(ignoredFiles).toHaveLength(1);
  });

  test("rejects two files for one map and names both", async () => {
    await expect(findAqueductFiles({ sources: [folder] })).rejects.toThrow(/is the same map as .*rp00100/);
  });

  test("rejects a named file outside the release, a folder without maps, and an empty list", async () => {
    await expect(findAqueductFiles({ sources: [join(folder, "a/other.tif")] })).rejects.toThrow(/ingest layers/);
    await expect(findAqueductFiles({ sources: [join(folder, "nowhere")] })).rejects.toThrow(/no such file or folder/);
    await rm(join(folder, "a/b"), { recursive: true });
    await expect(findAqueductFiles({ sources: [join(folder, "a")] })).rejects.toThrow(/no Aqueduct Floods map/);
    await expect(findAqueductFiles({ sources: [] })).rejects.toThrow(/at least one/);
  });
});
