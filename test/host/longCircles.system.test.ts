/** GET /api/v1/hazard-risk for large circles, which workers compute with the same result as the event loop. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { HazardQuery } from "../../src/hazard/query.ts";
import { parseHazardQuery } from "../../src/hazard/query.ts";
import { openLocalAtlas } from "../../src/openAtlas.ts";
import { parametersOf, queryTextOf, VALID_QUERY } from "../hazard/queries.ts";
import { type TestHost, startTestHost } from "./testHost.ts";
import { type BulkFixture, bulkFixture, LOCATIONS_ATLAS } from "./bulk/bulkFixture.ts";

const LONG_KM = 50;
const targetOf = (more: Partial<HazardQuery> = {}): string =>
  `/api/v1/hazard-risk?${queryTextOf(parametersOf({ ...VALID_QUERY, ...more }))}`;

describe("a large circle", () => {
  let fixture: BulkFixture;
  let withWorkers: TestHost;
  let withoutWorkers: TestHost;
  beforeAll(async () => {
    const atlas = { ...LOCATIONS_ATLAS, isLong: ({ radius }: HazardQuery) => radius > LONG_KM };
    fixture = bulkFixture({ workers: 3, atlas });
    withWorkers = await startTestHost({ atlas: fixture.atlas });
    withoutWorkers = await startTestHost({ atlas });
  });
  afterAll(async () => {
    await Promise.all([withWorkers.close(), withoutWorkers.close()]);
  });

  /** Returns a response without the parts that differ between requests. */
  const comparableResponse = async (response: Response): Promise<unknown> => {
    const headers = [...response.headers].filter(([name]) => !/^(?:date|x-request-id|ratelimit)$/.test(name));
    return { status: response.status, headers, text: await response.text() };
  };

  test.each([
    ["without compression", {}],
    ["with gzip", { "Accept-Encoding": "gzip" }],
  ])("is computed by a worker with the same response %s", async (_, headers) => {
    const init = { headers: headers as Record<string, string> };
    for (const target of [targetOf({ radius: 80 }), targetOf({ radius: 80, longitude: 175 })]) {
      const before = fixture.grants.length;
      expect(await comparableResponse(await withWorkers.ask(target, init))).toEqual(
        await comparableResponse(await withoutWorkers.ask(target, init)),
      );
      expect(fixture.grants.slice(before).map(({ kind }) => kind)).toEqual(["http"]);
    }
    const unitsOf = ({ ledger }: TestHost): readonly number[] => ledger.entries.map(({ units }) => units);
    expect(unitsOf(withWorkers)).toEqual(unitsOf(withoutWorkers));
  });

  test("is always sent to the worker that owns its location", async () => {
    const requestCountsAfter = async (longitude: number): Promise<readonly number[]> => {
      const before = fixture.threads.map(({ requests }) => requests.length);
      for (let i = 0; i < 3; i++) await withWorkers.ask(targetOf({ radius: 80, longitude }));
      return fixture.threads.map(({ requests }, worker) => requests.length - (before[worker] ?? 0));
    };
    const longitudes = [-170, -90, -10, 10, 60, 130];
    const countsByLongitude = [];
    for (const longitude of longitudes) countsByLongitude.push(await requestCountsAfter(longitude));
    for (const counts of countsByLongitude) expect(counts.toSorted((a, b) => a - b)).toEqual([0, 0, 3]);
    expect(new Set(countsByLongitude.map(String)).size).toBeGreaterThan(1);
  });

  test("is not sent to a worker if the response is 304 or 400, or the circle is small", async () => {
    const etag = (await withWorkers.ask(targetOf({ radius: 80 }))).headers.get("etag") ?? "";
    const before = fixture.grants.length;
    const again = await withWorkers.ask(targetOf({ radius: 80 }), { headers: { "If-None-Match": etag } });
    expect([again.status, again.headers.get("x-usage-units")]).toEqual([304, "0"]);
    expect((await withWorkers.ask(`${targetOf({ radius: 80 })}&radios=1`)).status).toBe(400);
    expect((await withWorkers.ask(targetOf({ radius: 20 }))).status).toBe(200);
    expect((await withWorkers.ask(targetOf())).status).toBe(200);
    expect(fixture.grants).toHaveLength(before);
  });
});

test("isLong of the demo atlas is true for circles of many cells, and false for points and coarse cells", async () => {
  const atlas = await openLocalAtlas("demo", 64 << 20);
  const isLong = (more: Partial<HazardQuery>): boolean =>
    atlas.isLong(
      parseHazardQuery({
        latitude: 48,
        longitude: 9,
        hazards: ["riverine_floods"],
        analysis_years: [2030, 2050, 2080],
        scenarios: ["rcp4p5", "rcp8p5"],
        ...more,
      }),
    );
  expect([0, 1, 10, 100].map((radius) => isLong({ radius }))).toEqual([false, false, false, true]);
  expect(isLong({ radius: 100, hazards: ["cyclones"] })).toBe(false);
  // Near the pole, a circle of the same size has many more cells.
  expect([isLong({ radius: 20 }), isLong({ radius: 20, latitude: 89 })]).toEqual([false, true]);
  await atlas.close();
});
