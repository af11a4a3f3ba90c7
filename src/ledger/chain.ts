/**
 * The hash chain over recorded usage. Each recorded batch has a SHA-256 over the hash of the previous batch and its own
 * events, so that nothing before a known hash can be changed, removed, added or reordered without changing that hash.
 * The trigger in `laterMigrations.ts` computes the same hashes in PostgreSQL.
 */
import { createHash, hash } from "node:crypto";

/** An event as a row of `usage_event`. */
export interface EventRow {
  readonly seq: number;
  readonly receipt: string;
  readonly account_id: string;
  readonly customer_id: string;
  readonly key_id: string;
  readonly meter: string;
  readonly units: number;
  readonly recorded_at: string;
  readonly route: string;
  readonly atlas_release: string | null;
}

/** A row of `usage_batch`: it covers the events after the previous batch, up to `last_seq`. */
export interface BatchRow {
  readonly batch: number;
  readonly last_seq: number;
  /** 0 for batches that record that events were pruned. */
  readonly event_count: number;
  /** SHA-256 in hexadecimal. */
  readonly hash: string;
}

/** A row of `usage_prune`, which is the content of a batch without events. */
export interface PruneRow {
  /** The batch that covers this row. */
  readonly batch: number;
  /** `YYYY-MM-DD`; all events before this day were archived. */
  readonly before_day: string;
  /** The last batch whose events were archived, and its hash, with which the chain continues. */
  readonly last_batch: number;
  readonly last_hash: string;
  readonly last_seq: number;
  readonly event_count: number;
  /** SHA-256 over the hourly sums before `before_day`, which can no longer be recomputed from events. */
  readonly rollup_hash: string;
  readonly archive_name: string;
  readonly archive_sha256: string;
  /** `pruneHash` of the previous row, or empty. The batch of that row may be archived by now. */
  readonly previous_prune: string;
}

/** Returns the hash of batch 0, which has no events. */
export function firstHash(ledgerId: string): string {
  return hash("sha256", `isotherm usage chain ${ledgerId}`, "hex");
}

/** Returns the text that the hash of a batch covers before its content. */
export function batchPrefix(previousHash: string, batch: number): string {
  return `${previousHash}\n${batch}\n`;
}

export function batchHash(previousHash: string, batch: number, content: string): string {
  return hash("sha256", batchPrefix(previousHash, batch) + content, "hex");
}

/** Encodes an event. Texts carry their size, so that different events always have different encodings. */
export function eventText(event: EventRow): string {
  return (
    `${event.seq},${field(event.receipt)}${field(event.account_id)}${field(event.customer_id)}` +
    `${field(event.key_id)}${field(event.meter)}${event.units},${field(event.recorded_at)}` +
    `${field(event.route)}${field(event.atlas_release)}`
  );
}

export function pruneText(row: Omit<PruneRow, "batch">): string {
  return (
    `prune,${field(row.before_day)}${row.last_batch},${field(row.last_hash)}${row.last_seq},${row.event_count},` +
    `${field(row.rollup_hash)}${field(row.archive_name)}${field(row.archive_sha256)}${field(row.previous_prune)}`
  );
}

export function pruneHash(row: Omit<PruneRow, "batch"> | undefined): string {
  return row === undefined ? "" : hash("sha256", pruneText(row), "hex");
}

/** Encodes a row of `usage_rollup`. */
export function rollupText(row: {
  readonly account_id: string;
  readonly customer_id: string;
  readonly meter: string;
  readonly hour: string;
  readonly units: number;
  readonly requests: number;
}): string {
  return `${field(row.account_id)}${field(row.customer_id)}${field(row.meter)}${field(row.hour)}${row.units},${row.requests},`;
}

function field(text: string | null): string {
  return text === null ? "-," : `${Buffer.byteLength(text)}:${text},`;
}

/** SHA-256 of a text that is too long to be built in memory. */
export class TextHash {
  readonly #hash = createHash("sha256");
  #pending = "";

  update(text: string): void {
    // Few long updates are much faster than many short ones.
    this.#pending += text;
    if (this.#pending.length > 65_536) this.#flush();
  }

  hex(): string {
    this.#flush();
    return this.#hash.digest("hex");
  }

  #flush(): void {
    this.#hash.update(this.#pending);
    this.#pending = "";
  }
}
