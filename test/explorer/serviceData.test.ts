import { describe, expect, test } from "vitest";
import type { CurveQueryInput, HazardQueryInput, Problem } from "../../src/contract/wireTypes.ts";
import type { ExplorerError, TileAddress } from "../../src/explorer/data/explorerData.ts";
import { serviceData } from "../../src/explorer/data/serviceData.ts";
import { encodeValueTile, type ValueTile } from "../../src/tiles/valueTile.ts";

const QUERY: HazardQueryInput = {
  latitude: 11.59,
  longitude: 43.15,
  hazards: ["riverine_floods", "cyclones"],
  analysis_years: [2050],
  scenarios: ["rcp8p5"],
};
const TILE: TileAddress = {
  hazard: "cyclones",
  scenario: "rcp8p5",
  analysisYear: 2050,
  metric: "wind_speed_mps",
  z: 3,
  x: 4,
  y: 5,
};

interface Sent {
  readonly url: string;
  readonly method: string;
  readonly headers: Headers;
  readonly body: unknown;
  readonly cache: RequestCache | undefined;
}

/** Service data whose requests are answered by `answer`. */
function dataOf(answer: (sent: Sent, index: number) => Response | Promise<Response>, options = {}) {
  const sent: Sent[] = [];
  const fetch = async (url: unknown, { method = "GET", headers, body, cache }: RequestInit = {}): Promise<Response> => {
    const text = typeof body === "string" ? (JSON.parse(body) as unknown) : undefined;
    const request = { url: String(url), method, headers: new Headers(headers), body: text, cache };
    sent.push(request);
    return answer(request, sent.length - 1);
  };
  const data = serviceData({
    baseUrl: "http://service.test/risk/",
    apiKey: "key-1",
    customerId: "customer-1",
    fetch,
    ...options,
  });
  return { data, sent };
}

const json = (body: unknown, init: ResponseInit = {}): Response => Response.json(body, init);

function problem(code: string, status: number, more: Partial<Problem> = {}): Problem {
  const request_id = "0190f000-0000-7000-8000-000000000001";
  return {
    type: `/problems/${code}`,
    title: code,
    status,
    code,
    detail: `${code}.`,
    request_id,
    retryable: false,
    ...more,
  };
}

