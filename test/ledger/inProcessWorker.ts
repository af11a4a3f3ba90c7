import { MessageChannel } from "node:worker_threads";
import type { LedgerThread } from "../../src/ledger/sqlite.ts";
import type { SqliteWorkerSetup } from "../../src/ledger/sqliteMessages.ts";
import { runLedgerWorker } from "../../src/ledger/sqliteWorker.ts";

/** Serializes starts: on one thread, a blocking wait for the worker that creates the tables would be a deadlock. */
let previousStart = Promise.resolve();

/** Runs a ledger worker on the calling thread, from source; worker threads can only run built files. */
export function startInProcessWorker(setup: SqliteWorkerSetup): LedgerThread {
  const { port1, port2 } = new MessageChannel();
  previousStart = previousStart.then(() => runLedgerWorker(port2, setup));
  return {
    send: (request, transfer = []) => port1.postMessage(request, [...transfer]),
    onMessage: (listener) => port1.on("message", listener),
    onEnd: () => undefined,
    setReferenced: (isReferenced) => (isReferenced ? port1.ref() : port1.unref()),
    end: () => Promise.resolve(port1.close()),
  };
}
