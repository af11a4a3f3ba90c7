import { HttpError } from "../problems/problem.ts";
import type { SliceReport } from "../../pool/poolWorker.ts";
import { BulkJob } from "./bulkJob.ts";
import { ChunkPacer } from "./chunkPacer.ts";
import type { RequestWork } from "./costModel.ts";
import { ADMITTED_SHARE, JobSchedule } from "./jobSchedule.ts";
import { JobTurns } from "./jobTurns.ts";
import { estimateParsedBytes, MemoryBudget, type MemoryShortage } from "./memoryBudget.ts";
import { type HeldResources, noResources, type Slot } from "./slot.ts";

/** Upper bounds on what the host holds at a time. */
export interface LoadLimits {
  /** Requests in progress, over all connections. */
  readonly requestsInProgressMax: number;
  /** Request bodies in memory, in bytes: both those being received and those being processed. */
  readonly totalBodyBytesMax: number;
  /** Responses that clients have not read yet, in bytes. */
  readonly responseBytesMax: number;
  /**
   * Bodies, an estimate of the parsed values, partial results and responses together, in bytes. Further requests are
   * rejected, and so is the response to one in progress if its account would exceed its share.
   */
  readonly memoryBytesMax: number;
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

/** Why a request was rejected: values of the label `reason` of the metric `isotherm_shed_total`. */
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
  | "too_much_memory"
  | "too_much_memory_of_account"
  | "too_long_a_wait"
  | "too_late";

export const DEFAULT_LOAD_LIMITS: LoadLimits = {
  requestsInProgressMax: 2048,
  totalBodyBytesMax: 256 << 20,
  responseBytesMax: 512 << 20,
  memoryBytesMax: 512 << 20,
  accountShare: 0.5,
  jobsMax: 512,
  jobsPerAccountMax: 64,
  jobBytesMax: 512 << 20,
  jobDeadlineMs: 30_000,
};

/** Time between two checks for jobs that will miss their deadline. */
const LATE_CHECK_MS = 250;
/** How long a request waits for memory before its body is read. Short, because its connection and slot are held meanwhile. */
const MEMORY_WAIT_MS = 500;
/** Estimated cost from which a job waits for its turn. */
const LONG_JOB_MS = 100;

/** The memory of a body. */
export interface BodyMemory {
  /** Size of the allocated memory. */
  readonly heldBytes: number;
  /** Bytes received. */
  readonly sizeBytes: number;
  /** Estimated memory of the values among them. */
  readonly valueBytes: number;
}

export interface AdmissionOptions {
  readonly limits: LoadLimits;
  /** Number of worker threads. */
  readonly workerCount: number;
  /** Called for each rejected request. */
  readonly onShed: (reason: ShedReason) => void;
  /** A monotonic clock. */
  readonly nowMs?: () => number;
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
  readonly #memory: MemoryBudget;
  readonly #schedule: JobSchedule;
  readonly #turns = new JobTurns();
  /** Stops the jobs in progress. */
  readonly #stops = new Map<BulkJob, AbortController>();
  readonly #nowMs: () => number;
  #lateCheckedMs = 0;
  #isClosed = false;
  #onIdle: () => void = () => undefined;

  constructor({ limits, workerCount, onShed, nowMs = () => performance.now() }: AdmissionOptions) {
    this.#limits = limits;
    this.#onShed = onShed;
    this.#nowMs = nowMs;
    this.#memory = new MemoryBudget({ limitBytes: limits.memoryBytesMax, accountShare: limits.accountShare });
    this.#schedule = new JobSchedule({ workerCount, nowMs });
  }

  get jobCount(): number {
    return this.#schedule.jobs.size;
  }

