/** Options and manifest members that affect how maps are read, tested through a whole ingest. */
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { CATALOG_NAME, decodeCatalog } from "../../src/atlas/catalog.ts";
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

/** A world map of 10-degree cells with a repeated meridian whose two columns differ. */
const WORLD: GeoTiffSpec = {
  rowCount: 18,
  columnCount: 37,
  values: Array.from({ length: 18 * 37 }, (_, cell) => (cell % 37 === 0 ? 2 : cell % 37 === 36 ? 3 : 1)),
  tiePoint: [-180, 90],
  pixelScale: [10, 10],
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

async function rejectionMessage(run: Promise<unknown>): Promise<string> {
  try {
    await run;
  } catch (error) {
    if (isFault(error)) return error.message;
    throw error;
  }
  throw new Error("The ingest was not rejected.");
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

describe("a repeated meridian with different values", () => {
  test("is rejected without keepMeridian", async () => {
    expect(await rejectionMessage(ingest({}))).toContain("--keep-meridian west (the first) or east (the last)");
  });

  test.each([
    ["west", 2],
    ["east", 3],
  ] as const)("is read from the %s column if the option or the manifest selects it", async (column, depth) => {
    await ingest({}, { keepMeridian: column });
    expect(await depthAtSeam()).toBe(depth);
    const bytes = await readFile(join(out, CATALOG_NAME));
    expect(JSON.stringify(await decodeCatalog(bytes))).toContain(
      `"kept_meridian":"the ${column} column if the two differ"`,
    );
    await rm(out, { recursive: true });
    await ingest({}, { options: { keep_meridian: column } });
    expect(await depthAtSeam()).toBe(depth);
  });

  test("is rejected if manifest and option differ, and for other values", async () => {
    const contradicting = ingest({}, { keepMeridian: "west", options: { keep_meridian: "east" } });
    expect(await rejectionMessage(contradicting)).toMatch(/keep_meridian is east, but the option keepMeridian is west/);
    expect(await rejectionMessage(ingest({}, { keepMeridian: "first" as "west" }))).toContain(
      "must be one of west, east",
    );
    await expect(ingest({}, { options: { keep_meridian: "first" } })).rejects.toMatchObject({
      items: [{ pointer: "/options/keep_meridian", allowed: ["west", "east"] }],
    });
  });
});

describe("the unit that a map declares", () => {
  const spec = (unit: string): GeoTiffSpec => ({
    ...WORLD,
    values: Array.from({ length: 18 * 37 }, () => 1),
    metadata: `<GDALMetadata><Item name="UNITTYPE" sample="0" role="unittype">${unit}</Item></GDALMetadata>`,
  });

  test("is rejected if it differs from the unit of the metric", async () => {
    expect(await rejectionMessage(ingest({}, { spec: spec("cm") }))).toMatch(
      /map\.tif: band 1 is in the unit "cm", but depth_meters is in m\. Give the unit_factor 0\.01/,
    );
    expect(await rejectionMessage(ingest({ unit_factor: 100 }, { spec: spec("cm") }))).toContain(
      "the exact factor is 0.01",
    );
  });

  test("is converted by the unit_factor of the manifest", async () => {
    await ingest({ unit_factor: 0.01 }, { spec: spec("cm") });
    expect(await depthAtSeam()).toBe(0.01);
  });

  test("is checked for return-period maps and for Aqueduct maps", async () => {
    const layer = { metric: undefined, return_period_years: 100 };
    expect(await rejectionMessage(ingest(layer, { spec: spec("ft") }))).toContain('"ft", but depth_meters is in m');
    const file = join(folder, "inunriver_rcp4p5_00000NorESM1-M_2030_rp00100.tif");
    await writeFile(file, makeGeoTiff(spec("cm")));
    expect(await rejectionMessage(ingestAqueductFloods({ sources: [file], out }))).toContain(
      '"cm", but depth_meters is in m',
    );
  });
});

describe("unknown and mistyped options", () => {
  const items = async (run: Promise<unknown>): Promise<readonly unknown[]> => {
    const error: unknown = await run.catch((thrown: unknown) => thrown);
    if (!isFault(error, "invalid_request")) throw error;
    return error.items;
  };

  test.each([
    ["an unknown option", { clampNegatives: true }, { pointer: "/clampNegatives", did_you_mean: "clampNegative" }],
    ["a name in snake case", { hold_flat: true }, { pointer: "/hold_flat", did_you_mean: "holdFlat" }],
    ["a holdFlat that is text", { holdFlat: "yes" }, { pointer: "/holdFlat", code: "wrong_type" }],
    ["a nodata value of NaN", { nodata: NaN }, { pointer: "/nodata", code: "wrong_type" }],
    ["a bbox that is a list", { bbox: [0, 0, 1, 1] }, { pointer: "/bbox", code: "wrong_type" }],
    ["a bbox without its north edge", { bbox: { westDeg: 0, southDeg: 0, eastDeg: 1 } }, { pointer: "/bbox/northDeg" }],
    ["an unknown value of keepMeridian", { keepMeridian: "north" }, { pointer: "/keepMeridian", code: "not_allowed" }],
    ["a signal that is a boolean", { signal: true }, { pointer: "/signal", code: "wrong_type" }],
  ])("are rejected by both recipes (%s)", async (_what, given, item) => {
    const options = { out, ...given };
    const manifest = join(folder, "no-such-manifest.json");
    expect(await items(ingestLayers({ manifest, ...options } as never))).toEqual([expect.objectContaining(item)]);
    const sources = [join(folder, "no-such-map.tif")];
    expect(await items(ingestAqueductFloods({ sources, ...options } as never))).toEqual([
      expect.objectContaining(item),
    ]);
  });

  test("are reported together with missing options", async () => {
    const pointers = (await items(ingestLayers({ manifests: "x", nodata: "-9999" } as never))).map(
      (item) => (item as { readonly pointer: string }).pointer,
    );
    expect(pointers).toEqual(["/nodata", "/manifest", "/out", "/manifests"]);
  });
});
