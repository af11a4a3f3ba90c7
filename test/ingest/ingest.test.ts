import { readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ingestAqueductFloods } from "../../src/ingest/ingest.ts";
import {
  CELL_COUNT,
  folder,
  map,
  metricsAt,
  out,
  readCatalog,
  rejectionMessage,
  river,
  useIngestFolder,
  withAtlas,
} from "./ingestFixture.ts";

useIngestFolder();

describe("ingestAqueductFloods with river maps", () => {
  test("writes depth, probability, intensity and total hazard, and keeps missing cells and zeros", async () => {
    // Cell 0 reaches 0.5 m at 50 years; cell 1 is dry; cell 2 is missing on one map, cell 81 on all.
    const depths: Readonly<Record<number, (cell: number) => number>> = {
      10: (cell) => [0.1, 0, 0.2, 1][cell] ?? (cell === 81 ? -9999 : 0.3),
      50: (cell) => [0.5, 0, 0.3, 1][cell] ?? (cell === 81 ? -9999 : 0.4),
      100: (cell) => [0.7, 0, -9999, 1][cell] ?? (cell === 81 ? -9999 : 0.45 + cell / 1e4),
      500: (cell) => [0.9, 0, 0.6, 1][cell] ?? (cell === 81 ? -9999 : 0.49),
    };
    for (const [years, at] of Object.entries(depths)) await map(river(Number(years)), at);
    const report = await ingestAqueductFloods({ sources: [folder], out });

    expect(report.groups).toHaveLength(1);
    const [group] = report.groups;
    expect(group).toMatchObject({ hazard: "riverine_floods", scenario: "rcp4p5", year: 2030, replaced: false });
    expect(group?.cells).toMatchObject({
      valid: CELL_COUNT - 2,
      nodata: 2,
      zero: 1,
      partlyMissing: 1,
      reachedAtFirst: 1,
    });
    expect(group?.largestRounding.depth_meters).toBeLessThanOrEqual(0.0005 + 1e-12);

    await withAtlas(async (atlas) => {
      expect(atlas.release).toBe(report.release);
      expect(await metricsAt(atlas, { row: 0, column: 0 })).toEqual({
        intensity: 0.07,
        depth_meters: 0.7,
        probability: 1 / 50,
        total_hazard: 84 / 60_000,
      });
      expect(await metricsAt(atlas, { row: 0, column: 1 })).toEqual({
        intensity: 0,
        depth_meters: 0,
        probability: 0,
        total_hazard: 0,
      });
      for (const cell of [
        { row: 0, column: 2 },
        { row: 1, column: 1 },
      ]) {
        expect(await metricsAt(atlas, cell)).toMatchObject({
          depth_meters: null,
          probability: null,
          no_data: "no_data",
        });
      }
      expect(await metricsAt(atlas, { row: 0, column: 3 })).toMatchObject({ probability: 1 / 10, depth_meters: 1 });
      const lastCell = await metricsAt(atlas, { row: 69, column: 79 });
      expect(lastCell["depth_meters"]).toBe(Math.round((0.45 + 5599 / 1e4) * 1000) / 1000);
      expect(await metricsAt(atlas, { row: -1, column: 0 })).toMatchObject({ no_data: "outside_coverage" });
    });
    const [entry] = (await readCatalog()).hazards[0]?.packs[0]?.groups ?? [];
    expect(entry?.provenance).toMatchObject({
      recipe: "aqueduct-floods",
      licence: "CC BY 4.0",
      lower_bound_at_first_return_period: true,
      cells_at_first_return_period: 1,
      cells_partly_missing: 1,
    });
    expect(JSON.stringify(entry?.provenance)).not.toContain(folder);
  });

  test("averages over models, and marks cells as missing if fewer than half of the models have data", async () => {
    const models = ["00000NorESM1-M", "0000GFDL-ESM2M", "0000HadGEM2-ES"];
    for (const [index, model] of models.entries()) {
      const at = (cell: number): number => (cell < 3 && index > cell - 1 ? -9999 : 0.4 + 0.3 * index);
      await map(river(50, { model }), at);
      await map(river(100, { model }), (cell) => (at(cell) < 0 ? -9999 : at(cell) + 0.2));
    }
    await ingestAqueductFloods({ sources: [folder], out });
    await withAtlas(async (atlas) => {
      const depth = async (column: number) => (await metricsAt(atlas, { row: 0, column }))["depth_meters"];
      expect([await depth(0), await depth(1)]).toEqual([null, null]); // zero and one of three models
      expect(await depth(2)).toBe(0.75); // two models: (0.6 + 0.9) / 2
      expect(await depth(3)).toBe(0.9); // (0.6 + 0.9 + 1.2) / 3
      const averaged = await metricsAt(atlas, { row: 0, column: 3 });
      const crossing = 1 - Math.exp(-Math.exp(-gumbelBetween(50, 100, 0.5)));
      expect(averaged["probability"]).toBeCloseTo((crossing + 1 / 50 + 1 / 50) / 3, 4);
      expect(averaged["intensity"]).toBe(0.09);
    });
  });

  test("rejects models with different return periods", async () => {
    await map(river(50), () => 1);
    await map(river(100), () => 1);
    await map(river(100, { model: "0000GFDL-ESM2M" }), () => 1);
    expect(await rejectionMessage(ingestAqueductFloods({ sources: [folder], out }))).toMatch(
      /GFDL-ESM2M.*lacks the maps of 50 years/,
    );
  });

  test("rejects return periods that do not span 100 years unless holdFlat is set, and records holdFlat", async () => {
    await map(river(10), () => 0.8);
    await map(river(50), () => 0.9);
    expect(await rejectionMessage(ingestAqueductFloods({ sources: [folder], out }))).toMatch(
      /10, 50 years.*do not span 100/,
    );
    await rm(join(folder, river(10)));
    await rm(join(folder, river(50)));
    await map(river(250), () => 0.8);
    await map(river(500), () => 0.9);
    expect(await rejectionMessage(ingestAqueductFloods({ sources: [folder], out }))).toMatch(
      /250, 500 years.*do not span 100.*--hold-flat/s,
    );
    await expect(readdir(out)).rejects.toThrow(/ENOENT/);
    await ingestAqueductFloods({ sources: [folder], out, holdFlat: true });
    await withAtlas(async (atlas) => {
      const held = await metricsAt(atlas, { row: 5, column: 5 });
      expect(held).toMatchObject({ depth_meters: 0.8, probability: 1 / 250 });
    });
    expect((await readCatalog()).hazards[0]?.packs[0]?.groups[0]?.provenance).toMatchObject({ hold_flat: true });
  });

  test("rejects maps on different grids and describes both", async () => {
    await map(river(50), () => 1);
    const other = await map(river(100), () => 1, { tiePoint: [10.05, 20] });
    const message = await rejectionMessage(ingestAqueductFloods({ sources: [folder], out }));
    expect(message).toContain(other);
    expect(message).toMatch(/northwest corner is \(20, 10.05\), not \(20, 10\)/);
  });
});

