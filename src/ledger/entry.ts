import { Fault } from "../errors.ts";
import { METERS, type RecordResult, type UsageEntry } from "./ledger.ts";

/** The result for one entry of a committed transaction. */
export type EntryOutcome = RecordResult | { readonly refusal: "idempotency_key_reused" };

/** How long idempotency keys are kept. */
const IDEMPOTENCY_WINDOW_MS = 72 * 3_600_000;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const VISIBLE_ASCII = /^[!-~]{1,255}$/;
const SHA256 = /^[0-9a-f]{64}$/;

/**
 * Checks an entry before it is batched: an invalid one would fail the transaction for all others of its batch.
 * @throws Error, not a Fault, because an invalid entry is a bug of the caller
 */
export function checkEntry(entry: UsageEntry): void {
  const { receipt, accountId, customerId, keyId, meter, units, route, atlasRelease, idempotency } = entry;
  const isValid =
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
  if (!isValid) throw new Error(`Invalid usage entry: ${JSON.stringify({ receipt, meter, units, route })}`);
}

/** Returns the time before which idempotency keys have expired. */
export function idempotencyCutoff(now: string): string {
  return new Date(Date.parse(now) - IDEMPOTENCY_WINDOW_MS).toISOString();
}

/** PostgreSQL rejects NUL and unpaired surrogates. */
function isStorable(text: string): boolean {
  return text !== "" && !/[\p{Cc}\p{Cs}]/u.test(text);
}

/** @param cause the error that leaves it unknown whether the entry is on disk */
export function usageNotRecorded(cause: unknown): Fault {
  const message = "The usage of this request could not be recorded, so no result is returned. Retry the request.";
  return new Fault("usage_not_recorded", message, { cause });
}

export function idempotencyKeyReused(): Fault {
  const detail =
    "Idempotency-Key was used for a different request of this customer on this route; use a new key for each request.";
  const items = [{ header: "Idempotency-Key", code: "duplicate", detail }] as const;
  return new Fault("idempotency_key_reused", detail, { items });
}
