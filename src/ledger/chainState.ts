import type { Selectable } from "kysely";
import type { BatchRow, PruneRow } from "./chain.ts";
import type { ChainHead } from "./chainReport.ts";
import type { Storage } from "./schema.ts";

/** A place in the chain. */
export interface ChainPosition extends ChainHead {
  readonly lastSeq: number;
}

/** The end of the chain, and what is needed to compare it with an anchor. */
export interface ChainState {
  readonly ledgerId: string;
  /** The ledger's time. */
  readonly lastAt: string;
  readonly head: ChainPosition;
  /** The hash of the batch that was asked for; undefined if the ledger does not have it. */
  readonly hashAtBatch?: string | undefined;
  /** The latest pruning. */
  readonly pruned?: PruneRow;
}

/** Reads the end of the chain, and the hash of a batch. */
export function chainState(storage: Storage, query: { readonly batch?: number } = {}): Promise<ChainState> {
  return storage.snapshot(async (db) => {
    const state = await db.selectFrom("ledger_state").select(["ledger_id", "last_at"]).executeTakeFirstOrThrow();
    const pruned = await latestPrune(db);
    const newest = await db.selectFrom("usage_batch").selectAll().orderBy("batch", "desc").limit(1).executeTakeFirst();
    const { batch } = query;
    const hashAtBatch =
      batch === undefined
        ? undefined
        : (await db.selectFrom("usage_batch").select("hash").where("batch", "=", batch).executeTakeFirst())?.hash;
    return {
      ledgerId: state.ledger_id,
      lastAt: state.last_at,
      head: newest === undefined ? { batch: -1, hash: "", lastSeq: 0 } : positionOf(newest),
      hashAtBatch,
      ...(pruned === undefined ? {} : { pruned }),
    };
  });
}

export function latestPrune(db: Storage["db"]): Promise<PruneRow | undefined> {
  return db.selectFrom("usage_prune").selectAll().orderBy("batch", "desc").limit(1).executeTakeFirst();
}

export function positionOf({ batch, hash, last_seq }: Selectable<BatchRow>): ChainPosition {
  return { batch, hash, lastSeq: last_seq };
}

/** Returns the position after the archived batches. */
export function positionAfter({ last_batch, last_hash, last_seq }: PruneRow): ChainPosition {
  return { batch: last_batch, hash: last_hash, lastSeq: last_seq };
}
