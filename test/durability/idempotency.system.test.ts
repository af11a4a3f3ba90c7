/**
 * Idempotency: a request with an Idempotency-Key is metered once, even if it is repeated concurrently, after a
 * restart, or at another service with the same database. A full run has ISOTHERM_DURABILITY_REPETITIONS=20.
 */
import { join } from "node:path";
import { expect, test } from "vitest";
import { faultTest } from "../faultTest.ts";
import type { FaultName } from "../faults/faultNames.ts";
import { describeWithPostgres, postgresOfSuite } from "../ledger/postgresServer.ts";
import { randomFrom } from "../seededRandom.ts";
import {
  findInconsistencies,
  HttpClient,
  newObservations,
  type Observations,
  type PricedRequest,
  randomRequest,
  toClientRequest,
} from "./clients.ts";
import { dataFolder } from "./dataFolder.ts";
import {
  type LedgerLocation,
  newAccount,
  type Service,
  sizeSetting,
  startService,
  type TestAccount,
  withLedger,
} from "./service.ts";

const REPETITIONS = sizeSetting("REPETITIONS", 1);
const CONCURRENT_REQUESTS = 64;
const TIMEOUT_MS = 120_000 + REPETITIONS * 10_000;

const data = dataFolder("repeat");

interface ResponseCounts {
  /** Responses that were metered. */
  readonly metered: number;
  /** Responses marked as replays, with 0 units. */
  readonly replayed: number;
  readonly others: number;
}

/** Sends the same request 64 times concurrently. */
async function race(
  services: readonly Service[],
  {
    account,
    request,
    key,
    observations,
  }: { account: TestAccount; request: PricedRequest; key: string; observations: Observations },
): Promise<ResponseCounts> {
  const { accountId, apiKey, customerIds } = account;
  const [customerId = ""] = customerIds;
  const { meter, units, target, options } = request;
  const headers = { ...options.headers, "X-API-Key": apiKey, "X-Customer-ID": customerId, "Idempotency-Key": key };
  const http = new HttpClient(CONCURRENT_REQUESTS);
  const counts = { metered: 0, replayed: 0, others: 0 };
  const sendRequest = async (index: number): Promise<void> => {
    const { url = "" } = services[index % services.length] ?? {};
    const result = await http.trySend(url + target, { ...options, headers });
    observations.log.push(toClientRequest(result, { accountId, customerId, meter, units }));
    const response = "response" in result ? result.response : undefined;
    const received = response?.headers ?? {};
    const summary = [response?.status, received["x-usage-units"], received["idempotent-replayed"]].join(" ");
    if (summary === `200 ${units} `) counts.metered++;
    else if (summary === "200 0 true") counts.replayed++;
    else counts.others++;
  };
  await Promise.all(Array.from({ length: CONCURRENT_REQUESTS }, (_, index) => sendRequest(index)));
  http.close();
  return counts;
}

/** Repeats requests concurrently, after a crash and after a graceful restart, and reuses a key for another request. */
async function campaign(location: LedgerLocation, start: () => Promise<readonly Service[]>): Promise<void> {
  const account = await withLedger(location, (ledger) => newAccount(ledger, { name: "Repeats", internalIds: ["one"] }));
  const random = randomFrom(9);
  const observations = newObservations();
  const requests = Array.from({ length: REPETITIONS }, (_, i) => ({ request: randomRequest(random), key: `key-${i}` }));
  const first = { metered: 1, replayed: CONCURRENT_REQUESTS - 1, others: 0 };
  const repeated = { metered: 0, replayed: CONCURRENT_REQUESTS, others: 0 };
  const stops: readonly ((service: Service) => Promise<void>)[] = [({ kill }) => kill(), ({ stop }) => stop()];
  let services = await start();
  try {
    for (const { request, key } of requests) {
      expect(await race(services, { account, request, key, observations })).toStrictEqual(first);
    }
    for (const stop of stops) {
      await Promise.all(services.map(stop));
      services = await start();
      for (const { request, key } of requests) {
        expect(await race(services, { account, request, key, observations })).toStrictEqual(repeated);
      }
    }
    await expectReuseRejected(services, { account, observations });
    expect(await withLedger(location, (ledger) => findInconsistencies(observations, ledger, location))).toStrictEqual(
      [],
    );
  } finally {
    await Promise.all(services.map(({ kill }) => kill()));
  }
}

/**
 * Sends two requests that differ in one digit with the same key to every service; the second request must be rejected.
 */
async function expectReuseRejected(
  services: readonly Service[],
  { account, observations }: { account: TestAccount; observations: Observations },
): Promise<void> {
  const http = new HttpClient(1);
  const { accountId, apiKey, customerIds } = account;
  const [customerId = ""] = customerIds;
  const headers = { "X-API-Key": apiKey, "X-Customer-ID": customerId, "Idempotency-Key": "taken" };
  const query = "latitude=11.59&longitude=43.15&hazards=riverine_floods&analysis_years=2050&scenarios=rcp8p5";
  const sendRequest = async (url: string, radius: number): Promise<readonly unknown[]> => {
    const result = await http.trySend(`${url}/api/v1/hazard-risk?${query}&radius=${radius}`, { headers });
    observations.log.push(toClientRequest(result, { accountId, customerId, meter: "hazard_values", units: 1 }));
    if ("error" in result) throw result.error;
    const { status, headers: received, text } = result.response;
    return [status, received["x-usage-units"], (JSON.parse(text) as { readonly code?: string }).code];
  };
  for (const [index, { url }] of services.entries()) {
    expect(await sendRequest(url, 1)).toStrictEqual([200, index === 0 ? "1" : "0", undefined]);
    expect(await sendRequest(url, 2)).toStrictEqual([422, "0", "idempotency_key_reused"]);
  }
  http.close();
}

test(
  "a repeated request is metered once with SQLite, concurrently and across restarts",
  () => campaign({ data: data() }, async () => [await startService({ data: data() })]),
  TIMEOUT_MS,
);

faultTest(
  "detects the injected fault: idempotency keys are ignored",
  async () => {
    const start = async () => [await startService({ data: data() }, { fault: "ignores-idempotency-keys" })];
    await expect(campaign({ data: data() }, start)).rejects.toThrow(/to strictly equal/);
  },
  TIMEOUT_MS,
);

describeWithPostgres("with PostgreSQL", () => {
  const server = postgresOfSuite();

  const startPair = (location: LedgerLocation, fault?: FaultName) => async (): Promise<readonly Service[]> => {
    const second = { ...location, data: join(data(), "second") };
    return [await startService(location, { fault }), await startService(second, { fault })];
  };

  test(
    "a repeated request is metered once, concurrently, across restarts and by two services",
    async () => {
      const location = { data: data(), database: await server().newDatabase() };
      await campaign(location, startPair(location));
    },
    TIMEOUT_MS,
  );

  faultTest(
    "detects the injected fault: each service keeps the keys in memory",
    async () => {
      const location = { data: data(), database: await server().newDatabase() };
      const start = startPair(location, "keeps-idempotency-keys-in-memory");
      await expect(campaign(location, start)).rejects.toThrow(/to strictly equal/);
    },
    TIMEOUT_MS,
  );
});
