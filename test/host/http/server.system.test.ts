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

/** Returns the response in a text that must contain exactly one, with its problem document. */
function onlyProblem(text: string): RawResponse & { readonly problem: Problem } {
  const responses = parseResponses(text);
  expect(responses).toHaveLength(1);
  const [response] = responses as [RawResponse];
  expect(response.headers.get("content-type")).toBe("application/problem+json");
  const problem = JSON.parse(response.body) as Problem;
  expect(problem.status).toBe(response.status);
  expect(problem.request_id).toBe(response.headers.get("x-request-id"));
  return { ...response, problem };
}

/** The head of a request with a body in chunks. */
const chunkedHead = requestHead("/x", "Transfer-Encoding: chunked").replace("GET", "POST");

/** Returns an atlas that delays its responses until `release` is called. */
function blockingAtlas() {
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

  test("HEAD of a metered route returns the ETag of GET, and neither a body nor its size", async () => {
    const getResponse = await host.ask(QUERY_TARGET, { headers: { "Accept-Encoding": "identity" } });
    const headResponse = await host.ask(QUERY_TARGET, { method: "HEAD" });
    expect([headResponse.status, await headResponse.text()]).toStrictEqual([200, ""]);
    expect(headResponse.headers.get("etag")).toBe(getResponse.headers.get("etag"));
    expect(headResponse.headers.get("content-length")).toBeNull();
    expect(headResponse.headers.get("x-usage-units")).toBe("0");
    expect(headResponse.headers.get("x-atlas-release")).toBe("test-1");
    expect((await fetch(`${host.address.url}/nowhere`, { method: "HEAD" })).status).toBe(404);
  });

  test("accepts absolute targets", async () => {
    const head = requestHead(`http://elsewhere.example${QUERY_TARGET}`, "Connection: close");
    const [response] = parseResponses(await exchangeBytes(host.address.port, head));
    expect([response?.status, response?.body]).toStrictEqual([200, JSON.stringify(quarterResult(VALID_QUERY))]);
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
  ])("gets 400 and a closed connection if declared by %s", async (header, field, body) => {
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
    const [response] = parseResponses(await exchangeBytes(host.address.port, head));
    expect(response?.status).toBe(200);
  });
});

