/**
 * Pruning: events that were archived are deleted, while their sums stay. A record of the pruning, in a separate batch,
 * continues the chain after the archived batches and protects the sums that can no longer be recomputed.
 */
import { sql } from "kysely";
import { Fault } from "../errors.ts";
import { batchHash, pruneHash, type PruneRow, pruneText } from "./chain.ts";
import { latestPrune, rollupHash } from "./chainAudit.ts";
import type { ChainHead, PrunePlan } from "./chainReport.ts";
import { checkDate } from "./checks.ts";
import type { Storage, Tables } from "./schema.ts";

/** Rows that are deleted in one transaction, which bounds how long recording waits. */
const DELETED_COUNT = 2_000;

/**
 * Returns which events a pruning would archive: whole batches, up to the last one with an event before the day. Later
 * events that a wrong clock has dated earlier are among them, and so are those between them that it has dated later.
 * @throws Fault `invalid_request` if the day is invalid, in the future or before an earlier one
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
  // Not the day of the ledger's time, which a wrong clock may have set: the clock cannot be reset to before this day.
  if (before > today) reject(`before must not be after today, ${today} (got ${before}).`);
  const pruned = await latestPrune(db);
  if (pruned !== undefined && before < pruned.before_day) {
    reject(
      `before must not be earlier than ${pruned.before_day}: the events until then are already archived (got ${before}).`,
    );
  }
  const done = { batch: pruned?.last_batch ?? 0, lastSeq: pruned?.last_seq ?? 0 };
  const { seq } = await db
    .selectFrom("usage_event")
    .select(({ fn }) => fn.max<number | null>("seq").as("seq"))
    .where("seq", ">", done.lastSeq)
    .where("recorded_at", "<", before)
    .executeTakeFirstOrThrow();
  const batches = db.selectFrom("usage_batch").selectAll().where("batch", ">", done.batch).where("event_count", ">", 0);
  const last =
    seq === null
      ? undefined
      : ((await batches.where("last_seq", ">=", seq).orderBy("batch").limit(1).executeTakeFirst()) ??
        // The latest events are of a process of an earlier release, and the next batch will cover them.
        (await batches.orderBy("batch", "desc").limit(1).executeTakeFirst()));
  const lastSeq = last?.last_seq ?? done.lastSeq;
  const count = sql<number>`count(*)`.as("count");
  const events = db.selectFrom("usage_event").select(count).where("seq", "<=", lastSeq).where("seq", ">", done.lastSeq);
  const undeleted = db.selectFrom("usage_event").select(count).where("seq", "<=", done.lastSeq);
  const head =
    last ?? (await db.selectFrom("usage_batch").selectAll().where("batch", "=", done.batch).executeTakeFirst());
  return {
    before,
    head: { batch: head?.batch ?? done.batch, hash: head?.hash ?? pruned?.last_hash ?? "" },
    firstBatch: done.batch + 1,
    firstSeq: done.lastSeq + 1,
    lastSeq,
    eventCount: (await events.executeTakeFirstOrThrow()).count,
    postdatedCount: (await events.where("recorded_at", ">=", before).executeTakeFirstOrThrow()).count,
    batchCount: (head?.batch ?? done.batch) - done.batch,
    undeletedCount: (await undeleted.executeTakeFirstOrThrow()).count,
  };
}

function dayOf(time: string): string {
  return time.slice(0, "YYYY-MM-DD".length);
}

export interface ArchivedPlan {
  readonly plan: PrunePlan;
  readonly archiveName: string;
  readonly archiveSha256: string;
}

/** What a pruning adds to the ledger. */
export interface PreparedPrune {
  readonly row: Omit<PruneRow, "batch">;
  readonly carried: readonly Tables["usage_carried"][];
}

/**
 * Returns what records that the events of a plan were archived.
 * @throws Fault `invalid_request` if the ledger no longer matches the plan
 */
