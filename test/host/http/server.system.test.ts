import { connect } from "node:net";
import { once } from "node:events";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Problem } from "../../../src/host/problems/problem.ts";
import { VALID_QUERY } from "../../hazard/queries.ts";
import {
  parseResponses,
  fakeAtlas,
  exchangeBytes,
  HEADER_LINES,
  type TestHost,
  startTestHost,
  quarterResult,
  type RawResponse,
  QUERY_TARGET,
} from "../testHost.ts";
import type { HazardResult } from "../../../src/contract/wireTypes.ts";

const requestHead = (target: string, ...fields: string[]): string =>
  [`GET ${target} HTTP/1.1`, "Host: h", ...HEADER_LINES, ...fields, "", ""].join("\r\n");

let host: TestHost;
beforeAll(async () => {
  host = await startTestHost();
});
afterAll(async () => {
  await host.close();
});

function onlyProblem(text: string): RawResponse & { readonly problem: Problem } {
  const answers = parseResponses(text);
  expect(answers).toHaveLength(1);
  const [answer] = answers as [RawResponse];
  expect(answer.headers.get("content-type")).toBe("application/problem+json");
  const problem = JSON.parse(answer.body) as Problem;
  expect(problem.status).toBe(answer.status);
  expect(problem.request_id).toBe(answer.headers.get("x-request-id"));
  return { ...answer, problem };
}

/** Returns an atlas that delays its responses until `release` is called. */
function heldAtlas() {
  let release = (): void => undefined;
  const opened = new Promise<void>((resolve) => {
    release = resolve;
  });
  let reach = (): void => undefined;
  const reached = new Promise<void>((resolve) => {
    reach = resolve;
  });
  let concurrentCount = 0;
  let concurrentCountMax = 0;
  let count = 0;
  const atlas = fakeAtlas(async (query): Promise<HazardResult> => {
    count++;
    concurrentCountMax = Math.max(concurrentCountMax, ++concurrentCount);
    reach();
    await opened;
    concurrentCount--;
    return quarterResult(query);
  });
  return { atlas, release, reached, counts: () => ({ count, concurrentCountMax }) };
}

describe("paths and methods", () => {
  test("/healthz reports that the process is alive", async () => {
    const response = await fetch(`${host.address.url}/healthz?at=1`);
    expect([response.status, await response.json()]).toStrictEqual([200, { status: "ok" }]);
    expect(response.headers.get("x-request-id")).toMatch(/^[0-9a-f-]{36}$/);
    expect(response.headers.get("x-atlas-release")).toBeNull();
  });

  test.each([
    "/api/v1/hazard-risk/",
    "/api/v1/Hazard-Risk",
    "/api/v2/hazard-risk",
    "/latest/healthz",
    "//healthz",
    "/%00",
    "/%zz",
  ])("returns 404 route_not_found for %s", async (path) => {
    const { status, problem } = onlyProblem(
      await exchangeBytes(host.address.port, requestHead(path, "Connection: close")),
    );
    expect([status, problem.code]).toStrictEqual([404, "route_not_found"]);
  });

  test.each(["POST", "PUT", "DELETE", "PATCH", "TRACE", "CONNECT"])(
    "returns 405 method_not_allowed with Allow for %s",
    async (method) => {
      const text = await exchangeBytes(
        host.address.port,
        requestHead(QUERY_TARGET, "Connection: close").replace("GET", method),
      );
      const { status, headers, problem } = onlyProblem(text);
      expect([status, problem.code]).toStrictEqual([405, "method_not_allowed"]);
      expect(headers.get("allow")).toBe("GET, HEAD, OPTIONS");
    },
  );

  test("HEAD returns the headers of GET without the body", async () => {
    const getResponse = await host.ask(QUERY_TARGET);
    const size = Buffer.byteLength(await getResponse.text());
    const headResponse = await host.ask(QUERY_TARGET, { method: "HEAD" });
    expect([headResponse.status, await headResponse.text()]).toStrictEqual([200, ""]);
    expect(headResponse.headers.get("content-length")).toBe(String(size));
    expect(headResponse.headers.get("x-atlas-release")).toBe("test-1");
    expect((await fetch(`${host.address.url}/nowhere`, { method: "HEAD" })).status).toBe(404);
  });

  test("accepts absolute targets", async () => {
    const head = requestHead(`http://elsewhere.example${QUERY_TARGET}`, "Connection: close");
    const [answer] = parseResponses(await exchangeBytes(host.address.port, head));
    expect([answer?.status, answer?.body]).toStrictEqual([200, JSON.stringify(quarterResult(VALID_QUERY))]);
  });

  test("ignores request ids sent by clients", async () => {
    const response = await fetch(`${host.address.url}/healthz`, { headers: { "X-Request-Id": "mine" } });
    expect(response.headers.get("x-request-id")).not.toBe("mine");
  });

  test("gives every response a unique request id", async () => {
    const ids = await Promise.all(
      Array.from({ length: 20 }, async () => (await fetch(`${host.address.url}/healthz`)).headers.get("x-request-id")),
    );
    expect(new Set(ids).size).toBe(20);
  });
});

