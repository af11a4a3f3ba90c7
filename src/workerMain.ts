/** The program of one worker thread of the pool: opens the atlas for itself and serves orders until it is ended. */
import { parentPort, workerData } from "node:worker_threads";
import { openAtlas } from "./openAtlas.ts";
import type { Order, WorkerSetup } from "./pool/messages.ts";
import { reportOf, serveOrders, type WorkerPort } from "./pool/worker.ts";

const thread = parentPort;
if (thread === null) throw new Error("This file is the program of a worker thread, not one to be run.");
const port: WorkerPort = {
  onOrder: (take) => thread.on("message", (order: Order) => take(order)),
  tell: (report, handOver) => thread.postMessage(report, [...handOver]),
};
const { address, cacheBytes } = workerData as WorkerSetup;
try {
  serveOrders(port, await openAtlas(address, { cacheBytes }));
} catch (error) {
  port.tell(reportOf(0, error), []);
}
