import { type Generated, type Kysely, sql } from "kysely";
import { Fault } from "../errors.ts";
import type { Meter } from "../contract/wireTypes.ts";
import type { BatchRow, PruneRow } from "./chain.ts";
import { createCarriedSums, createChain, createCustomerCounts, createUsageSums } from "./laterMigrations.ts";

/**
 * The tables, which SQLite and PostgreSQL have in common. Times are text, ISO 8601 in UTC with milliseconds: both databases return
 * them unchanged, they sort chronologically, and their prefixes are the hour and the day.
 */
export interface Tables {
  migration: { version: number; name: string; applied_at: string };
  /** A single row: the ledger's clock, whose row lock serializes writers; the number of changes to cached entities; the
   *  key that signs cursors; and the UUID that the hash chain begins with. */
  ledger_state: {
    id: number;
    last_at: string;
    change_count: number;
    cursor_secret: string;
    ledger_id: Generated<string>;
  };
  account: { account_id: string; name: string; created_at: string; suspended_at: string | null };
  api_key: {
    key_id: string;
    account_id: string;
    /** SHA-256 of the key in hexadecimal. */
    digest: string;
    name: string | null;
    created_at: string;
    expires_at: string | null;
    revoked_at: string | null;
    replaced_by: string | null;
  };
  customer: {
    customer_id: string;
    account_id: string;
    internal_id: string;
    name: string | null;
    created_at: string;
    archived_at: string | null;
  };
  /** How many customers an account has, including archived ones: the sum of its rows (`laterMigrations.ts`). */
  customer_count: { account_id: string; part: number; count: number };
  usage_event: {
    seq: Generated<number>;
    receipt: string;
    account_id: string;
    customer_id: string;
    key_id: string;
    meter: Meter;
    units: number;
    recorded_at: string;
    route: string;
    atlas_release: string | null;
  };
  usage_rollup: {
    account_id: string;
    customer_id: string;
    meter: Meter;
    /** `YYYY-MM-DDTHH` */
    hour: string;
    units: number;
    requests: number;
  };
  /** Sums per day of each customer, and of all customers of an account (`ALL_CUSTOMERS`). */
  usage_daily: {
    account_id: string;
    /** `YYYY-MM-DD` */
    day: string;
    customer_id: string;
    meter: Meter;
    units: number;
    requests: number;
  };
  /** Sums per month and in total (`ALL_TIME`) of each customer. */
  usage_total: {
    account_id: string;
    /** `YYYY-MM`, or `ALL_TIME`. */
    period: string;
    customer_id: string;
    meter: Meter;
    units: number;
    requests: number;
  };
  idempotency: {
    account_id: string;
    customer_id: string;
    route: string;
    idempotency_key: string;
    fingerprint: string;
    receipt: string;
    recorded_at: string;
  };
  /** The hash chain over `usage_event`: one row per recorded batch. */
  usage_batch: BatchRow;
  /** What archived events have added to hourly sums that are not archived, because a wrong clock had dated them later. */
  usage_carried: Tables["usage_rollup"];
  /** One row per pruning of events. The latest one replaces the earlier ones. */
  usage_prune: PruneRow;
  /** How many idempotency keys of answers of 0 units an account has sent on its last day with such answers. */
  free_key_count: { account_id: string; day: string; count: number };
}

export const TABLE_NAMES = Object.keys({
  migration: 0,
  ledger_state: 0,
  account: 0,
  api_key: 0,
  customer: 0,
  customer_count: 0,
  usage_event: 0,
  usage_rollup: 0,
  usage_daily: 0,
  usage_total: 0,
  idempotency: 0,
  usage_batch: 0,
  usage_carried: 0,
  usage_prune: 0,
  free_key_count: 0,
} satisfies Record<keyof Tables, 0>);

type Dialect = "sqlite" | "postgres";

/** A database connection and its transactions. */
export interface Storage {
  readonly db: Kysely<Tables>;
  readonly dialect: Dialect;
  /** Returns the system clock's time, milliseconds since 1970. */
  nowMs(): number;
  /** Runs `work` in a write transaction. */
  transaction<T>(work: (tx: Kysely<Tables>) => Promise<T>): Promise<T>;
  /** Runs `work` in a read transaction whose queries all see the same state. */
  snapshot<T>(work: (tx: Kysely<Tables>) => Promise<T>): Promise<T>;
}

