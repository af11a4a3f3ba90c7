import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Atlas } from "../../src/hazard/answer.ts";
import type { HazardName } from "../../src/hazard/hazards.ts";
import { SAMPLE_REASONS } from "../../src/hazard/sample.ts";
import { openAtlas } from "../../src/openAtlas.ts";
import { randomFrom } from "../seededRandom.ts";
import { LAYERS, packed, placesFrom, useSampledAtlas } from "./sampledAtlas.ts";

useSampledAtlas();

let demo: Atlas;
beforeAll(async () => {
  demo = await openAtlas("demo");
});
afterAll(() => demo.close());

/** Returns the values and reasons of hazardRisk, queried location by location. */
async function queryOneByOne(
  atlas: Atlas,
  hazard: HazardName,
  places: { latitudes: Float64Array; longitudes: Float64Array },
  aggregation: { radius: number; method: "max" | "mean" },
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
        radius: aggregation.radius,
        aggregation_method: aggregation.method,
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
    for (const aggregation of [
      { radius: 0, method: "max" },
      { radius: 40, method: "max" },
      { radius: 70, method: "mean" },
    ] as const) {
      test(`returns the values of hazardRisk bit for bit for ${name}, ${aggregation.method} within ${aggregation.radius} km`, async () => {
        const places = placesFrom(randomFrom(aggregation.radius + 1), count);
        const { values, reasons } = await atlasOf().sample({
          hazard: "riverine_floods",
          layers: LAYERS,
          ...places,
          radiusKm: aggregation.radius,
          method: aggregation.method,
        });
        const found = Array.from(values, (value, i) => [
          Number.isNaN(value) ? null : value,
          SAMPLE_REASONS[reasons[i] ?? 0],
        ]);
        expect(found).toEqual(await queryOneByOne(atlasOf(), "riverine_floods", places, aggregation));
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

  test("overwrites the content of the caller's arrays", async () => {
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
    new Uint8Array(both).fill(0); // the locations of the next request
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
    circles.length = 0;
    const twoReports = {
      latitudes: places.latitudes.subarray(0, 1024),
      longitudes: places.longitudes.subarray(0, 1024),
    };
    await packed.sample({ ...request, ...twoReports, radiusKm: 1, onProgress: (done) => circles.push(done) });
    expect(circles).toEqual([512, 1024]);

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

  test("accepts an empty list of locations and a hazard that the atlas does not have", async () => {
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
});
