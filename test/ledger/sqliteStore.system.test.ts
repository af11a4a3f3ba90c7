import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import { afterEach, expect, test, vi } from "vitest";
import { SqliteStore } from "../../src/ledger/sqliteStore.ts";

/** The text "ISOT" in ASCII, the application id of ledger files. */
const APPLICATION_ID = 0x49534f54;

afterEach(() => vi.restoreAllMocks());

test("a ledger that another process creates concurrently is not mistaken for another program's database", async () => {
  const data = await mkdtemp(join(tmpdir(), "isotherm-store-"));
  const file = join(data, "ledger.sqlite");
  const other = new Database(file);
  let isCreated = false;
  /** Creates the ledger in one transaction, as the other process would, after the first query of the store. */
  const createConcurrently = (): void => {
    if (isCreated) return;
    isCreated = true;
    other.exec(`begin; pragma application_id = ${APPLICATION_ID};
      create table migration (version integer primary key, name text not null, applied_at text not null); commit`);
  };
  // The store may query the application id or the list of tables first.
  const { pragma, prepare } = Database.prototype;
  vi.spyOn(Database.prototype, "pragma").mockImplementation(function (this: unknown, ...parameters) {
    const result: unknown = pragma.apply(this as Database.Database, parameters);
    if (parameters[0] === "application_id") createConcurrently();
    return result;
  });
  vi.spyOn(Database.prototype, "prepare").mockImplementation(function (this: unknown, source) {
    const statement = prepare.call(this as Database.Database, source);
    if (!source.includes("sqlite_master")) return statement;
    const result = (statement as unknown as { get(): unknown }).get();
    createConcurrently();
    return Object.assign(Object.create(statement) as typeof statement, { get: () => result });
  });
  try {
    const store = await SqliteStore.open({ file, isReadOnly: false, nowMs: 0, newSecret: () => "secret" });
    expect(isCreated).toBe(true);
    store.close();
  } finally {
    other.close();
    await rm(data, { recursive: true, force: true });
  }
});
