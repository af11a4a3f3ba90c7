/**
 * Connections of clients without a valid key. They come from 127.0.0.2 and those of honest clients from 127.0.0.1, unless a
 * test says otherwise. `ISOTHERM_ATTACK_IDLE_CONNECTIONS` sets the number of idle connections.
 */
import type { Socket } from "node:net";
import { setTimeout } from "node:timers/promises";
import { afterEach, expect, test } from "vitest";
import { HEADERS, startTestHost, type TestHost } from "../host/testHost.ts";
import { attackSize } from "./attackSize.ts";
import { HostClients, send } from "./hostClients.ts";
import { type IdleClients, startIdleClients } from "./idleClients.ts";
import { headOf, openRawConnection } from "./rawConnection.ts";

/** A busy machine takes long to open all connections. */
const SLOW_MS = 1_800_000;
const IDLE_COUNT = attackSize("IDLE_CONNECTIONS", { small: 300, full: 10_000 });

let host: TestHost;
let clients: HostClients;
async function startHost(options?: Parameters<typeof startTestHost>[0]): Promise<void> {
  host = await startTestHost(options);
  clients = new HostClients(host);
}
let idleClients: IdleClients | undefined;
afterEach(async () => {
  await idleClients?.stop();
  idleClients = undefined;
  await clients.close();
});

/**
 * Sends requests until some have been refused. A rejection is forgotten every 100 ms, so a slow machine needs more requests.
 * @param statusOf sends a request on a new connection
 */
async function statusesUntilRefused(statusOf: () => Promise<number>): Promise<readonly number[]> {
  const statuses: number[] = [];
  while (statuses.filter((status) => status === 0).length < 20) statuses.push(await statusOf());
  return statuses;
}

test(
  "a new connection replaces the one that has been idle longest, and clients with a valid key keep theirs",
  { timeout: SLOW_MS },
  async () => {
    // Connections must not be closed for another reason meanwhile.
    const timeouts = {
      headersTimeoutMs: SLOW_MS,
      requestTimeoutMs: SLOW_MS,
      inactivityTimeoutMs: SLOW_MS,
      keepAliveTimeoutMs: SLOW_MS,
    };
    await startHost({ adminPort: 0, timeouts: { ...timeouts, connectionCountMax: IDLE_COUNT } });
    const [honest] = (await clients.openFrom("127.0.0.1", 1)) as [Socket];
    expect(await send(honest, "GET /api/v1/limits", HEADERS)).toMatchObject({ status: 200 });
    const count = IDLE_COUNT - 1;
    idleClients = await startIdleClients({ port: host.address.port, localAddress: "127.0.0.2", count });
    expect(idleClients.opened).toStrictEqual({ 200: count });
    expect(await clients.metric("isotherm_connections_open")).toBe(IDLE_COUNT);

    const newcomers = await clients.openFrom("127.0.0.1", 10);
    for (const socket of newcomers) {
      expect(await send(socket, "GET /api/v1/limits", HEADERS)).toMatchObject({ status: 200 });
    }
    await expect.poll(() => idleClients?.closedPositions()).toStrictEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    expect(await send(honest, "GET /api/v1/limits", HEADERS)).toMatchObject({ status: 200 });
    expect(await clients.metric("isotherm_connections_evicted_total")).toBe(10);
    expect(await clients.metric("isotherm_connections_open")).toBe(IDLE_COUNT);
  },
);

test("without an idle connection, further ones are closed at once", async () => {
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => (release = resolve));
  await startHost({ adminPort: 0, timeouts: { connectionCountMax: 3 } });
  const { findKey } = host.ledger;
  host.ledger.findKey = async (digest) => {
    await released;
    return findKey.call(host.ledger, digest);
  };
  const busy = (await clients.openFrom("127.0.0.1", 3)).map((socket) => send(socket, "GET /api/v1/limits", HEADERS));
  await expect.poll(() => clients.metric("isotherm_requests_open")).toBe(3);
  const [refused] = (await clients.openFrom("127.0.0.1", 1)) as [Socket];
  await expect.poll(() => refused.destroyed).toBe(true);
  expect(await clients.metric('isotherm_connections_refused_total{reason="too_many_connections"}')).toBe(1);
  expect(await clients.metric("isotherm_connections_idle")).toBe(0);
  release();
  expect((await Promise.all(busy)).map(({ status }) => status)).toStrictEqual([200, 200, 200]);
});

test("unread responses to requests without a key do not keep new clients out", async () => {
  await startHost({ adminPort: 0, timeouts: { connectionCountMax: 8 } });
  const attackers = await clients.openFrom("127.0.0.2", 8);
  // Each further request is sent when the buffers of the connection have taken the response to the one before.
  for (let i = 0; i < 20; i++) {
    for (const socket of attackers) socket.pause().write(headOf("GET /docs/swagger-ui-bundle.js", {}));
    await setTimeout(50);
  }
  await expect.poll(() => clients.metric("isotherm_connections_idle")).toBe(0);
  // Until the service has filled the buffers of a connection, it is busy.
  const statusOfNewClient = async (): Promise<number> =>
    (await clients.sendFrom("127.0.0.1", "GET /api/v1/limits", HEADERS)).status;
  await expect.poll(statusOfNewClient, { interval: 200 }).toBe(200);
  expect(await clients.metric("isotherm_connections_evicted_total")).toBe(1);
});

