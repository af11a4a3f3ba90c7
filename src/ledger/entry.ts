import { IDEMPOTENCY_KEY_PATTERN } from "../contract/ranges.ts";
import { Fault } from "../errors.ts";
import type { RecordResult, UsageEntry } from "./ledger.ts";
import { METERS } from "../contract/names.ts";
import type { Meter } from "../contract/wireTypes.ts";

/** The result for one entry of a committed transaction. */
export type EntryOutcome = RecordResult | { readonly refusal: "idempotency_key_reused" };

/** Maximum number of entries recorded together, which bounds the latency of the first one. */
export const BATCH_COUNT_MAX = 5_000;
/** Time after which an entry that is not recorded is rejected: longer than the storage waits for locks and statements. */
export const RECORD_TIMEOUT_MS = 15_000;
/** How long idempotency keys are kept. */
const IDEMPOTENCY_WINDOW_MS = 72 * 3_600_000;
/**
 * Idempotency keys of answers of 0 units that are kept per account and UTC day. Such answers are not paid for, so that
 * without a limit a client could fill the disk with them. Further keys are accepted, but not kept.
 */
export const FREE_KEYS_PER_DAY_MAX = 10_000;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const IDEMPOTENCY_KEY = new RegExp(IDEMPOTENCY_KEY_PATTERN);
const SHA256 = /^[0-9a-f]{64}$/;

/**
 * Checks an entry before it is batched: an invalid one would make the transaction fail for its whole batch.
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
    (idempotency === undefined || (IDEMPOTENCY_KEY.test(idempotency.key) && SHA256.test(idempotency.fingerprint)));
  if (!isValid) throw new Error(`Invalid usage entry: ${JSON.stringify({ receipt, meter, units, route })}`);
}

/** Fields of an encoded entry. */
const FIELD_COUNT = 10;

/**
 * Encodes checked entries as one text, which is sent to another thread many times faster than objects: lines of ten
 * fields, in which absent ones are empty. `checkEntry` rejects line ends in fields, and empty ones.
 */
export function encodeEntries(entries: readonly UsageEntry[]): string {
  let text = "";
  for (const entry of entries) {
    const { receipt, accountId, customerId, keyId, meter, units, route, atlasRelease = "", idempotency } = entry;
    if (text !== "") text += "\n";
    text += `${receipt}\n${accountId}\n${customerId}\n${keyId}\n${meter}\n${units}\n${route}\n${atlasRelease}\n`;
    text += idempotency === undefined ? "\n" : `${idempotency.key}\n${idempotency.fingerprint}`;
  }
  return text;
}

/** Decodes the text of `encodeEntries` for at least one entry. */
export function decodeEntries(text: string): UsageEntry[] {
  const fields = text.split("\n");
  const entries: UsageEntry[] = [];
  for (let at = 0; at < fields.length; at += FIELD_COUNT) {
    const [receipt = "", accountId = "", customerId = "", keyId = "", meter, units, route = ""] = fields.slice(
      at,
      at + 7,
    );
    const [atlasRelease = "", key = "", fingerprint = ""] = fields.slice(at + 7, at + FIELD_COUNT);
    entries.push({
      receipt,
      accountId,
      customerId,
      keyId,
      meter: meter as Meter,
      units: Number(units),
      route,
      ...(atlasRelease === "" ? {} : { atlasRelease }),
      ...(key === "" ? {} : { idempotency: { key, fingerprint } }),
    });
  }
  return entries;
}

/** Returns the time before which idempotency keys have expired. */
export function idempotencyCutoff(now: string): string {
  return new Date(Date.parse(now) - IDEMPOTENCY_WINDOW_MS).toISOString();
}

/** Returns whether every database stores a text unchanged: PostgreSQL rejects NUL and unpaired surrogates. */
function isStorable(text: string): boolean {
  return text !== "" && !/[\p{Cc}\p{Cs}]/u.test(text);
}

/** Creates the error of an entry that may not be on disk. @param cause why this is unknown */
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

/** An entry that waits to be recorded or is being recorded. After its deadline, further results are ignored. */
export interface PendingEntry {
  readonly entry: UsageEntry;
  resolve(result: RecordResult): void;
  reject(error: Error): void;
}

interface QueuedEntry extends PendingEntry {
  readonly deadlineAtMs: number;
}

/**
 * Entries that wait to be recorded, in order. Every entry gets a result within the timeout, even if the storage hangs:
 * one that still waits then is never recorded; for one that is being recorded, it is unknown whether it will be.
 */
export class RecordQueue {
  readonly #timeoutMs: number;
  #waiting: QueuedEntry[] = [];
  /** Waiting entries and those being recorded, in the order of their deadlines. */
  readonly #pending = new Set<QueuedEntry>();
  #isTimerRunning = false;

  constructor({ timeoutMs }: { readonly timeoutMs: number }) {
    this.#timeoutMs = timeoutMs;
  }

  get waitingCount(): number {
    return this.#waiting.length;
  }

  /** Adds an entry. @throws Fault `usage_not_recorded` after the timeout; the error that the entry is rejected with */
  add(entry: UsageEntry): Promise<RecordResult> {
    return new Promise((resolve, reject) => {
      const queued: QueuedEntry = {
        entry,
        deadlineAtMs: performance.now() + this.#timeoutMs,
        resolve: (result) => {
          this.#pending.delete(queued);
          resolve(result);
        },
        reject: (error) => {
          this.#pending.delete(queued);
          reject(error);
        },
      };
      this.#waiting.push(queued);
      this.#pending.add(queued);
      // One timer for all entries: a timer for each would take longer than recording it.
      if (!this.#isTimerRunning) this.#startTimer(this.#timeoutMs);
    });
  }

  /** Removes and returns waiting entries, which the caller records. */
  take(countMax = Infinity): readonly PendingEntry[] {
    if (countMax < this.#waiting.length) return this.#waiting.splice(0, countMax);
    const taken = this.#waiting;
    this.#waiting = [];
    return taken;
  }

  #startTimer(delayMs: number): void {
    this.#isTimerRunning = true;
    setTimeout(() => this.#rejectLateEntries(), delayMs).unref(); // the requests keep the process running
  }

  #rejectLateEntries(): void {
    this.#isTimerRunning = false;
    const nowMs = performance.now();
    for (const queued of this.#pending) {
      const leftMs = queued.deadlineAtMs - nowMs;
      if (leftMs > 0) {
        this.#startTimer(Math.ceil(leftMs));
        break;
      }
      queued.reject(usageNotRecorded(new Error(`The ledger did not respond within ${this.#timeoutMs / 1000} s.`)));
    }
    this.#waiting = this.#waiting.filter((queued) => this.#pending.has(queued));
  }
}
