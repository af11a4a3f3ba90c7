/**
 * Verifies where the chain starts: the record of pruning that it continues is part of it, and what was archived before it
 * is deleted.
 */
import type { Selectable } from "kysely";
import { batchHash, type BatchRow, type PruneRow, pruneText } from "./chain.ts";
import type { ChainHead, ChainProblem } from "./chainReport.ts";
import type { Storage } from "./schema.ts";

/** Returns why the latest record of pruning is not covered by a batch after the batches that it says are archived. */
export async function pruneProblem(db: Storage["db"], pruned: PruneRow): Promise<ChainProblem | undefined> {
  const changed = (reason: string): ChainProblem => ({
    code: "prune_record_changed",
    batch: pruned.batch,
    detail: `The record of pruning in batch ${pruned.batch} was added or changed: ${reason}.`,
  });
  if (!(pruned.batch > pruned.last_batch && pruned.last_batch > 0)) {
    return changed(`it says that the batches until ${pruned.last_batch} are archived`);
  }
  const rows = await db
    .selectFrom("usage_batch")
    .selectAll()
    .where("batch", "in", [pruned.batch - 1, pruned.batch])
    .execute();
  const covering = rows.find(({ batch }) => batch === pruned.batch);
  if (covering === undefined) return changed("the chain has no such batch");
  const previousHash =
    pruned.batch - 1 === pruned.last_batch
      ? pruned.last_hash
      : (rows.find(({ batch }) => batch === pruned.batch - 1)?.hash ?? "");
  if (covering.event_count === 0 && covering.hash === batchHash(previousHash, pruned.batch, pruneText(pruned))) {
    return undefined;
  }
  return changed("that batch does not cover it");
}

/** Returns a problem for each pruning of days in the future, which `isotherm usage prune` rejects. */
export function findFuturePrunings(
  records: readonly PruneRow[],
  times: { readonly now: string; readonly ledgerTime: string },
): readonly ChainProblem[] {
  const { now, ledgerTime } = times;
  return records
    .filter(({ before_day }) => before_day > now && before_day > ledgerTime)
    .map(({ batch, before_day }) => {
      const detail =
        `The record of pruning in batch ${batch} was added or changed, or a wrong clock has permitted it: ` +
        `it is of the days before ${before_day}, but the time is ${now}, and that of the ledger ${ledgerTime}.`;
      return { code: "prune_record_changed", batch, detail };
    });
}

/**
 * Returns a problem if a pruning was recorded after a head that was noted earlier, without archives: that head covers
 * the deleted records, but nothing proves that they were archived and that their sums stayed.
 */
export function findUnverifiedPruning(
  records: readonly PruneRow[],
  { batch, hash }: ChainHead,
): ChainProblem | undefined {
  const record = records.find((later) => later.batch > batch);
  if (record === undefined) return undefined;
  const detail =
    `The pruning in batch ${record.batch} was recorded after ${batch}:${hash}, which therefore does not prove it; ` +
    "give the folder of the archives.";
  return { code: "archive_unverified", batch: record.batch, detail };
}

/**
 * Returns a problem if there are events or batches before the start of the chain. Archived ones that an interrupted
 * pruning has not deleted yet are none: they end with the last archived batch, which is deleted last.
 */
export async function findBeforeChain(
  db: Storage["db"],
  pruned: PruneRow | undefined,
): Promise<ChainProblem | undefined> {
  const last = pruned === undefined ? undefined : await batchAt(db, pruned.last_batch);
  const isBeingDeleted = pruned !== undefined && last?.hash === pruned.last_hash && last.last_seq === pruned.last_seq;
  const isPruned = pruned !== undefined && !isBeingDeleted;
  const event = await db
    .selectFrom("usage_event")
    .select("seq")
    .where("seq", "<=", isPruned ? pruned.last_seq : 0)
    .orderBy("seq")
    .limit(1)
    .executeTakeFirst();
  if (event !== undefined) {
    const detail = `Event ${event.seq} was added before the first batch of the chain.`;
    return { code: "event_outside_chain", detail };
  }
  const row = await db
    .selectFrom("usage_batch")
    .select("batch")
    .where("batch", "<=", isPruned ? pruned.last_batch : -1)
    .orderBy("batch")
    .limit(1)
    .executeTakeFirst();
  if (row === undefined) return undefined;
  const { batch } = row;
  return { code: "batch_changed", batch, detail: `Batch ${batch} was added before the first batch of the chain.` };
}

function batchAt(db: Storage["db"], batch: number): Promise<Selectable<BatchRow> | undefined> {
  return db.selectFrom("usage_batch").selectAll().where("batch", "=", batch).executeTakeFirst();
}
