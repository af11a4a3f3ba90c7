import { MessageChannel } from "node:worker_threads";
import type { WorkerHandle } from "../../src/ledger/sqlite.ts";
import type { WorkerSetup } from "../../src/ledger/sqliteMessages.ts";
import { runLedgerWorker } from "../../src/ledger/sqliteWorker.ts";

/** Serializes starts: on one thread, a blocking wait for the worker that creates the tables would be a deadlock. */
let previousStart = Promise.resolve();

/** Runs a ledger worker on the calling thread, from source; worker threads can only run built files. */
export function startInProcessWorker(setup: WorkerSetup): WorkerHandle {
  const { port1, port2 } = new MessageChannel();
  previousStart = previousStart.then(() => runLedgerWorker(port2, setup));
  return {
    port: port1,
    setReferenced: (isReferenced) => (isReferenced ? port1.ref() : port1.unref()),
    onExit: () => undefined,
    terminate: () => Promise.resolve(port1.close()),
  };
}
