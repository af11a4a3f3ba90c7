import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { CellAtlas } from "../../src/atlas/cellSource.ts";
import { diskBlobs } from "../../src/atlas/diskBlobs.ts";
import { openPackedAtlas } from "../../src/atlas/packedAtlas.ts";
import { Sampler } from "../../src/atlas/sampler.ts";
import type { Atlas } from "../../src/hazard/answer.ts";
import type { HazardName } from "../../src/hazard/hazards.ts";
import { SAMPLE_REASONS, sampleSteps } from "../../src/hazard/sample.ts";
import type { SampleLayer } from "../../src/hazard/sampleRequest.ts";
import type { Grid } from "../../src/kernel/grid.ts";
import { Kernel } from "../../src/kernel/instance.ts";
import { openAtlas } from "../../src/openAtlas.ts";
import { FLOOD_LAYERS, makeAtlas, type HazardFixture, patchyCells } from "../atlas/makeAtlas.ts";
import { randomFrom, type SeededRandom } from "../seededRandom.ts";

const GRID: Grid = {
  northDeg: 60,
  westDeg: -180,
  cellSizeLatDeg: 0.2,
  cellSizeLonDeg: 0.2,
  rowCount: 500,
  columnCount: 1800,
};
const group = (scenario: string, year: number, seed: number): HazardFixture["groups"][number] => ({
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
  // A small cache, so that tiles are evicted.
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
  { scenario: "rcp4p5", analysisYear: 2050, metric: "depth_meters" }, // not in the test atlas
  { scenario: "rcp4p5", analysisYear: 1980, metric: "depth_meters" }, // the baseline, twice
  { scenario: "baseline", analysisYear: 2030, metric: "depth_meters" },
  { scenario: "rcp8p5", analysisYear: 2080, metric: "total_hazard" },
];

/** Returns the values and reasons of hazardRisk, one location after the other. */
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

describe("sample", () => {
  for (const [name, atlasOf, count] of [
    ["an atlas on disk", () => packed, 250],
    ["the demo", () => demo, 25],
  ] as const) {
    for (const how of [
      { radius: 0, method: "max" },
      { radius: 40, method: "max" },
      { radius: 70, method: "mean" },
    ] as const) {
      test(`returns the values of hazardRisk bit for bit: ${name}, ${how.method} within ${how.radius} km`, async () => {
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

  test("returns values that do not depend on the order of the locations", async () => {
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

  test("writes into the caller's arrays and overwrites their content", async () => {
    const places = placesFrom(randomFrom(79), 5000);
    for (const [layers, radiusKm] of [
      [LAYERS, 0],
      [LAYERS.slice(0, 2), 0],
      [LAYERS.slice(0, 2), 3],
    ] as const) {
      const request = { hazard: "riverine_floods", layers, ...places, radiusKm };
      const length = 5000 * layers.length;
      const into = { values: new Float64Array(length).fill(5), reasons: new Uint8Array(length).fill(5) };
      const fresh = await packed.sample(request);
      const reused = await packed.sample({ ...request, into });
      expect(reused.values).toBe(into.values);
      expect(reused.reasons).toBe(into.reasons);
      expect(reused).toEqual(fresh);
    }
  });

  test("rejects output arrays of the wrong type or length, and overlapping ones", async () => {
    const both = new ArrayBuffer(8 * 10);
    const request = {
      hazard: "riverine_floods",
      layers: LAYERS.slice(0, 2),
      latitudes: new Float64Array(both, 0, 2),
      longitudes: new Float64Array(both, 16, 2),
    };
    const values = new Float64Array(4);
    const reasons = new Uint8Array(4);
    const rejectedItems = async (into: unknown): Promise<unknown> => {
      const error: unknown = await packed.sample({ ...request, into } as never).catch((reason: unknown) => reason);
      return (error as { items?: unknown }).items;
    };
    expect(await rejectedItems(null)).toMatchObject([{ pointer: "/into", code: "wrong_type" }]);
    expect(await rejectedItems({})).toMatchObject([{ pointer: "/into/values" }, { pointer: "/into/reasons" }]);
    expect(await rejectedItems({ values: new Float32Array(4), reasons })).toMatchObject([
      { pointer: "/into/values", code: "wrong_type", detail: "into.values must be a Float64Array (got an object)." },
    ]);
    expect(await rejectedItems({ values, reasons: new Uint8Array(5) })).toMatchObject([
      {
        pointer: "/into/reasons",
        code: "out_of_range",
        detail: "into.reasons must have 4 elements, locations x layers (got 5).",
      },
    ]);
    expect(await rejectedItems({ values: new Float64Array(both, 8, 4), reasons })).toMatchObject([
      { pointer: "/into/values", code: "not_allowed", detail: "into.values must not share memory with latitudes." },
    ]);
    expect(await rejectedItems({ values, reasons: new Uint8Array(both, 31, 4) })).toMatchObject([
      { detail: "into.reasons must not share memory with longitudes." },
    ]);
    expect(await rejectedItems({ values, reasons: new Uint8Array(values.buffer, 0, 4) })).toMatchObject([
      { detail: "into.reasons must not share memory with into.values." },
    ]);
    // Adjacent parts of one buffer do not overlap.
    const slab = { values: new Float64Array(both, 32, 4), reasons: new Uint8Array(both, 64, 4) };
    expect(await rejectedItems(slab)).toBeUndefined();
    const before = { values: new Float64Array(both, 0, 4), reasons: new Uint8Array(both, 32, 4) };
    const behind = { latitudes: new Float64Array(both, 48, 2), longitudes: new Float64Array(both, 64, 2) };
    await expect(packed.sample({ ...request, ...behind, into: before })).resolves.toEqual(before);
  });

  test("reports progress and stops when aborted", async () => {
    const places = placesFrom(randomFrom(78), 60_000);
    const steps: number[] = [];
    const request = { hazard: "riverine_floods", layers: LAYERS.slice(0, 1), ...places };
    await packed.sample({ ...request, onProgress: (done) => steps.push(done) });
    expect(steps.length).toBeGreaterThan(5);
    expect(steps.at(-1)).toBe(60_000);
    expect(steps).toEqual(steps.toSorted((a, b) => a - b));

    const circles: number[] = [];
    const few = { latitudes: places.latitudes.subarray(0, 700), longitudes: places.longitudes.subarray(0, 700) };
    await packed.sample({ ...request, ...few, radiusKm: 1, onProgress: (done) => circles.push(done) });
    expect(circles).toEqual([512, 700]);

    const stop = new AbortController();
    const stopped = packed.sample({
      ...request,
      signal: stop.signal,
      onProgress: () => stop.abort(new Error("enough")),
    });
    await expect(stopped).rejects.toThrow("enough");
    const signal = AbortSignal.abort(new Error("aborted before the call"));
    await expect(packed.sample({ ...request, radiusKm: 5, signal })).rejects.toThrow("aborted before the call");
  });

  test("yields to the event loop while it runs", async () => {
    const request = { hazard: "riverine_floods", layers: LAYERS, ...placesFrom(randomFrom(82), 40_000) };
    let turnCount = 0;
    let isDone = false;
    const count = (): void => {
      turnCount += 1;
      if (!isDone) setImmediate(count);
    };
    setImmediate(count);
    await demo.sample(request);
    isDone = true;
    expect(turnCount).toBeGreaterThan(1);
  });

  test("yields between circles whose tiles are all cached, so that a signal can stop it", async () => {
    const request = {
      hazard: "riverine_floods",
      layers: LAYERS.slice(0, 2), // two distinct layers, which are written directly into the output
      latitudes: new Float64Array(200).fill(52.1),
      longitudes: new Float64Array(200).fill(5.2),
      radiusKm: 60,
    };
    const one = { latitudes: Float64Array.of(52.1), longitudes: Float64Array.of(5.2) };
    await demo.sample({ ...request, ...one }); // caches its tiles
    const stop = new AbortController();
    const length = 200 * request.layers.length;
    const into = { values: new Float64Array(length).fill(-7), reasons: new Uint8Array(length) };
    const stopped = demo.sample({ ...request, into, signal: stop.signal });
    setImmediate(() => stop.abort(new Error("enough")));
    await expect(stopped).rejects.toThrow("enough");
    expect(into.values.filter((value) => value === -7).length).toBeGreaterThan(length / 4); // circles that were not sampled
  });

  test("stops after the first error", async () => {
    let reportCount = 0;
    const failed = packed.sample({
      hazard: "riverine_floods",
      layers: LAYERS.slice(0, 1),
      ...placesFrom(randomFrom(84), 6000),
      radiusKm: 1,
      onProgress: () => {
        reportCount += 1;
        throw new Error("listener failed");
      },
    });
    await expect(failed).rejects.toThrow("listener failed");
    expect(reportCount).toBe(1);
  });

  test("does not write into the caller's arrays after it was rejected, so that they can be reused", async () => {
    const count = 6000;
    const stop = new AbortController();
    const into = { values: new Float64Array(count), reasons: new Uint8Array(count) };
    let reportCount = 0;
    const stopped = packed.sample({
      hazard: "riverine_floods",
      layers: LAYERS.slice(0, 1),
      ...placesFrom(randomFrom(83), count),
      radiusKm: 30,
      into,
      signal: stop.signal,
      onProgress: () => {
        reportCount += 1;
        stop.abort(new Error("enough"));
      },
    });
    await expect(stopped).rejects.toThrow("enough");
    into.values.fill(-7);
    into.reasons.fill(77);
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(into.values.every((value) => value === -7)).toBe(true);
    expect(into.reasons.every((reason) => reason === 77)).toBe(true);
    expect(reportCount).toBe(1);
  });

  test("accepts zero locations, and a hazard that the atlas does not have", async () => {
    const none = { latitudes: new Float64Array(), longitudes: new Float64Array() };
    const layers = LAYERS.slice(0, 2);
    expect((await packed.sample({ hazard: "riverine_floods", layers, ...none })).values.length).toBe(0);
    const one = { latitudes: Float64Array.of(1), longitudes: Float64Array.of(2) };
    const reports: unknown[] = [];
    const onProgress = (...counts: number[]): number => reports.push(counts);
    const { values, reasons } = await packed.sample({ hazard: "coastal_floods", layers, ...one, onProgress });
    expect([...values, ...reasons]).toEqual([NaN, NaN, 3, 3]);
    expect(reports).toEqual([[1, 1]]);
  });

  test("rejects requests and layers that are not objects", async () => {
    for (const none of [undefined, null, 5]) {
      const expected = { code: "invalid_request", items: [{ pointer: "", code: "wrong_type" }] };
      await expect(packed.sample(none as never)).rejects.toMatchObject(expected);
      await expect(packed.sampleSteps(none as never)).rejects.toMatchObject(expected);
    }
    const places = { latitudes: Float64Array.of(1), longitudes: Float64Array.of(2) };
    await expect(packed.sample({ hazard: "riverine_floods", layers: [], ...places })).rejects.toMatchObject({
      message: "layers must be a list of at least one layer.", // without a count of errors
    });
    const layers = [LAYERS[0], null, undefined, "depth_meters"] as unknown as SampleLayer[];
    await expect(packed.sample({ hazard: "riverine_floods", layers, ...places })).rejects.toMatchObject({
      code: "invalid_request",
      items: [1, 2, 3].map((i) => ({ pointer: `/layers/${i}`, code: "wrong_type" })),
    });
  });

  describe("given unknown members", () => {
    const places = { latitudes: Float64Array.of(1), longitudes: Float64Array.of(2) };
    const layer = { scenario: "rcp4p5", analysisYear: 2030, metric: "depth_meters" } as const;
    const right = { hazard: "riverine_floods", layers: [layer], ...places };
    const unknown = (pointer: string, suggestion?: string): object =>
      expect.objectContaining({
        pointer,
        code: "unknown",
        ...(suggestion === undefined ? {} : { did_you_mean: suggestion }),
      });

    test.each([
      ["radius", "radiusKm"],
      ["radius_km", "radiusKm"],
      ["radiusM", "radiusKm"],
      ["aggregation_method", "method"],
      ["aggregationMethod", "method"],
      ["latitude", "latitudes"],
      ["longitude", "longitudes"],
      ["hazards", "hazard"],
      ["scenarios", "layers"],
      ["analysis_years", "layers"],
      ["on_progress", "onProgress"],
    ])("rejects %s in the request and suggests %s", async (name, suggestion) => {
      await expect(packed.sample({ ...right, [name]: 5 })).rejects.toMatchObject({
        code: "invalid_request",
        items: [unknown(`/${name}`, suggestion)],
      });
    });

    test.each(["radius", "total_hazard", "aggregation_method"])("rejects %s in a request for steps", async (name) => {
      await expect(packed.sampleSteps({ ...right, [name]: 5 })).rejects.toMatchObject({
        code: "invalid_request",
        items: [unknown(`/${name}`)],
      });
    });

    test("rejects analysis_year in a layer and suggests analysisYear", async () => {
      const { analysisYear: _, ...rest } = layer;
      for (const call of [packed.sample, packed.sampleSteps] as const) {
        await expect(
          call({ ...right, layers: [layer, { ...rest, analysis_year: 2030 }] } as never),
        ).rejects.toMatchObject({
          code: "invalid_request",
          items: [unknown("/layers/1/analysis_year", "analysisYear")],
        });
        await expect(call({ ...right, layers: [{ ...layer, hazard: "wildfire" }] } as never)).rejects.toMatchObject({
          items: [unknown("/layers/0/hazard")],
        });
      }
    });

    test("lists the missing members of a layer", async () => {
      await expect(packed.sample({ ...right, layers: [{ metric: "depth_meters" }] } as never)).rejects.toMatchObject({
        code: "invalid_request",
        items: [
          { pointer: "/layers/0/scenario", code: "missing" },
          { pointer: "/layers/0/analysisYear", code: "missing" },
        ],
      });
    });

    test("rejects an unknown array in into", async () => {
      const into = { values: new Float64Array(1), reasons: new Uint8Array(1), reason: new Uint8Array(1) };
      await expect(packed.sample({ ...right, into })).rejects.toMatchObject({
        items: [unknown("/into/reason", "reasons")],
      });
    });

    test("rejects a signal and a listener of the wrong type", async () => {
      for (const call of [packed.sample, packed.sampleSteps] as const) {
        await expect(call({ ...right, signal: "now", onProgress: 5 } as never)).rejects.toMatchObject({
          items: [
            { pointer: "/signal", code: "wrong_type" },
            { pointer: "/onProgress", code: "wrong_type" },
          ],
        });
      }
    });
  });

  test("is rejected with all errors and their pointers", async () => {
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
    await expect(packed.sample({ ...request, latitudes: Float64Array.of(1, 2, 3) })).rejects.toMatchObject({
      items: [{ pointer: "/longitudes/2" }],
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

describe("sampleSteps", () => {
  let atlas: CellAtlas;
  let sampler: Sampler;
  beforeAll(async () => {
    const kernel = await Kernel.load();
    atlas = await openPackedAtlas(kernel, diskBlobs(folder), { headerCacheBytes: 1 << 20 });
    sampler = new Sampler(kernel, atlas, { cacheBytes: 12 << 20 });
  });
  afterAll(() => atlas.close());

  for (const [name, layers] of [
    ["missing and repeated layers", LAYERS],
    ["layers in stored order", LAYERS.slice(0, 2).toReversed()],
    ["layers in a different order", LAYERS.slice(0, 2)],
    ["a layer that the atlas does not have", LAYERS.slice(2, 3)],
  ] as const) {
    test(`returns the steps of the values that sample returns: ${name}`, async () => {
      const request = { hazard: "riverine_floods", layers, ...placesFrom(randomFrom(80), 9000) };
      const { values, reasons } = await packed.sample(request);
      const into = new Uint16Array(values.length).fill(5);
      for (const again of [{}, { into }]) {
        const { steps, stepsPerUnit, offsets } = await sampleSteps(sampler, { ...request, ...again });
        if ("into" in again) expect(steps).toBe(into);
        expect(steps.length).toBe(values.length);
        expect(offsets).toEqual(stepsPerUnit.map((each) => (Number.isNaN(each) ? NaN : 0)));
        const made = Float64Array.from(steps, (found, i) => {
          const layer = i % layers.length;
          return found > 65_533 ? NaN : found / (stepsPerUnit[layer] ?? 0) + (offsets[layer] ?? 0);
        });
        expect(made).toEqual(values);
        const expectedReasons = Uint8Array.from(steps, (found, i) => {
          if (Number.isNaN(stepsPerUnit[i % layers.length])) return found === 65_534 ? 3 : 9;
          return found === 65_534 ? 1 : found === 65_535 ? 2 : 0;
        });
        expect(expectedReasons).toEqual(reasons);
      }
    });
  }

  test("reports progress and stops when aborted", async () => {
    const request = { hazard: "riverine_floods", layers: LAYERS.slice(0, 1), ...placesFrom(randomFrom(81), 9000) };
    const reports: number[] = [];
    await sampleSteps(sampler, { ...request, onProgress: (done) => reports.push(done) });
    expect(reports.at(-1)).toBe(9000);
    const signal = AbortSignal.abort(new Error("aborted before the call"));
    await expect(sampleSteps(sampler, { ...request, signal })).rejects.toThrow("aborted before the call");
  });

  test("rejects circles and output arrays of the wrong type or length", async () => {
    const places = { latitudes: Float64Array.of(1, 2), longitudes: Float64Array.of(1, 2) };
    const request = { hazard: "riverine_floods", layers: LAYERS.slice(0, 2), ...places };
    await expect(sampleSteps(sampler, { ...request, radiusKm: 5, method: "max" } as never)).rejects.toMatchObject({
      code: "invalid_request",
      items: [
        {
          pointer: "/radiusKm",
          detail: "radiusKm is not accepted: steps are those of single cells. Use sample for circles.",
        },
        { pointer: "/method" },
      ],
    });
    for (const into of [new Uint16Array(3), new Int16Array(4), null, new Uint16Array(places.latitudes.buffer, 0, 4)]) {
      await expect(sampleSteps(sampler, { ...request, into } as never)).rejects.toMatchObject({
        items: [{ pointer: "/into" }],
      });
    }
    await expect(sampleSteps(sampler, { ...request, latitudes: Float64Array.of(1, 91) })).rejects.toMatchObject({
      items: [{ pointer: "/latitudes/1" }],
    });
  });
});
