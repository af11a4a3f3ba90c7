import { Worker } from "node:worker_threads";
import type { Report, WorkerSetup } from "./pool/messages.ts";
import type { WorkerThread } from "./pool/pool.ts";

/** Starts one worker thread of Node. In a bundle for browsers workerThreads.browser.ts stands in its place. */
export function startWorker(setup: WorkerSetup): WorkerThread {
  const worker = new Worker(new URL("./workerMain.js", import.meta.url), { workerData: setup });
  worker.unref();
  return {
    send: (order, handOver) => worker.postMessage(order, [...handOver]),
    onReport: (take) => worker.on("message", (report: Report) => take(report)),
    onEnd: (take) => {
      worker.on("error", (error) => take(error));
      worker.on("exit", (code) => take(new Error(`A worker ended with code ${code}.`)));
    },
    setAwaited: (isAwaited) => (isAwaited ? worker.ref() : worker.unref()),
    end: async () => {
      await worker.terminate();
    },
  };
}
