/** Entry point of the worker threads of the embedded ledger. */
import { parentPort, workerData } from "node:worker_threads";
import { serializeError, type WorkerMessage, type WorkerSetup } from "./sqliteMessages.ts";

const port = parentPort;
if (port === null) throw new Error("sqliteWorkerMain must run as a worker thread.");
try {
  // Imported dynamically, so that a missing optional package is reported to the parent thread.
  const { runLedgerWorker } = await import("./sqliteWorker.ts");
  await runLedgerWorker(port, workerData as WorkerSetup);
} catch (error) {
  port.postMessage({ kind: "error", id: 0, error: serializeError(error) } satisfies WorkerMessage);
  port.close();
}
