import { describe, expect, test } from "vitest";
import { gridOf } from "../../../src/atlas/catalog.ts";
import { ingestLayers, previewLayers } from "../../../src/ingest/ingest.ts";
import { manifest, map, out, readCatalog, rejectionMessage, useIngestFolder, withAtlas } from "../ingestFixture.ts";
import { openProjection } from "../../../src/ingest/reprojection/projection.ts";
import { crsOfText } from "../../../src/ingest/reprojection/crsText.ts";

useIngestFolder();

/** 70 x 80 cells of 1000 m in UTM zone 33. */
const UTM = { geoKeys: { 1024: 1, 3072: 32633 }, tiePoint: [400_000, 5_500_000], pixelScale: [1000, 1000] } as const;
const layer = { scenario: "rcp4p5", year: 2030, metric: "depth_meters" };

async function depthAt(latitude: number, longitude: number): Promise<unknown> {
  return withAtlas(async (atlas) => {
    const { results } = await atlas.hazardRisk({
      latitude,
      longitude,
      hazards: ["riverine_floods"],
      scenarios: ["rcp4p5"],
      analysis_years: [2030],
    });
    const [year] = results[0]?.scenarios[0]?.analysis_years ?? [];
    return year?.metrics.depth_meters ?? year?.no_data;
  });
}

/** Returns the location of the center of a cell of the UTM maps. */
async function locationOf(row: number, column: number, eastingM: number = UTM.tiePoint[0]) {
  const projection = await openProjection(crsOfText("EPSG:32633", { assumeWgs84: false }).crs);
  const at = projection.inverse(eastingM + 1000 * (column + 0.5), UTM.tiePoint[1] - 1000 * (row + 0.5));
  if (at === undefined) throw new Error("The cell is not on Earth.");
  return at;
}

describe("ingesting a projected map", () => {
  test("writes its values at their locations, and states how it was reprojected", async () => {
    await map("utm.tif", (cell) => cell % 50, UTM);
    await ingestLayers({
      manifest: await manifest({ layers: [{ ...layer, file: "utm.tif" }] }),
      out,
      cellSizeDeg: 1 / 240,
    });
    for (const [row, column] of [
      [0, 0],
      [35, 40],
      [69, 79],
    ] as const) {
      const { latDeg, lonDeg } = await locationOf(row, column);
      expect(await depthAt(latDeg, lonDeg)).toBe((row * 80 + column) % 50);
    }
    const { latDeg, lonDeg } = await locationOf(-3, 40);
    expect(await depthAt(latDeg, lonDeg)).not.toBe(0);
    const [hazard] = (await readCatalog()).hazards;
    expect(gridOf(hazard?.grid as never).cellSizeLatDeg).toBe(1 / 240);
    expect(hazard?.packs[0]?.groups[0]?.provenance).toMatchObject({
      metric_maps: [
        {
          file: "utm.tif",
          notes: { reprojected: { datum: "WGS 84", largest_spacing_in_source_cells: expect.any(Number) as number } },
        },
      ],
    });
  });

  test("uses the cells of the hazard in the atlas", async () => {
    await map("utm.tif", (cell) => cell % 50, UTM);
    await ingestLayers({
      manifest: await manifest({ layers: [{ ...layer, file: "utm.tif" }], options: { cell_size_deg: 0.01 } }),
      out,
    });
    const before = (await readCatalog()).hazards[0]?.grid;
    await ingestLayers({ manifest: await manifest({ layers: [{ ...layer, year: 2050, file: "utm.tif" }] }), out });
    expect((await readCatalog()).hazards[0]?.grid).toEqual(before);
  });

  test("reads a coordinate system that the file does not state from the manifest", async () => {
    await map("none.tif", (cell) => cell % 50, { ...UTM, geoKeys: null });
    const crs = "+proj=utm +zone=33 +datum=WGS84";
    await ingestLayers({ manifest: await manifest({ layers: [{ ...layer, file: "none.tif", crs }] }), out });
    const { latDeg, lonDeg } = await locationOf(35, 40);
    expect(await depthAt(latDeg, lonDeg)).toBe((35 * 80 + 40) % 50);
    await map("utm.tif", (cell) => cell % 50, UTM);
    const twice = ingestLayers({ manifest: await manifest({ layers: [{ ...layer, file: "utm.tif", crs }] }), out });
    expect(await rejectionMessage(twice)).toMatch(/utm\.tif: states its coordinate system; crs is only for files/);
  });

  test.each([
    [{ cellSizeDeg: 0 }, /cell size must be between/],
    [{ maxDistortion: 0.5 }, /largest distortion must be .* \(got 0\.5\)/],
    [{ cellSizeDeg: 0.1 }, /--cell-size .* has no effect/],
    [{ maxDistortion: 3 }, /--max-distortion .* has no effect/],
  ])("rejects the options %j for a map in degrees", async (options, expected) => {
    await map("degrees.tif", () => 1);
    const path = await manifest({ layers: [{ ...layer, file: "degrees.tif" }] });
    expect(await rejectionMessage(ingestLayers({ manifest: path, out, ...options }))).toMatch(expected);
  });
});

