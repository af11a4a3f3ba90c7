/** Distribution of calls over workers that run on the calling thread. */
import { describe, expect, test } from "vitest";
import type { HazardQueryInput } from "../../src/contract/wireTypes.ts";
import type { Atlas, LocalAtlas } from "../../src/hazard/answer.ts";
import type { SampleRequest, SampleResult } from "../../src/hazard/sampleRequest.ts";
import { openLocalAtlas } from "../../src/openAtlas.ts";
import { atlasTasks } from "../../src/pool/atlasTasks.ts";
import { Executor } from "../../src/pool/executor.ts";
import { PooledAtlas } from "../../src/pool/pooledAtlas.ts";
import { ownerOf, shardByOwner } from "../../src/pool/sharding.ts";
import { sampleBufferBytes, sampleBufferIn, TransferBuffers } from "../../src/pool/transferBuffers.ts";
import { randomFrom } from "../seededRandom.ts";
import { handlersOf, InProcessThread } from "./inProcessThread.ts";

const demo: LocalAtlas = {
  ...(await openLocalAtlas("demo", 32 << 20)),
  neighborhoodOf: (_, { lonDeg }) => Math.floor(lonDeg / 10),
};

const bitsOf = ({ values, reasons }: SampleResult): Buffer =>
  Buffer.concat([Buffer.from(values.buffer), Buffer.from(reasons.buffer)]);

/** Returns the demo with two workers on this thread, the requests that reach them, and how each request ended. */
function pooledDemo(local: LocalAtlas = demo): {
  readonly atlas: Atlas;
  readonly requests: readonly SampleRequest[];
  readonly outcomes: string[];
  /** Zooms of the map tiles that reach the workers. */
  readonly tiles: number[];
} {
  const tiles: number[] = [];
  const requests: SampleRequest[] = [];
  const outcomes: string[] = [];
  const recorded = <T>(work: Promise<T>): Promise<T> => {
    void work.then(
      () => outcomes.push("done"),
      (error: Error) => outcomes.push(error.name),
    );
    return work;
  };
  const remote: LocalAtlas = {
    ...demo,
    sample: (request, timeSlice) => {
      requests.push(request);
      return recorded(demo.sample(request, timeSlice));
    },
    hazardRiskBatch: (queries, options, run) => recorded(demo.hazardRiskBatch(queries, options, run)),
    valueTile: (request, options) => {
      tiles.push(request.z);
      return demo.valueTile(request, options);
    },
  };
  const start = (): InProcessThread =>
    new InProcessThread({ atlas: remote, findHandler: handlersOf(atlasTasks(remote)) });
  return {
    atlas: new PooledAtlas(local, new Executor({ workers: 2, opened: demo, start })),
    requests,
    outcomes,
    tiles,
  };
}

describe("shardByOwner", () => {
  test("assigns each element to the owner of its neighborhood, sorted by neighborhood and then by index", () => {
    const random = randomFrom(51);
    for (const count of [0, 1, 5000]) {
      const numbers = Float64Array.from({ length: count }, () => Math.floor(random.between({ min: -3, max: 90 })));
      for (const workerCount of [1, 2, 7]) {
        const expected = Array.from({ length: workerCount }, (_, worker) =>
          [...numbers.keys()]
            .filter((i) => ownerOf(numbers[i] ?? NaN, workerCount) === worker)
            .toSorted((a, b) => (numbers[a] ?? 0) - (numbers[b] ?? 0) || a - b),
        );
        const shards = shardByOwner(count, workerCount, (i) => numbers[i] ?? NaN);
        expect(shards.map((shard) => [...shard])).toEqual(expected);
      }
    }
  });
});

describe("TransferBuffers", () => {
  test("returns arrays that do not overlap, and reuses buffers", () => {
    const buffers = new TransferBuffers(sampleBufferBytes(10, 3));
    const { latitudes, longitudes, into } = sampleBufferIn(buffers.take(), 10, 3);
    const arrays = [latitudes, longitudes, into.values, into.reasons];
    expect(arrays.map(({ length }) => length)).toEqual([10, 10, 30, 30]);
    for (const [i, array] of arrays.entries()) array.fill(i + 1);
    for (const [i, array] of arrays.entries()) expect(new Set(array)).toEqual(new Set([i + 1]));
    buffers.giveBack(into.values);
    const buffer = buffers.take();
    expect(buffer).toBe(latitudes.buffer);
    const shorter = sampleBufferIn(buffer, 7, 3);
    expect([shorter.latitudes.length, shorter.into.values.length, shorter.into.reasons.length]).toEqual([7, 21, 21]);
    expect(buffers.take()).not.toBe(buffer);
  });
});

