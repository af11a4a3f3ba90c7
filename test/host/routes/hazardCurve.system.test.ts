/** The curve routes over sockets, with and without worker threads, on an atlas with curves. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { CurveParameters, CurveQueryInput, CurveResult } from "../../../src/contract/wireTypes.ts";
import type { LocalAtlas } from "../../../src/hazard/answer.ts";
import type { Problem } from "../../../src/host/problems/problem.ts";
import { openLocalAtlas } from "../../../src/openAtlas.ts";
import { useCurveAtlas } from "../../hazard/curveAtlas.ts";
import { parametersOf, queryTextOf } from "../../hazard/queries.ts";
import { randomFrom } from "../../seededRandom.ts";
import { bulkFixture } from "../bulk/bulkFixture.ts";
import { fakeAtlas, type TestHost, startTestHost } from "../testHost.ts";

const CURVE = "/api/v1/hazard-risk/curve";
const QUERY = {
  latitude: 12.5,
  longitude: 43.1,
  hazards: ["riverine_floods"],
  analysis_years: [2050],
  scenarios: ["rcp8p5"],
} as const satisfies CurveParameters;

const opened = useCurveAtlas();
let local: LocalAtlas;
beforeAll(() => {
  local = opened().atlas;
});

const get = (host: TestHost, query: object, init: Parameters<TestHost["ask"]>[1] = {}): Promise<Response> =>
  host.ask(`${CURVE}?${queryTextOf(parametersOf(query))}`, init);
const post = (host: TestHost, body: unknown): Promise<Response> =>
  host.ask(`${CURVE}/batch`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
  });

/** Returns valid queries of all kinds; some have several years, circles, missing layers or detail. */
function queriesFrom(seed: number, count: number): readonly CurveParameters[] {
  const random = randomFrom(seed);
  return Array.from({ length: count }, () => ({
    latitude: random.between({ min: -90, max: 90 }),
    longitude: random.between({ min: -180, max: 180 }),
    hazards: [random.pick(["riverine_floods", "cyclones"] as const)],
    analysis_years: random.pick([[2050], [1980, 2050], [2030]]),
    scenarios: random.pick([["rcp8p5"], ["baseline", "rcp4p5"]] as const),
    ...(random.chance(0.3) ? { radius: 70, aggregation_method: random.pick(["max", "mean"] as const) } : {}),
    ...(random.chance(0.5) ? { threshold: random.between({ min: 0.01, max: 5 }) } : {}),
    ...(random.chance(0.3) ? { return_periods: [1.5, 42, 5000] } : {}),
    ...(random.chance(0.3) ? { floor: 0.25 } : {}),
    ...(random.chance(0.2) ? { detail: true } : {}),
  }));
}

function curveCountOf({ results }: CurveResult): number {
  return results
    .flatMap(({ scenarios }) => scenarios.flatMap(({ analysis_years }) => analysis_years))
    .filter(({ curve }) => curve !== null).length;
}

describe.each([
  ["in worker threads", true],
  ["on the event loop", false],
])("curves processed %s", (_, hasWorkers) => {
  let host: TestHost;
  beforeAll(async () => {
    const atlas = hasWorkers ? bulkFixture({ atlas: local }).atlas : local;
    host = await startTestHost({ atlas, limits: { batchCount: 50, hazardValueCount: 150, detailCount: 100 } });
  });
  afterAll(() => host.close());

  test("have the same bytes from GET, the batch, the library and its batch, and the units of the curves", async () => {
    const queries = queriesFrom(181, 40);
    const expected = await Promise.all(queries.map((query) => local.curve(query)));
    const units = expected.map(curveCountOf);
    expect(new Set(units).size).toBeGreaterThan(2);
    for (const [i, query] of queries.entries()) {
      const answer = await get(host, query);
      expect([answer.status, answer.headers.get("x-usage-units")]).toEqual([200, String(units[i])]);
      expect(answer.headers.get("x-atlas-release")).toBe("curves-1");
      expect(await answer.text()).toBe(JSON.stringify(expected[i]));
    }
    const answer = await post(host, queries);
    expect([answer.status, answer.headers.get("x-item-errors")]).toEqual([200, "0"]);
    expect(answer.headers.get("x-usage-units")).toBe(String(units.reduce((sum, count) => sum + count)));
    expect(await answer.text()).toBe(`{"results":[${expected.map((result) => JSON.stringify(result)).join(",")}]}`);
    const pooled = await bulkFixture({ atlas: local }).atlas.curveBatch(queries);
    expect(JSON.stringify(pooled)).toBe(JSON.stringify(expected));
  });

  test("of an invalid query in a batch are replaced by its problem", async () => {
    const damage_curve = [
      { value: 0, damage_share: 0 },
      { value: 2, damage_share: 0.5 },
    ];
    const queries: readonly CurveQueryInput[] = [
      QUERY,
      { ...QUERY, hazards: ["wildfire"] },
      { ...QUERY, damage_curve: damage_curve.toReversed() },
      { ...QUERY, damage_curve },
      { ...QUERY, analysis_years: [2025] },
    ];
    const before = host.ledger.entries.length;
    const answer = await post(host, queries);
    expect([answer.status, answer.headers.get("x-item-errors")]).toEqual([200, "3"]);
    const { results } = (await answer.json()) as { results: readonly { readonly error?: Problem }[] };
    expect(results.map(({ error }) => error?.status)).toEqual([undefined, 422, 400, undefined, 422]);
    expect(results[1]?.error).toMatchObject({
      code: "combination_unavailable",
      errors: [{ pointer: "/hazards/0", hazard: "wildfire", allowed: ["cyclones", "riverine_floods"] }],
    });
    expect(results[2]?.error?.errors?.map(({ pointer }) => pointer)).toEqual([
      "/damage_curve/0/damage_share",
      "/damage_curve/1/value",
      "/damage_curve/1/damage_share",
    ]);
    expect(JSON.stringify(results[3])).toBe(JSON.stringify(await local.curve({ ...QUERY, damage_curve })));
    expect(host.ledger.entries.slice(before)).toMatchObject([
      { meter: "hazard_values", route: `${CURVE}/batch`, units: Number(answer.headers.get("x-usage-units")) },
    ]);
  });

  test.each([
    ["the number of queries", Array(51).fill(QUERY), { requested: 51, limit: 50 }],
    [
      "hazard values",
      Array(40).fill({ ...QUERY, scenarios: ["rcp8p5", "rcp4p5"], analysis_years: [2050, 2030] }),
      { requested: 160, limit: 150 },
    ],
    [
      "values with detail, toward which curves count",
      Array(34).fill({ ...QUERY, analysis_years: [1980, 2030, 2050] }),
      { requested: 102, limit: 100 },
    ],
  ])("are rejected above the limit of %s", async (_what, queries, more) => {
    const answer = await post(host, queries);
    expect([answer.status, await answer.json()]).toMatchObject([400, { code: "too_many_values", ...more }]);
  });
});

