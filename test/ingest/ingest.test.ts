import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { CATALOG_NAME, type Catalog, decodeCatalog } from "../../src/atlas/catalog.ts";
import { isFault } from "../../src/errors.ts";
import { ingestAqueductFloods, ingestLayers, type IngestReport } from "../../src/ingest/ingest.ts";
import { type Atlas, openAtlas } from "../../src/index.ts";
import { type GeoTiffSpec, makeGeoTiff } from "./makeGeoTiff.ts";

let folder: string;
let out: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "isotherm-ingest-"));
  out = join(folder, "atlas");
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** 70 x 80 cells of a tenth of a degree, from latitude 20, longitude 10: more than one tile each way. */
const GRID = { rowCount: 70, columnCount: 80, tie: [10, 20], scale: [0.1, 0.1] } as const;
const CELL_COUNT = GRID.rowCount * GRID.columnCount;
const cellCenter = (row: number, column: number) => ({
  latitude: 20 - (row + 0.5) / 10,
  longitude: 10 + (column + 0.5) / 10,
});

async function map(name: string, at: (cell: number) => number, more: Partial<GeoTiffSpec> = {}): Promise<string> {
  const file = join(folder, name);
  const values = Array.from({ length: CELL_COUNT }, (_, cell) => at(cell));
  await writeFile(file, makeGeoTiff({ ...GRID, nodata: "-9999", rowsPerStrip: 7, values, ...more }));
  return file;
}

async function manifest(content: Record<string, unknown>, name = "manifest.json"): Promise<string> {
  const file = join(folder, name);
  await writeFile(
    file,
    JSON.stringify({ hazard: "riverine_floods", source: { name: "Test", licence: "none" }, ...content }),
  );
  return file;
}

const river = (years: number, { model = "00000NorESM1-M", year = 2030 } = {}): string =>
  `inunriver_rcp4p5_${model}_${year}_rp${String(years).padStart(5, "0")}.tif`;

async function readCatalog(): Promise<Catalog> {
  return decodeCatalog(await readFile(join(out, CATALOG_NAME)));
}

interface CellQuery {
  readonly row: number;
  readonly column: number;
  readonly scenario?: "baseline" | "rcp4p5" | "rcp8p5";
  readonly year?: number;
  readonly hazard?: "riverine_floods" | "cyclones" | "wildfire";
}

/** Returns the metrics of one cell through the public API. */
async function metricsAt(atlas: Atlas, query: CellQuery): Promise<Readonly<Record<string, unknown>>> {
  const { results } = await atlas.hazardRisk({
    ...cellCenter(query.row, query.column),
    hazards: [query.hazard ?? "riverine_floods"],
    scenarios: [query.scenario ?? "rcp4p5"],
    analysis_years: [query.year ?? 2030],
    total_hazard: true,
  });
  const [year] = results[0]?.scenarios[0]?.analysis_years ?? [];
  return { ...year?.metrics, ...(year?.no_data === undefined ? {} : { no_data: year.no_data }) };
}

async function withAtlas<T>(use: (atlas: Atlas) => Promise<T>): Promise<T> {
  const atlas = await openAtlas(out);
  try {
    return await use(atlas);
  } finally {
    await atlas.close();
  }
}

/** Returns the content of every file of the atlas except unfinished work. */
async function snapshot(): Promise<Readonly<Record<string, string>>> {
  const names = (await readdir(out)).filter((name) => !name.startsWith(".")).toSorted();
  const bytes = await Promise.all(names.map((name) => readFile(join(out, name), "base64")));
  return Object.fromEntries(names.map((name, i) => [name, bytes[i] ?? ""]));
}

