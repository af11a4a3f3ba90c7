/**
 * Clients without a valid key. They come from 127.0.0.2 and honest clients from 127.0.0.1, unless a test says otherwise.
 * `ISOTHERM_ATTACK_RANDOM_KEYS` and `ISOTHERM_ATTACK_IDLE_CONNECTIONS` set the number of connections.
 */
import { connect, type Socket } from "node:net";
import { setTimeout } from "node:timers/promises";
import { afterEach, expect, test } from "vitest";
import { isFault } from "../../src/errors.ts";
import { newKey } from "../../src/ledger/keys.ts";
import { HEADERS, startTestHost, type TestHost } from "../host/testHost.ts";
import { attackSize } from "./attackSize.ts";
import { type IdleClients, startIdleClients } from "./idleClients.ts";
import { headOf, openRawConnection } from "./rawConnection.ts";

const RANDOM_KEY_COUNT = attackSize("RANDOM_KEYS", { small: 300, full: 3_000 });
const IDLE_COUNT = attackSize("IDLE_CONNECTIONS", { small: 300, full: 10_000 });

let host: TestHost;
const sockets: Socket[] = [];
let idleClients: IdleClients | undefined;
afterEach(async () => {
  await idleClients?.stop();
  idleClients = undefined;
  for (const socket of sockets.splice(0)) socket.destroy();
  await host.close();
});

/** Opens connections from an address. */
function openFrom(localAddress: string, count: number): Promise<Socket[]> {
  const { port } = host.address;
  return Promise.all(
    Array.from({ length: count }, async () => {
      const socket = connect({ host: "127.0.0.1", port, localAddress });
      sockets.push(socket);
      socket.on("error", () => undefined);
      await new Promise<void>((resolve) => socket.once("connect", resolve).once("close", () => resolve()));
      return socket;
    }),
  );
}

/** Sends a request. @returns the status and the field Connection; status 0 if the connection closes without a response */
function send(socket: Socket, line: string, fields: Readonly<Record<string, string>> = {}) {
  return new Promise<{ readonly status: number; readonly connection: string | undefined }>((resolve) => {
    let text = "";
    const settle = (): void => {
      const [, connection] = /^connection: (.*)\r$/im.exec(text) ?? [];
      resolve({ status: Number(text.slice(9, 12)), connection });
    };
    const onData = (chunk: Buffer): void => {
      text += chunk.toString("latin1");
      const headEnd = text.indexOf("\r\n\r\n");
      const [, length = "0"] = /^content-length: (\d+)/im.exec(text) ?? [];
      if (headEnd < 0 || text.length < headEnd + 4 + Number(length)) return;
      socket.off("data", onData).off("close", settle);
      settle();
    };
    if (socket.destroyed) settle();
    else socket.on("data", onData).once("close", settle).write(headOf(line, fields));
  });
}

/**
 * Sends requests until some have been refused. A rejection is forgotten every 100 ms, so a slow machine needs more requests.
 * @param statusOf sends a request on a new connection
 */
async function statusesUntilRefused(statusOf: () => Promise<number>): Promise<readonly number[]> {
  const statuses: number[] = [];
  while (statuses.filter((status) => status === 0).length < 20) statuses.push(await statusOf());
  return statuses;
}

const keyed = async (): Promise<number> => (await host.ask("/api/v1/limits")).status;
const shedCount = async (reason: string): Promise<number> => metric(`isotherm_shed_total{reason="${reason}"}`);
async function metric(series: string): Promise<number> {
  const text = await (await fetch(`${host.adminUrl}/metrics`)).text();
  return Number(
    text
      .split("\n")
      .find((line) => line.startsWith(`${series} `))
      ?.slice(series.length + 1) ?? 0,
  );
}

test("keys that are being looked up take no place of requests with valid keys", async () => {
  // As many requests in progress as the service allows would refuse the honest client.
  host = await startTestHost({ adminPort: 0, load: { requestsInProgressMax: 50 }, clients: { keyLookupsMax: 100 } });
  expect(await keyed()).toBe(200);
  // A ledger that responds only later.
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => (release = resolve));
  host.ledger.findKey = async () => {
    await released;
    return undefined;
  };
  const attackers = await openFrom("127.0.0.2", RANDOM_KEY_COUNT);
  const responses = Promise.all(
    attackers.map((socket) => send(socket, "GET /api/v1/limits", { "X-API-Key": newKey() })),
  );
  await expect.poll(() => metric("isotherm_key_lookups")).toBe(100);
  const honest = await Promise.all(Array.from({ length: 40 }, keyed));
  expect(honest.filter((status) => status !== 200)).toStrictEqual([]);
  release();
  const statuses = (await responses).map(({ status }) => status);
  expect(statuses.filter((status) => status === 503)).toHaveLength(RANDOM_KEY_COUNT - 100);
  expect(await shedCount("too_many_key_lookups")).toBe(RANDOM_KEY_COUNT - 100);
  await expect.poll(() => metric("isotherm_key_lookups")).toBe(0);
  // Refused clients lose their connection.
  expect((await responses).filter(({ status, connection }) => status === 503 && connection !== "close")).toEqual([]);
});

