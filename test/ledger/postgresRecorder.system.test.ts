/** The connection that records in a PostgreSQL ledger. */
import pg from "pg";
import { expect, test } from "vitest";
import { PostgresLedger } from "../../src/ledger/postgres.ts";
import { describeWithPostgres, startPostgres } from "./postgresServer.ts";
import { newReceipt } from "./receipt.ts";

describeWithPostgres("the connection that records", () => {
  test("does not plan or compile the statement for each batch, so that the first large batches are not slow", async () => {
    const server = await startPostgres();
    const clients: pg.Client[] = [];
    const ledger = await PostgresLedger.open({
      database: await server.newDatabase(),
      now: Date.now,
      createClient: (config) => {
        const client = new pg.Client(config);
        clients.push(client);
        return client;
      },
    });
    try {
      const { accountId } = await ledger.createAccount({ name: "Clients" });
      const { key } = await ledger.createKey({ accountId });
      const { customer } = await ledger.registerCustomer({ accountId, internalId: "one" });
      const common = { accountId, customerId: customer.customerId, keyId: key.keyId, route: "/", units: 1 };
      const entries = Array.from({ length: 20 }, () => ({
        ...common,
        receipt: newReceipt(),
        meter: "hazard_values" as const,
      }));
      await Promise.all(entries.map((entry) => ledger.record(entry)));
      const { rows } = await (clients[0] as pg.Client).query<{ generic: number; custom: number; jit: string }>(
        `select generic_plans::int as generic, custom_plans::int as custom, current_setting('jit') as jit
           from pg_prepared_statements where name = 'isotherm-record'`,
      );
      expect(rows).toEqual([{ generic: 1, custom: 0, jit: "off" }]);
    } finally {
      await ledger.close();
      await server.dispose();
    }
  });
});
