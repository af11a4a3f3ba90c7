import pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Ledger } from "../../src/ledger/ledger.ts";
import { openLedger } from "../../src/ledger/openLedger.ts";
import { keepsThePromisesOfLedgers } from "../contracts/ledger.ts";
import { type ClientRequest, checkHistory } from "./history.ts";
import { describeWithPostgres, type PostgresServer, startPostgres } from "./postgresServer.ts";
import { newReceipt } from "./receipts.ts";

/** Each takes the server's recovery, seconds. */
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
  afterAll(() => server.done());

  keepsThePromisesOfLedgers("A ledger in PostgreSQL", async () => {
    const database = await server.newDatabase();
    return {
      open: (options) => openLedger({ database }, options),
      execute: (statement) => execute(database, statement),
      done: () => Promise.resolve(),
    };
  });

  describe("what recording hangs on", () => {
    test.each([
      ["mysql://localhost/x", "configuration_invalid", /postgres:\/\/user/],
      ["", "configuration_invalid", /postgres:\/\/user/],
      ["postgres://isotherm@127.0.0.1:1/x", "ledger_unavailable", /ECONNREFUSED/],
    ])("is not found at %j", async (database, code, message) => {
      const said = { code, message: expect.stringMatching(message) as string };
      await expect(openLedger({ database })).rejects.toMatchObject(said);
    });

    test("is not given by a password that is wrong, which no message repeats", async () => {
      const database = `postgres://isotherm:s3cret@127.0.0.1:${server.port}/absent`;
      const error: unknown = await openLedger({ database }).catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ code: "ledger_unavailable", message: expect.stringMatching(/absent/) as string });
      expect(String(error)).not.toContain("s3cret");
    });

    test("is not given by a server that does not wait for its disk", async () => {
      const database = await server.newDatabase();
      await execute(database, "alter role isotherm set synchronous_commit = off");
      try {
        await expect(openLedger({ database })).rejects.toMatchObject({
          code: "configuration_invalid",
          message: expect.stringMatching(/synchronous_commit = off/) as string,
        });
      } finally {
        await execute(database, "alter role isotherm reset synchronous_commit");
      }
      await server.stop();
      await server.start(["fsync=off"]);
      try {
        await expect(openLedger({ database })).rejects.toMatchObject({
          code: "configuration_invalid",
          message: expect.stringMatching(/fsync = off/) as string,
        });
      } finally {
        await server.stop();
        await server.start();
      }
    });

    test("is not given by a database that does not hold every text", async () => {
      const database = await server.newDatabase({ encoding: "LATIN1" });
      await expect(openLedger({ database })).rejects.toMatchObject({
        code: "configuration_invalid",
        message: expect.stringMatching(/LATIN1.*UTF8/) as string,
      });
    });

    test.each(["account", "migration"])(
      "is not given by a database of another program, which has a table %s",
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

    test("is not given to a user who may make no tables, nor to one who may not write to them", async () => {
      const database = await server.newDatabase();
      await execute(database, "create role guest login");
      const asGuest = database.replace("isotherm@", "guest@");
      const refused = {
        code: "ledger_unavailable",
        message: expect.stringMatching(/^The PostgreSQL user may not .*permission denied/) as string,
      };
      try {
        await expect(openLedger({ database: asGuest })).rejects.toMatchObject(refused);
        await (await openLedger({ database })).close();
        await expect(openLedger({ database: asGuest })).rejects.toMatchObject(refused);
      } finally {
        await execute(database, "drop role guest");
      }
    });

    test("is given whatever isolation the user has by default", async () => {
      const database = await server.newDatabase();
      await execute(database, "alter role isotherm set default_transaction_isolation = 'serializable'");
      const [one, other] = await Promise.all([openLedger({ database }), openLedger({ database })]);
      try {
        const { use } = await newcomer(one);
        const all = Array.from({ length: 400 }, (_, i) =>
          (i % 2 === 0 ? one : other).record({ ...use, receipt: newReceipt() }),
        );
        expect(await Promise.all(all)).toHaveLength(400);
      } finally {
        await execute(database, "alter role isotherm reset default_transaction_isolation");
        await Promise.all([one.close(), other.close()]);
      }
    });
  });

  test("a server that dies takes what was not answered with it, and is used again when it is back", async () => {
    const database = await server.newDatabase();
    const ledger = await openLedger({ database });
    try {
      const { use } = await newcomer(ledger);
      const log: ClientRequest[] = [];
      const ended = new AbortController();
      const client = async (): Promise<void> => {
        while (!ended.signal.aborted) {
          const request = { ...use, units: 1 + (log.length % 9), receipt: newReceipt() };
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
      const clients = Array.from({ length: 16 }, client);
      const until = async (isSo: () => boolean): Promise<void> => {
        await expect.poll(isSo, { timeout: 30_000, interval: 5 }).toBe(true);
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
      ended.abort();
      await Promise.all(clients);
      expect(log.some(({ outcome }) => outcome === "unknown")).toBe(true);
      expect(await checkHistory(log, ledger)).toEqual([]);
      expect(ledger.failure).toBeUndefined();

      // Notices come again too: one announcement is made for whatever was missed, the others are heard.
      let heardCount = 0;
      ledger.onChange(() => heardCount++);
      await expect
        .poll(
          async () => {
            await execute(database, "select pg_notify('isotherm_ledger_changed', '')");
            return heardCount > 2;
          },
          { timeout: 30_000 },
        )
        .toBe(true);
    } finally {
      await ledger.close();
    }
  });
});

async function newcomer(ledger: Ledger) {
  const { accountId } = await ledger.createAccount({ name: "Someone" });
  const { key } = await ledger.createKey({ accountId });
  const { customer } = await ledger.registerCustomer({ accountId, internalId: "one" });
  const { customerId } = customer;
  return { use: { accountId, customerId, keyId: key.keyId, meter: "hazard_values", units: 1, route: "/" } as const };
}
