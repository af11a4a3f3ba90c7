/** Random edits of the records of pruning and of what is before the start of the chain. */
import { batchHash, type PruneRow, pruneHash, pruneText, rollupText, TextHash } from "../../src/ledger/chain.ts";
import type { Int, LedgerEditor } from "./ledgerEditors.ts";
import { changedHash, type Edit, events, insertEvent, rewriteChain } from "./ledgerEdits.ts";

/** After every day of a sum, so that a pruning covers all sums and carries none; but in the future. */
const LAST_DAY = "2099-01-01";

interface Batch {
  readonly batch: number;
  readonly last_seq: number;
  readonly hash: string;
}

export async function batches(editor: LedgerEditor): Promise<readonly Batch[]> {
  const rows = await editor.rows<{ batch: Int; last_seq: Int; hash: string }>(
    "select * from usage_batch order by batch",
  );
  return rows.map((row) => ({ ...row, batch: Number(row.batch), last_seq: Number(row.last_seq) }));
}

type IntColumn = "batch" | "last_batch" | "last_seq" | "event_count";

async function prunings(editor: LedgerEditor): Promise<readonly PruneRow[]> {
  const rows = await editor.rows<Omit<PruneRow, IntColumn> & Readonly<Record<IntColumn, Int>>>(
    "select * from usage_prune order by batch",
  );
  return rows.map((row) => ({
    ...row,
    batch: Number(row.batch),
    last_batch: Number(row.last_batch),
    last_seq: Number(row.last_seq),
    event_count: Number(row.event_count),
  }));
}

type SumRow = Parameters<typeof rollupText>[0];

/** Computes the hash of the sums that a pruning protects. */
async function prunedSumsHash(editor: LedgerEditor, beforeDay: string): Promise<string> {
  const order = "order by account_id, customer_id, meter, hour";
  const hash = new TextHash();
  for (const row of [
    ...(await editor.rows<SumRow>(`select * from usage_rollup where hour < '${beforeDay}' ${order}`)),
    ...(await editor.rows<SumRow>(`select * from usage_carried ${order}`)),
  ]) {
    hash.update(rollupText(row));
  }
  return hash.hex();
}

/** Lowers an archived sum, and computes the record of the latest pruning and the chain again. */
export async function lowerArchivedSum(editor: LedgerEditor): Promise<void> {
  const latest = (await prunings(editor)).at(-1);
  if (latest === undefined) throw new Error("There is no record of pruning.");
  const { batch, before_day } = latest;
  const archived = `hour < '${before_day}'`;
  await editor.run(
    `update usage_rollup set units = units - 1
      where ${archived} and units = (select max(units) from usage_rollup where ${archived})`,
  );
  const row = { ...latest, rollup_hash: await prunedSumsHash(editor, before_day) };
  await editor.run(`update usage_prune set rollup_hash = '${row.rollup_hash}' where batch = ${batch}`);
  const all = await batches(editor);
  const previous = all.find((earlier) => earlier.batch === batch - 1);
  await editor.run(
    `update usage_batch set hash = '${batchHash(previous?.hash ?? "", batch, pruneText(row))}' where batch = ${batch}`,
  );
  await rewriteChain(editor, (previous?.last_seq ?? 0) + 1);
}

/** Returns the day of the last record. A pruning that is dated then is of no days in the future. */
export async function lastDay(editor: LedgerEditor): Promise<string> {
  const [state] = await editor.rows<{ last_at: string }>("select last_at from ledger_state");
  return (state?.last_at ?? "").slice(0, 10);
}

/**
 * Deletes the events until a batch as a pruning would, lowers a sum, and adds a record of pruning with correct hashes.
 * @param batch the batch that is to cover the record
 * @param options `last`: the last batch to delete; `isInChain`: whether the chain is continued with that batch;
 *   `deletesBatches`: whether the batches of the events are deleted, too; `beforeDay`: the day until which sums are covered
 */
export async function forgePruning(
  editor: LedgerEditor,
  batch: number,
  options: {
    readonly last: Batch;
    readonly isInChain: boolean;
    readonly deletesBatches: boolean;
    readonly beforeDay?: string;
  },
): Promise<void> {
  const { last, isInChain, deletesBatches, beforeDay = LAST_DAY } = options;
  const latest = (await prunings(editor)).at(-1);
  const head = (await batches(editor)).at(-1);
  await editor.run(`delete from usage_carried where hour < '${beforeDay}'`);
  await editor.run(
    `insert into usage_carried
      select account_id, customer_id, meter, substr(recorded_at, 1, 13), sum(units), count(*) from usage_event
        where seq > ${latest?.last_seq ?? 0} and seq <= ${last.last_seq} and recorded_at >= '${beforeDay}'
        group by account_id, customer_id, meter, substr(recorded_at, 1, 13)`,
  );
  await editor.run(`delete from usage_event where seq <= ${last.last_seq}`);
  if (deletesBatches) await editor.run(`delete from usage_batch where batch <= ${last.batch}`);
  const isCovered = `hour < '2030' and hour < '${beforeDay}'`;
  await editor.run(
    `update usage_rollup set units = units - 1
      where ${isCovered} and units = (select max(units) from usage_rollup where ${isCovered})`,
  );
  const row: PruneRow = {
    batch,
    before_day: beforeDay,
    last_batch: last.batch,
    last_hash: last.hash,
    last_seq: last.last_seq,
    event_count: 5,
    rollup_hash: await prunedSumsHash(editor, beforeDay),
    archive_name: latest?.archive_name ?? "",
    archive_sha256: latest?.archive_sha256 ?? "",
    previous_prune: pruneHash(latest),
  };
  const columns = Object.entries(row);
  await editor.run(`delete from usage_prune where batch = ${batch}`);
  await editor.run(
    `insert into usage_prune (${columns.map(([name]) => name).join(", ")})
      values (${columns.map(([, value]) => (typeof value === "string" ? `'${value}'` : value)).join(", ")})`,
  );
  if (!isInChain) return;
  await editor.run(
    `insert into usage_batch (batch, last_seq, event_count, hash)
      values (${batch}, ${head?.last_seq}, 0, '${batchHash(head?.hash ?? "", batch, pruneText(row))}')`,
  );
}

