import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { isFault } from "../../../src/errors.ts";
import { windEvents as windsOf } from "../../../src/ingest/computed/seriesMetrics.ts";
import { ingestRecipe, previewRecipe } from "../../../src/ingest/ingest.ts";
import type { Raster } from "../../../src/ingest/raster.ts";
import { openAtlas } from "../../../src/index.ts";
import { describeWithSharedData, readSamples, SHARED_HAZARD_DATA } from "../../sharedData.ts";
import {
  folder,
  map,
  metricsAt,
  out,
  readCatalog,
  rejectionMessage,
  useIngestFolder,
  withAtlas,
} from "../ingestFixture.ts";

useIngestFolder();

const BASELINE = { scenario: "baseline", year: 1980 } as const;
const CYCLONE = { hazard: "cyclones", ...BASELINE } as const;

async function manifest(group: Readonly<Record<string, unknown>>, more: Readonly<Record<string, unknown>> = {}) {
  const path = join(folder, "storms.json");
  const groups = [{ ...BASELINE, ...group }];
  await writeFile(path, JSON.stringify({ source: { name: "Test", licence: "none" }, groups, ...more }));
  return path;
}

async function ingest(group: Readonly<Record<string, unknown>>, more: Readonly<Record<string, unknown>> = {}) {
  return ingestRecipe("wind-events", { sources: [await manifest(group, more)], out });
}

/** Writes one footprint for each wind speed, which all cells have. */
async function storms(windsMps: readonly number[]): Promise<void> {
  for (const [index, wind] of windsMps.entries()) await map(`storm${String(index).padStart(3, "0")}.tif`, () => wind);
}

