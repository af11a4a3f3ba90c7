import type { SliceReport } from "../../pool/poolWorker.ts";
import { estimateCostMs, estimateUnparsedMs, learnCost, learnUnparsedCost, type RequestWork } from "./costModel.ts";
import type { HeldResources, Slot } from "./slot.ts";

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
  /** When it was rejected for the first time, if its client was asked to retry at this time. */
  readonly queuedSinceMs: number | undefined;
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
  readonly queuedSinceMs: number | undefined;
  /** Properties that were known before the request was parsed. */
  readonly #unparsedWork: RequestWork;
  #work: RequestWork;
  /** Total time of all workers; 0 without workers. */
  #busyMs = 0;
  #parts: JobPart[] = [];
  /** Size of the response into which the partial results are joined; 0 until then. */
  #joinedBytes = 0;

  constructor({ slot, account, work, deadlineAtMs, queuedSinceMs }: BulkJobOptions) {
    this.slot = slot;
    this.account = account;
    this.#unparsedWork = work;
    this.#work = work;
    this.deadlineAtMs = deadlineAtMs;
    this.queuedSinceMs = queuedSinceMs;
  }

  get busyMs(): number {
    return this.#busyMs;
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

  /** As `totalMs`, but a job that has not been parsed is assumed to be like the account's earlier ones. */
  get likelyMs(): number {
    const { totalMs } = this;
    if (this.#work !== this.#unparsedWork) return totalMs;
    return Math.max(totalMs, estimateUnparsedMs(this.account.unparsedCosts, this.#work));
  }

  /** Replaces the assumed properties when the request has been parsed. */
  setWork(work: RequestWork): void {
    this.#work = work;
    learnUnparsedCost(this.account.unparsedCosts, this.#unparsedWork, this.totalMs);
  }

  /** Includes the cost in the average of its account and kind. @param isDone whether the job is complete */
  learnCost(isDone: boolean): void {
    const fraction = isDone ? 1 : this.doneFraction;
    if (fraction !== undefined && fraction >= LEARNED_FRACTION_MIN && this.#busyMs > 0) {
      learnCost(this.account.costRatios, this.#work, this.#busyMs / fraction);
    }
    if (isDone) learnUnparsedCost(this.account.unparsedCosts, this.#unparsedWork, this.#busyMs);
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
