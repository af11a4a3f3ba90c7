/** How the places of a call are shared out, sent and put back, by threads that are this one. */
import { describe, expect, test } from "vitest";
import type { Atlas } from "../../src/hazard/answer.ts";
import type { HazardQueryInput } from "../../src/hazard/query.ts";
import type { SampleRequest, SampleResult } from "../../src/hazard/sampleRequest.ts";
import { openAtlas } from "../../src/openAtlas.ts";
import { shareOut } from "../../src/pool/owners.ts";
import { Pool } from "../../src/pool/pool.ts";
import { shareOutByNumber, Sheets } from "../../src/pool/shares.ts";
import { randomFrom } from "../seededRandom.ts";
import { ThreadHere } from "./threadHere.ts";

const demo = await openAtlas("demo", { cacheBytes: 32 << 20 });
const numberOf = (_: string, { longitude }: { readonly longitude: number }): number => Math.floor(longitude / 10);

const bitsOf = ({ values, reasons }: SampleResult): Buffer =>
  Buffer.concat([Buffer.from(values.buffer), Buffer.from(reasons.buffer)]);

/** The demo behind two workers on this thread, the requests that reach it there, and how each of them failed. */
function pooledDemo(here: Atlas = demo): {
  readonly atlas: Atlas;
  readonly requests: readonly SampleRequest[];
  readonly outcomes: string[];
} {
  const requests: SampleRequest[] = [];
  const outcomes: string[] = [];
  const noted = <T>(work: Promise<T>): Promise<T> => {
    void work.then(
      () => outcomes.push("done"),
      (error: Error) => outcomes.push(error.name),
    );
    return work;
  };
  const watched: Atlas = {
    ...demo,
    sample: (request) => {
      requests.push(request);
      return noted(demo.sample(request));
    },
    hazardRiskBatch: (queries, options) => noted(demo.hazardRiskBatch(queries, options)),
  };
  const start = (): ThreadHere => new ThreadHere(watched, () => Promise.reject(new Error("There are no tasks here.")));
  const pool = new Pool({ workers: 2, opened: demo, start });
  return { atlas: pool.behind(here, { numberOf }), requests, outcomes };
}

describe("shares", () => {
  test("by number are those by element: each element once, with its owner, in the same order", () => {
    const random = randomFrom(51);
    for (const count of [0, 1, 5000]) {
      const numbers = Float64Array.from({ length: count }, () => Math.floor(random.between({ least: -3, most: 90 })));
      for (const workerCount of [1, 2, 7]) {
        const found = shareOutByNumber(count, workerCount, (i) => numbers[i] ?? NaN);
        expect(found).toEqual(shareOut(numbers, workerCount));
      }
    }
  });
});

describe("sheets", () => {
  test("have room for places and answers, none over another, and come back", () => {
    const sheets = new Sheets(10, 3);
    const { latitudes, longitudes, into } = sheets.take(10);
    const arrays = [latitudes, longitudes, into.values, into.reasons];
    expect(arrays.map(({ length }) => length)).toEqual([10, 10, 30, 30]);
    for (const [i, array] of arrays.entries()) array.fill(i + 1);
    for (const [i, array] of arrays.entries()) expect(new Set(array)).toEqual(new Set([i + 1]));
    sheets.giveBack(into.values);
    const short = sheets.take(7);
    expect(short.latitudes.buffer).toBe(latitudes.buffer);
    expect([short.latitudes.length, short.into.values.length, short.into.reasons.length]).toEqual([7, 21, 21]);
    expect(sheets.take(10).latitudes.buffer).not.toBe(latitudes.buffer);
  });
});

