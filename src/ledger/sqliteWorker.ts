import { randomBytes } from "node:crypto";
import { type PackedError, packError } from "../concurrency/errorTransfer.ts";
import { type ParentPort, serveCalls } from "../concurrency/threadCalls.ts";
import { decodeEntries, type EntryOutcome } from "./entry.ts";
import type { Commit } from "./ledger.ts";
import type { MethodName } from "./methods.ts";
import { isStorageFailure, SqliteStore } from "./sqliteStore.ts";

/** Half of the time in which a revocation must take effect; the other half is for requests in flight. */
const POLL_INTERVAL_MS = 500;

/** Startup parameters of a ledger worker. */
export interface SqliteWorkerSetup {
  readonly file: string;
  /** Whether the worker only reads, for reports. */
  readonly isReadOnly: boolean;
  readonly nowMs: number;
}

/** The argument of `record`. It carries the sender's time, so that all workers of a ledger share one clock. */
export interface RecordRequest {
  readonly nowMs: number;
  /** From `encodeEntries`. */
  readonly entries: string;
}

/** The result of `record`. */
export interface RecordReply {
  readonly commit: Commit;
  /** Outcomes other than that the entry's units have been recorded, by index of the entry; absent if there are none. */
  readonly exceptions?: ReadonlyMap<number, EntryOutcome>;
}

/** The argument of `call`. */
export interface MethodRequest {
  readonly nowMs: number;
  readonly name: MethodName;
  readonly argument: unknown;
}

/** An event of a ledger worker: another process has changed cached entities, or the storage has failed. */
export type LedgerEvent = { readonly hasChanged: true } | { readonly failure: PackedError };

/** Parts of a worker that tests replace to inject faults. */
export interface LedgerWorkerParts {
  readonly openStore: (
    options: Parameters<typeof SqliteStore.open>[0],
  ) => Promise<Pick<SqliteStore, "record" | "call" | "hasChanged" | "close">>;
  /** Interval at which the worker looks for changes by other processes. */
  readonly pollIntervalMs: number;
}

const DEFAULT_PARTS: LedgerWorkerParts = {
  openStore: (options) => SqliteStore.open(options),
  pollIntervalMs: POLL_INTERVAL_MS,
};

/**
 * Opens the ledger and serves the functions `record`, `call` and `close` until it is closed or the storage fails. Runs
 * one call at a time.
 */
export function runLedgerWorker(
  port: ParentPort,
  setup: SqliteWorkerSetup,
  parts: Partial<LedgerWorkerParts> = {},
): Promise<void> {
  const { openStore, pollIntervalMs } = { ...DEFAULT_PARTS, ...parts };
  return serveCalls(port, async () => {
    const store = await openStore({ ...setup, newSecret: () => randomBytes(32).toString("hex") });
    let isOpen = true;
    let previous: Promise<unknown> = Promise.resolve();
    const send = (event: LedgerEvent): void => port.send({ event });

    const stop = (): void => {
      isOpen = false;
      clearInterval(pollTimer);
    };

    /** Runs a call after the earlier ones. Stops after a storage failure, without closing the file: that would write to it. */
    const inOrder = <Result>(run: () => Result | Promise<Result>): Promise<{ readonly result: Result }> => {
      const result = previous.then(async () => {
        if (!isOpen) throw new Error("The ledger is closed.");
        try {
          return { result: await run() };
        } catch (error) {
          if (isStorageFailure(error)) fail(error);
          throw error;
        }
      });
      previous = result.catch(() => undefined);
      return result;
    };

    const fail = (error: unknown): void => {
      stop();
      send({ failure: packError(error) });
    };

    const pollChanges = (): void => {
      try {
        if (store.hasChanged()) send({ hasChanged: true });
      } catch (error) {
        if (isStorageFailure(error)) fail(error);
      }
    };

    if (!setup.isReadOnly) store.hasChanged();
    const pollTimer = setup.isReadOnly ? undefined : setInterval(pollChanges, pollIntervalMs).unref();
    return {
      functions: {
        record: (request: RecordRequest) => inOrder(() => record(store, request)),
        call: ({ name, argument, nowMs }: MethodRequest) => inOrder(() => store.call(name, argument as never, nowMs)),
        close: () =>
          inOrder(() => {
            stop();
            store.close();
          }),
      },
    };
  });
}

function record(store: Pick<SqliteStore, "record">, { nowMs, entries: text }: RecordRequest): RecordReply {
  const entries = decodeEntries(text);
  const startMs = performance.now();
  const outcomes = store.record(entries, nowMs);
  const commit = { rowCount: entries.length, durationMs: performance.now() - startMs };
  const exceptions = new Map<number, EntryOutcome>();
  for (const [i, outcome] of outcomes.entries()) {
    const isRecorded = "units" in outcome && !outcome.isReplay && outcome.units === entries[i]?.units;
    if (!isRecorded) exceptions.set(i, outcome);
  }
  return exceptions.size === 0 ? { commit } : { commit, exceptions };
}
