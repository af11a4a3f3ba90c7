import { closeSync, mkdirSync, openSync } from "node:fs";
import { dirname } from "node:path";
import Database from "better-sqlite3";
import { Kysely, SqliteDialect } from "kysely";
import { Fault, isFault } from "../errors.ts";
import type { EntryOutcome } from "./entry.ts";
import type { UsageEntry } from "./ledger.ts";
import { type ArgumentOf, callMethod, type MethodName, type ResultOf } from "./methods.ts";
import { migrate, type Storage, type Tables } from "./schema.ts";
import { SqliteRecorder } from "./sqliteRecord.ts";

/** "ISOT" in ASCII: identifies the file as an Isotherm ledger. */
const APPLICATION_ID = 0x49534f54;
/** Maximum wait for the write lock of another process. */
const BUSY_TIMEOUT_MS = 5_000;
/**
 * Size of a file up to which its structure is checked when it is opened, which reads all of it and takes about 1.4 ms of
 * processor time per MiB.
 */
const CHECKED_BYTES_MAX = 64 * 2 ** 20;
/** Switching to WAL needs exclusive access to the file, which the busy timeout does not wait for. */
const WAL_ATTEMPT_COUNT = 100;
const WAL_WAIT_MS = 50;

/** An open ledger file. It must be used on a worker thread, because SQLite calls block on the disk. */
export class SqliteStore implements Storage {
  readonly db: Kysely<Tables>;
  readonly dialect = "sqlite";
  readonly #database: Database.Database;
  readonly #recorder: SqliteRecorder;
  readonly #begin: Database.Statement;
  readonly #commit: Database.Statement;
  readonly #changes: Database.Statement;
  #nowMs = 0;
  #dataVersion = 0;
  #changeCount = 0;

  private constructor(database: Database.Database) {
    this.#database = database;
    this.db = new Kysely<Tables>({ dialect: new SqliteDialect({ database }) });
    this.#recorder = new SqliteRecorder(database);
    // Prepared once, because recording is the most frequent operation.
    this.#begin = database.prepare("begin immediate");
    this.#commit = database.prepare("commit");
    this.#changes = database.prepare("select change_count from ledger_state");
  }

  /**
   * Opens a ledger file; creates and migrates it unless `isReadOnly`.
   * @throws Fault `ledger_unavailable` if the file cannot be used; `configuration_invalid` if SQLite cannot guarantee
   *   durability for it, or a newer release wrote it
   */
  static async open(options: {
    readonly file: string;
    readonly isReadOnly: boolean;
    readonly nowMs: number;
    readonly newSecret: () => string;
    /** Opens the database; tests replace it to inject faults. */
    readonly openDatabase?: (file: string, options: Database.Options) => Database.Database;
  }): Promise<SqliteStore> {
    const { file, isReadOnly, nowMs, newSecret, openDatabase = newDatabase } = options;
    let database: Database.Database | undefined;
    try {
      if (!isReadOnly) createFile(file);
      database = openDatabase(file, { timeout: BUSY_TIMEOUT_MS });
      checkApplicationId(database, file);
      configure(database, file);
      if (isReadOnly) database.pragma("query_only = on");
      else {
        checkIntegrity(database, file);
        await migrate(migrationStorage(database, nowMs), newSecret);
      }
      return new SqliteStore(database);
    } catch (error) {
      database?.close();
      throw isFault(error) ? error : openFault(file, error);
    }
  }

  nowMs(): number {
    return this.#nowMs;
  }

  /** Calls a method. @throws Fault as the method does; `ledger_unavailable` if another process holds the write lock */
  async call<Name extends MethodName>(name: Name, argument: ArgumentOf<Name>, nowMs: number): Promise<ResultOf<Name>> {
    this.#nowMs = nowMs;
    try {
      return await callMethod(this, name, argument);
    } catch (error) {
      if (!isBusy(error)) throw error;
      const message = `Another program has locked the ledger for more than ${BUSY_TIMEOUT_MS / 1000} s.`;
      throw new Fault("ledger_unavailable", message, { cause: error });
    }
  }