test("connections are limited by address, except for those of a trusted proxy", async () => {
  await startHost({
    adminPort: 0,
    timeouts: { connectionsPerAddressMax: 5 },
    clients: { exemptAddresses: [] },
    trustedProxies: ["127.0.0.4"],
  });
  const attackers = await clients.openFrom("127.0.0.2", 12);
  await expect.poll(() => attackers.filter(({ destroyed }) => destroyed).length).toBe(7);
  expect(await clients.metric('isotherm_connections_refused_total{reason="too_many_connections_of_address"}')).toBe(7);
  const honest = await clients.openFrom("127.0.0.1", 5);
  const proxied = await clients.openFrom("127.0.0.4", 12);
  await setTimeout(100);
  expect([...honest, ...proxied].filter(({ destroyed }) => destroyed)).toHaveLength(0);
  // Closed connections make room.
  for (const socket of attackers) socket.destroy();
  await expect.poll(() => clients.metric("isotherm_connections_open")).toBe(17);
  expect(await clients.sendFrom("127.0.0.2", "GET /healthz")).toMatchObject({ status: 200 });
});

test("connections of an address whose requests keep being rejected are closed at once, until it stops", async () => {
  await startHost({
    adminPort: 0,
    clients: { openRequestsPerS: 0.001, openRequestBurst: 1, exemptAddresses: [] },
  });
  const statusOf = async (address: string): Promise<number> =>
    (await clients.sendFrom(address, "GET /openapi.json")).status;
  const statuses = await statusesUntilRefused(() => statusOf("127.0.0.2"));
  const refusedCount = statuses.filter((status) => status === 0).length;
  expect(statuses.slice(0, 102)).toStrictEqual([200, ...Array.from({ length: 101 }, () => 429)]);
  expect(await clients.metric('isotherm_connections_refused_total{reason="too_many_rejections_of_address"}')).toBe(
    refusedCount,
  );
  expect(await statusOf("127.0.0.3")).toBe(200);
  await expect.poll(() => statusOf("127.0.0.2"), { interval: 1_000 }).toBe(429);
});

test.each([
  ["are not HTTP", "X", {}],
  ["have an unsupported transfer coding", "GET /", { "Transfer-Encoding": "gzip, chunked" }],
])("connections of an address whose requests %s are closed at once", async (_, line, fields) => {
  await startHost({ adminPort: 0, clients: { exemptAddresses: ["127.0.0.1"] } });
  const statusOf = async (address: string): Promise<number> => (await clients.sendFrom(address, line, fields)).status;
  const statuses = await statusesUntilRefused(() => statusOf("127.0.0.2"));
  const refusedCount = statuses.filter((status) => status === 0).length;
  expect(statuses.slice(0, 101).filter((status) => status < 400)).toStrictEqual([]);
  expect(await clients.metric('isotherm_connections_refused_total{reason="too_many_rejections_of_address"}')).toBe(
    refusedCount,
  );
  for (let i = 0; i < 200; i++) expect(await statusOf("127.0.0.1")).toBeGreaterThanOrEqual(400);
});

test("an address whose clients pipeline requests without end is blocked", async () => {
  await startHost({ adminPort: 0, clients: { exemptAddresses: ["127.0.0.1"] } });
  const flood = async (): Promise<void> => {
    const [socket] = (await clients.openFrom("127.0.0.2", 1)) as [Socket];
    if (socket.destroyed) return;
    const closed = new Promise<void>((resolve) => socket.resume().once("close", () => resolve()));
    socket.write(headOf("GET /x", {}).repeat(2_000));
    await closed;
  };
  const refusedCountAfterFlood = async (): Promise<number> => {
    await flood();
    return clients.metric('isotherm_connections_refused_total{reason="too_many_rejections_of_address"}');
  };
  await expect.poll(refusedCountAfterFlood, { interval: 1 }).toBeGreaterThan(0);
  expect(await clients.sendFrom("127.0.0.1", "GET /healthz")).toMatchObject({ status: 200 });
});

test.each([
  ["keeps", {}],
  ["closes", { Connection: "close" }],
])("an address whose client with a valid key %s its connection is not blocked because of others", async (_, fields) => {
  await startHost({ clients: { openRequestsPerS: 0.001, openRequestBurst: 1, exemptAddresses: [] } });
  expect(await clients.sendFrom("127.0.0.2", "GET /api/v1/limits", { ...HEADERS, ...fields })).toMatchObject({
    status: 200,
  });
  for (let i = 0; i < 200; i++) {
    expect((await clients.sendFrom("127.0.0.2", "GET /openapi.json")).status).toBe(429);
  }
  expect(await clients.sendFrom("127.0.0.2", "GET /api/v1/limits", HEADERS)).toMatchObject({ status: 200 });
});

test("connections of a trusted proxy are not closed because of a client's rejected requests", async () => {
  await startHost({
    clients: { openRequestsPerS: 0.001, openRequestBurst: 1, exemptAddresses: [] },
    trustedProxies: ["127.0.0.2"],
  });
  for (let i = 0; i < 200; i++) {
    const { status } = await clients.sendFrom("127.0.0.2", "GET /openapi.json", { "X-Forwarded-For": "198.51.100.1" });
    expect(status).toBe(i === 0 ? 200 : 429);
  }
});

test("a connection that never sends a request is closed", async () => {
  await startHost({ timeouts: { headersTimeoutMs: 100, requestTimeoutMs: 200, checkEveryMs: 20 } });
  const { closed } = await openRawConnection(host.address.port);
  expect(await closed).toMatch(/^(HTTP\/1\.1 408 |$)/);
});
