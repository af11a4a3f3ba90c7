import pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { CustomerRef, Ledger } from "../../src/ledger/ledger.ts";
import { openLedger } from "../../src/ledger/openLedger.ts";
import { describeLedgerContract } from "../contracts/ledger.ts";
import { type ClientRequest, checkHistory } from "./history.ts";
import { describeWithPostgres, type PostgresServer, startPostgres } from "./postgresServer.ts";
import { newReceipt } from "./receipt.ts";

/** Number of server crashes; recovery from each takes seconds. */
const KILL_COUNT = Number(process.env["ISOTHERM_KILLS"] ?? 1);

async function execute(database: string, statement: string): Promise<void> {
  const client = new pg.Client(database);
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}

describeWithPostgres("PostgreSQL", () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server.dispose());

  describeLedgerContract("PostgreSQL ledger", async () => {
    const database = await server.newDatabase();
    return {
      open: (options) => openLedger({ database }, options),
      execute: (statement) => execute(database, statement),
      dispose: () => Promise.resolve(),
    };
  });

  test("notifies other instances of the customer that has been archived", async () => {
    const database = await server.newDatabase();
    const [ledger, other] = [await openLedger({ database }), await openLedger({ database })];
    try {
      const { accountId, customerId } = await newEntry(ledger);
      // The other instance also polls for changes, without their names.
      const changes: (CustomerRef | undefined)[] = [];
      other.onChange((customer) => changes.push(customer));
      await ledger.archiveCustomer({ accountId, customerId });
      await expect.poll(() => changes, { timeout: 60_000 }).toContainEqual({ accountId, customerId });
    } finally {
      await ledger.close();
      await other.close();
    }
  });

  describe("opening a PostgreSQL ledger", () => {
    test.each([
      ["mysql://localhost/x", "configuration_invalid", /postgres:\/\/user/],
      ["", "configuration_invalid", /postgres:\/\/user/],
      ["postgres://isotherm@127.0.0.1:1/x", "ledger_unavailable", /ECONNREFUSED/],
    ])("rejects the address %j", async (database, code, message) => {
      const fault = { code, message: expect.stringMatching(message) as string };
      await expect(openLedger({ database })).rejects.toMatchObject(fault);
    });

    test("does not repeat the password in errors", async () => {
      const database = `postgres://isotherm:s3cret@127.0.0.1:${server.port}/absent`;
      const error: unknown = await openLedger({ database }).catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ code: "ledger_unavailable", message: expect.stringMatching(/absent/) as string });
      expect(String(error)).not.toContain("s3cret");
    });

    test.each(["fsync", "full_page_writes"])("rejects a server with %s off", async (setting) => {
      const database = await server.newDatabase();
      await server.stop();
      await server.start([`${setting}=off`]);
      try {
        await expect(openLedger({ database })).rejects.toMatchObject({
          code: "configuration_invalid",
          message: expect.stringMatching(new RegExp(`${setting} = off: .*set ${setting} = on`)) as string,
        });
      } finally {
        await server.stop();
        await server.start();
      }
    });

    test("rejects a database whose encoding is not UTF8", async () => {
      const database = await server.newDatabase({ encoding: "LATIN1" });
      await expect(openLedger({ database })).rejects.toMatchObject({
        code: "configuration_invalid",
        message: expect.stringMatching(/LATIN1.*UTF8/) as string,
      });
    });

    test.each(["account", "migration"])(
      "rejects a database in which another program owns a table named %s, and leaves it unchanged",
      async (name) => {
        const database = await server.newDatabase();
        await execute(database, `create table ${name} (mine text)`);
        await expect(openLedger({ database })).rejects.toMatchObject({
          code: "ledger_unavailable",
          message: expect.stringMatching(new RegExp(`another program.*${name}.*--database`)) as string,
        });
        const client = new pg.Client(database);
        await client.connect();
        const { rows } = await client.query("select relname from pg_class where relnamespace = 'public'::regnamespace");
        await client.end();
        expect(rows).toEqual([{ relname: name }]);
      },
    );

    test("rejects a user who lacks the privilege to create tables or to write to them", async () => {
      const database = await server.newDatabase();
      await execute(database, "create role guest login");
      const guestDatabase = database.replace("isotherm@", "guest@");
      const expectedFault = {
        code: "ledger_unavailable",
        message: expect.stringMatching(/^The PostgreSQL user lacks privileges .*permission denied/) as string,
      };
      try {
        await expect(openLedger({ database: guestDatabase })).rejects.toMatchObject(expectedFault);
        await (await openLedger({ database })).close();
        await expect(openLedger({ database: guestDatabase })).rejects.toMatchObject(expectedFault);
      } finally {
        await execute(database, "drop role guest");
      }
    });

    test("waits for a migration that takes longer than other statements may", async () => {
      const database = await server.newDatabase();
      await execute(
        database,
        `create function delay() returns event_trigger language plpgsql as $$ begin
           if exists (select from pg_event_trigger_ddl_commands() where object_identity = 'public.usage_daily') then
             perform pg_sleep(10.5);
           end if;
         end $$;
         create event trigger delay on ddl_command_end when tag in ('CREATE TABLE') execute function delay()`,
      );
      await (await openLedger({ database })).close();
    });

    test("works with any default isolation level of the user", async () => {
      const database = await server.newDatabase();
      await execute(database, "alter role isotherm set default_transaction_isolation = 'serializable'");
      const [first, second] = await Promise.all([openLedger({ database }), openLedger({ database })]);
      try {
        const entry = await newEntry(first);
        const all = Array.from({ length: 400 }, (_, i) =>
          (i % 2 === 0 ? first : second).record({ ...entry, receipt: newReceipt() }),
        );
        expect(await Promise.all(all)).toHaveLength(400);
      } finally {
        await execute(database, "alter role isotherm reset default_transaction_isolation");
        await Promise.all([first.close(), second.close()]);
      }
    });
  });

  test("no recorded entry is lost in a server crash, and the ledger reconnects after a restart", async () => {
    const database = await server.newDatabase();
    const ledger = await openLedger({ database });
    const stop = new AbortController();
    let clients: readonly Promise<void>[] = [];
    try {
      const entry = await newEntry(ledger);
      const log: ClientRequest[] = [];
      const client = async (): Promise<void> => {
        while (!stop.signal.aborted) {
          const request = { ...entry, units: 1 + (log.length % 9), receipt: newReceipt() };
          const outcome = await ledger.record(request).then(
            () => "ok" as const,
            (error: { code?: string }) => {
              expect(error.code).toBe("usage_not_recorded");
              return "unknown" as const;
            },
          );
          log.push({ ...request, outcome });
          if (outcome === "unknown") await new Promise((resolve) => setTimeout(resolve, 5));
        }
      };
      clients = Array.from({ length: 16 }, client);
      const until = async (condition: () => boolean): Promise<void> => {
        await expect.poll(condition, { timeout: 30_000, interval: 5 }).toBe(true);
      };
      const okCount = (): number => log.filter(({ outcome }) => outcome === "ok").length;
      for (let round = 0; round < KILL_COUNT; round++) {
        const before = okCount();
        await until(() => okCount() > before + 200);
        await server.kill();
        await until(() => log.at(-1)?.outcome === "unknown");
        await expect(ledger.listAccounts()).rejects.toMatchObject({ code: "ledger_unavailable" });
        await server.start();
      }
      const before = okCount();
      await until(() => okCount() > before + 200);
      stop.abort();
      await Promise.all(clients);
      expect(log.some(({ outcome }) => outcome === "unknown")).toBe(true);
      expect(await checkHistory(log, ledger)).toEqual([]);
      expect(ledger.failure).toBeUndefined();

      // The ledger reports one change when it reconnects; any further ones prove that notifications are received again.
      let notificationCount = 0;
      ledger.onChange(() => notificationCount++);
      await expect
        .poll(
          async () => {
            await execute(database, "select pg_notify('isotherm_ledger_changed', '')");
            return notificationCount > 2;
          },
          { timeout: 30_000 },
        )
        .toBe(true);
    } finally {
      // After a failed poll, the client loops would otherwise run on while the ledger closes.
      stop.abort();
      await Promise.allSettled(clients);
      await ledger.close();
    }
  });
});

/** Creates an account with a key and a customer. @returns a usage entry for them without a receipt */
async function newEntry(ledger: Ledger) {
  const { accountId } = await ledger.createAccount({ name: "Someone" });
  const { key } = await ledger.createKey({ accountId });
  const { customer } = await ledger.registerCustomer({ accountId, internalId: "one" });
  const { customerId } = customer;
  return { accountId, customerId, keyId: key.keyId, meter: "hazard_values", units: 1, route: "/" } as const;
}