async function refusal(run: Promise<IngestReport>): Promise<string> {
  try {
    await run;
  } catch (error) {
    if (isFault(error)) return error.message;
    throw error;
  }
  throw new Error("The ingest was not refused.");
}

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
      const far = await metricsAt(atlas, { row: 69, column: 79 });
      expect(far["depth_meters"]).toBe(Math.round((0.45 + 5599 / 1e4) * 1000) / 1000);
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

  test("averages over models, and marks cells as missing where fewer than half of the models have data", async () => {
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
      const all = await metricsAt(atlas, { row: 0, column: 3 });
      const crossing = 1 - Math.exp(-Math.exp(-gumbelBetween(50, 100, 0.5)));
      expect(all["probability"]).toBeCloseTo((crossing + 1 / 50 + 1 / 50) / 3, 4);
      expect(all["intensity"]).toBe(0.09);
    });
  });

  test("rejects models with different return periods", async () => {
    await map(river(50), () => 1);
    await map(river(100), () => 1);
    await map(river(100, { model: "0000GFDL-ESM2M" }), () => 1);
    expect(await refusal(ingestAqueductFloods({ sources: [folder], out }))).toMatch(
      /GFDL-ESM2M.*lacks the maps of 50 years/,
    );
  });

  test("rejects return periods that do not span 100 years unless holdFlat is set, and records holdFlat", async () => {
    await map(river(10), () => 0.8);
    await map(river(50), () => 0.9);
    expect(await refusal(ingestAqueductFloods({ sources: [folder], out }))).toMatch(/10, 50 years.*do not span 100/);
    await rm(join(folder, river(10)));
    await rm(join(folder, river(50)));
    await map(river(250), () => 0.8);
    await map(river(500), () => 0.9);
    expect(await refusal(ingestAqueductFloods({ sources: [folder], out }))).toMatch(
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
    const other = await map(river(100), () => 1, { tie: [10.05, 20] });
    const message = await refusal(ingestAqueductFloods({ sources: [folder], out }));
    expect(message).toContain(other);
    expect(message).toMatch(/north-west corner is \(20, 10.05\), not \(20, 10\)/);
  });
});

function gumbelBetween(left: number, right: number, share: number): number {
  const y = (years: number): number => -Math.log(-Math.log(1 - 1 / years));
  return y(left) + (y(right) - y(left)) * share;
}

describe("an ingest into an existing atlas", () => {
  async function fill(): Promise<void> {
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
    await fill();
    const before = await snapshot();
    await map(river(100), (cell) => (cell === 68 * 80 + 33 ? value : 1));
    expect(await refusal(ingestAqueductFloods({ sources: [folder], out }))).toMatch(expected);
    expect(await snapshot()).toEqual(before);
  });

  test("leaves the atlas unchanged if a file is cut short", async () => {
    await fill();
    const before = await snapshot();
    const file = await map(river(100), () => 1);
    const bytes = await readFile(file);
    await writeFile(file, bytes.subarray(0, bytes.length - 100));
    const message = await refusal(ingestAqueductFloods({ sources: [folder], out }));
    expect(message).toContain(file);
    expect(message).toMatch(/cut short at band 1, rows 63 to 69/);
    expect(await snapshot()).toEqual(before);
  });

  test("sets small negative values to zero with clampNegative, and counts them", async () => {
    await fill();
    await map(river(50), (cell) => (cell === 9 ? -1e-3 : 0));
    const report = await ingestAqueductFloods({ sources: [folder], out, clampNegative: true });
    expect(report.groups[0]?.cells.clampedNegative).toBe(1);
  });

  test.each([
    [
      "an undeclared nodata value",
      -32767,
      {},
      /the value is -32767, which customarily marks missing cells.*--nodata -32767/s,
    ],
    ["a value far below zero", -5000, {}, /-5000: more than 1 m below zero.*--nodata -5000.*--clamp-tolerance/s],
    ["a marker within the tolerance", -99999, { clampTolerance: 1e6 }, /-99999, which customarily marks missing cells/],
    ["a value just beyond the tolerance", -1.001, {}, /the value is -1\.00.*more than 1 m below zero/],
    ["a value beyond the given tolerance", -0.3, { clampTolerance: 0.25 }, /more than 0\.25 m below zero/],
    ["minus infinity", -Infinity, { clampTolerance: 1e6 }, /the value is -Infinity/],
  ])("leaves the atlas unchanged if clamping finds %s", async (_, value, more, expected) => {
    await fill();
    const before = await snapshot();
    await map(river(100), (cell) => (cell === 68 * 80 + 33 ? value : 1));
    const message = await refusal(ingestAqueductFloods({ sources: [folder], out, clampNegative: true, ...more }));
    expect(message).toMatch(/rp00100\.tif: row 68, column 33 \(latitude 13\.15000, longitude 13\.35000\)/);
    expect(message).toMatch(expected);
    expect(await snapshot()).toEqual(before);
  });

  test("records the clamp tolerance in the provenance", async () => {
    await fill();
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
    expect(await refusal(ingestAqueductFloods(options))).toMatch(
      /clamp tolerance.*above 0|clampTolerance must be a number/,
    );
  });

  test("rejects a clamp tolerance without clampNegative", async () => {
    await map(river(100), () => 1);
    expect(await refusal(ingestAqueductFloods({ sources: [folder], out, clampTolerance: 2 }))).toMatch(
      /clamp tolerance.*--clamp-negative/,
    );
  });

  test("replaces a (scenario, year), keeps the others and adds new ones", async () => {
    await fill();
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
    await fill();
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
    await fill();
    const before = await snapshot();
    const file = await map("shifted.tif", () => 1, { tie: [10.03, 20] });
    const layers = [{ scenario: "baseline", year: 1980, return_period_years: 100, file: "shifted.tif" }];
    const shifted = await refusal(ingestLayers({ manifest: await manifest({ layers }), out }));
    expect(shifted).toContain(file);
    expect(shifted).toMatch(/nor an aligned part/);
    const rules = { threshold: 1 };
    expect(await refusal(ingestLayers({ manifest: await manifest({ rules, layers }), out }))).toMatch(
      /different rules/,
    );
    expect(await snapshot()).toEqual(before);
  });
});

