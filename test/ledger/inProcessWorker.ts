import { MessageChannel, type MessagePort } from "node:worker_threads";
import type { CallMessage, ParentPort, ReplyMessage, WorkerThread } from "../../src/concurrency/threadCalls.ts";
import { runLedgerWorker, type SqliteWorkerSetup } from "../../src/ledger/sqliteWorker.ts";

/** Serializes starts: on one thread, a blocking wait for the worker that creates the tables would be a deadlock. */
let previousStart = Promise.resolve();

/** Runs a ledger worker on the calling thread, from source; worker threads can only run built files. */
export function startInProcessWorker(setup: SqliteWorkerSetup): WorkerThread {
  const { port1, port2 } = new MessageChannel();
  previousStart = previousStart.then(() => runLedgerWorker(parentPortOf(port2), setup));
  return {
    send: (message, transfer = []) => port1.postMessage(message, [...transfer]),
    onMessage: (listener) => port1.on("message", (message: ReplyMessage) => listener(message)),
    onEnd: () => undefined,
    setReferenced: (isReferenced) => (isReferenced ? port1.ref() : port1.unref()),
    end: () => Promise.resolve(port1.close()),
  };
}

/** Returns a message port as the port of a worker. */
export function parentPortOf(port: MessagePort): ParentPort {
  return {
    onMessage: (listener) => port.on("message", (message: CallMessage) => listener(message)),
    send: (message, transfer = []) => port.postMessage(message, [...transfer]),
  };
}
