import { HttpError } from "../problems/problem.ts";
import type { SliceReport } from "../../pool/poolWorker.ts";
import { BulkJob } from "./bulkJob.ts";
import type { RequestWork } from "./costModel.ts";
import { ADMITTED_SHARE, JobSchedule } from "./jobSchedule.ts";
import { JobTurns } from "./jobTurns.ts";
import type { LoadLimits, Reject, ShedReason } from "./loadLimits.ts";
import type { MemoryBudget, MemoryShortage } from "./memoryBudget.ts";
import type { HeldResources, Slot } from "./slot.ts";

/** Time between two checks for jobs that will miss their deadline. */
const LATE_CHECK_MS = 250;
/** Estimated cost from which a job waits for its turn. */
const LONG_JOB_MS = 100;

export interface JobAdmissionOptions {
  readonly limits: LoadLimits;
  /** Number of worker threads. */
  readonly workerCount: number;
  /** The memory of all requests. */
  readonly memory: MemoryBudget;
  readonly reject: Reject;
  /** A monotonic clock. */
  readonly nowMs: () => number;
}

/** Limits the large requests in progress ("jobs"), and stops those that will be late or hold too much memory. */
export class JobAdmission {
  readonly #limits: LoadLimits;
  readonly #memory: MemoryBudget;
  readonly #reject: Reject;
  readonly #schedule: JobSchedule;
  readonly #turns = new JobTurns();
  /** Stops the jobs in progress. */
  readonly #stops = new Map<BulkJob, AbortController>();
  readonly #nowMs: () => number;
  #lateCheckedMs = 0;
  #isClosed = false;
  #onIdle: () => void = () => undefined;

  constructor({ limits, workerCount, memory, reject, nowMs }: JobAdmissionOptions) {
    this.#limits = limits;
    this.#memory = memory;
    this.#reject = reject;
    this.#nowMs = nowMs;
    this.#schedule = new JobSchedule({ workerCount, nowMs });
  }

  get count(): number {
    return this.#schedule.jobs.size;
  }

