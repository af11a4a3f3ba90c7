import { once } from "node:events";
import { createServer, IncomingMessage, ServerResponse } from "node:http";
import { type AddressInfo, connect, Socket } from "node:net";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { PipelineResponse, RequestProcessor } from "../../../src/host/http/exchange.ts";
import { RequestListener } from "../../../src/host/http/requestListener.ts";
import { HttpError } from "../../../src/host/problems/problem.ts";
import { ENTITY } from "../entities.ts";
import {
  ALIGNMENT_PATH,
  exchangeBytes,
  fakeAtlas,
  HEADER_LINES,
  parseResponses,
  quarterResult,
  QUERY_TARGET,
  startTestHost,
  type TestHost,
} from "../testHost.ts";

const head = (line: string, ...fields: string[]): string =>
  [`${line} HTTP/1.1`, "Host: h", ...HEADER_LINES, ...fields, "", ""].join("\r\n");
const getHead = (...fields: string[]): string => head(`GET ${QUERY_TARGET}`, ...fields);
const postHead = (...fields: string[]): string =>
  head(`POST ${ALIGNMENT_PATH}`, "Content-Type: application/json", ...fields);
const ENTITIES = JSON.stringify([ENTITY]);

const postOf = (body: string): string => postHead(`Content-Length: ${body.length}`) + body;
/** Returns a request that has a body in chunks of one byte. */
const chunkedPostOf = (body: string): string =>
  `${postHead("Transfer-Encoding: chunked")}${body.replaceAll(/./gs, "1\r\n$&\r\n")}0\r\n\r\n`;

/** Gives the service time to read what has arrived on other connections. */
async function readArrived({ address }: TestHost): Promise<void> {
  for (let i = 0; i < 20; i++) await (await fetch(`${address.url}/healthz`)).text();
}

describe("bodies that are pipelined behind a request in progress", () => {
  let host: TestHost;
  let release: () => void;
  let reached: Promise<void>;
  beforeEach(async () => {
    const opened = new Promise<void>((resolve) => (release = resolve));
    let reach: () => void;
    reached = new Promise<void>((resolve) => (reach = resolve));
    host = await startTestHost({
      atlas: fakeAtlas(async (query) => {
        reach();
        await opened;
        return quarterResult(query);
      }),
    });
  });
  afterEach(() => host.close());

  test.each([
    ["small", postOf(ENTITIES), 7],
    ["small, in chunks of one byte", chunkedPostOf(ENTITIES), 7],
    ["longer than what is held", postOf(ENTITIES.padEnd(300_000, " ")), 1],
    ["longer than what is held, in chunks of one byte", chunkedPostOf(ENTITIES.padEnd(40_000, " ")), 1],
  ])("get their responses: %s", { timeout: 60_000 }, async (_, post, count) => {
    const alone = await host.ask(ALIGNMENT_PATH, {
      method: "POST",
      body: ENTITIES,
      headers: { "Content-Type": "application/json", "Accept-Encoding": "identity" },
    });
    const expectedBody = await alone.text();
    const text = exchangeBytes(host.address.port, getHead() + post.repeat(count) + getHead("Connection: close"));
    await reached;
    release();
    const responses = parseResponses(await text);
    expect(responses.map(({ status }) => status)).toStrictEqual(Array.from({ length: count + 2 }, () => 200));
    expect(new Set(responses.slice(1, -1).map(({ body }) => body))).toStrictEqual(new Set([expectedBody]));
  });

  test.each([
    [8, 60_000],
    [40, 30_000],
    [60, 16_000],
    [8, 400_000],
  ])("get all responses, in order: %i bodies of %i bytes", { timeout: 60_000 }, async (count, bodyBytes) => {
    // Units of usage tell which response belongs to which request.
    const entityCounts = Array.from({ length: count }, (_, index) => 1 + (index % 8));
    const posts = entityCounts.map((entityCount) => {
      const entities = Array.from({ length: entityCount }, () => ENTITY);
      return postOf(JSON.stringify(entities).padEnd(bodyBytes, " "));
    });
    const text = exchangeBytes(host.address.port, getHead() + posts.join("") + getHead("Connection: close"));
    await reached;
    await readArrived(host);
    release();
    const responses = parseResponses(await text);
    expect(responses.map(({ status }) => status)).toStrictEqual(Array.from({ length: count + 2 }, () => 200));
    const unitCounts = responses.slice(1, -1).map(({ headers }) => Number(headers.get("x-usage-units")));
    expect(unitCounts).toStrictEqual(entityCounts.map((entityCount) => 2 * entityCount));
  });

  test("do not stop the reading of later requests", async () => {
    const socket = connect({ host: "127.0.0.1", port: host.address.port });
    let text = "";
    socket.on("data", (part: Buffer) => (text += part.toString("latin1")));
    socket.write(getHead() + postOf(ENTITIES.padEnd(20_000, " ")));
    await reached;
    await readArrived(host);
    release();
    await expect.poll(() => text.match(/HTTP\/1\.1 200/g)?.length).toBe(2);
    const closed = once(socket, "close");
    socket.write(getHead("Connection: close"));
    await closed;
    expect(parseResponses(text).map(({ status }) => status)).toStrictEqual([200, 200, 200]);
  });

  test("and are invalid are rejected after the earlier response", async () => {
    const text = exchangeBytes(
      host.address.port,
      `${getHead()}${postHead("Transfer-Encoding: chunked")}1\r\n[\r\nx\r\n`,
    );
    await reached;
    release();
    expect(parseResponses(await text).map(({ status }) => status)).toStrictEqual([200, 400]);
  });
});

