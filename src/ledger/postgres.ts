import { randomBytes } from "node:crypto";
import { type IsolationLevel, Kysely, PostgresDialect } from "kysely";
import pg from "pg";
import { Fault, isFault } from "../errors.ts";
import { checkEntry, idempotencyKeyReused, usageNotRecorded } from "./entry.ts";
import type { Recorded, UsageEntry } from "./ledger.ts";
import { LedgerCalls } from "./ledgerCalls.ts";
import { type ArgumentOf, carryOut, type MethodName, REPORTING, type ResultOf } from "./methods.ts";
import { forgetRequests, recordBatch } from "./postgresRecord.ts";
import { CHANGE_CHANNEL, migrate, type Storage, TABLE_NAMES, type Tables } from "./schema.ts";

/** Entries of one statement: with more, the first would wait for the last. */
const BATCH_COUNT_MAX = 5_000;
/** Idempotency keys that come before old ones are looked for, and how many of these then go. */
const KEYS_PER_CLEANING = 256;
const CLEANED_COUNT = 2 * KEYS_PER_CLEANING;
/** What is remembered may be out of date for so long where the server's notices do not come through. */
const LOOK_EVERY_MS = 5_000;
const LISTEN_AGAIN_MS = 1_000;

const CONNECT_TIMEOUT_MS = 3_000;
/** No look-up and no batch takes this long unless something is wrong. */
const ANSWER_TIMEOUT_MS = 10_000;
const REPORT_TIMEOUT_MS = 3_600_000;
const LOOKUP_CONNECTION_COUNT = 6;
const REPORT_CONNECTION_COUNT = 2;

/** Of whole numbers with 64 bits, which come as text by themselves. */
const INT8_OID = 20;
/** SQLSTATE insufficient_privilege. */
const NOT_PERMITTED = "42501";
const TYPES: pg.CustomTypesConfig = {
  getTypeParser: (oid: number, format?: "text" | "binary") =>
    oid === INT8_OID ? readWhole : pg.types.getTypeParser(oid, format),
};

interface Waiting {
  readonly entry: UsageEntry;
  resolve(recorded: Recorded): void;
  reject(error: Error): void;
}

/** The ledger that replicas share: a PostgreSQL database, recorded into over one connection, batch after batch. */
export class PostgresLedger extends LedgerCalls {
  readonly #config: pg.ClientConfig;
  readonly #now: () => number;
  readonly #lookups: Tool;
  readonly #reports: Tool;
  #recorder: pg.Client | undefined;
  #listener: pg.Client | undefined;
  #looking: NodeJS.Timeout | undefined;
  #listening: NodeJS.Timeout | undefined;
  #changeCount = 0;
  #keyCount = 0;
  #waiting: Waiting[] = [];
  #recording: Promise<void> | undefined;
  #closing: Promise<void> | undefined;

