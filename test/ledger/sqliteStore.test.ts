import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import { afterEach, expect, test, vi } from "vitest";
import { SqliteStore } from "../../src/ledger/sqliteStore.ts";

/** "ISOT" */
const APPLICATION_ID = 0x49534f54;

afterEach(() => vi.restoreAllMocks());

test("a ledger that another process makes at the same moment is not taken for another program's", async () => {
  const data = await mkdtemp(join(tmpdir(), "isotherm-store-"));
  const file = join(data, "ledger.sqlite");
  const other = new Database(file);
  let isMade = false;
  /** What the other process does in one transaction, between any two looks at the file. */
  const make = (): void => {
    if (isMade) return;
    isMade = true;
    other.exec(`begin; pragma application_id = ${APPLICATION_ID};
      create table migration (version integer primary key, name text not null, applied_at text not null); commit`);
  };
  // Whichever is looked at first.
  const { pragma, prepare } = Database.prototype;
  vi.spyOn(Database.prototype, "pragma").mockImplementation(function (this: unknown, ...words) {
    const found: unknown = pragma.apply(this as Database.Database, words);
    if (words[0] === "application_id") make();
    return found;
  });
  vi.spyOn(Database.prototype, "prepare").mockImplementation(function (this: unknown, source) {
    const statement = prepare.call(this as Database.Database, source);
    if (!source.includes("sqlite_master")) return statement;
    const found = (statement as unknown as { get(): unknown }).get();
    make();
    return Object.assign(Object.create(statement) as typeof statement, { get: () => found });
  });
  try {
    const store = await SqliteStore.open({ file, isReport: false, nowMs: 0, newSecret: () => "secret" });
    expect(isMade).toBe(true);
    store.close();
  } finally {
    other.close();
    await rm(data, { recursive: true, force: true });
  }
});