describe("GET with a body", () => {
  test.each([
    ["Content-Length", "Content-Length: 4", "ab=c"],
    ["Transfer-Encoding", "Transfer-Encoding: chunked", "4\r\nab=c\r\n0\r\n\r\n"],
  ])("returns 400 and closes the connection if declared by %s", async (header, field, body) => {
    const text = await exchangeBytes(
      host.address.port,
      requestHead(QUERY_TARGET, field) + body + requestHead(QUERY_TARGET),
    );
    const { status, headers, problem } = onlyProblem(text);
    expect([status, problem.code]).toStrictEqual([400, "invalid_request"]);
    expect(problem.errors).toMatchObject([{ header, code: "not_expected" }]);
    expect(headers.get("connection")).toBe("close");
  });

  test("is rejected without 100 Continue", async () => {
    const head = requestHead(QUERY_TARGET, "Content-Length: 4", "Expect: 100-continue");
    const { status } = onlyProblem(await exchangeBytes(host.address.port, head));
    expect(status).toBe(400);
  });

  test("is accepted with Content-Length 0", async () => {
    const head = requestHead(QUERY_TARGET, "Content-Length: 0", "Connection: close");
    const [answer] = parseResponses(await exchangeBytes(host.address.port, head));
    expect(answer?.status).toBe(200);
  });
});

describe("parser errors", () => {
  test.each([
    ["text that is not HTTP", "hello\r\n\r\n"],
    ["a bare line feed", "GET / HTTP/1.1\nHost: h\n\n"],
    ["two lengths", requestHead(QUERY_TARGET, "Content-Length: 1", "Content-Length: 2")],
    ["a length and an encoding", requestHead(QUERY_TARGET, "Content-Length: 1", "Transfer-Encoding: chunked")],
    ["a null character", requestHead(QUERY_TARGET, "X: a\0b")],
    ["an unknown method", requestHead(QUERY_TARGET).replace("GET", "BREW")],
    ["a TLS greeting", Buffer.from("16030100c8010000c40303", "hex")],
    ["no Host", "GET / HTTP/1.1\r\nConnection: close\r\n\r\n"],
    ["two Hosts", requestHead(QUERY_TARGET, "Host: h", "Connection: close")],
  ])("returns 400 http_malformed for %s", async (_what, bytes) => {
    const { status, headers, problem } = onlyProblem(await exchangeBytes(host.address.port, bytes));
    expect([status, problem.code]).toStrictEqual([400, "http_malformed"]);
    expect(headers.get("connection")).toBe("close");
  });

  test("returns 431 headers_too_large", async () => {
    const head = requestHead(QUERY_TARGET, `X: ${"x".repeat(20_000)}`);
    const { status, problem } = onlyProblem(await exchangeBytes(host.address.port, head));
    expect([status, problem.code]).toStrictEqual([431, "headers_too_large"]);
  });

  test("returns 408 request_timeout for an incomplete request", async () => {
    const hasty = await startTestHost({ timeouts: { headersTimeoutMs: 50, requestTimeoutMs: 100, checkEveryMs: 20 } });
    try {
      const { status, problem } = onlyProblem(await exchangeBytes(hasty.address.port, "GET / HTTP/1.1\r\nHos"));
      expect([status, problem.code, problem.retryable]).toStrictEqual([408, "request_timeout", true]);
    } finally {
      await hasty.close();
    }
  });

  test("are reported after the responses to earlier requests", async () => {
    const slow = heldAtlas();
    const other = await startTestHost({ atlas: slow.atlas });
    try {
      const text = exchangeBytes(
        other.address.port,
        `${requestHead(QUERY_TARGET)}${requestHead(QUERY_TARGET)}nonsense\r\n\r\n`,
      );
      await slow.reached;
      slow.release();
      const answers = parseResponses(await text);
      expect(answers.map(({ status }) => status)).toStrictEqual([200, 200, 400]);
      expect(other.records.map(({ status }) => status)).toStrictEqual([200, 200, 400]);
    } finally {
      await other.close();
    }
  });

  test("do not affect other connections", async () => {
    await Promise.all(Array.from({ length: 50 }, () => exchangeBytes(host.address.port, "\x00\xff\r\n\r\n")));
    expect((await fetch(`${host.address.url}/healthz`)).status).toBe(200);
  });
});