function gumbelBetween(left: number, right: number, share: number): number {
  const y = (years: number): number => -Math.log(-Math.log(1 - 1 / years));
  return y(left) + (y(right) - y(left)) * share;
}

describe("options of an ingest", () => {
  test.each([
    ["a release name with a slash", { release: "a/b" }, /release name/],
    [
      "a bbox whose west edge is east of its east edge",
      { bbox: { westDeg: 12, southDeg: 0, eastDeg: 11, northDeg: 10 } },
      /W < E/,
    ],
    ["a bbox outside the maps", { bbox: { westDeg: 30, southDeg: 0, eastDeg: 31, northDeg: 10 } }, /touches no cell/],
    ["a nodata value of NaN", { nodata: NaN }, /nodata must be a number/],
  ])("reject %s", async (_, options, expected) => {
    await map(river(100), () => 1);
    expect(await rejectionMessage(ingestAqueductFloods({ sources: [folder], out, ...options }))).toMatch(expected);
    await expect(readdir(out)).rejects.toThrow(/ENOENT/);
  });

  test.each([Infinity, -Infinity])("accept the nodata value %s that the error message suggests", async (marker) => {
    await map(river(100), (cell) => (cell === 3 ? marker : 1));
    expect(await rejectionMessage(ingestAqueductFloods({ sources: [folder], out }))).toContain(`--nodata ${marker}`);
    const report = await ingestAqueductFloods({ sources: [folder], out, nodata: marker });
    expect(report.groups[0]?.cells).toMatchObject({ nodata: 1 });
    const catalog = await readFile(join(out, "atlas.json"), "utf8");
    expect(catalog).toContain(`"${marker}"`);
  });

  test("select exactly the cells that a bbox touches", async () => {
    await map(river(100), () => 1);
    const bbox = { westDeg: 10.2, southDeg: 18.95, eastDeg: 10.55, northDeg: 19.8 };
    await ingestAqueductFloods({ sources: [folder], out, bbox });
    const grid = (await readCatalog()).hazards[0]?.grid;
    expect(grid).toMatchObject({ row_count: 9, column_count: 4 });
    expect(grid?.north_deg).toBeCloseTo(19.8, 9);
    expect(grid?.west_deg).toBeCloseTo(10.2, 9);
  });
});