test("rejects a map of degrees that declares a projected coordinate system", async () => {
  await map("degrees.tif", () => 1, { geoKeys: UTM.geoKeys, tiePoint: [10, 20], pixelScale: [0.1, 0.1] });
  const path = await manifest({ layers: [{ ...layer, file: "degrees.tif" }] });
  expect(await rejectionMessage(ingestLayers({ manifest: path, out }))).toMatch(
    /declares the coordinate system .*32633.*, but its coordinates \(x from 10 to 18, y from 13 to 20\) are degrees/,
  );
});

describe("ingesting a mosaic", () => {
  test("joins tiles in degrees and names every file in the provenance", async () => {
    await map("tile_a.tif", () => 1);
    await map("tile_b.tif", () => 2, { tiePoint: [18, 20] });
    await ingestLayers({ manifest: await manifest({ layers: [{ ...layer, files: "tile_*.tif" }] }), out });
    expect([await depthAt(15, 17.95), await depthAt(15, 18.05)]).toEqual([1, 2]);
    const [hazard] = (await readCatalog()).hazards;
    expect(gridOf(hazard?.grid as never).columnCount).toBe(160);
    expect(hazard?.packs[0]?.groups[0]?.provenance).toMatchObject({
      metric_maps: [
        {
          mosaic: expect.stringContaining("must be equal") as string,
          files: [{ file: "tile_a.tif", sha256: expect.any(String) as string }, { file: "tile_b.tif" }],
        },
      ],
    });
  });

  test("reprojects UTM tiles onto common cells", async () => {
    await map("a.tif", () => 1, UTM);
    await map("b.tif", () => 2, { ...UTM, tiePoint: [480_000, 5_500_000] });
    await ingestLayers({ manifest: await manifest({ layers: [{ ...layer, files: ["a.tif", "b.tif"] }] }), out });
    const [west, east] = [await locationOf(35, 78), await locationOf(35, 1, 480_000)];
    expect([await depthAt(west.latDeg, west.lonDeg), await depthAt(east.latDeg, east.lonDeg)]).toEqual([1, 2]);
  });

  test("is previewed with every file", async () => {
    await map("tile_a.tif", () => 1);
    await map("tile_b.tif", () => 2, { tiePoint: [18, 20] });
    const path = await manifest({ layers: [{ ...layer, files: "tile_*.tif" }] });
    const { files } = await previewLayers({ manifest: path, out });
    expect(files.map(({ file }) => file.replace(/^.*\//, ""))).toEqual(["tile_a.tif", "tile_b.tif"]);
  });

  test("rejects differing overlaps unless the first map is to be used", async () => {
    await map("a.tif", () => 1);
    await map("b.tif", (cell) => (cell === 0 ? -5 : 2), { tiePoint: [14, 20] });
    const files = { ...layer, files: ["a.tif", "b.tif"] };
    const equal = ingestLayers({ manifest: await manifest({ layers: [files] }), out });
    expect(await rejectionMessage(equal)).toMatch(/b\.tif: row 0, column 40 .* has the value -5, but 1 in .*a\.tif/);
    await ingestLayers({ manifest: await manifest({ layers: [{ ...files, overlap: "first" }] }), out });
    expect([await depthAt(15, 17.95), await depthAt(15, 18.05)]).toEqual([1, 2]);
    await map("c.tif", (cell) => (cell === 79 ? -5 : 2), { tiePoint: [18, 20] });
    const negative = { ...layer, files: ["a.tif", "c.tif"], overlap: "first" };
    const other = { manifest: await manifest({ layers: [negative] }), out: `${out}2` };
    const message = await rejectionMessage(ingestLayers(other));
    expect(message).toMatch(/c\.tif: row 0, column 159 .*the value is -5, below zero/);
  });

  test("rejects errors in the list of files, all at once", async () => {
    await map("a.tif", () => 1);
    const layers = [
      { ...layer, files: ["a.tif", "a.tif"] },
      { ...layer, year: 2050, files: "b*.tif" },
      { ...layer, year: 2080, files: ["x*/a.tif"] },
    ];
    const path = await manifest({ layers });
    await expect(ingestLayers({ manifest: path, out })).rejects.toMatchObject({
      items: [
        { pointer: "/layers/0/files/1", code: "duplicate" },
        { pointer: "/layers/1/files", code: "empty" },
        { pointer: "/layers/2/files/0", code: "not_allowed" },
      ],
    });
  });

  test.each([
    [{ files: [] }, "/layers/0/files"],
    [{ file: "a.tif", files: ["b.tif"] }, "/layers/0"],
    [{}, "/layers/0"],
    [{ file: "a.tif", overlap: "first" }, "/layers/0/overlap"],
    [{ files: ["a.tif"], overlap: "last" }, "/layers/0/overlap"],
  ])("rejects the members %j of a layer", async (members, pointer) => {
    const path = await manifest({ layers: [{ ...layer, ...members }] });
    await expect(ingestLayers({ manifest: path, out })).rejects.toMatchObject({ items: [{ pointer }] });
  });
});
