import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { Compile } from "typebox/compile";
import { describe, expect, test } from "vitest";
import type { Catalog } from "../../src/atlas/catalog.ts";
import { formatInfo } from "../../src/cli/atlasInfo.ts";
import { stacItems } from "../../src/cli/atlasStac.ts";
import { folder, out, useIngestFolder } from "../ingest/ingestFixture.ts";
import { withPackedAtlas, writeCurveAtlas, writeFloodAtlas } from "./atlasFixture.ts";
import { STAC_ITEM_SCHEMA } from "./stacItemSchema.ts";

useIngestFolder();

const schema = Compile(STAC_ITEM_SCHEMA as unknown as Record<string, unknown>);

async function readCatalog(): Promise<Catalog> {
  await writeFloodAtlas();
  return withPackedAtlas(({ catalog }) => Promise.resolve(catalog));
}

/** Returns the catalog with another grid of its hazard. */
function withGrid(catalog: Catalog, grid: Partial<Catalog["hazards"][number]["grid"]>): Catalog {
  return { ...catalog, hazards: catalog.hazards.map((entry) => ({ ...entry, grid: { ...entry.grid, ...grid } })) };
}

const METHODS = {
  proxy_of: ["rcp8p5", "ssp585"],
  interpolated: [2030, 2050],
  sea_level_percentile: 50,
  subsidence: "included",
  hold_flat: true,
};

/** Returns the catalog with a provenance of its future layers that states how they were made. */
function withMethods(catalog: Catalog): Catalog {
  return {
    ...catalog,
    hazards: catalog.hazards.map((entry) => ({
      ...entry,
      packs: entry.packs.map((pack) => ({
        ...pack,
        groups: pack.groups.map((group) =>
          group.scenario === "baseline" ? group : { ...group, provenance: { ...group.provenance, ...METHODS } },
        ),
      })),
    })),
  };
}

/** Returns the catalog with another provenance of the groups of its supplements. */
function withSupplementProvenance(catalog: Catalog, change: object): Catalog {
  const changed = (entry: Catalog["hazards"][number]): Catalog["hazards"][number] => ({
    ...entry,
    packs: entry.packs.map((pack) => ({
      ...pack,
      groups: pack.groups.map((group) => ({ ...group, provenance: { ...group.provenance, ...change } })),
    })),
  });
  const hazards = catalog.hazards.map((entry) => (entry.hazard.endsWith(".supplement") ? changed(entry) : entry));
  return { ...catalog, hazards };
}

describe("a STAC item", () => {
  test("is valid and describes extent, times, license, providers and layers", async () => {
    const { type, features } = stacItems(await readCatalog());
    expect(type).toBe("FeatureCollection");
    const [item] = features;
    expect([...schema.Errors(item)]).toEqual([]);
    expect(item?.bbox).toEqual([10, 13, 18, 20]);
    expect(item?.geometry).toMatchObject({
      type: "Polygon",
      coordinates: [
        [
          [10, 13],
          [18, 13],
          [18, 20],
          [10, 20],
          [10, 13],
        ],
      ],
    });
    expect(item?.properties).toMatchObject({
      datetime: null,
      start_datetime: "1980-01-01T00:00:00Z",
      end_datetime: "2030-12-31T23:59:59Z",
      license: "CC-BY-4.0",
      providers: [{ name: "River maps <test> & more", url: "https://example.com/floods" }],
      "isotherm:layers": [
        { scenario: "baseline", analysis_year: 1980, licence: "CC BY 4.0" },
        { scenario: "rcp4p5", analysis_year: 2030, version: "2", credit: "Ward et al. (2020)", program: /^isotherm / },
      ].map(
        ({ program, ...layer }) =>
          expect.objectContaining({
            ...layer,
            ...(program && { program: expect.stringMatching(program) as string }),
          }) as unknown,
      ),
    });
    expect(item?.links).toEqual([{ rel: "via", href: "https://example.com/floods", title: "Source" }]);
  });

  test("has the checksum of every file of the atlas", async () => {
    const [item] = stacItems(await readCatalog()).features;
    const files = Object.entries(item?.assets ?? {}).filter(([name]) => name !== "catalog");
    expect(files).toHaveLength(3);
    for (const [name, asset] of files) {
      const bytes = await readFile(join(out, name));
      expect(asset["file:size"]).toBe(bytes.length);
      expect(asset["file:checksum"]).toBe(`1220${createHash("sha256").update(bytes).digest("hex")}`);
    }
  });

  test("has the files of curves among its assets, and is not doubled by them", async () => {
    await writeCurveAtlas();
    const catalog = await withPackedAtlas((atlas) => Promise.resolve(atlas.catalog));
    const { features } = stacItems(catalog);
    expect(features).toHaveLength(1);
    const files = (await readdir(out)).filter((name) => !name.startsWith(".") && name !== "atlas.json");
    const { catalog: _, ...assets } = features[0]?.assets ?? {};
    expect(Object.keys(assets).toSorted()).toEqual(files.toSorted());
    expect(catalog.hazards.map(({ hazard }) => hazard)).toContain("riverine_floods.supplement");
  });

  test("has two polygons if its grid crosses the antimeridian, and the whole world if the grid closes", async () => {
    const catalog = await readCatalog();
    const [across] = stacItems(withGrid(catalog, { west_deg: 176 })).features;
    expect([...schema.Errors(across)]).toEqual([]);
    expect(across?.bbox).toEqual([176, 13, -176, 20]);
    expect(across?.geometry).toMatchObject({ type: "MultiPolygon" });
    const world = withGrid(catalog, { west_deg: 0, cell_size_lon_deg: 4.5, north_deg: 90, cell_size_lat_deg: 3 });
    expect(stacItems(world).features[0]?.bbox).toEqual([-180, -90, 180, 90]);
  });

  test("has the license `other` if products have different or unknown licenses", async () => {
    const catalog = await readCatalog();
    const licensed = (licenses: readonly string[]): Catalog => ({
      ...catalog,
      hazards: catalog.hazards.map((entry) => ({
        ...entry,
        packs: entry.packs.map((pack) => ({
          ...pack,
          groups: pack.groups.map((group, index) => ({
            ...group,
            provenance: { ...group.provenance, licence: licenses[index] },
          })),
        })),
      })),
    });
    const licenseOf = (...licenses: readonly string[]) =>
      stacItems(licensed(licenses)).features[0]?.properties["license"];
    expect(licenseOf("CC0", "CC0 1.0")).toBe("CC0-1.0");
    expect(licenseOf("CC0", "CC BY 4.0")).toBe("other");
    expect(licenseOf("free for research", "free for research")).toBe("other");
  });

  test("states how each layer was made", async () => {
    const [item] = stacItems(withMethods(await readCatalog())).features;
    const [baseline, future] = (item?.properties["isotherm:layers"] ?? []) as readonly object[];
    expect([...schema.Errors(item)]).toEqual([]);
    expect(baseline).not.toHaveProperty("proxy_of");
    expect(future).toMatchObject(METHODS);
  });

  test("without start and end is invalid", async () => {
    const [item] = stacItems(await readCatalog()).features;
    const { start_datetime: _, ...properties } = item?.properties ?? {};
    expect(schema.Check({ ...item, properties })).toBe(false);
    expect(schema.Check({ ...item, bbox: [1, 2, 3] })).toBe(false);
  });
});

