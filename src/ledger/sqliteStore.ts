import { closeSync, mkdirSync, openSync } from "node:fs";
import { dirname } from "node:path";
import Database from "better-sqlite3";
import { Kysely, SqliteDialect } from "kysely";
import { Fault, isFault } from "../errors.ts";
import { idempotencyCutoff, type Outcome } from "./entry.ts";
import type { UsageEntry } from "./ledger.ts";
import { type ArgumentOf, carryOut, type MethodName, type ResultOf } from "./methods.ts";
import { migrate, type Storage, type Tables } from "./schema.ts";

/** "ISOT": marks the file as a ledger of ours. */
const APPLICATION_ID = 0x49534f54;
/** How long a writer of another process is waited for. */
const BUSY_TIMEOUT_MS = 5_000;
/** Switching to WAL needs the file for a moment alone, and SQLite does not wait for that by itself. */
const WAL_ATTEMPT_COUNT = 100;
const WAL_WAIT_MS = 50;
/** Idempotency keys out of date that go with each one that comes. */
const CLEANED_PER_ENTRY = 2;

/** A ledger file, opened on the thread that is to do its work: every call of SQLite waits for the disk. */
export class SqliteStore implements Storage {
  readonly db: Kysely<Tables>;
  readonly dialect = "sqlite";
  readonly #database: Database.Database;
  readonly #statements: Statements;
  #nowMs = 0;
  #dataVersion = 0;
  #changeCount = 0;

  private constructor(database: Database.Database) {
    this.#database = database;
    this.db = new Kysely<Tables>({ dialect: new SqliteDialect({ database }) });
    this.#statements = prepare(database);
  }

  /**
   * @param isReport reads only, beside the one that writes
   * @throws Fault `ledger_unavailable` when the file cannot be used, `configuration_invalid` when it does not give what
   *   recording hangs on, or was written by a newer release
   */
  static async open(options: {
    readonly file: string;
    readonly isReport: boolean;
    readonly nowMs: number;
    readonly newSecret: () => string;
  }): Promise<SqliteStore> {
    const { file, isReport, nowMs, newSecret } = options;
    let database: Database.Database | undefined;
    try {
      if (!isReport) makeFile(file);
      database = new Database(file, { timeout: BUSY_TIMEOUT_MS });
      claim(database, file);
      settle(database, file);
      if (isReport) database.pragma("query_only = on");
      else await migrate(migrating(database, nowMs), newSecret);
      return new SqliteStore(database);
    } catch (error) {
      database?.close();
      throw isFault(error) ? error : openFault(file, error);
    }
  }

  nowMs(): number {
    return this.#nowMs;
  }

  /** @throws Fault as the method does; `ledger_unavailable` where another process does not stop writing */
  async ask<Name extends MethodName>(name: Name, argument: ArgumentOf<Name>, nowMs: number): Promise<ResultOf<Name>> {
    this.#nowMs = nowMs;
    try {
      return await carryOut(this, name, argument);
    } catch (error) {
      if (!isBusy(error)) throw error;
      const message = `Another program has been writing to the ledger for ${BUSY_TIMEOUT_MS / 1000} s, and has not ended.`;
      throw new Fault("ledger_unavailable", message, { cause: error });
    }
  }

