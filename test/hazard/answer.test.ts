import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Atlas } from "../../src/hazard/answer.ts";
import type { Grid } from "../../src/kernel/grid.ts";
import { Kernel } from "../../src/kernel/instance.ts";
import { openAtlas } from "../../src/openAtlas.ts";
import { FLOOD_LAYERS, makeAtlas, type HazardFixture, patchyCells } from "../atlas/makeAtlas.ts";
import { containingCellByDefinition } from "../oracle/points.ts";
import { circleByDefinition, summarizeByDefinition } from "../oracle/radius.ts";
import { randomFrom } from "../seededRandom.ts";
import type { HazardQueryInput, HazardResult } from "../../src/contract/wireTypes.ts";

/** A global grid: circles cross the antimeridian and the poles. */
const GRID: Grid = {
  northDeg: 90,
  westDeg: -180,
  cellSizeLatDeg: 0.5,
  cellSizeLonDeg: 0.5,
  rowCount: 360,
  columnCount: 720,
};
const group = (scenario: string, year: number, seed: number): HazardFixture["groups"][number] => ({
  scenario,
  year,
  layers: FLOOD_LAYERS,
  cells: patchyCells(GRID, { layerCount: 4, seed }),
});
const RULES = { design_return_period_years: 100, threshold: 0.5 };
const FIXTURE: HazardFixture = {
  hazard: "riverine_floods",
  grid: GRID,
  rules: RULES,
  groups: [group("baseline", 1980, 11), group("rcp4p5", 2030, 12), group("rcp8p5", 2080, 13)],
};
const METRICS = ["intensity", "depth_meters", "probability", "total_hazard"] as const;
const UNITS = [10_000, 1000, 60_000, 60_000] as const;

let folder: string;
let atlas: Atlas;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "isotherm-test-"));
  await makeAtlas(await Kernel.load(), folder, [FIXTURE]);
  atlas = await openAtlas(folder, { cacheBytes: 8 << 20 });
});
afterAll(async () => {
  await atlas.close();
  await rm(folder, { recursive: true, force: true });
});

const QUERY: HazardQueryInput = {
  latitude: 0,
  longitude: 0,
  hazards: ["riverine_floods"],
  analysis_years: [2030],
  scenarios: ["rcp4p5"],
};

function stepsAt(index: number, cell: { row: number; column: number }, layer: number): number {
  return FIXTURE.groups[index]?.cells[(cell.row * GRID.columnCount + cell.column) * 4 + layer] ?? -1;
}

function yearOf(result: HazardResult): HazardResult["results"][number]["scenarios"][number]["analysis_years"][number] {
  const [first] = result.results[0]?.scenarios[0]?.analysis_years ?? [];
  if (first === undefined) throw new Error("no analysis year");
  return first;
}

describe("a point", () => {
  test("returns the values of the containing cell, or null with the reason", async () => {
    const random = randomFrom(5);
    const seen = new Set<string | undefined>();
    for (let i = 0; i < 500; i++) {
      const location = {
        latitude: random.pick([90, -90, random.between({ min: -90, max: 90 }), Math.round(random.next() * 100) / 2]),
        longitude: random.pick([180, -180, random.between({ min: -180, max: 180 })]),
      };
      const year = yearOf(await atlas.hazardRisk({ ...QUERY, ...location, total_hazard: true }));
      const cell = containingCellByDefinition(GRID, { latDeg: location.latitude, lonDeg: location.longitude });
      if (cell === undefined) throw new Error("the global grid has a cell for every location");
      const steps = METRICS.map((_, layer) => stepsAt(1, cell, layer));
      expect(Object.values(year.metrics), JSON.stringify(location)).toEqual(
        steps.map((step, layer) => (step > 65_533 ? null : step / (UNITS[layer] ?? 1))),
      );
      const missing = steps.find((step) => step > 65_533);
      expect(year.no_data).toBe(
        missing === undefined ? undefined : missing === 65_534 ? "outside_coverage" : "no_data",
      );
      seen.add(year.no_data);
    }
    expect(seen).toEqual(new Set([undefined, "no_data", "outside_coverage"]));
  });

  test("has only the members of the HTTP contract", async () => {
    const result = await atlas.hazardRisk({ ...QUERY, latitude: 12.3, longitude: -4.5 });
    expect(Object.keys(result)).toEqual(["location", "results"]);
    expect(result.location).toEqual({ latitude: 12.3, longitude: -4.5 });
    expect(Object.keys(yearOf(result).metrics)).toEqual(["intensity", "depth_meters", "probability"]);
  });

  test("keeps the order of hazards, scenarios and years in the query", async () => {
    const { results } = await atlas.hazardRisk({
      ...QUERY,
      hazards: ["riverine_floods", "coastal_floods"],
      scenarios: ["rcp8p5", "baseline", "rcp4p5"],
      analysis_years: [2080, 1980, 2050],
    });
    expect(results.map(({ hazard }) => hazard)).toEqual(["riverine_floods", "coastal_floods"]);
    expect(results[0]?.scenarios.map(({ scenario }) => scenario)).toEqual(["rcp8p5", "baseline", "rcp4p5"]);
    expect(results[0]?.scenarios[0]?.analysis_years.map((year) => year.analysis_year)).toEqual([2080, 1980, 2050]);
  });
});

