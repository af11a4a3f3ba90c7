import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { setImmediate as nextTurn } from "node:timers/promises";
import { afterEach, describe, expect, test, vi } from "vitest";
import type { Atlas } from "../../src/hazard/answer.ts";
import { createHandler, type Handler, type HandlerOptions, type LogRecord } from "../../src/host/main.ts";
import { parametersOf, queryTextOf, VALID_QUERY } from "../hazard/queries.ts";
import { ENTITY } from "../host/entities.ts";
import { parseResponses, fakeAtlas, exchangeBytes, quarterResult } from "../host/testHost.ts";
import { MemoryLedger } from "../host/memoryLedger.ts";

const QUERY = `/api/v1/hazard-risk?${queryTextOf(parametersOf(VALID_QUERY))}`;
const ALIGNMENT = "/api/v1/temperature-alignment-projections";

interface Embedded {
  readonly handler: Handler;
  readonly ledger: MemoryLedger;
  readonly records: readonly LogRecord[];
  readonly headers: Readonly<Record<string, string>>;
}

/** Returns a handler without a server, whose ledger has an account, a key and a customer. */
async function embed(options: Partial<HandlerOptions> = {}): Promise<Embedded> {
  const ledger = new MemoryLedger();
  const { accountId } = await ledger.createAccount({ name: "Tests" });
  const { secret } = await ledger.createKey({ accountId });
  const { customer } = await ledger.registerCustomer({ accountId, internalId: "tests" });
  const records: LogRecord[] = [];
  const log = (record: LogRecord): void => void records.push(record);
  const handler = createHandler({ atlas: fakeAtlas(), ledger, warmUp: false, log, ...options });
  return { handler, ledger, records, headers: { "X-API-Key": secret, "X-Customer-ID": customer.customerId } };
}

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close().closeAllConnections();
});

/** Starts a server of node:http on a free port. */
async function listen(onRequest: (request: IncomingMessage, response: ServerResponse) => void) {
  const server = createServer(onRequest).listen(0, "127.0.0.1");
  servers.push(server);
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return { server, port, url: `http://127.0.0.1:${port}` };
}

function linesOf(headers: Readonly<Record<string, string>>): string {
  return Object.entries({ Host: "h", ...headers })
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join("");
}

/** Returns an atlas whose queries wait until `release` is called. */
function waitingAtlas(): { readonly atlas: Atlas; readonly queryCount: () => number; release(): void } {
  let count = 0;
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => (release = resolve));
  const atlas = fakeAtlas(async (query) => {
    count++;
    await released;
    return quarterResult(query);
  });
  return { atlas, queryCount: () => count, release: () => release() };
}

async function connectTo(port: number): Promise<Socket> {
  const socket = connect({ host: "127.0.0.1", port });
  socket.on("error", () => undefined);
  await once(socket, "connect");
  return socket;
}