  transaction<T>(work: (tx: Kysely<Tables>) => Promise<T>): Promise<T> {
    return inTransaction(this.#database, this.db, { begin: "begin immediate", work });
  }

  snapshot<T>(work: (tx: Kysely<Tables>) => Promise<T>): Promise<T> {
    return inTransaction(this.#database, this.db, { begin: "begin", work });
  }

  /** Records all entries in one transaction, and returns when it is on disk. */
  record(entries: readonly UsageEntry[], nowMs: number): Outcome[] {
    const { begin, commit } = this.#statements;
    begin.run();
    try {
      const outcomes = this.#write(entries, new Date(nowMs).toISOString());
      commit.run();
      return outcomes;
    } catch (error) {
      if (!isStorageFailure(error) && this.#database.inTransaction) this.#database.exec("rollback");
      throw error;
    }
  }

  /** Whether another connection has changed what others remember, since this was asked last. */
  hasChanged(): boolean {
    const dataVersion = this.#database.pragma("data_version", { simple: true }) as number;
    if (dataVersion === this.#dataVersion) return false;
    this.#dataVersion = dataVersion;
    const { change_count } = this.#statements.changes.get() as { change_count: number };
    if (change_count === this.#changeCount) return false;
    this.#changeCount = change_count;
    return true;
  }

  close(): void {
    this.#database.close();
  }

  #write(entries: readonly UsageEntry[], clock: string): Outcome[] {
    const { tick, addEvent, unitsOf, addToRollup, forget } = this.#statements;
    const { last_at: now } = tick.get(clock) as { last_at: string };
    const cutoff = idempotencyCutoff(now);
    const sums = new Map<string, { entry: UsageEntry; units: number; requests: number }>();
    let keyCount = 0;
    const outcomes = entries.map((entry): Outcome => {
      if (entry.idempotency !== undefined) {
        keyCount++;
        const decided = this.#recognise(entry, now, cutoff);
        if (decided !== undefined) return decided;
      }
      const { receipt, accountId, customerId, keyId, meter, units, route, atlasRelease = null } = entry;
      if (units === 0) return { units: 0, isReplay: false };
      const added = addEvent.run(receipt, accountId, customerId, keyId, meter, units, now, route, atlasRelease);
      if (added.changes === 0) {
        const known = unitsOf.get(receipt) as { units: number };
        return { units: known.units, isReplay: false };
      }
      const place = `${accountId} ${customerId} ${meter}`;
      const sum = sums.get(place);
      if (sum === undefined) sums.set(place, { entry, units, requests: 1 });
      else {
        sum.units += units;
        sum.requests++;
      }
      return { units, isReplay: false };
    });
    const hour = now.slice(0, "YYYY-MM-DDTHH".length);
    for (const { entry, units, requests } of sums.values()) {
      addToRollup.run(entry.accountId, entry.customerId, entry.meter, hour, units, requests);
    }
    if (keyCount > 0) forget.run(cutoff, keyCount * CLEANED_PER_ENTRY);
    return outcomes;
  }

  /** What a request's idempotency key says of it; undefined where it is to be recorded. */
  #recognise(entry: UsageEntry, now: string, cutoff: string): Outcome | undefined {
    const { receipt, accountId, customerId, route, idempotency } = entry;
    if (idempotency === undefined) return undefined;
    const { key, fingerprint } = idempotency;
    const { findRequest, putRequest } = this.#statements;
    const known = findRequest.get(accountId, customerId, route, key, cutoff) as
      { fingerprint: string; receipt: string } | undefined;
    if (known === undefined) {
      putRequest.run(accountId, customerId, route, key, fingerprint, receipt, now);
      return undefined;
    }
    if (known.fingerprint !== fingerprint) return { refusal: "idempotency_key_reused" };
    return known.receipt === receipt ? undefined : { units: 0, isReplay: true };
  }
}

type Statements = ReturnType<typeof prepare>;

/** Recording is what is done most, so that its statements are made once. */
function prepare(database: Database.Database) {
  return {
    begin: database.prepare("begin immediate"),
    commit: database.prepare("commit"),
    tick: database.prepare("update ledger_state set last_at = max(last_at, ?) returning last_at"),
    changes: database.prepare("select change_count from ledger_state"),
    addEvent: database.prepare(
      `insert into usage_event
         (receipt, account_id, customer_id, key_id, meter, units, recorded_at, route, atlas_release)
       values (?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict (receipt) do nothing`,
    ),
    unitsOf: database.prepare("select units from usage_event where receipt = ?"),
    addToRollup: database.prepare(
      `insert into usage_rollup (account_id, customer_id, meter, hour, units, requests) values (?, ?, ?, ?, ?, ?)
       on conflict (account_id, customer_id, meter, hour)
       do update set units = units + excluded.units, requests = requests + excluded.requests`,
    ),
    findRequest: database.prepare(
      `select fingerprint, receipt from idempotency
       where account_id = ? and customer_id = ? and route = ? and idempotency_key = ? and recorded_at >= ?`,
    ),
    // Where one is there already, it is out of date.
    putRequest: database.prepare(
      `insert or replace into idempotency
         (account_id, customer_id, route, idempotency_key, fingerprint, receipt, recorded_at)
       values (?, ?, ?, ?, ?, ?, ?)`,
    ),
    forget: database.prepare(
      `delete from idempotency where (account_id, customer_id, route, idempotency_key) in
         (select account_id, customer_id, route, idempotency_key from idempotency
          where recorded_at < ? order by recorded_at limit ?)`,
    ),
  };
}

function makeFile(file: string): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  // SQLite gives the files beside it the mode of this one.
  closeSync(openSync(file, "a", 0o600));
}

/** @throws Fault `ledger_unavailable` when the file is somebody else's */
function claim(database: Database.Database, file: string): void {
  // Counted first: tables of ours that another process makes meanwhile come together with the id.
  const { count } = database.prepare("select count(*) as count from sqlite_master").get() as { count: number };
  const id = database.pragma("application_id", { simple: true });
  if (id === APPLICATION_ID || (id === 0 && count === 0)) return;
  throw new Fault("ledger_unavailable", `${file} is a database of another program; give --data another folder.`);
}

/** Sets what recording hangs on, and looks whether it is so. */
function settle(database: Database.Database, file: string): void {
  for (let attempt = 1; ; attempt++) {
    try {
      database.pragma("journal_mode = wal");
      break;
    } catch (error) {
      if (!isBusy(error) || attempt === WAL_ATTEMPT_COUNT) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, WAL_WAIT_MS);
    }
  }
  database.pragma("synchronous = full");
  database.pragma("foreign_keys = on");
  // macOS: fsync alone does not reach the disk there.
  database.pragma("fullfsync = on");
  database.pragma("checkpoint_fullfsync = on");
  const wanted = { journal_mode: "wal", synchronous: 2, foreign_keys: 1 };
  for (const [name, value] of Object.entries(wanted)) {
    const found = database.pragma(name, { simple: true });
    if (found === value) continue;
    const message = `${file}: SQLite does not keep ${name} = ${value} here (it is ${String(found)}), and without it usage can get lost.`;
    throw new Fault("configuration_invalid", message, { details: { [name]: found } });
  }
}

function migrating(database: Database.Database, nowMs: number): Storage {
  const db = new Kysely<Tables>({ dialect: new SqliteDialect({ database }) });
  const transaction: Storage["transaction"] = (work) =>
    inTransaction(database, db, {
      begin: "begin immediate",
      work: async (tx) => {
        // Written once: whoever only looks must not need a disk that can be written to.
        if (database.pragma("application_id", { simple: true }) !== APPLICATION_ID) {
          database.pragma(`application_id = ${APPLICATION_ID}`);
        }
        return work(tx);
      },
    });
  return { db, dialect: "sqlite", nowMs: () => nowMs, transaction, snapshot: transaction };
}

/** One thing at a time is done with a connection, so that nothing of others gets in between. */
async function inTransaction<T>(
  database: Database.Database,
  db: Kysely<Tables>,
  { begin, work }: { readonly begin: string; readonly work: (tx: Kysely<Tables>) => Promise<T> },
): Promise<T> {
  database.exec(begin);
  try {
    const result = await work(db);
    database.exec("commit");
    return result;
  } catch (error) {
    if (!isStorageFailure(error) && database.inTransaction) database.exec("rollback");
    throw error;
  }
}

export function isBusy(error: unknown): boolean {
  return sqliteCode(error)?.startsWith("SQLITE_BUSY") === true;
}

/** Whether the file or its disk failed, so that nothing more may be done with it: what is on disk is not known. */
export function isStorageFailure(error: unknown): boolean {
  const code = sqliteCode(error);
  return code !== undefined && /^SQLITE_(IOERR|FULL|CORRUPT|NOTADB|CANTOPEN|READONLY|NOMEM|PROTOCOL)/.test(code);
}

function sqliteCode(error: unknown): string | undefined {
  const code: unknown = error instanceof Error && "code" in error ? error.code : undefined;
  return typeof code === "string" && code.startsWith("SQLITE_") ? code : undefined;
}

/** Whether better-sqlite3 was installed without its install script, or compiled for another version of Node.js. */
function hasNoBinary(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return (
    error.message.startsWith("Could not locate the bindings file") ||
    ("code" in error && error.code === "ERR_DLOPEN_FAILED")
  );
}

function openFault(file: string, error: unknown): Fault {
  const code = hasNoBinary(error)
    ? "ERR_DLOPEN_FAILED"
    : (sqliteCode(error) ?? (error as NodeJS.ErrnoException).code ?? "");
  const why =
    code === "ERR_DLOPEN_FAILED"
      ? "better-sqlite3 was installed without a binary for this version of Node.js; npm rebuild better-sqlite3 compiles one (it takes Python, make and a C++ compiler)"
      : code.startsWith("SQLITE_NOTADB")
        ? "it is not a SQLite database"
        : code.startsWith("SQLITE_CORRUPT")
          ? "it is damaged; put a backup in its place"
          : isBusy(error)
            ? "another program holds it; end that one first"
            : /^(EEXIST|ENOTDIR)$/.test(code)
              ? "its folder is not one, or lies in something that is not"
              : /^(SQLITE_(READONLY|CANTOPEN|PERM)|EACCES|EPERM|EROFS|EISDIR)/.test(code)
                ? "it cannot be written; look at its owner, its mode and those of its folder"
                : /^(SQLITE_FULL|ENOSPC)/.test(code)
                  ? "the disk is full"
                  : "reading or writing failed";
  const message = `The ledger ${file} cannot be opened: ${why} (${code === "" ? String(error) : code}).`;
  return new Fault("ledger_unavailable", message, { details: { file, code }, cause: error });
}
