import { fileURLToPath } from "node:url";

/** The faults that service.mjs can inject; their descriptions are in the files that implement them. */
export type FaultName =
  // ledgerFaults.mjs
  | "responds-before-recording"
  | "ignores-idempotency-keys"
  | "keeps-idempotency-keys-in-memory"
  | "finds-customers-of-any-account"
  | "accepts-unsigned-cursors"
  | "registers-customers-in-two-steps"
  | "sets-clock-on-signal"
  // ledgerWorker.mjs
  | "ignores-disk-errors"
  | "never-polls-for-changes"
  | "synchronous-normal-without-checkpoints"
  | "synchronous-off"
  // postgresFaults.mjs
  | "commits-asynchronously"
  | "ignores-notifications"
  // hostFaults.mjs
  | "logs-requests"
  | "never-answers"
  | "returns-previous-results"
  | "retains-requests"
  | "closes-without-draining"
  | "default-heap-growth"
  // Not a fault: timeouts of 1 to 10 seconds.
  | "short-timeouts";

const SERVICE = fileURLToPath(new URL("service.mjs", import.meta.url));
const CLI = fileURLToPath(new URL("../../dist/cli/main.js", import.meta.url));

/**
 * Returns the arguments of Node that start `isotherm serve`, with a fault if one is given. Options of serve may follow
 * them.
 */
export function serveCommandLine(fault: FaultName | undefined): readonly string[] {
  return fault === undefined ? [CLI, "serve"] : [SERVICE, fault];
}