/** The ledger's clock before the first write. */
const CLOCK_START = "1970-01-01T00:00:00.000Z";

interface Migration {
  readonly name: string;
  up(tx: Kysely<Tables>, dialect: Dialect): Promise<void>;
}

/** Append only: released migrations must not be changed. */
export const MIGRATIONS: readonly Migration[] = [
  { name: "accounts, keys, customers, usage", up: createTables },
  { name: "usage per day, month and in total", up: createUsageSums },
  { name: "hash chain over usage", up: createChain },
  { name: "sums of archived events of later days", up: createCarriedSums },
  { name: "number of customers per account", up: createCustomerCounts },
];

async function createTables(tx: Kysely<Tables>, dialect: Dialect): Promise<void> {
  // Text is sorted by bytes, as in SQLite, so that the order does not depend on the server's locale.
  const textType = dialect === "postgres" ? sql`text collate "C"` : sql`text`;
  const integerType = dialect === "postgres" ? sql`bigint` : sql`integer`;
  // Otherwise SQLite would accept text in integer columns.
  const strict = dialect === "postgres" ? sql`` : sql`strict`;
  const strictByKey = dialect === "postgres" ? sql`` : sql`strict, without rowid`;

  await tx.schema
    .createTable("ledger_state")
    .addColumn("id", "integer", (column) => column.primaryKey().check(sql`id = 1`))
    .addColumn("last_at", textType, (column) => column.notNull())
    .addColumn("change_count", integerType, (column) => column.notNull())
    .addColumn("cursor_secret", textType, (column) => column.notNull())
    .modifyEnd(strict)
    .execute();

  await tx.schema
    .createTable("account")
    .addColumn("account_id", textType, (column) => column.primaryKey().notNull())
    .addColumn("name", textType, (column) => column.notNull())
    .addColumn("created_at", textType, (column) => column.notNull())
    .addColumn("suspended_at", textType)
    .modifyEnd(strict)
    .execute();

  await tx.schema
    .createTable("api_key")
    .addColumn("key_id", textType, (column) => column.primaryKey().notNull())
    .addColumn("account_id", textType, (column) => column.notNull().references("account.account_id"))
    .addColumn("digest", textType, (column) => column.notNull().unique())
    .addColumn("name", textType)
    .addColumn("created_at", textType, (column) => column.notNull())
    .addColumn("expires_at", textType)
    .addColumn("revoked_at", textType)
    .addColumn("replaced_by", textType, (column) => column.references("api_key.key_id"))
    .modifyEnd(strict)
    .execute();

  await tx.schema
    .createTable("customer")
    .addColumn("customer_id", textType, (column) => column.primaryKey().notNull())
    .addColumn("account_id", textType, (column) => column.notNull().references("account.account_id"))
    .addColumn("internal_id", textType, (column) => column.notNull())
    .addColumn("name", textType)
    .addColumn("created_at", textType, (column) => column.notNull())
    .addColumn("archived_at", textType)
    .addUniqueConstraint("customer_internal_id", ["account_id", "internal_id"])
    .modifyEnd(strict)
    .execute();
  await tx.schema
    .createIndex("customer_in_order")
    .on("customer")
    .columns(["account_id", "created_at", "customer_id"])
    .execute();

  await tx.schema
    .createTable("usage_event")
    .addColumn("seq", dialect === "postgres" ? "bigint" : "integer", (column) =>
      dialect === "postgres" ? column.primaryKey().generatedAlwaysAsIdentity() : column.primaryKey(),
    )
    .addColumn("receipt", textType, (column) => column.notNull().unique())
    .addColumn("account_id", textType, (column) => column.notNull())
    .addColumn("customer_id", textType, (column) => column.notNull())
    .addColumn("key_id", textType, (column) => column.notNull())
    .addColumn("meter", textType, (column) => column.notNull())
    .addColumn("units", integerType, (column) => column.notNull().check(sql`units > 0`))
    .addColumn("recorded_at", textType, (column) => column.notNull())
    .addColumn("route", textType, (column) => column.notNull())
    .addColumn("atlas_release", textType)
    .modifyEnd(strict)
    .execute();
  await tx.schema.createIndex("usage_event_in_order").on("usage_event").columns(["recorded_at", "seq"]).execute();
  await forbidChanges(tx, dialect);

  await tx.schema
    .createTable("usage_rollup")
    .addColumn("account_id", textType, (column) => column.notNull())
    .addColumn("customer_id", textType, (column) => column.notNull())
    .addColumn("meter", textType, (column) => column.notNull())
    .addColumn("hour", textType, (column) => column.notNull())
    .addColumn("units", integerType, (column) => column.notNull())
    .addColumn("requests", integerType, (column) => column.notNull())
    .addPrimaryKeyConstraint("usage_rollup_key", ["account_id", "customer_id", "meter", "hour"])
    .modifyEnd(strictByKey)
    .execute();

  await tx.schema
    .createTable("idempotency")
    .addColumn("account_id", textType, (column) => column.notNull())
    .addColumn("customer_id", textType, (column) => column.notNull())
    .addColumn("route", textType, (column) => column.notNull())
    .addColumn("idempotency_key", textType, (column) => column.notNull())
    .addColumn("fingerprint", textType, (column) => column.notNull())
    .addColumn("receipt", textType, (column) => column.notNull())
    .addColumn("recorded_at", textType, (column) => column.notNull())
    .addPrimaryKeyConstraint("idempotency_place", ["account_id", "customer_id", "route", "idempotency_key"])
    .modifyEnd(strictByKey)
    .execute();
  await tx.schema.createIndex("idempotency_by_age").on("idempotency").columns(["recorded_at"]).execute();
}

