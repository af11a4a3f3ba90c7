import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { Worker } from "node:worker_threads";
import { afterEach, describe, expect, test, vi } from "vitest";
import type { Atlas } from "../../../src/hazard/answer.ts";
import type { HazardResult } from "../../../src/hazard/result.ts";
import { parametersOf, queryTextOf, RIGHT } from "../../hazard/queries.ts";
import { answersIn, atlasOf, HEADER_LINES, type Hosted, hosted, quarters } from "../hosting.ts";

const TARGET = `/api/v1/hazard-risk?${queryTextOf(parametersOf(RIGHT))}`;
const REQUEST = [`GET ${TARGET} HTTP/1.1`, "Host: h", ...HEADER_LINES, "", ""].join("\r\n");

const ALIGNMENT = "/api/v1/temperature-alignment-projections";
const POSTED = `${["Host: h", ...HEADER_LINES, "Content-Type: application/json"].join("\r\n")}\r\n`;

/** Parts of a long answer: together more than the system takes off our hands. */
const WIDE_COUNT = 40_000;

/** Answers with megabytes. */
function wideAtlas(): Atlas {
  return atlasOf((query) => {
    const answer = quarters(query);
    return Promise.resolve({ ...answer, results: Array.from({ length: WIDE_COUNT }, () => answer.results).flat() });
  });
}

/** A connection that nobody uses, and all that comes over it from now until it ends. */
async function idleLine(
  host: Hosted,
  { hasAsked }: { readonly hasAsked: boolean },
): Promise<{ readonly socket: Socket; readonly heard: Promise<string> }> {
  const socket = connect({ host: "127.0.0.1", port: host.address.port });
  await once(socket, "connect");
  let text = "";
  socket.setEncoding("latin1").on("data", (piece: string) => (text += piece));
  socket.on("error", () => undefined);
  if (hasAsked) {
    socket.write(REQUEST);
    await vi.waitFor(() => expect(host.ledger.entries).toHaveLength(1));
    await vi.waitFor(() => expect(text).toMatch(/\}$/));
    text = "";
  }
  // The system may have it long before the host does, which answers whoever came later.
  await vi.waitFor(async () => expect((await fetch(`${host.address.url}/healthz`)).status).toBe(200));
  return { socket, heard: once(socket, "close").then(() => text) };
}

/** Resolves when no connection is taken any more. */
async function refused(host: Hosted): Promise<void> {
  const attempt = async (): Promise<unknown> => {
    const socket = connect({ host: "127.0.0.1", port: host.address.port });
    try {
      return await once(socket, "connect");
    } finally {
      socket.destroy();
    }
  };
  await vi.waitFor(() => expect(attempt()).rejects.toThrow("ECONNREFUSED"), { timeout: 20_000 });
}

const hosts: Hosted[] = [];
async function opened(options: Parameters<typeof hosted>[0] = {}): Promise<Hosted> {
  const host = await hosted(options);
  hosts.push(host);
  return host;
}
afterEach(async () => {
  await Promise.all(hosts.splice(0).map((host) => host.close()));
});

/** A client that asks over one connection, again and again, until it is told that the connection ends. */
class Asker {
  askedCount = 0;
  answeredCount = 0;
  /** The server said that it would end the connection. */
  wasTold = false;
  #text = "";

