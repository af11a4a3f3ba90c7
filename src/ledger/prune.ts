/**
 * Pruning: events that were archived are deleted, while their sums stay. A record of the pruning, in a batch of its own,
 * continues the chain after the archived batches and protects the sums that can no longer be recomputed.
 */
import { sql } from "kysely";
import { Fault } from "../errors.ts";
import { batchHash, pruneHash, type PruneRow, pruneText } from "./chain.ts";
import { rollupHash } from "./chainAudit.ts";
import type { ChainHead, PrunePlan } from "./chainReport.ts";
import { latestPrune } from "./chainState.ts";
import { checkDate } from "./checks.ts";
import type { Storage } from "./schema.ts";

/** Rows that are deleted in one transaction, which bounds how long recording waits. */
const DELETED_COUNT = 2_000;

/**
 * Returns which events a pruning would archive: whole batches, all of whose events are before the day.
 * @throws Fault `invalid_request` if the day is invalid, not in the past, or the events are not in the order of time
 */
export function prunePlan(storage: Storage, { before }: { readonly before: string }): Promise<PrunePlan> {
  checkDate("before", before);
  return storage.snapshot((db) => planOf(db, { before, today: dayOf(new Date(storage.nowMs()).toISOString()) }));
}

async function planOf(
  db: Storage["db"],
  { before, today }: { readonly before: string; readonly today: string },
): Promise<PrunePlan> {
  const reject = (detail: string): never => {
    throw new Fault("invalid_request", detail, { items: [{ pointer: "/before", code: "out_of_range", detail }] });
  };
  const { last_at } = await db.selectFrom("ledger_state").select("last_at").executeTakeFirstOrThrow();
  const latestDay = today > dayOf(last_at) ? today : dayOf(last_at);
  if (before > latestDay) reject(`before must not be after today, ${latestDay} (got ${before}).`);
  const pruned = await latestPrune(db);
  if (pruned !== undefined && before < pruned.before_day) {
    reject(
      `before must not be earlier than ${pruned.before_day}: the events until then are already archived (got ${before}).`,
    );
  }
  const done = { batch: pruned?.last_batch ?? 0, lastSeq: pruned?.last_seq ?? 0 };
  const kept = await db
    .selectFrom("usage_event")
    .select("seq")
    .where("seq", ">", done.lastSeq)
    .where("recorded_at", ">=", before)
    .orderBy("seq")
    .limit(1)
    .executeTakeFirst();
  let batches = db.selectFrom("usage_batch").where("batch", ">", done.batch).where("event_count", ">", 0);
  if (kept !== undefined) batches = batches.where("last_seq", "<", kept.seq);
  const last = await batches.selectAll().orderBy("batch", "desc").limit(1).executeTakeFirst();
  const lastSeq = last?.last_seq ?? done.lastSeq;
  const stray = await eventBefore(db, before, lastSeq);
  if (stray !== undefined) {
    reject(
      `Event ${stray} is before ${before} but was recorded together with, or after, later ones; choose an earlier day.`,
    );
  }
  const count = { count: sql<number>`count(*)`.as("count") }.count;
  const events = await db
    .selectFrom("usage_event")
    .select(count)
    .where("seq", ">", done.lastSeq)
    .where("seq", "<=", lastSeq)
    .executeTakeFirstOrThrow();
  const undeleted = await db
    .selectFrom("usage_event")
    .select(count)
    .where("seq", "<=", done.lastSeq)
    .executeTakeFirstOrThrow();
  const head =
    last ?? (await db.selectFrom("usage_batch").selectAll().where("batch", "=", done.batch).executeTakeFirst());
  return {
    before,
    head: { batch: head?.batch ?? done.batch, hash: head?.hash ?? pruned?.last_hash ?? "" },
    firstBatch: done.batch + 1,
    lastSeq,
    eventCount: events.count,
    batchCount: (head?.batch ?? done.batch) - done.batch,
    undeletedCount: undeleted.count,
  };
}

/** Returns the `seq` of an event after `lastSeq` that is before a day. */
async function eventBefore(db: Storage["db"], before: string, lastSeq: number): Promise<number | undefined> {
  const events = db
    .selectFrom("usage_event")
    .select("seq")
    .where("seq", ">", lastSeq)
    .where("recorded_at", "<", before);
  return (await events.limit(1).executeTakeFirst())?.seq;
}

function dayOf(time: string): string {
  return time.slice(0, "YYYY-MM-DD".length);
}

