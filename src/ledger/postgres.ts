import { randomBytes } from "node:crypto";
import { type IsolationLevel, Kysely, PostgresDialect } from "kysely";
import pg from "pg";
import { Fault, isFault } from "../errors.ts";
import { chainState, type ChainState } from "./chainState.ts";
import { BATCH_COUNT_MAX, checkEntry, idempotencyKeyReused, usageNotRecorded } from "./entry.ts";
import { type RecordResult, type UsageEntry, WAITING_REPORT_COUNT_MAX } from "./ledger.ts";
import { closedError, LedgerBase, type LedgerClock } from "./ledgerBase.ts";
import {
  accountOf,
  type ArgumentOf,
  callMethod,
  LONG_METHODS,
  type MethodName,
  REPORT_METHODS,
  type ResultOf,
} from "./methods.ts";
import { ReportQueue } from "./reportQueue.ts";
import { pruneIdempotencyKeys, recordBatch } from "./postgresRecord.ts";
import { checkServer, checkServerClock, configureSession } from "./postgresSettings.ts";
import { CHANGE_CHANNEL, migrate, type Storage, TABLE_NAMES, type Tables } from "./schema.ts";

/** Number of recorded idempotency keys after which expired ones are pruned, and how many are pruned at most. */
const KEYS_PER_PRUNE = 256;
const PRUNED_COUNT_MAX = 2 * KEYS_PER_PRUNE;
/** How long caches may be out of date if notifications from the server are lost. */
const FALLBACK_POLL_INTERVAL_MS = 5_000;
const LISTEN_RETRY_DELAY_MS = 1_000;

const CONNECT_TIMEOUT_MS = 3_000;
/** Lookups, batches and pages of reports take much less time unless something is wrong. */
const STATEMENT_TIMEOUT_MS = 10_000;
const AUDIT_TIMEOUT_MS = 3_600_000;
const LOOKUP_CONNECTION_COUNT = 6;
const REPORT_CONNECTION_COUNT = 2;

/** Type id of 64-bit integers, which pg returns as text by default. */
const INT8_OID = 20;
/** SQLSTATE insufficient_privilege. */
const INSUFFICIENT_PRIVILEGE = "42501";
const TYPES: pg.CustomTypesConfig = {
  getTypeParser: (oid: number, format?: "text" | "binary") =>
    oid === INT8_OID ? parseInt8 : pg.types.getTypeParser(oid, format),
};

export interface PostgresLedgerOptions extends LedgerClock {
  /** `postgres://user:password@host:port/name` */
  readonly database: string;
  /** Creates the connections that record and listen; tests replace it to inject faults. */
  readonly createClient?: (config: pg.ClientConfig) => pg.Client;
}

interface PendingEntry {
  readonly entry: UsageEntry;
  resolve(recorded: RecordResult): void;
  reject(error: Error): void;
}