  static run(port: number): { readonly asker: Asker; readonly over: Promise<void> } {
    const asker = new Asker();
    const socket = connect({ host: "127.0.0.1", port });
    socket.setEncoding("latin1");
    socket.on("data", (piece: string) => asker.#take(piece, socket));
    // A connection that is cut is seen by the answers that did not come.
    socket.on("error", () => undefined);
    socket.once("connect", () => asker.#ask(socket));
    return { asker, over: new Promise((resolve) => socket.once("close", () => resolve())) };
  }

  #ask(socket: Socket): void {
    this.askedCount++;
    socket.write(REQUEST);
  }

  #take(piece: string, socket: Socket): void {
    this.#text += piece;
    const headEnd = this.#text.indexOf("\r\n\r\n");
    const size = Number(/^Content-Length: ([0-9]+)/im.exec(this.#text)?.[1]);
    if (headEnd < 0 || this.#text.length < headEnd + 4 + size) return;
    if (this.#text.startsWith("HTTP/1.1 200 ")) this.answeredCount++;
    this.wasTold = /^Connection: close/im.test(this.#text.slice(0, headEnd));
    this.#text = "";
    if (!this.wasTold) this.#ask(socket);
  }
}

/** So many connections at once, on another thread: each asks once; how many are answered is told at the end. */
const CROWD = `
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

describe("stopping under load", () => {
  test("loses no request of 64 clients that ask without a pause, and counts each answer once", async () => {
    const host = await opened();
    const runs = Array.from({ length: 64 }, () => Asker.run(host.address.port));
    await vi.waitFor(() => expect(runs.every(({ asker }) => asker.answeredCount > 3)).toBe(true), { timeout: 10_000 });
    await host.close({ drainDelayMs: 50 });
    await Promise.all(runs.map(({ over }) => over));
    for (const { asker } of runs) {
      expect([asker.answeredCount, asker.wasTold]).toStrictEqual([asker.askedCount, true]);
    }
    const answered = runs.reduce((sum, { asker }) => sum + asker.answeredCount, 0);
    expect(host.ledger.entries).toHaveLength(answered);
    expect(new Set(host.ledger.entries.map(({ receipt }) => receipt)).size).toBe(answered);
  });

  test("answers what had arrived before it looked, though the loop was behind", async () => {
    const host = await opened();
    const socket = connect({ host: "127.0.0.1", port: host.address.port });
    let text = "";
    socket.setEncoding("latin1").on("data", (piece: string) => (text += piece));
    const over = new Promise<void>((resolve) => socket.once("close", () => resolve()));
    socket.on("error", () => undefined).write(REQUEST);
    await vi.waitFor(() => expect(text).toContain("HTTP/1.1 200 "));
    text = "";
    const closing = host.close({ drainDelayMs: 20 });
    // The request lies in the system's buffer when the delay is over; after this turn of the loop timers come first.
    setImmediate(() => {
      socket.write(REQUEST);
      const untilMs = performance.now() + 60;
      while (performance.now() < untilMs);
    });
    await Promise.all([closing, over]);
    expect(text).toMatch(/^HTTP\/1\.1 200 /);
    expect(host.ledger.entries).toHaveLength(2);
  });

  test("answers every connection that the system has taken for it, though the loop was behind", async () => {
    const host = await opened();
    const count = 200;
    const written = new Int32Array(new SharedArrayBuffer(4));
    const clients = new Worker(CROWD, {
      eval: true,
      workerData: { port: host.address.port, request: REQUEST, count, written },
    });
    const answers = once(clients, "message") as Promise<[number]>;
    const closing = host.close({ drainDelayMs: 20 });
    // All this while nobody here takes a connection.
    while (Atomics.load(written, 0) < count) Atomics.wait(written, 0, Atomics.load(written, 0), 1000);
    await closing;
    expect(await answers).toStrictEqual([count]);
    expect(host.ledger.entries).toHaveLength(count);
  });

  test("answers whoever had a connection, and first uses it when the delay is over", async () => {
    const host = await opened();
    const lines = await Promise.all([true, false].map((hasAsked) => idleLine(host, { hasAsked })));
    const closing = host.close({ drainDelayMs: 1000 });
    await refused(host);
    for (const { socket } of lines) socket.write(REQUEST);
    const texts = await Promise.all(lines.map(({ heard }) => heard));
    expect(texts.map((text) => text.match(/^HTTP\/1\.1 .*|^Connection: .*/gm))).toStrictEqual([
      ["HTTP/1.1 200 OK", "Connection: close"],
      ["HTTP/1.1 200 OK", "Connection: close"],
    ]);
    await closing;
    expect(host.ledger.entries).toHaveLength(3);
  });

  test("waits for nobody who has a connection and never uses it", async () => {
    const host = await opened({ timeouts: { drainTimeoutMs: 3_600_000, keepAliveTimeoutMs: 3_600_000 } });
    const lines = await Promise.all([true, false].map((hasAsked) => idleLine(host, { hasAsked })));
    await host.close({ drainDelayMs: 50 });
    expect(await Promise.all(lines.map(({ heard }) => heard))).toStrictEqual(["", ""]);
  });

  test("ends no connection that has yet to take the answer it was given", async () => {
    const host = await opened({ atlas: wideAtlas() });
    const socket = connect({ host: "127.0.0.1", port: host.address.port });
    const parts: Buffer[] = [];
    socket.on("data", (part: Buffer) => parts.push(part));
    const over = new Promise<void>((resolve) => socket.once("close", () => resolve()));
    socket.on("error", () => undefined).pause();
    socket.write(REQUEST);
    await vi.waitFor(() => expect(host.ledger.entries).toHaveLength(1));
    const closing = host.close();
    await refused(host);
    socket.resume();
    await Promise.all([closing, over]);
    const [answer] = answersIn(Buffer.concat(parts).toString("latin1"));
    expect([answer?.status, (JSON.parse(answer?.body ?? "") as HazardResult).results.length]).toStrictEqual([
      200,
      WIDE_COUNT * RIGHT.hazards.length,
    ]);
  });

  test("ends for good when its time is up, whoever is there", async () => {
    const host = await opened({ atlas: wideAtlas(), timeouts: { drainTimeoutMs: 200 } });
    const never: Socket[] = [];
    for (const bytes of [
      REQUEST,
      "GET / HTTP/1.1\r\nHos",
      `POST ${ALIGNMENT} HTTP/1.1\r\n${POSTED}Content-Length: 1000\r\n\r\n[`,
      `POST ${ALIGNMENT} HTTP/1.1\r\n${POSTED}Transfer-Encoding: chunked\r\n\r\n1\r\n[\r\n`,
      `POST ${ALIGNMENT} HTTP/1.1\r\n${POSTED}Content-Length: 99999999\r\n\r\n[`,
      "CONNECT h:443 HTTP/1.1\r\nHost: h\r\n\r\n",
      "no HTTP\r\n\r\n",
      "",
    ]) {
      // Neither reads, nor ends, nor notices that it is ended.
      const socket = connect({ host: "127.0.0.1", port: host.address.port, allowHalfOpen: true });
      socket.on("error", () => undefined).pause();
      await once(socket, "connect");
      socket.write(bytes);
      never.push(socket);
    }
    await vi.waitFor(() => expect(host.ledger.entries).toHaveLength(1));
    await expect(host.close()).resolves.toBeUndefined();
    for (const socket of never) socket.destroy();
  });

  test("goes on telling clients that are too slow that they are", async () => {
    const timeouts = { headersTimeoutMs: 50, requestTimeoutMs: 100, checkEveryMs: 20, drainTimeoutMs: 60_000 };
    const host = await opened({ timeouts });
    const socket = connect({ host: "127.0.0.1", port: host.address.port });
    let text = "";
    socket.setEncoding("latin1").on("data", (piece: string) => (text += piece));
    socket.on("error", () => undefined).write("GET / HTTP/1.1\r\nHos");
    await vi.waitFor(async () => expect((await fetch(`${host.address.url}/healthz`)).status).toBe(200));
    await host.close();
    expect(text).toMatch(/^HTTP\/1\.1 408 /);
  });

  test("waits for the ledger before the last answers leave", async () => {
    const host = await opened();
    const record = host.ledger.record.bind(host.ledger);
    let commit = (): void => undefined;
    const committed = new Promise<void>((resolve) => (commit = resolve));
    const recording = vi.spyOn(host.ledger, "record").mockImplementation(async (entry) => {
      await committed;
      return record(entry);
    });
    const asked = Array.from({ length: 8 }, () => host.ask(TARGET));
    await vi.waitFor(() => expect(recording).toHaveBeenCalledTimes(8));
    let isClosed = false;
    const closing = host.close().then(() => (isClosed = true));
    // What has already arrived is still taken; soon nothing arrives any more.
    await vi.waitFor(() => expect(fetch(`${host.address.url}/healthz`)).rejects.toThrow("fetch failed"));
    expect(isClosed).toBe(false);
    commit();
    for (const response of await Promise.all(asked)) {
      expect([response.status, response.headers.get("connection")]).toStrictEqual([200, "close"]);
    }
    await closing;
    expect(host.ledger.entries).toHaveLength(8);
  });
});

describe("the delay before no connection is taken any more", () => {
  test("answers all, says no at /readyz and ends each connection with its answer", async () => {
    const host = await opened();
    expect((await fetch(`${host.address.url}/readyz`)).status).toBe(200);
    const closing = host.close({ drainDelayMs: 300 });
    const ready = await fetch(`${host.address.url}/readyz`);
    expect([ready.status, ready.headers.get("retry-after")]).toStrictEqual([503, "1"]);
    const answer = await host.ask(TARGET);
    expect([answer.status, answer.headers.get("connection")]).toStrictEqual([200, "close"]);
    expect((await fetch(`${host.address.url}/healthz`)).status).toBe(200);
    await closing;
    await expect(fetch(`${host.address.url}/healthz`)).rejects.toThrow("fetch failed");
  });
});

describe("/readyz", () => {
  test("says no until the atlas has been warmed up; what is asked meanwhile is answered", async () => {
    let release = (): void => undefined;
    const warm = new Promise<void>((resolve) => (release = resolve));
    let isWarming = true;
    const host = await opened({
      warmUp: true,
      atlas: atlasOf(async (query) => {
        if (isWarming) {
          isWarming = false;
          await warm;
        }
        return quarters(query);
      }),
    });
    const before = await fetch(`${host.address.url}/readyz`);
    expect(before.status).toBe(503);
    expect(await before.json()).toMatchObject({ code: "overloaded", retryable: true });
    expect((await host.ask(TARGET)).status).toBe(200);
    release();
    await host.ready;
    const after = await fetch(`${host.address.url}/readyz`);
    expect([after.status, await after.json()]).toStrictEqual([200, { status: "ready" }]);
    expect(host.ledger.entries).toHaveLength(1);
  });

  test("says yes though the atlas cannot be read everywhere", async () => {
    const host = await opened({ warmUp: true, atlas: atlasOf(() => Promise.reject(new Error("damaged"))) });
    await host.ready;
    expect((await fetch(`${host.address.url}/readyz`)).status).toBe(200);
  });

  test("does not keep a service that is told to stop while it warms up", async () => {
    const host = await opened({ warmUp: true, atlas: atlasOf(() => new Promise(() => undefined)) });
    await expect(host.close()).resolves.toBeUndefined();
  });
});