describe("wind-events", () => {
  test("gives the probability 1 - exp(-n / Y), and no wind speed if it is not asked for", async () => {
    await storms([20, 33, 40, 32.99]);
    const report = await ingest({ span_years: 22, probability_only: true, events: { files: "storm*.tif" } });
    expect(report.totals.sourceCells).toBe(4 * 70 * 80);
    await withAtlas(async (atlas) => {
      const metrics = await metricsAt(atlas, { row: 3, column: 4, ...CYCLONE });
      expect(metrics["probability"]).toBeCloseTo(1 - Math.exp(-2 / 22), 4);
      expect(metrics).toMatchObject({ wind_speed_mps: null, intensity: null });
    });
    const [hazard] = (await readCatalog()).hazards;
    expect(hazard?.packs[0]?.groups[0]?.provenance).toMatchObject({
      recipe: "wind-events",
      storm_count: 4,
      span_years: 22,
      missing_values: "make the cell missing",
      source_maps: [{ map_count: 4, files: [{ file: "storm000.tif" }, {}, {}, {}] }],
    });
  });

  test("interpolates the wind speed linearly in the logarithm of the rate of the i-th largest storm", async () => {
    await storms([50, 20, 70, 30]);
    // The rate of 1 in 100 years lies between those of the largest (1 / 150) and the second largest storm (2 / 150).
    await ingest({ span_years: 150, events: { files: "storm*.tif" } });
    await withAtlas(async (atlas) => {
      const { wind_speed_mps, intensity, probability } = await metricsAt(atlas, { row: 0, column: 0, ...CYCLONE });
      const expected = 70 + (50 - 70) * (Math.log(1.5) / Math.log(2));
      expect(wind_speed_mps).toBeCloseTo(expected, 2);
      expect(intensity).toBeCloseTo(expected / 100, 3);
      expect(probability).toBeCloseTo(1 - Math.exp(-2 / 150), 4);
    });
  });

  test("uses the i-th largest storm if the return period is exactly that of its rate", async () => {
    await storms([50, 20, 70, 30]);
    await ingest({ span_years: 300, events: { files: "storm*.tif", unit_factor: 1.1 } });
    await withAtlas(async (atlas) => {
      expect((await metricsAt(atlas, { row: 0, column: 0, ...CYCLONE }))["wind_speed_mps"]).toBeCloseTo(33, 2);
    });
  });

  test("makes a cell missing that is missing in any footprint, unless missing values mean no wind", async () => {
    await map("a.tif", (cell) => (cell === 0 ? -9999 : 50));
    await map("b.tif", () => 60);
    const events = { files: "?.tif" };
    await ingest({ span_years: 100, events });
    await withAtlas(async (atlas) => {
      expect(await metricsAt(atlas, { row: 0, column: 0, ...CYCLONE })).toMatchObject({ probability: null });
      expect(await metricsAt(atlas, { row: 0, column: 1, ...CYCLONE })).toMatchObject({ wind_speed_mps: 60 });
    });
    await ingest({ span_years: 200, events: { ...events, missing: "calm" } });
    await withAtlas(async (atlas) => {
      const metrics = await metricsAt(atlas, { row: 0, column: 0, ...CYCLONE });
      expect(metrics["probability"]).toBeCloseTo(1 - Math.exp(-1 / 200), 4);
      expect(metrics["wind_speed_mps"]).toBe(0);
    });
  });

  test("rejects fewer than two storms, and fewer than the design return period needs", async () => {
    await storms([50]);
    const events = { files: "storm*.tif" };
    expect(await rejectionMessage(ingest({ span_years: 22, probability_only: true, events }))).toMatch(
      /has one storm in 22 years; at least 2 are needed/,
    );
    await storms([50, 60]);
    expect(await rejectionMessage(ingest({ span_years: 950, events }))).toMatch(/2 storms in 950 years; at least 10/);
  });

  test("rejects a period that is shorter than the design return period, and other errors, with their pointers", async () => {
    const path = await manifest(
      { year: 2050, span_years: 22, events: { files: "a.tif", missing: "zero" }, extra: 1 },
      { rules: { danger_threshold: 30 } },
    );
    const error: unknown = await previewRecipe("wind-events", { sources: [path], out }).catch(
      (reason: unknown) => reason,
    );
    if (!isFault(error)) throw error;
    expect(error.items.map(({ pointer, code }) => [pointer, code])).toEqual([
      ["/rules/danger_threshold", "unknown"],
      ["/groups/0/events/missing", "not_allowed"],
      ["/groups/0/extra", "unknown"],
      ["/groups/0/year", "combination_unavailable"],
      ["/groups/0/span_years", "out_of_range"],
    ]);
    expect(error.items.at(-1)?.detail).toMatch(/no value beyond the largest storm.*probability_only/);
  });

  test("rejects footprints on different grids", async () => {
    await map("a.tif", () => 50);
    await map("b.tif", () => 50, { tiePoint: [10.05, 20] });
    expect(await rejectionMessage(ingest({ span_years: 100, events: { files: "?.tif" } }))).toMatch(
      /b\.tif: its northwest corner .*All maps must have the grid of .*a\.tif/,
    );
  });

  test("rejects a unit that is not a wind speed", async () => {
    await map("a.tif", () => 50, {
      metadata: '<GDALMetadata><Item name="UNITTYPE" sample="0" role="unittype">m</Item></GDALMetadata>',
    });
    await map("b.tif", () => 50);
    expect(await rejectionMessage(ingest({ span_years: 100, events: { files: "?.tif" } }))).toMatch(
      /unit "m", but wind_speed_mps is in m\/s/,
    );
  });
});

describe("the wind speed of random storms", () => {
  test("equals that of all winds sorted, for any period", async () => {
    let seed = 7;
    const random = (): number => (seed = (seed * 48_271) % 2_147_483_647) / 2_147_483_647;
    for (let round = 0; round < 30; round++) {
      const stormCount = 12 + Math.floor(random() * 20);
      const winds = Array.from({ length: stormCount }, () => (random() < 0.2 ? 0 : Math.round(random() * 700) / 10));
      const spanYears = 100 * (1 + random() * 10);
      const part = {
        readWindow: ({ band }: { band: number }) => Promise.resolve(Float64Array.of(winds[band - 1] ?? NaN)),
        bands: [],
      } as unknown as Raster;
      const [level, probability] = await windsOf(
        [part],
        { firstRow: 0, rowCount: 1, firstColumn: 0, columnCount: 1 },
        {
          kind: "wind-events",
          events: [{ part: 0, firstBand: 1, bandCount: stormCount }],
          spanYears,
          unitFactor: 1,
          thresholdMps: 33,
          designReturnPeriodYears: 100,
          isMissingCalm: false,
        },
      );
      const sorted = winds.toSorted((a, b) => b - a);
      const rates = sorted.map((_, index) => (index + 1) / spanYears);
      const lower = rates.findIndex((rate) => rate >= 0.01);
      const upper = Math.max(0, lower - 1);
      const share =
        upper === lower
          ? 0
          : (Math.log(0.01) - Math.log(rates[upper] ?? NaN)) /
            (Math.log(rates[lower] ?? NaN) - Math.log(rates[upper] ?? NaN));
      const expected = (sorted[upper] ?? NaN) + share * ((sorted[lower] ?? NaN) - (sorted[upper] ?? NaN));
      expect(level?.[0]).toBeCloseTo(expected, 9);
      expect(probability?.[0]).toBeCloseTo(1 - Math.exp(-winds.filter((wind) => wind >= 33).length / spanYears), 12);
    }
  });
});

