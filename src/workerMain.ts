/** Entry point of a worker thread of the pool: opens the atlas and executes orders until it is terminated. */
import { constants, setPriority } from "node:os";
import { platform } from "node:process";
import { parentPort, workerData } from "node:worker_threads";
import { openAtlasHere } from "./openAtlas.ts";
import { reportOf } from "./pool/errors.ts";
import type { Order, WorkerSetup } from "./pool/messages.ts";
import { serveOrders, type TaskDoer, type WorkerPort } from "./pool/worker.ts";

const thread = parentPort;
if (thread === null) throw new Error("workerMain.js must be started as a worker thread.");
const port: WorkerPort = {
  onOrder: (take) => thread.on("message", (order: Order) => take(order)),
  tell: (report, handOver) => thread.postMessage(report, [...handOver]),
};
const { address, cacheBytes } = workerData as WorkerSetup;
try {
  const { atlas, neighbourhoods } = await openAtlasHere(address, cacheBytes);
  // Only the HTTP host sends tasks, so its code is loaded with the first one.
  let host: Promise<TaskDoer> | undefined;
  serveOrders(port, atlas, async (task) => {
    host ??= startHost();
    return (await host)(task);
  });

  async function startHost(): Promise<TaskDoer> {
    const { hostTasks } = await import("./host/work/worker.ts");
    // Gives the event loop precedence if there are fewer cores than threads. Only on Linux does this set the priority of
    // the thread; elsewhere it would set that of the process.
    if (platform === "linux") setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
    return hostTasks({ atlas, neighbourhoods });
  }
} catch (error) {
  port.tell(reportOf(0, error), []);
}
