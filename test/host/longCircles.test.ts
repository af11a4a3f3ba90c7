/** GET /api/v1/hazard-risk for large circles, which workers compute with the same result as the event loop. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { HazardQuery } from "../../src/hazard/query.ts";
import { parseHazardQuery } from "../../src/hazard/query.ts";
import { openAtlas } from "../../src/openAtlas.ts";
import { parametersOf, queryTextOf, VALID_QUERY } from "../hazard/queries.ts";
import { type Hosted, hosted } from "./hosting.ts";
import { PLACES_ATLAS, type Workshop, workshop } from "./work/workshop.ts";

const LONG_KM = 50;
const targetOf = (more: Partial<HazardQuery> = {}): string =>
  `/api/v1/hazard-risk?${queryTextOf(parametersOf({ ...VALID_QUERY, ...more }))}`;

describe("a large circle", () => {
  let shop: Workshop;
  let withWorkers: Hosted;
  let without: Hosted;
  beforeAll(async () => {
    const atlas = { ...PLACES_ATLAS, isLong: ({ radius }: HazardQuery) => radius > LONG_KM };
    shop = workshop({ workers: 3, atlas });
    withWorkers = await hosted({ atlas: shop.atlas });
    without = await hosted({ atlas });
  });
  afterAll(async () => {
    await Promise.all([withWorkers.close(), without.close()]);
  });

  /** A response without the parts that differ every time. */
  const told = async (response: Response): Promise<unknown> => {
    const headers = [...response.headers].filter(([name]) => !/^(?:date|x-request-id|ratelimit)$/.test(name));
    return { status: response.status, headers, text: await response.text() };
  };

  test.each([
    ["plain", {}],
    ["compressed", { "Accept-Encoding": "gzip" }],
    ["a head alone", { method: "HEAD" }],
  ])("is computed by a worker with the same response: %s", async (_, how) => {
    const { method, ...headers } = how as { readonly method?: string };
    const init = { headers, ...(method === undefined ? {} : { method }) };
    for (const target of [targetOf({ radius: 80 }), targetOf({ radius: 80, longitude: 175 })]) {
      const before = shop.begun.length;
      expect(await told(await withWorkers.ask(target, init))).toEqual(await told(await without.ask(target, init)));
      expect(shop.begun.slice(before).map(({ kind }) => kind)).toEqual(["read"]);
    }
    const unitsOf = ({ ledger }: Hosted): readonly number[] => ledger.entries.map(({ units }) => units);
    expect(unitsOf(withWorkers)).toEqual(unitsOf(without));
  });

  test("is always sent to the worker that owns its location", async () => {
    const busy = async (longitude: number): Promise<readonly number[]> => {
      const before = shop.threads.map(({ orders }) => orders.length);
      for (let i = 0; i < 3; i++) await withWorkers.ask(targetOf({ radius: 80, longitude }));
      return shop.threads.map(({ orders }, worker) => orders.length - (before[worker] ?? 0));
    };
    const places = [-170, -90, -10, 10, 60, 130];
    const shares = [];
    for (const longitude of places) shares.push(await busy(longitude));
    for (const share of shares) expect(share.toSorted((a, b) => a - b)).toEqual([0, 0, 3]);
    expect(new Set(shares.map(String)).size).toBeGreaterThan(1);
  });

  test("is not sent to a worker if it is not modified, invalid or short", async () => {
    const etag = (await withWorkers.ask(targetOf({ radius: 80 }))).headers.get("etag") ?? "";
    const before = shop.begun.length;
    const again = await withWorkers.ask(targetOf({ radius: 80 }), { headers: { "If-None-Match": etag } });
    expect([again.status, again.headers.get("x-usage-units")]).toEqual([304, "0"]);
    expect((await withWorkers.ask(`${targetOf({ radius: 80 })}&radios=1`)).status).toBe(400);
    expect((await withWorkers.ask(targetOf({ radius: 20 }))).status).toBe(200);
    expect((await withWorkers.ask(targetOf())).status).toBe(200);
    expect(shop.begun).toHaveLength(before);
  });
});

test("of the demo atlas counts as long for many small cells, not for points or coarse cells", async () => {
  const atlas = await openAtlas("demo");
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
