/** Request lines and header fields that another server on the way could understand differently, and HEAD without payment. */
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import type { AnalysisYearResult } from "../../src/contract/wireTypes.ts";
import { fakeAtlas, HEADERS, QUERY_TARGET, resultWith, startTestHost, type TestHost } from "../host/testHost.ts";
import { openRawConnection } from "./rawConnection.ts";

const FIELDS = Object.entries({ Host: "h", ...HEADERS })
  .map(([name, value]) => `${name}: ${value}\r\n`)
  .join("");
const POST_FIELDS = `${FIELDS}Content-Type: application/json\r\n`;
const CHUNKED_BODY = "0\r\n\r\n";
const FOLLOWING = `GET /healthz HTTP/1.1\r\n${FIELDS}\r\n`;

let host: TestHost;
/** Number of values that the atlas has for the query. */
let digitCount = 1;
const hazardRisk = vi.fn<ReturnType<typeof fakeAtlas>["hazardRisk"]>((query) => {
  const yearOf = (analysis_year: number): AnalysisYearResult => ({
    analysis_year,
    metrics: { intensity: Number((1 / 3).toFixed(digitCount)), probability: null },
  });
  return Promise.resolve(resultWith(query, yearOf));
});
beforeAll(async () => {
  host = await startTestHost({ atlas: fakeAtlas(hazardRisk) });
});
afterAll(async () => {
  await host.close();
});

/** A server that keeps a connection open does not delay the test for longer. */
const OPEN_MS_MAX = 30_000;

/** Sends a text and returns what the server sends until it closes the connection. */
async function exchange(text: string): Promise<string> {
  const { socket, closed } = await openRawConnection(host.address.port);
  socket.setTimeout(OPEN_MS_MAX, () => socket.destroy());
  socket.write(text, "latin1");
  return closed;
}

const statusesIn = (text: string): readonly string[] => text.match(/^HTTP\/1\.1 [0-9]{3}/gm) ?? [];

describe("a request that is not HTTP/1.0 or HTTP/1.1", () => {
  test.each(["HTTP/2.0", "HTTP/0.9", "HTTP/1.2", "HTTP/3.0"])(
    "with the version %s gets 400, and its connection is closed before the next request",
    async (version) => {
      const received = await exchange(`GET /healthz ${version}\r\n${FIELDS}\r\n${FOLLOWING}`);
      expect(statusesIn(received)).toStrictEqual(["HTTP/1.1 400"]);
      expect(received).toContain('"code":"http_malformed"');
    },
  );
});

describe("a transfer coding other than chunked", () => {
  test.each([
    ["Transfer-Encoding: gzip, chunked"],
    ["Transfer-Encoding: deflate,chunked"],
    ["Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked"],
    ["Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked"],
    ["Transfer-Encoding: identity"],
    ["Transfer-Encoding: xchunked"],
    ["Transfer-Encoding: chunked, identity"],
  ])("is rejected: %s", async (field) => {
    const line = "POST /api/v1/temperature-alignment-projections HTTP/1.1";
    const received = await exchange(`${line}\r\n${POST_FIELDS}${field}\r\n\r\n${CHUNKED_BODY}${FOLLOWING}`);
    expect(statusesIn(received)).toStrictEqual(["HTTP/1.1 400"]);
    expect(received).toContain('"code":"http_malformed"');
  });

  test("is rejected in HTTP/1.0, which has none", async () => {
    const line = "POST /api/v1/temperature-alignment-projections HTTP/1.0";
    const received = await exchange(`${line}\r\n${POST_FIELDS}Transfer-Encoding: chunked\r\n\r\n${CHUNKED_BODY}`);
    expect(statusesIn(received)).toStrictEqual(["HTTP/1.1 400"]);
    expect(received).toContain('"code":"http_malformed"');
  });

  test.each(["chunked", "Chunked"])("does not include %s", async (coding) => {
    const line = "POST /latest/api/v1/customers HTTP/1.1";
    const body = `15\r\n{"internal_id":"${coding.slice(0, 3)}"}`;
    const received = await exchange(
      `${line}\r\n${POST_FIELDS}Transfer-Encoding: ${coding}\r\nConnection: close\r\n\r\n${body}\r\n${CHUNKED_BODY}`,
    );
    expect(statusesIn(received)).toStrictEqual(["HTTP/1.1 201"]);
  });
});

describe("the target *", () => {
  test.each(["GET", "HEAD", "POST", "DELETE"])("is rejected with %s", async (method) => {
    const received = await exchange(`${method} * HTTP/1.1\r\n${POST_FIELDS}Connection: close\r\n\r\n`);
    expect(statusesIn(received)).toStrictEqual(["HTTP/1.1 400"]);
  });

  test("is accepted with OPTIONS", async () => {
    const received = await exchange(`OPTIONS * HTTP/1.1\r\n${FIELDS}Connection: close\r\n\r\n`);
    expect(statusesIn(received)).toStrictEqual(["HTTP/1.1 204"]);
  });
});

describe("HEAD of a metered route", () => {
  const ask = async (method: string, more: Record<string, string> = {}): Promise<string> => {
    const fields = Object.entries({ ...more, Connection: "close" }).map(([name, value]) => `${name}: ${value}\r\n`);
    const text = await exchange(`${method} ${QUERY_TARGET} HTTP/1.1\r\n${FIELDS}${fields.join("")}\r\n`);
    return text.replace(/^(?:Date|X-Request-Id|RateLimit): .*\r\n/gm, "");
  };

  test("is the same whatever the result is, and computes nothing", async () => {
    digitCount = 1;
    const [short] = await Promise.all([ask("HEAD"), ask("HEAD", { "Accept-Encoding": "gzip" })]);
    digitCount = 12;
    expect(await ask("HEAD")).toBe(short);
    expect(await ask("HEAD", { "Accept-Encoding": "gzip, br" })).toBe(short);
    expect(hazardRisk).not.toHaveBeenCalled();
    expect(short).toMatch(/^HTTP\/1\.1 200 /);
    expect(short).toMatch(/^X-Usage-Units: 0\r$/m);
    expect(short).not.toMatch(/^(?:Content-Length|Transfer-Encoding)/im);
    expect(host.ledger.entries).toHaveLength(0);
  });

  test("has the ETag of GET and rejects the requests that GET rejects", async () => {
    const [head, get] = await Promise.all([ask("HEAD"), ask("GET")]);
    const tagOf = (text: string): string | undefined => /^ETag: (.*)\r$/m.exec(text)?.[1];
    expect(tagOf(head)).toBeDefined();
    expect(tagOf(head)).toBe(tagOf(get));
    expect(await ask("HEAD", { "If-None-Match": tagOf(get) ?? "" })).toMatch(/^HTTP\/1\.1 304 /);
    const invalid = await exchange(`HEAD /api/v1/hazard-risk?x=1 HTTP/1.1\r\n${FIELDS}Connection: close\r\n\r\n`);
    expect(statusesIn(invalid)).toStrictEqual(["HTTP/1.1 400"]);
  });
});