describeWithSharedData("29 storms of Puerto Rico in 22 years", () => {
  test("have the known answers of the page of the recipe", async () => {
    const page = await readFile(new URL("../../../docs/recipes/wind-events.md", import.meta.url), "utf8");
    const rows = [...page.matchAll(/^\| *([\d.]+) m\/s[^|]*\| *(\d+)[^|]*\| *([\d.]+) *\|$/gm)];
    expect(rows.map(([, thresholdMps]) => Number(thresholdMps))).toEqual([0, 33]);
    const [latitude = NaN, longitude = NaN] = (/latitude ([\d.]+), longitude (-[\d.]+)/.exec(page) ?? [])
      .slice(1)
      .map(Number);
    for (const [, thresholdMps, stormCount, probability] of rows) {
      await rm(out, { recursive: true, force: true });
      const rules = { threshold: Math.max(1e-6, Number(thresholdMps)) };
      await ingest(
        { span_years: 22, probability_only: true, events: { files: file, variable: "max_wind_speed" } },
        { rules },
      );
      const metrics = await withAtlas(async (atlas) => {
        const { results } = await atlas.hazardRisk({
          latitude,
          longitude,
          hazards: ["cyclones"],
          scenarios: ["baseline"],
          analysis_years: [1980],
        });
        return results[0]?.scenarios[0]?.analysis_years[0]?.metrics;
      });
      expect(metrics?.["probability"]).toBeCloseTo(Number(probability), 4);
      expect(Number(probability)).toBeCloseTo(1 - Math.exp(-Number(stormCount) / 22), 4);
    }
  });

  const file = join(SHARED_HAZARD_DATA, "opengira/PRI_max_wind_field_29_IBTrACS_storms.nc");
  const samples = readSamples(
    join(SHARED_HAZARD_DATA, "opengira/derived_PRI_max_wind_29storms_northup.tif.samples.csv"),
  );

  test.each([33, 1e-6])(
    "have the probability 1 - exp(-n / 22) of winds of %s m/s at every sample",
    async (threshold) => {
      await ingest(
        { span_years: 22, probability_only: true, events: { files: file, variable: "max_wind_speed" } },
        { rules: { threshold } },
      );
      const atlas = await openAtlas(out);
      try {
        let allReached = 0;
        for (const { latDeg, lonDeg, isInside, isNodata, allBands = [] } of samples) {
          if (!isInside || isNodata) continue;
          const { results } = await atlas.hazardRisk({
            latitude: latDeg,
            longitude: lonDeg,
            hazards: ["cyclones"],
            scenarios: ["baseline"],
            analysis_years: [1980],
          });
          const stormCount = allBands.filter((wind) => wind >= threshold).length;
          const probability = results[0]?.scenarios[0]?.analysis_years[0]?.metrics["probability"];
          expect(probability).toBeCloseTo(1 - Math.exp(-stormCount / 22), 4);
          if (stormCount === 29) allReached++;
        }
        expect(samples.length).toBeGreaterThan(5);
        // 1 - exp(-29 / 22) = 0.7324: all storms reach the cell.
        expect(allReached > 0).toBe(threshold < 1);
      } finally {
        await atlas.close();
      }
    },
  );
});
