import { HttpError } from "../problems/problem.ts";
import { BulkJob } from "./bulkJob.ts";
import { type HeldResources, noResources, type Slot } from "./slot.ts";
import { WaitEstimate } from "./waitEstimate.ts";

/** Upper bounds on what the host holds at a time. */
export interface LoadLimits {
  /** Requests in progress, over all connections. */
  readonly requestsInProgressMax: number;
  /** Request bodies in memory, in bytes: both those being received and those being processed. */
  readonly totalBodyBytesMax: number;
  /** Responses that clients have not read yet, in bytes. */
  readonly responseBytesMax: number;
  /** Largest share of the limits above that one account may use, in (0, 1]. */
  readonly accountShare: number;
  /** Large requests in progress, which run on the worker threads if there are any. */
  readonly jobsMax: number;
  readonly jobsPerAccountMax: number;
  /** Bodies and partial responses of the large requests, in bytes. */
  readonly jobBytesMax: number;
  /** Time in which a large request must be answered; at most the timeout `workTimeoutMs`. */
  readonly jobDeadlineMs: number;
}

/** Why a request was rejected; a label of the metric `isotherm_shed_total`. */
export type ShedReason =
  | "too_many_requests"
  | "too_many_requests_of_account"
  | "too_many_bodies"
  | "too_many_bodies_of_account"
  | "too_many_answers_unread"
  | "too_many_answers_unread_of_account"
  | "too_many_jobs"
  | "too_many_of_account"
  | "too_many_bytes"
  | "too_long_a_wait"
  | "too_late";

export const DEFAULT_LOAD_LIMITS: LoadLimits = {
  requestsInProgressMax: 2048,
  totalBodyBytesMax: 256 << 20,
  responseBytesMax: 512 << 20,
  accountShare: 0.5,
  jobsMax: 512,
  jobsPerAccountMax: 64,
  jobBytesMax: 512 << 20,
  jobDeadlineMs: 30_000,
};

const RETRY_AFTER_S_MAX = 30;

export interface AdmissionOptions {
  readonly limits: LoadLimits;
  /** Number of worker threads. */
  readonly workerCount: number;
  /** Called for each rejected request. */
  readonly onShed: (reason: ShedReason) => void;
}

/**
 * Limits the requests in progress, the large ones among them ("jobs"), and the memory that they hold. Rejects further
 * requests before it does any work for them.
 */
export class AdmissionControl {
  readonly #limits: LoadLimits;
  readonly #onShed: (reason: ShedReason) => void;
  readonly #total = noResources();
  /** Resources by account id. Their number is that of the accounts at most, because only authenticated requests are assigned. */
  readonly #accounts = new Map<string, HeldResources>();
  readonly #jobs = new Set<BulkJob>();
  readonly #estimate: WaitEstimate;
  #isClosed = false;
  #onIdle: () => void = () => undefined;

  constructor({ limits, workerCount, onShed }: AdmissionOptions) {
    this.#limits = limits;
    this.#onShed = onShed;
    this.#estimate = new WaitEstimate(workerCount);
  }

  get jobCount(): number {
    return this.#jobs.size;
  }