describe("close", () => {
  test("resolves when the last response is finished, and answers further requests with 503", async () => {
    const { atlas, queryCount, release } = waitingAtlas();
    const { handler, ledger, headers } = await embed({ atlas });
    const { url } = await listen(handler);
    const earlier = fetch(`${url}${QUERY}`, { headers });
    await vi.waitFor(() => expect(queryCount()).toBe(1));

    let isClosed = false;
    const closed = handler.close().then(() => (isClosed = true));
    const later = await fetch(`${url}${QUERY}`, { headers });
    expect([later.status, later.headers.get("retry-after"), later.headers.get("connection")]).toEqual([
      503,
      "1",
      "close",
    ]);
    expect(await later.json()).toMatchObject({ code: "overloaded", detail: "The service is shutting down." });
    await nextTurn();
    expect(isClosed).toBe(false);

    release();
    expect((await earlier).status).toBe(200);
    await closed;
    expect(ledger.entries).toHaveLength(1);
    expect((await fetch(`${url}/healthz`)).status).toBe(503);
    await handler.close();
  });

  test("answers a request with an unread body with 503", async () => {
    const { handler, headers } = await embed();
    const { url } = await listen(handler);
    await handler.close();
    const body = JSON.stringify([ENTITY]).padEnd(1 << 20);
    const response = await fetch(`${url}${ALIGNMENT}`, {
      method: "POST",
      headers: { ...headers, "Content-Type": "application/json" },
      body,
    });
    expect(response.status).toBe(503);
  });

  test("finishes the first of pipelined requests that arrived before the call", async () => {
    const { atlas, queryCount, release } = waitingAtlas();
    const { handler, headers } = await embed({ atlas });
    const { port } = await listen(handler);
    const received = exchangeBytes(port, `GET ${QUERY} HTTP/1.1\r\n${linesOf(headers)}\r\n`.repeat(3));
    await vi.waitFor(() => expect(queryCount()).toBe(1));
    const closed = handler.close();
    release();
    expect(parseResponses(await received).map(({ status }) => status)).toEqual([200]);
    await closed;
  });

  test("destroys the connections of unfinished responses after the drain timeout", async () => {
    const { atlas, queryCount } = waitingAtlas();
    const { handler, headers } = await embed({ atlas, timeouts: { drainTimeoutMs: 10 } });
    const { url } = await listen(handler);
    const response = fetch(`${url}${QUERY}`, { headers });
    response.catch(() => undefined);
    await vi.waitFor(() => expect(queryCount()).toBe(1));
    await handler.close();
    await expect(response).rejects.toThrow("fetch failed");
  });

  test.each([true, false])(
    "closes the atlas and the ledger only if ownsResources is set (%s)",
    async (ownsResources) => {
      const closed: string[] = [];
      const close = (name: string) => (): Promise<void> => {
        closed.push(name);
        return Promise.resolve();
      };
      const ledger = new MemoryLedger();
      vi.spyOn(ledger, "close").mockImplementation(close("ledger"));
      const { handler } = await embed({ atlas: { ...fakeAtlas(), close: close("atlas") }, ledger, ownsResources });
      await handler.close();
      expect(closed).toEqual(ownsResources ? ["ledger", "atlas"] : []);
    },
  );

  test("removes its listeners from a ledger that stays open", async () => {
    const ledger = new MemoryLedger();
    const listeners = new Set<() => void>();
    vi.spyOn(ledger, "onChange").mockImplementation((listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    });
    const { handler } = await embed({ ledger });
    expect(listeners.size).toBe(1);
    await handler.close();
    expect(listeners.size).toBe(0);
  });
});

describe("disconnected clients", () => {
  test("are not metered, and close does not wait for them", async () => {
    const { atlas, queryCount, release } = waitingAtlas();
    const { handler, ledger, headers } = await embed({ atlas });
    const { port } = await listen(handler);
    const socket = await connectTo(port);
    socket.write(`GET ${QUERY} HTTP/1.1\r\n${linesOf(headers)}\r\n`);
    await vi.waitFor(() => expect(queryCount()).toBe(1));
    socket.destroy();
    const closed = handler.close();
    // When the server has closed this connection, it has noticed that the client closed the earlier one.
    await exchangeBytes(port, `GET /healthz HTTP/1.1\r\n${linesOf({ Connection: "close" })}\r\n`);
    release();
    await closed;
    expect(ledger.entries).toEqual([]);
  });

  test("release the resources of a response that was queued behind another handler's response", async () => {
    const { handler, records, headers } = await embed();
    let slow: ServerResponse | undefined;
    const { port } = await listen((request, response) => {
      if (request.url === "/slow") slow = response;
      else handler(request, response);
    });
    const socket = await connectTo(port);
    const head = linesOf(headers);
    socket.write(`GET /slow HTTP/1.1\r\n${head}\r\nGET ${QUERY} HTTP/1.1\r\n${head}\r\n`);
    // Wait until the response to QUERY has been computed and is queued behind that of /slow.
    await vi.waitFor(() => expect(slow).toBeDefined());
    await fetch(`http://127.0.0.1:${port}/healthz`);
    socket.destroy();
    await handler.close();
    expect(records.map(({ route }) => route)).toContain("/api/v1/hazard-risk");
  });
});