/** The edits by name. Each changes what the ledger says. */
export const PRUNE_EDITS: Readonly<Record<string, Edit>> = {
  async "add a record of pruning that no batch covers"(editor, random) {
    const all = await batches(editor);
    const head = all.at(-1);
    const last = random.pick(all);
    const batch = random.pick([1_000_000 + random.below(1000), (head?.batch ?? 0) + 1, 9_007_199_254_740_991]);
    await forgePruning(editor, batch, {
      last: random.chance(0.3) && head !== undefined ? head : last,
      isInChain: false,
      deletesBatches: random.chance(0.5),
    });
  },
  async "add a record of pruning to a batch of events"(editor, random) {
    const all = await batches(editor);
    const latest = (await prunings(editor)).at(-1);
    const { batch } = random.pick(all.filter((row) => row.batch > (latest?.batch ?? 0)));
    const last = random.pick(all.filter((row) => row.batch < batch));
    await forgePruning(editor, batch, { last, isInChain: false, deletesBatches: random.chance(0.5) });
  },
  async "replace the latest record of pruning"(editor, random) {
    const latest = (await prunings(editor)).at(-1);
    const all = await batches(editor);
    await forgePruning(editor, latest?.batch ?? 0, {
      last: random.pick(all),
      isInChain: false,
      deletesBatches: random.chance(0.5),
    });
  },
  async "change a record of pruning"(editor, random) {
    const change = random.pick([
      "batch = batch + 1",
      "batch = 1000000",
      "before_day = '2026-01-01'",
      "last_seq = last_seq + 1",
      "last_batch = last_batch + 1",
      changedHash("last_hash"),
      "event_count = event_count + 1",
      changedHash("rollup_hash"),
      "archive_name = 'other.csv'",
      changedHash("archive_sha256"),
      changedHash("previous_prune"),
    ]);
    const { batch } = random.pick(await prunings(editor));
    await editor.run(`update usage_prune set ${change} where batch = ${batch}`);
  },
  async "delete a record of pruning"(editor, random) {
    const { batch } = random.pick(await prunings(editor));
    await editor.run(`delete from usage_prune where batch ${random.pick(["=", ">=", "<="])} ${batch}`);
  },
  async "delete all records of pruning"(editor) {
    await editor.run("delete from usage_prune");
  },
  async "insert events before the archived ones end"(editor, random) {
    const lastSeq = (await prunings(editor)).at(-1)?.last_seq ?? 0;
    const seqs = new Set(Array.from({ length: 1 + random.below(3) }, () => 1 + random.below(lastSeq)));
    for (const seq of seqs) await insertEvent(editor, random.pick(await events(editor)), seq);
  },
  async "insert a batch before the chain"(editor, random) {
    const lastBatch = (await prunings(editor)).at(-1)?.last_batch ?? 0;
    const batch = random.pick([-1, 0, lastBatch - 1, lastBatch]);
    await editor.run(
      `insert into usage_batch (batch, last_seq, event_count, hash) values (${batch}, 1, 1, '${"a".repeat(64)}')`,
    );
  },
  async "change what archived records have added to later sums"(editor, random) {
    const change = random.pick([
      "update usage_carried set units = units + 1",
      "update usage_carried set hour = '2036-01-01T00'",
      "update usage_carried set customer_id = 'another customer'",
      "delete from usage_carried",
      "insert into usage_carried select account_id, 'another', meter, hour, units, requests from usage_carried limit 1",
    ]);
    await editor.run(change);
  },
  async "add a batch that records a pruning of past days"(editor, random) {
    const all = await batches(editor);
    const latest = (await prunings(editor)).at(-1);
    const last = random.pick(all.filter(({ batch }) => batch > (latest?.last_batch ?? 0)));
    await forgePruning(editor, (all.at(-1)?.batch ?? 0) + 1, {
      last,
      isInChain: true,
      deletesBatches: true,
      beforeDay: await lastDay(editor),
    });
  },
  async "change a carried sum and the hourly sum"(editor) {
    await editor.run("update usage_carried set units = units + 1");
    await editor.run("update usage_rollup set units = units + 1 where hour >= '2030'");
  },
  async "add a batch that records a pruning of days in the future"(editor, random) {
    const all = await batches(editor);
    const last = random.pick(all);
    await forgePruning(editor, (all.at(-1)?.batch ?? 0) + 1, {
      last,
      isInChain: true,
      deletesBatches: random.chance(0.5),
    });
  },
  "change an archived sum and compute the chain again": lowerArchivedSum,
};
