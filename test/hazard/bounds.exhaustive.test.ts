import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Atlas, openAtlas } from "../../src/index.ts";
import { ingestLayers } from "../../src/ingest/ingest.ts";
import { makeGeoTiff } from "../ingest/makeGeoTiff.ts";
import { describeWithSharedData, SHARED_HAZARD_DATA } from "../sharedData.ts";
import type { AnalysisYearResult, HazardQueryInput } from "../../src/contract/wireTypes.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "isotherm-test-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function queryYear(atlas: Pick<Atlas, "hazardRisk">, query: HazardQueryInput): Promise<AnalysisYearResult> {
  const [year] = (await atlas.hazardRisk(query)).results[0]?.scenarios[0]?.analysis_years ?? [];
  if (year === undefined) throw new Error("no analysis year");
  return year;
}

/** Creates an atlas whose maps for all return periods have one row of 1 m, and south of it one row of 0 m. */
async function floods(periods: readonly number[]): Promise<Atlas> {
  const file = join(folder, "map.tif");
  const shape = { rowCount: 2, columnCount: 2, tiePoint: [20, 10], pixelScale: [0.1, 0.1] } as const;
  await writeFile(file, makeGeoTiff({ ...shape, values: [1, 1, 0, 0] }));
  const layers = periods.map((return_period_years) => ({
    scenario: "baseline",
    year: 1980,
    return_period_years,
    file,
  }));
  const source = { name: "synthetic", licence: "none" };
  const content = { hazard: "riverine_floods", source, layers, options: { hold_flat: true } };
  await writeFile(join(folder, "manifest.json"), JSON.stringify(content));
  await ingestLayers({ manifest: join(folder, "manifest.json"), out: join(folder, "atlas") });
  return openAtlas(join(folder, "atlas"));
}

const WET: HazardQueryInput = {
  latitude: 9.95,
  longitude: 20.05,
  hazards: ["riverine_floods"],
  analysis_years: [1980],
  scenarios: ["baseline"],
};
const DRY = { ...WET, latitude: 9.85 };

describe("the limit of a bound", () => {
  test.each([[[2, 100]], [[7, 100]], [[90, 300]], [[100]]])(
    "is the unrounded 1/T for maps of %j years",
    async (periods) => {
      const atlas = await floods(periods);
      try {
        const [first = NaN, last = NaN] = [periods[0], periods.at(-1)];
        expect((await queryYear(atlas, WET)).bounds).toStrictEqual({
          probability: { bound: "at_least", limit: 1 / first },
        });
        expect((await queryYear(atlas, DRY)).bounds).toStrictEqual({
          probability: { bound: "at_most", limit: 1 / last },
        });
        const total = await queryYear(atlas, { ...WET, total_hazard: true });
        expect(total.bounds?.total_hazard).toStrictEqual({ bound: "at_least", limit: total.metrics.total_hazard });
        const dryTotal = await queryYear(atlas, { ...DRY, total_hazard: true });
        expect(dryTotal.bounds?.total_hazard).toStrictEqual({ bound: "at_most", limit: 0 });
      } finally {
        await atlas.close();
      }
    },
  );

  test("is absent, and the bound is indeterminate, if 1/T of the first map is stored as 0", async () => {
    const atlas = await floods([200_000, 300_000]);
    try {
      const year = await queryYear(atlas, { ...WET, total_hazard: true });
      expect([year.metrics.probability, year.bounds]).toStrictEqual([
        0,
        { probability: { bound: "indeterminate" }, total_hazard: { bound: "indeterminate" } },
      ]);
    } finally {
      await atlas.close();
    }
  });

  test("is frozen, because results share it", async () => {
    const atlas = await floods([2, 100]);
    try {
      const { bounds } = await queryYear(atlas, WET);
      expect(() => Object.assign(bounds?.probability ?? {}, { limit: 7 })).toThrow(TypeError);
      expect((await queryYear(atlas, WET)).bounds?.probability.limit).toBe(0.5);
    } finally {
      await atlas.close();
    }
  });
});

describe("the change of a maximum total_hazard", () => {
  test("allows for a cell with a higher intensity than that of the largest product and a probability of up to 1/Tn", async () => {
    // In the baseline the left cell reaches 33 m/s every 1000 years; the right one is more intense but never reaches it.
    const baseline = { 10: [0, 32], 100: [10, 32], 1000: [33, 32] };
    const later = { 10: [40, 40], 100: [50, 50], 1000: [60, 60] };
    const layers: object[] = [];
    for (const [scenario, year, maps] of [
      ["baseline", 1980, baseline],
      ["rcp8p5", 2050, later],
    ] as const) {
      for (const [period, values] of Object.entries(maps)) {
        const file = join(folder, `${scenario}-${period}.tif`);
        const shape = { rowCount: 1, columnCount: 2, tiePoint: [20, 10], pixelScale: [0.1, 0.1] } as const;
        await writeFile(file, makeGeoTiff({ ...shape, values }));
        layers.push({ scenario, year, return_period_years: Number(period), file });
      }
    }
    const content = { hazard: "cyclones", source: { name: "synthetic", licence: "none" }, layers };
    await writeFile(join(folder, "manifest.json"), JSON.stringify(content));
    await ingestLayers({ manifest: join(folder, "manifest.json"), out: join(folder, "atlas") });
    const atlas = await openAtlas(join(folder, "atlas"));
    try {
      const query = { ...WET, hazards: ["cyclones"], radius: 30, total_hazard: true } as const;
      const before = await queryYear(atlas, query);
      expect(before.metrics).toStrictEqual({
        intensity: 0.32,
        wind_speed_mps: 32,
        probability: 0.001,
        total_hazard: 0.0001, // of the left cell: 0.1 x 0.001
      });
      const change = { ...query, analysis_years: [2050], scenarios: ["rcp8p5"], anthropogenic: true } as const;
      const { total_hazard } = (await queryYear(atlas, change)).bounds ?? {};
      expect(total_hazard?.bound).toBe("at_least");
      expect(total_hazard?.limit).toBeCloseTo(0.5 * 0.1 - 0.32 * 0.001, 12);
    } finally {
      await atlas.close();
    }
  });
});

