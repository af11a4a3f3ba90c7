import { sql } from "kysely";
import { notDurableFault, type RequiredSetting, SETTING_THAT_IS_OFF } from "./postgresSettings.ts";
import type { Storage } from "./schema.ts";

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