describe("the bodies that wait on all connections", () => {
  const BODY_BYTES = 60_000;
  const CONNECTION_COUNT = 40;
  const MEMORY_BYTES = 8 << 20;
  /** Those that fit into an eighth of the memory. */
  const FITTING_COUNT = Math.floor(MEMORY_BYTES / 8 / BODY_BYTES);

  test(
    "share an eighth of the memory of requests: the others get 503, on a connection that is closed",
    {
      timeout: 120_000,
    },
    async () => {
      const opened: (() => void)[] = [];
      const atlas = fakeAtlas(async (query) => {
        await new Promise<void>((resolve) => opened.push(resolve));
        return quarterResult(query);
      });
      const host = await startTestHost({
        atlas,
        adminPort: 0,
        load: { memoryBytesMax: MEMORY_BYTES, accountShare: 1 },
      });
      const shedCount = async (): Promise<number> => {
        const text = await (await fetch(`${host.adminUrl}/metrics`)).text();
        return Number(/isotherm_shed_total\{reason="too_many_waiting_bodies"\} (\d+)/.exec(text)?.[1] ?? 0);
      };
      try {
        // The second round shows that the first has released its memory.
        for (const round of [1, 2]) {
          const texts = Array.from({ length: CONNECTION_COUNT }, () =>
            exchangeBytes(
              host.address.port,
              getHead() + postOf(ENTITIES.padEnd(BODY_BYTES, " ")) + getHead("Connection: close"),
            ),
          );
          const refusedCountMin = round * (CONNECTION_COUNT - FITTING_COUNT);
          await expect.poll(shedCount, { timeout: 60_000 }).toBeGreaterThanOrEqual(refusedCountMin);
          const release = setInterval(() => opened.splice(0).forEach((open) => open()), 5);
          const received = (await Promise.all(texts)).map(parseResponses);
          clearInterval(release);
          const answered = received.filter((responses) => responses.length === 3);
          const refused = received.filter((responses) => responses.length === 2);
          expect([answered.length + refused.length, answered.length <= FITTING_COUNT]).toStrictEqual([
            CONNECTION_COUNT,
            true,
          ]);
          // Some that are refused may have arrived in parts while others had taken the memory.
          expect(answered.length).toBeGreaterThan(FITTING_COUNT / 2);
          for (const responses of answered)
            expect(responses.map(({ status }) => status)).toStrictEqual([200, 200, 200]);
          for (const [first, last] of refused) {
            expect([first?.status, last?.status]).toStrictEqual([200, 503]);
            expect(first?.headers.get("connection")).toBe("keep-alive");
            expect(last?.headers.get("connection")).toBe("close");
            expect(last?.headers.has("retry-after")).toBe(true);
            expect(JSON.parse(last?.body ?? "")).toMatchObject({ code: "overloaded", retryable: true });
          }
        }
      } finally {
        await host.close();
      }
    },
  );
});