describe("request bodies", () => {
  const POST_HEADERS = { "Content-Type": "application/json" };
  const BODY = JSON.stringify([ENTITY]);

  test("that other code has consumed cause an error that says how to mount the handler", async () => {
    const { handler, records, headers } = await embed();
    const { url } = await listen((request, response) => {
      request.resume().once("end", () => handler(request, response));
    });
    const response = await fetch(`${url}${ALIGNMENT}`, {
      method: "POST",
      headers: { ...headers, ...POST_HEADERS },
      body: BODY,
    });
    expect(response.status).toBe(500);
    const problem = (await response.json()) as { readonly code: string; readonly detail: string };
    expect(problem.code).toBe("internal_error");
    expect(problem.detail).toMatch(/consumed before it reached Isotherm. Mount the handler before body parsers/);
    await vi.waitFor(() => expect(records[0]?.error?.message).toBe(problem.detail));
  });

  test("are read if other code has read only the headers", async () => {
    const { handler, headers } = await embed();
    const { url } = await listen((request, response) => {
      setImmediate(() => handler(request, response));
    });
    const init = { method: "POST", headers: { ...headers, ...POST_HEADERS }, body: BODY };
    expect((await fetch(`${url}${ALIGNMENT}`, init)).status).toBe(200);
  });

  test("that arrive too slowly are rejected with 408", async () => {
    const { handler, headers } = await embed({ timeouts: { bodyTimeoutMs: 20 } });
    const { port } = await listen(handler);
    const head = linesOf({ ...headers, ...POST_HEADERS, "Content-Length": "100" });
    const received = await exchangeBytes(port, `POST ${ALIGNMENT} HTTP/1.1\r\n${head}\r\n[`);
    expect(received).toMatch(/^HTTP\/1.1 408 /);
    expect(received).toContain("Connection: close");
  });

  test("that exceed the limit are rejected with 413", async () => {
    const { handler, headers } = await embed({ limits: { requestBodyBytesMax: 10 } });
    const { port } = await listen(handler);
    const head = linesOf({ ...headers, ...POST_HEADERS, "Content-Length": "100" });
    expect(await exchangeBytes(port, `POST ${ALIGNMENT} HTTP/1.1\r\n${head}\r\n`)).toMatch(/^HTTP\/1.1 413 /);
  });

  test("that wait for 100 Continue receive it once", async () => {
    const { handler, headers } = await embed();
    const { port } = await listen(handler);
    const socket = await connectTo(port);
    let text = "";
    socket.setEncoding("latin1").on("data", (piece: string) => (text += piece));
    const extraHeaders = { "Content-Length": String(BODY.length), Expect: "100-continue", Connection: "close" };
    socket.write(`POST ${ALIGNMENT} HTTP/1.1\r\n${linesOf({ ...headers, ...POST_HEADERS, ...extraHeaders })}\r\n`);
    await vi.waitFor(() => expect(text).toContain("100 Continue"));
    socket.write(BODY);
    await once(socket, "close");
    expect(text.match(/^HTTP\/1.1 .*$/gm)?.map((line) => line.trim())).toEqual([
      "HTTP/1.1 100 Continue",
      "HTTP/1.1 200 OK",
    ]);
  });
});

test("two handlers in a process share no data, limits or shutdown", async () => {
  const atlasOf = (release: string): Atlas => ({ ...fakeAtlas(), release });
  const [one, other] = await Promise.all([
    embed({ prefix: "/one", atlas: atlasOf("one"), limits: { requestsPerS: 0.001, requestBurst: 1 } }),
    embed({ prefix: "/other", atlas: atlasOf("other") }),
  ]);
  const { url } = await listen((request, response) => {
    (one.handler.matches(request) ? one : other).handler(request, response);
  });
  const statusAndRelease = async (prefix: string, { headers }: Embedded): Promise<string> => {
    const response = await fetch(`${url}${prefix}${QUERY}`, { headers });
    return `${response.status} ${response.headers.get("x-atlas-release")}`;
  };
  const serversOf = async (prefix: string): Promise<unknown> => {
    const document = (await (await fetch(`${url}${prefix}/openapi.json`)).json()) as { servers: { url: string }[] };
    return document.servers.map((server) => server.url);
  };
  expect(await statusAndRelease("/one", one)).toBe("200 one");
  expect(await statusAndRelease("/one", one)).toBe("429 one");
  expect(await statusAndRelease("/other", other)).toBe("200 other");
  expect(await statusAndRelease("/other", other)).toBe("200 other");
  expect(await statusAndRelease("/other", one)).toBe("401 other");
  expect([one.ledger.entries.length, other.ledger.entries.length]).toEqual([1, 2]);
  expect([await serversOf("/one"), await serversOf("/other")]).toEqual([["/one"], ["/other"]]);
  await one.handler.close();
  expect(await statusAndRelease("/other", other)).toBe("200 other");
  expect((await fetch(`${url}/one/healthz`)).status).toBe(503);
});