describe("an atlas with workers", () => {
  const random = randomFrom(52);
  const COUNT = 70_001;
  const request = {
    hazard: "riverine_floods",
    layers: [
      { scenario: "rcp8p5", analysisYear: 2080, metric: "depth_meters" },
      { scenario: "rcp4p5", analysisYear: 2030, metric: "probability" },
    ],
    latitudes: Float64Array.from({ length: COUNT }, () => random.between({ min: -60, max: 80 })),
    longitudes: Float64Array.from({ length: COUNT }, () => random.between({ min: -180, max: 180 })),
  } as const;

  test("returns the values of each location, with one buffer per task", async () => {
    const { atlas, requests } = pooledDemo();
    const expected = await demo.sample(request);
    expect(bitsOf(await atlas.sample(request)).equals(bitsOf(expected))).toBe(true);
    expect(new Set(expected.reasons).size).toBeGreaterThan(1);
    expect(requests.length).toBeGreaterThan(4);
    // The locations and results of a task share one buffer.
    for (const { latitudes, longitudes, into } of requests) {
      expect(new Set([latitudes.buffer, longitudes.buffer, into?.values.buffer, into?.reasons.buffer]).size).toBe(1);
    }
  });

  test("reports the progress of a batch, and stops when canceled", async () => {
    const { atlas } = pooledDemo();
    const queries = Array.from({ length: 400 }, (_, i): HazardQueryInput => ({
      latitude: i % 80,
      longitude: (i * 7) % 180,
      hazards: ["riverine_floods"],
      scenarios: ["rcp4p5"],
      analysis_years: [2030],
    }));
    const reported: (readonly [number, number])[] = [];
    await atlas.hazardRiskBatch(queries, { onProgress: (done, count) => reported.push([done, count]) });
    expect(reported.length).toBeGreaterThan(5);
    expect(reported.at(-1)).toEqual([400, 400]);
    const doneCounts = reported.map(([count]) => count);
    expect(doneCounts).toEqual([...new Set(doneCounts)].toSorted((a, b) => a - b));

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

  test("cancels running calls for circles and batches", async () => {
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
    for (const call of [
      (signal: AbortSignal) => atlas.sample({ ...circles, signal }),
      (signal: AbortSignal) => atlas.hazardRiskBatch(queries, { signal }),
    ]) {
      const stop = new AbortController();
      outcomes.length = 0;
      const stopped = call(stop.signal);
      setTimeout(() => stop.abort(new Error("enough")), 30);
      await expect(stopped).rejects.toThrow("enough");
      await expect.poll(() => outcomes.length).toBeGreaterThan(0);
      expect(new Set(outcomes)).toEqual(new Set(["AbortError"]));
    }
    expect((await atlas.sample({ ...circles, radiusKm: 0 })).values.length).toBe(16_000); // the workers still run tasks
  });

  test("rejects a query that cannot be sent to a worker, and answers the others", async () => {
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

  test("rejects values that are not requests with the same error as an atlas without workers", async () => {
    for (const invalidRequest of [undefined, null, {}]) {
      const rejected = demo.sample(invalidRequest as never).catch((error: unknown) => error);
      await expect(pooledDemo().atlas.sample(invalidRequest as never)).rejects.toEqual(await rejected);
      expect(await rejected).toMatchObject({ code: "invalid_request" });
    }
  });

  test("rejects pending calls when it is closed", async () => {
    const { atlas } = pooledDemo({ ...demo, close: () => Promise.resolve() });
    const pending = atlas.sample({ ...request, radiusKm: 20 });
    setTimeout(() => void atlas.close(), 30);
    await expect(pending).rejects.toMatchObject({ code: "atlas_unavailable", message: "The atlas was closed." });
  });
});

describe("map tiles", () => {
  const layer = { hazard: "wildfire", scenario: "rcp4p5", analysisYear: 2050, metric: "fire_danger_days" } as const;

  test("are computed by a worker, and equal those of the calling thread", async () => {
    const { atlas, tiles } = pooledDemo();
    for (const at of [
      { z: 0, x: 0, y: 0 },
      { z: 3, x: 1, y: 3 },
    ]) {
      const { steps, ...header } = await atlas.valueTile({ ...layer, ...at });
      const { steps: expected, ...expectedHeader } = await demo.valueTile({ ...layer, ...at });
      expect(header).toEqual(expectedHeader);
      expect(Buffer.from(steps.buffer).equals(Buffer.from(expected.buffer))).toBe(true);
    }
    expect(tiles).toEqual([0, 3]);
    expect(atlas.valueTileLayer(layer)).toEqual(demo.valueTileLayer(layer));
  });

  test("are rejected on the calling thread if the request is not valid, and by the worker if there is no such layer", async () => {
    const { atlas, tiles } = pooledDemo();
    await expect(atlas.valueTile({ ...layer, z: 1, x: 2, y: 0 })).rejects.toMatchObject({
      code: "invalid_request",
      items: [{ pointer: "/x", detail: "x must be between 0 and 1 at zoom 1 (got 2)." }],
    });
    expect(tiles).toEqual([]);
    await expect(atlas.valueTile({ ...layer, metric: "rp_100", z: 0, x: 0, y: 0 })).rejects.toMatchObject({
      code: "combination_unavailable",
      items: [{ pointer: "/metric", allowed: ["intensity", "fire_danger_days", "probability", "total_hazard"] }],
    });
    expect(tiles).toEqual([0]);
  });

  test("are canceled with the reason of the signal", async () => {
    const { atlas } = pooledDemo();
    const signal = AbortSignal.abort(new Error("moved on"));
    await expect(atlas.valueTile({ ...layer, z: 0, x: 0, y: 0 }, { signal })).rejects.toThrow("moved on");
    await expect(demo.valueTile({ ...layer, z: 0, x: 0, y: 0 }, { signal })).rejects.toThrow("moved on");
  });
});
