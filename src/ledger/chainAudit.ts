import { type Selectable, sql } from "kysely";
import {
  type BatchRow,
  type EventRow,
  type PruneRow,
  TextHash,
  batchPrefix,
  eventText,
  firstHash,
  pruneText,
  rollupText,
} from "./chain.ts";
import type { ChainHead, ChainProblem } from "./chainReport.ts";
import { findBeforeChain, pruneProblem } from "./pruneAudit.ts";
import type { Storage, Tables } from "./schema.ts";

/** Events and batches that are read together. */
const READ_COUNT = 5_000;
/** Events that a page of the chain has at least, unless it is the last one. */
const PAGE_EVENT_COUNT = 20_000;
/** Batches that are verified when a ledger is opened. */
const TAIL_BATCH_COUNT = 100;
const NO_POSITION: ChainPosition = { batch: -1, hash: "", lastSeq: 0 };

export interface ChainPageQuery {
  /** The end of the previous page. By default, the start of the chain. */
  readonly after?: ChainPosition | undefined;
  /** The last batch to verify. */
  readonly toBatch: number;
  /** Whether to return the batches and events. */
  readonly withEvents?: boolean;
}

/** A verified part of the chain. */
export interface ChainPage {
  /** The last verified batch. */
  readonly position: ChainPosition;
  readonly batchCount: number;
  readonly eventCount: number;
  /** The first broken place; nothing after it was verified. */
  readonly problem?: ChainProblem;
  readonly isLast: boolean;
  readonly batches: readonly BatchRow[];
  readonly events: readonly EventRow[];
}

/** Verifies the next batches of the chain. */
export function chainPage(storage: Storage, query: ChainPageQuery): Promise<ChainPage> {
  return storage.snapshot((db) => verifyPage(db, query));
}

async function verifyPage(
  db: Storage["db"],
  { after, toBatch, withEvents = false }: ChainPageQuery,
): Promise<ChainPage> {
  const pruned = await latestPrune(db);
  let position = after;
  if (pruned !== undefined && (position === undefined || position.batch < pruned.last_batch))
    position = positionAfter(pruned);
  const page = { batchCount: 0, eventCount: 0, batches: [] as BatchRow[], events: [] as EventRow[] };
  const pruneRecordProblem = pruned === undefined ? undefined : await pruneProblem(db, pruned);
  if (pruneRecordProblem !== undefined) {
    return { ...page, position: position ?? NO_POSITION, problem: pruneRecordProblem, isLast: true };
  }
  if (position === undefined) {
    const start = await readStart(db);
    if (!("hash" in start)) return { ...page, position: NO_POSITION, problem: start, isLast: true };
    position = start;
  }
  const reader = new EventReader(db, position.lastSeq);
  const rows = await db
    .selectFrom("usage_batch")
    .selectAll()
    .where("batch", ">", position.batch)
    .where("batch", "<=", toBatch)
    .orderBy("batch")
    .limit(READ_COUNT)
    .execute();
  for (const row of rows) {
    const verified = await verifyBatch(db, {
      row,
      previous: position,
      reader,
      events: withEvents ? page.events : undefined,
    });
    if ("detail" in verified) return { ...page, position, problem: verified, isLast: true };
    position = positionOf(row);
    page.batchCount++;
    page.eventCount += row.event_count;
    if (withEvents) page.batches.push(row);
    if (page.eventCount >= PAGE_EVENT_COUNT) break;
  }
  // An archive that was made meanwhile may reach beyond `toBatch`.
  if (position.batch >= toBatch) {
    const problem = (await findEventAfter(db, position)) ?? (await findBeforeChain(db, pruned));
    return { ...page, position, isLast: true, ...(problem === undefined ? {} : { problem }) };
  }
  if (rows.length === 0) return { ...page, position, problem: missingBatch(position.batch + 1), isLast: true };
  return { ...page, position, isLast: false };
}

/** Verifies batch 0, which the chain begins with. */
async function readStart(db: Storage["db"]): Promise<ChainPosition | ChainProblem> {
  const { ledger_id } = await db.selectFrom("ledger_state").select("ledger_id").executeTakeFirstOrThrow();
  const row = await db.selectFrom("usage_batch").selectAll().where("batch", "=", 0).executeTakeFirst();
  if (row === undefined) return missingBatch(0);
  if (row.hash === firstHash(ledger_id) && row.last_seq === 0 && row.event_count === 0) return positionOf(row);
  return changedBatch(0, "its hash does not match the id of the ledger");
}

async function verifyBatch(
  db: Storage["db"],
  batch: {
    readonly row: BatchRow;
    readonly previous: ChainPosition;
    readonly reader: EventReader;
    /** Receives the events of the batch. */
    readonly events: EventRow[] | undefined;
  },
): Promise<ChainProblem | { readonly isVerified: true }> {
  const { row, previous, reader, events } = batch;
  if (row.batch !== previous.batch + 1) return missingBatch(previous.batch + 1);
  const hash = new TextHash();
  hash.update(batchPrefix(previous.hash, row.batch));
  if (row.event_count === 0) {
    const pruned = await db.selectFrom("usage_prune").selectAll().where("batch", "=", row.batch).executeTakeFirst();
    if (pruned === undefined) return changedBatch(row.batch, "it has neither events nor a record of pruning");
    hash.update(pruneText(pruned));
  }
  let count = 0;
  let lastSeq = previous.lastSeq;
  for (let event = await reader.peek(); event !== undefined && event.seq <= row.last_seq; event = await reader.peek()) {
    reader.skip();
    hash.update(eventText(event));
    events?.push(event);
    lastSeq = event.seq;
    count++;
  }
  if (count !== row.event_count) {
    return changedBatch(row.batch, `it has ${count} events instead of ${row.event_count}`);
  }
  if (lastSeq !== row.last_seq)
    return changedBatch(row.batch, `its last event is ${lastSeq} instead of ${row.last_seq}`);
  if (hash.hex() !== row.hash)
    return changedBatch(row.batch, "its events, their order or the hash itself were changed");
  return { isVerified: true };
}