describe("the layer that is sampled", () => {
  test("is the baseline for every year of the baseline scenario and for 1980 of every scenario", async () => {
    const { results } = await atlas.hazardRisk({
      ...QUERY,
      scenarios: ["baseline", "rcp8p5"],
      analysis_years: [1980, 2030, 2050, 2080],
    });
    const [baseline, rcp8p5] = results[0]?.scenarios ?? [];
    const [first] = baseline?.analysis_years ?? [];
    expect(baseline?.analysis_years.map(({ metrics }) => metrics)).toEqual(Array(4).fill(first?.metrics));
    expect(rcp8p5?.analysis_years[0]?.metrics).toEqual(first?.metrics);
    expect(rcp8p5?.analysis_years[3]?.metrics).not.toEqual(first?.metrics);
  });

  test("is reported as layer_missing, with null values, if the atlas does not have the layer or the hazard", async () => {
    const nothing = { intensity: null, depth_meters: null, probability: null };
    const missing = { analysis_year: 2030, metrics: nothing, no_data: "layer_missing" };
    expect(yearOf(await atlas.hazardRisk({ ...QUERY, scenarios: ["rcp8p5"] }))).toEqual(missing);
    expect(yearOf(await atlas.hazardRisk({ ...QUERY, hazards: ["coastal_floods"], radius: 5 }))).toEqual(missing);
  });
});

describe("anthropogenic", () => {
  test("returns the difference from the baseline for points, maxima and means", async () => {
    const random = randomFrom(6);
    let comparedCount = 0;
    for (let i = 0; i < 60; i++) {
      const location = {
        latitude: random.between({ min: -85, max: 85 }),
        longitude: random.between({ min: -180, max: 180 }),
        radius: random.pick([0, 90]),
        aggregation_method: random.pick(["max", "mean"] as const),
        total_hazard: true,
      };
      const change = yearOf(await atlas.hazardRisk({ ...QUERY, ...location, anthropogenic: true }));
      const scenarioYear = yearOf(await atlas.hazardRisk({ ...QUERY, ...location }));
      const baselineYear = yearOf(await atlas.hazardRisk({ ...QUERY, ...location, scenarios: ["baseline"] }));
      for (const metric of METRICS) {
        const [a, b] = [scenarioYear.metrics[metric], baselineYear.metrics[metric]];
        const difference = change.metrics[metric];
        if (typeof a === "number" && typeof b === "number") {
          expect(difference).toBeCloseTo(a - b, 12);
          comparedCount += 1;
        } else {
          expect(difference).toBeNull();
          expect(change.no_data).toBeDefined();
        }
      }
    }
    expect(comparedCount).toBeGreaterThan(40);
  });

  test("returns 0 for the baseline itself and for 1980 of every scenario", async () => {
    let zeros = 0;
    for (let longitude = -175; longitude < 180; longitude += 10) {
      const { results } = await atlas.hazardRisk({
        ...QUERY,
        longitude,
        scenarios: ["baseline", "rcp8p5"],
        analysis_years: [1980],
        anthropogenic: true,
      });
      for (const { analysis_years } of results[0]?.scenarios ?? []) {
        const { depth_meters } = analysis_years[0]?.metrics ?? {};
        if (depth_meters !== null) zeros += 1;
        expect(depth_meters === null || Object.is(depth_meters, 0)).toBe(true);
      }
    }
    expect(zeros).toBeGreaterThan(10);
  });
});

describe("a radius", () => {
  test("aggregates the cells of the reference implementation, also across the antimeridian and the poles", async () => {
    const random = randomFrom(8);
    for (let i = 0; i < 80; i++) {
      const latitude = random.pick([90, -90, 89.7, -89.2, random.between({ min: -90, max: 90 })]);
      const longitude = random.pick([180, -180, 179.9, -179.99, random.between({ min: -180, max: 180 })]);
      const radius = random.pick([0.1, 20, 60, 100, random.between({ min: 0.01, max: 100 })]);
      const cells = circleByDefinition(GRID, { latDeg: latitude, lonDeg: longitude, radiusM: radius * 1000 });
      for (const aggregation_method of ["max", "mean"] as const) {
        const query = { ...QUERY, latitude, longitude, radius, aggregation_method, total_hazard: true, detail: true };
        const result = await atlas.hazardRisk(query);
        const place = JSON.stringify({ latitude, longitude, radius, aggregation_method });
        expect(result.aggregation).toEqual({ radius_km: radius, method: aggregation_method });
        const year = yearOf(result);
        expect(year.detail?.cells, place).toBe(cells.length);
        let share = 1;
        for (const [layer, metric] of METRICS.entries()) {
          const expected = summarizeByDefinition(GRID, cells, (cell) => stepsAt(1, cell, layer));
          share = Math.min(share, expected.validShare);
          const value = year.metrics[metric];
          if (expected.maxSteps === undefined) {
            expect(value, place).toBeNull();
            expect(year.no_data).toBe(expected.hasNodata ? "no_data" : "outside_coverage");
          } else if (aggregation_method === "max") {
            expect(value, place).toBe(expected.maxSteps / (UNITS[layer] ?? 1));
          } else {
            const mean = (expected.meanSteps ?? NaN) / (UNITS[layer] ?? 1);
            expect(Math.abs((value ?? NaN) - mean), place).toBeLessThanOrEqual(1e-10 * mean);
          }
        }
        expect(year.detail?.valid_share, place).toBeCloseTo(share, 9);
      }
    }
  });

  test("of 0 returns no aggregation member and ignores the method", async () => {
    const mean = await atlas.hazardRisk({ ...QUERY, radius: 0, aggregation_method: "mean" });
    expect(mean).toEqual(await atlas.hazardRisk(QUERY));
    expect(mean).not.toHaveProperty("aggregation");
  });
});