describe("serviceData", () => {
  test("sends key and customer to addresses below the folder of the page", async () => {
    const { data, sent } = dataOf(() => json({ results: [] }));
    await data.hazardRisk(QUERY);
    const [request] = sent;
    const { pathname, searchParams } = new URL(request?.url ?? "");
    expect(pathname).toBe("/risk/api/v1/hazard-risk");
    expect(Object.fromEntries(searchParams)).toEqual({
      latitude: "11.59",
      longitude: "43.15",
      hazards: "riverine_floods,cyclones",
      analysis_years: "2050",
      scenarios: "rcp8p5",
    });
    expect(request?.headers.get("X-API-Key")).toBe("key-1");
    expect(request?.headers.get("X-Customer-ID")).toBe("customer-1");
  });

  test("decodes a tile and requests it once", async () => {
    const steps = Uint16Array.from({ length: 65_536 }, (_, index) => index);
    const tile: ValueTile = { stepsPerUnit: 10, offset: 2, isBlockMaximum: true, blockSizeCells: 8, steps };
    const { data, sent } = dataOf(() => new Response(encodeValueTile(tile) as Uint8Array<ArrayBuffer>));
    expect(await data.valueTile(TILE)).toEqual(tile);
    expect(await data.valueTile(TILE)).toEqual(tile);
    expect(sent.map(({ url }) => url)).toEqual([
      "http://service.test/risk/api/v1/tiles/cyclones/rcp8p5/2050/wind_speed_mps/3/4/5.bin",
    ]);
    expect(sent[0]?.headers.get("X-API-Key")).toBe("key-1");
    // The browser may have a tile of another atlas with the same address.
    expect(sent[0]?.cache).toBe("no-cache");
  });

  test("reports another release of the atlas, and requests its tiles again", async () => {
    const steps = new Uint16Array(65_536);
    const tile: ValueTile = { stepsPerUnit: 10, offset: 2, isBlockMaximum: true, blockSizeCells: 8, steps };
    let release = "r1";
    const { data, sent } = dataOf(({ url }) => {
      const headers = { "X-Atlas-Release": release };
      if (!url.endsWith(".bin")) return json({ results: [] }, { headers });
      return new Response(encodeValueTile(tile) as Uint8Array<ArrayBuffer>, { headers });
    });
    await data.catalog();
    await data.valueTile(TILE);
    await data.valueTile(TILE);
    expect(data.newRelease?.value).toBeUndefined();
    expect(sent).toHaveLength(2);
    release = "r2";
    await data.hazardRisk(QUERY);
    expect(data.newRelease?.value).toBe("r2");
    await data.valueTile(TILE);
    await data.valueTile(TILE);
    expect(sent).toHaveLength(4);
    // Also if the user only pans the map.
    release = "r3";
    await data.valueTile({ ...TILE, x: TILE.x + 1 });
    expect(data.newRelease?.value).toBe("r3");
  });

  test("reports a tile that cannot be decoded", async () => {
    const { data } = dataOf(() => new Response("<html>"));
    await expect(data.valueTile(TILE)).rejects.toMatchObject({ name: "ExplorerError", code: "unexpected_response" });
  });

  test("reports a problem with its items and its delay", async () => {
    const errors = [{ parameter: "radius", code: "out_of_range", detail: "radius must be 0 to 100." }];
    const { data } = dataOf(() => json(problem("invalid_request", 400, { errors }), { status: 400 }));
    await expect(data.hazardRisk(QUERY)).rejects.toMatchObject({
      name: "ExplorerError",
      code: "invalid_request",
      message: "invalid_request.",
      items: errors,
      retryAfterS: undefined,
    });
  });

  test("waits for the delay that the service asks for, and then repeats the request", async () => {
    const { data, sent } = dataOf((_, index) =>
      index === 0
        ? json(problem("rate_limited", 429, { retryable: true }), { status: 429, headers: { "Retry-After": "0" } })
        : json({ results: [] }),
    );
    expect(await data.hazardRisk(QUERY)).toEqual({ results: [] });
    expect(sent).toHaveLength(2);
  });

  test("leaves a long delay to the user", async () => {
    const { data, sent } = dataOf(() =>
      json(problem("rate_limited", 429, { retryable: true }), { status: 429, headers: { "Retry-After": "60" } }),
    );
    await expect(data.valueTile(TILE)).rejects.toMatchObject({ code: "rate_limited", retryAfterS: 60 });
    await expect(data.hazardRisk(QUERY)).rejects.toMatchObject({ code: "rate_limited", retryAfterS: 60 });
    expect(sent).toHaveLength(2);
  });

  test("reports a service that cannot be reached, and an answer that is not from a service", async () => {
    const unreachable = dataOf(() => Promise.reject(new TypeError("fetch failed")), { attemptCountMax: 1 });
    await expect(unreachable.data.catalog()).rejects.toMatchObject({ name: "ExplorerError", code: "network" });
    const proxy = dataOf(() => new Response("<html>", { status: 404 }));
    const error = (await proxy.data.catalog().catch((reason: unknown) => reason)) as ExplorerError;
    expect([error.name, error.code]).toEqual(["ExplorerError", "unexpected_response"]);
    expect(error.message).toContain("status 404");
  });

  test("rejects with the reason of an aborted signal", async () => {
    const abort = new AbortController();
    const { data } = dataOf(() => {
      abort.abort(new Error("out of date"));
      return Promise.reject(new Error("aborted"));
    });
    await expect(data.hazardRisk(QUERY, abort.signal)).rejects.toThrow("out of date");
  });

  test("requests a curve with a damage curve as a batch", async () => {
    const limits = { batch_elements: 10, hazard_values: 10, detail_values: 10, body_bytes: 10_000 };
    const refusal = problem("invalid_request", 400);
    const { data, sent } = dataOf(({ url }) =>
      json(
        url.endsWith("/limits") ? limits : url.endsWith("/batch") ? { results: [{ error: refusal }] } : { results: [] },
      ),
    );
    const query: CurveQueryInput = {
      latitude: 11.59,
      longitude: 43.15,
      hazards: ["riverine_floods"],
      analysis_years: [2050],
      scenarios: ["rcp8p5"],
    };
    await data.curve(query);
    await expect(data.curve({ ...query, damage_curve: [] })).rejects.toMatchObject({ code: "invalid_request" });
    expect(sent.map(({ url, method }) => `${method} ${new URL(url).pathname}`)).toEqual([
      "GET /risk/api/v1/hazard-risk/curve",
      "GET /risk/api/v1/limits",
      "POST /risk/api/v1/hazard-risk/curve/batch",
    ]);
    expect(sent[2]?.body).toEqual([{ ...query, damage_curve: [] }]);
  });

  test("sends the parameters of the alignment as the API names them", async () => {
    const limits = { entities: 10, alignment_values: 10, detail_values: 10, body_bytes: 10_000 };
    const { data, sent } = dataOf(({ url }) => json(url.endsWith("/limits") ? limits : { results: [] }));
    await data.alignTemperature([], { budget_scenario: "ndcs", basis: "emissions", include: ["budget", "by_scope"] });
    expect(Object.fromEntries(new URL(sent[1]?.url ?? "").searchParams)).toEqual({
      budget_scenario: "ndcs",
      basis: "emissions",
      include: "budget,by_scope",
    });
  });
});
