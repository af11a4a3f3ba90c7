/**
 * Many clients register one and the same customer at once: it is one customer, made once.
 * ISOTHERM_DURABILITY_RACES=20 and ISOTHERM_DURABILITY_RACERS=1000 are the whole of it.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterEach, beforeEach, expect, test } from "vitest";
import { describeWithPostgres, type PostgresServer, startPostgres } from "../ledger/postgresServer.ts";
import { type Answer, Clients, posted } from "./clients.ts";
import { builtWith, newAccount, type Place, type Service, sizeOf, startService, withLedger } from "./service.ts";

const RACES = sizeOf("RACES", 3);
const RACERS = sizeOf("RACERS", 200);
const TIMEOUT_MS = 60_000 + RACES * RACERS * 30;

let data: string;
beforeEach(async () => {
  data = await mkdtemp(join(tmpdir(), "isotherm-race-"));
});
afterEach(() => rm(data, { recursive: true, force: true }));

interface Race {
  /** Answers by status, and code where there is one. */
  readonly statuses: Readonly<Record<string, number>>;
  readonly customerCount: number;
}

/** Races at one or more services of one ledger, each for an internal_id of its own. */
async function races(place: Place, services: readonly Service[]): Promise<readonly Race[]> {
  const { accountId, apiKey } = await withLedger(place, (ledger) =>
    newAccount(ledger, { name: "Racers", internalIds: [] }),
  );
  const clients = new Clients(RACERS);
  const found: Race[] = [];
  for (let race = 0; race < RACES; race++) {
    const question = posted({ internal_id: `customer ${race}`, name: "Contended" });
    const ask = async (url: string): Promise<Answer> => {
      for (;;) {
        const headers = { ...question.headers, "X-API-Key": apiKey };
        const answer = await clients.ask(`${url}/latest/api/v1/customers`, { ...question, headers });
        // An account that has more in work than its share is told to ask again, and does.
        if (answer.status !== 503 || !answer.text.includes('"overloaded"')) return answer;
        await delay(10);
      }
    };
    const asked = Array.from({ length: RACERS }, (_, i) => ask(services[i % services.length]?.url ?? ""));
    const answers = await Promise.all(asked);
    const statuses: Record<string, number> = {};
    for (const { status, text } of answers) {
      const { code = "" } = JSON.parse(text) as { readonly code?: string };
      const what = `${status} ${code}`.trim();
      statuses[what] = (statuses[what] ?? 0) + 1;
    }
    found.push({ statuses, customerCount: new Set(answers.map(({ text }) => text)).size });
  }
  clients.close();
  const customers = await withLedger(place, (ledger) => ledger.listCustomers({ accountId, limit: 500 }));
  expect(customers.items).toHaveLength(RACES);
  return found;
}

const WON_ONCE: Race = { statuses: { 200: RACERS - 1, 201: 1 }, customerCount: 1 };

test(
  `one customer, one 201: ${RACES} x ${RACERS} registrations, SQLite`,
  async () => {
    const service = await startService({ data });
    try {
      expect(await races({ data }, [service])).toStrictEqual(Array.from({ length: RACES }, () => WON_ONCE));
    } finally {
      await service.stop();
    }
  },
  TIMEOUT_MS,
);

describeWithPostgres("in PostgreSQL, with two services", () => {
  let server: PostgresServer;
  beforeEach(async () => {
    server = await startPostgres();
  });
  afterEach(() => server.dispose());

  async function ran(built?: string): Promise<readonly Race[]> {
    const place = { data, database: await server.newDatabase() };
    const how = built === undefined ? {} : { built };
    const services: Service[] = [];
    try {
      services.push(await startService(place, how));
      services.push(await startService({ ...place, data: join(data, "second") }, how));
      return await races(place, services);
    } finally {
      for (const service of services) await service.stop();
    }
  }

  test(
    `one customer, one 201: ${RACES} x ${RACERS} registrations`,
    async () => {
      expect(await ran()).toStrictEqual(Array.from({ length: RACES }, () => WON_ONCE));
    },
    TIMEOUT_MS,
  );

  test(
    "is found out when it looks first and then adds",
    async () => {
      const unique = `.addUniqueConstraint("customer_internal_id", ["account_id", "internal_id"])`;
      const conflict = `.onConflict((conflict) => conflict.columns(["account_id", "internal_id"]).doNothing())`;
      const { built, done } = await builtWith([
        { file: "ledger/schema.js", from: unique, to: "" },
        { file: "ledger/customers.js", from: conflict, to: "" },
      ]);
      try {
        await expect(ran(built)).rejects.toThrow(/to have a length of/);
      } finally {
        await done();
      }
    },
    TIMEOUT_MS,
  );
});