describe("the demo", () => {
  test("bounds floods and winds at 2 and 1000 years, and has no bounds for wildfire", async () => {
    const atlas = await openAtlas("demo");
    try {
      const [latitudes, longitudes] = [[], []] as [number[], number[]];
      for (let i = 0; i < 400; i++) {
        latitudes.push(-60 + ((i * 37.7) % 130));
        longitudes.push(-180 + ((i * 91.3) % 360));
      }
      const kinds = new Map<string, Set<string>>();
      for (const [i, latitude] of latitudes.entries()) {
        const hazards = ["cyclones", "wildfire", "coastal_floods", "riverine_floods"] as const;
        const query = { ...WET, hazards, latitude, longitude: longitudes[i] ?? 0 };
        for (const { hazard, scenarios } of (await atlas.hazardRisk(query)).results) {
          const { metrics, bounds } = scenarios[0]?.analysis_years[0] ?? {};
          const value = metrics?.probability;
          if (value === null || value === undefined) continue;
          const expected =
            hazard === "wildfire" || (value !== 0 && value !== 0.5)
              ? undefined
              : { probability: value === 0 ? { bound: "at_most", limit: 0.001 } : { bound: "at_least", limit: 0.5 } };
          expect(bounds, `${hazard} ${value}`).toStrictEqual(expected);
          if (value > 0 && hazard !== "wildfire") expect(value).toBeGreaterThanOrEqual(0.001);
          kinds.set(hazard, (kinds.get(hazard) ?? new Set()).add(bounds?.probability.bound ?? "exact"));
        }
      }
      expect(kinds.get("wildfire")).toStrictEqual(new Set(["exact"]));
      expect(kinds.get("riverine_floods")).toStrictEqual(new Set(["at_most", "at_least", "exact"]));
      expect(kinds.get("cyclones")?.has("exact")).toBe(true);
    } finally {
      await atlas.close();
    }
  });
});

describeWithSharedData("winds of STORM with a return period of 10 years", () => {
  test("are lower bounds of 1/10 in 249,988 cells and upper bounds of 1/10 in the others", async () => {
    const file = resolve(SHARED_HAZARD_DATA, "storm/STORM_present_2020_rp10_global_0p1deg.tif");
    const layers = [{ scenario: "baseline", year: 1980, return_period_years: 10, file, unit_factor: 1 / 0.88 }];
    const source = { name: "STORM", licence: "CC0" };
    const content = { hazard: "cyclones", source, layers, options: { hold_flat: true } };
    await writeFile(join(folder, "manifest.json"), JSON.stringify(content));
    await ingestLayers({ manifest: join(folder, "manifest.json"), out: join(folder, "atlas") });
    const atlas = await openAtlas(join(folder, "atlas"));
    try {
      const [{ grid } = { grid: undefined }] = atlas.holdings;
      if (grid === undefined) throw new Error("no grid");
      const locations = centersOf(grid);
      const { values } = await atlas.sample({
        hazard: "cyclones",
        layers: [{ scenario: "baseline", analysisYear: 1980, metric: "probability" }],
        ...locations,
      });
      const cells = { atLeast: 0, atMost: 0, between: 0, missing: 0 };
      const batch: HazardQueryInput[] = [];
      const expected: object[] = [];
      for (const [i, value] of values.entries()) {
        if (Number.isNaN(value)) cells.missing += 1;
        else if (value === 0.1) cells.atLeast += 1;
        else if (value === 0) cells.atMost += 1;
        else cells.between += 1;
        // Bounds are checked for a sample of the million cells.
        if (Number.isNaN(value) || i % 53 !== 0) continue;
        const [latitude = NaN, longitude = NaN] = [locations.latitudes[i], locations.longitudes[i]];
        batch.push({ ...WET, hazards: ["cyclones"], latitude, longitude });
        expected.push({ bound: value === 0 ? "at_most" : "at_least", limit: 0.1 });
      }
      expect(cells).toStrictEqual({ atLeast: 249_988, atMost: 747_451, between: 0, missing: values.length - 997_439 });
      const results = await atlas.hazardRiskBatch(batch);
      const found = results.map((result) =>
        "error" in result ? result : result.results[0]?.scenarios[0]?.analysis_years[0]?.bounds?.probability,
      );
      expect(found).toStrictEqual(expected);
    } finally {
      await atlas.close();
    }
  }, 120_000);
});

function centersOf(grid: Atlas["holdings"][number]["grid"]) {
  const count = grid.row_count * grid.column_count;
  const [latitudes, longitudes] = [new Float64Array(count), new Float64Array(count)];
  for (let cell = 0; cell < count; cell++) {
    latitudes[cell] = grid.north_deg - (Math.floor(cell / grid.column_count) + 0.5) * grid.cell_size_lat_deg;
    const longitude = grid.west_deg + ((cell % grid.column_count) + 0.5) * grid.cell_size_lon_deg;
    longitudes[cell] = longitude > 180 ? longitude - 360 : longitude < -180 ? longitude + 360 : longitude;
  }
  return { latitudes, longitudes };
}
