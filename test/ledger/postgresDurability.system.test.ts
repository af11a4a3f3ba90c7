/** Settings of PostgreSQL that are changed while a ledger is open, or differ from the defaults of the server. */
import pg from "pg";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import type { Ledger } from "../../src/ledger/ledger.ts";
import { openLedger } from "../../src/ledger/openLedger.ts";
import { configureSession } from "../../src/ledger/postgresSettings.ts";
import { describeWithPostgres, type PostgresServer, startPostgres } from "./postgresServer.ts";
import { newReceipt } from "./receipt.ts";

type Entry = Parameters<Ledger["record"]>[0];

describeWithPostgres("a PostgreSQL ledger whose server is reconfigured", () => {
  let server: PostgresServer;
  let database: string;
  let admin: pg.Client;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server.dispose());
  beforeEach(async () => {
    database = await server.newDatabase();
    admin = new pg.Client(database);
    await admin.connect();
  });
  afterEach(async () => {
    await admin.query("alter system reset all");
    await admin.query("alter role isotherm reset all");
    await reload();
    await admin.end();
  });

  async function reload(): Promise<void> {
    await admin.query("select pg_reload_conf()");
    // The signal reaches the other processes of the server in turn.
    await new Promise((resolve) => setTimeout(resolve, 200));
  }

  async function newEntry(ledger: Ledger): Promise<() => Entry> {
    const { accountId } = await ledger.createAccount({ name: "Someone" });
    const { key } = await ledger.createKey({ accountId });
    const { customer } = await ledger.registerCustomer({ accountId, internalId: "one" });
    const common = { accountId, customerId: customer.customerId, keyId: key.keyId, route: "/" };
    return () => ({ ...common, receipt: newReceipt(), meter: "hazard_values", units: 1 });
  }

  /** Makes the server lose transactions that are not yet on disk, and starts it again. */
  async function crash(): Promise<void> {
    await admin.end();
    await server.kill();
    await server.start();
    admin = new pg.Client(database);
    await admin.connect();
  }

  test.each([
    ["the server's configuration is reloaded", ["alter system set synchronous_commit = off"]],
    ["it is the user's default", ["alter role isotherm set synchronous_commit = off"]],
  ])("loses nothing with synchronous_commit off if %s", async (_, statements) => {
    // Otherwise the server would write transactions to disk after 0.2 s by itself.
    await admin.query("alter system set wal_writer_delay = '10s'");
    await reload();
    const isDefault = statements[0]?.includes("role") === true;
    let ledger = await openLedger({ database });
    const entry = await newEntry(ledger);
    for (const statement of statements) await admin.query(statement);
    await reload();
    if (isDefault) {
      await ledger.close();
      ledger = await openLedger({ database });
    }
    const accountCount = 3;
    for (let i = 0; i < accountCount; i++) await ledger.createAccount({ name: `account ${i}` });
    const recorded: string[] = [];
    for (let i = 0; i < 60; i++) {
      const each = entry();
      await ledger.record(each);
      recorded.push(each.receipt);
    }
    const { customer } = await ledger.registerCustomer({ accountId: entry().accountId, internalId: "last" });
    await crash();
    await ledger.close();
    ledger = await openLedger({ database });
    try {
      const found = new Set<string>();
      for await (const { receipt } of ledger.events({})) found.add(receipt);
      expect(recorded.filter((receipt) => !found.has(receipt))).toEqual([]);
      expect(await ledger.findCustomer(customer)).toMatchObject({ internalId: "last" });
      expect(await ledger.listAccounts()).toHaveLength(1 + accountCount);
    } finally {
      await ledger.close();
    }
  });

  test.each(["fsync", "full_page_writes"])("confirms no entry while %s is off, and recovers", async (setting) => {
    const ledger = await openLedger({ database });
    try {
      const entry = await newEntry(ledger);
      expect(await ledger.record(entry())).toEqual({ units: 1, isReplay: false });
      await admin.query(`alter system set ${setting} = off`);
      await reload();
      for (let i = 0; i < 2; i++) {
        await expect(ledger.record(entry())).rejects.toMatchObject({
          code: "usage_not_recorded",
          cause: {
            code: "configuration_invalid",
            message: expect.stringMatching(new RegExp(`${setting} = off: .*set ${setting} = on`)) as string,
          },
        });
      }
      await admin.query(`alter system reset ${setting}`);
      await reload();
      expect(await ledger.record(entry())).toEqual({ units: 1, isReplay: false });
    } finally {
      await ledger.close();
    }
  });

  test.each([
    ["local", "local"],
    ["remote_apply", "remote_apply"],
    ["off", "on"],
  ])("turns synchronous_commit = %s of the user into %s, which a reload does not change", async (before, after) => {
    await admin.query(`alter role isotherm set synchronous_commit = ${before}`);
    const client = new pg.Client(database);
    await client.connect();
    try {
      await configureSession(client);
      await admin.query("alter system set synchronous_commit = off");
      await reload();
      expect((await client.query("show synchronous_commit")).rows).toEqual([{ synchronous_commit: after }]);
    } finally {
      await client.end();
    }
  });
});
