/** Scores of workers that run on the calling thread. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { LocalAtlas } from "../../src/hazard/answer.ts";
import type { ScoreRequest, ScoreResult } from "../../src/hazard/scoring/scoreRequest.ts";
import { Kernel } from "../../src/kernel/instance.ts";
import { openLocalAtlas } from "../../src/openAtlas.ts";
import { planScores } from "../../src/places/scores/scorePlan.ts";
import { atlasTasks } from "../../src/pool/atlasTasks.ts";
import { Executor } from "../../src/pool/executor.ts";
import { PooledAtlas } from "../../src/pool/pooledAtlas.ts";
import { balanceShards } from "../../src/pool/sharding.ts";
import { makePortfolioAtlas } from "../hazard/scoring/portfolioAtlas.ts";
import { placesFor } from "../hazard/scoring/scoreRequests.ts";
import { randomFrom, shuffled } from "../seededRandom.ts";
import { handlersOf, InProcessThread } from "./inProcessThread.ts";

const CACHE_BYTES = 16 << 20;
const PLACE_COUNT = 3000;

let folder: string;
let made: LocalAtlas;
let base: ScoreRequest;
let expected: ScoreResult;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "isotherm-test-"));
  await makePortfolioAtlas(await Kernel.load(), folder);
  made = await openLocalAtlas(folder, CACHE_BYTES);
  const { groups } = planScores(made, { total_hazard: true, thresholds: { riverine_floods: 1 } });
  const places = placesFor(randomFrom(5), { radiusKm: 0 }, PLACE_COUNT);
  // A few circles, and rows that a file cannot locate.
  places.radiiKm.fill(30, 100, 140);
  places.latitudes.fill(NaN, 200, 210);
  places.radiiKm.fill(NaN, 210, 220);
  base = { groups, method: "max", anthropogenic: false, ...places };
  expected = await made.score(base);
});
afterAll(async () => {
  await made.close();
  await rm(folder, { recursive: true, force: true });
});

/** Returns the made atlas with workers, and the number of places that each of them has scored. */
function pooled(workers: number) {
  const placeCounts: number[] = [];
  const start = (): InProcessThread => {
    const worker = placeCounts.push(0) - 1;
    const remote: LocalAtlas = {
      ...made,
      score: (request, timeSlice) => {
        placeCounts[worker] = (placeCounts[worker] ?? 0) + request.latitudes.length;
        return made.score(request, timeSlice);
      },
    };
    return new InProcessThread({ atlas: remote, findHandler: handlersOf(atlasTasks(remote)) });
  };
  return { atlas: new PooledAtlas(made, new Executor({ workers, opened: made, start })), placeCounts };
}

/** Returns the scores of a request in the order of other indices. */
function inOrder(scores: ScoreResult, order: readonly number[]): ScoreResult {
  const entries = Object.entries(scores).map(([name, array]: [string, Float64Array | Uint8Array]) => {
    const width = array.length / order.length;
    const sorted = array.slice();
    for (const [i, index] of order.entries()) sorted.set(array.subarray(index * width, (index + 1) * width), i * width);
    return [name, sorted];
  });
  return Object.fromEntries(entries);
}

describe("scores of an atlas with workers", () => {
  test.each([1, 2, 7])("equal those of a single thread with %i workers", async (workers) => {
    const { atlas, placeCounts } = pooled(workers);
    let busyCount = 0;
    expect(await atlas.score({ ...base, onBusy: () => busyCount++ })).toStrictEqual(expected);
    expect(placeCounts.reduce((sum, count) => sum + count, 0)).toBe(PLACE_COUNT);
    expect(Math.min(...placeCounts)).toBeGreaterThan(0);
    expect(busyCount).toBeGreaterThan(0);
  });

  test("do not depend on the order of the places", async () => {
    const order = shuffled(randomFrom(6), [...Array.from({ length: PLACE_COUNT }).keys()]);
    const reordered = (numbers: Float64Array): Float64Array => Float64Array.from(order, (i) => numbers[i] ?? NaN);
    const { latitudes, longitudes, radiiKm } = base;
    const request = {
      ...base,
      latitudes: reordered(latitudes),
      longitudes: reordered(longitudes),
      radiiKm: reordered(radiiKm),
    };
    expect(await pooled(2).atlas.score(request)).toStrictEqual(inOrder(expected, order));
  });

  test("are computed by all workers even if all places have the same owner", async () => {
    const { atlas, placeCounts } = pooled(2);
    const places = { latitudes: new Float64Array(PLACE_COUNT).fill(10.2), longitudes: new Float64Array(PLACE_COUNT) };
    await atlas.score({ ...base, ...places });
    expect(Math.max(...placeCounts)).toBeLessThanOrEqual(PLACE_COUNT * 0.56);
  });

  test("have no values for places without a location or radius", () => {
    const columnCount = expected.values.length / PLACE_COUNT;
    const missing = expected.statuses.subarray(200 * columnCount, 220 * columnCount);
    expect(new Set(expected.values.subarray(200 * columnCount, 220 * columnCount))).toEqual(new Set([NaN]));
    expect(new Set(missing)).toEqual(new Set([3, 4]));
    expect(expected.values.some((value) => value > 0)).toBe(true);
    expect(expected.exceedanceProbabilities.some((value) => value > 0)).toBe(true);
    expect(expected.totalHazardLimits.some((value) => value > 0)).toBe(true);
  });

  test("stop when the request is canceled", async () => {
    const stop = new AbortController();
    const canceled = pooled(2).atlas.score({
      ...base,
      signal: stop.signal,
      onBusy: () => stop.abort(new Error("enough")),
    });
    await expect(canceled).rejects.toThrow("enough");
    const signal = AbortSignal.abort(new Error("before"));
    await expect(made.score({ ...base, signal })).rejects.toThrow("before");
  });
});

describe("balanceShards", () => {
  test("keeps balanced shards, and moves the ends of long ones to short ones", () => {
    const lists = (shards: readonly Uint32Array[]) => shards.map((shard) => [...shard]);
    const even = [Uint32Array.of(0, 1), Uint32Array.of(2, 3)];
    expect(balanceShards(even)).toEqual(even);
    const range = (from: number, to: number) => Uint32Array.from({ length: to - from }, (_, i) => from + i);
    expect(lists(balanceShards([range(0, 30), range(30, 30), range(30, 36)]))).toEqual([
      [...range(0, 14)],
      [...range(14, 28)],
      [...range(30, 36), 28, 29],
    ]);
  });

  test("returns every element exactly once", () => {
    const random = randomFrom(9);
    for (let round = 0; round < 50; round++) {
      let next = 0;
      const shards = Array.from({ length: 1 + random.below(7) }, () =>
        Uint32Array.from({ length: random.below(100) * random.below(2) }, () => next++),
      );
      const balanced = balanceShards(shards);
      expect(balanced.flatMap((shard) => [...shard]).toSorted((a, b) => a - b)).toEqual([
        ...Array.from({ length: next }).keys(),
      ]);
      const lengthMax = Math.ceil((next / shards.length) * 1.1);
      for (const shard of balanced) expect(shard.length).toBeLessThanOrEqual(lengthMax);
    }
  });
});