describe("isotherm atlas info", () => {
  test("has a note of how a layer was made", async () => {
    const text = formatInfo(withMethods(await readCatalog()));
    expect(text).toMatch(/│ scenario +│ year +│ metrics +│ source +│ note +│ pack/);
    const notes = text.split("\n").flatMap((line) => line.split("│")[5]?.trim() ?? []);
    expect(notes).toEqual(
      expect.arrayContaining([
        "proxy_of rcp8p5, ssp585",
        "interpolated 2030, 2050",
        "sea_level_percentile 50",
        "subsidence included",
        "hold_flat",
      ]),
    );
    expect(formatInfo(await readCatalog())).not.toContain("proxy_of");
  });

  test("lists the curves and ranges over models that the atlas keeps", async () => {
    await writeCurveAtlas();
    const catalog = await withPackedAtlas((atlas) => Promise.resolve(atlas.catalog));
    const linesOf = (change: object): readonly string[] =>
      formatInfo(withSupplementProvenance(catalog, change))
        .split("\n")
        .filter((line) => line.startsWith("  keeps"));
    expect(linesOf({})).toEqual(["  keeps     curve of rcp4p5 2030, 10 return periods"]);
    expect(linesOf({ kind: "curve_max" })).toEqual([
      "  keeps     largest curve over climate models of rcp4p5 2030, 10 return periods",
    ]);
    expect(linesOf({ kind: "metrics_min", return_periods_years: undefined })).toEqual([
      "  keeps     smallest metrics over climate models of rcp4p5 2030",
    ]);
    expect(linesOf({ kind: "of a later release" })).toEqual([]);
  });

  test("shows product, version, license, attribution, program, date and, on request, the files with their hashes", async () => {
    const catalog = await readCatalog();
    const text = formatInfo(catalog);
    for (const line of [
      "source    River maps <test> & more, version 2",
      "license   CC BY 4.0",
      "credit    Ward et al. (2020)",
      "address   https://example.com/floods",
      "files     2 (--files lists them)",
    ]) {
      expect(text).toContain(line);
    }
    expect(text).toMatch(/ingested {2}\d{4}-\d\d-\d\d by isotherm \d+\.\d+\.\d+/);
    expect(text).not.toContain("sha256");
    const hash = createHash("sha256")
      .update(await readFile(join(folder, "depth.tif")))
      .digest("hex");
    expect(formatInfo(catalog, { hasFiles: true })).toContain(`depth.tif  sha256 ${hash}`);
  });
});