test("an address that presents many random keys is limited, and valid keys from it are not", async () => {
  const exemptAddresses: readonly string[] = [];
  host = await startTestHost({ adminPort: 0, clients: { openRequestsPerS: 1, openRequestBurst: 30, exemptAddresses } });
  expect(await keyed()).toBe(200);
  let lookupCount = 0;
  const { findKey } = host.ledger;
  host.ledger.findKey = (digest) => {
    lookupCount++;
    return findKey.call(host.ledger, digest);
  };
  const statuses: number[] = [];
  for (let i = 0; i < 60; i++) {
    const [socket] = (await openFrom("127.0.0.2", 1)) as [Socket];
    const { status, connection } = await send(socket, "GET /api/v1/limits", { "X-API-Key": newKey() });
    statuses.push(status);
    if (status === 429) expect(connection).toBe("close");
  }
  expect(statuses.slice(0, 20)).toStrictEqual(Array.from({ length: 20 }, () => 401));
  expect(new Set(statuses.slice(20))).toStrictEqual(new Set([429]));
  // The ledger is spared, too.
  expect(lookupCount).toBeLessThan(40);
  const [socket] = (await openFrom("127.0.0.2", 1)) as [Socket];
  expect(await send(socket, "GET /api/v1/limits", HEADERS)).toMatchObject({ status: 200 });
});

test("routes without a key are limited by address, probes are not", async () => {
  host = await startTestHost({
    adminPort: 0,
    clients: { openRequestsPerS: 0.001, openRequestBurst: 5, exemptAddresses: ["127.0.0.1"] },
  });
  await host.ready;
  const sendAll = async (address: string, line: string, count: number): Promise<readonly number[]> => {
    const all: number[] = [];
    for (let i = 0; i < count; i++) {
      const [socket] = (await openFrom(address, 1)) as [Socket];
      all.push((await send(socket, line)).status);
      socket.destroy();
    }
    return all;
  };
  expect(await sendAll("127.0.0.2", "GET /openapi.json", 8)).toStrictEqual([200, 200, 200, 200, 200, 429, 429, 429]);
  expect(await sendAll("127.0.0.2", "GET /healthz", 8)).toStrictEqual(Array.from({ length: 8 }, () => 200));
  expect(await sendAll("127.0.0.2", "GET /readyz", 8)).toStrictEqual(Array.from({ length: 8 }, () => 200));
  expect(await sendAll("127.0.0.3", "GET /openapi.json", 1)).toStrictEqual([200]);
  // Exempt.
  expect(await sendAll("127.0.0.1", "GET /openapi.json", 8)).toStrictEqual(Array.from({ length: 8 }, () => 200));
  expect(await shedCount("too_many_open_requests_of_address")).toBe(3);
});

test("rejected requests count, and beyond the limit close their connection", async () => {
  host = await startTestHost({ clients: { openRequestsPerS: 0.001, openRequestBurst: 3, exemptAddresses: [] } });
  const [socket] = (await openFrom("127.0.0.2", 1)) as [Socket];
  const responses = [];
  for (let i = 0; i < 4; i++) responses.push(await send(socket, "GET /nowhere"));
  expect(responses).toMatchObject([
    { status: 404, connection: "keep-alive" },
    { status: 404, connection: "keep-alive" },
    { status: 404, connection: "keep-alive" },
    { status: 404, connection: "close" },
  ]);
});

test("a trusted proxy's clients are told apart by X-Forwarded-For, which others cannot forge", async () => {
  host = await startTestHost({
    clients: { openRequestsPerS: 0.001, openRequestBurst: 1, exemptAddresses: [] },
    trustedProxies: ["127.0.0.2"],
  });
  const ask = async (localAddress: string, forwarded: string): Promise<number> => {
    const [socket] = (await openFrom(localAddress, 1)) as [Socket];
    return (await send(socket, "GET /", { "X-Forwarded-For": forwarded })).status;
  };
  expect(await ask("127.0.0.2", "198.51.100.1")).toBe(200);
  expect(await ask("127.0.0.2", "198.51.100.2")).toBe(200);
  expect(await ask("127.0.0.2", "198.51.100.9, 198.51.100.1")).toBe(429);
  expect(await ask("127.0.0.3", "198.51.100.3")).toBe(200);
  expect(await ask("127.0.0.3", "198.51.100.4")).toBe(429);
});

