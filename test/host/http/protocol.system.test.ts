import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { eventually } from "../../eventually.ts";
import { VALID_QUERY } from "../../hazard/queries.ts";
import {
  parseResponses,
  fakeAtlas,
  exchangeBytes,
  HEADER_LINES,
  type TestHost,
  startTestHost,
  quarterResult,
  QUERY_TARGET,
} from "../testHost.ts";

const head = (target: string, ...fields: string[]): string =>
  [`GET ${target} HTTP/1.1`, "Host: h", ...HEADER_LINES, ...fields, "", ""].join("\r\n");
const CLOSE = "Connection: close";

let host: TestHost;
beforeAll(async () => {
  host = await startTestHost();
});
afterEach(() => {
  vi.restoreAllMocks();
});
afterAll(async () => {
  await host.close();
});

describe("unusual requests", () => {
  test.each([
    ["ignores an upgrade to WebSocket", ["Upgrade: websocket", "Connection: upgrade, close"]],
    [
      "ignores an upgrade to HTTP/2",
      ["Upgrade: h2c", "HTTP2-Settings: AAMAAABkAAQAAP__", "Connection: upgrade, close"],
    ],
    ["ignores unknown expectations", ["Expect: the-unexpected", CLOSE]],
    ["accepts the header TE: trailers", ["TE: trailers", CLOSE]],
  ])("%s", async (_what, fields) => {
    const [answer] = parseResponses(await exchangeBytes(host.address.port, head(QUERY_TARGET, ...fields)));
    expect([answer?.status, answer?.body]).toStrictEqual([200, JSON.stringify(quarterResult(VALID_QUERY))]);
    expect(answer?.headers.has("upgrade")).toBe(false);
  });

  test("closes the connection of an upgrade, so that no body of a pipelined request is taken for a request", async () => {
    const socket = connect(host.address.port, "127.0.0.1");
    const lost = head(QUERY_TARGET).replace("GET", "POST").replace(/\r\n$/, "Content-Length: 1000\r\n\r\n");
    socket.write(head(QUERY_TARGET, "Upgrade: h2c", "Connection: Upgrade, HTTP2-Settings") + lost);
    let received = "";
    socket.on("data", (chunk: Buffer) => {
      if (received === "") socket.write(head(QUERY_TARGET, CLOSE));
      received += chunk.toString();
    });
    socket.on("error", () => undefined);
    await once(socket, "close");
    expect(parseResponses(received).map(({ status }) => status)).toStrictEqual([200]);
    expect(received).toMatch(/\r\nConnection: close\r\n/i);
  });

  test("answers HTTP/1.0 without a Host header and closes the connection", async () => {
    const lines = [`GET ${QUERY_TARGET} HTTP/1.0`, ...HEADER_LINES, "", ""];
    const text = await exchangeBytes(host.address.port, lines.join("\r\n"));
    expect(parseResponses(text).map(({ status }) => status)).toStrictEqual([200]);
  });

  test("treats an absolute target without a path as /", async () => {
    for (const target of ["http://elsewhere", "https://elsewhere:8443?x=1", "http://elsewhere/", "HTTP://elsewhere"]) {
      const [answer] = parseResponses(await exchangeBytes(host.address.port, head(target, CLOSE)));
      expect([target, answer?.status, (JSON.parse(answer?.body ?? "") as { service?: string }).service]).toStrictEqual([
        target,
        200,
        "isotherm",
      ]);
    }
  });

  test("reads all of 2,400 header fields", async () => {
    const many = Array.from({ length: 2_400 }, () => "a: b");
    const [valid, repeatedHost, repeatedKey] = await Promise.all(
      [[], ["Host: h"], ["X-API-Key: another"]].map(async (last) => {
        const [answer] = parseResponses(
          await exchangeBytes(host.address.port, head(QUERY_TARGET, CLOSE, ...many, ...last)),
        );
        return [answer?.status, (JSON.parse(answer?.body ?? "") as { code?: string }).code];
      }),
    );
    expect(valid).toStrictEqual([200, undefined]);
    expect(repeatedHost).toStrictEqual([400, "http_malformed"]);
    expect(repeatedKey).toStrictEqual([401, "api_key_invalid"]);
  });

  test("returns 404 for paths with null characters, spaces, empty or dot segments", async () => {
    for (const path of [
      "/api/v1/hazard-risk%00",
      "/api/v1/%20hazard-risk",
      "/api/v1//hazard-risk",
      "/api/v1/../v1/hazard-risk",
    ]) {
      const [answer] = parseResponses(await exchangeBytes(host.address.port, head(path, CLOSE)));
      expect([path, answer?.status]).toStrictEqual([path, 404]);
    }
  });

  test("answers one of 10,000 pipelined requests at most, closes the connection, and keeps serving others", async () => {
    const text = exchangeBytes(host.address.port, head(QUERY_TARGET).repeat(10_000));
    expect((await host.ask(QUERY_TARGET)).status).toBe(200);
    expect((await text).split("HTTP/1.1 ").length - 1).toBeLessThanOrEqual(1);
  });
});

