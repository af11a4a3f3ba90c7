import { rm, mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { type Catalog, catalogGridOf, type GroupEntry } from "../../src/atlas/catalog.ts";
import { diskBlobs } from "../../src/atlas/diskBlobs.ts";
import { openPackedAtlas } from "../../src/atlas/packedAtlas.ts";
import { Sampler } from "../../src/atlas/sampler.ts";
import { publish, writePack } from "../../src/atlas/writer.ts";
import { hasCurves } from "../../src/hazard/curvePlan.ts";
import { createAtlas } from "../../src/hazard/answer.ts";
import { answerCurve } from "../../src/hazard/curveAnswer.ts";
import { parseCurveQuery } from "../../src/hazard/curveQuery.ts";
import type { CurveQueryInput, CurveYearResult } from "../../src/contract/wireTypes.ts";
import type { Grid } from "../../src/kernel/grid.ts";
import { Kernel } from "../../src/kernel/instance.ts";
import { FLOOD_LAYERS, packInputOf } from "../atlas/makeAtlas.ts";
import { circleByDefinition, summarizeByDefinition } from "../oracle/radius.ts";
import { randomFrom } from "../seededRandom.ts";

const GRID: Grid = {
  northDeg: 5,
  westDeg: 10,
  cellSizeLatDeg: 0.1,
  cellSizeLonDeg: 0.1,
  rowCount: 100,
  columnCount: 130,
};
const CELL_COUNT = GRID.rowCount * GRID.columnCount;
const PERIODS = [[2, 5, 10, 20, 50, 100, 200, 500] as const, [1000] as const] as const;
const ALL_PERIODS = PERIODS.flat();
const STORED = { scenario: "rcp4p5", year: 2030 } as const;

const folders: string[] = [];
const opened: { close(): Promise<void> }[] = [];
afterAll(async () => {
  await Promise.all(opened.map((atlas) => atlas.close()));
  await Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true })));
});

/** Steps of a curve in each cell, u16[cell][return period]; a fifth of the cells is missing. */
const curveSteps = (() => {
  const random = randomFrom(3);
  const steps = new Uint16Array(CELL_COUNT * ALL_PERIODS.length);
  for (let cell = 0; cell < CELL_COUNT; cell++) {
    const isMissing = random.chance(0.2);
    let value = 0;
    for (let period = 0; period < ALL_PERIODS.length; period++) {
      value += random.below(300);
      steps[cell * ALL_PERIODS.length + period] = isMissing ? 0xffff : value;
    }
  }
  return steps;
})();

/** Writes an atlas with curves whose groups have this provenance, in addition to their return periods, and opens it. */
async function samplerWith(provenance: (metricsPack: string) => Record<string, unknown>): Promise<Sampler> {
  const folder = await mkdtemp(join(tmpdir(), "isotherm-test-"));
  folders.push(folder);
  const kernel = await Kernel.load();
  const metricCells = new Uint16Array(CELL_COUNT * FLOOD_LAYERS.length);
  const metricGroups = [{ ...STORED, layers: FLOOD_LAYERS, cells: metricCells }];
  const metrics = await writePack(
    kernel,
    folder,
    packInputOf({ hazard: "riverine_floods", grid: GRID, groups: metricGroups }),
  );
  let firstLayer = 0;
  const groups = PERIODS.map((periods) => {
    const cells = new Uint16Array(CELL_COUNT * periods.length);
    for (let cell = 0; cell < CELL_COUNT; cell++) {
      const from = cell * ALL_PERIODS.length + firstLayer;
      cells.set(curveSteps.subarray(from, from + periods.length), cell * periods.length);
    }
    firstLayer += periods.length;
    const layers: GroupEntry["layers"] = periods.map((years) => ({
      metric: `rp_${years}`,
      unit: "m",
      steps_per_unit: 1000,
      offset: 0,
    }));
    return { ...STORED, layers, cells, periods };
  });
  const supplement = "riverine_floods.supplement";
  const pack = await writePack(kernel, folder, packInputOf({ hazard: supplement, grid: GRID, groups }));
  const rules = { curve: "gumbel", threshold: 0.5 };
  const hazards: Catalog["hazards"] = [
    {
      hazard: "riverine_floods",
      grid: catalogGridOf(GRID),
      rules,
      packs: [{ ...metrics, groups: [{ ...STORED, layers: FLOOD_LAYERS, provenance: { product: "test data" } }] }],
    },
    {
      hazard: supplement,
      grid: catalogGridOf(GRID),
      rules: {},
      packs: [
        {
          ...pack,
          groups: groups.map(({ layers, periods }) => ({
            ...STORED,
            layers,
            provenance: { return_periods_years: periods, ...provenance(metrics.id) },
          })),
        },
      ],
    },
  ];
  await publish(folder, () => ({
    format: "isotherm-atlas",
    format_version: 1,
    release: "made-1",
    created_at: "2026-01-01T00:00:00.000Z",
    synthetic: true,
    hazards,
  }));
  const atlas = await openPackedAtlas(kernel, diskBlobs(folder), { headerCacheBytes: 1 << 20 });
  opened.push(atlas);
  return new Sampler(kernel, atlas, { cacheBytes: 16 << 20 });
}

