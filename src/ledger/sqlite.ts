import { statfs } from "node:fs/promises";
import { join } from "node:path";
import { Fault, isFault } from "../errors.ts";
import { unpackError } from "../concurrency/errorTransfer.ts";
import { startNodeThread } from "../concurrency/nodeThread.ts";
import type { WorkerThread } from "../concurrency/workerThread.ts";
import { checkEntry, type EntryOutcome, idempotencyKeyReused, RECORD_TIMEOUT_MS, usageNotRecorded } from "./entry.ts";
import {
  type Commit,
  type RecordResult,
  SQLITE_FILE_NAME,
  type UsageEntry,
  WAITING_REPORT_COUNT_MAX,
} from "./ledger.ts";
import type { ChainState } from "./chainState.ts";
import { closedError, LedgerBase, type LedgerClock } from "./ledgerBase.ts";
import { accountOf, type ArgumentOf, type MethodName, REPORT_METHODS, type ResultOf } from "./methods.ts";
import { RecordQueue } from "./recordQueue.ts";
import { ReportQueue } from "./reportQueue.ts";
import type { LedgerWorkerMessage, LedgerWorkerRequest, SqliteWorkerSetup } from "./sqliteMessages.ts";

/** Free space below which the ledger reports that it cannot record: a few of the largest transactions fit in it. */
const FREE_BYTES_MIN = 16 * 2 ** 20;

/** Version of Node-API for which better-sqlite3 is built. Node.js 22.12 and 22.13 have version 9, and crash in its binary. */
const NODE_API_MIN = 10;

/** A started ledger worker: a worker thread, or its replacement in tests. */
export type LedgerThread = WorkerThread<LedgerWorkerRequest, LedgerWorkerMessage>;

export interface SqliteLedgerOptions extends LedgerClock {
  /** The data folder; created if it does not exist. */
  readonly data: string;
  /** Time after which an entry is rejected if the disk does not respond. */
  readonly recordTimeoutMs?: number | undefined;
  readonly startWorker?: (setup: SqliteWorkerSetup) => LedgerThread;
  /** Returns the free space of the disk that holds a folder. */
  readonly freeBytes?: (folder: string) => Promise<number>;
}

/** The embedded ledger: a SQLite file, written by one worker thread and read by another one, started on demand, for reports. */
export class SqliteLedger extends LedgerBase {
  readonly #now: () => number;
  readonly #startReporter: () => Promise<WorkerClient>;
  readonly #writer: WorkerClient;
  readonly #freeBytes: () => Promise<number>;
  readonly #reports = new ReportQueue({ runningCountMax: 1, waitingCountMax: WAITING_REPORT_COUNT_MAX });
  #reporter: Promise<WorkerClient> | undefined;
  #isBatchInFlight = false;
  /** Entries wait here while a batch is in flight, because a message costs as much as several entries. */
  readonly #queue: RecordQueue;
  #closing: Promise<void> | undefined;

  private constructor(writer: WorkerClient, options: SqliteLedgerOptions, startReporter: () => Promise<WorkerClient>) {
    super(options);
    this.#writer = writer;
    const { now, data, freeBytes = freeBytesOf, recordTimeoutMs = RECORD_TIMEOUT_MS } = options;
    this.#now = now;
    this.#queue = new RecordQueue({ timeoutMs: recordTimeoutMs });
    this.#freeBytes = () => freeBytes(data);
    this.#startReporter = startReporter;
    writer.onChange = () => this.notifyChange();
    writer.onCommit = (commit) => this.notifyCommit(commit);
    writer.onFailure = (error) => this.fail(error);
  }

  /** @throws Fault as `SqliteStore.open` does; `configuration_invalid` if Node.js is too old for better-sqlite3 */
  static async open(options: SqliteLedgerOptions): Promise<SqliteLedger> {
    const { data, now, startWorker = startWorkerThread } = options;
    if (Number(process.versions["napi"]) < NODE_API_MIN) {
      const message = `A ledger in SQLite needs Node.js 22.14 or later (this is ${process.versions.node}); with --database it is in PostgreSQL.`;
      throw new Fault("configuration_invalid", message);
    }
    const file = join(data, SQLITE_FILE_NAME);
    const start = async (isReadOnly: boolean): Promise<WorkerClient> => {
      const client = new WorkerClient(startWorker({ file, isReadOnly, nowMs: now() }));
      await client.ready;
      return client;
    };
    return new SqliteLedger(await start(false), options, () => start(true));
  }

