import type Database from "better-sqlite3";
import { batchHash, type EventRow, eventText } from "./chain.ts";
import { futureFault } from "./clock.ts";
import { type EntryOutcome, FREE_KEYS_PER_DAY_MAX, idempotencyCutoff } from "./entry.ts";
import type { UsageEntry } from "./ledger.ts";

/** Maximum number of expired idempotency keys that are pruned for each one that is recorded. */
const PRUNED_PER_KEY = 2;

/** Writes batches of entries to a SQLite ledger, within a transaction of the caller. */
export class SqliteRecorder {
  readonly #statements: Statements;

  constructor(database: Database.Database) {
    this.#statements = prepare(database);
  }

  /** @throws Fault `clock_unreliable` if the ledger's time is in the future */
  write(entries: readonly UsageEntry[], nowMs: number): EntryOutcome[] {
    const { advanceClock, addEvent, selectUnits, addToRollup, pruneIdempotencyKeys } = this.#statements;
    const { last_at: now } = advanceClock.get(new Date(nowMs).toISOString()) as { last_at: string };
    const fault = futureFault(now, nowMs);
    if (fault !== undefined) throw fault;
    const cutoff = idempotencyCutoff(now);
    const sums = new Map<string, { entry: UsageEntry; units: number; requests: number }>();
    const batch = this.#startBatch();
    let keyCount = 0;
    const outcomes = entries.map((entry): EntryOutcome => {
      if (entry.idempotency !== undefined) {
        keyCount++;
        const outcome = this.#checkIdempotencyKey(entry, now, cutoff);
        if (outcome !== undefined) return outcome;
      }
      const { receipt, accountId, customerId, keyId, meter, units, route, atlasRelease = null } = entry;
      if (units === 0) return { units: 0, isReplay: false };
      const seq = batch.lastSeq + 1;
      const added = addEvent.run(seq, receipt, accountId, customerId, keyId, meter, units, now, route, atlasRelease);
      if (added.changes === 0) {
        const recorded = selectUnits.get(receipt) as { units: number };
        return { units: recorded.units, isReplay: false };
      }
      batch.lastSeq = seq;
      batch.eventCount++;
      batch.content += eventText({
        seq,
        receipt,
        account_id: accountId,
        customer_id: customerId,
        key_id: keyId,
        meter,
        units,
        recorded_at: now,
        route,
        atlas_release: atlasRelease,
      });
      const rollupKey = `${accountId} ${customerId} ${meter}`;
      const sum = sums.get(rollupKey);
      if (sum === undefined) sums.set(rollupKey, { entry, units, requests: 1 });
      else {
        sum.units += units;
        sum.requests++;
      }
      return { units, isReplay: false };
    });
    this.#endBatch(batch);
    const hour = now.slice(0, "YYYY-MM-DDTHH".length);
    // Rows that are close to each other in the tables and indexes are written one after the other.
    const inOrder = [...sums].toSorted(([first], [second]) => (first < second ? -1 : 1));
    for (const [, { entry, units, requests }] of inOrder) {
      addToRollup.run(entry.accountId, entry.customerId, entry.meter, hour, units, requests);
    }
    if (keyCount > 0) pruneIdempotencyKeys.run(cutoff, keyCount * PRUNED_PER_KEY);
    return outcomes;
  }

