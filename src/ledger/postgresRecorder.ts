import type pg from "pg";
import { isFault } from "../errors.ts";
import {
  BATCH_COUNT_MAX,
  type EntryOutcome,
  FREE_KEYS_PER_DAY_MAX,
  type PendingEntry,
  RecordQueue,
  idempotencyCutoff,
  idempotencyKeyReused,
  usageNotRecorded,
} from "./entry.ts";
import type { Commit, RecordResult, UsageEntry } from "./ledger.ts";
import {
  type RequiredSetting,
  SETTING_THAT_IS_OFF,
  checkServer,
  checkServerClock,
  configureRecording,
  configureSession,
  notDurableFault,
} from "./postgresSettings.ts";
import type { ClientBase } from "pg";
import { CLOCK_TOLERANCE_MS, futureFault } from "./clock.ts";

/** Number of recorded idempotency keys after which expired ones are pruned, and how many are pruned at most. */
const KEYS_PER_PRUNE = 256;
const PRUNED_COUNT_MAX = 2 * KEYS_PER_PRUNE;

export interface PostgresRecorderOptions {
  /** Creates a connection, which is not connected yet. */
  readonly createClient: () => pg.Client;
  readonly now: () => number;
  /** Whether `now` is the system clock, so that it must agree with the server's. */
  readonly isServerClockChecked: boolean;
  /** Time after which an entry is rejected if the server does not respond. */
  readonly timeoutMs: number;
  readonly onCommit: (commit: Commit) => void;
  /** Called with the reason why a batch was not recorded, if the clock is. */
  readonly onClockFault: (error: unknown) => void;
}

/** Records entries in batches over a single connection, which is replaced after each failure. */
export class PostgresRecorder {
  readonly #options: PostgresRecorderOptions;
  readonly #queue: RecordQueue;
  #client: pg.Client | undefined;
  #keyCount = 0;
  #recording: Promise<void> | undefined;

  constructor(options: PostgresRecorderOptions) {
    this.#options = options;
    this.#queue = new RecordQueue({ timeoutMs: options.timeoutMs });
  }

  record(entry: UsageEntry): Promise<RecordResult> {
    const result = this.#queue.add(entry);
    this.#recording ??= this.#drainQueue();
    return result;
  }

  /** Records batch after batch, each with the entries that were queued during the previous one. */
  async #drainQueue(): Promise<void> {
    // Entries of the same turn of the event loop go into the same batch.
    await new Promise((resolve) => setImmediate(resolve));
    while (this.#queue.waitingCount > 0) await this.#recordBatch(this.#queue.take(BATCH_COUNT_MAX));
    this.#recording = undefined;
  }

  async #recordBatch(batch: readonly PendingEntry[]): Promise<void> {
    const { now, onCommit, onClockFault } = this.#options;
    try {
      const client = this.#client ?? (await this.connect());
      const entries = batch.map(({ entry }) => entry);
      const startMs = performance.now();
      const outcomes = await recordBatch(client, entries, now());
      const commit = { rowCount: entries.length, durationMs: performance.now() - startMs };
      batch.forEach(({ resolve, reject }, i) => {
        const outcome = outcomes[i];
        if (outcome === undefined || "refusal" in outcome) reject(idempotencyKeyReused());
        else resolve(outcome);
      });
      onCommit(commit);
      this.#keyCount += entries.filter(({ idempotency }) => idempotency !== undefined).length;
      if (this.#keyCount < KEYS_PER_PRUNE) return;
      this.#keyCount = 0;
      await pruneIdempotencyKeys(client, now(), PRUNED_COUNT_MAX);
    } catch (error) {
      if (isFault(error, "clock_unreliable")) {
        onClockFault(error);
        for (const { reject } of batch) reject(error);
        return;
      }
      // It is unknown whether the server has committed the batch. The next one uses a new connection.
      this.#disconnect();
      for (const { reject } of batch) reject(usageNotRecorded(error));
    }
  }

  /** Connects. The settings are checked each time: they may have changed when the server was restarted. */
  async connect(): Promise<pg.Client> {
    const { createClient, now, isServerClockChecked } = this.#options;
    const client = createClient();
    client.on("error", () => {
      if (this.#client === client) this.#disconnect();
    });
    try {
      await client.connect();
      await configureSession(client);
      await configureRecording(client);
      await checkServer(client);
      if (isServerClockChecked) await checkServerClock(client, now);
    } catch (error) {
      void client.end().catch(() => undefined);
      throw error;
    }
    this.#client = client;
    return client;
  }

  #disconnect(): void {
    const client = this.#client;
    this.#client = undefined;
    void client?.end().catch(() => undefined);
  }