export interface PruneRecord {
  readonly plan: PrunePlan;
  readonly archiveName: string;
  readonly archiveSha256: string;
}

/**
 * Records that the events of a plan were archived, after which `deletePruned` deletes them.
 * @throws Fault `invalid_request` if the ledger no longer matches the plan
 */
export async function recordPrune(storage: Storage, record: PruneRecord): Promise<ChainHead> {
  const { plan, archiveName, archiveSha256 } = record;
  const startOfDay = `${plan.before}T00:00:00.000Z`;
  await storage.transaction(async (tx) => {
    await tx.updateTable("ledger_state").set({ last_at: startOfDay }).where("last_at", "<", startOfDay).execute();
  });
  // The ledger's time is not before the day now, so these sums no longer change and need no lock.
  const rollup_hash = await storage.snapshot((db) => rollupHash(db, plan.before));
  return storage.transaction(async (tx) => {
    // Locks out recording, which takes the same lock first.
    await tx
      .updateTable("ledger_state")
      .set(({ ref }) => ({ last_at: ref("last_at") }))
      .execute();
    const earlier = await latestPrune(tx);
    const last = await tx.selectFrom("usage_batch").selectAll().where("batch", "=", plan.head.batch).executeTakeFirst();
    const isUnchanged =
      last?.hash === plan.head.hash && (earlier === undefined || earlier.last_batch < plan.head.batch);
    if (!isUnchanged) {
      throw new Fault("invalid_request", "The ledger was pruned by another process meanwhile; start again.");
    }
    const newest = await tx
      .selectFrom("usage_batch")
      .selectAll()
      .orderBy("batch", "desc")
      .limit(1)
      .executeTakeFirstOrThrow();
    const row = {
      before_day: plan.before,
      last_batch: plan.head.batch,
      last_hash: plan.head.hash,
      last_seq: plan.lastSeq,
      event_count: plan.eventCount,
      rollup_hash,
      archive_name: archiveName,
      archive_sha256: archiveSha256,
      previous_prune: pruneHash(earlier),
    };
    const batch = newest.batch + 1;
    const hash = batchHash(newest.hash, batch, pruneText(row));
    await tx
      .insertInto("usage_prune")
      .values({ batch, ...row })
      .execute();
    await tx.insertInto("usage_batch").values({ batch, last_seq: newest.last_seq, event_count: 0, hash }).execute();
    return { batch, hash };
  });
}

/** Returns the records of all prunings, oldest first. */
export function prunings({ db }: Storage): Promise<readonly PruneRow[]> {
  return db.selectFrom("usage_prune").selectAll().orderBy("batch").execute();
}

/** Deletes some of the archived events and, after them, of their batches. @returns how many; 0 if there are none left */
export function deletePruned(storage: Storage): Promise<number> {
  return storage.transaction(async (tx) => {
    const pruned = await latestPrune(tx);
    if (pruned === undefined) return 0;
    const deleted = async (
      table: "usage_event" | "usage_batch",
      column: "seq" | "batch",
      last: number,
    ): Promise<number> => {
      const { numAffectedRows } = await sql`
        delete from ${sql.table(table)} where ${sql.ref(column)} in
          (select ${sql.ref(column)} from ${sql.table(table)} where ${sql.ref(column)} <= ${last}
            order by ${sql.ref(column)} limit ${DELETED_COUNT})`.execute(tx);
      return Number(numAffectedRows ?? 0n);
    };
    const eventCount = await deleted("usage_event", "seq", pruned.last_seq);
    if (eventCount > 0) return eventCount;
    return deleted("usage_batch", "batch", pruned.last_batch);
  });
}

/**
 * Sets the ledger's time to the system clock, after a wrong clock has set it to the future.
 * @returns the earlier time and the new one
 * @throws Fault `invalid_request` if the new time is before the day until which events were archived
 */
export function resetClock(storage: Storage): Promise<{ readonly from: string; readonly to: string }> {
  return storage.transaction(async (tx) => {
    const { last_at: from } = await tx.selectFrom("ledger_state").select("last_at").executeTakeFirstOrThrow();
    const to = new Date(storage.nowMs()).toISOString();
    const pruned = await latestPrune(tx);
    if (pruned !== undefined && to < pruned.before_day) {
      const message = `The clock shows ${to}, but events until ${pruned.before_day} are archived; correct the clock.`;
      throw new Fault("invalid_request", message);
    }
    await tx.updateTable("ledger_state").set({ last_at: to }).execute();
    return { from, to };
  });
}