  /** Size of the bodies and partial responses of all jobs. */
  get jobBytes(): number {
    let sizeBytes = 0;
    for (const { heldBytes } of this.#jobs) sizeBytes += heldBytes;
    return sizeBytes;
  }

  /** Takes a slot. The caller must release it. @throws HttpError `overloaded` */
  acquire(): Slot {
    if (this.#total.requestCount >= this.#limits.requestsInProgressMax) {
      throw this.#shed("too_many_requests", "The service has too many requests in progress; retry in a moment.");
    }
    this.#total.requestCount++;
    return { account: undefined, bodyBytes: 0, responseBytes: 0 };
  }

  /** Counts a slot toward its account. @throws HttpError `overloaded` */
  assignAccount(slot: Slot, accountId: string): void {
    const { requestsInProgressMax, responseBytesMax, accountShare } = this.#limits;
    let account = this.#accounts.get(accountId);
    if (account === undefined) {
      account = noResources();
      this.#accounts.set(accountId, account);
    }
    if (account.requestCount >= Math.max(1, requestsInProgressMax * accountShare)) {
      const message = `The account already has ${account.requestCount} requests in progress; retry when some have been answered.`;
      throw this.#shed("too_many_requests_of_account", message);
    }
    if (account.responseBytes >= responseBytesMax * accountShare) {
      const message = `The account has ${account.responseBytes >> 20} MiB of unread responses; read them first.`;
      throw this.#shed("too_many_answers_unread_of_account", message);
    }
    if (this.#total.responseBytes >= responseBytesMax) {
      const message = "The service holds too many unread responses; retry in a moment.";
      throw this.#shed("too_many_answers_unread", message);
    }
    account.requestCount++;
    slot.account = account;
  }

  /** Releases a slot and its body, but not its response (see `releaseResponse`). */
  release({ account, bodyBytes }: Slot): void {
    this.#total.requestCount--;
    this.#total.bodyBytes -= bodyBytes;
    if (account === undefined) return;
    account.requestCount--;
    account.bodyBytes -= bodyBytes;
  }

  /** Rejects a body that would exceed a limit. @throws HttpError `overloaded` */
  checkBody(slot: Slot, sizeBytes: number): void {
    const { totalBodyBytesMax, accountShare } = this.#limits;
    // A body is always accepted if no other body is held, even if it alone exceeds the limit.
    const exceeds = (held: HeldResources | undefined, max: number): boolean =>
      held !== undefined && held.bodyBytes > slot.bodyBytes && held.bodyBytes + sizeBytes > max;
    if (exceeds(slot.account, totalBodyBytesMax * accountShare)) {
      const message = "The account sends too many request bodies at once; retry when some requests have been answered.";
      throw this.#shed("too_many_bodies_of_account", message);
    }
    if (exceeds(this.#total, totalBodyBytesMax)) {
      throw this.#shed("too_many_bodies", "The service is reading too many request bodies; retry in a moment.");
    }
  }

  /** Sets the memory that a body holds; bytes that are only announced are not counted. @throws HttpError `overloaded` */
  setBodyBytes(slot: Slot, heldBytes: number): void {
    const addedBytes = heldBytes - slot.bodyBytes;
    if (addedBytes > 0) this.checkBody(slot, addedBytes);
    slot.bodyBytes += addedBytes;
    this.#total.bodyBytes += addedBytes;
    if (slot.account !== undefined) slot.account.bodyBytes += addedBytes;
  }

  /** Counts a response that is about to be written. */
  holdResponse(slot: Slot, sizeBytes: number): void {
    slot.responseBytes = sizeBytes;
    this.#total.responseBytes += sizeBytes;
    if (slot.account !== undefined) slot.account.responseBytes += sizeBytes;
  }

  /** Stops counting a response, after the client has read it or disconnected. */
  releaseResponse({ account, responseBytes }: Slot): void {
    this.#total.responseBytes -= responseBytes;
    if (account !== undefined) account.responseBytes -= responseBytes;
  }

  /**
   * Runs a large request as a job, if it is admitted.
   *
   * @param request.route path template of the route
   * @param request.signal aborts when the client disconnects
   * @param work must end when its signal aborts: after a disconnection, the deadline or an error of its own
   * @throws HttpError `overloaded` if there is too much work or after the deadline; the signal's reason; errors of `work`
   */
  async runJob<Result>(
    { slot, route, signal }: { readonly slot: Slot; readonly route: string; readonly signal: AbortSignal },
    work: (job: BulkJob, signal: AbortSignal) => Promise<Result>,
  ): Promise<Result> {
    signal.throwIfAborted();
    const job = this.#startJob(slot, route);
    const stop = new AbortController();
    const onDisconnect = (): void => stop.abort(signal.reason);
    signal.addEventListener("abort", onDisconnect, { once: true });
    const deadline = setTimeout(() => stop.abort(this.#jobTimedOut()), this.#limits.jobDeadlineMs);
    try {
      const result = await work(job, stop.signal);
      this.#estimate.learn(job);
      return result;
    } catch (error) {
      stop.abort(error); // the other parts
      throw error;
    } finally {
      clearTimeout(deadline);
      signal.removeEventListener("abort", onDisconnect);
      this.#endJob(job);
    }
  }

  /** Rejects further jobs. Resolves when those in progress have ended. */
  async closeJobs(): Promise<void> {
    this.#isClosed = true;
    if (this.#jobs.size > 0) await new Promise<void>((resolve) => (this.#onIdle = resolve));
  }

  /** Admits a job. @throws HttpError `overloaded` */
  #startJob(slot: Slot, route: string): BulkJob {
    const { jobsMax, jobsPerAccountMax, jobBytesMax, jobDeadlineMs } = this.#limits;
    const { account } = slot;
    if (account === undefined) throw new Error("A large request must belong to an account.");
    if (this.#isClosed) throw new HttpError("overloaded", "The service is shutting down; retry in a moment.");
    const job = new BulkJob(slot, account, route);
    const waitMs = this.#estimate.waitMs(job, this.#jobs);
    if (account.jobCount >= jobsPerAccountMax) {
      const message = `The account already has ${account.jobCount} large requests in progress; retry when some have been answered.`;
      throw this.#shed("too_many_of_account", message, waitMs);
    }
    if (this.jobCount >= jobsMax) {
      const message = "The service has too many large requests in progress; retry in a moment.";
      throw this.#shed("too_many_jobs", message, waitMs);
    }
    // A job is always admitted if there is no other, however large it is and however long the estimate.
    if (this.jobCount > 0 && this.jobBytes + job.heldBytes > jobBytesMax) {
      const message = "The large requests in progress hold too much memory; retry in a moment.";
      throw this.#shed("too_many_bytes", message, waitMs);
    }
    if (this.jobCount > 0 && waitMs > jobDeadlineMs) {
      const message = `The request would take longer than the limit of ${jobDeadlineMs / 1000} s; retry later.`;
      throw this.#shed("too_long_a_wait", message, waitMs - jobDeadlineMs);
    }
    account.jobCount++;
    this.#jobs.add(job);
    return job;
  }

  #endJob(job: BulkJob): void {
    if (!this.#jobs.delete(job)) return;
    job.account.jobCount--;
    if (this.#jobs.size === 0) this.#onIdle();
  }

  /** Returns the error of a job that has exceeded its deadline. */
  #jobTimedOut(): HttpError {
    const { jobDeadlineMs } = this.#limits;
    const message = `The request was not answered within ${jobDeadlineMs / 1000} s; send a smaller one, or retry later.`;
    return this.#shed("too_late", message, 0);
  }

  /** @param waitMs estimated time until a retry is admitted; absent: the default Retry-After */
  #shed(reason: ShedReason, message: string, waitMs?: number): HttpError {
    this.#onShed(reason);
    if (waitMs === undefined) return new HttpError("overloaded", message);
    const retryAfterS = Math.min(RETRY_AFTER_S_MAX, Math.max(1, Math.ceil(waitMs / 1000)));
    return new HttpError("overloaded", message, { "Retry-After": String(retryAfterS) });
  }
}