test(
  "a new connection replaces the one that has been idle longest, and clients with a valid key keep theirs",
  { timeout: 300_000 },
  async () => {
    // A slow machine takes long to open all connections, which must not be closed for another reason meanwhile.
    const slowMs = 300_000;
    const timeouts = {
      headersTimeoutMs: slowMs,
      requestTimeoutMs: slowMs,
      inactivityTimeoutMs: slowMs,
      keepAliveTimeoutMs: slowMs,
    };
    host = await startTestHost({ adminPort: 0, timeouts: { ...timeouts, connectionCountMax: IDLE_COUNT } });
    const [honest] = (await openFrom("127.0.0.1", 1)) as [Socket];
    expect(await send(honest, "GET /api/v1/limits", HEADERS)).toMatchObject({ status: 200 });
    const count = IDLE_COUNT - 1;
    idleClients = await startIdleClients({ port: host.address.port, localAddress: "127.0.0.2", count });
    expect(idleClients.opened).toStrictEqual({ 200: count });
    expect(await metric("isotherm_connections_open")).toBe(IDLE_COUNT);

    const newcomers = await openFrom("127.0.0.1", 10);
    for (const socket of newcomers) {
      expect(await send(socket, "GET /api/v1/limits", HEADERS)).toMatchObject({ status: 200 });
    }
    await expect.poll(() => idleClients?.closedPositions()).toStrictEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    expect(await send(honest, "GET /api/v1/limits", HEADERS)).toMatchObject({ status: 200 });
    expect(await metric("isotherm_connections_evicted_total")).toBe(10);
    expect(await metric("isotherm_connections_open")).toBe(IDLE_COUNT);
  },
);

test("without an idle connection, further ones are closed at once", async () => {
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => (release = resolve));
  host = await startTestHost({ adminPort: 0, timeouts: { connectionCountMax: 3 } });
  const { findKey } = host.ledger;
  host.ledger.findKey = async (digest) => {
    await released;
    return findKey.call(host.ledger, digest);
  };
  const busy = (await openFrom("127.0.0.1", 3)).map((socket) => send(socket, "GET /api/v1/limits", HEADERS));
  await expect.poll(() => metric("isotherm_requests_open")).toBe(3);
  const [refused] = (await openFrom("127.0.0.1", 1)) as [Socket];
  await expect.poll(() => refused.destroyed).toBe(true);
  expect(await metric('isotherm_connections_refused_total{reason="too_many_connections"}')).toBe(1);
  expect(await metric("isotherm_connections_idle")).toBe(0);
  release();
  expect((await Promise.all(busy)).map(({ status }) => status)).toStrictEqual([200, 200, 200]);
});

test("unread responses to requests without a key do not keep new clients out", async () => {
  host = await startTestHost({ adminPort: 0, timeouts: { connectionCountMax: 8 } });
  const attackers = await openFrom("127.0.0.2", 8);
  for (const socket of attackers) socket.pause().write(headOf("GET /docs/swagger-ui-bundle.js", {}).repeat(9));
  await expect.poll(() => metric("isotherm_connections_idle")).toBe(0);
  // Until the service has filled the buffers of a connection, it is busy.
  const statusOfNewClient = async (): Promise<number> => {
    const [honest] = (await openFrom("127.0.0.1", 1)) as [Socket];
    return (await send(honest, "GET /api/v1/limits", HEADERS)).status;
  };
  await expect.poll(statusOfNewClient, { timeout: 10_000, interval: 200 }).toBe(200);
  expect(await metric("isotherm_connections_evicted_total")).toBe(1);
});

test("connections are limited by address, except for those of a trusted proxy", async () => {
  host = await startTestHost({
    adminPort: 0,
    timeouts: { connectionsPerAddressMax: 5 },
    clients: { exemptAddresses: [] },
    trustedProxies: ["127.0.0.4"],
  });
  const attackers = await openFrom("127.0.0.2", 12);
  await expect.poll(() => attackers.filter(({ destroyed }) => destroyed).length).toBe(7);
  expect(await metric('isotherm_connections_refused_total{reason="too_many_connections_of_address"}')).toBe(7);
  const honest = await openFrom("127.0.0.1", 5);
  const proxied = await openFrom("127.0.0.4", 12);
  await setTimeout(100);
  expect([...honest, ...proxied].filter(({ destroyed }) => destroyed)).toHaveLength(0);
  // Closed connections make room.
  for (const socket of attackers) socket.destroy();
  await expect.poll(() => metric("isotherm_connections_open")).toBe(17);
  const [next] = (await openFrom("127.0.0.2", 1)) as [Socket];
  expect(await send(next, "GET /healthz")).toMatchObject({ status: 200 });
});

