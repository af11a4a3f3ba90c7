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

  test("writes into the caller's arrays, whatever they held", async () => {
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

  test("refuses arrays that an answer cannot be written into", async () => {
    const both = new ArrayBuffer(8 * 10);
    const request = {
      hazard: "riverine_floods",
      layers: LAYERS.slice(0, 2),
      latitudes: new Float64Array(both, 0, 2),
      longitudes: new Float64Array(both, 16, 2),
    };
    const values = new Float64Array(4);
    const reasons = new Uint8Array(4);
    const refused = async (into: unknown): Promise<unknown> => {
      const error: unknown = await packed.sample({ ...request, into } as never).catch((reason: unknown) => reason);
      return (error as { items?: unknown }).items;
    };
    expect(await refused(null)).toMatchObject([{ pointer: "/into", code: "wrong_type" }]);
    expect(await refused({})).toMatchObject([{ pointer: "/into/values" }, { pointer: "/into/reasons" }]);
    expect(await refused({ values: new Float32Array(4), reasons })).toMatchObject([
      { pointer: "/into/values", code: "wrong_type", detail: "into.values must be a Float64Array." },
    ]);
    expect(await refused({ values, reasons: new Uint8Array(5) })).toMatchObject([
      {
        pointer: "/into/reasons",
        code: "out_of_range",
        detail: "into.reasons must have 4 elements, places x layers, not 5.",
      },
    ]);
    expect(await refused({ values: new Float64Array(both, 8, 4), reasons })).toMatchObject([
      { pointer: "/into/values", code: "not_allowed", detail: "into.values must share no memory with latitudes." },
    ]);
    expect(await refused({ values, reasons: new Uint8Array(both, 31, 4) })).toMatchObject([
      { detail: "into.reasons must share no memory with longitudes." },
    ]);
    expect(await refused({ values, reasons: new Uint8Array(values.buffer, 0, 4) })).toMatchObject([
      { detail: "into.reasons must share no memory with into.values." },
    ]);
    // Side by side in one buffer is not over each other.
    const slab = { values: new Float64Array(both, 32, 4), reasons: new Uint8Array(both, 64, 4) };
    expect(await refused(slab)).toBeUndefined();
    const before = { values: new Float64Array(both, 0, 4), reasons: new Uint8Array(both, 32, 4) };
    const behind = { latitudes: new Float64Array(both, 48, 2), longitudes: new Float64Array(both, 64, 2) };
    await expect(packed.sample({ ...request, ...behind, into: before })).resolves.toEqual(before);
  });

  test("tells how far it has come, and stops when told to", async () => {
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
    const signal = AbortSignal.abort(new Error("before it began"));
    await expect(packed.sample({ ...request, radiusKm: 5, signal })).rejects.toThrow("before it began");
  });

  test("lets others have the thread while it works", async () => {
    const request = { hazard: "riverine_floods", layers: LAYERS, ...placesFrom(randomFrom(82), 40_000) };
    let turns = 0;
    let isDone = false;
    const count = (): void => {
      turns += 1;
      if (!isDone) setImmediate(count);
    };
    setImmediate(count);
    await demo.sample(request);
    isDone = true;
    expect(turns).toBeGreaterThan(1);
  });

  test("lets others have the thread among circles, and hears a signal there, though nothing is to be read", async () => {
    const request = {
      hazard: "riverine_floods",
      layers: LAYERS.slice(0, 2), // written as they are found, straight into the answer
      latitudes: new Float64Array(200).fill(52.1),
      longitudes: new Float64Array(200).fill(5.2),
      radiusKm: 60,
    };
    const one = { latitudes: Float64Array.of(52.1), longitudes: Float64Array.of(5.2) };
    await demo.sample({ ...request, ...one }); // now its tiles are in memory
    const stop = new AbortController();
    const length = 200 * request.layers.length;
    const into = { values: new Float64Array(length).fill(-7), reasons: new Uint8Array(length) };
    const stopped = demo.sample({ ...request, into, signal: stop.signal });
    setImmediate(() => stop.abort(new Error("enough")));
    await expect(stopped).rejects.toThrow("enough");
    expect(into.values.filter((value) => value === -7).length).toBeGreaterThan(length / 4); // circles not looked at
  });

  test("goes no further once it has failed", async () => {
    let toldCount = 0;
    const failed = packed.sample({
      hazard: "riverine_floods",
      layers: LAYERS.slice(0, 1),
      ...placesFrom(randomFrom(84), 6000),
      radiusKm: 1,
      onProgress: () => {
        toldCount += 1;
        throw new Error("nobody listens");
      },
    });
    await expect(failed).rejects.toThrow("nobody listens");
    expect(toldCount).toBe(1);
  });

  test("writes nothing into the caller's arrays once it has failed: they may be asked into anew", async () => {
    const count = 6000;
    const stop = new AbortController();
    const into = { values: new Float64Array(count), reasons: new Uint8Array(count) };
    let toldCount = 0;
    const stopped = packed.sample({
      hazard: "riverine_floods",
      layers: LAYERS.slice(0, 1),
      ...placesFrom(randomFrom(83), count),
      radiusKm: 30,
      into,
      signal: stop.signal,
      onProgress: () => {
        toldCount += 1;
        stop.abort(new Error("enough"));
      },
    });
    await expect(stopped).rejects.toThrow("enough");
    into.values.fill(-7);
    into.reasons.fill(77);
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(into.values.every((value) => value === -7)).toBe(true);
    expect(into.reasons.every((reason) => reason === 77)).toBe(true);
    expect(toldCount).toBe(1);
  });

  test("takes no place at all, and a hazard that the atlas lacks", async () => {
    const none = { latitudes: new Float64Array(), longitudes: new Float64Array() };
    const layers = LAYERS.slice(0, 2);
    expect((await packed.sample({ hazard: "riverine_floods", layers, ...none })).values.length).toBe(0);
    const one = { latitudes: Float64Array.of(1), longitudes: Float64Array.of(2) };
    const told: unknown[] = [];
    const onProgress = (...counts: number[]): number => told.push(counts);
    const { values, reasons } = await packed.sample({ hazard: "coastal_floods", layers, ...one, onProgress });
    expect([...values, ...reasons]).toEqual([NaN, NaN, 3, 3]);
    expect(told).toEqual([[1, 1]]);
  });

  test("refuses what is no request, and what is no layer", async () => {
    for (const none of [undefined, null, 5]) {
      const refusal = { code: "invalid_request", items: [{ pointer: "", code: "wrong_type" }] };
      await expect(packed.sample(none as never)).rejects.toMatchObject(refusal);
      await expect(packed.sampleSteps(none as never)).rejects.toMatchObject(refusal);
    }
    const places = { latitudes: Float64Array.of(1), longitudes: Float64Array.of(2) };
    await expect(packed.sample({ hazard: "riverine_floods", layers: [], ...places })).rejects.toMatchObject({
      message: "layers must name at least one layer.", // and no count of one
    });
    const layers = [LAYERS[0], null, undefined, "depth_meters"] as unknown as SampleLayer[];
    await expect(packed.sample({ hazard: "riverine_floods", layers, ...places })).rejects.toMatchObject({
      code: "invalid_request",
      items: [1, 2, 3].map((i) => ({ pointer: `/layers/${i}`, code: "wrong_type" })),
    });
  });

  describe("with members that do not exist", () => {
    const places = { latitudes: Float64Array.of(1), longitudes: Float64Array.of(2) };
    const layer = { scenario: "rcp4p5", analysisYear: 2030, metric: "depth_meters" } as const;
    const right = { hazard: "riverine_floods", layers: [layer], ...places };
    const unknown = (pointer: string, meant?: string): object =>
      expect.objectContaining({ pointer, code: "unknown", ...(meant === undefined ? {} : { did_you_mean: meant }) });

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
    ])("refuses %s in the request and suggests %s", async (name, meant) => {
      await expect(packed.sample({ ...right, [name]: 5 })).rejects.toMatchObject({
        code: "invalid_request",
        items: [unknown(`/${name}`, meant)],
      });
    });

    test.each(["radius", "total_hazard", "aggregation_method"])("refuses %s in a request for steps", async (name) => {
      await expect(packed.sampleSteps({ ...right, [name]: 5 })).rejects.toMatchObject({
        code: "invalid_request",
        items: [unknown(`/${name}`)],
      });
    });

    test("refuses analysis_year in a layer and suggests analysisYear", async () => {
      const { analysisYear: _, ...rest } = layer;
      for (const ask of [packed.sample, packed.sampleSteps] as const) {
        await expect(
          ask({ ...right, layers: [layer, { ...rest, analysis_year: 2030 }] } as never),
        ).rejects.toMatchObject({
          code: "invalid_request",
          items: [unknown("/layers/1/analysis_year", "analysisYear")],
        });
        await expect(ask({ ...right, layers: [{ ...layer, hazard: "wildfire" }] } as never)).rejects.toMatchObject({
          items: [unknown("/layers/0/hazard")],
        });
      }
    });

    test("says which members of a layer are missing", async () => {
      await expect(packed.sample({ ...right, layers: [{ metric: "depth_meters" }] } as never)).rejects.toMatchObject({
        code: "invalid_request",
        items: [
          { pointer: "/layers/0/scenario", code: "missing" },
          { pointer: "/layers/0/analysisYear", code: "missing" },
        ],
      });
    });

    test("refuses another array in into", async () => {
      const into = { values: new Float64Array(1), reasons: new Uint8Array(1), reason: new Uint8Array(1) };
      await expect(packed.sample({ ...right, into })).rejects.toMatchObject({
        items: [unknown("/into/reason", "reasons")],
      });
    });

    test("refuses a signal and a listener of another type", async () => {
      for (const ask of [packed.sample, packed.sampleSteps] as const) {
        await expect(ask({ ...right, signal: "now", onProgress: 5 } as never)).rejects.toMatchObject({
          items: [
            { pointer: "/signal", code: "wrong_type" },
            { pointer: "/onProgress", code: "wrong_type" },
          ],
        });
      }
    });
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

describe("the bulk door for steps", () => {
  let atlas: CellAtlas;
  let sampler: Sampler;
  beforeAll(async () => {
    const kernel = await Kernel.load();
    atlas = await openPackedAtlas(kernel, diskBlobs(folder), { headerCacheBytes: 1 << 20 });
    sampler = new Sampler(kernel, atlas, { cacheBytes: 12 << 20 });
  });
  afterAll(() => atlas.close());

  for (const [name, layers] of [
    ["layers that are missing and repeated", LAYERS],
    ["layers as they are stored", LAYERS.slice(0, 2).toReversed()],
    ["layers in another order", LAYERS.slice(0, 2)],
    ["a layer that the atlas lacks", LAYERS.slice(2, 3)],
  ] as const) {
    test(`gives what the values are made of: ${name}`, async () => {
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
        const said = Uint8Array.from(steps, (found, i) => {
          if (Number.isNaN(stepsPerUnit[i % layers.length])) return found === 65_534 ? 3 : 9;
          return found === 65_534 ? 1 : found === 65_535 ? 2 : 0;
        });
        expect(said).toEqual(reasons);
      }
    });
  }

  test("tells how far it has come, and stops when told to", async () => {
    const request = { hazard: "riverine_floods", layers: LAYERS.slice(0, 1), ...placesFrom(randomFrom(81), 9000) };
    const told: number[] = [];
    await sampleSteps(sampler, { ...request, onProgress: (done) => told.push(done) });
    expect(told.at(-1)).toBe(9000);
    const signal = AbortSignal.abort(new Error("before it began"));
    await expect(sampleSteps(sampler, { ...request, signal })).rejects.toThrow("before it began");
  });

  test("refuses circles, and what is no array of steps", async () => {
    const places = { latitudes: Float64Array.of(1, 2), longitudes: Float64Array.of(1, 2) };
    const request = { hazard: "riverine_floods", layers: LAYERS.slice(0, 2), ...places };
    await expect(sampleSteps(sampler, { ...request, radiusKm: 5, method: "max" } as never)).rejects.toMatchObject({
      code: "invalid_request",
      items: [
        { pointer: "/radiusKm", detail: "Steps are of single cells: radiusKm is for sample." },
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
