/** POST /api/v1/hazard-risk/batch over sockets, with and without worker threads. */
import { setImmediate, setTimeout } from "node:timers/promises";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Fault } from "../../../src/errors.ts";
import type { LoadLimits } from "../../../src/host/admission/resources.ts";
import type { Problem } from "../../../src/host/problems/problem.ts";
import { parametersOf, queryTextOf, VALID_QUERY, validQueries } from "../../hazard/queries.ts";
import { type TestHost, startTestHost } from "../testHost.ts";
import {
  type BulkFixture,
  bulkFixture,
  type BulkFixtureOptions,
  localAtlasOf,
  LOCATIONS_ATLAS,
} from "../bulk/bulkFixture.ts";

interface BatchBody {
  readonly results: readonly { readonly error?: Problem }[];
}

const BATCH = "/api/v1/hazard-risk/batch";
const post = (host: TestHost, body: unknown, path = BATCH): Promise<Response> =>
  host.ask(path, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });

/** Returns the JSON text of each result. */
function textsIn(body: string): readonly string[] {
  return (JSON.parse(body) as { results: unknown[] }).results.map((result) => JSON.stringify(result));
}

/** Functions that make any valid query invalid. */
const INVALIDATIONS: readonly ((query: object) => unknown)[] = [
  () => null,
  () => 7,
  () => "51.5,-0.1",
  () => [],
  () => ({}),
  (query) => ({ ...query, latitude: 90.1 }),
  (query) => ({ ...query, latitude: "51.5" }),
  (query) => ({ ...query, longitude: null }),
  (query) => ({ ...query, hazards: "cyclones" }),
  (query) => ({ ...query, hazards: [] }),
  (query) => ({ ...query, scenarios: ["baseline", "baseline"] }),
  (query) => ({ ...query, hazards: ["coastal_floods"], scenarios: ["baseline"], analysis_years: [2025] }),
  (query) => ({ ...query, analysis_years: Array(500).fill(2030) }),
  (query) => ({ ...query, radius: 100.5 }),
  (query) => ({ ...query, aggregation_method: "median" }),
  (query) => ({ ...query, detail: "true" }),
  (query) => ({ ...query, raduis: 5 }),
  (query) => JSON.parse(JSON.stringify(query).replace("{", '{"__proto__":1,')) as unknown,
];

describe.each([
  ["in worker threads", true],
  ["on the event loop", false],
])("a batch processed %s", (_, hasWorkers) => {
  let host: TestHost;
  beforeAll(async () => {
    const atlas = hasWorkers ? bulkFixture().atlas : LOCATIONS_ATLAS;
    host = await startTestHost({ atlas, limits: { batchCount: 200, hazardValueCount: 2000, detailCount: 799 } });
  });
  afterAll(() => host.close());

  test("returns the bytes that GET returns for each query, and meters the sum of their units", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(validQueries, { minLength: 1, maxLength: 12 }), async (queries) => {
        const singles = await Promise.all(
          queries.map(async (query) => {
            const answer = await host.ask(`/api/v1/hazard-risk?${queryTextOf(parametersOf(query))}`);
            return { text: await answer.text(), units: Number(answer.headers.get("x-usage-units")) };
          }),
        );
        const answer = await post(host, queries);
        expect(answer.status).toBe(200);
        expect(await answer.text()).toBe(`{"results":[${singles.map(({ text }) => text).join(",")}]}`);
        expect(answer.headers.get("x-usage-units")).toBe(String(singles.reduce((sum, { units }) => sum + units, 0)));
        expect(answer.headers.get("x-item-errors")).toBe("0");
      }),
      { numRuns: Number(process.env["ISOTHERM_BATCHES"] ?? 60) },
    );
  });

  test("returns the problem of an invalid query at its index without affecting other results", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(validQueries, { minLength: 1, maxLength: 8 }),
        fc.tuple(validQueries, fc.constantFrom(...INVALIDATIONS)).map(([query, invalidate]) => invalidate(query)),
        fc.nat(),
        async (queries, invalid, number) => {
          const position = number % (queries.length + 1);
          const clean = textsIn(await (await post(host, queries)).text());
          const answer = await post(host, queries.toSpliced(position, 0, invalid as never));
          expect(answer.status).toBe(200);
          expect(answer.headers.get("x-item-errors")).toBe("1");
          const body = await answer.text();
          expect(textsIn(body).toSpliced(position, 1)).toEqual(clean);
          const { error } = (JSON.parse(body) as BatchBody).results[position] ?? {};
          expect(error?.request_id).toBe(answer.headers.get("x-request-id"));
          expect([400, 422]).toContain(error?.status);
          expect(error?.errors?.length).toBeGreaterThan(0);
        },
      ),
      { numRuns: 60 },
    );
  });

  test.each([
    ["not JSON", "[", "json_malformed", { line: 1, column: 2 }],
    ["not a list", "{}", "invalid_request", { errors: [{ pointer: "", code: "wrong_type" }] }],
    ["an empty list", "[]", "invalid_request", { errors: [{ pointer: "", code: "empty" }] }],
    [
      "longer than batchCount",
      JSON.stringify(Array(201).fill(VALID_QUERY)),
      "too_many_values",
      { requested: 201, limit: 200 },
    ],
    [
      "above hazardValueCount",
      JSON.stringify(Array(200).fill({ ...VALID_QUERY, analysis_years: [1980, 2030, 2050] })),
      "too_many_values",
      { requested: 2400, limit: 2000 },
    ],
    [
      "above detailCount",
      JSON.stringify([...Array(100).fill(VALID_QUERY), ...Array(100).fill({ ...VALID_QUERY, detail: true })]),
      "too_many_values",
      { requested: 800, limit: 799 },
    ],
  ])("rejects a batch that is %s as a whole and does not meter it", async (...[, text, code, more]) => {
    const answer = await post(host, text);
    expect([answer.status, answer.headers.get("content-type")]).toEqual([400, "application/problem+json"]);
    expect(answer.headers.get("x-usage-units")).toBe("0");
    expect(answer.headers.get("x-item-errors")).toBeNull();
    expect(await answer.json()).toMatchObject({ code, request_id: answer.headers.get("x-request-id"), ...more });
  });

  test("is rejected with query parameters, and available under /latest", async () => {
    const rejected = await post(host, [VALID_QUERY], `${BATCH}?detail=true`);
    expect(await rejected.json()).toMatchObject({
      code: "invalid_request",
      errors: [{ parameter: "detail", code: "unknown" }],
    });
    const answer = await post(host, [VALID_QUERY], `/latest${BATCH}`);
    expect([answer.status, answer.headers.get("x-atlas-release")]).toEqual([200, "test-1"]);
  });

  test("is recorded once, with the units of its response", async () => {
    const before = host.ledger.entries.length;
    const answer = await post(host, [VALID_QUERY, { ...VALID_QUERY, latitude: 91 }, VALID_QUERY]);
    await answer.text();
    expect(host.ledger.entries.slice(before)).toMatchObject([
      { meter: "hazard_values", units: Number(answer.headers.get("x-usage-units")), route: BATCH },
    ]);
  });
});