/** A ledger in PostgreSQL, which replicas can share. It records in batches over a single connection. */
export class PostgresLedger extends LedgerBase {
  readonly #config: pg.ClientConfig;
  readonly #now: () => number;
  /** Whether `now` is the system clock, so that it must agree with the server's. */
  readonly #isServerClockChecked: boolean;
  readonly #createClient: (config: pg.ClientConfig) => pg.Client;
  readonly #lookups: PooledStorage;
  readonly #reports: PooledStorage;
  /** For methods that read all events, and for migrations. */
  readonly #audits: PooledStorage;
  readonly #reportQueue = new ReportQueue({
    runningCountMax: REPORT_CONNECTION_COUNT,
    waitingCountMax: WAITING_REPORT_COUNT_MAX,
  });
  #recorder: pg.Client | undefined;
  #listener: pg.Client | undefined;
  #pollTimer: NodeJS.Timeout | undefined;
  #listenRetryTimer: NodeJS.Timeout | undefined;
  #changeCount = 0;
  #keyCount = 0;
  #queue: PendingEntry[] = [];
  #recording: Promise<void> | undefined;
  #closing: Promise<void> | undefined;

  private constructor(options: PostgresLedgerOptions) {
    super(options);
    const { database, now, monotonicNow, createClient = (config) => new pg.Client(config) } = options;
    this.#now = now;
    this.#isServerClockChecked = monotonicNow !== undefined;
    this.#createClient = createClient;
    this.#config = {
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
    // In a pool this timeout includes the wait for a free connection.
    const pooled: PoolConfig = {
      ...this.#config,
      connectionTimeoutMillis: STATEMENT_TIMEOUT_MS,
      onConnect: configureSession,
    };
    this.#lookups = openPool({ ...pooled, max: LOOKUP_CONNECTION_COUNT }, now);
    this.#reports = openPool({ ...pooled, max: REPORT_CONNECTION_COUNT }, now);
    const auditTimeouts = { statement_timeout: AUDIT_TIMEOUT_MS, query_timeout: AUDIT_TIMEOUT_MS };
    this.#audits = openPool({ ...pooled, ...auditTimeouts, max: 1 }, now);
  }

  /**
   * @throws Fault `configuration_invalid` if the address is invalid, the server's settings do not guarantee durability,
   *   or a newer release wrote the ledger; `ledger_unavailable` if the server cannot be reached
   */
  static async open(options: PostgresLedgerOptions): Promise<PostgresLedger> {
    if (!/^postgres(ql)?:\/\/./.test(options.database) || !URL.canParse(options.database)) {
      const message = "database must be an address such as postgres://user:password@host:port/name.";
      throw new Fault("configuration_invalid", message);
    }
    const ledger = new PostgresLedger(options);
    try {
      await rejectForeignTables(await ledger.#connect());
      // Filling a new table takes as long as reading all events.
      await migrate(ledger.#audits.storage, () => randomBytes(32).toString("hex"));
      ledger.#changeCount = await ledger.#readChangeCount();
      await ledger.#listen();
      ledger.#pollTimer = setInterval(() => void ledger.#pollChanges(), FALLBACK_POLL_INTERVAL_MS).unref();
      return ledger;
    } catch (error) {
      await ledger.close();
      throw asLedgerFault(error);
    }
  }

  record(entry: UsageEntry): Promise<RecordResult> {
    checkEntry(entry);
    if (this.#closing !== undefined) return Promise.reject(closedError());
    const { clockDriftFault } = this;
    if (clockDriftFault !== undefined) return Promise.reject(clockDriftFault);
    return new Promise((resolve, reject) => {
      this.#queue.push({ entry, resolve, reject });
      this.#recording ??= this.#drainQueue();
    });
  }

  /** Records batch after batch, each with the entries that were queued during the previous one. */
  async #drainQueue(): Promise<void> {
    // Entries of the same turn of the event loop go into the same batch.
    await new Promise((resolve) => setImmediate(resolve));
    while (this.#queue.length > 0) await this.#recordBatch(this.#queue.splice(0, BATCH_COUNT_MAX));
    this.#recording = undefined;
  }

  async #recordBatch(batch: readonly PendingEntry[]): Promise<void> {
    try {
      const recorder = this.#recorder ?? (await this.#connect());
      const entries = batch.map(({ entry }) => entry);
      const startMs = performance.now();
      const outcomes = await recordBatch(recorder, entries, this.#now());
      const commit = { rowCount: entries.length, durationMs: performance.now() - startMs };
      batch.forEach(({ resolve, reject }, i) => {
        const outcome = outcomes[i];
        if (outcome === undefined || "refusal" in outcome) reject(idempotencyKeyReused());
        else resolve(outcome);
      });
      this.notifyCommit(commit);
      this.#keyCount += entries.filter(({ idempotency }) => idempotency !== undefined).length;
      if (this.#keyCount < KEYS_PER_PRUNE) return;
      this.#keyCount = 0;
      await pruneIdempotencyKeys(recorder, this.#now(), PRUNED_COUNT_MAX);
    } catch (error) {
      if (isFault(error, "clock_unreliable")) {
        this.noteRejection(error);
        for (const { reject } of batch) reject(error);
        return;
      }
      // It is unknown whether the server has committed the batch. The next one uses a new connection.
      this.#dropRecorder();
      for (const { reject } of batch) reject(usageNotRecorded(error));
    }
  }

  /** Connects the recorder. The settings are checked each time: they may have changed when the server was restarted. */
  async #connect(): Promise<pg.Client> {
    const client = this.#createClient(this.#config);
    client.on("error", () => {
      if (this.#recorder === client) this.#dropRecorder();
    });
    try {
      await client.connect();
      await configureSession(client);
      await checkServer(client);
      if (this.#isServerClockChecked) await checkServerClock(client, this.#now);
    } catch (error) {
      void client.end().catch(() => undefined);
      throw error;
    }
    this.#recorder = client;
    return client;
  }

  #dropRecorder(): void {
    const client = this.#recorder;
    this.#recorder = undefined;
    void client?.end().catch(() => undefined);
  }

  protected async dispatch<Name extends MethodName>(
    name: Name,
    argument: ArgumentOf<Name>,
    signal?: AbortSignal,
  ): Promise<ResultOf<Name>> {
    if (this.#closing !== undefined) throw closedError();
    const callOn = ({ storage }: PooledStorage): Promise<ResultOf<Name>> => callMethod(storage, name, argument);
    try {
      if (!REPORT_METHODS.has(name)) return await callOn(this.#lookups);
      if (LONG_METHODS.has(name)) return await callOn(this.#audits);
      return await this.#reportQueue.run(() => callOn(this.#reports), { accountId: accountOf(argument), signal });
    } catch (error) {
      if (signal?.aborted === true && error === signal.reason) throw error;
      throw asLedgerFault(error);
    }
  }

  protected readChainState(query: { readonly batch?: number }): Promise<ChainState> {
    return chainState(this.#lookups.storage, query);
  }

  /** Listens for notifications of changes, and reconnects when the connection ends. */
  async #listen(): Promise<void> {
    const client = this.#createClient({ ...this.#config, statement_timeout: 0, query_timeout: 0 });
    client.on("notification", () => this.notifyChange());
    const reconnect = (): void => {
      if (this.#listener !== client) return;
      this.#listener = undefined;
      void client.end().catch(() => undefined);
      this.#scheduleListen();
    };
    client.on("error", reconnect);
    client.on("end", reconnect);
    this.#listener = client;
    await client.connect();
    await client.query(`listen ${CHANGE_CHANNEL}`);
  }

  #scheduleListen(): void {
    if (this.#closing !== undefined) return;
    this.#listenRetryTimer = setTimeout(() => {
      this.#listen().then(
        // Changes may have been missed while disconnected.
        () => this.notifyChange(),
        () => {
          const client = this.#listener;
          this.#listener = undefined;
          void client?.end().catch(() => undefined);
          this.#scheduleListen();
        },
      );
    }, LISTEN_RETRY_DELAY_MS).unref();
  }

  /** Polls for changes, for servers whose notifications get lost, for example behind a connection pooler. */
  async #pollChanges(): Promise<void> {
    try {
      const changeCount = await this.#readChangeCount();
      if (changeCount === this.#changeCount) return;
      this.#changeCount = changeCount;
      this.notifyChange();
    } catch {
      // The calls that need the server report its failure.
    }
  }

  async #readChangeCount(): Promise<number> {
    const state = this.#lookups.storage.db.selectFrom("ledger_state").select("change_count");
    return (await state.executeTakeFirstOrThrow()).change_count;
  }

  get waitingReportCount(): number {
    return this.#reportQueue.waitingCount;
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    clearInterval(this.#pollTimer);
    clearTimeout(this.#listenRetryTimer);
    this.#reportQueue.close();
    await this.#recording;
    await this.closeChain();
    this.#dropRecorder();
    const listener = this.#listener;
    this.#listener = undefined;
    await listener?.end().catch(() => undefined);
    await this.#lookups.pool.end();
    await this.#reports.pool.end();
    await this.#audits.pool.end();
  }
}

/** A connection pool, and the storage on top of it. */
interface PooledStorage {
  readonly pool: pg.Pool;
  readonly storage: Storage;
}

/** With an option that the types of pg lack: called with each new connection before its first use. */
interface PoolConfig extends pg.PoolConfig {
  readonly onConnect: (client: pg.ClientBase) => Promise<void>;
}

function openPool(config: PoolConfig, nowMs: () => number): PooledStorage {
  const pool = new pg.Pool(config);
  // The pool replaces idle connections that break.
  pool.on("error", () => undefined);
  // A connection that breaks in use fails its query; the pool handles its error event only while it is idle.
  pool.on("connect", (client) => client.on("error", () => undefined));
  const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
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

/**
 * Rejects a schema with tables of another program. A single statement sees all of the ledger's tables or, while a
 * replica creates them, none.
 * @throws Fault `ledger_unavailable`
 */
async function rejectForeignTables(client: pg.Client): Promise<void> {
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
function asLedgerFault(error: unknown): unknown {
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
