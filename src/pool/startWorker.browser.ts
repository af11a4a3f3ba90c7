import { Fault } from "../errors.ts";
import type { WorkerThread } from "../concurrency/threadCalls.ts";

/** Rejects worker threads in browsers, where the page can run the whole library in a Web Worker instead. */
export function startWorker(): WorkerThread {
  throw new Fault(
    "configuration_invalid",
    "The option `workers` is supported in Node only; in a browser, open the atlas inside a Web Worker.",
  );
}
