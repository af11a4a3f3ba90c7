import { randomUUID } from "node:crypto";
import type { UsageEntry } from "../../src/ledger/ledger.ts";
import { newReceipt } from "./receipt.ts";

const [accountId, customerId, keyId] = [randomUUID(), randomUUID(), randomUUID()];

/** Returns a new usage entry; all entries of a run have the same account, customer and key. */
export function usageEntryOf(units: number): UsageEntry {
  return { receipt: newReceipt(), accountId, customerId, keyId, meter: "hazard_values", units, route: "/" };
}