describe("ingestLayers", () => {
  test.each([
    [-9999, 0.0001],
    [-999, 0.001],
    [-9, 0.01],
    [-32768, 1e-6],
    [-3.4028234663852886e38, 1e-39],
  ])("never sets the marker %d to zero, even if the unit factor %d makes it small", async (marker, unit_factor) => {
    const file = await map("marked.tif", (cell) => (cell === 4 ? marker : 50), { nodata: "7" });
    const layers = [{ scenario: "rcp4p5", year: 2030, metric: "depth_meters", file: "marked.tif", unit_factor }];
    const clamping = { layers, options: { clamp_negative: true } };
    const message = await refusal(ingestLayers({ manifest: await manifest(clamping), out }));
    expect(message).toContain(`${file}: row 0, column 4`);
    expect(message).toContain(`which customarily marks missing cells and is never set to 0. If it does, pass --nodata`);
  });

  test("clamps metrics from 0 to 1 within 0.01 and others within 1 unless told otherwise, and records it", async () => {
    await map("depth.tif", (cell) => (cell === 4 ? -0.9 : 0.5));
    await map("probability.tif", (cell) => (cell === 4 ? -0.01 : 0.5));
    const layers = ["depth", "probability"].map((name) => ({
      scenario: "rcp4p5",
      year: 2030,
      metric: name === "depth" ? "depth_meters" : name,
      file: `${name}.tif`,
    }));
    const clamping = { layers, options: { clamp_negative: true } };
    const provenance = async () => (await readCatalog()).hazards[0]?.packs.at(-1)?.groups[0]?.provenance;
    await map("probability.tif", (cell) => (cell === 4 ? -0.0101 : 0.5));
    expect(await refusal(ingestLayers({ manifest: await manifest(clamping), out }))).toMatch(
      /probability\.tif.*more than 0\.01 below zero/,
    );
    await map("probability.tif", (cell) => (cell === 4 ? -0.0099 : 0.5));
    await ingestLayers({ manifest: await manifest(clamping), out });
    expect(await provenance()).toMatchObject({
      clamp_negative: true,
      metric_maps: [
        { metric: "depth_meters", clamp_tolerance: 1 },
        { metric: "probability", clamp_tolerance: 0.01 },
      ],
    });
    await map("probability.tif", (cell) => (cell === 4 ? -0.4 : 0.5));
    await map("depth.tif", (cell) => (cell === 4 ? -0.4 : 0.5));
    await ingestLayers({ manifest: await manifest(clamping), out, clampTolerance: 0.5 });
    expect(await provenance()).toMatchObject({ metric_maps: [{ clamp_tolerance: 0.5 }, { clamp_tolerance: 0.5 }] });
  });

  test("applies the clamp tolerance in the unit of the metric, with the unit factor of each file", async () => {
    // One curve with maps in centimeters and in meters: -80 cm and -0.8 m are within a meter, -120 cm is not.
    await map("cm.tif", (cell) => (cell === 4 ? -80 : 50));
    await map("m.tif", (cell) => (cell === 5 ? -0.8 : 1));
    const layers = [
      { scenario: "rcp4p5", year: 2030, return_period_years: 50, file: "cm.tif", unit_factor: 0.01 },
      { scenario: "rcp4p5", year: 2030, return_period_years: 100, file: "m.tif" },
    ];
    const clamping = { layers, options: { clamp_negative: true } };
    const report = await ingestLayers({ manifest: await manifest(clamping), out });
    expect(report.groups[0]?.cells.clampedNegative).toBe(2);
    await map("cm.tif", (cell) => (cell === 4 ? -120 : 50));
    const beyond = await refusal(ingestLayers({ manifest: await manifest(clamping), out }));
    expect(beyond).toMatch(/cm\.tif: row 0, column 4 .*the value is -120, which is -1\.2 m: more than 1 m below zero/);
    const wider = { layers, options: { clamp_negative: true, clamp_tolerance: 1.5 } };
    await ingestLayers({ manifest: await manifest(wider), out });
    const [entry] = (await readCatalog()).hazards[0]?.packs.at(-1)?.groups ?? [];
    expect(entry?.provenance).toMatchObject({ clamp_tolerance: 1.5, clamped_cells: 2 });
    // The option takes precedence over the manifest.
    expect(await refusal(ingestLayers({ manifest: await manifest(wider), out, clampTolerance: 0.5 }))).toMatch(
      /more than 0\.5 m below zero/,
    );
  });

  test("derives only intensity from the own metric alone", async () => {
    await map("wind.tif", (cell) => cell / 100, { nodata: "0" });
    const layers = [
      {
        scenario: "rcp4p5",
        year: 2040,
        metric: "wind_speed_mps",
        file: "wind.tif",
        unit_factor: 1 / 0.88,
        definition: "10-minute",
      },
    ];
    const path = await manifest({ hazard: "cyclones", layers });
    const report = await ingestLayers({ manifest: path, out });
    expect(report.groups[0]?.metrics).toEqual(["intensity", "wind_speed_mps"]);
    await withAtlas(async (atlas) => {
      const query = { hazard: "cyclones", year: 2040 } as const;
      expect(await metricsAt(atlas, { ...query, row: 44, column: 0 })).toMatchObject({
        wind_speed_mps: 40,
        intensity: 0.4,
        probability: null,
        total_hazard: null,
      });
      expect(await metricsAt(atlas, { ...query, row: 0, column: 0 })).toMatchObject({ wind_speed_mps: null });
    });
    expect((await readCatalog()).hazards[0]?.packs[0]?.groups[0]?.provenance).toMatchObject({
      definition: "10-minute",
    });
  });

  test("writes wildfire metrics as given, each with its own missing cells, and derives no intensity from days", async () => {
    await map("days.tif", () => 120.5);
    await map("probability.tif", (cell) => (cell === 1 ? -9999 : 50));
    await map("fwi.tif", () => 130);
    const at = { scenario: "baseline", year: 1980 };
    const layers = [
      { ...at, metric: "fire_danger_days", file: "days.tif" },
      { ...at, metric: "probability", file: "probability.tif", unit_factor: 0.01 },
    ];
    const query = { hazard: "wildfire", scenario: "baseline", year: 1980, row: 0 } as const;
    const report = await ingestLayers({ manifest: await manifest({ hazard: "wildfire", layers }), out });
    expect(report.groups[0]?.metrics).toEqual(["fire_danger_days", "probability"]);
    const full = [...layers, { ...at, metric: "intensity", file: "fwi.tif", unit_factor: 0.01, saturate: true }];
    await ingestLayers({ manifest: await manifest({ hazard: "wildfire", layers: full }), out });
    await withAtlas(async (atlas) => {
      expect(await metricsAt(atlas, { ...query, column: 0 })).toEqual({
        intensity: 1,
        fire_danger_days: 120.5,
        probability: 0.5,
        total_hazard: 0.5,
      });
      expect(await metricsAt(atlas, { ...query, column: 1 })).toMatchObject({
        intensity: 1,
        fire_danger_days: 120.5,
        probability: null,
        total_hazard: null,
      });
    });
  });

  test("rejects an intensity above 1 unless the layer saturates", async () => {
    const file = await map("intensity.tif", () => 1.3);
    await map("days.tif", () => 3);
    const at = { scenario: "baseline", year: 1980 };
    const layers = [
      { ...at, metric: "fire_danger_days", file: "days.tif" },
      { ...at, metric: "intensity", file: "intensity.tif" },
    ];
    const message = await refusal(ingestLayers({ manifest: await manifest({ hazard: "wildfire", layers }), out }));
    expect(message).toContain(file);
    expect(message).toMatch(/row 0, column 0 .*as intensity, whose maximum is 1/);
  });

  test("applies the bands, unit factors, nodata values and rules of the manifest", async () => {
    await mkdir(join(folder, "sub"));
    const values = Array.from({ length: CELL_COUNT }, (_, cell) => [
      cell === 4 ? -999900 : 40,
      cell === 4 ? -999900 : 250,
    ]).flat();
    await map("sub/both.tif", () => 0, { values, bandCount: 2, type: "int32" });
    const at = { scenario: "rcp8p5", year: 2050, file: "sub/both.tif", unit_factor: 0.01, nodata: -999900 };
    const layers = [
      { ...at, return_period_years: 20, band: 1 },
      { ...at, return_period_years: 200, band: 2 },
    ];
    const rules = { design_return_period_years: 200, threshold: 0.4, intensity_reference: 5 };
    await ingestLayers({ manifest: await manifest({ rules, layers }), out });
    expect((await readCatalog()).hazards[0]?.rules).toMatchObject(rules);
    await withAtlas(async (atlas) => {
      const query = { scenario: "rcp8p5", year: 2050, row: 0 } as const;
      expect(await metricsAt(atlas, { ...query, column: 0 })).toMatchObject({
        depth_meters: 2.5,
        intensity: 0.5,
        probability: 1 / 20,
        total_hazard: 0.025,
      });
      expect(await metricsAt(atlas, { ...query, column: 4 })).toMatchObject({ depth_meters: null });
    });
  });

  test("reports all errors of a manifest at once, each with its JSON pointer", async () => {
    const pointers = async (content: Record<string, unknown>): Promise<readonly string[]> => {
      const error: unknown = await ingestLayers({ manifest: await manifest(content), out }).catch(
        (reason: unknown) => reason,
      );
      if (!isFault(error, "invalid_request")) throw error;
      return error.items.map((item) => `${item.pointer} ${item.code}`).toSorted();
    };
    const layer = { scenario: "rcp4p5", year: 2030, file: "x.tif" };
    expect(
      await pointers({ hazard: "hail", source: { name: "" }, layers: [{ ...layer, unit_factor: 0, colour: 1 }] }),
    ).toEqual([
      "/hazard not_allowed",
      "/layers/0/colour unknown",
      "/layers/0/unit_factor out_of_range",
      "/source/licence missing",
      "/source/name out_of_range",
    ]);
    const layers = [
      { ...layer, metric: "depth_meters" },
      { ...layer, metric: "depth_meters" },
      { ...layer, return_period_years: 100 },
      { ...layer, year: 2040, metric: "total_hazard" },
      { ...layer, scenario: "rcp2p6", metric: "probability" },
      { ...layer, scenario: "baseline", metric: "probability", return_period_years: 5, model: "a" },
    ];
    expect(await pointers({ rules: { danger_threshold: 30 }, layers })).toEqual([
      "/layers/1 duplicate",
      "/layers/2 not_expected",
      "/layers/3 missing",
      "/layers/3/metric not_allowed",
      "/layers/3/year not_allowed",
      "/layers/4 missing",
      "/layers/4/scenario not_allowed",
      "/layers/5 not_expected",
      "/layers/5/model not_expected",
      "/layers/5/year combination_unavailable",
      "/rules/danger_threshold not_expected",
    ]);
    // Errors against the rules of the hazard are reported together with schema errors.
    const nested = [
      { ...layer, year: 2041, return_period_years: 0.5 },
      { ...layer, year: 2042, metric: "depth_meters", file: 7 },
      { ...layer, scenario: "rcp9", year: 2043, metric: "wind" },
      7,
    ];
    expect(await pointers({ rules: { threshold: -1, danger_threshold: 3 }, layers: nested })).toEqual([
      "/layers/0/return_period_years out_of_range",
      "/layers/0/year not_allowed",
      "/layers/1/file wrong_type",
      "/layers/1/year not_allowed",
      "/layers/2/metric not_allowed",
      "/layers/2/scenario not_allowed",
      "/layers/2/year not_allowed",
      "/layers/3 wrong_type",
      "/rules/danger_threshold not_expected",
      "/rules/threshold out_of_range",
    ]);
    const curves = [
      { ...layer, return_period_years: 250, model: "a" },
      { ...layer, return_period_years: 500, model: "a" },
      { ...layer, return_period_years: 250, model: "b" },
    ];
    const curveFaults = ["/layers/0/return_period_years out_of_range", "/layers/2 missing"];
    expect(await pointers({ layers: curves })).toEqual(curveFaults);
    expect(await pointers({ layers: curves, options: { hold_flat: true } })).toEqual(curveFaults.slice(1));
    await writeFile(join(folder, "broken.json"), "{");
    expect(await refusal(ingestLayers({ manifest: join(folder, "broken.json"), out }))).toMatch(
      /cannot be read as a JSON manifest/,
    );
  });

  test("rejects a band that the file does not have", async () => {
    await map("one.tif", () => 1);
    const layers = [{ scenario: "rcp4p5", year: 2030, return_period_years: 100, file: "one.tif", band: 2 }];
    expect(await refusal(ingestLayers({ manifest: await manifest({ layers }), out }))).toMatch(
      /has no band 2; its number of bands is 1/,
    );
  });
});

