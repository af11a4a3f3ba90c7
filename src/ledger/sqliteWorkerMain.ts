/** Entry point of the worker threads of the embedded ledger. */
import { workerData } from "node:worker_threads";
import { packError } from "../concurrency/errorTransfer.ts";
import { parentThread } from "../concurrency/nodeThread.ts";
import type { SqliteWorkerSetup } from "./sqliteWorker.ts";

const port = parentThread();
try {
  // Imported dynamically, so that a missing optional package is reported to the parent thread.
  const { runLedgerWorker } = await import("./sqliteWorker.ts");
  await runLedgerWorker(port, workerData as SqliteWorkerSetup);
} catch (error) {
  port.send({ id: 0, error: packError(error) });
}
