/** Changes of accounts, keys and customers, which other processes cache, and their announcement. */
import { type Kysely, sql } from "kysely";
import type { CustomerRef } from "./ledger.ts";
import type { Storage, Tables } from "./schema.ts";
import { type RequiredSetting, SETTING_THAT_IS_OFF, notDurableFault } from "./postgresSettings.ts";

/**
 * Runs a transaction that changes cached entities, and invalidates all caches of them. `now` is the ledger's time: the
 * system clock, but never earlier than the last write. Updating the row that holds the ledger's time serializes writers,
 * so that `work` sees everything that earlier transactions wrote.
 * @param customer the customer, if nothing else is changed
 */
export function runInvalidatingTransaction<T>(
  storage: Storage,
  work: (tx: Kysely<Tables>, now: string) => Promise<T>,
  customer?: CustomerRef,
): Promise<T> {
  return storage.transaction(async (tx) => {
    const nowText = new Date(storage.nowMs()).toISOString();
    const { last_at: now } = await tx
      .updateTable("ledger_state")
      .set(({ eb }) => ({
        last_at: eb.case().when("last_at", "<", nowText).then(nowText).else(eb.ref("last_at")).end(),
        change_count: eb("change_count", "+", 1),
      }))
      .returning("last_at")
      .executeTakeFirstOrThrow();
    const result = await work(tx, now);
    if (storage.dialect === "postgres") {
      await sql`select pg_notify(${CHANGE_CHANNEL}, ${changePayload(customer)})`.execute(tx);
    }
    return result;
  });
}

/** The NOTIFY channel on which PostgreSQL announces changes. */
export const CHANGE_CHANNEL = "isotherm_ledger_changed";

/** Returns the payload of a notification: the ids of the only customer that has changed, otherwise empty. */
function changePayload(customer: CustomerRef | undefined): string {
  return customer === undefined ? "" : `${customer.accountId} ${customer.customerId}`;
}

/** Returns the only customer that has changed according to a notification, if there is one. */
export function changedCustomer(payload = ""): CustomerRef | undefined {
  const [accountId = "", customerId = ""] = payload.split(" ");
  return customerId === "" ? undefined : { accountId, customerId };
}

/**
 * Checks that the ledger can write to the disk. Its content stays the same.
 * @throws Fault `configuration_invalid` if what it writes can be lost; errors of the storage
 */
export async function checkWritable(storage: Storage): Promise<void> {
  if (storage.dialect === "sqlite") {
    await storage.transaction(async (tx) => {
      // SQLite does not write a row whose values stay the same.
      await sql`update ledger_state set change_count = change_count + 1`.execute(tx);
      await sql`update ledger_state set change_count = change_count - 1`.execute(tx);
    });
    return;
  }
  const { rows } = await sql<{ off: RequiredSetting | null }>`
    update ledger_state set last_at = last_at returning ${sql.raw(SETTING_THAT_IS_OFF)} as off`.execute(storage.db);
  const off = rows[0]?.off ?? null;
  if (off !== null) throw notDurableFault(off);
}
