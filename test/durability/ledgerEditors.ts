/** Connections that edit the tables of a ledger, as somebody with write access to the database could. */
import { join } from "node:path";
import Database from "better-sqlite3";
import pg from "pg";

/** A connection that bypasses the ledger's triggers on events. */
export interface LedgerEditor {
  rows<Row>(statement: string): Promise<readonly Row[]>;
  run(statement: string): Promise<void>;
  /** Restores the triggers. */
  close(): Promise<void>;
}

/** PostgreSQL returns 64-bit integers as text. */
export type Int = number | string;

/** @param folder the data folder of a SQLite ledger */
export function sqliteEditor(folder: string): LedgerEditor {
  const database = new Database(join(folder, "ledger.sqlite"));
  const triggers = database
    .prepare("select name, sql from sqlite_master where type = 'trigger' and tbl_name = 'usage_event'")
    .all() as readonly { readonly name: string; readonly sql: string }[];
  for (const { name } of triggers) database.exec(`drop trigger ${name}`);
  return {
    rows: <Row>(statement: string) => Promise.resolve(database.prepare(statement).all() as Row[]),
    run: (statement) => Promise.resolve(void database.exec(statement.replace("OVERRIDING ", ""))),
    close: () => {
      for (const { sql } of triggers) database.exec(sql);
      return Promise.resolve(void database.close());
    },
  };
}

/** @param database the address of a PostgreSQL ledger */
export async function postgresEditor(database: string): Promise<LedgerEditor> {
  const client = new pg.Client(database);
  await client.connect();
  await client.query("alter table usage_event disable trigger user");
  return {
    rows: async <Row>(statement: string) => (await client.query(statement)).rows as Row[],
    run: async (statement) => void (await client.query(statement.replace("OVERRIDING", "overriding system value"))),
    close: async () => {
      await client.query("alter table usage_event enable trigger user");
      await client.end();
    },
  };
}
