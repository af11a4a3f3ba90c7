import type { WorkerSetup } from "./messages.ts";
import type { WorkerThread } from "../concurrency/threadCalls.ts";
import { startNodeThread } from "../concurrency/nodeThread.ts";

/**
 * Young generation of a worker's heap. With V8's default of 48 MB, a worker used about 30 MiB more, although tiles and
 * results are in array buffers outside the heap. With 4 MB it used 5 MiB less, but batches took 25 % longer.
 */
const YOUNG_GENERATION_MB = 8;
/**
 * Old generation of a worker's heap. A worker needs far less, but a limit below V8's default of up to 4096 MB makes V8
 * collect garbage earlier: with the default, two workers used about 15 MiB more for a million circles.
 */
const OLD_GENERATION_MB = 1024;

/** Starts one Node worker thread. Browser bundles use startWorker.browser.ts instead. */
export function startWorker(setup: WorkerSetup): WorkerThread {
  return startNodeThread(new URL("../worker/main.js", import.meta.url), "A worker", {
    workerData: setup,
    resourceLimits: { maxYoungGenerationSizeMb: YOUNG_GENERATION_MB, maxOldGenerationSizeMb: OLD_GENERATION_MB },
  });
}