test("connections of an address whose requests keep being rejected are closed at once, until it stops", async () => {
  host = await startTestHost({
    adminPort: 0,
    clients: { openRequestsPerS: 0.001, openRequestBurst: 1, exemptAddresses: [] },
  });
  const statusOf = async (address: string): Promise<number> => {
    const [socket] = (await openFrom(address, 1)) as [Socket];
    return (await send(socket, "GET /openapi.json")).status;
  };
  const statuses = await statusesUntilRefused(() => statusOf("127.0.0.2"));
  const refusedCount = statuses.filter((status) => status === 0).length;
  expect(statuses.slice(0, 102)).toStrictEqual([200, ...Array.from({ length: 101 }, () => 429)]);
  expect(await metric('isotherm_connections_refused_total{reason="too_many_rejections_of_address"}')).toBe(
    refusedCount,
  );
  expect(await statusOf("127.0.0.3")).toBe(200);
  await expect.poll(() => statusOf("127.0.0.2"), { timeout: 20_000, interval: 1_000 }).toBe(429);
});

test.each([
  ["are not HTTP", "X", {}],
  ["have an unsupported transfer coding", "GET /", { "Transfer-Encoding": "gzip, chunked" }],
])("connections of an address whose requests %s are closed at once", async (_, line, fields) => {
  host = await startTestHost({ adminPort: 0, clients: { exemptAddresses: ["127.0.0.1"] } });
  const statusOf = async (address: string): Promise<number> => {
    const [socket] = (await openFrom(address, 1)) as [Socket];
    return (await send(socket, line, fields)).status;
  };
  const statuses = await statusesUntilRefused(() => statusOf("127.0.0.2"));
  const refusedCount = statuses.filter((status) => status === 0).length;
  expect(statuses.slice(0, 101).filter((status) => status < 400)).toStrictEqual([]);
  expect(await metric('isotherm_connections_refused_total{reason="too_many_rejections_of_address"}')).toBe(
    refusedCount,
  );
  for (let i = 0; i < 200; i++) expect(await statusOf("127.0.0.1")).toBeGreaterThanOrEqual(400);
});

test.each([
  ["keeps", {}],
  ["closes", { Connection: "close" }],
])("an address whose client with a valid key %s its connection is not blocked because of others", async (_, fields) => {
  host = await startTestHost({ clients: { openRequestsPerS: 0.001, openRequestBurst: 1, exemptAddresses: [] } });
  const [honest] = (await openFrom("127.0.0.2", 1)) as [Socket];
  expect(await send(honest, "GET /api/v1/limits", { ...HEADERS, ...fields })).toMatchObject({ status: 200 });
  for (let i = 0; i < 200; i++) {
    const [socket] = (await openFrom("127.0.0.2", 1)) as [Socket];
    expect((await send(socket, "GET /openapi.json")).status).toBe(429);
  }
  const [next] = (await openFrom("127.0.0.2", 1)) as [Socket];
  expect(await send(next, "GET /api/v1/limits", HEADERS)).toMatchObject({ status: 200 });
});

test("connections of a trusted proxy are not closed because of a client's rejected requests", async () => {
  host = await startTestHost({
    clients: { openRequestsPerS: 0.001, openRequestBurst: 1, exemptAddresses: [] },
    trustedProxies: ["127.0.0.2"],
  });
  for (let i = 0; i < 200; i++) {
    const [socket] = (await openFrom("127.0.0.2", 1)) as [Socket];
    const { status } = await send(socket, "GET /openapi.json", { "X-Forwarded-For": "198.51.100.1" });
    expect(status).toBe(i === 0 ? 200 : 429);
  }
});

test("invalid addresses and limits are rejected at the start, all at once", async () => {
  host = await startTestHost();
  const options = {
    trustedProxies: ["10.0.0.0/8", "proxy.example", "0.0.0.0/0"],
    clients: { exemptAddresses: ["x"], keyLookupsMax: 0, openRequestsPerS: 0 },
    timeouts: { connectionsPerAddressMax: 0.5 },
  };
  const fault: unknown = await startTestHost(options).catch((error: unknown) => error);
  const pointers = isFault(fault, "configuration_invalid") ? fault.items.map(({ pointer = "" }) => pointer) : [];
  expect(new Set(pointers)).toStrictEqual(
    new Set([
      "/clients/exemptAddresses/0",
      "/clients/keyLookupsMax",
      "/clients/openRequestsPerS",
      "/timeouts/connectionsPerAddressMax",
      "/trustedProxies/1",
      "/trustedProxies/2",
    ]),
  );
});

test("a connection that never sends a request is closed", async () => {
  host = await startTestHost({ timeouts: { headersTimeoutMs: 100, requestTimeoutMs: 200, checkEveryMs: 20 } });
  const { closed } = await openRawConnection(host.address.port);
  expect(await closed).toMatch(/^(HTTP\/1\.1 408 |$)/);
});
