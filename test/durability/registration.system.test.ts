/**
 * Concurrent registrations of the same customer create it only once.
 * A full run has ISOTHERM_DURABILITY_RACES=20 and ISOTHERM_DURABILITY_RACERS=1000.
 */
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { expect, test } from "vitest";
import { faultTest } from "../faultTest.ts";
import type { FaultName } from "../faults/faultNames.ts";
import { describeWithPostgres, postgresOfSuite } from "../ledger/postgresServer.ts";
import { type HttpResponse, HttpClient, jsonPost } from "./clients.ts";
import { dataFolder } from "./dataFolder.ts";
import {
  findDamage,
  newAccount,
  type LedgerLocation,
  type Service,
  sizeSetting,
  startService,
  withLedger,
} from "./service.ts";

const RACES = sizeSetting("RACES", 1);
const RACERS = sizeSetting("RACERS", 200);
const TIMEOUT_MS = 60_000 + RACES * RACERS * 30;

const data = dataFolder("race");

interface RaceResult {
  /** Number of responses by status and, if present, problem code. */
  readonly statuses: Readonly<Record<string, number>>;
  readonly customerCount: number;
}

/** Runs races at services that share a ledger, each for a different internal_id. */
async function runRaces(location: LedgerLocation, services: readonly Service[]): Promise<readonly RaceResult[]> {
  const { accountId, apiKey } = await withLedger(location, (ledger) =>
    newAccount(ledger, { name: "Racers", internalIds: [] }),
  );
  const http = new HttpClient(RACERS);
  const results: RaceResult[] = [];
  for (let race = 0; race < RACES; race++) {
    const options = jsonPost({ internal_id: `customer ${race}`, name: "Contended" });
    const register = async (url: string): Promise<HttpResponse> => {
      for (;;) {
        const headers = { ...options.headers, "X-API-Key": apiKey };
        const response = await http.send(`${url}/latest/api/v1/customers`, { ...options, headers });
        // Retry when the account exceeds its share of concurrent requests.
        if (response.status !== 503 || !response.text.includes('"overloaded"')) return response;
        await delay(10);
      }
    };
    const responses = await Promise.all(
      Array.from({ length: RACERS }, (_, i) => register(services[i % services.length]?.url ?? "")),
    );
    const statuses: Record<string, number> = {};
    for (const { status, text } of responses) {
      const { code = "" } = JSON.parse(text) as { readonly code?: string };
      const label = `${status} ${code}`.trim();
      statuses[label] = (statuses[label] ?? 0) + 1;
    }
    results.push({ statuses, customerCount: new Set(responses.map(({ text }) => text)).size });
  }
  http.close();
  const customers = await withLedger(location, (ledger) => ledger.listCustomers({ accountId, limit: 500 }));
  expect(customers.items).toHaveLength(RACES);
  expect(await findDamage(location)).toStrictEqual([]);
  return results;
}

const CREATED_ONCE: RaceResult = { statuses: { 200: RACERS - 1, 201: 1 }, customerCount: 1 };

test(
  `concurrent registrations create one customer: ${RACES} x ${RACERS} requests, SQLite`,
  async () => {
    const service = await startService({ data: data() });
    try {
      expect(await runRaces({ data: data() }, [service])).toStrictEqual(
        Array.from({ length: RACES }, () => CREATED_ONCE),
      );
    } finally {
      await service.stop();
    }
  },
  TIMEOUT_MS,
);

describeWithPostgres("with PostgreSQL and two services", () => {
  const server = postgresOfSuite();

  async function runWithTwoServices(fault?: FaultName): Promise<readonly RaceResult[]> {
    const location = { data: data(), database: await server().newDatabase() };
    const services: Service[] = [];
    try {
      services.push(await startService(location, { fault }));
      services.push(await startService({ ...location, data: join(data(), "second") }, { fault }));
      return await runRaces(location, services);
    } finally {
      for (const service of services) await service.stop();
    }
  }

  test(
    `concurrent registrations create one customer: ${RACES} x ${RACERS} requests`,
    async () => {
      expect(await runWithTwoServices()).toStrictEqual(Array.from({ length: RACES }, () => CREATED_ONCE));
    },
    TIMEOUT_MS,
  );

  faultTest(
    "detects the injected fault: a lookup followed by an insert, without a unique constraint",
    async () => {
      // A single race may end well.
      const runs = async (): Promise<void> => {
        for (let run = 0; run < 10; run++) await runWithTwoServices("registers-customers-in-two-steps");
      };
      await expect(runs()).rejects.toThrow(/to have a length of/);
    },
    10 * TIMEOUT_MS,
  );
});
