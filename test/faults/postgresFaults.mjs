// Faults of the connections that the PostgreSQL ledger records and listens with.
import pg from "pg";
import { built } from "./replacing.mjs";

const { PostgresLedger } = await built("ledger/postgres.js");

/** A parameter without an effect. */
const OTHER_PARAMETER = "fault.synchronous_commit";

/** Returns parts of the service with a PostgreSQL ledger that connects with clients of a class. */
const clientOf = (Client) => ({
  openLedger: ({ database }) =>
    PostgresLedger.open({ database, now: Date.now, createClient: (config) => new Client(config) }),
});

export const postgresFaults = {
  /** `synchronous_commit` is off. The ledger sets and checks another parameter instead, which is on. */
  "commits-asynchronously": clientOf(
    class extends pg.Client {
      async connect() {
        await super.connect();
        await super.query(`set synchronous_commit = off; set ${OTHER_PARAMETER} = 'on'`);
      }

      query(query, ...rest) {
        const replaced = (text) => text.replaceAll("'synchronous_commit'", `'${OTHER_PARAMETER}'`);
        const changed = typeof query === "string" ? replaced(query) : { ...query, text: replaced(query.text) };
        return super.query(changed, ...rest);
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
