/** What a manifest, a flag or an option of the library says about reading maps, through a whole ingest. */
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { CATALOGUE_NAME, decodeCatalogue } from "../../src/atlas/catalogue.ts";
import { isFault } from "../../src/errors.ts";
import { ingestAqueductFloods, ingestLayers, type IngestOptions } from "../../src/ingest/ingest.ts";
import { openAtlas } from "../../src/index.ts";
import { type GeoTiffSpec, makeGeoTiff } from "./makeGeoTiff.ts";

let folder: string;
let out: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "isotherm-options-"));
  out = join(folder, "atlas");
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** A map of the world in cells of 10 degrees with one column more than one turn; the columns of the seam differ. */
const WORLD: GeoTiffSpec = {
  rowCount: 18,
  columnCount: 37,
  values: Array.from({ length: 18 * 37 }, (_, cell) => (cell % 37 === 0 ? 2 : cell % 37 === 36 ? 3 : 1)),
  tie: [-180, 90],
  scale: [10, 10],
};

async function ingest(
  layer: Record<string, unknown>,
  { options, spec = WORLD, ...more }: { options?: object; spec?: GeoTiffSpec } & Partial<IngestOptions> = {},
): Promise<void> {
  await writeFile(join(folder, "map.tif"), makeGeoTiff(spec));
  const manifest = join(folder, "manifest.json");
  const content = {
    hazard: "riverine_floods",
    source: { name: "Test", licence: "none" },
    ...(options === undefined ? {} : { options }),
    layers: [{ scenario: "rcp4p5", year: 2030, metric: "depth_meters", file: "map.tif", ...layer }],
  };
  await writeFile(manifest, JSON.stringify(content));
  await ingestLayers({ manifest, out, ...more });
}

async function refusal(run: Promise<unknown>): Promise<string> {
  try {
    await run;
  } catch (error) {
    if (isFault(error)) return error.message;
    throw error;
  }
  throw new Error("It was taken.");
}

async function depthAtSeam(): Promise<unknown> {
  const atlas = await openAtlas(out);
  try {
    const { results } = await atlas.hazardRisk({
      latitude: 5,
      longitude: -175,
      hazards: ["riverine_floods"],
      scenarios: ["rcp4p5"],
      analysis_years: [2030],
    });
    return results[0]?.scenarios[0]?.analysis_years[0]?.metrics["depth_meters"];
  } finally {
    await atlas.close();
  }
}

describe("a meridian that a map repeats with other values", () => {
  test("is refused without a decision", async () => {
    expect(await refusal(ingest({}))).toContain("--keep-meridian west (the first) or east (the last)");
  });

  test.each([
    ["west", 2],
    ["east", 3],
  ] as const)("takes the %s column on request: by the option, or by the manifest", async (column, depth) => {
    await ingest({}, { keepMeridian: column });
    expect(await depthAtSeam()).toBe(depth);
    const bytes = await readFile(join(out, CATALOGUE_NAME));
    expect(JSON.stringify(await decodeCatalogue(bytes))).toContain(
      `"kept_meridian":"the ${column} column, where the two differ"`,
    );
    await rm(out, { recursive: true });
    await ingest({}, { options: { keep_meridian: column } });
    expect(await depthAtSeam()).toBe(depth);
  });

  test("is refused where manifest and option contradict each other, and for another word", async () => {
    const both = ingest({}, { keepMeridian: "west", options: { keep_meridian: "east" } });
    expect(await refusal(both)).toMatch(/keeps the east column .* the option says west/);
    expect(await refusal(ingest({}, { keepMeridian: "first" as "west" }))).toContain("must be one of west, east");
    await expect(ingest({}, { options: { keep_meridian: "first" } })).rejects.toMatchObject({
      items: [{ pointer: "/options/keep_meridian", allowed: ["west", "east"] }],
    });
  });
});

describe("a unit that a map states", () => {
  const spec = (unit: string): GeoTiffSpec => ({
    ...WORLD,
    values: Array.from({ length: 18 * 37 }, () => 1),
    metadata: `<GDALMetadata><Item name="UNITTYPE" sample="0" role="unittype">${unit}</Item></GDALMetadata>`,
  });

  test("contradicts the metric's: the map is refused, and both are named", async () => {
    expect(await refusal(ingest({}, { spec: spec("cm") }))).toMatch(
      /map\.tif: band 1 is in the unit "cm", depth_meters in m\. State the unit_factor 0\.01/,
    );
    expect(await refusal(ingest({ unit_factor: 100 }, { spec: spec("cm") }))).toContain("0.01 does");
  });

  test("is turned into the metric's by the factor of the manifest", async () => {
    await ingest({ unit_factor: 0.01 }, { spec: spec("cm") });
    expect(await depthAtSeam()).toBe(0.01);
  });

  test("is compared with the unit of the hazard's own metric for return periods, and of the recipe's maps", async () => {
    const layer = { metric: undefined, return_period_years: 100 };
    expect(await refusal(ingest(layer, { spec: spec("ft") }))).toContain('"ft", depth_meters in m');
    const file = join(folder, "inunriver_rcp4p5_00000NorESM1-M_2030_rp00100.tif");
    await writeFile(file, makeGeoTiff(spec("cm")));
    expect(await refusal(ingestAqueductFloods({ sources: [file], out }))).toContain('"cm", depth_meters in m');
  });
});

describe("options of an ingest that do not exist or have the wrong type", () => {
  const items = async (run: Promise<unknown>): Promise<readonly unknown[]> => {
    const error: unknown = await run.catch((thrown: unknown) => thrown);
    if (!isFault(error, "invalid_request")) throw error;
    return error.items;
  };

  test.each([
    ["an unknown option", { clampNegatives: true }, { pointer: "/clampNegatives", did_you_mean: "clampNegative" }],
    ["a wire-style name", { hold_flat: true }, { pointer: "/hold_flat", did_you_mean: "holdFlat" }],
    ["text for a switch", { holdFlat: "yes" }, { pointer: "/holdFlat", code: "wrong_type" }],
    ["NaN as a marker", { nodata: NaN }, { pointer: "/nodata", code: "wrong_type" }],
    ["a box as a list", { bbox: [0, 0, 1, 1] }, { pointer: "/bbox", code: "wrong_type" }],
    ["a box without its north edge", { bbox: { westDeg: 0, southDeg: 0, eastDeg: 1 } }, { pointer: "/bbox/northDeg" }],
    ["another column of the meridian", { keepMeridian: "north" }, { pointer: "/keepMeridian", code: "not_allowed" }],
    ["no signal", { signal: true }, { pointer: "/signal", code: "wrong_type" }],
  ])("are refused by both ingests: %s", async (_what, given, item) => {
    const options = { out, ...given };
    const manifest = join(folder, "no-such-manifest.json");
    expect(await items(ingestLayers({ manifest, ...options } as never))).toEqual([expect.objectContaining(item)]);
    const sources = [join(folder, "no-such-map.tif")];
    expect(await items(ingestAqueductFloods({ sources, ...options } as never))).toEqual([
      expect.objectContaining(item),
    ]);
  });

  test("are refused all at once, with what is missing", async () => {
    const pointers = (await items(ingestLayers({ manifests: "x", nodata: "-9999" } as never))).map(
      (item) => (item as { readonly pointer: string }).pointer,
    );
    expect(pointers).toEqual(["/nodata", "/manifest", "/out", "/manifests"]);
  });
});