  /** Size of the bodies and partial responses of all jobs. */
  get jobBytes(): number {
    let sizeBytes = 0;
    for (const { heldBytes } of this.#schedule.jobs) sizeBytes += heldBytes;
    return sizeBytes;
  }

  /** Takes a slot. The caller must release it. @throws HttpError `overloaded` */
  acquire(): Slot {
    if (this.#total.requestCount >= this.#limits.requestsInProgressMax) {
      throw this.#shed("too_many_requests", "The service has too many requests in progress; retry in a moment.");
    }
    this.#total.requestCount++;
    return { account: undefined, bodyBytes: 0, parsedBytes: 0, responseBytes: 0 };
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
  release({ account, bodyBytes, parsedBytes }: Slot): void {
    this.#memory.add(account, -bodyBytes - parsedBytes);
    this.#total.requestCount--;
    this.#total.bodyBytes -= bodyBytes;
    if (account === undefined) return;
    account.requestCount--;
    account.bodyBytes -= bodyBytes;
  }

  /**
   * Rejects a body that would exceed a limit if it had this size. If there is too little memory, waits briefly for other
   * requests to release theirs.
   * @returns undefined if the body is admitted at once
   * @throws HttpError `overloaded`, `body_too_large` if the request would take more than the share of an account
   */
  admitBody(slot: Slot, sizeBytes: number): Promise<void> | undefined {
    const memoryBytes = sizeBytes + estimateParsedBytes(sizeBytes, 0);
    this.#checkRequestMemory(memoryBytes);
    this.#checkBodyBytes(slot, sizeBytes);
    const isEnough = (): boolean => this.#memoryShortage(slot, memoryBytes) === undefined;
    if (isEnough()) return undefined;
    return this.#memory.waitFor(slot.account, { isEnough, timeMsMax: MEMORY_WAIT_MS }).then(() => {
      this.#checkBodyBytes(slot, sizeBytes);
      this.#checkMemory(slot, memoryBytes);
    });
  }

  #checkBodyBytes(slot: Slot, sizeBytes: number): void {
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

  /** Rejects a request that could never be admitted beside others, even if it is the only one now. */
  #checkRequestMemory(sizeBytes: number): void {
    const limitBytes = this.#memory.accountLimitBytes;
    if (sizeBytes <= limitBytes) return;
    const [size, limit] = [sizeBytes, limitBytes].map((bytes) => (bytes / 2 ** 20).toFixed(1));
    const message = `The body, its values, lists and objects would take at least ${size} MiB of memory by estimate; one account may use ${limit} MiB. Split the request.`;
    throw new HttpError("body_too_large", message);
  }

