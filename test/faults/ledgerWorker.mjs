// Entry point of a worker thread of the SQLite ledger with a fault; `workerData` is { setup, fault }.
import { parentPort, workerData } from "node:worker_threads";
import Database from "better-sqlite3";
import { built, replacing } from "./replacing.mjs";

const { runLedgerWorker } = await built("ledger/sqliteWorker.js");
const { SqliteStore } = await built("ledger/sqliteStore.js");

/** Number of failures that are ignored before the worker gives up, so that the service stops as the test expects. */
const IGNORED_FAILURES_MAX = 20;

/** Returns a database class that commits without waiting for the disk, but reports `synchronous = full`. */
function withSynchronous(setting, statements = []) {
  return class extends Database {
    pragma(text, options) {
      if (text === "synchronous = full") {
        for (const statement of statements) super.pragma(statement);
        return super.pragma(`synchronous = ${setting}`);
      }
      return text === "synchronous" ? 2 : super.pragma(text, options);
    }
  };
}

const openWith = (DatabaseClass) => ({
  openStore: (options) =>
    SqliteStore.open({ ...options, openDatabase: (file, settings) => new DatabaseClass(file, settings) }),
});

const FAULTS = {
  /** The entries of a failed transaction count as recorded. */
  "ignores-disk-errors": {
    async openStore(options) {
      const store = await SqliteStore.open(options);
      let failureCount = 0;
      return replacing(store, {
        record(entries, nowMs) {
          try {
            return store.record(entries, nowMs);
          } catch {
            failureCount++;
            if (failureCount > IGNORED_FAILURES_MAX) process.exit(1);
            return entries.map(({ units }) => ({ units, isReplay: false }));
          }
        },
      });
    },
  },
  /** Changes by other processes are noticed after minutes. */
  "never-polls-for-changes": { pollIntervalMs: 500_000 },
  /** The log is synced by checkpoints only, and there are none, because one could come just before a response. */
  "synchronous-normal-without-checkpoints": openWith(withSynchronous("normal", ["wal_autocheckpoint = 0"])),
  /** Nothing is ever synced. */
  "synchronous-off": openWith(withSynchronous("off")),
};

await runLedgerWorker(parentPort, workerData.setup, FAULTS[workerData.fault]);
