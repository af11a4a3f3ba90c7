import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Atlas } from "../../src/hazard/answer.ts";
import type { HazardName } from "../../src/hazard/hazards.ts";
import { SAMPLE_REASONS, type SampleLayer } from "../../src/hazard/sample.ts";
import type { Grid } from "../../src/kernel/grid.ts";
import { Kernel } from "../../src/kernel/instance.ts";
import { openAtlas } from "../../src/openAtlas.ts";
import { FLOOD_LAYERS, makeAtlas, type MadeHazard, patchyCells } from "../atlas/makeAtlas.ts";
import { randomFrom, type SeededRandom } from "../seededRandom.ts";

const GRID: Grid = {
  northDeg: 60,
  westDeg: -180,
  cellSizeLatDeg: 0.2,
  cellSizeLonDeg: 0.2,
  rowCount: 500,
  columnCount: 1800,
};
const group = (scenario: string, year: number, seed: number): MadeHazard["groups"][number] => ({
  scenario,
  year,
  layers: FLOOD_LAYERS,
  cells: patchyCells(GRID, { layerCount: 4, seed }),
});

let folder: string;
let packed: Atlas;
let demo: Atlas;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "isotherm-test-"));
  const groups = [group("baseline", 1980, 21), group("rcp4p5", 2030, 22), group("rcp8p5", 2080, 23)];
  await makeAtlas(await Kernel.load(), folder, [{ hazard: "riverine_floods", grid: GRID, groups }]);
  // Small, so that tiles make way for each other.
  packed = await openAtlas(folder, { cacheBytes: 12 << 20 });
  demo = await openAtlas("demo");
});
afterAll(async () => {
  await packed.close();
  await demo.close();
  await rm(folder, { recursive: true, force: true });
});

function placesFrom(random: SeededRandom, count: number): { latitudes: Float64Array; longitudes: Float64Array } {
  const lat = (): number =>
    random.pick([random.between({ least: -90, most: 90 }), Math.round(random.next() * 300) / 5]);
  const lon = (): number => random.pick([random.between({ least: -180, most: 180 }), 180, -180, -179.99]);
  return {
    latitudes: Float64Array.from({ length: count }, lat),
    longitudes: Float64Array.from({ length: count }, lon),
  };
}

const LAYERS: readonly SampleLayer[] = [
  { scenario: "rcp8p5", analysisYear: 2080, metric: "probability" },
  { scenario: "rcp4p5", analysisYear: 2030, metric: "depth_meters" },
  { scenario: "rcp4p5", analysisYear: 2050, metric: "depth_meters" }, // not in the made atlas
  { scenario: "rcp4p5", analysisYear: 1980, metric: "depth_meters" }, // the baseline, twice
  { scenario: "baseline", analysisYear: 2030, metric: "depth_meters" },
  { scenario: "rcp8p5", analysisYear: 2080, metric: "total_hazard" },
];

/** What hazardRisk says of the same, one place after the other. */
async function oneByOne(
  atlas: Atlas,
  hazard: HazardName,
  places: { latitudes: Float64Array; longitudes: Float64Array },
  how: { radius: number; method: "max" | "mean" },
): Promise<[number | null, string][]> {
  const results: [number | null, string][] = [];
  for (const [i, latitude] of places.latitudes.entries()) {
    for (const { scenario, analysisYear, metric } of LAYERS) {
      const answer = await atlas.hazardRisk({
        latitude,
        longitude: places.longitudes[i] ?? NaN,
        hazards: [hazard],
        scenarios: [scenario],
        analysis_years: [analysisYear],
        radius: how.radius,
        aggregation_method: how.method,
        total_hazard: true,
      });
      const year = answer.results[0]?.scenarios[0]?.analysis_years[0];
      const value = year?.metrics[metric] ?? null;
      results.push([value, value === null ? (year?.no_data ?? "") : "value"]);
    }
  }
  return results;
}