describe("a host with worker threads", () => {
  let fixture: BulkFixture;
  let host: TestHost;
  async function open(options: BulkFixtureOptions, load: Partial<LoadLimits> = {}): Promise<void> {
    fixture = bulkFixture(options);
    host = await startTestHost({ atlas: fixture.atlas, load, warmUp: false });
  }
  const queries = (count: number): unknown[] =>
    Array.from({ length: count }, (_, i) => ({ ...VALID_QUERY, longitude: (i % 360) - 180 }));

  test("starts no more time slices after the client disconnects, and records nothing", async () => {
    const abort = new AbortController();
    // The seventh slice and later ones wait, so that the job cannot end before the service notices.
    let release = (): void => undefined;
    const released = new Promise<void>((resolve) => (release = resolve));
    const sliceCount = (): number => fixture.grants.filter(({ kind }) => kind === "http.shard").length;
    await open({ onGrant: () => (sliceCount() > 6 ? released : undefined) });
    const pending = host.ask(BATCH, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(queries(1000)),
      signal: abort.signal,
    });
    while (sliceCount() < 7) await setTimeout(1);
    abort.abort();
    await expect(pending).rejects.toThrow("aborted");
    const requestTypes = (): readonly string[] =>
      fixture.threads.flatMap(({ requests }) => requests.map(({ type }) => type));
    while (!requestTypes().includes("cancel")) await setTimeout(1);
    const sent = requestTypes();
    release();
    // Workers on this thread need a few turns of the event loop to end their slices and to receive the next ones.
    for (let turn = 0; turn < 100; turn++) await setImmediate();
    expect(requestTypes()).toEqual(sent);
    await host.close();
    expect(host.ledger.entries).toEqual([]);
  });

  test("rejects batches with Retry-After when overloaded, and still answers queries for single locations", async () => {
    let release = (): void => undefined;
    const released = new Promise<void>((resolve) => (release = resolve));
    await open({ onGrant: () => released }, { jobsPerAccountMax: 1 });
    const first = post(host, queries(10));
    while (fixture.grants.length === 0) await setTimeout(1);
    const rejected = await post(host, queries(10));
    expect([rejected.status, rejected.headers.get("retry-after"), rejected.headers.get("x-usage-units")]).toEqual([
      503,
      "1",
      "0",
    ]);
    expect(await rejected.json()).toMatchObject({ code: "overloaded", retryable: true });
    const single = await host.ask(`/api/v1/hazard-risk?${queryTextOf(parametersOf(VALID_QUERY))}`);
    expect(single.status).toBe(200);
    release();
    expect((await first).status).toBe(200);
    await host.close();
  });

  test("returns overloaded if a worker dies, and answers the next request", async () => {
    let shouldDie = true;
    await open({
      workers: 1,
      onGrant: (_, thread) => {
        if (!shouldDie) return undefined;
        shouldDie = false;
        thread.die("out of memory");
        return new Promise(() => undefined);
      },
    });
    const failed = await post(host, queries(500));
    expect([failed.status, await failed.json()]).toMatchObject([503, { code: "overloaded" }]);
    const answer = await post(host, queries(500));
    expect(answer.status).toBe(200);
    expect(((await answer.json()) as BatchBody).results).toHaveLength(500);
    await host.close();
    expect(host.ledger.entries).toHaveLength(1);
  });

  test("returns atlas_unavailable for the whole batch if the atlas cannot be read", async () => {
    const fault = new Fault("atlas_unavailable", "tiles.pack is truncated.");
    const broken = localAtlasOf((query) =>
      query.longitude === 7 ? Promise.reject(fault) : LOCATIONS_ATLAS.hazardRisk(query),
    );
    await open({ atlas: broken });
    const answer = await post(host, queries(300));
    expect([answer.status, await answer.json()]).toMatchObject([503, { code: "atlas_unavailable" }]);
    expect(answer.headers.get("retry-after")).toMatch(/^[1-9][0-9]*$/);
    await host.close();
  });
});