  #startBatch(): OpenBatch {
    const head = this.#statements.head.get() as { batch: number; hash: string; last_seq: number };
    const { seq } = this.#statements.lastEvent.get() as { seq: number | null };
    const batch = {
      batch: head.batch + 1,
      previousHash: head.hash,
      lastSeq: head.last_seq,
      eventCount: 0,
      content: "",
    };
    if (seq === null || seq <= head.last_seq) return batch;
    // Processes of an earlier release, which do not know the chain, have added events.
    for (const event of this.#statements.eventsAfter.iterate(head.last_seq) as Iterable<EventRow>) {
      batch.lastSeq = event.seq;
      batch.eventCount++;
      batch.content += eventText(event);
    }
    return batch;
  }

  #endBatch({ batch, previousHash, lastSeq, eventCount, content }: OpenBatch): void {
    if (eventCount === 0) return;
    this.#statements.addBatch.run(batch, lastSeq, eventCount, batchHash(previousHash, batch, content));
  }

  /** Stores an entry's idempotency key, or compares it with the stored one. @returns undefined if the entry is to be recorded */
  #checkIdempotencyKey(entry: UsageEntry, now: string, cutoff: string): EntryOutcome | undefined {
    const { receipt, accountId, customerId, route, units, idempotency } = entry;
    if (idempotency === undefined) return undefined;
    const { key, fingerprint } = idempotency;
    const { findRequest, putRequest, countFreeKey } = this.#statements;
    const known = findRequest.get(accountId, customerId, route, key, cutoff) as
      { fingerprint: string; receipt: string } | undefined;
    if (known === undefined) {
      if (units === 0) {
        const { count } = countFreeKey.get(accountId, now.slice(0, "YYYY-MM-DD".length)) as { count: number };
        if (count > FREE_KEYS_PER_DAY_MAX) return undefined;
      }
      putRequest.run(accountId, customerId, route, key, fingerprint, receipt, now);
      return undefined;
    }
    if (known.fingerprint !== fingerprint) return { refusal: "idempotency_key_reused" };
    return known.receipt === receipt ? undefined : { units: 0, isReplay: true };
  }
}

/** The batch that is being recorded. */
interface OpenBatch {
  readonly batch: number;
  readonly previousHash: string;
  lastSeq: number;
  eventCount: number;
  /** The encoded events. */
  content: string;
}

type Statements = ReturnType<typeof prepare>;

/** Prepares the statements of recording, the most frequent operation, once per connection. */
function prepare(database: Database.Database) {
  return {
    advanceClock: database.prepare("update ledger_state set last_at = max(last_at, ?) returning last_at"),
    head: database.prepare("select batch, hash, last_seq from usage_batch order by batch desc limit 1"),
    lastEvent: database.prepare("select max(seq) as seq from usage_event"),
    eventsAfter: database.prepare("select * from usage_event where seq > ? order by seq"),
    addBatch: database.prepare("insert into usage_batch (batch, last_seq, event_count, hash) values (?, ?, ?, ?)"),
    addEvent: database.prepare(
      `insert into usage_event
         (seq, receipt, account_id, customer_id, key_id, meter, units, recorded_at, route, atlas_release)
       values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict (receipt) do nothing`,
    ),
    selectUnits: database.prepare("select units from usage_event where receipt = ?"),
    addToRollup: database.prepare(
      `insert into usage_rollup (account_id, customer_id, meter, hour, units, requests) values (?, ?, ?, ?, ?, ?)
       on conflict (account_id, customer_id, meter, hour)
       do update set units = units + excluded.units, requests = requests + excluded.requests`,
    ),
    findRequest: database.prepare(
      `select fingerprint, receipt from idempotency
       where account_id = ? and customer_id = ? and route = ? and idempotency_key = ? and recorded_at >= ?`,
    ),
    // A row that this statement replaces has expired.
    putRequest: database.prepare(
      `insert or replace into idempotency
         (account_id, customer_id, route, idempotency_key, fingerprint, receipt, recorded_at)
       values (?, ?, ?, ?, ?, ?, ?)`,
    ),
    countFreeKey: database.prepare(
      `insert into free_key_count (account_id, day, count) values (?, ?, 1)
       on conflict (account_id)
       do update set count = 1 + case when day = excluded.day then count else 0 end, day = excluded.day returning count`,
    ),
    pruneIdempotencyKeys: database.prepare(
      `delete from idempotency where (account_id, customer_id, route, idempotency_key) in
         (select account_id, customer_id, route, idempotency_key from idempotency
          where recorded_at < ? order by recorded_at limit ?)`,
    ),
  };
}
