/** The program of one worker thread of the pool: opens the atlas for itself and serves orders until it is ended. */
import { constants, setPriority } from "node:os";
import { platform } from "node:process";
import { parentPort, workerData } from "node:worker_threads";
import { openAtlasHere } from "./openAtlas.ts";
import { reportOf } from "./pool/errors.ts";
import type { Order, WorkerSetup } from "./pool/messages.ts";
import { serveOrders, type TaskDoer, type WorkerPort } from "./pool/worker.ts";

const thread = parentPort;
if (thread === null) throw new Error("This file is the program of a worker thread, not one to be run.");
const port: WorkerPort = {
  onOrder: (take) => thread.on("message", (order: Order) => take(order)),
  tell: (report, handOver) => thread.postMessage(report, [...handOver]),
};
const { address, cacheBytes } = workerData as WorkerSetup;
try {
  const { atlas, neighbourhoods } = await openAtlasHere(address, cacheBytes);
  // Tasks are the HTTP host's, and it is loaded with the first of them: who embeds the library has none.
  let host: Promise<TaskDoer> | undefined;
  serveOrders(port, atlas, async (task) => {
    host ??= startHost();
    return (await host)(task);
  });

  async function startHost(): Promise<TaskDoer> {
    const { hostTasks } = await import("./host/work/worker.ts");
    // Where there are fewer cores than threads, the event loop goes before the workers. Only on Linux is this the
    // priority of the thread; elsewhere it would be that of the whole process.
    if (platform === "linux") setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
    return hostTasks({ atlas, neighbourhoods });
  }
} catch (error) {
  port.tell(reportOf(0, error), []);
}