describe("a connection", () => {
  test("processes one request at a time, queues a few, and closes when more are pipelined", async () => {
    const slow = heldAtlas();
    const other = await startTestHost({ atlas: slow.atlas });
    try {
      const text = exchangeBytes(other.address.port, requestHead(QUERY_TARGET).repeat(2000));
      await slow.reached;
      slow.release();
      const answers = parseResponses(await text);
      expect(answers).toHaveLength(9);
      expect(new Set(answers.map(({ status }) => status))).toStrictEqual(new Set([200]));
      expect(answers.map(({ headers }) => headers.get("connection")).filter((value) => value === "close")).toHaveLength(
        1,
      );
      expect(slow.counts()).toStrictEqual({ count: 9, concurrentCountMax: 1 });
    } finally {
      await other.close();
    }
  });

  test("answers pipelined requests in order and stays open", async () => {
    const text = await exchangeBytes(
      host.address.port,
      requestHead("/healthz") + requestHead("/nowhere") + requestHead(QUERY_TARGET, "Connection: close"),
    );
    expect(parseResponses(text).map(({ status }) => status)).toStrictEqual([200, 404, 200]);
  });

  test("that closes while requests are queued does not affect others", async () => {
    const slow = heldAtlas();
    const other = await startTestHost({ atlas: slow.atlas });
    try {
      const socket = connect({ host: "127.0.0.1", port: other.address.port });
      socket.write(requestHead(QUERY_TARGET).repeat(3));
      await slow.reached;
      socket.destroy();
      await once(socket, "close");
      expect((await fetch(`${other.address.url}/healthz`)).status).toBe(200);
      slow.release();
    } finally {
      await other.close();
    }
    expect(slow.counts().count).toBe(1);
  });
});

describe("close", () => {
  test("finishes requests in progress, sends Connection: close, and accepts no new connections", async () => {
    const slow = heldAtlas();
    // Long enough that only the shutdown can end the unused connection.
    const other = await startTestHost({ atlas: slow.atlas, timeouts: { headersTimeoutMs: 30_000 } });
    const idle = connect({ host: "127.0.0.1", port: other.address.port });
    await once(idle, "connect");
    const used = connect({ host: "127.0.0.1", port: other.address.port });
    used.write(requestHead("/healthz"));
    await once(used, "data");
    const asked = other.ask(QUERY_TARGET);
    await slow.reached;

    let isClosed = false;
    const connectionsClosed = Promise.all([once(idle.resume(), "close"), once(used.resume(), "close")]);
    const closing = other.close().then(() => (isClosed = true));
    await connectionsClosed;
    await expect(fetch(`${other.address.url}/healthz`)).rejects.toThrow("fetch failed");
    expect(isClosed).toBe(false);

    slow.release();
    const response = await asked;
    expect([response.status, response.headers.get("connection")]).toStrictEqual([200, "close"]);
    expect(await response.json()).toStrictEqual(quarterResult(VALID_QUERY));
    await closing;
  });

  test("aborts requests that do not finish in time", async () => {
    const slow = heldAtlas();
    const other = await startTestHost({ atlas: slow.atlas, timeouts: { drainTimeoutMs: 50 } });
    const asked = other.ask(QUERY_TARGET);
    await slow.reached;
    await Promise.all([expect(asked).rejects.toThrow("fetch failed"), other.close()]);
    slow.release();
  });

  test("can be called twice", async () => {
    const other = await startTestHost();
    await Promise.all([other.close(), other.close()]);
    await expect(other.close()).resolves.toBeUndefined();
  });
});

describe("listening", () => {
  test.each(["127.0.0.1", "127.0.0.2", "localhost"])("%s accepts only local connections", async (name) => {
    const other = await startTestHost({ host: name });
    try {
      expect(other.address.url).toMatch(/^http:\/\/127\.0\.0\.[12]:[0-9]+$/);
      expect((await fetch(`${other.address.url}/healthz`)).status).toBe(200);
    } finally {
      await other.close();
    }
  });

  test("0.0.0.0 accepts connections to all addresses", async () => {
    const other = await startTestHost({ host: "0.0.0.0" });
    try {
      expect((await fetch(`http://127.0.0.1:${other.address.port}/healthz`)).status).toBe(200);
    } finally {
      await other.close();
    }
  });

  test.each([
    ["", /host must be an IP address or a host name \(got ""\)/],
    ["203.0.113.1", /this machine does not have this address/],
  ])("rejects host %o with a reason", async (name, reason) => {
    await expect(startTestHost({ host: name })).rejects.toMatchObject({
      code: "configuration_invalid",
      message: expect.stringMatching(reason) as string,
    });
  });

  test.each([-1, 65_536, 80.5, NaN])("rejects port %s", async (port) => {
    await expect(startTestHost({ port })).rejects.toMatchObject({
      code: "configuration_invalid",
    });
  });

  test("names the port if it is in use", async () => {
    const { port } = host.address;
    await expect(startTestHost({ port })).rejects.toMatchObject({
      code: "configuration_invalid",
      message: expect.stringContaining(`port ${port} of 127.0.0.1`) as string,
    });
  });

  test("a failing log does not affect responses", async () => {
    const other = await startTestHost({
      log: () => {
        throw new Error("disk full");
      },
    });
    try {
      expect((await fetch(`${other.address.url}/healthz`)).status).toBe(200);
      expect((await fetch(`${other.address.url}/healthz`)).status).toBe(200);
    } finally {
      await other.close();
    }
  });
});