describe("the pool", () => {
  const random = randomFrom(52);
  const COUNT = 70_001;
  const request = {
    hazard: "riverine_floods",
    layers: [
      { scenario: "rcp8p5", analysisYear: 2080, metric: "depth_meters" },
      { scenario: "rcp4p5", analysisYear: 2030, metric: "probability" },
    ],
    latitudes: Float64Array.from({ length: COUNT }, () => random.between({ least: -60, most: 80 })),
    longitudes: Float64Array.from({ length: COUNT }, () => random.between({ least: -180, most: 180 })),
  } as const;

  test("puts every answer where its place stands, whatever was on the sheet before", async () => {
    const { atlas, requests } = pooledDemo();
    const here = await demo.sample(request);
    expect(bitsOf(await atlas.sample(request)).equals(bitsOf(here))).toBe(true);
    expect(new Set(here.reasons).size).toBeGreaterThan(1);
    expect(requests.length).toBeGreaterThan(4);
    // One buffer, all of it for this order: nothing else was made room for.
    for (const { latitudes, longitudes, into } of requests) {
      expect(new Set([latitudes.buffer, longitudes.buffer, into?.values.buffer, into?.reasons.buffer]).size).toBe(1);
    }
  });

  test("tells how far a batch has come, and stops it when told to", async () => {
    const { atlas } = pooledDemo();
    const queries = Array.from({ length: 400 }, (_, i): HazardQueryInput => ({
      latitude: i % 80,
      longitude: (i * 7) % 180,
      hazards: ["riverine_floods"],
      scenarios: ["rcp4p5"],
      analysis_years: [2030],
    }));
    const told: (readonly [number, number])[] = [];
    await atlas.hazardRiskBatch(queries, { onProgress: (done, count) => told.push([done, count]) });
    expect(told.length).toBeGreaterThan(5);
    expect(told.at(-1)).toEqual([400, 400]);
    const done = told.map(([count]) => count);
    expect(done).toEqual([...new Set(done)].toSorted((a, b) => a - b));

    const stop = new AbortController();
    let queriesDone = 0;
    const stopped = atlas.hazardRiskBatch(queries, {
      signal: stop.signal,
      onProgress: (count) => {
        queriesDone = count;
        stop.abort(new Error("enough"));
      },
    });
    await expect(stopped).rejects.toThrow("enough");
    expect(queriesDone).toBeLessThan(400);
  });

  test("has what is in work left off when told to stop, circles and batches", async () => {
    const { atlas, outcomes } = pooledDemo();
    const circles = {
      ...request,
      latitudes: request.latitudes.subarray(0, 8000),
      longitudes: request.longitudes.subarray(0, 8000),
      radiusKm: 20,
    };
    const queries = Array.from({ length: 64 }, (_, i): HazardQueryInput => ({
      latitude: i,
      longitude: 20,
      hazards: ["riverine_floods"],
      scenarios: ["rcp4p5"],
      analysis_years: [2030],
      radius: 100,
    }));
    for (const ask of [
      (signal: AbortSignal) => atlas.sample({ ...circles, signal }),
      (signal: AbortSignal) => atlas.hazardRiskBatch(queries, { signal }),
    ]) {
      const stop = new AbortController();
      outcomes.length = 0;
      const stopped = ask(stop.signal);
      setTimeout(() => stop.abort(new Error("enough")), 30);
      await expect(stopped).rejects.toThrow("enough");
      expect(outcomes.length).toBeGreaterThan(0);
      expect(new Set(outcomes)).toEqual(new Set(["AbortError"]));
    }
    expect((await atlas.sample({ ...circles, radiusKm: 0 })).values.length).toBe(16_000); // and the workers go on serving
  });

  test("refuses in its place a query that no message can hold, and answers the others", async () => {
    const { atlas } = pooledDemo();
    const queries = Array.from({ length: 100 }, (_, i): HazardQueryInput => ({
      latitude: i % 80,
      longitude: i,
      hazards: ["riverine_floods"],
      scenarios: ["rcp4p5"],
      analysis_years: [2030],
    }));
    queries[7] = { ...queries[7], latitude: () => 5 } as unknown as HazardQueryInput;
    const results = await atlas.hazardRiskBatch(queries);
    expect(results).toEqual(await demo.hazardRiskBatch(queries));
    expect(results[7]).toMatchObject({ error: { code: "invalid_request", items: [{ pointer: "/latitude" }] } });
  });

  test("refuses what is no request as an atlas without workers does", async () => {
    for (const none of [undefined, null, {}]) {
      const refused = demo.sample(none as never).catch((error: unknown) => error);
      await expect(pooledDemo().atlas.sample(none as never)).rejects.toEqual(await refused);
      expect(await refused).toMatchObject({ code: "invalid_request" });
    }
  });

  test("says that the atlas was closed, to whoever was still waiting for an answer", async () => {
    const { atlas } = pooledDemo({ ...demo, close: () => Promise.resolve() });
    const asked = atlas.sample({ ...request, radiusKm: 20 });
    setTimeout(() => void atlas.close(), 30);
    await expect(asked).rejects.toMatchObject({ code: "atlas_unavailable", message: "The atlas was closed." });
  });
});
