/** Large requests, which run as jobs on the worker threads: what they cost, how long they wait, and which are admitted. */
import { Fault } from "../../errors.ts";
import type { SliceReport } from "../../pool/poolWorker.ts";
import type { HeldResources, LoadLimits, MemoryBudget, MemoryShortage, Reject, ShedReason, Slot } from "./resources.ts";

/** The properties of a request that its cost depends on. */
export interface RequestWork {
  /** Requests of one kind have the same ratio of actual to assumed cost. */
  readonly kind: string;
  readonly bodyBytes: number;
  /** Locations of hazard queries. */
  readonly elementCount: number;
  /** Cells of its circles, times the vectors of layers that are read from each. */
  readonly cellVectorCount: number;
  /** Tiles of its circles that are not in memory, times the vectors of layers in each. */
  readonly coldTileVectorCount: number;
}

/** Assumed cost until an account's requests of the kind have been measured, in milliseconds of one worker thread. */
const MS_PER_BODY_BYTE = 3e-5;
const MS_PER_ELEMENT = 0.02;
const MS_PER_CELL_VECTOR = 1e-5;
const MS_PER_COLD_TILE_VECTOR = 0.3;
/** Weight of the latest measurement in the ratio of actual to assumed cost. */
const MEASUREMENT_WEIGHT = 0.5;
/** Without bounds, a request that was answered from memory would make later ones look free. */
const RATIO_MIN = 0.05;
const RATIO_MAX = 50;

/**
 * Returns the cost of a request before the requests of its account have been measured:
 * `3e-5 bodyBytes + 0.02 elementCount + 1e-5 cellVectorCount + 0.3 coldTileVectorCount` ms.
 */
export function assumedCostMs(work: Omit<RequestWork, "kind">): number {
  return (
    MS_PER_BODY_BYTE * work.bodyBytes +
    MS_PER_ELEMENT * work.elementCount +
    MS_PER_CELL_VECTOR * work.cellVectorCount +
    MS_PER_COLD_TILE_VECTOR * work.coldTileVectorCount
  );
}

/** Returns the assumed cost times the account's ratio for the kind. Other accounts have no influence. */
export function estimateCostMs(ratios: ReadonlyMap<string, number>, work: RequestWork): number {
  return assumedCostMs(work) * (ratios.get(work.kind) ?? 1);
}

/** Includes the actual cost of a request in the ratio of its account and kind. */
export function learnCost(ratios: Map<string, number>, work: RequestWork, costMs: number): void {
  const assumedMs = assumedCostMs(work);
  if (assumedMs === 0) return;
  const ratio = Math.min(RATIO_MAX, Math.max(RATIO_MIN, costMs / assumedMs));
  const previous = ratios.get(work.kind) ?? ratio;
  ratios.set(work.kind, previous + MEASUREMENT_WEIGHT * (ratio - previous));
}

/** The part of a job that one worker runs. */
interface JobPart {
  readonly totalCount: number;
  /** Size of the part's copy of its input. */
  readonly payloadBytes: number;
  readonly doneCount: number;
  /** Size of the partial result. */
  readonly partialResultBytes: number;
}

export interface BulkJobOptions {
  readonly slot: Slot;
  readonly account: HeldResources;
  readonly work: RequestWork;
  readonly deadlineAtMs: number;
}

/** Progress from which the cost of the rest follows; earlier, elements in progress would make it look too high. */
const MEASURED_FRACTION_MIN = 0.25;
/** Progress from which the cost is included in that of later jobs. */
const LEARNED_FRACTION_MIN = 0.5;

/** A large request in progress: its cost so far, its progress, and the memory that it holds. */
export class BulkJob {
  readonly slot: Slot;
  readonly account: HeldResources;
  readonly deadlineAtMs: number;
  /** Assumed until the request has been parsed. */
  #work: RequestWork;
  /** Total time of all workers; 0 without workers. */
  #busyMs = 0;
  #parts: JobPart[] = [];
  /** Size of the response into which the partial results are joined; 0 until then. */
  #joinedBytes = 0;

  constructor({ slot, account, work, deadlineAtMs }: BulkJobOptions) {
    this.slot = slot;
    this.account = account;
    this.#work = work;
    this.deadlineAtMs = deadlineAtMs;
  }

