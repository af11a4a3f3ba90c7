import { describe, expect, test, vi } from "vitest";
import { ingestCommand } from "../../src/cli/ingest.ts";
import { type IngestPreview, ingestRecipe, previewRecipe } from "../../src/ingest/ingest.ts";
import { RECIPES } from "../../src/ingest/recipes/recipeList.ts";

vi.mock("../../src/ingest/ingest.ts", () => ({
  ingestRecipe: vi.fn<typeof ingestRecipe>(),
  previewRecipe: vi.fn<typeof previewRecipe>(),
}));

const PREVIEW: IngestPreview = {
  atlas: "a",
  currentRelease: undefined,
  files: [],
  hazards: [],
  ignoredFiles: [],
  missingFiles: Array.from({ length: 14 }, (_, index) => `map${index}.tif`),
};

/** Runs a dry run of a recipe, and returns the options that it passes to the library and its output. */
async function dryRun(...words: readonly string[]): Promise<{ readonly options: unknown; readonly printed: string }> {
  let printed = "";
  vi.spyOn(process.stdout, "write").mockImplementation((text) => {
    printed += String(text);
    return true;
  });
  const preview = vi.mocked(previewRecipe).mockResolvedValue(PREVIEW);
  await ingestCommand().parseAsync([...words, "--out=a", "--dry-run"], { from: "user" });
  const [name, given] = preview.mock.lastCall ?? [];
  vi.restoreAllMocks();
  const { signal: _signal, onProgress: _onProgress, out: _out, ...options } = { ...given } as Record<string, unknown>;
  return { options: { name, ...options }, printed };
}

/** Returns the error of a command line. */
async function errorOf(...words: readonly string[]): Promise<string> {
  let printed = "";
  const command = ingestCommand();
  for (const child of command.commands)
    child.exitOverride().configureOutput({ writeErr: (text) => void (printed += text) });
  await expect(command.parseAsync([...words, "--out=a"], { from: "user" })).rejects.toThrow(/./);
  return printed;
}

describe("the command of a recipe", () => {
  test("exists for each recipe, with a flag for each of its options", () => {
    const { commands } = ingestCommand();
    for (const [name, { options, summary }] of Object.entries(RECIPES)) {
      const command = commands.find((child) => child.name() === name);
      expect(command?.description()).toBe(summary);
      const names = command?.options.map((option) => option.attributeName());
      for (const option of options) expect(names).toContain(option.name);
    }
  });

  test("passes sources, lists, pairs, choices and numbers to the library", async () => {
    const { options } = await dryRun(
      "storm-winds",
      "a.zip",
      "b.zip",
      "--models=CMCC-CM2-VHR4,EC-Earth3P-HR",
      "--map-scenario=ssp585=rcp8p5",
      "--overlap=largest",
      "--interpolate-years=2025,2030",
      "--interpolate-years=2040",
      "--interpolate-from-baseline",
      "--proxy-scenario=rcp6p0=rcp8p5,rcp4p5=rcp8p5",
    );
    expect(options).toEqual({
      name: "storm-winds",
      sources: ["a.zip", "b.zip"],
      models: ["CMCC-CM2-VHR4", "EC-Earth3P-HR"],
      mapScenario: { ssp585: "rcp8p5" },
      overlap: "largest",
      interpolateYears: [2025, 2030, 2040],
      interpolateFromBaseline: true,
      proxyScenario: { rcp6p0: "rcp8p5", rcp4p5: "rcp8p5" },
    });
  });

  test("leaves the error of a recipe of earlier releases to the library, whatever its options", async () => {
    await ingestCommand().parseAsync(["osc-zarr", "maps", "--percentile=50", "--out=a"], { from: "user" });
    expect(vi.mocked(ingestRecipe).mock.lastCall?.[0]).toBe("osc-zarr");
  });

  test("passes flags and kebab-case names", async () => {
    const { options } = await dryRun("deltares-coastal", "maps", "--elevation-model=NASA", "--missing-as-dry");
    expect(options).toEqual({
      name: "deltares-coastal",
      sources: ["maps"],
      elevationModel: "NASA",
      missingAsDry: true,
    });
  });

  test("lists up to 12 missing files of the product", async () => {
    expect((await dryRun("jrc-floods", "maps")).printed).toContain("map10.tif, map11.tif and 2 more");
    expect((await dryRun("jrc-floods", "maps", "--json")).printed).toContain('"missing_files"');
  });

  test.each([
    [["storm-winds", "m", "--models=MIROC6"], "Allowed choices are CMCC-CM2-VHR4"],
    [["storm-winds", "m", "--models="], "one or more names"],
    [["iris-winds", "m", "--map-scenario=ssp585"], "It must be key=value"],
    [["iris-winds", "m", "--map-scenario=ssp585=rcp8p5,ssp585=rcp4p5"], "ssp585 is given as rcp8p5 and as rcp4p5"],
    [["deltares-coastal", "m", "--elevation-model=SRTM"], "Allowed choices are MERIT, NASA"],
    [["jrc-floods", "m", "--interpolate-years=soon"], "It must be a number"],
  ])("rejects %j", async (words, message) => expect(await errorOf(...words)).toContain(message));
});
