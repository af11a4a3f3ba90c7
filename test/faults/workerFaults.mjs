// Faults of the worker thread of the SQLite ledger, which ledgerWorker.mjs runs.
import { built } from "./replacing.mjs";

const { SqliteLedger } = await built("ledger/sqlite.js");
const { anchorPath } = await built("ledger/anchor.js");
const { startNodeThread } = await built("concurrency/nodeThread.js");

/** Returns parts of the service with a SQLite ledger whose worker has the fault. */
const workerWith = (fault) => ({
  async openLedger({ data }) {
    const ledger = await SqliteLedger.open({
      data,
      now: Date.now,
      startWorker(setup) {
        const file = new URL("ledgerWorker.mjs", import.meta.url);
        return startNodeThread(file, "the worker", { workerData: { setup, fault } });
      },
    });
    await ledger.startChain({ anchorPath: anchorPath(data, undefined), isChecked: true, hasOtherAnchors: false });
    return ledger;
  },
});

const NAMES = [
  "ignores-disk-errors",
  "never-polls-for-changes",
  "synchronous-normal-without-checkpoints",
  "synchronous-off",
];
export const workerFaults = Object.fromEntries(NAMES.map((name) => [name, workerWith(name)]));
