/** If the PostgreSQL server terminates a connection, only the call that uses the connection fails. */
import pg from "pg";
import { expect, test } from "vitest";
import { openLedger } from "../../src/ledger/openLedger.ts";
import { describeWithPostgres, startPostgres } from "../ledger/postgresServer.ts";

const WAITING = "application_name = 'isotherm' and wait_event_type = 'Lock'";

describeWithPostgres("a server that terminates connections", () => {
  test("fails only the call that used the connection", async () => {
    const unexpected: unknown[] = [];
    const onUncaught = (error: unknown): number => unexpected.push(error);
    process.on("uncaughtException", onUncaught);
    const server = await startPostgres();
    const database = await server.newDatabase();
    const ledger = await openLedger({ database });
    const other = new pg.Client(database);
    await other.connect();
    try {
      for (let round = 0; round < 3; round++) {
        await other.query("begin; select * from ledger_state for update");
        const created = ledger.createAccount({ name: "In the middle of a transaction" });
        const failed = created.catch((error: unknown) => error);
        const countWaiting = async (): Promise<number> => {
          const { rows } = await other.query<{ pid: number }>(`select pid from pg_stat_activity where ${WAITING}`);
          return rows.length;
        };
        await expect.poll(countWaiting, { timeout: 10_000 }).toBe(1);
        await other.query(`select pg_terminate_backend(pid) from pg_stat_activity where ${WAITING}`);
        expect(await failed).toMatchObject({ code: "ledger_unavailable" });
        await other.query("rollback");
        expect(await ledger.createAccount({ name: "After the failure" })).toMatchObject({ name: "After the failure" });
      }
      expect(unexpected).toStrictEqual([]);
    } finally {
      process.off("uncaughtException", onUncaught);
      await other.end();
      await ledger.close();
      await server.dispose();
    }
  });
});