  transaction<T>(work: (tx: Kysely<Tables>) => Promise<T>): Promise<T> {
    return inTransaction(this.#database, this.db, { beginStatement: "begin immediate", work });
  }

  snapshot<T>(work: (tx: Kysely<Tables>) => Promise<T>): Promise<T> {
    return inTransaction(this.#database, this.db, { beginStatement: "begin", work });
  }

  /** Records all entries in one transaction. Returns when it is on disk. */
  record(entries: readonly UsageEntry[], nowMs: number): EntryOutcome[] {
    this.#begin.run();
    try {
      const outcomes = this.#recorder.write(entries, nowMs);
      this.#commit.run();
      return outcomes;
    } catch (error) {
      if (!isStorageFailure(error) && this.#database.inTransaction) this.#database.exec("rollback");
      throw error;
    }
  }

  /** Returns whether another connection has changed cached entities since the last call. */
  hasChanged(): boolean {
    const dataVersion = this.#database.pragma("data_version", { simple: true }) as number;
    if (dataVersion === this.#dataVersion) return false;
    this.#dataVersion = dataVersion;
    const { change_count } = this.#changes.get() as { change_count: number };
    if (change_count === this.#changeCount) return false;
    this.#changeCount = change_count;
    return true;
  }

  close(): void {
    this.#database.close();
  }
}

function newDatabase(file: string, options: Database.Options): Database.Database {
  return new Database(file, options);
}

function createFile(file: string): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  // SQLite creates the -wal and -shm files with the same mode.
  closeSync(openSync(file, "a", 0o600));
}

/** @throws Fault `ledger_unavailable` if the file is a database of another program */
function checkApplicationId(database: Database.Database, file: string): void {
  // Tables are counted before the id is read: a process that is creating the ledger commits both together.
  const { count } = database.prepare("select count(*) as count from sqlite_master").get() as { count: number };
  const id = database.pragma("application_id", { simple: true });
  if (id === APPLICATION_ID || (id === 0 && count === 0)) return;
  throw new Fault("ledger_unavailable", `${file} is a database of another program; use another folder as --data.`);
}

/**
 * Sets the pragmas that durability depends on, and verifies them.
 * @throws Fault `configuration_invalid` if SQLite did not apply one
 */
function configure(database: Database.Database, file: string): void {
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
  // On macOS, fsync alone does not flush the drive's cache.
  database.pragma("fullfsync = on");
  database.pragma("checkpoint_fullfsync = on");
  const required = { journal_mode: "wal", synchronous: 2, foreign_keys: 1 };
  for (const [name, value] of Object.entries(required)) {
    const actual = database.pragma(name, { simple: true });
    if (actual === value) continue;
    const message = `${file}: SQLite cannot set ${name} = ${value} (got ${String(actual)}), without which usage can be lost.`;
    throw new Fault("configuration_invalid", message, { details: { [name]: actual } });
  }
}

/**
 * Checks the structure of a small file completely; larger ones are checked by the audit.
 * @throws Fault `ledger_unavailable` if the file is damaged
 */
function checkIntegrity(database: Database.Database, file: string): void {
  const sizeBytes =
    (database.pragma("page_count", { simple: true }) as number) *
    (database.pragma("page_size", { simple: true }) as number);
  if (sizeBytes > CHECKED_BYTES_MAX) return;
  const finding = database.pragma("quick_check(1)", { simple: true });
  if (finding === "ok") return;
  const message = `The ledger ${file} is damaged (${String(finding)}); restore a backup.`;
  throw new Fault("ledger_unavailable", message, { details: { file } });
}

function migrationStorage(database: Database.Database, nowMs: number): Storage {
  const db = new Kysely<Tables>({ dialect: new SqliteDialect({ database }) });
  const transaction: Storage["transaction"] = (work) =>
    inTransaction(database, db, {
      beginStatement: "begin immediate",
      work: async (tx) => {
        // Written only once, so that opening an up-to-date ledger does not write to the disk.
        if (database.pragma("application_id", { simple: true }) !== APPLICATION_ID) {
          database.pragma(`application_id = ${APPLICATION_ID}`);
        }
        return work(tx);
      },
    });
  return { db, dialect: "sqlite", nowMs: () => nowMs, transaction, snapshot: transaction };
}

/** Runs `work` in a transaction. The worker runs one request at a time, so no other statements interleave. */
async function inTransaction<T>(
  database: Database.Database,
  db: Kysely<Tables>,
  { beginStatement, work }: { readonly beginStatement: string; readonly work: (tx: Kysely<Tables>) => Promise<T> },
): Promise<T> {
  database.exec(beginStatement);
  try {
    const result = await work(db);
    database.exec("commit");
    return result;
  } catch (error) {
    if (!isStorageFailure(error) && database.inTransaction) database.exec("rollback");
    throw error;
  }
}

function isBusy(error: unknown): boolean {
  return sqliteCode(error)?.startsWith("SQLITE_BUSY") === true;
}

/**
 * Returns whether the file or its disk has failed. Such a file must not be used any more, because its state on disk is
 * unknown.
 */
export function isStorageFailure(error: unknown): boolean {
  const code = sqliteCode(error);
  return code !== undefined && /^SQLITE_(IOERR|FULL|CORRUPT|NOTADB|CANTOPEN|READONLY|NOMEM|PROTOCOL)/.test(code);
}

function sqliteCode(error: unknown): string | undefined {
  const code: unknown = error instanceof Error && "code" in error ? error.code : undefined;
  return typeof code === "string" && code.startsWith("SQLITE_") ? code : undefined;
}

/** Returns whether better-sqlite3 was installed without its install script, or compiled for another version of Node.js. */
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
  const reason =
    code === "ERR_DLOPEN_FAILED"
      ? "better-sqlite3 has no binary for this version of Node.js; npm rebuild better-sqlite3 compiles one (it needs Python, make and a C++ compiler)"
      : code.startsWith("SQLITE_NOTADB")
        ? "it is not a SQLite database"
        : code.startsWith("SQLITE_CORRUPT")
          ? "it is damaged; restore a backup"
          : isBusy(error)
            ? "another program has locked it; stop that program first"
            : /^(EEXIST|ENOTDIR)$/.test(code)
              ? "its path contains a file where a folder is expected"
              : /^(SQLITE_(READONLY|CANTOPEN|PERM)|EACCES|EPERM|EROFS|EISDIR)/.test(code)
                ? "it cannot be written; check the owner and mode of the file and its folder"
                : /^(SQLITE_FULL|ENOSPC)/.test(code)
                  ? "the disk is full"
                  : "reading or writing failed";
  const message = `The ledger ${file} cannot be opened: ${reason} (${code === "" ? String(error) : code}).`;
  return new Fault("ledger_unavailable", message, { details: { file, code }, cause: error });
}