describe("malformed requests", () => {
  test.each([
    ["text that is not HTTP", "hello\r\n\r\n"],
    ["a bare line feed", "GET / HTTP/1.1\nHost: h\n\n"],
    ["two Content-Length fields", requestHead(QUERY_TARGET, "Content-Length: 1", "Content-Length: 2")],
    [
      "both Content-Length and Transfer-Encoding",
      requestHead(QUERY_TARGET, "Content-Length: 1", "Transfer-Encoding: chunked"),
    ],
    ["a null character", requestHead(QUERY_TARGET, "X: a\0b")],
    ["an unknown method", requestHead(QUERY_TARGET).replace("GET", "BREW")],
    ["a TLS ClientHello", Buffer.from("16030100c8010000c40303", "hex")],
    ["no Host field", "GET / HTTP/1.1\r\nConnection: close\r\n\r\n"],
    ["two Host fields", requestHead(QUERY_TARGET, "Host: h", "Connection: close")],
  ])("get 400 http_malformed: %s", async (_what, bytes) => {
    const { status, headers, problem } = onlyProblem(await exchangeBytes(host.address.port, bytes));
    expect([status, problem.code]).toStrictEqual([400, "http_malformed"]);
    expect(headers.get("connection")).toBe("close");
  });

  test("get 431 headers_too_large if the header fields are too long", async () => {
    const head = requestHead(QUERY_TARGET, `X: ${"x".repeat(20_000)}`);
    const { status, problem } = onlyProblem(await exchangeBytes(host.address.port, head));
    expect([status, problem.code]).toStrictEqual([431, "headers_too_large"]);
  });

  test("get 408 request_timeout if they remain incomplete", async () => {
    const hostWithShortTimeouts = await startTestHost({
      timeouts: { headersTimeoutMs: 50, requestTimeoutMs: 100, checkEveryMs: 20 },
    });
    try {
      const { status, problem } = onlyProblem(
        await exchangeBytes(hostWithShortTimeouts.address.port, "GET / HTTP/1.1\r\nHos"),
      );
      expect([status, problem.code, problem.retryable]).toStrictEqual([408, "request_timeout", true]);
    } finally {
      await hostWithShortTimeouts.close();
    }
  });

  test("are not answered behind a request, whose response is the last of the connection", async () => {
    const slow = blockingAtlas();
    const other = await startTestHost({ atlas: slow.atlas });
    try {
      const text = exchangeBytes(other.address.port, `${requestHead(QUERY_TARGET)}nonsense\r\n\r\n`);
      await slow.reached;
      slow.release();
      const responses = parseResponses(await text);
      expect(responses.map(({ status, headers }) => [status, headers.get("connection")])).toStrictEqual([
        [200, "close"],
      ]);
      expect(other.records.map(({ status }) => status)).toStrictEqual([200]);
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
  test.each([
    ["one", requestHead(QUERY_TARGET)],
    ["50", requestHead(QUERY_TARGET).repeat(50)],
    ["one with a body", `${requestHead("/x", "Content-Length: 7").replace("GET", "POST")}[1,2,3]`],
    ["requests with long headers", requestHead("/healthz", `X-Padding: ${"x".repeat(12_000)}`).repeat(30)],
  ])("answers the first of several pipelined requests, and closes: %s more", async (_, more) => {
    const slow = blockingAtlas();
    const other = await startTestHost({ atlas: slow.atlas });
    try {
      const text = exchangeBytes(other.address.port, requestHead(QUERY_TARGET) + more);
      await slow.reached;
      for (let i = 0; i < 20; i++) await (await fetch(`${other.address.url}/healthz`)).text();
      slow.release();
      const responses = parseResponses(await text);
      expect(responses.map(({ status, headers }) => [status, headers.get("connection")])).toStrictEqual([
        [200, "close"],
      ]);
      expect(slow.counts()).toStrictEqual({ count: 1, concurrentCountMax: 1 });
    } finally {
      await other.close();
    }
  });

  test("reads a body no further that is pipelined behind a request in progress", async () => {
    const slow = blockingAtlas();
    const other = await startTestHost({ atlas: slow.atlas });
    try {
      const socket = connect({ host: "127.0.0.1", port: other.address.port });
      socket.on("error", () => undefined);
      socket.write(requestHead(QUERY_TARGET));
      await slow.reached;
      socket.write(requestHead("/x", `Content-Length: ${16 << 20}`).replace("GET", "POST"));
      socket.write(Buffer.alloc(16 << 20));
      for (let i = 0; i < 50; i++) await (await fetch(`${other.address.url}/healthz`)).text();
      // The rest waits in this process and in the buffers of the system.
      expect(socket.writableLength).toBeGreaterThan(4 << 20);
      socket.destroy();
      slow.release();
    } finally {
      await other.close();
    }
  });

  test.each([
    ["requests", requestHead("/healthz").repeat(500)],
    ["bodies in chunks of one byte", chunkedHead + "1\r\nx\r\n".repeat(40_000)],
  ])("is closed at once if %s are pipelined without end, and no further one is processed", async (_, flood) => {
    const slow = blockingAtlas();
    const other = await startTestHost({ atlas: slow.atlas, adminPort: 0 });
    try {
      const socket = connect({ host: "127.0.0.1", port: other.address.port });
      socket.on("error", () => undefined);
      socket.write(requestHead(QUERY_TARGET));
      await slow.reached;
      const closed = new Promise<void>((resolve) => socket.resume().once("close", () => resolve()));
      socket.write(flood);
      await closed;
      expect(socket.bytesRead).toBe(0);
      const readMetrics = async (): Promise<string> => (await fetch(`${other.adminUrl}/metrics`)).text();
      slow.release();
      await expect.poll(readMetrics).toMatch(/^isotherm_requests_open 0$/m);
    } finally {
      await other.close();
    }
    expect(slow.counts().count).toBe(1);
  });

  test("stays open while a request is processed, however long it is inactive", async () => {
    const slow = blockingAtlas();
    const other = await startTestHost({ atlas: slow.atlas, timeouts: { inactivityTimeoutMs: 200 } });
    try {
      const send = (): Promise<string> =>
        exchangeBytes(other.address.port, requestHead(QUERY_TARGET, "Connection: close"));
      let text = send();
      const isClosed = (): Promise<boolean> => Promise.race([text.then(() => true), slow.reached.then(() => false)]);
      // On a busy machine, the connection may be inactive for too long before its request is read.
      while (await isClosed()) text = send();
      // The timeout of a connection that is opened later ends later.
      const idle = connect({ host: "127.0.0.1", port: other.address.port });
      await new Promise<void>((resolve) => idle.resume().once("close", () => resolve()));
      slow.release();
      expect(parseResponses(await text).map(({ status }) => status)).toStrictEqual([200]);
    } finally {
      await other.close();
    }
  });

  test("that closes behind a request in progress does not affect others", async () => {
    const slow = blockingAtlas();
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
    const slow = blockingAtlas();
    // Long enough that only the shutdown can end the unused connection.
    const other = await startTestHost({ atlas: slow.atlas, timeouts: { headersTimeoutMs: 30_000 } });
    const idle = connect({ host: "127.0.0.1", port: other.address.port });
    await once(idle, "connect");
    const used = connect({ host: "127.0.0.1", port: other.address.port });
    used.write(requestHead("/healthz"));
    await once(used, "data");
    const pendingResponse = other.ask(QUERY_TARGET);
    await slow.reached;

    let isClosed = false;
    const connectionsClosed = Promise.all([once(idle.resume(), "close"), once(used.resume(), "close")]);
    const closing = other.close().then(() => (isClosed = true));
    await connectionsClosed;
    await expect(fetch(`${other.address.url}/healthz`)).rejects.toThrow("fetch failed");
    expect(isClosed).toBe(false);

    slow.release();
    const response = await pendingResponse;
    expect([response.status, response.headers.get("connection")]).toStrictEqual([200, "close"]);
    expect(await response.json()).toStrictEqual(quarterResult(VALID_QUERY));
    await closing;
  });

  test("aborts requests that do not finish in time", async () => {
    const slow = blockingAtlas();
    const other = await startTestHost({ atlas: slow.atlas, timeouts: { drainTimeoutMs: 50 } });
    const pendingResponse = other.ask(QUERY_TARGET);
    await slow.reached;
    await Promise.all([expect(pendingResponse).rejects.toThrow("fetch failed"), other.close()]);
    slow.release();
  });

  test("can be called again", async () => {
    const other = await startTestHost();
    await Promise.all([other.close(), other.close()]);
    await expect(other.close()).resolves.toBeUndefined();
  });
});

describe("the address to listen on", () => {
  test.each(["127.0.0.1", "127.0.0.2", "localhost"])("is the loopback address for host %s", async (name) => {
    const other = await startTestHost({ host: name });
    try {
      expect(other.address.url).toMatch(/^http:\/\/127\.0\.0\.[12]:[0-9]+$/);
      expect((await fetch(`${other.address.url}/healthz`)).status).toBe(200);
    } finally {
      await other.close();
    }
  });

  test("includes the loopback address for host 0.0.0.0", async () => {
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
  ])("cannot have host %o, for which the error gives the reason", async (name, reason) => {
    await expect(startTestHost({ host: name })).rejects.toMatchObject({
      code: "configuration_invalid",
      message: expect.stringMatching(reason) as string,
    });
  });

  test.each([-1, 65_536, 80.5, NaN])("cannot have port %s", async (port) => {
    await expect(startTestHost({ port })).rejects.toMatchObject({
      code: "configuration_invalid",
    });
  });

  test("is named in the error if its port is already in use", async () => {
    const { port } = host.address;
    await expect(startTestHost({ port })).rejects.toMatchObject({
      code: "configuration_invalid",
      message: expect.stringContaining(`port ${port} of 127.0.0.1`) as string,
    });
  });
});

test("an error in the log function does not affect responses", async () => {
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
