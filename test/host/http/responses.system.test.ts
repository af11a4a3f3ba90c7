import { type IncomingMessage, request as httpRequest } from "node:http";
import { once } from "node:events";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parametersOf, queryTextOf, VALID_QUERY } from "../../hazard/queries.ts";
import { ENTITY } from "../entities.ts";
import { fakeAtlas, HEADERS, type TestHost, startTestHost, ALIGNMENT_PATH } from "../testHost.ts";

const PATH = "/api/v1/hazard-risk";
const TARGET = `${PATH}?${queryTextOf(parametersOf(VALID_QUERY))}`;
/** A query whose response is long enough to be compressed. */
const LONG_TARGET =
  `${PATH}?latitude=11.5&longitude=43.1&hazards=cyclones,wildfire&analysis_years=2025,2030,2040,2050,2080` +
  "&scenarios=rcp2p6,rcp4p5,rcp8p5";

let host: TestHost;
beforeAll(async () => {
  host = await startTestHost();
});
afterAll(async () => {
  await host.close();
});

/** Returns the bytes of a response without decoding them, unlike fetch. */
async function fetchRaw(host: TestHost, target: string, headers: Record<string, string>, method = "GET") {
  const request = httpRequest(`${host.address.url}${target}`, {
    method,
    headers: { ...HEADERS, ...headers },
    agent: false,
  });
  request.end();
  const [response] = (await once(request, "response")) as [IncomingMessage];
  const parts: Buffer[] = [];
  for await (const part of response) parts.push(part as Buffer);
  return { status: response.statusCode, headers: response.headers, bytes: Buffer.concat(parts) };
}

test.each(["u", "\u00fc", "\u5317", "\u{1f30d}"])("encodes %s as UTF-8", async (letter) => {
  const { headers, bytes } = await fetchRaw(host, `${TARGET}&${encodeURIComponent(letter)}=1`, {});
  expect(Number(headers["content-length"])).toBe(bytes.length);
  const { errors } = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes)) as {
    readonly errors: readonly { readonly parameter: string }[];
  };
  expect(errors.map(({ parameter }) => parameter)).toStrictEqual([letter]);
});

describe("ETag", () => {
  test("is stable, and a request with it returns 304", async () => {
    const first = await host.ask(TARGET);
    const etag = first.headers.get("etag") ?? "";
    expect(etag).toMatch(/^"[!#-~]+"$/);
    expect(first.headers.get("cache-control")).toBe("private, no-cache");
    for (const ifNoneMatch of [etag, `W/${etag}`, `"other", ${etag}`, "*"]) {
      const again = await host.ask(TARGET, { headers: { "If-None-Match": ifNoneMatch } });
      expect([again.status, await again.text(), again.headers.get("content-length")]).toStrictEqual([304, "", null]);
      expect(again.headers.get("etag")).toBe(etag);
      expect(again.headers.get("x-request-id")).not.toBeNull();
    }
  });

  test("differs between targets and between contents", async () => {
    const [first, second] = await Promise.all([host.ask(TARGET), host.ask(`${TARGET}&radius=5`)]);
    const newer = await startTestHost({ atlas: { ...fakeAtlas(), contentHash: "2".repeat(64) } });
    try {
      const etags = [first, second, await newer.ask(TARGET)].map(({ headers }) => headers.get("etag"));
      expect(new Set(etags).size).toBe(3);
      const stated = { "If-None-Match": etags[0] ?? "" };
      expect((await newer.ask(TARGET, { headers: stated })).status).toBe(200);
    } finally {
      await newer.close();
    }
  });

  test("is compared only after the request has been validated", async () => {
    const response = await host.ask(`${PATH}?latitude=91`, { headers: { "If-None-Match": "*" } });
    expect([response.status, response.headers.get("etag")]).toStrictEqual([400, null]);
  });

  test("differs between content codings, and each matches", async () => {
    const plain = (await fetchRaw(host, LONG_TARGET, {})).headers.etag ?? "";
    const compressed = (await fetchRaw(host, LONG_TARGET, { "Accept-Encoding": "gzip" })).headers.etag ?? "";
    expect(compressed).not.toBe(plain);
    for (const etag of [plain, compressed]) {
      const again = await fetchRaw(host, LONG_TARGET, { "Accept-Encoding": "gzip", "If-None-Match": etag });
      expect([again.status, again.headers.etag]).toStrictEqual([304, etag]);
    }
  });
});

