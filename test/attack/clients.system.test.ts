/**
 * Clients without a valid key. They come from 127.0.0.2 and honest clients from 127.0.0.1, unless a test says otherwise.
 * `ISOTHERM_ATTACK_RANDOM_KEYS` sets the number of connections.
 */
import type { Socket } from "node:net";
import { afterEach, expect, test } from "vitest";
import { isFault } from "../../src/errors.ts";
import { newKey } from "../../src/ledger/keys.ts";
import { HEADERS, startTestHost, type TestHost } from "../host/testHost.ts";
import { attackSize } from "./attackSize.ts";
import { HostClients, send } from "./hostClients.ts";

/** A busy machine takes long to open all connections. */
const SLOW_MS = 300_000;
const RANDOM_KEY_COUNT = attackSize("RANDOM_KEYS", { small: 300, full: 3_000 });

let host: TestHost;
let clients: HostClients;
async function startHost(options?: Parameters<typeof startTestHost>[0]): Promise<void> {
  host = await startTestHost(options);
  clients = new HostClients(host);
}
afterEach(() => clients.close());

test("keys that are being looked up take no place of requests with valid keys", { timeout: SLOW_MS }, async () => {
  await startHost({
    adminPort: 0,
    // As many requests in progress as the service allows would refuse the honest client.
    load: { requestsInProgressMax: 50 },
    clients: { keyLookupsMax: 100 },
    // No lookup may end before the ledger responds.
    timeouts: { workTimeoutMs: SLOW_MS },
  });
  expect(await clients.sendKeyed()).toBe(200);
  // A ledger that responds only later.
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => (release = resolve));
  host.ledger.findKey = async () => {
    await released;
    return undefined;
  };
  const attackers = await clients.openFrom("127.0.0.2", RANDOM_KEY_COUNT);
  const responses = Promise.all(
    attackers.map((socket) => send(socket, "GET /api/v1/limits", { "X-API-Key": newKey() })),
  );
  await expect.poll(() => clients.metric("isotherm_key_lookups"), { timeout: SLOW_MS }).toBe(100);
  const honest = await Promise.all(Array.from({ length: 40 }, () => clients.sendKeyed()));
  expect(honest.filter((status) => status !== 200)).toStrictEqual([]);
  release();
  const statuses = (await responses).map(({ status }) => status);
  expect(statuses.filter((status) => status === 503)).toHaveLength(RANDOM_KEY_COUNT - 100);
  expect(await clients.shedCount("too_many_key_lookups")).toBe(RANDOM_KEY_COUNT - 100);
  await expect.poll(() => clients.metric("isotherm_key_lookups")).toBe(0);
  // Refused clients lose their connection.
  expect((await responses).filter(({ status, connection }) => status === 503 && connection !== "close")).toEqual([]);
});

test("an address that presents many random keys is limited, and valid keys from it are not", async () => {
  const exemptAddresses: readonly string[] = [];
  await startHost({ adminPort: 0, clients: { openRequestsPerS: 1, openRequestBurst: 30, exemptAddresses } });
  expect(await clients.sendKeyed()).toBe(200);
  let lookupCount = 0;
  const { findKey } = host.ledger;
  host.ledger.findKey = (digest) => {
    lookupCount++;
    return findKey.call(host.ledger, digest);
  };
  const statuses: number[] = [];
  for (let i = 0; i < 60; i++) {
    const { status, connection } = await clients.sendFrom("127.0.0.2", "GET /api/v1/limits", { "X-API-Key": newKey() });
    statuses.push(status);
    if (status === 429) expect(connection).toBe("close");
  }
  expect(statuses.slice(0, 20)).toStrictEqual(Array.from({ length: 20 }, () => 401));
  expect(new Set(statuses.slice(20))).toStrictEqual(new Set([429]));
  // The ledger is spared, too.
  expect(lookupCount).toBeLessThan(40);
  expect(await clients.sendFrom("127.0.0.2", "GET /api/v1/limits", HEADERS)).toMatchObject({ status: 200 });
});