  /** Waits until the entries have been recorded or rejected. */
  async drain(): Promise<void> {
    await this.#recording;
  }

  close(): void {
    this.#disconnect();
  }
}

/**
 * Records a batch in a single statement, which takes one round trip and one transaction.
 *
 * `tick` runs first because all other parts need its time. It locks the single row of `ledger_state` until the commit:
 * batches of all replicas run one after another, `seq` and time increase together, and no reader sees a `seq` before a
 * smaller one. The statement's snapshot was taken before it waited for that lock, so it cannot select what the
 * previous batch wrote; only `on conflict` sees those rows, because it checks the current state of the index. If the
 * ledger's time is in the future, `tick` is empty: nothing is written and no rows are returned.
 */
const RECORD = `
with tick as (
  update ledger_state set last_at = greatest(last_at, $1) where last_at <= $14
    returning last_at, ${SETTING_THAT_IS_OFF} as off
), entry as (
  select * from unnest($3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::bigint[], $9::text[],
      $10::text[], $11::text[], $12::text[], $13::bigint[]) with ordinality
    as t (receipt, account_id, customer_id, key_id, meter, units, route, atlas_release, idempotency_key, fingerprint,
      free_after, nth)
), free as (
  insert into free_key_count as known (account_id, day, count)
  select account_id, substr(last_at, 1, 10), count(*)
    from entry cross join tick where idempotency_key is not null and units = 0 group by 1, 2
  on conflict (account_id) do update set
    count = excluded.count + case when known.day = excluded.day then known.count else 0 end, day = excluded.day
  returning account_id, count
), request as (
  insert into idempotency as known
    (account_id, customer_id, route, idempotency_key, fingerprint, receipt, recorded_at)
  select account_id, customer_id, route, idempotency_key, entry.fingerprint, entry.receipt, last_at
    from entry cross join tick left join free using (account_id) left join idempotency as stored
      using (account_id, customer_id, route, idempotency_key)
    where idempotency_key is not null
      and (units > 0 or free.count - free_after <= $15 or stored.receipt is not null)
  on conflict (account_id, customer_id, route, idempotency_key) do update set
    fingerprint = case when known.recorded_at < $2 then excluded.fingerprint else known.fingerprint end,
    receipt = case when known.recorded_at < $2 then excluded.receipt else known.receipt end,
    recorded_at = case when known.recorded_at < $2 then excluded.recorded_at else known.recorded_at end
  returning account_id, customer_id, route, idempotency_key, fingerprint, receipt
), event as (
  insert into usage_event (receipt, account_id, customer_id, key_id, meter, units, recorded_at, route, atlas_release)
  select entry.receipt, account_id, customer_id, key_id, meter, units, last_at, route, atlas_release
    from entry cross join tick left join request using (account_id, customer_id, route, idempotency_key)
    where units > 0 and (idempotency_key is null or request.receipt = entry.receipt)
    order by nth
  on conflict (receipt) do nothing
  returning receipt, account_id, customer_id, meter, units, recorded_at
), rollup as (
  insert into usage_rollup as total (account_id, customer_id, meter, hour, units, requests)
  select account_id, customer_id, meter, substr(recorded_at, 1, 13), sum(units), count(*)
    from event group by 1, 2, 3, 4
  on conflict (account_id, customer_id, meter, hour) do update set
    units = total.units + excluded.units, requests = total.requests + excluded.requests
)
select event.receipt is not null as "isNew", request.fingerprint, request.receipt as "requestReceipt", off
  from entry cross join tick
    left join request using (account_id, customer_id, route, idempotency_key)
    left join event on event.receipt = entry.receipt
  order by nth`;

const SELECT_UNITS = "select receipt, units from usage_event where receipt = any ($1::text[])";

const PRUNE = `
delete from idempotency where (account_id, customer_id, route, idempotency_key) in
  (select account_id, customer_id, route, idempotency_key from idempotency
    where recorded_at < $1 order by recorded_at limit $2 for update skip locked)`;

interface RecordRow {
  readonly isNew: boolean;
  readonly fingerprint: string | null;
  readonly requestReceipt: string | null;
  /** A setting that is off, with which the committed batch could still be lost. */
  readonly off: RequiredSetting | null;
}

/**
 * Records a batch of entries. Resolves when they are on disk.
 * @returns an outcome for each entry, in order
 * @throws Fault `clock_unreliable` if the ledger's time is in the future
 * @throws Fault `configuration_invalid` if the server's settings do not guarantee that they are
 */
