// Faults of a ledger of either kind, implemented by replacing some of its methods.
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import Database from "better-sqlite3";
import pg from "pg";
import { built, replacing } from "./replacing.mjs";

const { openLedger } = await built("ledger/openLedger.js");
const { encodeCursor } = await built("ledger/cursor.js");

/** Returns parts of the service with a ledger, some of whose methods are replaced by those that `replace` returns. */
const ledgerWith = (replace) => ({
  async openLedger(address, options) {
    const ledger = await openLedger(address, options);
    return replacing(ledger, await replace(ledger, address));
  },
});

const withoutKey = ({ idempotency: _idempotency, ...entry }) => entry;

export const ledgerFaults = {
  /** Responses are sent without waiting for the commit. */
  "responds-before-recording": ledgerWith((ledger) => ({
    record(entry) {
      ledger.record(entry).catch(() => undefined);
      return { units: entry.units, isReplay: false };
    },
  })),

  /** Repeated requests are metered again. */
  "ignores-idempotency-keys": ledgerWith((ledger) => ({ record: (entry) => ledger.record(withoutKey(entry)) })),

  /** Each service process knows only the keys that it has seen since it was started. */
  "keeps-idempotency-keys-in-memory": ledgerWith((ledger) => {
    const seen = new Set();
    return {
      record(entry) {
        const { accountId, customerId, route, idempotency } = entry;
        if (idempotency === undefined) return ledger.record(entry);
        const request = JSON.stringify([accountId, customerId, route, idempotency]);
        if (seen.has(request)) return { units: 0, isReplay: true };
        seen.add(request);
        return ledger.record(withoutKey(entry));
      },
    };
  }),

  /** A customer is found by its id alone. */
  "finds-customers-of-any-account": ledgerWith((ledger) => ({
    async findCustomer({ customerId }) {
      for (const { accountId } of await ledger.listAccounts()) {
        const customer = await ledger.findCustomer({ accountId, customerId });
        if (customer !== undefined) return customer;
      }
      return undefined;
    },
  })),

  /** Any signature of a cursor is accepted: the cursor is signed again for the account that presents it. */
  "accepts-unsigned-cursors": ledgerWith((ledger, { data }) => {
    const database = new Database(join(data, "ledger.sqlite"), { readonly: true });
    const { cursor_secret: secret } = database.prepare("select cursor_secret from ledger_state").get();
    database.close();
    return {
      listCustomers({ cursor, ...query }) {
        if (cursor === undefined) return ledger.listCustomers(query);
        const signatureSizeBytes = 16;
        let sortKey;
        try {
          sortKey = JSON.parse(Buffer.from(cursor, "base64url").subarray(signatureSizeBytes).toString());
        } catch {
          return ledger.listCustomers({ ...query, cursor });
        }
        return ledger.listCustomers({
          ...query,
          cursor: encodeCursor(secret, ["customers", query.accountId], sortKey),
        });
      },
    };
  }),

  /** In PostgreSQL, a customer is registered by a lookup and an insert, in a table without a unique constraint. */
  "registers-customers-in-two-steps": ledgerWith(async (ledger, { database }) => {
    const pool = new pg.Pool({ connectionString: database });
    await pool.query("alter table customer drop constraint if exists customer_internal_id");
    const close = () => pool.end().then(() => ledger.close());
    return {
      async registerCustomer({ accountId, internalId, name = null }) {
        const found = await pool.query("select customer_id from customer where account_id = $1 and internal_id = $2", [
          accountId,
          internalId,
        ]);
        const isNew = found.rows.length === 0;
        const customerId = isNew ? randomUUID() : found.rows[0].customer_id;
        if (isNew) {
          await pool.query("insert into customer values ($1, $2, $3, $4, $5)", [
            customerId,
            accountId,
            internalId,
            name,
            new Date().toISOString(),
          ]);
        }
        return { customer: await ledger.findCustomer({ accountId, customerId }), isNew };
      },
      close,
    };
  }),
};
