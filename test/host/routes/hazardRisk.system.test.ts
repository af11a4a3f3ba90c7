import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Fault } from "../../../src/errors.ts";
import { parseHazardQuery } from "../../../src/hazard/query.ts";
import type { Problem } from "../../../src/host/problems/problem.ts";
import { parametersOf, queryTextOf, VALID_QUERY, validQueries, invalidParameters } from "../../hazard/queries.ts";
import { fakeAtlas, HEADERS, type TestHost, startTestHost, quarterResult } from "../testHost.ts";

const VALID_QUERY_TEXT = queryTextOf(parametersOf(VALID_QUERY));

let host: TestHost;
beforeAll(async () => {
  host = await startTestHost();
});
afterAll(async () => {
  await host.close();
});

const ask = (queryText: string, prefix = ""): Promise<Response> =>
  host.ask(`${prefix}/api/v1/hazard-risk?${queryText}`);

describe("a valid query", () => {
  test.each(["", "/latest"])("is answered under '%s/api/v1'", async (prefix) => {
    const response = await ask(`${VALID_QUERY_TEXT}&radius=5&aggregation_method=mean`, prefix);
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe("application/json");
    expect(response.headers.get("x-atlas-release")).toBe("test-1");
    expect(response.headers.get("x-request-id")).toMatch(/^[0-9a-f-]{36}$/);
    expect(await response.json()).toStrictEqual(
      quarterResult({ ...VALID_QUERY, radius: 5, aggregation_method: "mean" }),
    );
  });

  test("reaches the atlas as parsed by the library", async () => {
    const received: unknown[] = [];
    const other = await startTestHost({
      atlas: fakeAtlas((query) => {
        received.push({ ...query });
        return Promise.resolve(quarterResult(query));
      }),
    });
    try {
      await fc.assert(
        fc.asyncProperty(validQueries, async (query) => {
          received.length = 0;
          const response = await other.ask(`/api/v1/hazard-risk?${queryTextOf(parametersOf(query))}`);
          await response.text();
          expect(response.status).toBe(200);
          expect(received).toStrictEqual([parseHazardQuery(query)]);
        }),
        { numRuns: 100 },
      );
    } finally {
      await other.close();
    }
  });
});

describe("rejects", () => {
  const withoutParameter = (name: string): string => {
    const parameters = parametersOf(VALID_QUERY);
    parameters.delete(name);
    return queryTextOf(parameters);
  };
  const withParameter = (name: string, text: string): string =>
    queryTextOf(new Map([...parametersOf(VALID_QUERY), [name, text]]));

  test.each([
    ["a missing parameter", withoutParameter("longitude"), "longitude", "missing"],
    ["a latitude that is not a number", withParameter("latitude", "north"), "latitude", "wrong_type"],
    ["a hexadecimal number", withParameter("latitude", "0x10"), "latitude", "wrong_type"],
    ["an infinite number", withParameter("radius", "1e400"), "radius", "not_finite"],
    ["a latitude out of range", withParameter("latitude", "90.5"), "latitude", "out_of_range"],
    ["a longitude out of range", withParameter("longitude", "-180.5"), "longitude", "out_of_range"],
    ["a radius out of range", withParameter("radius", "101"), "radius", "out_of_range"],
    ["an unknown parameter", withParameter("depth", "1"), "depth", "unknown"],
    ["a repeated parameter", `${VALID_QUERY_TEXT}&latitude=11.5`, "latitude", "repeated"],
    ["an empty list", withParameter("hazards", ""), "hazards", "empty"],
    ["a duplicate list item", withParameter("analysis_years", "2050,2050"), "analysis_years", "duplicate"],
    ["an unknown hazard", withParameter("hazards", "hail"), "hazards", "not_allowed"],
    ["an unknown scenario", withParameter("scenarios", "rcp9p9"), "scenarios", "not_allowed"],
    ["an unknown aggregation method", withParameter("aggregation_method", "min"), "aggregation_method", "not_allowed"],
    ["a boolean that is neither true nor false", withParameter("total_hazard", "1"), "total_hazard", "wrong_type"],
  ])("%s with 400 invalid_request", async (_what, queryText, parameter, code) => {
    const response = await ask(queryText);
    expect(response.status).toBe(400);
    expect(response.headers.get("content-type")).toBe("application/problem+json");
    const problem = (await response.json()) as Problem;
    expect(problem).toMatchObject({
      type: "/problems/invalid_request",
      status: 400,
      code: "invalid_request",
      retryable: false,
      request_id: response.headers.get("x-request-id"),
    });
    expect(problem.errors?.map((item) => [item.parameter, item.code])).toStrictEqual([[parameter, code]]);
    expect(response.headers.get("x-atlas-release")).toBe("test-1");
  });

  test("a year or scenario that the hazard does not offer with 422 combination_unavailable", async () => {
    const response = await ask(withParameter("analysis_years", "2040").replace("baseline", "rcp2p6"));
    expect(response.status).toBe(422);
    const problem = (await response.json()) as Problem;
    expect(problem.code).toBe("combination_unavailable");
    expect(problem.errors).toMatchObject([
      { parameter: "analysis_years", hazard: "riverine_floods", offered_years: [1980, 2030, 2050, 2080] },
      { parameter: "scenarios", hazard: "riverine_floods", offered_scenarios: ["baseline", "rcp4p5", "rcp8p5"] },
    ]);
  });

  test("more values than hazardValueCount with 400 too_many_values", async () => {
    const small = await startTestHost({ limits: { hazardValueCount: 7 } });
    try {
      const response = await small.ask(`/api/v1/hazard-risk?${VALID_QUERY_TEXT}`);
      expect(response.status).toBe(400);
      expect(await response.json()).toMatchObject({ code: "too_many_values", requested: 8, limit: 7 });
    } finally {
      await small.close();
    }
  });

  test("more values with detail than detailCount with 400 too_many_values", async () => {
    const small = await startTestHost({ limits: { detailCount: 7 } });
    try {
      expect((await small.ask(`/api/v1/hazard-risk?${VALID_QUERY_TEXT}`)).status).toBe(200);
      const response = await small.ask(`/api/v1/hazard-risk?${VALID_QUERY_TEXT}&detail=true`);
      expect(response.status).toBe(400);
      expect(await response.json()).toMatchObject({ code: "too_many_values", requested: 8, limit: 7 });
    } finally {
      await small.close();
    }
  });

  test("any query with one invalid parameter, naming that parameter", async () => {
    await fc.assert(
      fc.asyncProperty(validQueries, invalidParameters, async (query, { parameter, text }) => {
        const response = await ask(queryTextOf(new Map([...parametersOf(query), [parameter, text]])));
        const problem = (await response.json()) as Problem;
        expect([response.status, problem.code]).toStrictEqual([400, "invalid_request"]);
        expect(new Set(problem.errors?.map((item) => item.parameter))).toStrictEqual(new Set([parameter]));
      }),
      { numRuns: 200 },
    );
  });
});