  #memoryShortage(slot: Slot, sizeBytes: number): MemoryShortage | undefined {
    return this.#memory.shortage(slot.account, sizeBytes, slot.bodyBytes + slot.parsedBytes);
  }

  #checkMemory(slot: Slot, sizeBytes: number): void {
    const shortage = this.#memoryShortage(slot, sizeBytes);
    if (shortage !== undefined) throw this.#outOfMemory(slot, shortage);
  }

  #outOfMemory(slot: Slot, shortage: MemoryShortage): HttpError {
    const waitMs = slot.account === undefined ? 0 : this.#schedule.firstEndMs(slot.account);
    if (shortage === "account") {
      const message = "The account's requests in progress hold too much memory; retry when some have been answered.";
      return this.#shed("too_much_memory_of_account", message, waitMs / 1000);
    }
    const message = "The service has too little memory for the request; retry later.";
    return this.#shed("too_much_memory", message, waitMs / 1000);
  }

  /**
   * Sets the memory that a body holds, and what it will hold when it has been parsed. Bytes that are only announced are
   * not counted.
   * @throws HttpError `overloaded`, `body_too_large` if the request takes more than the share of an account
   */
  setBody(slot: Slot, { heldBytes, sizeBytes, valueBytes }: BodyMemory): void {
    const addedBytes = heldBytes - slot.bodyBytes;
    const parsedBytes = estimateParsedBytes(sizeBytes, valueBytes);
    this.#checkRequestMemory(heldBytes + parsedBytes);
    const addedMemoryBytes = addedBytes + parsedBytes - slot.parsedBytes;
    if (addedBytes > 0) this.#checkBodyBytes(slot, addedBytes);
    if (addedMemoryBytes > 0) this.#checkMemory(slot, addedMemoryBytes);
    this.#memory.add(slot.account, addedMemoryBytes);
    slot.parsedBytes = parsedBytes;
    slot.bodyBytes += addedBytes;
    this.#total.bodyBytes += addedBytes;
    if (slot.account !== undefined) slot.account.bodyBytes += addedBytes;
  }

  /** Counts short chunks of a body. @returns the time to wait before further ones are read */
  shortChunksDelayMs({ account }: Slot, chunkCount: number): number {
    if (account === undefined) return 0;
    account.chunkPacer ??= new ChunkPacer(this.#nowMs);
    return account.chunkPacer.delayMs(chunkCount);
  }

  /**
   * Counts a response that is about to be recorded and written. The body, which is released next, leaves room for it.
   * @throws HttpError `overloaded` if the account would exceed its share of the memory; that of other accounts does not matter
   */
  holdResponse(slot: Slot, sizeBytes: number): void {
    const addedBytes = sizeBytes - slot.bodyBytes - slot.parsedBytes;
    const shortage = addedBytes > 0 ? this.#memoryShortage(slot, addedBytes) : undefined;
    if (shortage === "account") throw this.#outOfMemory(slot, shortage);
    this.#memory.add(slot.account, sizeBytes);
    slot.responseBytes = sizeBytes;
    this.#total.responseBytes += sizeBytes;
    if (slot.account !== undefined) slot.account.responseBytes += sizeBytes;
  }

  /** Stops counting a response, if there is one: after the client has read it or disconnected, or if it is not sent. */
  releaseResponse(slot: Slot): void {
    const { account, responseBytes } = slot;
    slot.responseBytes = 0;
    this.#memory.add(account, -responseBytes);
    this.#total.responseBytes -= responseBytes;
    if (account !== undefined) account.responseBytes -= responseBytes;
  }

  /**
   * Runs a large request as a job, if it is admitted.
   *
   * @param request.work what the request is, as far as it is known before it has been parsed
   * @param request.signal aborts when the client disconnects
   * @param run must end when its signal aborts: after a disconnection, the deadline or an error of its own
   * @throws HttpError `overloaded` if there is too much work or after the deadline; the signal's reason; errors of `run`
   */
  async runJob<Result>(
    { slot, work, signal }: { readonly slot: Slot; readonly work: RequestWork; readonly signal: AbortSignal },
    run: (job: BulkJob, signal: AbortSignal) => Promise<Result>,
  ): Promise<Result> {
    signal.throwIfAborted();
    const job = this.#startJob(slot, work);
    const stop = new AbortController();
    this.#stops.set(job, stop);
    const onDisconnect = (): void => stop.abort(signal.reason);
    signal.addEventListener("abort", onDisconnect, { once: true });
    const deadline = setTimeout(() => stop.abort(this.#jobTimedOut(job)), this.#limits.jobDeadlineMs);
    try {
      const result = await untilAborted(stop.signal, run(job, stop.signal));
      job.learnCost(true);
      return result;
    } catch (error) {
      job.learnCost(false);
      stop.abort(error); // the other parts
      throw error;
    } finally {
      clearTimeout(deadline);
      signal.removeEventListener("abort", onDisconnect);
      this.#endJob(job);
    }
  }

  /** Sets what a running job is, once it has been parsed. @throws HttpError `overloaded` if it would take too long */
  setWork(job: BulkJob, work: RequestWork): void {
    // What has been done so far has been discarded, and says nothing about the cost of the rest.
    this.#changeParts(job, () => job.startParts([]));
    job.setWork(work);
    if (!this.#isAdmissible(job, job.deadlineAtMs - this.#nowMs())) throw this.#tooLongAWait(job);
  }

  /**
   * Waits until a job may begin its work.
   * @returns a function that ends the job's turn
   * @throws the signal's reason; HttpError `overloaded` if the responses to earlier jobs hold too much memory by then
   */
  async takeTurn(job: BulkJob, signal: AbortSignal): Promise<() => void> {
    const endTurn = job.totalMs < LONG_JOB_MS ? () => undefined : await this.#turns.take(job.account, signal);
    try {
      this.#checkMemory(job.slot, 0);
    } catch (error) {
      endTurn();
      throw error;
    }
    return endTurn;
  }

  /** Records a time slice of a part of a job, and stops jobs that will miss their deadline. */
  recordSlice(job: BulkJob, part: number, slice: SliceReport): void {
    this.#changeParts(job, () => job.recordSlice(part, slice));
    const nowMs = this.#nowMs();
    if (nowMs - this.#lateCheckedMs < LATE_CHECK_MS) return;
    this.#lateCheckedMs = nowMs;
    for (const running of this.#schedule.jobs) running.learnCost(false);
    const late = this.jobCount > 1 ? this.#schedule.findLateJob() : undefined;
    if (late !== undefined) this.#stops.get(late)?.abort(this.#jobTimedOut(late));
  }

  /** Divides a job into parts, which replace earlier ones. */
  startParts(job: BulkJob, parts: Parameters<BulkJob["startParts"]>[0]): void {
    this.#changeParts(job, () => job.startParts(parts));
  }

  /** Changes the parts of a job, and counts the change of the memory that they hold until the job ends. */
  #changeParts(job: BulkJob, change: () => void): void {
    const { partBytes } = job;
    change();
    if (this.#stops.has(job)) this.#memory.add(job.account, job.partBytes - partBytes);
  }

  /** Rejects further jobs. Resolves when those in progress have ended. */
  async closeJobs(): Promise<void> {
    this.#isClosed = true;
    if (this.jobCount > 0) await new Promise<void>((resolve) => (this.#onIdle = resolve));
  }

  /** Admits a job. @throws HttpError `overloaded` */
  #startJob(slot: Slot, work: RequestWork): BulkJob {
    const { jobsMax, jobsPerAccountMax, jobBytesMax, jobDeadlineMs } = this.#limits;
    const { account } = slot;
    if (account === undefined) throw new Error("A large request must belong to an account.");
    if (this.#isClosed) throw new HttpError("overloaded", "The service is shutting down; retry in a moment.");
    const queuedSinceMs = this.#schedule.claimAppointment(account);
    const deadlineAtMs = this.#nowMs() + jobDeadlineMs;
    const job = new BulkJob({ slot, account, work, deadlineAtMs, queuedSinceMs });
    const rejected = (reason: ShedReason, message: string): HttpError =>
      this.#shed(reason, message, this.#schedule.retryAfterS(job, 0));
    if (account.jobCount >= jobsPerAccountMax) {
      const message = `The account already has ${account.jobCount} large requests in progress; retry when some have been answered.`;
      throw rejected("too_many_of_account", message);
    }
    if (this.jobCount >= jobsMax) {
      throw rejected("too_many_jobs", "The service has too many large requests in progress; retry in a moment.");
    }
    // A job is always admitted if there is no other, however large it is and however long the estimate.
    if (this.jobCount > 0 && this.jobBytes + job.heldBytes > jobBytesMax) {
      throw rejected("too_many_bytes", "The large requests in progress hold too much memory; retry in a moment.");
    }
    if (!this.#isAdmissible(job, jobDeadlineMs)) throw this.#tooLongAWait(job);
    account.jobCount++;
    this.#schedule.add(job);
    return job;
  }

  /** Returns whether a job will be done within a time, and leaves enough time to those that have been asked to retry. */
  #isAdmissible(job: BulkJob, timeMs: number): boolean {
    const schedule = this.#schedule;
    // A job is always admitted if there is no other, however long the estimate.
    const isInTime = schedule.isAlone(job) || schedule.waitMs(job) <= ADMITTED_SHARE * timeMs;
    return isInTime && schedule.keepsAppointments(job, ADMITTED_SHARE * this.#limits.jobDeadlineMs);
  }

  #endJob(job: BulkJob): void {
    if (!this.#schedule.delete(job)) return;
    this.#stops.delete(job);
    job.account.jobCount--;
    this.#memory.add(job.account, -job.partBytes);
    if (this.jobCount === 0) this.#onIdle();
  }

  #tooLongAWait(job: BulkJob): HttpError {
    const { jobDeadlineMs } = this.#limits;
    const message = `The request would take longer than the limit of ${jobDeadlineMs / 1000} s; retry later.`;
    return this.#shed("too_long_a_wait", message, this.#schedule.retryAfterS(job, jobDeadlineMs));
  }

  /** Returns the error of a job that has exceeded its deadline, or will. */
  #jobTimedOut(job: BulkJob): HttpError {
    const { jobDeadlineMs } = this.#limits;
    const message = `The request was not answered within ${jobDeadlineMs / 1000} s; send a smaller one, or retry later.`;
    // Its place is that of its admission, before all jobs that were rejected since.
    const sinceMs = job.queuedSinceMs ?? job.deadlineAtMs - jobDeadlineMs;
    return this.#shed("too_late", message, this.#schedule.retryAfterS(job, jobDeadlineMs, sinceMs));
  }

  /** @param retryAfterS absent: the default Retry-After */
  #shed(reason: ShedReason, message: string, retryAfterS?: number): HttpError {
    this.#onShed(reason);
    if (retryAfterS === undefined) return new HttpError("overloaded", message);
    return new HttpError("overloaded", message, { "Retry-After": String(Math.max(1, Math.ceil(retryAfterS))) });
  }
}

/** Returns the result of a promise, or rejects with the signal's reason as soon as the signal aborts. */
function untilAborted<Result>(signal: AbortSignal, promise: Promise<Result>): Promise<Result> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason as Error);
    signal.addEventListener("abort", onAbort, { once: true });
    void promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
    if (signal.aborted) onAbort();
  });
}
