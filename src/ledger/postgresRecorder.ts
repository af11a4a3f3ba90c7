import type pg from "pg";
import { isFault } from "../errors.ts";
import { BATCH_COUNT_MAX, idempotencyKeyReused, usageNotRecorded } from "./entry.ts";
import type { Commit, RecordResult, UsageEntry } from "./ledger.ts";
import { pruneIdempotencyKeys, recordBatch } from "./postgresRecord.ts";
import { checkServer, checkServerClock, configureRecording, configureSession } from "./postgresSettings.ts";
import { type PendingEntry, RecordQueue } from "./recordQueue.ts";

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