describe("internal errors", () => {
  const SECRET = "/srv/maps/secret.tiles at 11.5, 43.1";
  async function requestFailingAtlas(error: unknown): Promise<{ response: Response; text: string; logged: string }> {
    const other = await startTestHost({ atlas: fakeAtlas(() => Promise.reject(error)) });
    try {
      const response = await other.ask(`/api/v1/hazard-risk?${VALID_QUERY_TEXT}`);
      return { response, text: await response.text(), logged: JSON.stringify(other.records) };
    } finally {
      await other.close();
    }
  }

  test("a damaged atlas returns 503 with Retry-After and logs the cause", async () => {
    const cause = Object.assign(new Error(SECRET), { code: "EIO" });
    const { response, text, logged } = await requestFailingAtlas(
      new Fault("atlas_unavailable", "a.tiles, byte 12", { cause }),
    );
    expect(response.status).toBe(503);
    expect(Number(response.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(JSON.parse(text)).toMatchObject({ code: "atlas_unavailable", retryable: true });
    expect(text).not.toMatch(/tiles|byte|EIO/);
    expect(logged).toContain("a.tiles, byte 12");
    expect(logged).toContain("EIO");
    expect(logged).not.toContain("secret");
  });

  test.each([new Error(SECRET), new TypeError(SECRET), SECRET, undefined])(
    "a bug that throws %o returns 500 and reveals only the request id",
    async (error) => {
      const { response, text, logged } = await requestFailingAtlas(error);
      expect(response.status).toBe(500);
      expect(JSON.parse(text)).toStrictEqual({
        type: "/problems/internal_error",
        title: "Internal error",
        status: 500,
        code: "internal_error",
        detail: "An internal error occurred. Include the request id when you report it.",
        request_id: response.headers.get("x-request-id"),
        retryable: false,
      });
      expect(logged).not.toContain("secret");
      expect(logged.includes("hazardRisk.system.test.ts")).toBe(error instanceof Error);
    },
  );

  async function requestIntensity(intensity: number | null): Promise<Response> {
    const answer = quarterResult({
      ...VALID_QUERY,
      hazards: ["cyclones"],
      analysis_years: [2050],
      scenarios: ["rcp8p5"],
    });
    const text = JSON.stringify(answer);
    const result = JSON.parse(text, (name, value: unknown) =>
      name === "intensity" ? intensity : value,
    ) as typeof answer;
    const other = await startTestHost({ atlas: fakeAtlas(() => Promise.resolve(result)) });
    try {
      const response = await other.ask(`/api/v1/hazard-risk?${VALID_QUERY_TEXT}`);
      return new Response(await response.text(), response);
    } finally {
      await other.close();
    }
  }

  test.each([NaN, Infinity, -Infinity])("%s in a result returns 500 instead of null", async (value) => {
    const response = await requestIntensity(value);
    expect([response.status, ((await response.json()) as Problem).code]).toStrictEqual([500, "internal_error"]);
  });

  test("null in a result is sent as null", async () => {
    const response = await requestIntensity(null);
    expect(response.status).toBe(200);
    expect(await response.text()).toContain('"intensity":null');
  });
});

test("logs routes but no request data", async () => {
  const other = await startTestHost();
  try {
    await (await other.ask(`/latest/api/v1/hazard-risk?${VALID_QUERY_TEXT}`)).text();
    await (await other.ask(`/private-name?latitude=11.5`)).text();
    await (await other.ask(`/api/v1/hazard-risk?latitude=-77.123`)).text();
  } finally {
    await other.close();
  }
  expect(other.records).toMatchObject([
    {
      method: "GET",
      route: "/latest/api/v1/hazard-risk",
      status: 200,
      units: 8,
      account_id: other.accountId,
      key_id: other.keyId,
      customer_id: HEADERS["X-Customer-ID"],
    },
    { method: "GET", status: 404, code: "route_not_found" },
    { method: "GET", route: "/api/v1/hazard-risk", status: 400, code: "invalid_request" },
  ]);
  const allowed = new Set([
    "request_id",
    "method",
    "route",
    "status",
    "code",
    "duration_ms",
    "units",
    "account_id",
    "key_id",
    "customer_id",
  ]);
  for (const record of other.records)
    expect(Object.keys(record).filter((name) => !allowed.has(name))).toStrictEqual([]);
  expect(JSON.stringify(other.records)).not.toMatch(/11\.5|77\.123|private-name|riverine|iso_sk_|test-customer/);
});