describe("Accept-Encoding", () => {
  test.each([
    ["gzip", "gzip"],
    ["br", "br"],
    ["gzip, deflate, br", "br"],
    ["gzip;q=1, br;q=0.5", "gzip"],
    ["br;q=0, gzip;q=0.1", "gzip"],
    ["*", "br"],
    ["x-gzip", "gzip"],
    ["deflate", undefined],
    ["identity", undefined],
    ["gzip;q=0", undefined],
    ["gzip;q=0.5, identity", undefined],
    ["gzip;q=2", undefined],
    ["", undefined],
  ])("'%s' selects the coding %s", async (accepted, coding) => {
    const plain = await fetchRaw(host, LONG_TARGET, {});
    const { status, headers, bytes } = await fetchRaw(host, LONG_TARGET, { "Accept-Encoding": accepted });
    expect([status, headers["content-encoding"], headers.vary]).toStrictEqual([200, coding, "Accept-Encoding"]);
    expect(headers["content-length"]).toBe(String(bytes.length));
    const decoded = coding === "br" ? brotliDecompressSync(bytes) : coding === "gzip" ? gunzipSync(bytes) : bytes;
    expect(decoded.toString()).toBe(plain.bytes.toString());
    if (coding !== undefined) expect(bytes.length).toBeLessThan(plain.bytes.length / 2);
  });

  test("does not compress short responses, but sends Vary", async () => {
    const { headers } = await fetchRaw(host, TARGET, { "Accept-Encoding": "gzip" });
    expect([headers["content-encoding"], headers.vary]).toStrictEqual([undefined, "Accept-Encoding"]);
    expect(Number(headers["content-length"])).toBeLessThan(2048);
  });
});

describe("HEAD", () => {
  test("has the header fields of GET, with and without compression, on routes that are not metered", async () => {
    for (const accepted of ["identity", "gzip"]) {
      const headers = { "Accept-Encoding": accepted };
      const [getResponse, headResponse] = [
        await fetchRaw(host, "/openapi.json", headers),
        await fetchRaw(host, "/openapi.json", headers, "HEAD"),
      ];
      const differing = /^(date|x-request-id|ratelimit|x-usage-units)$/;
      const fieldsOf = (all: typeof getResponse.headers) =>
        Object.entries(all).filter(([name]) => !differing.test(name));
      expect(fieldsOf(headResponse.headers)).toStrictEqual(fieldsOf(getResponse.headers));
      expect(headResponse.bytes.length).toBe(0);
    }
  });
});

describe("OPTIONS", () => {
  test.each([
    [PATH, "GET, HEAD, OPTIONS"],
    ["/latest/api/v1/temperature-alignment-projections", "POST, OPTIONS"],
    ["/healthz", "GET, HEAD, OPTIONS"],
  ])("of %s returns 204 with Allow, without a key", async (path, allow) => {
    const response = await fetch(`${host.address.url}${path}`, { method: "OPTIONS" });
    expect([response.status, response.headers.get("allow"), await response.text()]).toStrictEqual([204, allow, ""]);
    expect(response.headers.get("access-control-allow-origin")).toBeNull();
    expect(response.headers.get("content-length")).toBeNull();
  });

  test("of * lists the methods of the server", async () => {
    const request = httpRequest(host.address.url, { method: "OPTIONS", path: "*", agent: false });
    request.end();
    const [response] = (await once(request, "response")) as [IncomingMessage];
    response.resume();
    expect([response.statusCode, response.headers.allow]).toStrictEqual([204, "GET, HEAD, POST, DELETE, OPTIONS"]);
  });

  test("of an unknown path returns 404", async () => {
    expect((await fetch(`${host.address.url}/nowhere`, { method: "OPTIONS" })).status).toBe(404);
  });
});