const valid = (metricsPack: string) => ({ kind: "curve", variate: "gumbel", metrics_pack: metricsPack });
const sampler = await samplerWith(valid);
const QUERY = {
  latitude: 0,
  longitude: 16,
  hazards: ["riverine_floods"],
  analysis_years: [STORED.year],
  scenarios: [STORED.scenario],
  detail: true,
} as const satisfies CurveQueryInput;

/** Returns the years of the answer to a query, of all scenarios. */
async function curvesOf(atlasSampler: Sampler, change: Partial<CurveQueryInput> = {}): Promise<CurveYearResult[]> {
  const { results } = await answerCurve(atlasSampler, { ...QUERY, ...change });
  return results.flatMap(({ scenarios }) => scenarios.flatMap(({ analysis_years }) => analysis_years));
}

const stepsAt = (cell: { readonly row: number; readonly column: number }, period: number): number =>
  curveSteps[(cell.row * GRID.columnCount + cell.column) * ALL_PERIODS.length + period] ?? NaN;

describe("curves", () => {
  test.each([0, 1, 2, 3, 4, 5])("aggregate the cells of a circle at each return period (place %d)", async (seed) => {
    const random = randomFrom(seed);
    const latitude = random.between({ min: -4, max: 4 });
    const longitude = random.between({ min: 11, max: 22 });
    const radius = random.between({ min: 1, max: 100 });
    const cells = circleByDefinition(GRID, { latDeg: latitude, lonDeg: longitude, radiusM: radius * 1000 });
    for (const aggregation_method of ["max", "mean"] as const) {
      const [year] = await curvesOf(sampler, { latitude, longitude, radius, aggregation_method });
      const expected = ALL_PERIODS.map((_, period) =>
        summarizeByDefinition(GRID, cells, (cell) => stepsAt(cell, period)),
      );
      if (year?.curve == null) throw new Error("There is a valid cell in every circle of this test.");
      expect(year.detail?.cells).toBe(cells.length);
      expect(year.detail?.valid_share).toBeCloseTo(expected[0]?.validShare ?? NaN, 12);
      expect(year.curve.map(({ return_period }) => return_period)).toEqual(ALL_PERIODS);
      for (const [period, { maxSteps = NaN, meanSteps = NaN }] of expected.entries()) {
        const steps = aggregation_method === "max" ? maxSteps : meanSteps;
        expect(year.curve[period]?.value).toBeCloseTo(steps / 1000, 9);
      }
    }
  });

  test("are null with the reason where they are missing", async () => {
    const years = await curvesOf(sampler, { radius: 50, scenarios: ["rcp4p5", "rcp8p5"] });
    expect(years.map(({ curve }) => curve === null)).toEqual([false, true]);
    expect(years[1]).toMatchObject({ no_data: "layer_missing", detail: { cells: 0, valid_share: 0 } });
    expect(years[1]?.detail).not.toHaveProperty("source");
    const [outside] = await curvesOf(sampler, { latitude: 80 });
    expect(outside).toMatchObject({ curve: null, no_data: "outside_coverage" });
    expect(outside?.detail?.source).toBe("riverine_floods/rcp4p5/2030");
  });

  test("have a cost that grows with the radius, and none at a point", () => {
    const cells = { release: "", contentHash: "", synthetic: true, close: () => Promise.resolve() };
    const atlas = createAtlas(sampler, cells, "disk");
    const [point, small, large] = [0, 10, 100].map(
      (radius) => atlas.estimateWork(parseCurveQuery({ ...QUERY, radius })).cellVectorCount,
    );
    expect(point).toBe(0);
    expect(small).toBeGreaterThan(0);
    expect(large).toBeGreaterThan(small ?? NaN);
  });
});

describe("curves are ignored", () => {
  test.each([
    { why: "of another pack of metrics", change: { metrics_pack: "riverine_floods-0000000000000000" } },
    { why: "without the pack of their metrics", change: { metrics_pack: undefined } },
    { why: "of an unknown kind", change: { kind: "histogram" } },
  ])("that are $why", async ({ change }) => {
    const other = await samplerWith((metricsPack) => ({ ...valid(metricsPack), ...change }));
    expect(hasCurves(other, "riverine_floods")).toBe(false);
    await expect(curvesOf(other)).rejects.toThrow("This atlas has no return-period curves");
  });

  test.each([
    { why: "with an unknown variate", change: { variate: "normal" } },
    { why: "without a return period for each layer", change: { return_periods_years: [2, 5] } },
    { why: "with return periods out of order", change: { return_periods_years: [2, 5, 10, 20, 50, 100, 500, 200] } },
  ])("$why", async ({ change }) => {
    const other = await samplerWith((metricsPack) => ({ ...valid(metricsPack), ...change }));
    expect(await curvesOf(other)).toMatchObject([{ curve: null, no_data: "layer_missing" }]);
  });
});
