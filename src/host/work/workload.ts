import { Refusal } from "../problems/problem.ts";
import type { Caller } from "../routes/route.ts";
import type { Share } from "./tasks.ts";

/** A request that is to be answered beside the event loop. */
export interface Job {
  /** The route's template. */
  readonly route: string;
  /** What follows the question mark, still percent-encoded. */
  readonly queryText: string;
  readonly path: Readonly<Record<string, string>>;
  /** Handed over: empty here afterwards. */
  readonly body?: Uint8Array;
  /** What is asked, where it is about one place: it goes to the worker that keeps the place's tiles. */
  readonly place?: unknown;
  readonly caller: Caller;
  readonly requestId: string;
  /** Aborts when the client has gone. */
  readonly signal: AbortSignal;
}

/** Why work was refused, or given up. */
export type ShedReason = "too_many_jobs" | "too_many_of_account" | "too_many_bytes" | "too_long_a_wait" | "too_late";

/** How much may be in work at a time. */
export interface WorkLimits {
  readonly jobCountMax: number;
  /** Of one account, so that nobody takes all the places. */
  readonly accountJobCountMax: number;
  readonly heldBytesMax: number;
  /** From the moment a job is taken on until it is answered. */
  readonly deadlineMs: number;
}

export const DEFAULT_WORK_LIMITS: WorkLimits = {
  jobCountMax: 512,
  accountJobCountMax: 64,
  heldBytesMax: 512 << 20,
  deadlineMs: 30_000,
};

const RETRY_AFTER_S_MAX = 30;
/** What the newest job counts in what is remembered of a route's cost. */
const COST_WEIGHT = 0.25;
/** A request costs what so many bytes of its body do, before the first. */
const OWN_BYTES = 16_384;

/** A job under way. */
export interface Running {
  readonly job: Job;
  readonly bodyBytes: number;
  readonly stop: AbortController;
  /** Of workers, all together. */
  spentMs: number;
  /** Known once the request has been read. */
  shares?: readonly ShareState[];
}

/** How far a worker has come with its share. */
export interface ShareState {
  readonly share: Share;
  isSent: boolean;
  leftCount: number;
  /** Of the answers that it has made. */
  sizeBytes: number;
}

/** What the workers have to do, and whether they can take on more. */
export class Workload {
  readonly #workerCount: number;
  readonly #limits: WorkLimits;
  readonly #onShed: (reason: ShedReason) => void;
  readonly #running = new Set<Running>();
  /** Of each route, milliseconds of a worker for a byte, see `sizeOf`. */
  readonly #costs = new Map<string, number>();

  /** @param options `onShed` is told of each refusal */
  constructor(options: {
    readonly workerCount: number;
    readonly limits: WorkLimits;
    readonly onShed: (reason: ShedReason) => void;
  }) {
    this.#workerCount = options.workerCount;
    this.#limits = options.limits;
    this.#onShed = options.onShed;
  }

  get jobCount(): number {
    return this.#running.size;
  }

  /** Of bodies that are being worked on and of answers that are growing. */
  get heldBytes(): number {
    let heldBytes = 0;
    for (const running of this.#running) heldBytes += heldBytesOf(running);
    return heldBytes;
  }

  leave(running: Running): void {
    this.#running.delete(running);
  }

  /** Takes a job on. @throws Refusal `overloaded` where there is too much to do already */
  admit(running: Running): void {
    const { jobCountMax, accountJobCountMax, heldBytesMax, deadlineMs } = this.#limits;
    const { accountId } = running.job.caller;
    const { jobCount, heldBytes } = this;
    const ofAccount = [...this.#running].filter(({ job }) => job.caller.accountId === accountId).length;
    const waitMs = this.#waitMs(running);
    if (ofAccount >= accountJobCountMax) {
      const message = `The account has ${ofAccount} requests in work already; ask again when some are answered.`;
      throw this.#shed("too_many_of_account", message, waitMs);
    }
    if (jobCount >= jobCountMax) {
      throw this.#shed("too_many_jobs", "The service has too much in work; ask again in a moment.", waitMs);
    }
    if (jobCount > 0 && heldBytes + running.bodyBytes > heldBytesMax) {
      throw this.#shed("too_many_bytes", "The service holds too much in memory; ask again in a moment.", waitMs);
    }
    // An estimate: what nobody else stands in the way of is tried.
    if (jobCount > 0 && waitMs > deadlineMs) {
      const message = `This would take longer than the ${deadlineMs / 1000} s that there are for it; ask again later.`;
      throw this.#shed("too_long_a_wait", message, waitMs - deadlineMs);
    }
    this.#running.add(running);
  }

  /**
   * When a new job would be done: its account's work takes turns with that of the others, of whom none takes more turns
   * than it needs.
   */
  #waitMs(running: Running): number {
    const byAccount = new Map<string, number>();
    for (const each of [...this.#running, running]) {
      const { accountId } = each.job.caller;
      byAccount.set(accountId, (byAccount.get(accountId) ?? 0) + this.#remainingMs(each));
    }
    const ownMs = byAccount.get(running.job.caller.accountId) ?? 0;
    let sumMs = 0;
    for (const workMs of byAccount.values()) sumMs += Math.min(workMs, ownMs);
    return sumMs / this.#workerCount;
  }

  /** What is still to be done for a job, by what has been done for it, or else for others at its route. */
  #remainingMs({ job, bodyBytes, spentMs, shares }: Running): number {
    const count = shares?.reduce((sum, { share }) => sum + share.positions.length, 0) ?? 0;
    const leftCount = shares?.reduce((sum, state) => sum + state.leftCount, 0) ?? 0;
    if (leftCount < count) return (spentMs / (count - leftCount)) * leftCount;
    return Math.max(0, (this.#costs.get(job.route) ?? 0) * sizeOf(bodyBytes) - spentMs);
  }

  /** Remembers what a job has cost. */
  learn({ job: { route }, bodyBytes, spentMs }: Running): void {
    const cost = spentMs / sizeOf(bodyBytes);
    const before = this.#costs.get(route) ?? cost;
    this.#costs.set(route, before + COST_WEIGHT * (cost - before));
  }

  /** Of a job whose time is over. */
  tooLate(): Refusal {
    const { deadlineMs } = this.#limits;
    const message = `This could not be answered within ${deadlineMs / 1000} s; ask for less at once, or again later.`;
    return this.#shed("too_late", message, 0);
  }

  #shed(reason: ShedReason, message: string, waitMs: number): Refusal {
    this.#onShed(reason);
    const retryAfterS = Math.min(RETRY_AFTER_S_MAX, Math.max(1, Math.ceil(waitMs / 1000)));
    return new Refusal("overloaded", message, { "Retry-After": String(retryAfterS) });
  }
}

/**
 * What a route's cost is counted by. Part of what a request costs is the same however little it asks; without it, short
 * ones would make long ones look as if they took forever.
 */
function sizeOf(bodyBytes: number): number {
  return bodyBytes + OWN_BYTES;
}

function heldBytesOf({ bodyBytes, shares }: Running): number {
  return shares?.reduce((sum, { share, sizeBytes }) => sum + share.bytes.length + sizeBytes, 0) ?? bodyBytes;
}