describe("CORS", () => {
  const ORIGIN = "https://map.example";
  let open: TestHost;
  beforeAll(async () => {
    open = await startTestHost({ corsOrigins: [ORIGIN, "http://localhost:5173"] });
  });
  afterAll(async () => {
    await open.close();
  });
  const preflight = (host: TestHost, origin: string) =>
    fetch(`${host.address.url}${PATH}`, {
      method: "OPTIONS",
      headers: {
        Origin: origin,
        "Access-Control-Request-Method": "GET",
        "Access-Control-Request-Headers": "x-api-key",
      },
    });

  test("sends no CORS headers to other origins", async () => {
    for (const [server, origin] of [
      [host, ORIGIN],
      [open, "https://elsewhere.example"],
      [open, "null"],
    ] as const) {
      const asked = await preflight(server, origin);
      const answered = await server.ask(TARGET, { headers: { Origin: origin } });
      for (const { headers } of [asked, answered]) {
        expect([...headers.keys()].filter((name) => name.startsWith("access-control-"))).toStrictEqual([]);
      }
      // The request itself succeeds: CORS restricts only scripts in browsers.
      expect(answered.status).toBe(200);
    }
  });

  test("answers preflight requests without a key", async () => {
    const { status, headers } = await preflight(open, ORIGIN);
    expect([status, headers.get("access-control-allow-origin")]).toStrictEqual([204, ORIGIN]);
    expect(headers.get("access-control-allow-methods")).toContain("GET");
    for (const name of ["X-API-Key", "X-Customer-ID", "Content-Type", "Idempotency-Key"]) {
      expect(headers.get("access-control-allow-headers")).toContain(name);
    }
    expect(Number(headers.get("access-control-max-age"))).toBeGreaterThan(0);
    expect(headers.get("access-control-allow-credentials")).toBeNull();
    expect(headers.get("vary")).toBe("Origin");
  });

  test("allows configured origins to read responses and problems", async () => {
    for (const [target, status] of [
      [TARGET, 200],
      [PATH, 400],
    ] as const) {
      const response = await open.ask(target, { headers: { Origin: ORIGIN } });
      expect([response.status, response.headers.get("access-control-allow-origin")]).toStrictEqual([status, ORIGIN]);
      expect(response.headers.get("access-control-expose-headers")).toContain("X-Usage-Units");
    }
    expect((await open.ask(TARGET)).headers.get("vary")).toBe("Accept-Encoding, Origin");
  });

  test("allows all origins with *", async () => {
    const all = await startTestHost({ corsOrigins: ["*"] });
    try {
      const response = await all.ask(TARGET, { headers: { Origin: "https://any.example" } });
      expect(response.headers.get("access-control-allow-origin")).toBe("https://any.example");
    } finally {
      await all.close();
    }
  });

  test.each(["map.example", "https://map.example/", "https://map.example/app", ""])(
    "rejects the origin '%s'",
    async (origin) => {
      await expect(startTestHost({ corsOrigins: [origin] })).rejects.toMatchObject({ code: "configuration_invalid" });
    },
  );
});

test("responses of POST routes and of /healthz are not cached", async () => {
  const headers = { "Content-Type": "application/json" };
  const body = JSON.stringify([ENTITY]);
  const response = await host.ask(ALIGNMENT_PATH, { method: "POST", headers, body });
  expect(response.headers.get("cache-control")).toBe("no-store");
  expect((await host.ask("/healthz")).headers.get("cache-control")).toBe("no-store");
});