export async function preparePrune(storage: Storage, archived: ArchivedPlan): Promise<PreparedPrune> {
  const { plan, archiveName, archiveSha256 } = archived;
  const startOfDay = `${plan.before}T00:00:00.000Z`;
  await storage.transaction(async (tx) => {
    await tx.updateTable("ledger_state").set({ last_at: startOfDay }).where("last_at", "<", startOfDay).execute();
  });
  // The ledger's time is not before the day now, so these sums no longer change and need no lock.
  return storage.snapshot(async (db) => {
    const earlier = await latestPrune(db);
    if ((earlier?.last_batch ?? 0) !== plan.firstBatch - 1) throw prunedMeanwhileFault();
    await checkNoLaterEvents(db, plan);
    const carried = await carriedAfter(db, plan);
    const row = {
      before_day: plan.before,
      last_batch: plan.head.batch,
      last_hash: plan.head.hash,
      last_seq: plan.lastSeq,
      event_count: plan.eventCount,
      rollup_hash: await rollupHash(db, plan.before, carried),
      archive_name: archiveName,
      archive_sha256: archiveSha256,
      previous_prune: pruneHash(earlier),
    };
    return { row, carried };
  });
}

/**
 * Records that events were archived, after which `deletePruned` deletes them.
 * @throws Fault `invalid_request` if the ledger was pruned since `preparePrune`
 */
export function recordPrune(storage: Storage, { row, carried }: PreparedPrune): Promise<ChainHead> {
  return storage.transaction(async (tx) => {
    // Locks out recording, which takes the same lock first.
    await tx
      .updateTable("ledger_state")
      .set(({ ref }) => ({ last_at: ref("last_at") }))
      .execute();
    const last = await tx
      .selectFrom("usage_batch")
      .select("hash")
      .where("batch", "=", row.last_batch)
      .executeTakeFirst();
    const isUnchanged = last?.hash === row.last_hash && pruneHash(await latestPrune(tx)) === row.previous_prune;
    if (!isUnchanged) throw prunedMeanwhileFault();
    const newest = await tx
      .selectFrom("usage_batch")
      .selectAll()
      .orderBy("batch", "desc")
      .limit(1)
      .executeTakeFirstOrThrow();
    await tx.deleteFrom("usage_carried").execute();
    for (const sum of carried) await tx.insertInto("usage_carried").values(sum).execute();
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

/**
 * Rejects a plan if an event before its day was recorded after it was made, for example by a process whose clock is behind: it
 * would be in the sums of the archived days, but not in the archive.
 * @throws Fault `invalid_request`
 */
async function checkNoLaterEvents(db: Storage["db"], { before, lastSeq }: PrunePlan): Promise<void> {
  const later = await db
    .selectFrom("usage_event")
    .select("seq")
    .where("seq", ">", lastSeq)
    .where("recorded_at", "<", before)
    .limit(1)
    .executeTakeFirst();
  if (later === undefined) return;
  throw new Fault("invalid_request", `Usage before ${before} was recorded while it was archived; start again.`);
}

function prunedMeanwhileFault(): Fault {
  return new Fault("invalid_request", "The ledger was pruned by another process meanwhile; start again.");
}

/** Returns the hourly sums on or after the day of a plan that will include archived events. */
async function carriedAfter(db: Storage["db"], plan: PrunePlan): Promise<readonly Tables["usage_carried"][]> {
  const { rows } = await sql<Tables["usage_carried"]>`
    select account_id, customer_id, meter, hour, cast(sum(units) as bigint) as units,
        cast(sum(requests) as bigint) as requests
      from (
        select account_id, customer_id, meter, substr(recorded_at, 1, 13) as hour, units, 1 as requests
          from usage_event where seq >= ${plan.firstSeq} and seq <= ${plan.lastSeq} and recorded_at >= ${plan.before}
        union all select account_id, customer_id, meter, hour, units, requests
          from usage_carried where hour >= ${plan.before}
      ) as archived
      group by account_id, customer_id, meter, hour order by account_id, customer_id, meter, hour`.execute(db);
  return rows;
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