  /** Size of its parts, their partial results and the response into which these are joined, without the request's body. */
  get partBytes(): number {
    return this.#parts.reduce(
      (sum, { payloadBytes, partialResultBytes }) => sum + payloadBytes + partialResultBytes,
      this.#joinedBytes,
    );
  }

  /** Size of the request's body, its parts, their partial results and the response. */
  get heldBytes(): number {
    return this.slot.bodyBytes + this.partBytes;
  }

  /** Fraction of the elements that are done, once it is large enough to extrapolate the cost. */
  get doneFraction(): number | undefined {
    const totalCount = this.#parts.reduce((sum, part) => sum + part.totalCount, 0);
    const doneCount = this.#parts.reduce((sum, part) => sum + part.doneCount, 0);
    return doneCount === 0 || doneCount < MEASURED_FRACTION_MIN * totalCount ? undefined : doneCount / totalCount;
  }

  /** Estimated time of all workers for the whole job. */
  get totalMs(): number {
    const { doneFraction } = this;
    if (doneFraction !== undefined) return this.#busyMs / doneFraction;
    return Math.max(this.#busyMs, estimateCostMs(this.account.costRatios, this.#work));
  }

  /** Estimated time of all workers until the job is done. */
  get remainingMs(): number {
    return this.totalMs - this.#busyMs;
  }

  /** Replaces the assumed properties when the request has been parsed. */
  setWork(work: RequestWork): void {
    this.#work = work;
  }

  /** Includes the cost in the average of its account and kind. @param isDone whether the job is complete */
  learnCost(isDone: boolean): void {
    const fraction = isDone ? 1 : this.doneFraction;
    if (fraction !== undefined && fraction >= LEARNED_FRACTION_MIN && this.#busyMs > 0) {
      learnCost(this.account.costRatios, this.#work, this.#busyMs / fraction);
    }
  }

  /** Divides the job into parts. */
  startParts(parts: readonly Pick<JobPart, "totalCount" | "payloadBytes">[]): void {
    this.#parts = parts.map((part) => ({ ...part, doneCount: 0, partialResultBytes: 0 }));
  }

  /** Records a time slice of a part. */
  recordSlice(index: number, { busyMs, progress }: SliceReport): void {
    this.#busyMs += busyMs;
    if (progress === undefined) return;
    this.#parts[index] = { payloadBytes: this.#parts[index]?.payloadBytes ?? 0, ...progress };
  }

  /** Records the complete result of a part, which its last slice does not report. */
  completePart(index: number, resultBytes: number): void {
    const part = this.#parts[index];
    if (part === undefined) throw new Error(`The job has no part ${index}.`);
    this.#parts[index] = { ...part, doneCount: part.totalCount, partialResultBytes: resultBytes };
  }

  /** Begins to join the partial results into a response of this size. */
  startJoin(sizeBytes: number): void {
    this.#joinedBytes = sizeBytes;
  }

  addBusyMs(busyMs: number): void {
    this.#busyMs += busyMs;
  }
}

/** Time between two checks for jobs that will miss their deadline. */
const LATE_CHECK_MS = 250;
/** Estimated cost from which a job waits for its turn. */
const LONG_JOB_MS = 100;
/** A job is admitted if its estimated wait is at most this share of its deadline. */
const ADMITTED_SHARE = 0.9;
const RETRY_AFTER_S_MAX = 3_600;

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
  readonly #workerCount: number;
  /** The jobs in progress in the order of their admission, with what stops them. */
  readonly #jobs = new Map<BulkJob, AbortController>();
  readonly #nowMs: () => number;
  #lateCheckedMs = 0;
  #isClosed = false;
  #onIdle: () => void = () => undefined;

  constructor({ limits, workerCount, memory, reject, nowMs }: JobAdmissionOptions) {
    this.#limits = limits;
    this.#memory = memory;
    this.#reject = reject;
    this.#nowMs = nowMs;
    this.#workerCount = workerCount;
  }

  get count(): number {
    return this.#jobs.size;
  }

  /** Size of the bodies and partial responses of all jobs. */
  get heldBytes(): number {
    let sizeBytes = 0;
    for (const { heldBytes } of this.#jobs.keys()) sizeBytes += heldBytes;
    return sizeBytes;
  }

  /**
   * Runs a large request as a job, if it is admitted.
   *
   * @param request.work the properties that are known before the request has been parsed
   * @param request.signal aborts when the client disconnects
   * @param run must end when its signal aborts: after a disconnection, the deadline or an error of its own
   * @throws Fault `overloaded` if there is too much work or after the deadline; the signal's reason; errors of `run`
   */
  async run<Result>(
    { slot, work, signal }: { readonly slot: Slot; readonly work: RequestWork; readonly signal: AbortSignal },
    run: (job: BulkJob, signal: AbortSignal) => Promise<Result>,
  ): Promise<Result> {
    signal.throwIfAborted();
    const job = this.#admit(slot, work);
    const stop = new AbortController();
    this.#jobs.set(job, stop);
    job.account.jobCount++;
    const onDisconnect = (): void => stop.abort(signal.reason);
    signal.addEventListener("abort", onDisconnect, { once: true });
    const deadline = setTimeout(() => stop.abort(this.#timedOut()), this.#limits.jobDeadlineMs);
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

  /** Sets the properties of a running job when it has been parsed. @throws Fault `overloaded` if it would take too long */
  setWork(job: BulkJob, work: RequestWork): void {
    // The work so far has been discarded, so the cost of the rest cannot be extrapolated from it.
    this.#changeParts(job, () => job.startParts([]));
    job.setWork(work);
    if (!this.#isAdmissible(job, job.deadlineAtMs - this.#nowMs())) throw this.#tooLongAWait();
  }

  /**
   * Waits until a job may begin its work.
   * @returns a function that ends the job's turn
   * @throws the signal's reason; `overloaded` if the responses to earlier jobs hold too much memory by then
   */
  async takeTurn(job: BulkJob, signal: AbortSignal): Promise<() => void> {
    const endTurn = job.totalMs < LONG_JOB_MS ? () => undefined : await job.account.longJobs.take("", signal);
    try {
      const { account, bodyBytes, parsedBytes } = job.slot;
      const shortage = this.#memory.shortage(account, 0, bodyBytes + parsedBytes);
      if (shortage !== undefined) throw this.outOfMemory(shortage);
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
    for (const running of this.#jobs.keys()) running.learnCost(false);
    const late = this.count > 1 ? this.#findLateJob() : undefined;
    if (late !== undefined) this.#jobs.get(late)?.abort(this.#timedOut());
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
    if (!this.#jobs.has(job) || addedBytes === 0) return;
    this.#memory.add(job.account, addedBytes);
    if (addedBytes > 0) this.#stopJobsAboveShare(job.account);
  }

  /** Stops the jobs of an account that were admitted last, until what the others hold does not exceed its share. */
  #stopJobsAboveShare(account: HeldResources): void {
    let releasedBytes = 0;
    for (const [job, stop] of [...this.#jobs].toReversed()) {
      if (job.account !== account) continue;
      const heldBytes = job.heldBytes + job.slot.parsedBytes;
      // A job that has been stopped releases its memory when it has ended, which is soon.
      if (!stop.signal.aborted) {
        if (this.#memory.shortage(account, -releasedBytes, releasedBytes + heldBytes) !== "account") return;
        stop.abort(this.outOfMemory("account"));
      }
      releasedBytes += heldBytes;
    }
  }

  /** Rejects further jobs. Resolves when those in progress have ended. */
  async close(): Promise<void> {
    this.#isClosed = true;
    if (this.count > 0) await new Promise<void>((resolve) => (this.#onIdle = resolve));
  }

  /** Returns a job that may begin. @throws Fault `overloaded` */
  #admit(slot: Slot, work: RequestWork): BulkJob {
    const { jobsMax, jobsPerAccountMax, jobBytesMax, jobDeadlineMs } = this.#limits;
    const { account } = slot;
    if (this.#isClosed) throw new Fault("overloaded", "The service is shutting down; retry in a moment.");
    const job = new BulkJob({ slot, account, work, deadlineAtMs: this.#nowMs() + jobDeadlineMs });
    if (account.jobCount >= jobsPerAccountMax) {
      const message = `The account already has ${account.jobCount} large requests in progress; retry when some have been answered.`;
      throw this.#rejected("too_many_of_account", message);
    }
    if (this.count >= jobsMax) {
      throw this.#rejected("too_many_jobs", "The service has too many large requests in progress; retry in a moment.");
    }
    // A job is always admitted if there is no other, however large it is and however long the estimate.
    if (this.count > 0 && this.heldBytes + job.heldBytes > jobBytesMax) {
      throw this.#rejected("too_many_bytes", "The large requests in progress hold too much memory; retry in a moment.");
    }
    if (!this.#isAdmissible(job, jobDeadlineMs)) throw this.#tooLongAWait();
    return job;
  }

  /** Returns whether a job will be done within a time. It always is if there is no other, however long the estimate. */
  #isAdmissible(job: BulkJob, timeMs: number): boolean {
    const isAlone = this.count === (this.#jobs.has(job) ? 1 : 0);
    return isAlone || this.#waitMs(job) <= ADMITTED_SHARE * timeMs;
  }

  /**
   * Returns the time until a job is done, or would be if it were admitted now. Accounts share the workers equally and an
   * account's jobs run one after the other, so another account delays a job by no more work than that of its own account:
   *
   *     wait = sum over accounts of min(work of the account, work of the job's account up to the job) / workers
   */
  #waitMs(job: BulkJob): number {
    const workOf = this.#workOfAccounts();
    const ownMs = this.#jobs.has(job) ? 0 : job.totalMs;
    return this.#waitAfter(workOf, job.account, (workOf.get(job.account) ?? 0) + ownMs);
  }

  #waitAfter(workOf: ReadonlyMap<HeldResources, number>, account: HeldResources, accountMs: number): number {
    let sumMs = accountMs;
    for (const [other, workMs] of workOf) if (other !== account) sumMs += Math.min(workMs, accountMs);
    return sumMs / this.#workerCount;
  }

  /** Returns the remaining work of the jobs of each account. */
  #workOfAccounts(): ReadonlyMap<HeldResources, number> {
    const workOf = new Map<HeldResources, number>();
    for (const { account, remainingMs } of this.#jobs.keys()) {
      workOf.set(account, (workOf.get(account) ?? 0) + remainingMs);
    }
    return workOf;
  }

  /** Returns the job that was admitted last among those that will miss their deadline. */
  #findLateJob(): BulkJob | undefined {
    const workOf = this.#workOfAccounts();
    const upTo = new Map<HeldResources, number>();
    const nowMs = this.#nowMs();
    let late: BulkJob | undefined;
    for (const job of this.#jobs.keys()) {
      const workMs = (upTo.get(job.account) ?? 0) + job.remainingMs;
      upTo.set(job.account, workMs);
      if (nowMs + this.#waitAfter(workOf, job.account, workMs) > job.deadlineAtMs) late = job;
    }
    return late;
  }

  /**
   * Returns the error of a job that is not run. Its Retry-After is the work of all jobs divided by the rate at which it
   * is done, 1 to 3,600 s.
   */
  #rejected(reason: ShedReason, message: string): Fault {
    let queuedMs = 0;
    for (const { remainingMs } of this.#jobs.keys()) queuedMs += remainingMs;
    return this.#reject(reason, message, Math.min(RETRY_AFTER_S_MAX, queuedMs / 1000 / this.#workerCount));
  }

  #end(job: BulkJob): void {
    this.#jobs.delete(job);
    job.account.jobCount--;
    this.#memory.add(job.account, -job.partBytes);
    if (this.count === 0) this.#onIdle();
  }

  #tooLongAWait(): Fault {
    const message = `The request would take longer than the limit of ${this.#limits.jobDeadlineMs / 1000} s; retry later.`;
    return this.#rejected("too_long_a_wait", message);
  }

  /** Returns the error of a job that has exceeded its deadline, or will. */
  #timedOut(): Fault {
    const { jobDeadlineMs } = this.#limits;
    const message = `The request was not answered within ${jobDeadlineMs / 1000} s; send a smaller one, or retry later.`;
    return this.#rejected("too_late", message);
  }

  /** Rejects a request for which there is too little memory. @returns the error to throw */
  outOfMemory(shortage: MemoryShortage): Fault {
    return shortage === "account"
      ? this.#rejected(
          "too_much_memory_of_account",
          "The account's requests in progress hold too much memory; retry when some have been answered.",
        )
      : this.#rejected("too_much_memory", "The service has too little memory for the request; retry later.");
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
