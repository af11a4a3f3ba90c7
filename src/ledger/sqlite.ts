import { statfs } from "node:fs/promises";
import { join } from "node:path";
import { Fault, isFault } from "../errors.ts";
import { unpackError } from "../concurrency/errorTransfer.ts";
import { startNodeThread } from "../concurrency/nodeThread.ts";
import { ThreadCalls, type WorkerThread } from "../concurrency/threadCalls.ts";
import {
  BATCH_COUNT_MAX,
  RECORD_TIMEOUT_MS,
  RecordQueue,
  checkEntry,
  encodeEntries,
  idempotencyKeyReused,
  usageNotRecorded,
} from "./entry.ts";
import { type RecordResult, SQLITE_FILE_NAME, type UsageEntry } from "./ledger.ts";
import type { ChainState } from "./chainAudit.ts";
import { closedError, LedgerBase, type LedgerClock, reportTurns } from "./ledgerBase.ts";
import { accountOf, type ArgumentOf, type MethodName, REPORT_METHODS, type ResultOf } from "./methods.ts";
import type { LedgerEvent, MethodRequest, RecordReply, RecordRequest, SqliteWorkerSetup } from "./sqliteWorker.ts";

/**
 * Entries in progress from which a batch is held back until as many wait again as were in progress when the previous one
 * was on disk: a commit costs as much processor time as about 40 entries. It is held back no longer than that commit
 * took, and at most `BATCH_WAIT_MS_MAX`.
 */
const HELD_BATCH_COUNT_MIN = 8;
const BATCH_WAIT_MS_MAX = 4;
/** Free space below which the ledger reports that it cannot record: a few of the largest transactions fit in it. */
const FREE_BYTES_MIN = 16 * 2 ** 20;

/** Version of Node-API for which better-sqlite3 is built. Node.js 22.12 and 22.13 have version 9, and crash in its binary. */
const NODE_API_MIN = 10;

export interface SqliteLedgerOptions extends LedgerClock {
  /** The data folder; created if it does not exist. */
  readonly data: string;
  /** Time after which an entry is rejected if the disk does not respond. */
  readonly recordTimeoutMs?: number | undefined;
  readonly startWorker?: (setup: SqliteWorkerSetup) => WorkerThread;
  /** Returns the free space of the disk that holds a folder. */
  readonly freeBytes?: (folder: string) => Promise<number>;
}

/** The embedded ledger: a SQLite file, written by one worker thread and read by another one, started on demand, for reports. */
export class SqliteLedger extends LedgerBase {
  readonly #options: SqliteLedgerOptions;
  readonly #writer: ThreadCalls;
  readonly #reports = reportTurns(1);
  #reporter: ThreadCalls | undefined;
  /** Entries that wait while a batch is in flight. */
  readonly #queue: RecordQueue;
  #isBatchInFlight = false;
  /** Entries to wait for before the next batch is sent. */
  #expectedCount = 0;
  #batchWaitMs = 0;
  #sendSoon: NodeJS.Immediate | undefined;
  #sendLater: NodeJS.Timeout | undefined;
  #closing: Promise<void> | undefined;

