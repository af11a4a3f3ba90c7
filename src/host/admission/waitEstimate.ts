import type { BulkJob } from "./bulkJob.ts";

/** Weight of the latest job in the average cost of a route. */
const COST_WEIGHT = 0.25;
/** The fixed cost of a request, expressed as body bytes. Without it, the cost of short requests would make estimates for long ones too high. */
const FIXED_COST_BYTES = 16_384;

/** Estimates the time of jobs from the cost of earlier jobs of the same route. */
export class WaitEstimate {
  readonly #workerCount: number;
  /** Worker milliseconds per byte of a request, by route. */
  readonly #costs = new Map<string, number>();

  constructor(workerCount: number) {
    this.#workerCount = workerCount;
  }

  /** Includes a completed job in the average cost of its route. */
  learn({ route, slot, busyMs }: BulkJob): void {
    const cost = busyMs / sizeOf(slot.bodyBytes);
    const previous = this.#costs.get(route) ?? cost;
    this.#costs.set(route, previous + COST_WEIGHT * (cost - previous));
  }

  /**
   * Returns the time until a new job would be done. Accounts share the workers equally, so another account delays the
   * job by no more work than that of the job's account.
   */
  waitMs(job: BulkJob, running: Iterable<BulkJob>): number {
    const byAccount = new Map<unknown, number>();
    for (const current of [...running, job]) {
      byAccount.set(current.account, (byAccount.get(current.account) ?? 0) + this.#remainingMs(current));
    }
    const accountMs = byAccount.get(job.account) ?? 0;
    let sumMs = 0;
    for (const workMs of byAccount.values()) sumMs += Math.min(workMs, accountMs);
    return sumMs / this.#workerCount;
  }

  #remainingMs({ route, slot, busyMs, doneFraction }: BulkJob): number {
    if (doneFraction !== undefined && doneFraction < 1) return (busyMs / doneFraction) * (1 - doneFraction);
    return Math.max(0, (this.#costs.get(route) ?? 0) * sizeOf(slot.bodyBytes) - busyMs);
  }
}

function sizeOf(bodyBytes: number): number {
  return bodyBytes + FIXED_COST_BYTES;
}
