import { Worker } from "node:worker_threads";
import type { Report, WorkerSetup } from "./pool/messages.ts";
import type { WorkerThread } from "./pool/poolWorker.ts";

/**
 * What a worker's engine may fill with short-lived objects before it collects them. With its own default, 48, a worker
 * took some 30 MiB more; tiles and answers do not lie there but in array buffers.
 */
const YOUNG_GENERATION_MB = 8;

/** Starts one worker thread of Node. In a bundle for browsers workerThreads.browser.ts stands in its place. */
export function startWorker(setup: WorkerSetup): WorkerThread {
  const worker = new Worker(new URL("./workerMain.js", import.meta.url), {
    workerData: setup,
    resourceLimits: { maxYoungGenerationSizeMb: YOUNG_GENERATION_MB },
  });
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
