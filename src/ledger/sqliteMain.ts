/** The program of a thread of the embedded ledger. */
import { parentPort, workerData } from "node:worker_threads";
import { type Answer, packError, type ThreadSetup } from "./sqliteMessages.ts";

const port = parentPort;
if (port === null) throw new Error("This file is the program of a worker thread, not one to be run.");
try {
  // Fetched late: the packages it needs may not be installed, which is to be told and not died of.
  const { serveLedger } = await import("./sqliteThread.ts");
  await serveLedger(port, workerData as ThreadSetup);
} catch (error) {
  port.postMessage({ kind: "refused", id: 0, error: packError(error) } satisfies Answer);
  port.close();
}