describe("detail", () => {
  test("states the cell center, the source and the rules", async () => {
    const query = { ...QUERY, latitude: 10.2, longitude: 20.3, detail: true, scenarios: ["baseline" as const] };
    const result = await atlas.hazardRisk(query);
    expect(yearOf(result).detail).toStrictEqual({
      cells: 1,
      valid_share: 0,
      cell_center: { latitude: 10.25, longitude: 20.25 },
      source: "riverine_floods/baseline/1980",
      rules: RULES,
    });
    expect(result.sources).toStrictEqual({
      "riverine_floods/baseline/1980": { scenario: "baseline", analysis_year: 1980, product: "synthetic test data" },
    });
  });
});

describe("a batch", () => {
  test("returns the results of single queries in order, and an error only for an invalid query", async () => {
    const random = randomFrom(9);
    const queries = Array.from({ length: 60 }, (_, i) => ({
      ...QUERY,
      latitude: i === 17 ? 91 : random.between({ min: -90, max: 90 }),
      longitude: random.between({ min: -180, max: 180 }),
      radius: random.pick([0, 30]),
      ...(i === 23 ? { analysis_years: [2025] } : {}),
    }));
    const results = await atlas.hazardRiskBatch(queries);
    expect(results.length).toBe(60);
    for (const [i, result] of results.entries()) {
      if (i === 17)
        expect(result).toMatchObject({ error: { code: "invalid_request", items: [{ pointer: "/latitude" }] } });
      else if (i === 23) expect(result).toMatchObject({ error: { code: "combination_unavailable" } });
      else expect(result).toEqual(await atlas.hazardRisk(queries[i] as HazardQueryInput));
    }
  });

  test("reports progress until all queries are done", async () => {
    const reportedOf = async (count: number): Promise<readonly (readonly number[])[]> => {
      const reported: number[][] = [];
      const queries = Array.from({ length: count }, (_, i) => ({ ...QUERY, latitude: i === 5 ? 91 : i % 90 }));
      await atlas.hazardRiskBatch(queries, { onProgress: (...counts) => reported.push(counts) });
      return reported;
    };
    expect(await reportedOf(1)).toEqual([[1, 1]]);
    expect(await reportedOf(128)).toEqual([
      [64, 128],
      [128, 128],
    ]);
    expect((await reportedOf(150)).at(-1)).toEqual([150, 150]);
  });

  test("yields to the event loop if all tiles are cached, so that a signal can stop it", async () => {
    await atlas.hazardRisk(QUERY);
    const queries = Array.from({ length: 50_000 }, () => QUERY);
    const stop = new AbortController();
    let queriesDone = 0;
    const stopped = atlas.hazardRiskBatch(queries, {
      signal: stop.signal,
      onProgress: (count) => (queriesDone = count),
    });
    setImmediate(() => stop.abort(new Error("enough")));
    await expect(stopped).rejects.toThrow("enough");
    expect(queriesDone).toBeLessThan(queries.length);
  });

  test("stops after the first error", async () => {
    let reportedCount = 0;
    const onProgress = (): void => {
      reportedCount += 1;
      throw new Error("listener failed");
    };
    await expect(
      atlas.hazardRiskBatch(
        Array.from({ length: 5000 }, () => QUERY),
        { onProgress },
      ),
    ).rejects.toThrow("listener failed");
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(reportedCount).toBe(1);
  });

  test("is rejected if it is empty or not a list", async () => {
    await expect(atlas.hazardRiskBatch([])).rejects.toMatchObject({ code: "invalid_request" });
    await expect(atlas.hazardRiskBatch({} as never)).rejects.toMatchObject({ code: "invalid_request" });
  });
});

describe("opening", () => {
  test("rejects an address without an atlas, an unsupported protocol and a cache size out of range", async () => {
    await expect(openAtlas(join(folder, "nowhere"))).rejects.toMatchObject({ code: "atlas_not_found" });
    await expect(openAtlas("ftp://example.org/atlas")).rejects.toMatchObject({ code: "atlas_not_found" });
    await expect(openAtlas(folder, { cacheBytes: 5 })).rejects.toMatchObject({ code: "configuration_invalid" });
  });
});