  /** Size of the bodies and partial responses of all jobs. */
  get heldBytes(): number {
    let sizeBytes = 0;
    for (const { heldBytes } of this.#schedule.jobs) sizeBytes += heldBytes;
    return sizeBytes;
  }

  /**
   * Runs a large request as a job, if it is admitted.
   *
   * @param request.work the properties that are known before the request has been parsed
   * @param request.signal aborts when the client disconnects
   * @param run must end when its signal aborts: after a disconnection, the deadline or an error of its own
   * @throws HttpError `overloaded` if there is too much work or after the deadline; the signal's reason; errors of `run`
   */
  async run<Result>(
    { slot, work, signal }: { readonly slot: Slot; readonly work: RequestWork; readonly signal: AbortSignal },
    run: (job: BulkJob, signal: AbortSignal) => Promise<Result>,
  ): Promise<Result> {
    signal.throwIfAborted();
    const job = this.#start(slot, work);
    const stop = new AbortController();
    this.#stops.set(job, stop);
    const onDisconnect = (): void => stop.abort(signal.reason);
    signal.addEventListener("abort", onDisconnect, { once: true });
    const deadline = setTimeout(() => stop.abort(this.#timedOut(job)), this.#limits.jobDeadlineMs);
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
      this.#end(job);
    }
  }

  /** Sets the properties of a running job when it has been parsed. @throws HttpError `overloaded` if it would take too long */
  setWork(job: BulkJob, work: RequestWork): void {
    // The work so far has been discarded, so the cost of the rest cannot be extrapolated from it.
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
      const { account, bodyBytes, parsedBytes } = job.slot;
      const shortage = this.#memory.shortage(account, 0, bodyBytes + parsedBytes);
      if (shortage !== undefined) throw this.outOfMemory(account, shortage);
    } catch (error) {
      endTurn();
      throw error;
    }
    return endTurn;
  }

  /**
   * Records a time slice of a part of a job. Stops jobs that will miss their deadline, and jobs of the account if the
   * partial results exceed its share of the memory.
   */
  recordSlice(job: BulkJob, part: number, slice: SliceReport): void {
    this.#changeParts(job, () => job.recordSlice(part, slice));
    const nowMs = this.#nowMs();
    if (nowMs - this.#lateCheckedMs < LATE_CHECK_MS) return;
    this.#lateCheckedMs = nowMs;
    for (const running of this.#schedule.jobs) running.learnCost(false);
    const late = this.count > 1 ? this.#schedule.findLateJob() : undefined;
    if (late !== undefined) this.#stops.get(late)?.abort(this.#timedOut(late));
  }

  /** Divides a job into parts, which replace earlier ones. Stops jobs of the account if their input exceeds its share. */
  startParts(job: BulkJob, parts: Parameters<BulkJob["startParts"]>[0]): void {
    this.#changeParts(job, () => job.startParts(parts));
  }

  /** Records the complete result of a part. Stops jobs of the account as `recordSlice` does. */
  completePart(job: BulkJob, part: number, resultBytes: number): void {
    this.#changeParts(job, () => job.completePart(part, resultBytes));
  }

  /** Counts the response into which partial results are joined. Stops jobs of the account as `recordSlice` does. */
  startJoin(job: BulkJob, sizeBytes: number): void {
    this.#changeParts(job, () => job.startJoin(sizeBytes));
  }

  /** Changes the parts of a job, and counts the change of the memory that they hold until the job ends. */
  #changeParts(job: BulkJob, change: () => void): void {
    const { partBytes } = job;
    change();
    const addedBytes = job.partBytes - partBytes;
    if (!this.#stops.has(job) || addedBytes === 0) return;
    this.#memory.add(job.account, addedBytes);
    if (addedBytes > 0) this.#stopJobsAboveShare(job.account);
  }

  /** Stops the jobs of an account that were admitted last, until what the others hold does not exceed its share. */
  #stopJobsAboveShare(account: HeldResources): void {
    let releasedBytes = 0;
    for (const job of [...this.#schedule.jobs].toReversed()) {
      if (job.account !== account) continue;
      const stop = this.#stops.get(job);
      const heldBytes = job.heldBytes + job.slot.parsedBytes;
      // A job that has been stopped releases its memory when it has ended, which is soon.
      if (stop?.signal.aborted !== true) {
        if (this.#memory.shortage(account, -releasedBytes, releasedBytes + heldBytes) !== "account") return;
        stop?.abort(this.outOfMemory(account, "account"));
      }
      releasedBytes += heldBytes;
    }
  }

  /** Rejects further jobs. Resolves when those in progress have ended. */
  async close(): Promise<void> {
    this.#isClosed = true;
    if (this.count > 0) await new Promise<void>((resolve) => (this.#onIdle = resolve));
  }

  /** Admits a job. @throws HttpError `overloaded` */
  #start(slot: Slot, work: RequestWork): BulkJob {
    const { jobsMax, jobsPerAccountMax, jobBytesMax, jobDeadlineMs } = this.#limits;
    const { account } = slot;
    if (account === undefined) throw new Error("A large request must belong to an account.");
    if (this.#isClosed) throw new HttpError("overloaded", "The service is shutting down; retry in a moment.");
    const queuedSinceMs = this.#schedule.claimAppointment(account);
    const deadlineAtMs = this.#nowMs() + jobDeadlineMs;
    const job = new BulkJob({ slot, account, work, deadlineAtMs, queuedSinceMs });
    const rejected = (reason: ShedReason, message: string): HttpError =>
      this.#reject(reason, message, this.#schedule.retryAfterS(job, 0));
    if (account.jobCount >= jobsPerAccountMax) {
      const message = `The account already has ${account.jobCount} large requests in progress; retry when some have been answered.`;
      throw rejected("too_many_of_account", message);
    }
    if (this.count >= jobsMax) {
      throw rejected("too_many_jobs", "The service has too many large requests in progress; retry in a moment.");
    }
    // A job is always admitted if there is no other, however large it is and however long the estimate.
    if (this.count > 0 && this.heldBytes + job.heldBytes > jobBytesMax) {
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

  #end(job: BulkJob): void {
    if (!this.#schedule.delete(job)) return;
    this.#stops.delete(job);
    job.account.jobCount--;
    this.#memory.add(job.account, -job.partBytes);
    if (this.count === 0) this.#onIdle();
  }

  #tooLongAWait(job: BulkJob): HttpError {
    const { jobDeadlineMs } = this.#limits;
    const message = `The request would take longer than the limit of ${jobDeadlineMs / 1000} s; retry later.`;
    return this.#reject("too_long_a_wait", message, this.#schedule.retryAfterS(job, jobDeadlineMs));
  }

  /** Returns the error of a job that has exceeded its deadline, or will. */
  #timedOut(job: BulkJob): HttpError {
    const { jobDeadlineMs } = this.#limits;
    const message = `The request was not answered within ${jobDeadlineMs / 1000} s; send a smaller one, or retry later.`;
    // Its place is that of its admission, before all jobs that were rejected since.
    const sinceMs = job.queuedSinceMs ?? job.deadlineAtMs - jobDeadlineMs;
    return this.#reject("too_late", message, this.#schedule.retryAfterS(job, jobDeadlineMs, sinceMs));
  }

  /**
   * Rejects a request for which there is too little memory.
   * @returns the error to throw, whose Retry-After is the time until a job releases memory
   */
  outOfMemory(account: HeldResources | undefined, shortage: MemoryShortage): HttpError {
    const waitMs = account === undefined ? 0 : this.#schedule.firstEndMs(account);
    if (shortage === "account") {
      const message = "The account's requests in progress hold too much memory; retry when some have been answered.";
      return this.#reject("too_much_memory_of_account", message, waitMs / 1000);
    }
    const message = "The service has too little memory for the request; retry later.";
    return this.#reject("too_much_memory", message, waitMs / 1000);
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
