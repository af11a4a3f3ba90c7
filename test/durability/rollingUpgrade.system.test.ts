/**
 * Rolling upgrade: while instances of an earlier release record in a PostgreSQL ledger, this release migrates it and
 * records too. Every record is there exactly once, sums and hash chain match, and idempotency keys hold for both.
 *
 * ISOTHERM_DURABILITY_EARLIER_CLI is the path of dist/cli/main.js of an earlier release, or several, separated by colons:
 * with it, whole services of that release and this one run side by side. Its schema must be older than this one's.
 */
import { createHash, randomBytes } from "node:crypto";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { Kysely, PostgresDialect } from "kysely";
import pg from "pg";
import { expect, test } from "vitest";
import type { UsageEntry } from "../../src/ledger/ledger.ts";
import { migrate, MIGRATIONS, type Storage, type Tables } from "../../src/ledger/schema.ts";
import { recordBatch } from "../../src/ledger/postgresRecorder.ts";
import { recordAsEarlier } from "../ledger/earlierRecording.ts";
import { describeWithPostgres, postgresOfSuite } from "../ledger/postgresServer.ts";
import { newReceipt } from "../ledger/receipt.ts";
import { randomFrom } from "../seededRandom.ts";
import { findInconsistencies, newObservations, runClients, summarize } from "./clients.ts";
import { dataFolder } from "./dataFolder.ts";
import { findDamage, newAccount, startService, type TestAccount, withLedger } from "./service.ts";

const EARLIER_CLIS = (process.env["ISOTHERM_DURABILITY_EARLIER_CLI"] ?? "").split(":").filter((path) => path !== "");
const TIMEOUT_MS = 180_000;
/** The first schema with the hash chain, from which on releases record with a separate statement. */
const CHAIN_VERSION = 3;
const BATCH_COUNT = 60;
const ROUTE = "/api/v1/hazard-risk";

const data = dataFolder("upgrade");

/** Creates the tables of an earlier release, with an account. */
async function createEarlierLedger(database: string, version: number): Promise<TestAccount> {
  const pool = new pg.Pool({ connectionString: database });
  const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
  try {
    const transaction: Storage["transaction"] = (work) => db.transaction().execute(work);
    const storage: Storage = { db, dialect: "postgres", nowMs: Date.now, transaction, snapshot: transaction };
    await migrate(storage, () => randomBytes(32).toString("hex"), MIGRATIONS.slice(0, version));
    const now = new Date().toISOString();
    const [accountId, keyId, customerId] = [newReceipt(), newReceipt(), newReceipt()];
    await db.insertInto("account").values({ account_id: accountId, name: "Clients", created_at: now }).execute();
    const digest = createHash("sha256").update(keyId).digest("hex");
    await db.insertInto("api_key").values({ key_id: keyId, account_id: accountId, digest, created_at: now }).execute();
    await db
      .insertInto("customer")
      .values({ customer_id: customerId, account_id: accountId, internal_id: "one", created_at: now })
      .execute();
    return { accountId, keyId, apiKey: "", customerIds: [customerId] };
  } finally {
    await db.destroy();
  }
}

/** Commits the transaction of a client as soon as another one waits for it. */
async function commitWhenAwaited(database: string, client: pg.Client): Promise<void> {
  const observer = new pg.Client({ connectionString: database });
  await observer.connect();
  try {
    const countWaiting = async (): Promise<number> => {
      const { rows } = await observer.query("select 1 from pg_stat_activity where wait_event_type = 'Lock'");
      return rows.length;
    };
    await expect.poll(countWaiting).toBeGreaterThan(0);
    await client.query("commit");
  } finally {
    await observer.end();
  }
}

/** Records a batch as the release of a schema version did. */
async function recordAs(version: number, client: pg.Client, entries: readonly UsageEntry[]): Promise<void> {
  if (version < CHAIN_VERSION) await recordAsEarlier(client, entries, Date.now());
  else await recordBatch(client, entries, Date.now());
}