test("the time in which the rest of a pipelined request is not read does not count", { timeout: 60_000 }, async () => {
  const timeouts = { headersTimeoutMs: 200, requestTimeoutMs: 200, checkEveryMs: 20 };
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  const atlas = fakeAtlas(async (query) => {
    await opened;
    return quarterResult(query);
  });
  const host = await startTestHost({ atlas, timeouts });
  try {
    const post = postOf(ENTITIES.padEnd(300_000, " "));
    const text = exchangeBytes(host.address.port, getHead() + post + getHead("Connection: close"));
    // A connection that is opened later reaches the timeout later.
    const late = parseResponses(await exchangeBytes(host.address.port, "GET / HTTP/1.1\r\n"));
    expect(late.map(({ status }) => status)).toStrictEqual([408]);
    open();
    expect(parseResponses(await text).map(({ status }) => status)).toStrictEqual([200, 200, 200]);
  } finally {
    await host.close();
  }
});

describe("a listener whose requests are answered only when told", () => {
  let countedBytes: number;
  let limitBytes: number;
  let answered: Promise<PipelineResponse>[];
  let listener: RequestListener;
  beforeEach(() => {
    countedBytes = 0;
    answered = [];
    limitBytes = Infinity;
    const pipeline: RequestProcessor = {
      handle: () => answered.shift() ?? new Promise(() => undefined),
      reject: () => {
        throw new Error("No request is rejected.");
      },
      countWaitingBodies: (addedBytes) => {
        if (addedBytes > 0 && countedBytes + addedBytes > limitBytes) return new HttpError("overloaded", "full");
        countedBytes += addedBytes;
        return undefined;
      },
      releaseResponse: () => undefined,
    };
    listener = new RequestListener({
      pipeline,
      workTimeoutMs: 1_000,
      bodyRate: { bytesPerSMin: 0, graceMs: 0 },
      isContinueDue: false,
    });
  });

  /** Passes a request to the listener, as Node's parser does, and returns it with its body. */
  const accept = (socket: Socket, bodyBytes: number): IncomingMessage => {
    const request = new IncomingMessage(socket);
    [request.httpVersionMajor, request.httpVersionMinor] = [1, 1];
    request.headers["content-length"] = String(bodyBytes);
    listener.accept(request, new ServerResponse(request));
    request.push(Buffer.alloc(bodyBytes));
    request.push(null);
    return request;
  };

  test("counts the memory of the bodies that wait, until the connection closes", async () => {
    const sockets = [new Socket(), new Socket()];
    for (const socket of sockets) for (let i = 0; i < 4; i++) accept(socket, 10_000);
    // The first of each is in progress.
    expect(countedBytes).toBe(2 * 3 * 10_000);
    for (const socket of sockets) {
      const closed = once(socket, "close");
      socket.destroy();
      await closed;
    }
    expect(countedBytes).toBe(0);
    expect(listener.activeCount).toBe(2);
  });

  test("counts the memory of a body until its turn comes", async () => {
    let answer: (response: PipelineResponse) => void = () => undefined;
    answered.push(new Promise((resolve) => (answer = resolve)));
    const server = createServer((request, response) => listener.accept(request, response));
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const socket = connect({ host: "127.0.0.1", port: (server.address() as AddressInfo).port });
    socket.on("error", () => undefined);
    socket.write(getHead() + postOf("x".repeat(5_000)) + postOf("x".repeat(5_001)));
    await expect.poll(() => countedBytes).toBe(10_001);
    answer({ status: 204, fields: [], body: undefined });
    await expect.poll(() => countedBytes).toBe(5_001);
    socket.destroy();
    server.closeAllConnections();
    server.close();
  });

  test("discards a body without memory for it, and accepts no further request on its connection", () => {
    limitBytes = 25_000;
    const socket = new Socket();
    const requests = Array.from({ length: 5 }, () => accept(socket, 10_000));
    expect(countedBytes).toBe(20_000);
    expect(listener.activeCount).toBe(4);
    expect(requests.map(({ readableLength }) => readableLength)).toStrictEqual([0, 0, 0, 0, 0]);
    accept(new Socket(), 10_000);
    expect(listener.activeCount).toBe(5);
    socket.destroy();
  });

  test.each([
    ["waits", 20_000, 2, 16_384 + 3 * 65_536],
    ["is discarded", 10, 20, 4 * 65_536],
  ])("reads no further a body that %s, after complete ones", { timeout: 60_000 }, async (_, bodyBytes, count, max) => {
    const sockets = new Set<Socket>();
    const server = createServer((request, response) => {
      sockets.add(request.socket);
      if (request.url === "/ping") response.end();
      else listener.accept(request, response);
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const postOfSize = (size: number): string => `POST / HTTP/1.1\r\nHost: h\r\nContent-Length: ${size}\r\n\r\n`;
    const complete = (postOfSize(bodyBytes) + "x".repeat(bodyBytes)).repeat(count);
    const client = connect({ host: "127.0.0.1", port });
    client.on("error", () => undefined);
    client.write(complete + postOfSize(1e9) + "x".repeat(60_000));
    await expect.poll(() => sockets.size).toBe(1);
    const [socket] = sockets;
    for (let i = 0; i < 16; i++) client.write(Buffer.alloc(1 << 20));
    for (let i = 0; i < 50; i++) await (await fetch(`http://127.0.0.1:${port}/ping`)).text();
    expect(socket?.bytesRead).toBeGreaterThan(complete.length);
    expect(socket?.bytesRead).toBeLessThan(max);
    client.destroy();
    socket?.destroy();
    server.closeAllConnections();
    server.close();
  });

  test.each([
    ["waits behind another request", false],
    ["is rejected", true],
  ])("reads no further a body in chunks of one byte that %s", { timeout: 60_000 }, async (_, isRejected) => {
    if (isRejected) answered.push(Promise.resolve({ status: 401, fields: [], body: "" }));
    let socket: Socket | undefined;
    const server = createServer((request, response) => {
      if (request.url === "/ping") {
        response.end();
        return;
      }
      ({ socket } = request);
      listener.accept(request, response);
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const client = connect({ host: "127.0.0.1", port });
    const closed = new Promise((resolve) => client.once("close", resolve));
    let text = "";
    client.setEncoding("latin1").on("error", () => undefined);
    client.on("data", (part: string) => (text += part));
    const post = "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n";
    client.write((isRejected ? "" : "GET / HTTP/1.1\r\nHost: h\r\n\r\n") + post);
    const chunks = "1\r\n \r\n".repeat(100_000);
    for (let i = 0; i < 16; i++) client.write(chunks);
    for (let i = 0; i < 50; i++) await (await fetch(`http://127.0.0.1:${port}/ping`)).text();
    expect(socket?.bytesRead).toBeGreaterThan(1_024 * 6);
    expect(socket?.bytesRead).toBeLessThan(2 * 65_536);
    if (isRejected) {
      // The response arrives, and the connection is closed although the client has not sent the rest.
      await closed;
      expect(text).toMatch(/^HTTP\/1\.1 401 /);
    }
    client.destroy();
    socket?.destroy();
    server.closeAllConnections();
    server.close();
  });
});
