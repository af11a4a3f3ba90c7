/** What requests hold, and how much of it there is. */
import { Turns } from "../../concurrency/turns.ts";
import type { Fault } from "../../errors.ts";

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
   * rejected, and so is the response to one in progress if its account would exceed its share. A body that alone exceeds this
   * share is too large.
   */
  readonly memoryBytesMax: number;
  /** Largest share of the limits above that one account may use, in (0, 1]. */
  readonly accountShare: number;
  /** Streamed responses, such as CSV reports, that one account is being sent. */
  readonly streamsPerAccountMax: number;
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
  | "too_many_streams_of_account"
  | "too_many_tiles_of_account"
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
  streamsPerAccountMax: 8,
  jobsMax: 512,
  jobsPerAccountMax: 64,
  jobBytesMax: 512 << 20,
  jobDeadlineMs: 30_000,
};

/**
 * Counts a rejection.
 * @param retryAfterS absent: the default Retry-After
 * @returns the error `overloaded` to throw
 */
export type Reject = (reason: ShedReason, message: string, retryAfterS?: number) => Fault;

/** Memory held by one account; part of its resources. */
export interface MemoryHolder {
  memoryBytes: number;
}

/** Why memory was refused: the share of the account, or the total. */
export type MemoryShortage = "account" | "total";

/** Memory of the text and the strings of a parsed body, in multiples of its size. */
const TEXT_BYTES_PER_BYTE = 2;

/** Default of the largest request body. */
export const DEFAULT_BODY_BYTES_MAX = 8 << 20;
/** Requests that may wait for memory; further ones do not wait. */
const WAITING_COUNT_MAX = 64;
/** Requests of one account that may wait for memory. */
const WAITING_PER_HOLDER_MAX = 8;

interface Waiter {
  readonly holder: MemoryHolder | undefined;
  /** Ends the wait if there is enough memory now. @returns whether there is */
  onRelease(): boolean;
}

/**
 * Estimates the memory that parsing a body takes in addition to the body: `2 * sizeBytes + valueBytes`.
 * @param valueBytes estimated memory of its values
 */
export function estimateParsedBytes(sizeBytes: number, valueBytes: number): number {
  return TEXT_BYTES_PER_BYTE * sizeBytes + valueBytes;
}

/** Returns what a body and its text take if it contains few values: the least that a body of this size takes. */
export function plainBodyMemoryBytes(sizeBytes: number): number {
  return sizeBytes + estimateParsedBytes(sizeBytes, 0);
}

/**
 * The memory that requests may hold together: bodies, parsed values, partial results and responses. One account may hold
 * a share of it.
 */
export class MemoryBudget {
  readonly #limitBytes: number;
  readonly #accountShare: number;
  #heldBytes = 0;
  /** Requests that wait for memory, in the order of their arrival. */
  readonly #waiting = new Set<Waiter>();

  constructor({ limitBytes, accountShare }: { readonly limitBytes: number; readonly accountShare: number }) {
    this.#limitBytes = limitBytes;
    this.#accountShare = accountShare;
  }

  get heldBytes(): number {
    return this.#heldBytes;
  }

  /** What one account, and therefore one request, may hold. */
  get accountLimitBytes(): number {
    return this.#limitBytes * this.#accountShare;
  }

  /**
   * Returns which limit `sizeBytes` more would exceed.
   * @param ownBytes what the request already holds; a request that is the only one to hold memory is never refused
   */
  shortage(holder: MemoryHolder | undefined, sizeBytes: number, ownBytes: number): MemoryShortage | undefined {
    const exceeds = (heldBytes: number, limitBytes: number): boolean =>
      heldBytes > ownBytes && heldBytes + sizeBytes > limitBytes;
    if (holder !== undefined && exceeds(holder.memoryBytes, this.accountLimitBytes)) return "account";
    return exceeds(this.#heldBytes, this.#limitBytes) ? "total" : undefined;
  }

  /** Counts memory, or releases it if `sizeBytes` is negative. */
  add(holder: MemoryHolder | undefined, sizeBytes: number): void {
    this.#heldBytes += sizeBytes;
    if (holder !== undefined) holder.memoryBytes += sizeBytes;
    if (sizeBytes >= 0) return;
    for (const waiter of this.#waiting) if (waiter.onRelease()) break;
  }

  /**
   * Waits until there is memory, or for a time at most. Released memory is offered to the request that has waited longest
   * among those for which there is enough: the shares of their accounts differ.
   * @param isEnough whether there is memory now
   */
  async waitFor(
    holder: MemoryHolder | undefined,
    { isEnough, timeMsMax }: { readonly isEnough: () => boolean; readonly timeMsMax: number },
  ): Promise<void> {
    if (isEnough() || this.#waiting.size >= WAITING_COUNT_MAX) return;
    let ownCount = 0;
    for (const waiter of this.#waiting) if (waiter.holder === holder) ownCount++;
    if (ownCount >= WAITING_PER_HOLDER_MAX) return;
    await new Promise<void>((resolve) => {
      const finish = (): void => {
        clearTimeout(timer);
        this.#waiting.delete(waiter);
        resolve();
      };
      const waiter: Waiter = {
        holder,
        onRelease: () => {
          const isReleased = isEnough();
          if (isReleased) finish();
          return isReleased;
        },
      };
      const timer = setTimeout(finish, timeMsMax);
      this.#waiting.add(waiter);
    });
  }
}

/** Resources held by one account, or by all accounts together. */
export interface HeldResources extends MemoryHolder {
  requestCount: number;
  jobCount: number;
  bodyBytes: number;
  responseBytes: number;
  streamCount: number;
  /** Ratio of actual to assumed cost of the account's requests, by kind. */
  readonly costRatios: Map<string, number>;
  /** Turns of the account's long jobs: while one waits for tiles, another computes. */
  readonly longJobs: Turns;
  /** Time at which the next short chunk of the account's bodies is due. */
  chunksDueMs: number;
}

/**
 * Long jobs of one account that run at the same time. If all did, each would remove the tiles of the others from the
 * cache, and all would miss their deadlines.
 */
const LONG_JOBS_PER_ACCOUNT_MAX = 2;

/** Returns empty resources. */
export const noResources = (): HeldResources => ({
  requestCount: 0,
  jobCount: 0,
  bodyBytes: 0,
  responseBytes: 0,
  streamCount: 0,
  memoryBytes: 0,
  costRatios: new Map(),
  longJobs: new Turns({ runningMax: LONG_JOBS_PER_ACCOUNT_MAX }),
  chunksDueMs: 0,
});

/** Resources held by one request. */
export interface Slot {
  readonly account: HeldResources;
  bodyBytes: number;
  /** Estimated memory of the parsed body. */
  parsedBytes: number;
  /** Memory of a response that is not counted as such yet, because it is being compressed. */
  answerBytes: number;
  /** Held until the client has read the response, which may be long after the slot is released. */
  responseBytes: number;
  /** Whether these bytes are what a streamed response may take at a time. */
  isStream: boolean;
}
