import type { HttpError } from "../problems/problem.ts";

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
   * share is too large. Bodies of pipelined requests that wait for earlier ones may take an eighth.
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
export type Reject = (reason: ShedReason, message: string, retryAfterS?: number) => HttpError;
