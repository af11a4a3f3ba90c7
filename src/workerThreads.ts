import { Worker } from "node:worker_threads";
import type { Report, WorkerSetup } from "./pool/messages.ts";
import type { WorkerThread } from "./pool/poolWorker.ts";

/**
 * Maximum size of the young generation of a worker's heap. The default of 48 uses about 30 MiB more per worker, without
 * benefit because tiles and results are array buffers outside this heap. A size of 4 saves another 5 MiB but makes batches
 * a quarter slower.
 */
const YOUNG_GENERATION_MB = 8;
/**
 * Maximum size of the old generation of a worker's heap: far more than needed, but a lower limit makes V8 collect earlier.
 * With the default of up to 4096, two workers used about 15 MiB more for a million circles.
 */
const OLD_GENERATION_MB = 1024;

/** Starts a worker thread in Node. Bundles for browsers contain workerThreads.browser.ts instead. */
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
