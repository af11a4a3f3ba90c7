/** Runs the queries of a batch, several at a time and in time slices. */
import { checkOptions, isAbortSignal, type ValueSchema } from "../validation/schemaErrors.ts";
import { TimeSlice } from "../concurrency/timeSlice.ts";
import { Fault, isFault } from "../errors.ts";

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

/** Result of an invalid query in a batch. The other queries are not affected. */
export interface RefusedElement {
  readonly error: Fault;
}

export interface BatchOptions {
  /** Cancels the batch: the promise is rejected with the signal's reason. */
  readonly signal?: AbortSignal;
  /** Called after every 64 queries and after the last one. */
  readonly onProgress?: (queriesDone: number, queryCount: number) => void;
}

/** Options of a batch on an atlas that is open on this thread. */
export interface BatchRun<Result> {
  /** Default: yields to other tasks of the thread every 5 ms. */
  readonly timeSlice?: TimeSlice;
  /** Receives each element as soon as it is known, in any order; the result is then an empty list. */
  readonly onElement?: (element: Result | RefusedElement, index: number) => void;
}

const BATCH_OPTIONS: ValueSchema = {
  type: "object",
  properties: { signal: { type: "signal" }, onProgress: { type: "function" } },
  additionalProperties: false,
};

/** Number of queries of a batch that run concurrently: enough to overlap reads, and few enough to limit memory. */
const BATCH_CONCURRENCY = 16;
/** Queries of a batch between two progress reports. */
const QUERIES_PER_PROGRESS_REPORT = 64;
/** Queries between two checks of the clock; a check takes a tenth of the time of a point query. */
const QUERIES_PER_TIME_CHECK = 4;
const NOT_A_BATCH = "A batch must be an array of at least one query.";

/** Validates the options of a batch. @throws Fault `invalid_request` with all errors */
export function checkBatchOptions(options: BatchOptions): void {
  checkOptions(options, BATCH_OPTIONS, { code: "invalid_request" });
}

/**
 * Returns one element per query, in order; the element of an invalid query is a RefusedElement.
 *
 * @param answer returns the result of a query, which has not been validated
 * @throws Fault `invalid_request` if `queries` is not a non-empty list; other errors of `answer`
 */
export async function runBatch<Result>(
  queries: readonly unknown[],
  {
    options = {},
    run = {},
  }: { readonly options?: BatchOptions | undefined; readonly run?: BatchRun<Result> | undefined },
  answer: (query: unknown, timeSlice: TimeSlice) => Promise<Result>,
): Promise<readonly (Result | RefusedElement)[]> {
  checkBatchOptions(options);
  const { signal, onProgress } = options;
  if (!Array.isArray(queries) || queries.length === 0) {
    const code = Array.isArray(queries) ? "empty" : "wrong_type";
    throw new Fault("invalid_request", NOT_A_BATCH, { items: [{ pointer: "", code, detail: NOT_A_BATCH }] });
  }
  const results: (Result | RefusedElement)[] = [];
  const { timeSlice = new TimeSlice(), onElement } = run;
  if (onElement === undefined) results.length = queries.length;
  let next = 0;
  let queriesDone = 0;
  const work = async (): Promise<void> => {
    try {
      for (let index = next++; index < queries.length; index = next++) {
        signal?.throwIfAborted();
        const element = await elementOf(answer, queries[index], timeSlice);
        if (onElement === undefined) results[index] = element;
        else onElement(element, index);
        queriesDone += 1;
        const isReportDue = queriesDone % QUERIES_PER_PROGRESS_REPORT === 0 || queriesDone === queries.length;
        if (isReportDue) onProgress?.(queriesDone, queries.length);
        // If all tiles are cached, nothing else yields to the event loop, which also delivers the abort signal.
        if (timeSlice.isPaused || (queriesDone % QUERIES_PER_TIME_CHECK === 0 && timeSlice.isExpired)) {
          await timeSlice.yield();
        }
      }
    } catch (error) {
      next = queries.length; // stops the other loops
      throw error;
    }
  };
  await Promise.all(Array.from({ length: Math.min(BATCH_CONCURRENCY, queries.length) }, work));
  return results;
}

async function elementOf<Result>(
  answer: (query: unknown, timeSlice: TimeSlice) => Promise<Result>,
  query: unknown,
  timeSlice: TimeSlice,
): Promise<Result | RefusedElement> {
  try {
    return await answer(query, timeSlice);
  } catch (error) {
    if (isFault(error, "invalid_request") || isFault(error, "combination_unavailable")) return { error };
    throw error;
  }
}