describe("GET", () => {
  let host: TestHost;
  beforeAll(async () => {
    host = await startTestHost({ atlas: local, limits: { detailCount: 3 } });
  });
  afterAll(() => host.close());

  test.each([
    ["a missing parameter", { ...QUERY, latitude: undefined }, "latitude", "missing"],
    ["two hazards", { ...QUERY, hazards: ["riverine_floods", "cyclones"] }, "hazards", "too_many"],
    ["a threshold that is not a number", { ...QUERY, threshold: "0x1" }, "threshold", "wrong_type"],
    ["a negative floor", { ...QUERY, floor: -1 }, "floor", "out_of_range"],
    ["a return period below 1", { ...QUERY, return_periods: [100, 0] }, "return_periods", "out_of_range"],
    ["total_hazard", { ...QUERY, total_hazard: true }, "total_hazard", "not_expected"],
    ["anthropogenic", { ...QUERY, anthropogenic: true }, "anthropogenic", "not_expected"],
    ["a damage curve", { ...QUERY, damage_curve: "0:0,1:1" }, "damage_curve", "not_expected"],
    ["an unknown parameter", { ...QUERY, depth: 1 }, "depth", "unknown"],
  ])("rejects %s", async (_what, query, parameter, code) => {
    const given = Object.fromEntries(Object.entries(query).filter(([, value]) => value !== undefined));
    const answer = await get(host, given);
    expect([answer.status, answer.headers.get("x-usage-units")]).toEqual([400, "0"]);
    expect(await answer.json()).toMatchObject({ code: "invalid_request", errors: [{ parameter, code }] });
  });

  test.each([
    ["a year that the hazard does not offer", { ...QUERY, analysis_years: [2025] }, "analysis_years"],
    ["a hazard of which the atlas has no curves", { ...QUERY, hazards: ["wildfire"] }, "hazards"],
  ])("answers 422 for %s", async (_what, query, parameter) => {
    const answer = await get(host, query);
    expect(answer.status).toBe(422);
    expect(await answer.json()).toMatchObject({ code: "combination_unavailable", errors: [{ parameter }] });
    expect((await get(host, query, { method: "HEAD" })).status).toBe(422);
  });

  test("rejects more curves than values with detail are allowed", async () => {
    const answer = await get(host, { ...QUERY, scenarios: ["rcp8p5", "rcp4p5"], analysis_years: [2050, 2030] });
    expect([answer.status, await answer.json()]).toMatchObject([400, { requested: 4, limit: 3 }]);
  });

  test("answers 304 to the entity tag of its response, without units", async () => {
    const first = await get(host, QUERY);
    const etag = first.headers.get("etag") ?? "";
    expect(etag).not.toBe("");
    const second = await get(host, QUERY, { headers: { "If-None-Match": etag } });
    expect([second.status, second.headers.get("x-usage-units"), await second.text()]).toEqual([304, "0", ""]);
  });

  test("gives the same bytes if a circle is so long that a worker samples it", async () => {
    const { atlas, grants } = bulkFixture({ atlas: { ...local, isLong: ({ radius }) => radius > 0 } });
    const other = await startTestHost({ atlas });
    try {
      const query = { ...QUERY, radius: 90, threshold: 0.5 };
      expect(await (await get(other, query)).text()).toBe(JSON.stringify(await local.curve(query)));
      expect(grants.map(({ kind, type }) => `${kind} ${type}`)).toEqual(["http begin"]);
      await (await get(other, QUERY)).text();
      expect(grants).toHaveLength(1);
    } finally {
      await other.close();
    }
  });

  test("reports an atlas without curves as an error of the caller", async () => {
    const plain = await openLocalAtlas("demo", 16 << 20);
    const other = await startTestHost({ atlas: { ...fakeAtlas(), curve: plain.curve, curveBatch: plain.curveBatch } });
    try {
      const answer = await get(other, { ...QUERY, hazards: ["wildfire"] });
      const { detail } = (await answer.json()) as Problem;
      expect(answer.status).toBe(422);
      expect(detail).toContain("This atlas has no return-period curves of wildfire");
    } finally {
      await other.close();
      await plain.close();
    }
  });
});
