/** The number of customers of each account, which triggers maintain. */
import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import { Kysely, PostgresDialect, sql, SqliteDialect } from "kysely";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { customerCountOf } from "../../src/ledger/laterMigrations.ts";
import type { Ledger } from "../../src/ledger/ledger.ts";
import { openLedger } from "../../src/ledger/openLedger.ts";
import { migrate, MIGRATIONS, type Storage, type Tables } from "../../src/ledger/schema.ts";
import { SqliteLedger } from "../../src/ledger/sqlite.ts";
import { startInProcessWorker } from "./inProcessWorker.ts";
import { describeWithPostgres, type PostgresServer, startPostgres } from "./postgresServer.ts";

const MIGRATION_NAME = "number of customers per account";
const LIMIT = 20;
const REGISTRATION_COUNT = 100;

function storageOf(db: Kysely<Tables>, dialect: Storage["dialect"]): Storage {
  const transaction: Storage["transaction"] = (work) => db.transaction().execute(work);
  return { db, dialect, nowMs: () => 0, transaction, snapshot: transaction };
}

async function insertCustomers({ db }: Storage, accountId: string, internalIds: readonly string[]): Promise<void> {
  for (const internal_id of internalIds) {
    const row = { customer_id: randomUUID(), account_id: accountId, internal_id, created_at: "2026-01-01" };
    await db
      .insertInto("customer")
      .values(row)
      .onConflict((conflict) => conflict.doNothing())
      .execute();
  }
}

/** Tests on tables of an earlier release, created by `open`. */
function describeCounts(open: () => Promise<Storage>): void {
  test("is that of the rows, for rows before the migration and after it", async () => {
    const storage = await open();
    const { db } = storage;
    const version = MIGRATIONS.findIndex(({ name }) => name === MIGRATION_NAME);
    await migrate(storage, randomUUID, MIGRATIONS.slice(0, version));
    const accounts = ["first", "second", "third"];
    for (const account_id of accounts) {
      await db.insertInto("account").values({ account_id, name: account_id, created_at: "2026-01-01" }).execute();
    }
    await insertCustomers(storage, "first", ["a", "b"]);
    await insertCustomers(storage, "second", ["a"]);
    await migrate(storage, randomUUID);
    const counts = async (): Promise<number[]> => {
      const found: number[] = [];
      for (const account of accounts) {
        const { rows } = await sql<{ count: number }>`select ${customerCountOf(account)} as count`.execute(db);
        found.push(Number(rows[0]?.count));
      }
      return found;
    };
    expect(await counts()).toEqual([2, 1, 0]);
    await insertCustomers(storage, "first", ["c", "a", "c"]);
    await insertCustomers(storage, "third", ["a"]);
    expect(await counts()).toEqual([3, 1, 1]);
    await db.deleteFrom("customer").where("account_id", "=", "first").where("internal_id", "<>", "b").execute();
    expect(await counts()).toEqual([1, 1, 1]);
    await db.destroy();
  });
}

/** Registers customers at the same time with several instances of a ledger. @returns how many were registered */
async function registerAtOnce(ledgers: readonly Ledger[]): Promise<number> {
  const [ledger] = ledgers;
  if (ledger === undefined) throw new Error("There is no ledger.");
  const { accountId } = await ledger.createAccount({ name: "Many" });
  const register = (instance: Ledger, i: number): Promise<{ readonly isNew: boolean }> =>
    instance.registerCustomer({ accountId, internalId: `customer ${i}`, customerCountMax: LIMIT });
  const results = await Promise.allSettled(
    Array.from({ length: REGISTRATION_COUNT }, (_, i) => register(ledgers[i % ledgers.length] ?? ledger, i)),
  );
  for (const result of results) {
    if (result.status === "rejected") expect(result.reason).toMatchObject({ code: "too_many_values" });
  }
  const { items } = await ledger.listCustomers({ accountId, limit: 500 });
  expect(items).toHaveLength(results.filter(({ status }) => status === "fulfilled").length);
  await expect(register(ledger, REGISTRATION_COUNT)).rejects.toMatchObject({ code: "too_many_values" });
  return items.length;
}

describe("the number of customers in SQLite", () => {
  describeCounts(() => {
    const database = new Database(":memory:");
    return Promise.resolve(storageOf(new Kysely<Tables>({ dialect: new SqliteDialect({ database }) }), "sqlite"));
  });

  test("is never above the limit when two processes register at the same time", async () => {
    const data = await mkdtemp(join(tmpdir(), "isotherm-ledger-"));
    const options = { data, now: Date.now, startWorker: startInProcessWorker };
    const ledgers = [await SqliteLedger.open(options), await SqliteLedger.open(options)];
    try {
      expect(await registerAtOnce(ledgers)).toBe(LIMIT);
    } finally {
      for (const ledger of ledgers) await ledger.close();
      await rm(data, { recursive: true, force: true });
    }
  });
});

describeWithPostgres("the number of customers in PostgreSQL", () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server.dispose());

  describeCounts(async () => {
    const pool = new pg.Pool({ connectionString: await server.newDatabase() });
    return storageOf(new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) }), "postgres");
  });

  test("exceeds the limit by no more than the registrations that two instances run at the same time", async () => {
    const database = await server.newDatabase();
    const ledgers = [await openLedger({ database }), await openLedger({ database })];
    try {
      const connectionCount = 2 * 6;
      const count = await registerAtOnce(ledgers);
      expect(count).toBeGreaterThanOrEqual(LIMIT);
      expect(count).toBeLessThan(LIMIT + connectionCount);
    } finally {
      for (const ledger of ledgers) await ledger.close();
    }
  });
});
