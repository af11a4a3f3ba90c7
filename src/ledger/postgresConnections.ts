/** Connections to the PostgreSQL server of a ledger, and the errors that they report. */
import { type IsolationLevel, Kysely, PostgresDialect } from "kysely";
import pg from "pg";
import { Fault, isFault } from "../errors.ts";
import { configureSession } from "./postgresSettings.ts";
import { type Storage, TABLE_NAMES, type Tables } from "./schema.ts";

const CONNECT_TIMEOUT_MS = 3_000;
/** Lookups, batches and pages of reports take much less time unless something is wrong. */
const STATEMENT_TIMEOUT_MS = 10_000;

/** Type id of 64-bit integers, which pg returns as text by default. */
const INT8_OID = 20;
/** SQLSTATE insufficient_privilege. */
const INSUFFICIENT_PRIVILEGE = "42501";
const TYPES: pg.CustomTypesConfig = {
  getTypeParser: (oid: number, format?: "text" | "binary") =>
    oid === INT8_OID ? parseInt8 : pg.types.getTypeParser(oid, format),
};

/** Returns the settings of a single connection. @param database `postgres://user:password@host:port/name` */
export function connectionConfig(database: string): pg.ClientConfig {
  return {
    connectionString: database,
    application_name: "isotherm",
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: STATEMENT_TIMEOUT_MS,
    statement_timeout: STATEMENT_TIMEOUT_MS,
    query_timeout: 2 * STATEMENT_TIMEOUT_MS,
    // A client that disconnects while it holds the lock on ledger_state must not block the others.
    idle_in_transaction_session_timeout: STATEMENT_TIMEOUT_MS,
    types: TYPES,
  };
}

/** A connection pool, and the storage on top of it. */
export interface PooledStorage {
  readonly pool: pg.Pool;
  readonly storage: Storage;
}

/** @param options `statementTimeoutMs`: by default that of the connections */
export function openPool(
  config: pg.ClientConfig,
  options: { readonly max: number; readonly nowMs: () => number; readonly statementTimeoutMs?: number },
): PooledStorage {
  const { max, nowMs, statementTimeoutMs } = options;
  const pool = new pg.Pool({
    ...config,
    // In a pool this timeout includes the wait for a free connection.
    connectionTimeoutMillis: STATEMENT_TIMEOUT_MS,
    ...(statementTimeoutMs === undefined
      ? {}
      : { statement_timeout: statementTimeoutMs, query_timeout: statementTimeoutMs }),
    max,
  });
  const configured = new WeakSet<pg.PoolClient>();
  // The pool replaces idle connections that break.
  pool.on("error", () => undefined);
  // A connection that breaks in use fails its query; the pool handles its error event only while it is idle.
  pool.on("connect", (client) => client.on("error", () => undefined));
  const connect = (): Promise<pg.PoolClient> => connectConfigured(pool, configured);
  const db = new Kysely<Tables>({
    dialect: new PostgresDialect({ pool: { connect, end: () => pool.end(), options: pool.options } }),
  });
  const transactionAt =
    (level: IsolationLevel): Storage["transaction"] =>
    (work) =>
      db.transaction().setIsolationLevel(level).execute(work);
  return {
    pool,
    storage: {
      db,
      dialect: "postgres",
      nowMs,
      transaction: transactionAt("read committed"),
      snapshot: transactionAt("repeatable read"),
    },
  };
}

/** Takes a connection from a pool, and configures its session before its first use. */
async function connectConfigured(pool: pg.Pool, configured: WeakSet<pg.PoolClient>): Promise<pg.PoolClient> {
  const client = await pool.connect();
  if (configured.has(client)) return client;
  try {
    await configureSession(client);
  } catch (error) {
    client.release(true);
    throw error;
  }
  configured.add(client);
  return client;
}

/**
 * Rejects a schema with tables of another program. A single statement sees all of the ledger's tables or, while a
 * replica creates them, none.
 * @throws Fault `ledger_unavailable`
 */
export async function rejectForeignTables(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ name: string; isLedger: boolean }>(
    `select relname as name, bool_or(relname = 'ledger_state') over () as "isLedger" from pg_class
       where relnamespace = (select oid from pg_namespace where nspname = current_schema())
         and relname = any ($1::text[])
       order by relname`,
    [TABLE_NAMES],
  );
  if (rows.length === 0 || rows[0]?.isLedger === true) return;
  const names = rows.map(({ name }) => name).join(", ");
  const message = `The PostgreSQL database has tables of another program (${names}); use a separate one as --database.`;
  throw new Fault("ledger_unavailable", message);
}

function parseInt8(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new Error(`PostgreSQL returned an integer above 2^53 - 1: ${text}.`);
  return value;
}

/** Converts connection and server errors to `ledger_unavailable`; faults and errors of the statement stay unchanged. */
export function asLedgerFault(error: unknown): unknown {
  if (isFault(error)) return error;
  const code = error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "";
  if (code === INSUFFICIENT_PRIVILEGE && error instanceof Error) {
    const message = `The PostgreSQL user lacks privileges that the ledger needs: ${error.message}; make it the owner of the database.`;
    return new Fault("ledger_unavailable", message, { details: { code }, cause: error });
  }
  // SQLSTATE classes for invalid data, constraint violations and invalid statements, which are bugs.
  if (/^(22|23|42)[0-9A-Z]{3}$/.test(code)) return error;
  const reason = error instanceof Error && error.message !== "" ? error.message : code;
  return new Fault("ledger_unavailable", `The PostgreSQL server of the ledger is unavailable: ${reason}.`, {
    details: { code },
    cause: error,
  });
}