describe("CONNECT", () => {
  test.each([
    ["immediately", () => Promise.resolve()],
    ["after the response", (socket: Socket) => once(socket, "data")],
  ])("is rejected, and a connection reset %s does not affect the service", async (_when, waitForMoment) => {
    const unexpected: unknown[] = [];
    const onError = (error: unknown): void => void unexpected.push(error);
    process.on("uncaughtException", onError);
    for (let i = 0; i < 50; i++) {
      const socket = connect({ host: "127.0.0.1", port: host.address.port });
      await once(socket, "connect");
      await new Promise<void>((resolve) => socket.write("CONNECT h:443 HTTP/1.1\r\nHost: h\r\n\r\n", () => resolve()));
      await waitForMoment(socket);
      socket.resetAndDestroy();
    }
    expect((await host.ask(QUERY_TARGET)).status).toBe(200);
    process.off("uncaughtException", onError);
    expect(unexpected).toStrictEqual([]);
  });

  test("gets no response behind other requests", async () => {
    const connecting = "CONNECT h:443 HTTP/1.1\r\nHost: h\r\n\r\n";
    const answers = parseResponses(await exchangeBytes(host.address.port, head(QUERY_TARGET) + connecting));
    expect(answers.map(({ status }) => status)).toStrictEqual([200]);
  });
});

describe("a body with a method that has none", () => {
  test.each(["OPTIONS", "DELETE"])("%s: responds once and closes the connection", async (method) => {
    const request = `${head(QUERY_TARGET, "Content-Length: 4").replace("GET", method)}ab=c`;
    const answers = parseResponses(await exchangeBytes(host.address.port, request + head(QUERY_TARGET)));
    expect(answers.map(({ status }) => status)).toStrictEqual([method === "OPTIONS" ? 204 : 405]);
    expect(answers[0]?.headers.get("connection")).toBe("close");
  });
});

describe("clients that never read", () => {
  test("are disconnected after the inactivity timeout", async () => {
    const wide = await startTestHost({
      atlas: fakeAtlas((query) => {
        const answer = quarterResult(query);
        // Several megabytes, more than the socket buffers hold.
        return Promise.resolve({ ...answer, results: Array.from({ length: 20_000 }, () => answer.results).flat() });
      }),
      timeouts: { inactivityTimeoutMs: 200 },
    });
    try {
      const socket = connect({ host: "127.0.0.1", port: wide.address.port });
      socket.on("error", () => undefined).pause();
      socket.write(head(QUERY_TARGET));
      await eventually(() => expect(wide.records).toHaveLength(1));
      expect((await fetch(`${wide.address.url}/healthz`)).status).toBe(200);
      const closed = once(socket, "close");
      socket.resume();
      await closed;
      expect(socket.bytesRead).toBeLessThan(20_000 * 500);
    } finally {
      await wide.close();
    }
  });
});

describe("streamed responses", () => {
  const CSV = "/latest/api/v1/usage?format=csv";

  test("are sent completely in chunks", async () => {
    await host.ask(QUERY_TARGET);
    const response = await host.ask(CSV);
    expect([response.status, response.headers.get("content-length")]).toStrictEqual([200, null]);
    expect(response.headers.get("content-type")).toMatch(/^text\/csv/);
    expect((await response.text()).trimEnd().split("\n").length).toBeGreaterThan(1);
  });

  test("that fail midway reach the client as truncated", async () => {
    const usage = vi.spyOn(host.ledger, "usage");
    const events = vi.spyOn(host.ledger, "events");
    let calls = 0;
    usage.mockImplementation(() => {
      if (++calls > 1) return Promise.reject(new Error("disk gone"));
      return Promise.resolve({ items: [{ requests: 1, units: 1 }], next: "more" });
    });
    events.mockImplementation(async function* () {
      await Promise.resolve();
      for (const entry of host.ledger.entries.slice(0, 1)) yield entry;
      throw new Error("disk gone");
    });
    await expect(host.ask(CSV).then((response) => response.text())).rejects.toThrow(/terminated|fetch failed/);
    usage.mockRestore();
    events.mockRestore();
    expect((await host.ask(QUERY_TARGET)).status).toBe(200);
  });

  test("are not started for HEAD", async () => {
    const response = await host.ask(CSV, { method: "HEAD" });
    expect([response.status, await response.text()]).toStrictEqual([200, ""]);
  });
});