  private constructor(options: SqliteLedgerOptions) {
    super(options);
    this.#options = options;
    this.#queue = new RecordQueue({ timeoutMs: options.recordTimeoutMs ?? RECORD_TIMEOUT_MS });
    this.#writer = this.#start({ isReadOnly: false }, (error) => {
      if (this.#closing === undefined) this.fail(error);
    });
  }

  /** @throws Fault as `SqliteStore.open` does; `configuration_invalid` if Node.js is too old for better-sqlite3 */
  static async open(options: SqliteLedgerOptions): Promise<SqliteLedger> {
    if (Number(process.versions["napi"]) < NODE_API_MIN) {
      const message = `A ledger in SQLite needs Node.js 22.14 or later (this is ${process.versions.node}); with --database it is in PostgreSQL.`;
      throw new Fault("configuration_invalid", message);
    }
    const ledger = new SqliteLedger(options);
    await ledger.#writer.started;
    return ledger;
  }

  #start({ isReadOnly }: { readonly isReadOnly: boolean }, onFailure: (error: Error) => void): ThreadCalls {
    const { data, now, startWorker = startWorkerThread } = this.#options;
    const thread = startWorker({ file: join(data, SQLITE_FILE_NAME), isReadOnly, nowMs: now() });
    const onEvent = (event: LedgerEvent): void => {
      if ("failure" in event) calls.fail(unpackError(event.failure));
      else this.notifyChange();
    };
    const calls = new ThreadCalls(thread, { onEvent, onFailure });
    return calls;
  }

  record(entry: UsageEntry): Promise<RecordResult> {
    checkEntry(entry);
    if (this.failure !== undefined) return Promise.reject(usageNotRecorded(this.failure));
    if (this.#closing !== undefined) return Promise.reject(closedError());
    const { clockDriftFault } = this;
    if (clockDriftFault !== undefined) return Promise.reject(clockDriftFault);
    const recorded = this.#queue.add(entry);
    if (!this.#isBatchInFlight) this.#scheduleBatch();
    return recorded;
  }

  /** Sends the waiting entries as soon as there are as many as are expected. */
  #scheduleBatch(): void {
    const { waitingCount } = this.#queue;
    if (waitingCount === 0) return;
    if (waitingCount >= this.#expectedCount) {
      // Entries of the same turn of the event loop go into the same message.
      this.#sendSoon ??= setImmediate(() => void this.#sendQueue());
    } else this.#sendLater ??= setTimeout(() => void this.#sendQueue(), this.#batchWaitMs);
  }

  async #sendQueue(): Promise<void> {
    clearTimeout(this.#sendLater);
    clearImmediate(this.#sendSoon);
    this.#sendLater = undefined;
    this.#sendSoon = undefined;
    const sent = this.#queue.take(BATCH_COUNT_MAX);
    if (sent.length === 0) return;
    this.#isBatchInFlight = true;
    try {
      const entries = encodeEntries(sent.map(({ entry }) => entry));
      const request: RecordRequest = { nowMs: this.#options.now(), entries };
      const { commit, exceptions } = (await call(this.#writer, "record", request)) as RecordReply;
      sent.forEach(({ entry, resolve, reject }, i) => {
        const outcome = exceptions?.get(i) ?? { units: entry.units, isReplay: false };
        if ("refusal" in outcome) reject(idempotencyKeyReused());
        else resolve(outcome);
      });
      this.#batchWaitMs = Math.min(BATCH_WAIT_MS_MAX, commit.durationMs);
      this.notifyCommit(commit);
    } catch (error) {
      this.noteRejection(error);
      for (const { reject } of sent) reject(isFault(error, "clock_unreliable") ? error : usageNotRecorded(error));
    } finally {
      this.#isBatchInFlight = false;
      const count = sent.length + this.#queue.waitingCount;
      this.#expectedCount = count < HELD_BATCH_COUNT_MIN ? 0 : count;
      if (this.#expectedCount === 0) void this.#sendQueue();
      else this.#scheduleBatch();
    }
  }

  protected async dispatch<Name extends MethodName>(
    name: Name,
    argument: ArgumentOf<Name>,
    signal?: AbortSignal,
  ): Promise<ResultOf<Name>> {
    if (this.#closing !== undefined) throw closedError();
    const request: MethodRequest = { nowMs: this.#options.now(), name, argument };
    if (!REPORT_METHODS.has(name)) return (await call(this.#writer, "call", request)) as ResultOf<Name>;
    const report = async () => (await call(await this.#startedReporter(), "call", request)) as ResultOf<Name>;
    return this.#reports.run(accountOf(argument), signal, report);
  }

  protected async readChainState(argument: { readonly batch?: number }): Promise<ChainState> {
    const request: MethodRequest = { nowMs: this.#options.now(), name: "chainState", argument };
    return (await call(this.#writer, "call", request)) as ChainState;
  }

  /** Returns the worker for reports. After a failed start or an exit, the next call starts a new one. */
  async #startedReporter(): Promise<ThreadCalls> {
    const discard = (): void => {
      if (this.#reporter === reporter) this.#reporter = undefined;
    };
    const reporter = (this.#reporter ??= this.#start({ isReadOnly: true }, discard));
    await reporter.started.catch((error: unknown) => {
      discard();
      throw error;
    });
    return reporter;
  }

  protected override async checkStorage(): Promise<void> {
    if (this.failure !== undefined) throw stoppedFault(this.failure);
    const { data, freeBytes: readFreeBytes = freeBytesOf } = this.#options;
    const freeBytes = await readFreeBytes(data);
    if (freeBytes < FREE_BYTES_MIN) {
      const [free, required] = [freeBytes, FREE_BYTES_MIN].map((bytes) => `${Math.floor(bytes / 2 ** 20)} MiB`);
      const message = `The disk of the ledger has ${free} of free space; usage is recorded safely with ${required} or more.`;
      throw new Fault("ledger_unavailable", message, { details: { freeBytes } });
    }
    await super.checkStorage();
  }

  get waitingReportCount(): number {
    return this.#reports.waitingCount;
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#reports.close(closedError());
    while (this.#queue.waitingCount > 0) await this.#sendQueue();
    await this.closeChain();
    for (const worker of [this.#reporter, this.#writer]) {
      // A worker that has failed is terminated without a call.
      if (worker?.failure === undefined) await worker?.call("close", undefined).catch(() => undefined);
      await worker?.end();
    }
  }
}

/** Calls a function of a worker. @throws the error of the function; Fault `ledger_unavailable` if the worker has stopped */
async function call(
  worker: ThreadCalls,
  name: "record" | "call",
  request: RecordRequest | MethodRequest,
): Promise<unknown> {
  try {
    return await worker.call(name, request);
  } catch (error) {
    throw error instanceof Error && error === worker.failure ? stoppedFault(error) : error;
  }
}

async function freeBytesOf(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
}

function startWorkerThread(setup: SqliteWorkerSetup): WorkerThread {
  // The flags of the process are not inherited: with some of them, such as --input-type, a worker does not start.
  const options = { workerData: setup, execArgv: [] };
  return startNodeThread(new URL("./sqliteWorkerMain.js", import.meta.url), "A worker thread of the ledger", options);
}

function stoppedFault(cause: Error): Fault {
  return new Fault("ledger_unavailable", `The ledger has stopped: ${cause.message}.`, { cause });
}
