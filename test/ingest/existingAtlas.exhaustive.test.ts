import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ingestAqueductFloods, ingestLayers } from "../../src/ingest/ingest.ts";
import {
  folder,
  manifest,
  map,
  metricsAt,
  out,
  readCatalog,
  rejectionMessage,
  river,
  snapshot,
  useIngestFolder,
  withAtlas,
} from "./ingestFixture.ts";

useIngestFolder();

describe("an ingest into an existing atlas", () => {
  async function createAtlas(): Promise<void> {
    await map(river(50), () => 0.25);
    await map(river(100), (cell) => cell / 1000);
    await map(river(100, { year: 2050 }), () => 2);
    await ingestAqueductFloods({ sources: [folder], out });
    await rm(join(folder, river(100, { year: 2050 })));
  }

  test.each([
    [
      "a value below zero",
      -0.5,
      /rp00100\.tif: row 68, column 33 \(latitude 13\.15000, longitude 13\.35000\): the value is -0\.5, below zero/,
    ],
    ["an infinite value", Infinity, /rp00100\.tif: row 68, column 33 .*the value is Infinity/],
    [
      "a depth above the largest step",
      65.6,
      /rp00100\.tif: row 68, column 33 .*the value 65\.5999\d* gives depth_meters 65\.5999\d* m; a layer stores 0 to 65\.533 m/,
    ],
  ])("leaves every byte unchanged if a new map has %s", async (_, value, expected) => {
    await createAtlas();
    const before = await snapshot();
    await map(river(100), (cell) => (cell === 68 * 80 + 33 ? value : 1));
    expect(await rejectionMessage(ingestAqueductFloods({ sources: [folder], out }))).toMatch(expected);
    expect(await snapshot()).toEqual(before);
  });

  test("leaves the atlas unchanged if a file is truncated", async () => {
    await createAtlas();
    const before = await snapshot();
    const file = await map(river(100), () => 1);
    const bytes = await readFile(file);
    await writeFile(file, bytes.subarray(0, bytes.length - 100));
    const message = await rejectionMessage(ingestAqueductFloods({ sources: [folder], out }));
    expect(message).toContain(file);
    expect(message).toMatch(/truncated at band 1, rows 63 to 69/);
    expect(await snapshot()).toEqual(before);
  });

  test("sets small negative values to zero with clampNegative, and counts them", async () => {
    await createAtlas();
    await map(river(50), (cell) => (cell === 9 ? -1e-3 : 0));
    const report = await ingestAqueductFloods({ sources: [folder], out, clampNegative: true });
    expect(report.groups[0]?.cells.clampedNegative).toBe(1);
  });

  test.each([
    [
      "an undeclared nodata value",
      -32767,
      {},
      /the value is -32767, which commonly marks missing cells.*--nodata -32767/s,
    ],
    ["a value far below zero", -5000, {}, /-5000: more than 1 m below zero.*--nodata -5000.*--clamp-tolerance/s],
    ["a marker within the tolerance", -99999, { clampTolerance: 1e6 }, /-99999, which commonly marks missing cells/],
    ["a value slightly beyond the tolerance", -1.001, {}, /the value is -1\.00.*more than 1 m below zero/],
    ["a value beyond the configured tolerance", -0.3, { clampTolerance: 0.25 }, /more than 0\.25 m below zero/],
    ["minus infinity", -Infinity, { clampTolerance: 1e6 }, /the value is -Infinity/],
  ])("leaves the atlas unchanged if clamping finds %s", async (_, value, more, expected) => {
    await createAtlas();
    const before = await snapshot();
    await map(river(100), (cell) => (cell === 68 * 80 + 33 ? value : 1));
    const message = await rejectionMessage(
      ingestAqueductFloods({ sources: [folder], out, clampNegative: true, ...more }),
    );
    expect(message).toMatch(/rp00100\.tif: row 68, column 33 \(latitude 13\.15000, longitude 13\.35000\)/);
    expect(message).toMatch(expected);
    expect(await snapshot()).toEqual(before);
  });

  test("records the clamp tolerance in the provenance", async () => {
    await createAtlas();
    await map(river(50), (cell) => ({ 9: -1, 10: -0.5 })[cell] ?? 0);
    await map(river(100), (cell) => (cell === 11 ? -1e-3 : 1));
    const report = await ingestAqueductFloods({ sources: [folder], out, clampNegative: true });
    expect(report.groups[0]?.cells.clampedNegative).toBe(3);
    const [entry] = (await readCatalog()).hazards[0]?.packs.at(-1)?.groups ?? [];
    expect(entry?.provenance).toMatchObject({ clamp_negative: true, clamp_tolerance: 1, clamped_cells: 3 });
  });

  test.each([0, -1, NaN, Infinity])("rejects a clamp tolerance of %d", async (clampTolerance) => {
    await map(river(100), () => 1);
    const options = { sources: [folder], out, clampNegative: true, clampTolerance };
    expect(await rejectionMessage(ingestAqueductFloods(options))).toMatch(
      /clamp tolerance.*above 0|clampTolerance must be a number/,
    );
  });

  test("rejects a clamp tolerance without clampNegative", async () => {
    await map(river(100), () => 1);
    expect(await rejectionMessage(ingestAqueductFloods({ sources: [folder], out, clampTolerance: 2 }))).toMatch(
      /clamp tolerance.*--clamp-negative/,
    );
  });

  test("replaces a (scenario, year), keeps the others and adds new ones", async () => {
    await createAtlas();
    await map(river(50), () => 3);
    await map(river(100), () => 4);
    await map(river(50, { year: 2080 }), () => 5);
    await map(river(100, { year: 2080 }), () => 6);
    const report = await ingestAqueductFloods({ sources: [folder], out, release: "second" });
    expect(report.groups.map(({ year, replaced }) => [year, replaced])).toEqual([
      [2030, true],
      [2080, false],
    ]);
    const packs = (await readCatalog()).hazards[0]?.packs ?? [];
    const groupStates = packs.map(({ groups }) => groups.map(({ year, superseded }) => [year, superseded === true]));
    expect(groupStates).toEqual([
      [
        [2030, true],
        [2050, false],
      ],
      [
        [2030, false],
        [2080, false],
      ],
    ]);
    await withAtlas(async (atlas) => {
      expect(atlas.release).toBe("second");
      const depth = async (year: number) => (await metricsAt(atlas, { row: 3, column: 3, year }))["depth_meters"];
      expect([await depth(2030), await depth(2050), await depth(2080)]).toEqual([4, 2, 6]);
    });
  });

  test("accepts an aligned part of the grid and reports outside_coverage around it", async () => {
    await createAtlas();
    await map(river(100, { year: 2080 }), () => 7);
    const part = { westDeg: 11, southDeg: 16.05, eastDeg: 12.5, northDeg: 18 };
    await rm(join(folder, river(50)));
    await rm(join(folder, river(100)));
    const report = await ingestAqueductFloods({ sources: [folder], out, bbox: part });
    expect(report.groups[0]?.cells).toMatchObject({ valid: 20 * 15, nodata: 0 });
    await withAtlas(async (atlas) => {
      const inside = [
        [20, 10],
        [39, 24],
      ] as const;
      const outside = [
        [19, 10],
        [20, 9],
        [40, 24],
        [39, 25],
      ] as const;
      for (const [row, column] of inside) {
        expect(await metricsAt(atlas, { row, column, year: 2080 })).toMatchObject({ depth_meters: 7 });
      }
      for (const [row, column] of outside) {
        expect(await metricsAt(atlas, { row, column, year: 2080 })).toMatchObject({ no_data: "outside_coverage" });
      }
    });
  });

  test("rejects a different grid and different rules", async () => {
    await createAtlas();
    const before = await snapshot();
    const file = await map("shifted.tif", () => 1, { tiePoint: [10.03, 20] });
    const layers = [{ scenario: "baseline", year: 1980, return_period_years: 100, file: "shifted.tif" }];
    const shifted = await rejectionMessage(ingestLayers({ manifest: await manifest({ layers }), out }));
    expect(shifted).toContain(file);
    expect(shifted).toMatch(/nor an aligned part/);
    const rules = { threshold: 1 };
    expect(await rejectionMessage(ingestLayers({ manifest: await manifest({ rules, layers }), out }))).toMatch(
      /different rules/,
    );
    expect(await snapshot()).toEqual(before);
  });
});