describe("options of an ingest", () => {
  test.each([
    ["a release name with a slash", { release: "a/b" }, /release name/],
    ["a box with west and east swapped", { bbox: { westDeg: 12, southDeg: 0, eastDeg: 11, northDeg: 10 } }, /W < E/],
    ["a box outside the maps", { bbox: { westDeg: 30, southDeg: 0, eastDeg: 31, northDeg: 10 } }, /touches no cell/],
    ["a nodata value of NaN", { nodata: NaN }, /nodata must be a number/],
  ])("reject %s", async (_, options, expected) => {
    await map(river(100), () => 1);
    expect(await refusal(ingestAqueductFloods({ sources: [folder], out, ...options }))).toMatch(expected);
    await expect(readdir(out)).rejects.toThrow(/ENOENT/);
  });

  test.each([Infinity, -Infinity])("accept the nodata value %s that the error message suggests", async (marker) => {
    await map(river(100), (cell) => (cell === 3 ? marker : 1));
    expect(await refusal(ingestAqueductFloods({ sources: [folder], out }))).toContain(`--nodata ${marker}`);
    const report = await ingestAqueductFloods({ sources: [folder], out, nodata: marker });
    expect(report.groups[0]?.cells).toMatchObject({ nodata: 1 });
    const catalog = await readFile(join(out, "atlas.json"), "utf8");
    expect(catalog).toContain(`"${marker}"`);
  });

  test("select exactly the cells that a box touches", async () => {
    await map(river(100), () => 1);
    const bbox = { westDeg: 10.2, southDeg: 18.95, eastDeg: 10.55, northDeg: 19.8 };
    await ingestAqueductFloods({ sources: [folder], out, bbox });
    const grid = (await readCatalog()).hazards[0]?.grid;
    expect(grid).toMatchObject({ row_count: 9, column_count: 4 });
    expect(grid?.north_deg).toBeCloseTo(19.8, 9);
    expect(grid?.west_deg).toBeCloseTo(10.2, 9);
  });
});