export async function recordBatch(
  connection: ClientBase,
  entries: readonly UsageEntry[],
  nowMs: number,
): Promise<readonly EntryOutcome[]> {
  const now = new Date(nowMs).toISOString();
  // A statement can update a row only once, so only the first of several entries with the same idempotency key is sent.
  const sentIndexByKey = new Map<string, number>();
  const sent: UsageEntry[] = [];
  const sentIndexes = entries.map((entry) => {
    const key = scopedIdempotencyKey(entry);
    const sentIndex = key === undefined ? undefined : sentIndexByKey.get(key);
    if (sentIndex !== undefined) return sentIndex;
    if (key !== undefined) sentIndexByKey.set(key, sent.length);
    return sent.push(entry) - 1;
  });
  const { rows } = await connection.query<RecordRow>({
    name: "isotherm-record",
    text: RECORD,
    values: [
      now,
      idempotencyCutoff(now),
      ...entryColumns(sent),
      freeKeysAfter(sent),
      new Date(nowMs + CLOCK_TOLERANCE_MS).toISOString(),
      FREE_KEYS_PER_DAY_MAX,
    ],
  });
  if (rows.length === 0) throw await readFutureFault(connection, nowMs);
  const off = rows[0]?.off ?? null;
  if (off !== null) throw notDurableFault(off);
  const outcomes = entries.map((entry, i): EntryOutcome | undefined => {
    const row = rows[sentIndexes[i] ?? -1];
    if (row === undefined) throw new Error("PostgreSQL returned fewer rows than entries.");
    if (entry.idempotency !== undefined && row.fingerprint !== null) {
      if (row.fingerprint !== entry.idempotency.fingerprint) return { refusal: "idempotency_key_reused" };
      if (row.requestReceipt !== entry.receipt) return { units: 0, isReplay: true };
    }
    if (entry.units === 0 || row.isNew) return { units: entry.units, isReplay: false };
    return undefined;
  });
  if (outcomes.every((outcome) => outcome !== undefined)) return outcomes;

  // Look up the recorded units of receipts that were recorded before.
  const receipts = entries.filter((_, i) => outcomes[i] === undefined).map(({ receipt }) => receipt);
  const known = await connection.query<{ receipt: string; units: number }>({
    name: "isotherm-units-of",
    text: SELECT_UNITS,
    values: [receipts],
  });
  const units = new Map(known.rows.map((row) => [row.receipt, row.units]));
  return outcomes.map((outcome, i) => outcome ?? { units: units.get(entries[i]?.receipt ?? "") ?? 0, isReplay: false });
}

/** Deletes up to `countMax` expired idempotency keys. */
async function pruneIdempotencyKeys(connection: ClientBase, nowMs: number, countMax: number): Promise<void> {
  const cutoff = idempotencyCutoff(new Date(nowMs).toISOString());
  await connection.query({ name: "isotherm-prune-keys", text: PRUNE, values: [cutoff, countMax] });
}

async function readFutureFault(connection: ClientBase, nowMs: number): Promise<Error> {
  const { rows } = await connection.query<{ last_at: string }>("select last_at from ledger_state");
  return futureFault(rows[0]?.last_at ?? "", nowMs) ?? new Error("The time of the ledger has changed meanwhile.");
}

/** Returns for each entry how many later ones of its account have an idempotency key and 0 units. */
function freeKeysAfter(entries: readonly UsageEntry[]): readonly number[] {
  const counts = new Map<string, number>();
  return entries
    .toReversed()
    .map(({ accountId, units, idempotency }) => {
      const count = counts.get(accountId) ?? 0;
      if (units === 0 && idempotency !== undefined) counts.set(accountId, count + 1);
      return count;
    })
    .toReversed();
}

function scopedIdempotencyKey({ accountId, customerId, route, idempotency }: UsageEntry): string | undefined {
  return idempotency === undefined ? undefined : `${accountId} ${customerId} ${route} ${idempotency.key}`;
}

function entryColumns(entries: readonly UsageEntry[]): readonly unknown[][] {
  return [
    entries.map(({ receipt }) => receipt),
    entries.map(({ accountId }) => accountId),
    entries.map(({ customerId }) => customerId),
    entries.map(({ keyId }) => keyId),
    entries.map(({ meter }) => meter),
    entries.map(({ units }) => units),
    entries.map(({ route }) => route),
    entries.map(({ atlasRelease }) => atlasRelease ?? null),
    entries.map(({ idempotency }) => idempotency?.key ?? null),
    entries.map(({ idempotency }) => idempotency?.fingerprint ?? null),
  ];
}