  private constructor({ database, now }: { readonly database: string; readonly now: () => number }) {
    super();
    this.#now = now;
    this.#config = {
      connectionString: database,
      application_name: "isotherm",
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      keepAlive: true,
      keepAliveInitialDelayMillis: ANSWER_TIMEOUT_MS,
      statement_timeout: ANSWER_TIMEOUT_MS,
      query_timeout: 2 * ANSWER_TIMEOUT_MS,
      // Who holds the ledger's row and has gone must not hold up the others.
      idle_in_transaction_session_timeout: ANSWER_TIMEOUT_MS,
      types: TYPES,
    };
    // Here the wait for one's turn counts too.
    const turn = { connectionTimeoutMillis: ANSWER_TIMEOUT_MS };
    this.#lookups = toolOf({ ...this.#config, ...turn, max: LOOKUP_CONNECTION_COUNT }, now);
    const patient = { ...turn, statement_timeout: REPORT_TIMEOUT_MS, query_timeout: REPORT_TIMEOUT_MS };
    this.#reports = toolOf({ ...this.#config, ...patient, max: REPORT_CONNECTION_COUNT }, now);
  }

  /**
   * @throws Fault `configuration_invalid` when the address is none, the server does not give what recording hangs on, or
   *   the ledger was written by a newer release; `ledger_unavailable` when the server cannot be reached
   */
  static async open(options: { readonly database: string; readonly now: () => number }): Promise<PostgresLedger> {
    if (!/^postgres(ql)?:\/\/./.test(options.database) || !URL.canParse(options.database)) {
      const message = "The ledger's database is given as postgres://user:password@host:port/name.";
      throw new Fault("configuration_invalid", message);
    }
    const ledger = new PostgresLedger(options);
    try {
      await refuseForeign(await ledger.#connect());
      await migrate(ledger.#lookups.storage, () => randomBytes(32).toString("hex"));
      ledger.#changeCount = await ledger.#readChangeCount();
      await ledger.#listen();
      ledger.#looking = setInterval(() => void ledger.#look(), LOOK_EVERY_MS).unref();
      return ledger;
    } catch (error) {
      await ledger.close();
      throw unavailable(error);
    }
  }

  record(entry: UsageEntry): Promise<Recorded> {
    checkEntry(entry);
    if (this.#closing !== undefined) return Promise.reject(closedError());
    return new Promise((resolve, reject) => {
      this.#waiting.push({ entry, resolve, reject });
      this.#recording ??= this.#recordAll();
    });
  }

  /** Batch after batch, each of all that has come while the one before it was under way. */
  async #recordAll(): Promise<void> {
    // What comes in the same turn of the event loop goes together.
    await new Promise((resolve) => setImmediate(resolve));
    while (this.#waiting.length > 0) await this.#recordSome(this.#waiting.splice(0, BATCH_COUNT_MAX));
    this.#recording = undefined;
  }

  async #recordSome(batch: readonly Waiting[]): Promise<void> {
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
      this.announceCommit(commit);
      this.#keyCount += entries.filter(({ idempotency }) => idempotency !== undefined).length;
      if (this.#keyCount < KEYS_PER_CLEANING) return;
      this.#keyCount = 0;
      await forgetRequests(recorder, this.#now(), CLEANED_COUNT);
    } catch (error) {
      // Whether the server has written it down nobody knows. The next batch gets a connection of its own.
      this.#drop();
      for (const { reject } of batch) reject(usageNotRecorded(error));
    }
  }

  /** The connection that records, looked over: a server can come back with other settings than it went with. */
  async #connect(): Promise<pg.Client> {
    const client = new pg.Client(this.#config);
    client.on("error", () => {
      if (this.#recorder === client) this.#drop();
    });
    try {
      await client.connect();
      await checkServer(client);
    } catch (error) {
      void client.end().catch(() => undefined);
      throw error;
    }
    this.#recorder = client;
    return client;
  }

  #drop(): void {
    const client = this.#recorder;
    this.#recorder = undefined;
    void client?.end().catch(() => undefined);
  }

  protected async ask<Name extends MethodName>(name: Name, argument: ArgumentOf<Name>): Promise<ResultOf<Name>> {
    if (this.#closing !== undefined) throw closedError();
    try {
      return await carryOut((REPORTING.has(name) ? this.#reports : this.#lookups).storage, name, argument);
    } catch (error) {
      throw unavailable(error);
    }
  }

  /** Hears of changes at once, as long as the connection holds. */
  async #listen(): Promise<void> {
    const client = new pg.Client({ ...this.#config, statement_timeout: 0, query_timeout: 0 });
    client.on("notification", () => this.announceChange());
    const again = (): void => {
      if (this.#listener !== client) return;
      this.#listener = undefined;
      void client.end().catch(() => undefined);
      this.#listenAgain();
    };
    client.on("error", again);
    client.on("end", again);
    this.#listener = client;
    await client.connect();
    await client.query(`listen ${CHANGE_CHANNEL}`);
  }

  #listenAgain(): void {
    if (this.#closing !== undefined) return;
    this.#listening = setTimeout(() => {
      this.#listen().then(
        // What happened meanwhile was not heard.
        () => this.announceChange(),
        () => {
          const client = this.#listener;
          this.#listener = undefined;
          void client?.end().catch(() => undefined);
          this.#listenAgain();
        },
      );
    }, LISTEN_AGAIN_MS).unref();
  }

  /** For servers whose notices get lost on the way, behind a pooler for example. */
  async #look(): Promise<void> {
    try {
      const changeCount = await this.#readChangeCount();
      if (changeCount === this.#changeCount) return;
      this.#changeCount = changeCount;
      this.announceChange();
    } catch {
      // A server that is away tells nothing; whoever needs it says so.
    }
  }

  async #readChangeCount(): Promise<number> {
    const state = this.#lookups.storage.db.selectFrom("ledger_state").select("change_count");
    return (await state.executeTakeFirstOrThrow()).change_count;
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    clearInterval(this.#looking);
    clearTimeout(this.#listening);
    await this.#recording;
    this.#drop();
    const listener = this.#listener;
    this.#listener = undefined;
    await listener?.end().catch(() => undefined);
    await this.#lookups.pool.end();
    await this.#reports.pool.end();
  }
}

/** Connections, and the tables as they are reached over them. */
interface Tool {
  readonly pool: pg.Pool;
  readonly storage: Storage;
}

function toolOf(config: pg.PoolConfig, nowMs: () => number): Tool {
  const pool = new pg.Pool(config);
  // A connection that breaks while nobody uses it is simply made anew.
  pool.on("error", () => undefined);
  // One that breaks in use fails what it is used for, which is told by that; the pool listens only while it is idle.
  pool.on("connect", (client) => client.on("error", () => undefined));
  const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
  const within =
    (level: IsolationLevel): Storage["transaction"] =>
    (work) =>
      db.transaction().setIsolationLevel(level).execute(work);
  return {
    pool,
    storage: {
      db,
      dialect: "postgres",
      nowMs,
      transaction: within("read committed"),
      snapshot: within("repeatable read"),
    },
  };
}

/** @throws Fault `configuration_invalid` */
async function checkServer(client: pg.Client): Promise<void> {
  const { rows } = await client.query<Record<"fsync" | "synchronous_commit" | "encoding" | "standby", string>>(
    `select current_setting('fsync') as fsync, current_setting('synchronous_commit') as synchronous_commit,
       current_setting('server_encoding') as encoding, pg_is_in_recovery()::text as standby`,
  );
  const [found] = rows;
  if (found === undefined) throw new Error("PostgreSQL tells nothing of its settings.");
  const refuse = (what: string): never => {
    throw new Fault("configuration_invalid", `The PostgreSQL server ${what}.`, { details: { ...found } });
  };
  if (found.fsync !== "on") refuse("runs with fsync = off: a power cut would lose usage; set fsync = on");
  if (found.synchronous_commit === "off") {
    refuse("runs with synchronous_commit = off: a crash would lose usage; set it to on, for this user too");
  }
  if (found.encoding !== "UTF8") refuse(`has a database in ${found.encoding}; create one with encoding UTF8`);
  if (found.standby === "true") refuse("is a standby, which takes no writing; give the primary's address");
  // Whatever the user's default is: with another level, batches that meet would refuse one another.
  await client.query("set default_transaction_isolation = 'read committed'");
}

/**
 * Nothing is put beside the tables of another program. One statement sees all of ours or, while a replica makes them,
 * none.
 * @throws Fault `ledger_unavailable`
 */
async function refuseForeign(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ name: string; own: boolean }>(
    `select relname as name, bool_or(relname = 'ledger_state') over () as own from pg_class
       where relnamespace = (select oid from pg_namespace where nspname = current_schema())
         and relname = any ($1::text[])
       order by relname`,
    [TABLE_NAMES],
  );
  if (rows.length === 0 || rows[0]?.own === true) return;
  const names = rows.map(({ name }) => name).join(", ");
  const message = `The PostgreSQL database holds tables of another program (${names}); give --database one of its own.`;
  throw new Fault("ledger_unavailable", message);
}

function readWhole(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new Error(`${text} is more than a number holds exactly.`);
  return value;
}

/** Errors of what was asked stay; of all else the server cannot be reached, or does not do. */
function unavailable(error: unknown): unknown {
  if (isFault(error)) return error;
  const code = error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "";
  if (code === NOT_PERMITTED && error instanceof Error) {
    const message = `The PostgreSQL user may not do what the ledger needs: ${error.message}; make it the owner of the database.`;
    return new Fault("ledger_unavailable", message, { details: { code }, cause: error });
  }
  // SQLSTATE: data, constraints, the statement itself. Those are bugs.
  if (/^(22|23|42)[0-9A-Z]{3}$/.test(code)) return error;
  const why = error instanceof Error && error.message !== "" ? error.message : code;
  return new Fault("ledger_unavailable", `The ledger's PostgreSQL server does not answer as it should: ${why}.`, {
    details: { code },
    cause: error,
  });
}

function closedError(): Error {
  return new Error("The ledger is closed.");
}
