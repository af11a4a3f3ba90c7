import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { Worker } from "node:worker_threads";
import { afterEach, describe, expect, test, vi } from "vitest";
import { eventually } from "../../eventually.ts";
import type { Atlas } from "../../../src/hazard/answer.ts";
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
  ALIGNMENT_PATH,
} from "../testHost.ts";
import type { HazardResult } from "../../../src/contract/wireTypes.ts";

const REQUEST = [`GET ${QUERY_TARGET} HTTP/1.1`, "Host: h", ...HEADER_LINES, "", ""].join("\r\n");

const POST_HEADERS = `${["Host: h", ...HEADER_LINES, "Content-Type: application/json"].join("\r\n")}\r\n`;

/** Number of results of a wide response, which exceeds the socket buffers. */
const WIDE_COUNT = 40_000;

/** Returns an atlas whose responses have several megabytes. */
function wideAtlas(): Atlas {
  return fakeAtlas((query) => {
    const answer = quarterResult(query);
    return Promise.resolve({ ...answer, results: Array.from({ length: WIDE_COUNT }, () => answer.results).flat() });
  });
}

/** Opens an idle connection and returns everything received on it until it closes. */
async function idleConnection(
  host: TestHost,
  { hasSentRequest }: { readonly hasSentRequest: boolean },
): Promise<{ readonly socket: Socket; readonly received: Promise<string> }> {
  const socket = connect({ host: "127.0.0.1", port: host.address.port });
  await once(socket, "connect");
  let text = "";
  socket.setEncoding("latin1").on("data", (piece: string) => (text += piece));
  socket.on("error", () => undefined);
  if (hasSentRequest) {
    socket.write(REQUEST);
    await eventually(() => expect(host.ledger.entries).toHaveLength(1));
    await eventually(() => expect(text).toMatch(/\}$/));
    text = "";
  }
  // Wait until the host has accepted the connection: it then answers a later one.
  await eventually(async () => expect((await fetch(`${host.address.url}/healthz`)).status).toBe(200));
  return { socket, received: once(socket, "close").then(() => text) };
}

/** Waits until new connections are refused. */
async function untilRefused(host: TestHost): Promise<void> {
  const attempt = async (): Promise<unknown> => {
    const socket = connect({ host: "127.0.0.1", port: host.address.port });
    try {
      return await once(socket, "connect");
    } finally {
      socket.destroy();
    }
  };
  await eventually(() => expect(attempt()).rejects.toThrow("ECONNREFUSED"));
}

const hosts: TestHost[] = [];
async function openHost(options: Parameters<typeof startTestHost>[0] = {}): Promise<TestHost> {
  const host = await startTestHost(options);
  hosts.push(host);
  return host;
}
afterEach(async () => {
  await Promise.all(hosts.splice(0).map((host) => host.close()));
});

/** A client that sends requests on one connection until a response announces its end. */
class RepeatingClient {
  sentCount = 0;
  answeredCount = 0;
  /** Whether a response had `Connection: close`. */
  sawConnectionClose = false;
  #text = "";

