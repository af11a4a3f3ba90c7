import { checkOptions, isAbortSignal, type ValueSchema } from "../validation/schemaErrors.ts";
import type { TimeSlice } from "../concurrency/timeSlice.ts";

export interface QueryOptions {
  /**
   * Cancels the query: the promise is rejected with the signal's reason, and nothing further is read. Reads that have
   * begun end in the cache, because other queries may wait for them.
   */
  readonly signal?: AbortSignal | undefined;
}

/** How a query runs on this thread. */
export interface QueryRun extends QueryOptions {
  /** Its `yield` is awaited between tiles that must be loaded; default: of this thread. */
  readonly timeSlice?: TimeSlice | undefined;
}

const SIGNAL_SHAPE: ValueSchema = { type: "object", properties: { signal: { type: "signal" } } };

/** Validates the options of a query. @throws Fault `invalid_request`; the signal's reason if it is aborted */
export function checkQueryOptions({ signal }: QueryOptions): void {
  if (signal === undefined) return;
  // The common case takes no time.
  if (!isAbortSignal(signal)) checkOptions({ signal }, SIGNAL_SHAPE);
  signal.throwIfAborted();
}
