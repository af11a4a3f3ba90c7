/** How the places of a call are shared out, sent and put back, by threads that are this one. */
import { describe, expect, test } from "vitest";
import type { Atlas } from "../../src/hazard/answer.ts";
import type { HazardQueryInput } from "../../src/hazard/query.ts";
import type { SampleRequest, SampleResult } from "../../src/hazard/sample.ts";
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

/** The demo behind two workers on this thread, and the requests that reach it there. */
function pooledDemo(): { readonly atlas: Atlas; readonly requests: readonly SampleRequest[] } {
  const requests: SampleRequest[] = [];
  const watched: Atlas = {
    ...demo,
    sample: (request) => {
      requests.push(request);
      return demo.sample(request);
    },
  };
  const start = (): ThreadHere => new ThreadHere(watched, () => Promise.reject(new Error("There are no tasks here.")));
  const pool = new Pool({ workers: 2, release: demo.release, start });
  return { atlas: pool.behind(demo, { numberOf }), requests };
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
});
