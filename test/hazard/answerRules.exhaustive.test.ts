import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Atlas } from "../../src/hazard/answer.ts";
import { SAMPLE_REASONS } from "../../src/hazard/sample.ts";
import type { Grid } from "../../src/kernel/grid.ts";
import { Kernel } from "../../src/kernel/instance.ts";
import { openAtlas } from "../../src/openAtlas.ts";
import { FLOOD_LAYERS, makeAtlas, type GroupFixture } from "../atlas/makeAtlas.ts";
import type { AnalysisYearResult, HazardQueryInput } from "../../src/contract/wireTypes.ts";

/**
 * 130 x 130 cells of 0.1 degrees, northwest corner at (10, 20): three by three tiles. Those in the last row and column have
 * only two cells in that direction.
 */
const GRID: Grid = {
  northDeg: 10,
  westDeg: 20,
  cellSizeLatDeg: 0.1,
  cellSizeLonDeg: 0.1,
  rowCount: 130,
  columnCount: 130,
};
const CELL_COUNT = GRID.rowCount * GRID.columnCount;
const NODATA = 65_535;
const OUTSIDE = 65_534;
const [INTENSITY, DEPTH] = FLOOD_LAYERS.slice(0, 2) as [GroupFixture["layers"][number], GroupFixture["layers"][number]];

let folder: string;
let atlas: Atlas;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "isotherm-test-"));
});
afterEach(async () => {
  await atlas.close();
  await rm(folder, { recursive: true, force: true });
});

type StepsAt = (cell: { readonly row: number; readonly column: number }, layer: number) => number;

function group(scenario: string, year: number, layers: GroupFixture["layers"], stepsAt: StepsAt): GroupFixture {
  const cells = Uint16Array.from({ length: CELL_COUNT * layers.length }, (_, i) => {
    const cell = Math.floor(i / layers.length);
    const position = { row: Math.floor(cell / GRID.columnCount), column: cell % GRID.columnCount };
    return stepsAt(position, i % layers.length);
  });
  return { scenario, year, layers, cells };
}

async function open(groups: readonly GroupFixture[]): Promise<void> {
  await makeAtlas(await Kernel.load(), folder, [{ hazard: "riverine_floods", grid: GRID, groups }]);
  atlas = await openAtlas(folder, { cacheBytes: 8 << 20 });
}

const QUERY: HazardQueryInput = {
  latitude: 9.95,
  longitude: 20.05,
  hazards: ["riverine_floods"],
  analysis_years: [2030],
  scenarios: ["rcp4p5"],
};

async function queryYear(more: Partial<HazardQueryInput> = {}): Promise<AnalysisYearResult> {
  const { results } = await atlas.hazardRisk({ ...QUERY, ...more });
  const [year] = results[0]?.scenarios[0]?.analysis_years ?? [];
  if (year === undefined) throw new Error("no analysis year");
  return year;
}

/** Expects equality for a maximum, and closeness for a mean, which is a quotient of two sums even over equal cells. */
function expectValue(found: number | null | undefined, expected: number, method: "max" | "mean"): void {
  if (method === "max") expect(found).toBe(expected);
  else expect(found).toBeCloseTo(expected, 12);
}

const AGGREGATIONS = [
  { radius: 0, aggregation_method: "max" },
  { radius: 40, aggregation_method: "max" },
  { radius: 40, aggregation_method: "mean" },
] as const;

describe("the change since the baseline", () => {
  test.each(AGGREGATIONS)("is computed in steps: 0.412 m - 0.4 m is exactly 0.012 m (%o)", async (aggregation) => {
    await open([
      group("baseline", 1980, [INTENSITY, DEPTH], (_, layer) => [0, 400][layer] ?? 0),
      group("rcp4p5", 2030, [INTENSITY, DEPTH], (_, layer) => [0, 412][layer] ?? 0),
    ]);
    expect(0.412 - 0.4).not.toBe(0.012); // the difference in meters
    const { metrics } = await queryYear({ ...aggregation, anthropogenic: true });
    expect(metrics.intensity).toBe(0);
    expectValue(metrics.depth_meters, 0.012, aggregation.aggregation_method);
  });

  test("is computed in values if the step sizes differ", async () => {
    await open([
      group("baseline", 1980, [{ ...DEPTH, steps_per_unit: 100 }], () => 40),
      group("rcp4p5", 2030, [DEPTH], () => 1650),
    ]);
    expect((await queryYear({ anthropogenic: true })).metrics.depth_meters).toBe(1.65 - 0.4);
  });
});