  record(entry: UsageEntry): Promise<RecordResult> {
    checkEntry(entry);
    if (this.failure !== undefined) return Promise.reject(usageNotRecorded(this.failure));
    if (this.#closing !== undefined) return Promise.reject(closedError());
    const { clockDriftFault } = this;
    if (clockDriftFault !== undefined) return Promise.reject(clockDriftFault);
    // Entries of the same turn of the event loop go into the same message.
    if (this.#queue.waitingCount === 0 && !this.#isBatchInFlight) setImmediate(() => void this.#sendQueue());
    return this.#queue.add(entry);
  }

  async #sendQueue(): Promise<void> {
    const sent = this.#queue.take();
    if (sent.length === 0) return;
    this.#isBatchInFlight = true;
    try {
      const entries = sent.map(({ entry }) => entry);
      const outcomes = (await this.#writer.send({ kind: "record", nowMs: this.#now(), entries })) as EntryOutcome[];
      sent.forEach(({ resolve, reject }, i) => {
        const outcome = outcomes[i];
        if (outcome === undefined) reject(new Error("The ledger worker returned fewer outcomes than entries."));
        else if ("refusal" in outcome) reject(idempotencyKeyReused());
        else resolve(outcome);
      });
    } catch (error) {
      this.noteRejection(error);
      for (const { reject } of sent) reject(isFault(error, "clock_unreliable") ? error : usageNotRecorded(error));
    } finally {
      this.#isBatchInFlight = false;
      if (this.#queue.waitingCount > 0) void this.#sendQueue();
    }
  }

  protected async dispatch<Name extends MethodName>(
    name: Name,
    argument: ArgumentOf<Name>,
    signal?: AbortSignal,
  ): Promise<ResultOf<Name>> {
    if (this.#closing !== undefined) throw closedError();
    const callOn = async (client: WorkerClient): Promise<ResultOf<Name>> =>
      (await client.send({ kind: "call", nowMs: this.#now(), name, argument })) as ResultOf<Name>;
    if (!REPORT_METHODS.has(name)) return callOn(this.#writer);
    const report = async (): Promise<ResultOf<Name>> => callOn(await this.#getReporter());
    return this.#reports.run(report, { accountId: accountOf(argument), signal });
  }

  protected async readChainState(query: { readonly batch?: number }): Promise<ChainState> {
    const request = { kind: "call", nowMs: this.#now(), name: "chainState", argument: query } as const;
    return (await this.#writer.send(request)) as ChainState;
  }

  #getReporter(): Promise<WorkerClient> {
    if (this.#reporter === undefined) {
      const reporter = this.#startReporter();
      this.#reporter = reporter;
      // After a failed start or an exit, the next call starts a new reporter.
      const discard = (): void => {
        if (this.#reporter === reporter) this.#reporter = undefined;
      };
      reporter.then((client) => {
        client.onFailure = discard;
      }, discard);
    }
    return this.#reporter;
  }

  protected override async checkStorage(): Promise<void> {
    if (this.failure !== undefined) throw stoppedFault(this.failure);
    const freeBytes = await this.#freeBytes();
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
    this.#reports.close();
    if (this.#queue.waitingCount > 0) await this.#sendQueue();
    await this.closeChain();
    const reporter = await this.#reporter?.catch(() => undefined);
    await reporter?.close();
    await this.#writer.close();
  }
}

type WithoutId<Request> = Request extends LedgerWorkerRequest ? Omit<Request, "id"> : never;

interface PendingRequest {
  resolve(result: unknown): void;
  reject(error: Error): void;
}

/** Sends requests to a worker and resolves them with its responses. */
class WorkerClient {
  /** Resolves when the worker has opened the file; rejects with the reason if it could not. */
  readonly ready: Promise<unknown>;
  onChange: () => void = () => undefined;
  onCommit: (commit: Commit) => void = () => undefined;
  onFailure: (error: Error) => void = () => undefined;
  readonly #worker: LedgerThread;
  readonly #pending = new Map<number, PendingRequest>();
  #lastId = 0;
  #failure: Error | undefined;
  #isClosing = false;

  constructor(worker: LedgerThread) {
    this.#worker = worker;
    this.ready = new Promise((resolve, reject) => this.#pending.set(0, { resolve, reject }));
    worker.setReferenced(true);
    worker.onMessage((message) => this.#receive(message));
    worker.onEnd((error) => this.#fail(error));
  }

  send(request: WithoutId<LedgerWorkerRequest>): Promise<unknown> {
    if (this.#failure !== undefined) return Promise.reject(stoppedFault(this.#failure));
    const id = ++this.#lastId;
    return new Promise((resolve, reject) => {
      this.#worker.send({ ...request, id });
      if (this.#pending.size === 0) this.#worker.setReferenced(true);
      this.#pending.set(id, { resolve, reject });
    });
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    // A worker that has failed is terminated without a close request.
    if (this.#failure === undefined) await this.send({ kind: "close" }).catch(() => undefined);
    await this.#worker.end();
  }

  #receive(message: LedgerWorkerMessage): void {
    if (message.kind === "changed") this.onChange();
    else if (message.kind === "failed") this.#fail(unpackError(message.error));
    else if (message.kind === "recorded") {
      for (const { id, outcomes } of message.requests) this.#takePending(id)?.resolve(outcomes);
      this.onCommit(message.commit);
    } else if (message.kind === "error") this.#takePending(message.id)?.reject(unpackError(message.error));
    else this.#takePending(message.id)?.resolve(message.result);
  }

  /** Removes and returns the pending request that a response belongs to. */
  #takePending(id: number): PendingRequest | undefined {
    const request = this.#pending.get(id);
    this.#pending.delete(id);
    if (this.#pending.size === 0) this.#worker.setReferenced(false);
    return request;
  }

  #fail(error: Error): void {
    if (this.#failure !== undefined) return;
    this.#failure = error;
    const pending = [...this.#pending.values()];
    this.#pending.clear();
    this.#worker.setReferenced(false);
    if (!this.#isClosing) this.onFailure(error);
    for (const { reject } of pending) reject(stoppedFault(error));
  }
}

async function freeBytesOf(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
}

function startWorkerThread(setup: SqliteWorkerSetup): LedgerThread {
  // The flags of the process are not inherited: with some of them, such as --input-type, a worker does not start.
  const options = { workerData: setup, execArgv: [] };
  return startNodeThread(new URL("./sqliteWorkerMain.js", import.meta.url), "A worker thread of the ledger", options);
}

function stoppedFault(cause: Error): Fault {
  return new Fault("ledger_unavailable", `The ledger has stopped: ${cause.message}.`, { cause });
}
