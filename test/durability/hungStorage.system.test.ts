/**
 * Storage that hangs: every request gets an answer, 503 with Retry-After, while the storage still hangs; and a request
 * that is repeated with its Idempotency-Key afterwards is metered once, whether or not its first usage was recorded.
 */
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import pg from "pg";
import { describe, expect, test } from "vitest";
import { describeWithPostgres, postgresOfSuite } from "../ledger/postgresServer.ts";
import { HttpClient, type HttpResponse } from "./clients.ts";
import { dataFolder } from "./dataFolder.ts";
import {
  findDamage,
  type LedgerLocation,
  newAccount,
  type Service,
  startService,
  type TestAccount,
  withLedger,
} from "./service.ts";
import { isStraceAvailable } from "./syscallTrace.ts";

const REQUESTS = 40;
const TIMEOUT_MS = 180_000;
/** How long a call of the disk hangs: longer than the ledger waits. */
const DISK_DELAY_S = 25;
const TARGET =
  "/api/v1/hazard-risk?latitude=11.59&longitude=43.15&hazards=riverine_floods&analysis_years=2050&scenarios=rcp8p5";

const data = dataFolder("hung");

const createAccount = (location: LedgerLocation): Promise<TestAccount> =>
  withLedger(location, (ledger) => newAccount(ledger, { name: "Clients", internalIds: ["one"] }));

/** Sends requests of one unit, each with its own Idempotency-Key. */
class KeyedClient {
  readonly keys: string[] = [];
  readonly #http = new HttpClient(REQUESTS);
  #nextKey = 0;
  readonly #url: string;
  readonly #account: TestAccount;

  constructor(url: string, account: TestAccount) {
    this.#url = url;
    this.#account = account;
  }

  send(key: string): Promise<HttpResponse> {
    const { apiKey, customerIds } = this.#account;
    const headers = { "X-API-Key": apiKey, "X-Customer-ID": customerIds[0] ?? "", "Idempotency-Key": key };
    return this.#http.send(this.#url + TARGET, { headers });
  }

  sendNew(count: number): Promise<readonly HttpResponse[]> {
    const keys = Array.from({ length: count }, () => `key-${this.#nextKey++}`);
    this.keys.push(...keys);
    return Promise.all(keys.map((key) => this.send(key)));
  }

  close(): void {
    this.#http.close();
  }
}

function expectAnswered(responses: readonly HttpResponse[]): void {
  for (const { status, headers, text } of responses) {
    expect([status, (JSON.parse(text) as { readonly code?: string }).code]).toEqual([503, "usage_not_recorded"]);
    expect(Number(headers["retry-after"])).toBeGreaterThan(0);
  }
}

/** Repeats all requests twice, and checks that each has been metered once, during or after the hang. */
async function expectMeteredOnce(client: KeyedClient, location: LedgerLocation, service: Service): Promise<void> {
  for (let repetition = 0; repetition < 2; repetition++) {
    for (const key of client.keys) {
      let response = await client.send(key);
      for (; response.status === 503; response = await client.send(key)) await delay(200);
      expect(response.status).toBe(200);
    }
  }
  client.close();
  await service.stop();
  const receipts = await withLedger(location, async (ledger) => {
    const found: string[] = [];
    for await (const { receipt, units } of ledger.events({})) {
      expect(units).toBe(1);
      found.push(receipt);
    }
    return found;
  });
  expect(receipts).toHaveLength(client.keys.length);
  expect(await findDamage(location)).toStrictEqual([]);
}

describe.skipIf(!isStraceAvailable)("a disk that hangs", () => {
  test(
    "does not keep requests waiting, and each of them is metered once afterwards",
    async () => {
      const location = { data: data() };
      const account = await createAccount(location);
      await (await startService(location)).stop();
      const log = join(data(), "ledger.sqlite-wal");
      const inject = `inject=fsync,fdatasync:delay_enter=${DISK_DELAY_S}s:when=20`;
      const wrapper = ["strace", "-f", "-D", "-qq", "-o", "/dev/null", "-P", log, "-e", "trace=fsync,fdatasync"];
      const service = await startService(location, { wrapper: [...wrapper, "-e", inject] });
      const client = new KeyedClient(service.url, account);
      try {
        let late: readonly HttpResponse[] = [];
        while (late.length === 0) late = (await client.sendNew(4)).filter(({ status }) => status !== 200);
        expectAnswered(late);
        // The disk still hangs for some seconds. These wait for the entries before them.
        const first = client.sendNew(REQUESTS);
        await expectMeteredOnce(client, location, service);
        for (const { status } of await first) expect([200, 503]).toContain(status);
      } finally {
        await service.kill();
      }
    },
    TIMEOUT_MS,
  );
});

describeWithPostgres("a PostgreSQL server that hangs", () => {
  const server = postgresOfSuite();

  async function campaign(hang: (database: string) => Promise<() => Promise<void>>): Promise<void> {
    const location = { data: data(), database: await server().newDatabase() };
    const account = await createAccount(location);
    const service = await startService(location);
    const client = new KeyedClient(service.url, account);
    try {
      for (const { status } of await client.sendNew(REQUESTS)) expect(status).toBe(200);
      const resume = await hang(location.database);
      try {
        const sent = client.sendNew(REQUESTS / 2);
        // Some are in the batch that hangs, the others wait for it.
        await delay(500);
        expectAnswered([...(await client.sendNew(REQUESTS / 2)), ...(await sent)]);
      } finally {
        await resume();
      }
      await expectMeteredOnce(client, location, service);
    } finally {
      await service.kill();
    }
  }

  test(
    "does not keep requests waiting, and each of them is metered once afterwards",
    () =>
      campaign(async () => {
        await server().pause();
        return () => Promise.resolve(server().resume());
      }),
    TIMEOUT_MS,
  );

  test(
    "because another program locks the ledger does not keep requests waiting, and each is metered once afterwards",
    () =>
      campaign(async (database) => {
        const other = new pg.Client(database);
        await other.connect();
        await other.query("begin; select * from ledger_state for update");
        return () => other.end();
      }),
    TIMEOUT_MS,
  );
});