test("extends the Vary header that the server has set, and replaces Cache-Control", async () => {
  const { handler } = await embed();
  const { url } = await listen((request, response) => {
    response.setHeader("Vary", "Cookie").setHeader("Cache-Control", "public").setHeader("X-Powered-By", "the server");
    handler(request, response);
  });
  const { headers } = await fetch(`${url}/problems/rate_limited`);
  expect([headers.get("vary"), headers.get("cache-control"), headers.get("x-powered-by")]).toEqual([
    "Cookie, Accept, Accept-Encoding",
    "no-store",
    "the server",
  ]);
});

test("`matches` recognizes the prefix in every form of a request target", async () => {
  const { handler } = await embed({ prefix: "/climate" });
  const matches = (url: string, originalUrl?: string) =>
    handler.matches({ url, ...(originalUrl === undefined ? {} : { originalUrl }) } as never);
  expect(
    ["/climate", "/climate/", "/climate?x=1", "/climate/healthz", "http://h/climate/healthz"].map((url) =>
      matches(url),
    ),
  ).toEqual([true, true, true, true, true]);
  expect(["/", "/climates", "/Climate", "/x/climate", "*", "//"].map((url) => matches(url))).not.toContain(true);
  expect(matches("/healthz", "/climate/healthz")).toBe(true);
});

describe("options", () => {
  test("are rejected with all errors together", () => {
    const options = {
      atlas: Promise.resolve(fakeAtlas()),
      prefix: "climate/",
      corsOrigins: ["https://example.org", "example.org/path"],
      limits: { batchCount: 0 },
      timeouts: { headersTimeoutMs: 5, bodyTimeoutMs: -1 },
      host: "127.0.0.1",
    };
    expect(() => createHandler(options as never)).toThrow(
      expect.objectContaining({
        code: "configuration_invalid",
        items: [
          expect.objectContaining({ pointer: "/atlas", detail: expect.stringContaining("await") as string }),
          expect.objectContaining({ pointer: "/prefix", code: "malformed" }),
          expect.objectContaining({ pointer: "/corsOrigins/1", code: "malformed" }),
          expect.objectContaining({ pointer: "/ledger", code: "missing" }),
          expect.objectContaining({ pointer: "/limits/batchCount", code: "out_of_range" }),
          expect.objectContaining({ pointer: "/timeouts/bodyTimeoutMs", code: "out_of_range" }),
          expect.objectContaining({ pointer: "/timeouts/headersTimeoutMs", code: "unknown" }),
          expect.objectContaining({ pointer: "/host", code: "unknown" }),
        ],
      }),
    );
  });

  test.each(["/", "/a/", "a", "/a//b", "/.", "/a/..", "/a b", "/%61", "/a?b", "/ä"])(
    "reject the prefix %j",
    (prefix) => {
      const options = { atlas: fakeAtlas(), ledger: new MemoryLedger(), prefix };
      expect(() => createHandler(options)).toThrow(/^prefix must be a path such as "\/climate"/);
    },
  );

  test.each(["", "/a", "/a/b.c", "/v1.0_x~y-z"])("accept the prefix %j", async (prefix) => {
    const { handler } = await embed({ prefix });
    const { url } = await listen(handler);
    expect((await fetch(`${url}${prefix}/healthz`)).status).toBe(200);
  });
});
