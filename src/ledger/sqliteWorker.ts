import { randomBytes } from "node:crypto";
import { type MessagePort, receiveMessageOnPort } from "node:worker_threads";
import { packError } from "../concurrency/errorTransfer.ts";
import { BATCH_COUNT_MAX } from "./entry.ts";
import type { UsageEntry } from "./ledger.ts";
import type { LedgerWorkerMessage, LedgerWorkerRequest, SqliteWorkerSetup } from "./sqliteMessages.ts";
import { isStorageFailure, SqliteStore } from "./sqliteStore.ts";

/** Half of the time in which a revocation must take effect; the other half is for requests in flight. */
const POLL_INTERVAL_MS = 500;

type RecordRequest = Extract<LedgerWorkerRequest, { readonly kind: "record" }>;
type OtherRequest = Exclude<LedgerWorkerRequest, RecordRequest>;

/** The storage of a worker. */
type LedgerStore = Pick<SqliteStore, "record" | "call" | "hasChanged" | "close">;

/** Parts of a worker that tests replace to inject faults. */
export interface LedgerWorkerParts {
  readonly openStore: (options: Parameters<typeof SqliteStore.open>[0]) => Promise<LedgerStore>;
  /** Interval at which the worker looks for changes by other processes. */
  readonly pollIntervalMs: number;
}

const DEFAULT_PARTS: LedgerWorkerParts = {
  openStore: (options) => SqliteStore.open(options),
  pollIntervalMs: POLL_INTERVAL_MS,
};

/** Opens the ledger and handles the requests of the port until it is closed or the storage fails. */
export async function runLedgerWorker(
  port: MessagePort,
  setup: SqliteWorkerSetup,
  parts: Partial<LedgerWorkerParts> = {},
): Promise<void> {
  try {
    const newSecret = (): string => randomBytes(32).toString("hex");
    const { openStore, pollIntervalMs } = { ...DEFAULT_PARTS, ...parts };
    const store = await openStore({ ...setup, newSecret });
    new LedgerWorker(port, store, pollIntervalMs).start(setup);
  } catch (error) {
    port.postMessage({ kind: "error", id: 0, error: packError(error) } satisfies LedgerWorkerMessage);
    port.close();
  }
}

/**
 * Handles requests one after another, except that queued record requests share transactions of at most about
 * `BATCH_COUNT_MAX` entries.
 */
class LedgerWorker {
  readonly #port: MessagePort;
  readonly #store: LedgerStore;
  readonly #pollIntervalMs: number;
  readonly #recordQueue: RecordRequest[] = [];
  readonly #otherQueue: OtherRequest[] = [];
  #isDraining = false;
  #isOpen = true;
  #pollTimer: NodeJS.Timeout | undefined;
  #polledAtMs = 0;

  constructor(port: MessagePort, store: LedgerStore, pollIntervalMs: number) {
    this.#port = port;
    this.#store = store;
    this.#pollIntervalMs = pollIntervalMs;
  }

  start({ isReadOnly }: SqliteWorkerSetup): void {
    if (!isReadOnly) {
      this.#store.hasChanged();
      this.#pollTimer = setInterval(() => this.#pollChanges(), this.#pollIntervalMs).unref();
      this.#polledAtMs = performance.now();
    }
    this.#port.on("message", (request: LedgerWorkerRequest) => {
      this.#enqueue(request);
      if (!this.#isDraining) void this.#drainQueues();
    });
    this.#post({ kind: "result", id: 0, result: undefined });
  }

  #enqueue(request: LedgerWorkerRequest): void {
    if (request.kind === "record") this.#recordQueue.push(request);
    else this.#otherQueue.push(request);
  }

  /** Enqueues the messages that have arrived, without returning to the event loop. */
  #receivePending(): void {
    for (;;) {
      const pending = receiveMessageOnPort(this.#port);
      if (pending === undefined) return;
      this.#enqueue(pending.message as LedgerWorkerRequest);
    }
  }

  async #drainQueues(): Promise<void> {
    this.#isDraining = true;
    while (this.#isOpen) {
      this.#receivePending();
      // Under load this loop does not return to the event loop, so the timer does not fire.
      const isPollDue = performance.now() - this.#polledAtMs > this.#pollIntervalMs;
      if (this.#pollTimer !== undefined && isPollDue) this.#pollChanges();
      if (this.#recordQueue.length > 0) this.#record();
      // Entries that were queued before a close request may need more than one transaction.
      if (this.#recordQueue.length > 0 && this.#otherQueue[0]?.kind === "close") continue;
      const other = this.#otherQueue.shift();
      if (other !== undefined) await this.#handle(other);
      else if (this.#recordQueue.length === 0) break;
    }
    this.#isDraining = false;
  }

  #record(): void {
    const requests: RecordRequest[] = [];
    const entries: UsageEntry[] = [];
    while (entries.length < BATCH_COUNT_MAX) {
      const request = this.#recordQueue.shift();
      if (request === undefined) break;
      requests.push(request);
      for (const entry of request.entries) entries.push(entry);
    }
    try {
      const startMs = performance.now();
      const outcomes = this.#store.record(entries, requests.at(-1)?.nowMs ?? 0);
      const commit = { rowCount: entries.length, durationMs: performance.now() - startMs };
      let next = 0;
      const recorded = requests.map(({ id, entries: requestEntries }) => ({
        id,
        outcomes: outcomes.slice(next, (next += requestEntries.length)),
      }));
      this.#post({ kind: "recorded", requests: recorded, commit });
    } catch (error) {
      if (isStorageFailure(error)) this.#fail(error);
      else for (const { id } of requests) this.#post({ kind: "error", id, error: packError(error) });
    }
  }

  async #handle(request: OtherRequest): Promise<void> {
    const { id } = request;
    if (request.kind === "close") {
      // Earlier requests are finished; later ones are ignored.
      this.#stop();
      this.#store.close();
      this.#post({ kind: "result", id, result: undefined });
      this.#port.close();
      return;
    }
    try {
      const result = await this.#store.call(request.name, request.argument as never, request.nowMs);
      this.#post({ kind: "result", id, result });
    } catch (error) {
      if (isStorageFailure(error)) this.#fail(error);
      else this.#post({ kind: "error", id, error: packError(error) });
    }
  }

  #pollChanges(): void {
    this.#polledAtMs = performance.now();
    try {
      if (this.#store.hasChanged()) this.#post({ kind: "changed" });
    } catch (error) {
      if (isStorageFailure(error)) this.#fail(error);
    }
  }

  /** Stops without closing the file, because closing would write to it. */
  #fail(error: unknown): void {
    this.#stop();
    this.#post({ kind: "failed", error: packError(error) });
    this.#port.close();
  }

  #stop(): void {
    this.#isOpen = false;
    clearInterval(this.#pollTimer);
  }

  #post(message: LedgerWorkerMessage): void {
    this.#port.postMessage(message, []);
  }
}