test("routes without a key, probes and OPTIONS are limited by address, each separately", async () => {
  await startHost({
    adminPort: 0,
    clients: {
      openRequestsPerS: 0.001,
      openRequestBurst: 5,
      probesPerS: 0.001,
      probeBurst: 6,
      exemptAddresses: ["127.0.0.1"],
    },
  });
  await host.ready;
  const sendAll = async (address: string, line: string, count: number): Promise<readonly number[]> => {
    const all: number[] = [];
    for (let i = 0; i < count; i++) {
      const [socket] = (await clients.openFrom(address, 1)) as [Socket];
      all.push((await send(socket, line)).status);
      socket.destroy();
    }
    return all;
  };
  expect(await sendAll("127.0.0.2", "GET /openapi.json", 8)).toStrictEqual([200, 200, 200, 200, 200, 429, 429, 429]);
  expect(await sendAll("127.0.0.2", "OPTIONS /openapi.json", 8)).toStrictEqual([
    204, 204, 204, 204, 204, 204, 429, 429,
  ]);
  expect(await sendAll("127.0.0.2", "GET /healthz", 4)).toStrictEqual([200, 200, 200, 200]);
  expect(await sendAll("127.0.0.2", "GET /readyz", 4)).toStrictEqual([200, 200, 429, 429]);
  for (const line of ["GET /openapi.json", "GET /readyz"]) {
    expect(await sendAll("127.0.0.3", line, 1)).toStrictEqual([200]);
    // Exempt.
    expect(await sendAll("127.0.0.1", line, 8)).toStrictEqual(Array.from({ length: 8 }, () => 200));
  }
  expect(await clients.shedCount("too_many_open_requests_of_address")).toBe(7);
  for (const line of ["GET /healthz", "OPTIONS /openapi.json"]) {
    expect(await clients.sendFrom("127.0.0.2", line)).toStrictEqual({ status: 429, connection: "close" });
  }
});

test("an account that keeps sending far above its rate loses its connections", async () => {
  await startHost({ limits: { requestsPerS: 0.001, requestBurst: 2 } });
  const [socket] = (await clients.openFrom("127.0.0.2", 1)) as [Socket];
  const responses = [];
  for (let i = 0; i < 23; i++) responses.push(await send(socket, "GET /api/v1/limits", HEADERS));
  const repeat = (count: number, status: number): unknown[] =>
    Array.from({ length: count }, () => ({ status, connection: "keep-alive" }));
  expect(responses).toStrictEqual([...repeat(2, 200), ...repeat(20, 429), { status: 429, connection: "close" }]);
  expect(await clients.sendFrom("127.0.0.3", "GET /api/v1/limits", HEADERS)).toStrictEqual({
    status: 429,
    connection: "close",
  });
});

test("rejected requests count, and beyond the limit close their connection", async () => {
  await startHost({ clients: { openRequestsPerS: 0.001, openRequestBurst: 3, exemptAddresses: [] } });
  const [socket] = (await clients.openFrom("127.0.0.2", 1)) as [Socket];
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
  await startHost({
    clients: { openRequestsPerS: 0.001, openRequestBurst: 1, exemptAddresses: [] },
    trustedProxies: ["127.0.0.2"],
  });
  const ask = async (localAddress: string, forwarded: string): Promise<number> =>
    (await clients.sendFrom(localAddress, "GET /", { "X-Forwarded-For": forwarded })).status;
  expect(await ask("127.0.0.2", "198.51.100.1")).toBe(200);
  expect(await ask("127.0.0.2", "198.51.100.2")).toBe(200);
  expect(await ask("127.0.0.2", "198.51.100.9, 198.51.100.1")).toBe(429);
  expect(await ask("127.0.0.3", "198.51.100.3")).toBe(200);
  expect(await ask("127.0.0.3", "198.51.100.4")).toBe(429);
});

test("invalid addresses and limits are rejected at the start, all at once", async () => {
  await startHost();
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
