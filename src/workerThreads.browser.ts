import { Fault } from "./errors.ts";
import type { WorkerThread } from "./pool/poolWorker.ts";

/** In a browser the page decides what runs in a Worker: the whole library does, opened there. */
export function startWorker(): WorkerThread {
  throw new Fault(
    "configuration_invalid",
    "Workers are started in Node only; in a browser open the atlas in a Worker.",
  );
}