describe("the bulk door", () => {
  for (const [name, atlasOf, count] of [
    ["an atlas on disk", () => packed, 250],
    ["the demo", () => demo, 25],
  ] as const) {
    for (const how of [
      { radius: 0, method: "max" },
      { radius: 40, method: "max" },
      { radius: 70, method: "mean" },
    ] as const) {
      test(`gives what hazardRisk gives, bit for bit: ${name}, ${how.method} within ${how.radius} km`, async () => {
        const places = placesFrom(randomFrom(how.radius + 1), count);
        const { values, reasons } = await atlasOf().sample({
          hazard: "riverine_floods",
          layers: LAYERS,
          ...places,
          radiusKm: how.radius,
          method: how.method,
        });
        const found = Array.from(values, (value, i) => [
          Number.isNaN(value) ? null : value,
          SAMPLE_REASONS[reasons[i] ?? 0],
        ]);
        expect(found).toEqual(await oneByOne(atlasOf(), "riverine_floods", places, how));
      });
    }
  }

  test("does not depend on the order of the places", async () => {
    const places = placesFrom(randomFrom(77), 5000);
    const request = { hazard: "riverine_floods", layers: LAYERS.slice(0, 2) };
    const forwards = await packed.sample({ ...request, ...places });
    const backwards = await packed.sample({
      ...request,
      latitudes: places.latitudes.toReversed(),
      longitudes: places.longitudes.toReversed(),
    });
    for (let i = 0; i < 5000; i++) {
      for (const layer of [0, 1]) {
        expect(backwards.values[(4999 - i) * 2 + layer]).toEqual(forwards.values[i * 2 + layer]);
      }
    }
  });

  test("tells how far it has come, and stops when told to", async () => {
    const places = placesFrom(randomFrom(78), 60_000);
    const steps: number[] = [];
    const request = { hazard: "riverine_floods", layers: LAYERS.slice(0, 1), ...places };
    await packed.sample({ ...request, onProgress: (done) => steps.push(done) });
    expect(steps.length).toBeGreaterThan(5);
    expect(steps.at(-1)).toBe(60_000);
    expect(steps).toEqual(steps.toSorted((a, b) => a - b));

    const stop = new AbortController();
    const stopped = packed.sample({
      ...request,
      signal: stop.signal,
      onProgress: () => stop.abort(new Error("enough")),
    });
    await expect(stopped).rejects.toThrow("enough");
    const circles = { ...request, radiusKm: 5, signal: AbortSignal.abort(new Error("before it began")) };
    await expect(packed.sample(circles)).rejects.toThrow("before it began");
  });

  test("takes no place at all, and a hazard that the atlas lacks", async () => {
    const none = { latitudes: new Float64Array(), longitudes: new Float64Array() };
    const layers = LAYERS.slice(0, 2);
    expect((await packed.sample({ hazard: "riverine_floods", layers, ...none })).values.length).toBe(0);
    const one = { latitudes: Float64Array.of(1), longitudes: Float64Array.of(2) };
    const { values, reasons } = await packed.sample({ hazard: "coastal_floods", layers, ...one });
    expect([...values, ...reasons]).toEqual([NaN, NaN, 3, 3]);
  });

  test("refuses with every fault at once, and where it is", async () => {
    const request = {
      hazard: "riverine_floods",
      layers: LAYERS,
      latitudes: Float64Array.of(1, 91, NaN),
      longitudes: Float64Array.of(1, 2, -181),
    };
    await expect(packed.sample(request)).rejects.toMatchObject({
      code: "invalid_request",
      items: [{ pointer: "/latitudes/1" }, { pointer: "/latitudes/2" }, { pointer: "/longitudes/2" }],
    });
    const rest = { hazard: "floods", layers: [], latitudes: [1], longitudes: [1], radiusKm: 101, method: "sum" };
    await expect(packed.sample(rest as never)).rejects.toMatchObject({
      items: [
        { pointer: "/hazard" },
        { pointer: "/layers" },
        { pointer: "/latitudes" },
        { pointer: "/longitudes" },
        { pointer: "/radiusKm" },
        { pointer: "/method" },
      ],
    });
    const places = { latitudes: Float64Array.of(1), longitudes: Float64Array.of(2) };
    const layers = [{ scenario: "rcp2p6", analysisYear: 2025, metric: "wind_speed_mps" } as const];
    await expect(packed.sample({ hazard: "riverine_floods", layers, ...places })).rejects.toMatchObject({
      code: "combination_unavailable",
      items: [
        { pointer: "/layers/0/scenario" },
        { pointer: "/layers/0/analysisYear" },
        { pointer: "/layers/0/metric" },
      ],
    });
    const longer = { hazard: "riverine_floods", layers: LAYERS, ...places, longitudes: Float64Array.of(1, 2) };
    await expect(packed.sample(longer)).rejects.toMatchObject({ items: [{ pointer: "/longitudes" }] });
  });
});
