// Faults of the connections that the PostgreSQL ledger records and listens with.
import pg from "pg";
import { built } from "./replacing.mjs";

const { PostgresLedger } = await built("ledger/postgres.js");

const clientOf = (Client) => ({
  openLedger: ({ database }) =>
    PostgresLedger.open({ database, now: Date.now, createClient: (config) => new Client(config) }),
});

export const postgresFaults = {
  /** `synchronous_commit` is switched off after the ledger has checked it, which is its first query. */
  "commits-asynchronously": clientOf(
    class extends pg.Client {
      #isChecked = false;
      async query(...query) {
        const result = await super.query(...query);
        if (!this.#isChecked) {
          this.#isChecked = true;
          await super.query("set synchronous_commit = off");
        }
        return result;
      }
    },
  ),

  /** Notifications of changes get lost. */
  "ignores-notifications": clientOf(
    class extends pg.Client {
      on(event, listener) {
        return event === "notification" ? this : super.on(event, listener);
      }
    },
  ),
};