describe("the offset of a layer", () => {
  const shifted = { ...DEPTH, offset: -2.5 };
  beforeEach(() =>
    open([
      group("baseline", 1980, [shifted], () => 3000),
      group("rcp4p5", 2030, [shifted], () => 4250),
      group("rcp8p5", 2030, [{ ...DEPTH, offset: 10 }], () => 500),
    ]),
  );

  test.each(AGGREGATIONS)("is added to values and cancels in changes (%o)", async (aggregation) => {
    const { aggregation_method: method } = aggregation;
    expectValue((await queryYear(aggregation)).metrics.depth_meters, 4.25 - 2.5, method);
    expectValue((await queryYear({ ...aggregation, anthropogenic: true })).metrics.depth_meters, 1.25, method);
    const otherScenario = { ...aggregation, scenarios: ["rcp8p5"] } as const;
    expectValue((await queryYear(otherScenario)).metrics.depth_meters, 10.5, method);
    expectValue((await queryYear({ ...otherScenario, anthropogenic: true })).metrics.depth_meters, 10, method);
  });

  test.each([
    { radiusKm: 0, method: "max" },
    { radiusKm: 40, method: "max" },
    { radiusKm: 40, method: "mean" },
  ] as const)("is added to the values of sample (%o)", async (aggregation) => {
    const layer = { scenario: "rcp4p5", analysisYear: 2030, metric: "depth_meters" } as const;
    const { values, reasons } = await atlas.sample({
      hazard: "riverine_floods",
      layers: [layer, { ...layer, scenario: "rcp8p5" }],
      latitudes: Float64Array.of(9.95, 5),
      longitudes: Float64Array.of(20.05, 25),
      ...aggregation,
    });
    for (const [i, value] of values.entries()) expectValue(value, [1.75, 10.5][i % 2] ?? NaN, aggregation.method);
    expect([...reasons]).toEqual([0, 0, 0, 0]);
  });
});