/** Returns a problem if there are events after the last batch. */
async function findEventAfter(db: Storage["db"], position: ChainPosition): Promise<ChainProblem | undefined> {
  const next = await db
    .selectFrom("usage_batch")
    .select("batch")
    .where("batch", ">", position.batch)
    .limit(1)
    .executeTakeFirst();
  if (next !== undefined) return undefined;
  const event = await new EventReader(db, position.lastSeq).peek();
  if (event === undefined) return undefined;
  return {
    code: "event_outside_chain",
    detail: `Event ${event.seq} was added after the last batch, ${position.batch}.`,
  };
}

function missingBatch(batch: number): ChainProblem {
  return { code: "batch_missing", batch, detail: `Batch ${batch} is missing.` };
}

function changedBatch(batch: number, reason: string): ChainProblem {
  return { code: "batch_changed", batch, detail: `Batch ${batch} was changed: ${reason}.` };
}

/** Reads events in the order of `seq`. */
class EventReader {
  readonly #db: Storage["db"];
  #lastSeq: number;
  #rows: readonly EventRow[] = [];
  #index = 0;
  #isComplete = false;

  constructor(db: Storage["db"], lastSeq: number) {
    this.#db = db;
    this.#lastSeq = lastSeq;
  }

  async peek(): Promise<EventRow | undefined> {
    if (this.#index === this.#rows.length && !this.#isComplete) {
      const page = this.#db.selectFrom("usage_event").selectAll().where("seq", ">", this.#lastSeq);
      this.#rows = await page.orderBy("seq").limit(READ_COUNT).execute();
      this.#index = 0;
      this.#isComplete = this.#rows.length < READ_COUNT;
      this.#lastSeq = this.#rows.at(-1)?.seq ?? this.#lastSeq;
    }
    return this.#rows[this.#index];
  }

  /** Advances to the next event. */
  skip(): void {
    this.#index++;
  }
}

/** Verifies the last batches, which takes milliseconds. @returns the first broken place */
export function chainTail(storage: Storage): Promise<{ readonly problem?: ChainProblem }> {
  return storage.snapshot(async (db) => {
    const newest = db.selectFrom("usage_batch").selectAll().orderBy("batch", "desc");
    const rows = await newest.limit(TAIL_BATCH_COUNT).execute();
    const [head] = rows;
    if (head === undefined) return { problem: missingBatch(0) };
    let eventCount = 0;
    const start = rows.find((row) => (eventCount += row.event_count) > PAGE_EVENT_COUNT) ?? rows.at(-1);
    // Batch 0 can be verified by itself; from a later one, only those after it.
    const after = start === undefined || start.batch === 0 ? undefined : positionOf(start);
    const { problem } = await verifyPage(db, { after, toBatch: head.batch });
    // Processes of an earlier release add events that the next batch covers.
    return problem === undefined || problem.code === "event_outside_chain" ? {} : { problem };
  });
}

/**
 * Returns the SHA-256 over the hourly sums before a day, and over what archived events have added to later ones.
 * @param carried in the order of account, customer, meter and hour
 */
export async function rollupHash(
  db: Storage["db"],
  beforeDay: string,
  carried: readonly Tables["usage_carried"][],
): Promise<string> {
  const hash = new TextHash();
  const key = ["account_id", "customer_id", "meter", "hour"] as const;
  for (let after: [string, string, string, string] | undefined; ;) {
    const position = after;
    let sums = db.selectFrom("usage_rollup").selectAll().where("hour", "<", beforeDay);
    if (position !== undefined) {
      sums = sums.where(({ eb, refTuple, tuple }) => eb(refTuple(...key), ">", tuple(...position) as never));
    }
    const rows = await sums
      .orderBy("account_id")
      .orderBy("customer_id")
      .orderBy("meter")
      .orderBy("hour")
      .limit(READ_COUNT)
      .execute();
    for (const row of rows) hash.update(rollupText(row));
    const last = rows.at(-1);
    if (last === undefined || rows.length < READ_COUNT) break;
    after = [last.account_id, last.customer_id, last.meter, last.hour];
  }
  for (const row of carried) hash.update(rollupText(row));
  return hash.hex();
}

/** Returns what SQLite reports about damage of the file and its indexes. */
export async function fileDamage({ db, dialect }: Storage): Promise<readonly string[]> {
  if (dialect !== "sqlite") return [];
  const { rows } = await sql<{ integrity_check: string }>`
    select integrity_check from pragma_integrity_check`.execute(db);
  return rows.map(({ integrity_check }) => integrity_check).filter((line) => line !== "ok");
}

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

function positionOf({ batch, hash, last_seq }: Selectable<BatchRow>): ChainPosition {
  return { batch, hash, lastSeq: last_seq };
}

/** Returns the position after the archived batches. */
function positionAfter({ last_batch, last_hash, last_seq }: PruneRow): ChainPosition {
  return { batch: last_batch, hash: last_hash, lastSeq: last_seq };
}
