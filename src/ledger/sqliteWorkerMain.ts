/** Entry point of the worker threads of the embedded ledger. */
import { parentPort, workerData } from "node:worker_threads";
import { packError } from "../concurrency/errorTransfer.ts";
import type { LedgerWorkerMessage, SqliteWorkerSetup } from "./sqliteMessages.ts";

const port = parentPort;
if (port === null) throw new Error("sqliteWorkerMain must run as a worker thread.");
try {
  // Imported dynamically, so that a missing optional package is reported to the parent thread.
  const { runLedgerWorker } = await import("./sqliteWorker.ts");
  await runLedgerWorker(port, workerData as SqliteWorkerSetup);
} catch (error) {
  port.postMessage({ kind: "error", id: 0, error: packError(error) } satisfies LedgerWorkerMessage);
  port.close();
}
