/**
 * A request with an Idempotency-Key is counted once, however often and wherever it is repeated: in a race, after a
 * restart, at another service of the same database. ISOTHERM_DURABILITY_REPETITIONS=20 is the whole of it.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { describeWithPostgres, type PostgresServer, startPostgres } from "../ledger/postgresServer.ts";
import { randomFrom } from "../seededRandom.ts";
import { Clients, nothingSeen, pricedRequest, type Priced, findingsOf, type Seen, toldOf } from "./clients.ts";
import {
  type Account,
  builtWith,
  newAccount,
  type Place,
  type Service,
  sizeOf,
  startService,
  withLedger,
} from "./service.ts";

const REPETITIONS = sizeOf("REPETITIONS", 3);
const RACERS = 64;
const TIMEOUT_MS = 120_000 + REPETITIONS * 10_000;

let data: string;
beforeEach(async () => {
  data = await mkdtemp(join(tmpdir(), "isotherm-repeat-"));
});
afterEach(() => rm(data, { recursive: true, force: true }));

interface Counted {
  /** Answers that were counted. */
  readonly paid: number;
  /** Answers that said that they repeat one that was. */
  readonly replayed: number;
  readonly others: number;
}

/** Asks the same 64 times at once. */
async function race(
  services: readonly Service[],
  { account, priced, key, seen }: { account: Account; priced: Priced; key: string; seen: Seen },
): Promise<Counted> {
  const { accountId, apiKey, customerIds } = account;
  const [customerId = ""] = customerIds;
  const { meter, units, target, question } = priced;
  const own = { "X-API-Key": apiKey, "X-Customer-ID": customerId, "Idempotency-Key": key };
  const clients = new Clients(RACERS);
  const counted = { paid: 0, replayed: 0, others: 0 };
  const ask = async (index: number): Promise<void> => {
    const { url = "" } = services[index % services.length] ?? {};
    const exchanged = await clients.exchange(url + target, { ...question, headers: { ...question.headers, ...own } });
    seen.log.push(toldOf(exchanged, { accountId, customerId, meter, units }));
    const answer = "answer" in exchanged ? exchanged.answer : undefined;
    const said = [answer?.status, answer?.headers["x-usage-units"], answer?.headers["idempotent-replayed"]].join(" ");
    if (said === `200 ${units} `) counted.paid++;
    else if (said === "200 0 true") counted.replayed++;
    else counted.others++;
  };
  await Promise.all(Array.from({ length: RACERS }, (_, index) => ask(index)));
  clients.close();
  return counted;
}

/** Races before and after restarts, of one kind and the other, and with other requests under keys that are taken. */
async function campaign(place: Place, start: () => Promise<readonly Service[]>): Promise<void> {
  const account = await withLedger(place, (ledger) => newAccount(ledger, { name: "Repeats", internalIds: ["one"] }));
  const random = randomFrom(9);
  const seen = nothingSeen();
  const asked = Array.from({ length: REPETITIONS }, (_, i) => ({ priced: pricedRequest(random), key: `key-${i}` }));
  const first = { paid: 1, replayed: RACERS - 1, others: 0 };
  const again = { paid: 0, replayed: RACERS, others: 0 };
  const ends: readonly ((service: Service) => Promise<void>)[] = [({ kill }) => kill(), ({ stop }) => stop()];
  let services = await start();
  try {
    for (const { priced, key } of asked) {
      expect(await race(services, { account, priced, key, seen })).toStrictEqual(first);
    }
    for (const end of ends) {
      await Promise.all(services.map(end));
      services = await start();
      for (const { priced, key } of asked) {
        expect(await race(services, { account, priced, key, seen })).toStrictEqual(again);
      }
    }
    await refused(services, { account, seen });
    expect(await withLedger(place, (ledger) => findingsOf(seen, ledger, place))).toStrictEqual([]);
  } finally {
    await Promise.all(services.map(({ kill }) => kill()));
  }
}

/** Another request under a key that is taken, at every service: one digit of the query is another. */
async function refused(
  services: readonly Service[],
  { account, seen }: { account: Account; seen: Seen },
): Promise<void> {
  const clients = new Clients(1);
  const { accountId, apiKey, customerIds } = account;
  const [customerId = ""] = customerIds;
  const headers = { "X-API-Key": apiKey, "X-Customer-ID": customerId, "Idempotency-Key": "taken" };
  const query = "latitude=11.59&longitude=43.15&hazards=riverine_floods&analysis_years=2050&scenarios=rcp8p5";
  const ask = async (url: string, radius: number): Promise<readonly unknown[]> => {
    const exchanged = await clients.exchange(`${url}/api/v1/hazard-risk?${query}&radius=${radius}`, { headers });
    seen.log.push(toldOf(exchanged, { accountId, customerId, meter: "hazard_values", units: 1 }));
    if ("lost" in exchanged) throw exchanged.lost;
    const { status, headers: said, text } = exchanged.answer;
    return [status, said["x-usage-units"], (JSON.parse(text) as { readonly code?: string }).code];
  };
  for (const [index, { url }] of services.entries()) {
    expect(await ask(url, 1)).toStrictEqual([200, index === 0 ? "1" : "0", undefined]);
    expect(await ask(url, 2)).toStrictEqual([422, "0", "idempotency_key_reused"]);
  }
  clients.close();
}

test(
  "is counted once in SQLite, across races and restarts",
  () => campaign({ data }, async () => [await startService({ data })]),
  TIMEOUT_MS,
);

test(
  "is found out when a key is not known again",
  async () => {
    const { built, done } = await builtWith([
      { file: "ledger/sqliteStore.js", from: "if (known === undefined) {", to: "if (known?.receipt !== receipt) {" },
    ]);
    try {
      const start = async (): Promise<readonly Service[]> => [await startService({ data }, { built })];
      await expect(campaign({ data }, start)).rejects.toThrow(/to strictly equal/);
    } finally {
      await done();
    }
  },
  TIMEOUT_MS,
);

describeWithPostgres("in PostgreSQL", () => {
  let server: PostgresServer;
  beforeEach(async () => {
    server = await startPostgres();
  });
  afterEach(() => server.dispose());

  const pair = (place: Place, built?: string) => async (): Promise<readonly Service[]> => {
    const how = built === undefined ? {} : { built };
    const second = { ...place, data: join(data, "second") };
    return [await startService(place, how), await startService(second, how)];
  };

  test(
    "is counted once, across races, restarts and two services",
    async () => {
      const place = { data, database: await server.newDatabase() };
      await campaign(place, pair(place));
    },
    TIMEOUT_MS,
  );

  test(
    "is found out when the one that comes later takes the place of the first",
    async () => {
      const place = { data, database: await server.newDatabase() };
      const from = "receipt = case when known.recorded_at < $2 then excluded.receipt else known.receipt end";
      const { built, done } = await builtWith([
        { file: "ledger/postgresRecord.js", from, to: "receipt = excluded.receipt" },
      ]);
      try {
        await expect(campaign(place, pair(place, built))).rejects.toThrow(/to strictly equal/);
      } finally {
        await done();
      }
    },
    TIMEOUT_MS,
  );
});