  static run(port: number): { readonly client: RepeatingClient; readonly closed: Promise<void> } {
    const client = new RepeatingClient();
    const socket = connect({ host: "127.0.0.1", port });
    socket.setEncoding("latin1");
    socket.on("data", (piece: string) => client.#take(piece, socket));
    // A connection reset shows as a missing response.
    socket.on("error", () => undefined);
    socket.once("connect", () => client.#send(socket));
    return { client, closed: new Promise((resolve) => socket.once("close", () => resolve())) };
  }

  #send(socket: Socket): void {
    this.sentCount++;
    socket.write(REQUEST);
  }

  #take(piece: string, socket: Socket): void {
    this.#text += piece;
    const headEnd = this.#text.indexOf("\r\n\r\n");
    const size = Number(/^Content-Length: ([0-9]+)/im.exec(this.#text)?.[1]);
    if (headEnd < 0 || this.#text.length < headEnd + 4 + size) return;
    if (this.#text.startsWith("HTTP/1.1 200 ")) this.answeredCount++;
    this.sawConnectionClose = /^Connection: close/im.test(this.#text.slice(0, headEnd));
    this.#text = "";
    if (!this.sawConnectionClose) this.#send(socket);
  }
}

/** Opens connections on another thread, sends one request on each, and reports how many were answered. */
const CONCURRENT_CLIENTS = `
  const { connect } = require("node:net");
  const { parentPort, workerData } = require("node:worker_threads");
  const { port, request, count, written } = workerData;
  let left = count;
  let answered = 0;
  for (let i = 0; i < count; i++) {
    const socket = connect({ host: "127.0.0.1", port });
    let text = "";
    socket.setEncoding("latin1").on("data", (piece) => (text += piece)).on("error", () => undefined);
    socket.once("close", () => {
      if (text.startsWith("HTTP/1.1 200 ")) answered++;
      if (--left === 0) parentPort.postMessage(answered);
    });
    socket.write(request, () => {
      Atomics.add(written, 0, 1);
      Atomics.notify(written, 0);
    });
  }
`;

describe("shutdown under load", () => {
  test("answers every request of 64 busy clients and meters each response once", async () => {
    const host = await openHost();
    const runs = Array.from({ length: 64 }, () => RepeatingClient.run(host.address.port));
    await eventually(() => expect(runs.every(({ client }) => client.answeredCount > 3)).toBe(true));
    await host.close({ drainDelayMs: 50 });
    await Promise.all(runs.map(({ closed }) => closed));
    for (const { client } of runs) {
      expect([client.answeredCount, client.sawConnectionClose]).toStrictEqual([client.sentCount, true]);
    }
    const answered = runs.reduce((sum, { client }) => sum + client.answeredCount, 0);
    expect(host.ledger.entries).toHaveLength(answered);
    expect(new Set(host.ledger.entries.map(({ receipt }) => receipt)).size).toBe(answered);
  });

  test("answers requests that arrived while the event loop was blocked", async () => {
    const host = await openHost();
    const socket = connect({ host: "127.0.0.1", port: host.address.port });
    let text = "";
    socket.setEncoding("latin1").on("data", (piece: string) => (text += piece));
    const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
    socket.on("error", () => undefined).write(REQUEST);
    await eventually(() => expect(text).toContain("HTTP/1.1 200 "));
    text = "";
    const closing = host.close({ drainDelayMs: 20 });
    // The request is in the socket buffer when the delay is over; after this iteration of the event loop, timers run first.
    setImmediate(() => {
      socket.write(REQUEST);
      const untilMs = performance.now() + 60;
      while (performance.now() < untilMs);
    });
    await Promise.all([closing, closed]);
    expect(text).toMatch(/^HTTP\/1\.1 200 /);
    expect(host.ledger.entries).toHaveLength(2);
  });

  test("answers every connection that was pending while the event loop was blocked", async () => {
    const host = await openHost();
    const count = 200;
    const written = new Int32Array(new SharedArrayBuffer(4));
    const clients = new Worker(CONCURRENT_CLIENTS, {
      eval: true,
      workerData: { port: host.address.port, request: REQUEST, count, written },
    });
    const answers = once(clients, "message") as Promise<[number]>;
    const closing = host.close({ drainDelayMs: 20 });
    // The event loop is blocked and accepts no connection.
    while (Atomics.load(written, 0) < count) Atomics.wait(written, 0, Atomics.load(written, 0), 1000);
    await closing;
    expect(await answers).toStrictEqual([count]);
    expect(host.ledger.entries).toHaveLength(count);
  });

  test("answers requests on connections that are first used after the delay", async () => {
    const host = await openHost();
    const connections = await Promise.all(
      [true, false].map((hasSentRequest) => idleConnection(host, { hasSentRequest })),
    );
    const closing = host.close({ drainDelayMs: 1000 });
    await untilRefused(host);
    for (const { socket } of connections) socket.write(REQUEST);
    const texts = await Promise.all(connections.map(({ received }) => received));
    expect(texts.map((text) => text.match(/^HTTP\/1\.1 .*|^Connection: .*/gm))).toStrictEqual([
      ["HTTP/1.1 200 OK", "Connection: close"],
      ["HTTP/1.1 200 OK", "Connection: close"],
    ]);
    await closing;
    expect(host.ledger.entries).toHaveLength(3);
  });

  test("closes connections that are never used", async () => {
    const host = await openHost({ timeouts: { drainTimeoutMs: 3_600_000, keepAliveTimeoutMs: 3_600_000 } });
    const connections = await Promise.all(
      [true, false].map((hasSentRequest) => idleConnection(host, { hasSentRequest })),
    );
    await host.close({ drainDelayMs: 50 });
    expect(await Promise.all(connections.map(({ received }) => received))).toStrictEqual(["", ""]);
  });

  test("closes idle connections while a request is in progress", async () => {
    let release = (): void => undefined;
    const released = new Promise<void>((resolve) => (release = resolve));
    let isHeld = false;
    const atlas = fakeAtlas(async (query) => {
      if (isHeld) await released;
      return quarterResult(query);
    });
    const host = await openHost({ atlas });
    const { received } = await idleConnection(host, { hasSentRequest: true });
    isHeld = true;
    const inProgress = exchangeBytes(host.address.port, REQUEST);
    // A response to a later request shows that the earlier one has been read.
    expect((await fetch(`${host.address.url}/healthz`)).status).toBe(200);
    const closing = host.close();
    expect(await received).toBe("");
    release();
    expect(await inProgress).toMatch(/^HTTP\/1\.1 200 /);
    await closing;
  });

  test("closes idle connections once slow clients have read their responses", async () => {
    let isWide = false;
    const wide = wideAtlas();
    const atlas = fakeAtlas((query) => (isWide ? wide.hazardRisk(query) : Promise.resolve(quarterResult(query))));
    const host = await openHost({ atlas, timeouts: { drainTimeoutMs: 3_600_000, keepAliveTimeoutMs: 3_600_000 } });
    const { received } = await idleConnection(host, { hasSentRequest: true });
    isWide = true;
    const slow = connect({ host: "127.0.0.1", port: host.address.port });
    slow.on("error", () => undefined).pause();
    slow.write(REQUEST);
    await eventually(() => expect(host.ledger.entries).toHaveLength(2));
    const closing = host.close();
    await untilRefused(host);
    slow.resume();
    expect(await received).toBe("");
    await closing;
  });

  test("does not close a connection whose client has not read its response yet", async () => {
    const host = await openHost({ atlas: wideAtlas() });
    const socket = connect({ host: "127.0.0.1", port: host.address.port });
    const parts: Buffer[] = [];
    socket.on("data", (part: Buffer) => parts.push(part));
    const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
    socket.on("error", () => undefined).pause();
    socket.write(REQUEST);
    await eventually(() => expect(host.ledger.entries).toHaveLength(1));
    const closing = host.close();
    await untilRefused(host);
    socket.resume();
    await Promise.all([closing, closed]);
    const [answer] = parseResponses(Buffer.concat(parts).toString("latin1"));
    expect([answer?.status, (JSON.parse(answer?.body ?? "") as HazardResult).results.length]).toStrictEqual([
      200,
      WIDE_COUNT * VALID_QUERY.hazards.length,
    ]);
  });

  test("closes all connections when the drain timeout has passed", async () => {
    const host = await openHost({ atlas: wideAtlas(), timeouts: { drainTimeoutMs: 200 } });
    const unresponsive: Socket[] = [];
    for (const bytes of [
      REQUEST,
      "GET / HTTP/1.1\r\nHos",
      `POST ${ALIGNMENT_PATH} HTTP/1.1\r\n${POST_HEADERS}Content-Length: 1000\r\n\r\n[`,
      `POST ${ALIGNMENT_PATH} HTTP/1.1\r\n${POST_HEADERS}Transfer-Encoding: chunked\r\n\r\n1\r\n[\r\n`,
      `POST ${ALIGNMENT_PATH} HTTP/1.1\r\n${POST_HEADERS}Content-Length: 99999999\r\n\r\n[`,
      "CONNECT h:443 HTTP/1.1\r\nHost: h\r\n\r\n",
      "no HTTP\r\n\r\n",
      "",
    ]) {
      // These sockets neither read, nor end, nor react to the end of the connection.
      const socket = connect({ host: "127.0.0.1", port: host.address.port, allowHalfOpen: true });
      socket.on("error", () => undefined).pause();
      await once(socket, "connect");
      socket.write(bytes);
      unresponsive.push(socket);
    }
    await eventually(() => expect(host.ledger.entries).toHaveLength(1));
    await expect(host.close()).resolves.toBeUndefined();
    for (const socket of unresponsive) socket.destroy();
  });

  test("still returns 408 to slow clients", async () => {
    const timeouts = { headersTimeoutMs: 50, requestTimeoutMs: 100, checkEveryMs: 20, drainTimeoutMs: 60_000 };
    const host = await openHost({ timeouts });
    const socket = connect({ host: "127.0.0.1", port: host.address.port });
    let text = "";
    socket.setEncoding("latin1").on("data", (piece: string) => (text += piece));
    socket.on("error", () => undefined).write("GET / HTTP/1.1\r\nHos");
    await eventually(async () => expect((await fetch(`${host.address.url}/healthz`)).status).toBe(200));
    await host.close();
    expect(text).toMatch(/^HTTP\/1\.1 408 /);
  });

  test("waits for the ledger before it sends the last responses", async () => {
    const host = await openHost();
    const record = host.ledger.record.bind(host.ledger);
    let commit = (): void => undefined;
    const committed = new Promise<void>((resolve) => (commit = resolve));
    const recording = vi.spyOn(host.ledger, "record").mockImplementation(async (entry) => {
      await committed;
      return record(entry);
    });
    const asked = Array.from({ length: 8 }, () => host.ask(QUERY_TARGET));
    await eventually(() => expect(recording).toHaveBeenCalledTimes(8));
    let isClosed = false;
    const closing = host.close().then(() => (isClosed = true));
    // Pending connections are still accepted; then new ones are refused.
    await eventually(() => expect(fetch(`${host.address.url}/healthz`)).rejects.toThrow("fetch failed"));
    expect(isClosed).toBe(false);
    commit();
    for (const response of await Promise.all(asked)) {
      expect([response.status, response.headers.get("connection")]).toStrictEqual([200, "close"]);
    }
    await closing;
    expect(host.ledger.entries).toHaveLength(8);
  });
});

describe("drain delay", () => {
  test("answers requests, fails /readyz and closes each connection with its response", async () => {
    const host = await openHost();
    expect((await fetch(`${host.address.url}/readyz`)).status).toBe(200);
    const closing = host.close({ drainDelayMs: 300 });
    const ready = await fetch(`${host.address.url}/readyz`);
    expect([ready.status, ready.headers.get("retry-after")]).toStrictEqual([503, "1"]);
    const answer = await host.ask(QUERY_TARGET);
    expect([answer.status, answer.headers.get("connection")]).toStrictEqual([200, "close"]);
    expect((await fetch(`${host.address.url}/healthz`)).status).toBe(200);
    await closing;
    await expect(fetch(`${host.address.url}/healthz`)).rejects.toThrow("fetch failed");
  });
});

describe("/readyz", () => {
  test("fails until the atlas has warmed up, while requests are answered", async () => {
    let release = (): void => undefined;
    const warm = new Promise<void>((resolve) => (release = resolve));
    let isWarming = true;
    const host = await openHost({
      warmUp: true,
      atlas: fakeAtlas(async (query) => {
        if (isWarming) {
          isWarming = false;
          await warm;
        }
        return quarterResult(query);
      }),
    });
    const before = await fetch(`${host.address.url}/readyz`);
    expect(before.status).toBe(503);
    expect(await before.json()).toMatchObject({ code: "overloaded", retryable: true });
    expect((await host.ask(QUERY_TARGET)).status).toBe(200);
    release();
    await host.ready;
    const after = await fetch(`${host.address.url}/readyz`);
    expect([after.status, await after.json()]).toStrictEqual([200, { status: "ready" }]);
    expect(host.ledger.entries).toHaveLength(1);
  });

  test("succeeds even if parts of the atlas cannot be read", async () => {
    const host = await openHost({ warmUp: true, atlas: fakeAtlas(() => Promise.reject(new Error("damaged"))) });
    await host.ready;
    expect((await fetch(`${host.address.url}/readyz`)).status).toBe(200);
  });

  test("does not delay a shutdown during warm-up", async () => {
    const host = await openHost({ warmUp: true, atlas: fakeAtlas(() => new Promise(() => undefined)) });
    await expect(host.close()).resolves.toBeUndefined();
  });
});
