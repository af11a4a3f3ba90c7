import { Fault } from "./errors.ts";
import type { WorkerThread } from "./pool/poolWorker.ts";

/** Throws: in a browser, a page that needs a Worker opens the atlas in it. */
export function startWorker(): WorkerThread {
  throw new Fault(
    "configuration_invalid",
    "The option workers is available in Node only; in a browser, open the atlas in a Worker.",
  );
}