describeWithPostgres("an instance of an earlier release", () => {
  const server = postgresOfSuite();

  test.each(MIGRATIONS.slice(0, -1).map(({ name }, index) => [index + 1, name] as const))(
    "of schema version %d (%s) records beside this release, before, during and after the migration",
    async (version) => {
      const database = await server().newDatabase();
      const location = { data: data(), database };
      const { accountId, keyId, customerIds } = await createEarlierLedger(database, version);
      const [customerId = ""] = customerIds;
      let keyCount = 0;
      const entry = (): UsageEntry => ({
        receipt: newReceipt(),
        accountId,
        keyId,
        customerId,
        meter: "hazard_values",
        units: 3,
        route: ROUTE,
        idempotency: { key: `key-${keyCount++}`, fingerprint: "a".repeat(64) },
      });
      const recorded: UsageEntry[] = [];
      const earlier = new pg.Client({ connectionString: database });
      await earlier.connect();
      const recordEarlier = async (batchCount: number): Promise<void> => {
        for (let batch = 0; batch < batchCount; batch++) {
          const entries = Array.from({ length: 1 + (batch % 5) }, entry);
          await recordAs(version, earlier, entries);
          recorded.push(...entries);
        }
      };
      try {
        await recordEarlier(BATCH_COUNT / 2);
        // A batch that is not committed when the migration begins. The migration must wait for it.
        await earlier.query("begin");
        await recordEarlier(1);
        const committed = version < CHAIN_VERSION ? commitWhenAwaited(database, earlier) : earlier.query("commit");
        await withLedger(location, async (ledger) => {
          await committed;
          const beside = recordEarlier(BATCH_COUNT / 2);
          for (let batch = 0; batch < BATCH_COUNT; batch++) {
            const entries = Array.from({ length: 1 + (batch % 5) }, entry);
            for (const { units } of await Promise.all(entries.map((each) => ledger.record(each))))
              expect(units).toBe(3);
            recorded.push(...entries);
          }
          await beside;
          // Each release knows the keys of the other.
          for (const known of [recorded[0], recorded.at(-1)]) {
            if (known === undefined) throw new Error("Nothing was recorded.");
            const repeated = { ...known, receipt: newReceipt() };
            expect(await ledger.record(repeated)).toEqual({ units: 0, isReplay: true });
            await recordAs(version, earlier, [{ ...known, receipt: newReceipt() }]);
          }
          const receipts: string[] = [];
          for await (const { receipt } of ledger.events({})) receipts.push(receipt);
          expect(receipts.toSorted()).toEqual(recorded.map(({ receipt }) => receipt).toSorted());
          const total = { requests: recorded.length, units: 3 * recorded.length };
          for (const groupBy of [[], ["day"], ["month"], ["customer"]] as const) {
            const { items } = await ledger.usage({ accountId, groupBy, limit: 10 });
            const sum = (name: "requests" | "units"): number => items.reduce((all, line) => all + line[name], 0);
            expect({ requests: sum("requests"), units: sum("units") }).toEqual(total);
          }
        });
      } finally {
        await earlier.end();
      }
      expect(await findDamage(location)).toEqual([]);
    },
    TIMEOUT_MS,
  );

  test.each(["", ...EARLIER_CLIS].slice(1))(
    "of the build %s serves beside this release under load, until it is stopped",
    async (cli) => {
      const location = { data: data(), database: await server().newDatabase() };
      const earlierLocation = { ...location, data: join(data(), "earlier") };
      const earlier = await startService(earlierLocation, { program: [cli, "serve"], flags: ["--log", "none"] });
      const { openLedger } = (await import(join(cli, "..", "..", "ledger", "openLedger.js"))) as {
        readonly openLedger: (typeof import("../../src/ledger/openLedger.ts"))["openLedger"];
      };
      const ledger = await openLedger({ database: location.database });
      const account = await newAccount(ledger, { name: "Clients", internalIds: ["one", "two"] });
      await ledger.close();
      const observations = newObservations();
      const isOver = { earlier: false, current: false };
      const run = (url: string, name: keyof typeof isOver): Promise<void> =>
        runClients(url, {
          account,
          clientCount: 16,
          random: randomFrom(name.length),
          observations,
          isOver: () => isOver[name],
        });
      const clients = [run(earlier.url, "earlier")];
      await delay(2_000);
      const current = await startService(location, { flags: ["--log", "none"] });
      try {
        clients.push(run(current.url, "current"));
        await delay(4_000);
        isOver.earlier = true;
        await clients[0];
        await earlier.stop();
        await delay(1_000);
        isOver.current = true;
        await Promise.all(clients);
      } finally {
        await earlier.kill();
        await current.stop();
      }
      console.log(`rolling upgrade: ${summarize(observations)}`);
      expect(await withLedger(location, (opened) => findInconsistencies(observations, opened, location))).toEqual([]);
      expect([...observations.statuses.keys()].filter((status) => ![200, 400, 403].includes(status))).toEqual([]);
    },
    TIMEOUT_MS,
  );
});