/** Creates triggers that reject updates and deletes of recorded events. */
async function forbidChanges(tx: Kysely<Tables>, dialect: Dialect): Promise<void> {
  if (dialect === "sqlite") {
    for (const change of ["update", "delete"]) {
      await sql`create trigger ${sql.id(`usage_event_no_${change}`)} before ${sql.raw(change)} on usage_event
        begin select raise(abort, 'usage_event is only added to'); end`.execute(tx);
    }
    return;
  }
  await sql`create function usage_event_refuse() returns trigger language plpgsql
    as $$ begin raise exception 'usage_event is only added to'; end $$`.execute(tx);
  await sql`create trigger usage_event_no_change before update or delete or truncate on usage_event
    for each statement execute function usage_event_refuse()`.execute(tx);
}

/**
 * Applies all pending migrations, each in a transaction.
 * @param migrations all migrations of this release; tests pass fewer to create the tables of an earlier release
 * @throws Fault `configuration_invalid` if a newer release has migrated the tables
 */
export async function migrate(
  storage: Storage,
  newSecret: () => string,
  migrations: readonly Migration[] = MIGRATIONS,
): Promise<void> {
  for (let isDone = false; !isDone;) {
    isDone = await storage.transaction(async (tx) => {
      if (storage.dialect === "postgres") {
        // Serializes replicas that start at the same time. The key is arbitrary: "isotherm" in ASCII.
        await sql`select pg_advisory_xact_lock(7598539542062527085)`.execute(tx);
      }
      await tx.schema
        .createTable("migration")
        .ifNotExists()
        .addColumn("version", "integer", (column) => column.primaryKey())
        .addColumn("name", "text", (column) => column.notNull())
        .addColumn("applied_at", "text", (column) => column.notNull())
        .execute();
      const latest = await tx.selectFrom("migration").select("version").orderBy("version", "desc").limit(1).execute();
      const version = latest[0]?.version ?? 0;
      if (version > migrations.length) {
        throw new Fault(
          "configuration_invalid",
          `A newer release wrote the ledger (schema version ${version}, this release supports ${migrations.length}); ` +
            "run that release or a later one.",
          { details: { version, known: migrations.length } },
        );
      }
      const next = migrations[version];
      if (next === undefined) return true;
      await next.up(tx, storage.dialect);
      if (version === 0) {
        const state = { id: 1, last_at: CLOCK_START, change_count: 0, cursor_secret: newSecret() };
        await tx.insertInto("ledger_state").values(state).execute();
      }
      const applied_at = new Date(storage.nowMs()).toISOString();
      await tx
        .insertInto("migration")
        .values({ version: version + 1, name: next.name, applied_at })
        .execute();
      return false;
    });
  }
}
