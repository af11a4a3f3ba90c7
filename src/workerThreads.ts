import { Worker } from "node:worker_threads";
import type { Report, WorkerSetup } from "./pool/messages.ts";
import type { WorkerThread } from "./pool/poolWorker.ts";

/**
 * What a worker's engine may fill with short-lived objects before it collects them. With its own default, 48, a worker
 * took some 30 MiB more; tiles and answers do not lie there but in array buffers. With 4 it took 5 MiB less, and batches
 * a quarter longer.
 */
const YOUNG_GENERATION_MB = 8;
/**
 * What a worker's engine may fill in all: far more than a worker needs, but the engine collects sooner where less is
 * allowed. With its own default, up to 4096, two workers took some 15 MiB more for a million circles.
 */
const OLD_GENERATION_MB = 1024;

/** Starts one worker thread of Node. In a bundle for browsers workerThreads.browser.ts stands in its place. */
export function startWorker(setup: WorkerSetup): WorkerThread {
  const worker = new Worker(new URL("./workerMain.js", import.meta.url), {
    workerData: setup,
    resourceLimits: { maxYoungGenerationSizeMb: YOUNG_GENERATION_MB, maxOldGenerationSizeMb: OLD_GENERATION_MB },
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
