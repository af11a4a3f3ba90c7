import { MessageChannel } from "node:worker_threads";
import type { LedgerThread } from "../../src/ledger/sqlite.ts";
import type { ThreadSetup } from "../../src/ledger/sqliteMessages.ts";
import { serveLedger } from "../../src/ledger/sqliteThread.ts";

/** On one thread nobody can wait for another who is making the tables. */
let opening = Promise.resolve();

/** What a thread of the ledger does, done on this thread: a thread of its own can run built files only. */
export function startInProcess(setup: ThreadSetup): LedgerThread {
  const { port1, port2 } = new MessageChannel();
  opening = opening.then(() => serveLedger(port2, setup));
  return {
    port: port1,
    setAwaited: (isAwaited) => (isAwaited ? port1.ref() : port1.unref()),
    onEnd: () => undefined,
    end: () => Promise.resolve(port1.close()),
  };
}