describe("the reason for a null", () => {
  /** Four quadrants: nodata, outside coverage, both alternating, values. */
  const quarters: StepsAt = ({ row, column }) => {
    if (row < 65) return column < 65 ? NODATA : OUTSIDE;
    return column >= 65 ? 7 : (row + column) % 2 === 0 ? NODATA : OUTSIDE;
  };
  const centerOf = (row: number, column: number) => ({
    latitude: 10 - (row + 0.5) / 10,
    longitude: 20 + (column + 0.5) / 10,
  });

  test.each([
    ["a circle of nodata cells", centerOf(30, 30), "no_data"],
    ["a circle of cells outside coverage", centerOf(30, 100), "outside_coverage"],
    ["a circle of both", centerOf(100, 30), "no_data"],
    ["a circle entirely outside the grid", { latitude: -60, longitude: 20 }, "outside_coverage"],
  ] as const)("of %s is the same for hazardRisk and sample", async (_, place, reason) => {
    await open([group("rcp4p5", 2030, FLOOD_LAYERS.slice(0, 3), quarters)]);
    for (const aggregation_method of ["max", "mean"] as const) {
      const year = await queryYear({ ...place, radius: 60, aggregation_method });
      expect([year.metrics.depth_meters, year.no_data]).toEqual([null, reason]);
      const { values, reasons } = await atlas.sample({
        hazard: "riverine_floods",
        layers: [{ scenario: "rcp4p5", analysisYear: 2030, metric: "depth_meters" }],
        latitudes: Float64Array.of(place.latitude),
        longitudes: Float64Array.of(place.longitude),
        radiusKm: 60,
        method: aggregation_method,
      });
      expect([...values]).toEqual([NaN]);
      expect(SAMPLE_REASONS[reasons[0] ?? 0]).toBe(reason);
    }
  });

  test("is absent if at least one cell is valid", async () => {
    await open([group("rcp4p5", 2030, [DEPTH], ({ row, column }) => (row === 64 && column === 64 ? 9 : NODATA))]);
    const year = await queryYear({ ...centerOf(62, 62), radius: 60, detail: true });
    expect(year.metrics.depth_meters).toBe(0.009);
    expect(year.detail?.valid_share).toBeLessThan(0.1);
  });

  test("is that of the first metric without a value", async () => {
    await open([
      group("rcp4p5", 2030, [INTENSITY, DEPTH], (_, layer) => (layer === 0 ? NODATA : OUTSIDE)), // without probability
      group("rcp8p5", 2030, [DEPTH], () => NODATA), // without intensity and probability
      group("rcp4p5", 2050, [INTENSITY, DEPTH], (_, layer) => (layer === 0 ? 5 : OUTSIDE)),
      group("rcp4p5", 2080, [INTENSITY, DEPTH], () => 0),
    ]);
    for (const aggregation of AGGREGATIONS) {
      expect((await queryYear(aggregation)).no_data).toBe("no_data");
      expect((await queryYear({ ...aggregation, scenarios: ["rcp8p5"] })).no_data).toBe("layer_missing");
      expect((await queryYear({ ...aggregation, analysis_years: [2050] })).no_data).toBe("outside_coverage");
      // A metric without a layer is not part of the valid share.
      const partly = await queryYear({ ...aggregation, analysis_years: [2080], detail: true });
      expect([partly.metrics.depth_meters, partly.no_data, partly.detail?.valid_share]).toEqual([
        0,
        "layer_missing",
        1,
      ]);
      expect(partly.detail?.metrics).toStrictEqual({
        intensity: { valid_share: 1 },
        depth_meters: { valid_share: 1 },
        probability: { no_data: "layer_missing" },
      });
    }
  });

  test("is present only with a null", async () => {
    await open([group("rcp4p5", 2030, FLOOD_LAYERS.slice(0, 3), () => 0)]);
    expect(await queryYear()).toEqual({
      analysis_year: 2030,
      metrics: { intensity: 0, depth_meters: 0, probability: 0 },
    });
  });
});

describe("the cells of a circle", () => {
  test("are those of the grid; the area outside the grid is neither counted nor missing", async () => {
    await open([group("rcp4p5", 2030, FLOOD_LAYERS.slice(0, 3), () => 1)]);
    const whole = await queryYear({ latitude: 5, longitude: 25, radius: 50, detail: true });
    const corner = await queryYear({ latitude: 10, longitude: 20, radius: 50, detail: true });
    expect([whole.detail?.valid_share, corner.detail?.valid_share]).toEqual([1, 1]);
    const share = (corner.detail?.cells ?? 0) / (whole.detail?.cells ?? 1);
    expect(share).toBeGreaterThan(0.2);
    expect(share).toBeLessThan(0.3);
  });
});

describe("a batch over a damaged atlas", () => {
  test("is rejected entirely, without partial results", async () => {
    await open([group("rcp4p5", 2030, [DEPTH], ({ row, column }) => (row * 130 + column) % 1000)]);
    await atlas.close();
    const name = (await readdir(folder)).find((file) => file.endsWith(".tiles")) ?? "";
    const bytes = await readFile(join(folder, name));
    bytes[3] = (bytes[3] ?? 0) ^ 1; // in the north-west tile
    await writeFile(join(folder, name), bytes);
    atlas = await openAtlas(folder, { cacheBytes: 8 << 20 });
    const undamagedQuery = { ...QUERY, latitude: 1, longitude: 30 };
    expect(await atlas.hazardRiskBatch([undamagedQuery, undamagedQuery])).toHaveLength(2);
    await expect(atlas.hazardRiskBatch([undamagedQuery, QUERY, undamagedQuery])).rejects.toMatchObject({
      code: "atlas_unavailable",
      message: expect.stringContaining(`${name}: tile row 0, column 0`) as unknown,
    });
  });
});
