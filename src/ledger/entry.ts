import { Fault } from "../errors.ts";
import { METERS, type Recorded, type UsageEntry } from "./ledger.ts";

/** What became of an entry in a transaction that has been committed. */
export type Outcome = Recorded | { readonly refusal: "idempotency_key_reused" };

/** How long a repeated request is known again. */
const IDEMPOTENCY_MS = 72 * 3_600_000;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const VISIBLE_ASCII = /^[!-~]{1,255}$/;
const SHA256 = /^[0-9a-f]{64}$/;

/** An entry that is none would take those that are committed with it along; it is a bug of ours, and told as one. */
export function checkEntry(entry: UsageEntry): void {
  const { receipt, accountId, customerId, keyId, meter, units, route, atlasRelease, idempotency } = entry;
  const isFit =
    UUID.test(receipt) &&
    UUID.test(accountId) &&
    UUID.test(customerId) &&
    UUID.test(keyId) &&
    METERS.includes(meter) &&
    Number.isSafeInteger(units) &&
    units >= 0 &&
    isStorable(route) &&
    (atlasRelease === undefined || isStorable(atlasRelease)) &&
    (idempotency === undefined || (VISIBLE_ASCII.test(idempotency.key) && SHA256.test(idempotency.fingerprint)));
  if (!isFit) throw new Error(`No entry for the ledger: ${JSON.stringify({ receipt, meter, units, route })}`);
}

/** Before this an idempotency key means nothing any more. */
export function idempotencyCutoff(now: string): string {
  return new Date(Date.parse(now) - IDEMPOTENCY_MS).toISOString();
}

/** PostgreSQL takes no NUL, and no half characters. */
function isStorable(text: string): boolean {
  return text !== "" && !/[\p{Cc}\p{Cs}]/u.test(text);
}

/** @param cause why nobody knows whether the entry is on disk */
export function usageNotRecorded(cause: unknown): Fault {
  const message = "The usage of this answer could not be written down, so the answer is not given. Ask again.";
  return new Fault("usage_not_recorded", message, { cause });
}

export function idempotencyKeyReused(): Fault {
  const detail =
    "Idempotency-Key stands for another request of this customer on this route; give each request its own.";
  const items = [{ header: "Idempotency-Key", code: "duplicate", detail }] as const;
  return new Fault("idempotency_key_reused", detail, { items });
}
