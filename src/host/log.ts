import { isFault } from "../errors.ts";
import type { Exchange } from "./http/exchange.ts";
import { HttpError } from "./problems/problem.ts";

/**
 * The log record of one response. Contains no request targets, query strings, bodies, headers or coordinates, because the
 * locations of a customer's assets are confidential.
 */
export interface LogRecord {
  readonly request_id: string;
  /** Absent, like `route`, if the request could not be parsed. */
  readonly method?: string;
  /** The route's template, never the requested path. */
  readonly route?: string;
  readonly status: number;
  /** The code of a problem response. */
  readonly code?: string;
  readonly duration_ms?: number;
  /** Present on metered routes. */
  readonly units?: number;
  /** Present once the request is authenticated. */
  readonly account_id?: string;
  readonly key_id?: string;
  readonly customer_id?: string;
  /** The unexpected error behind a response with a status of 500 or above. */
  readonly error?: LoggedError;
}

/** The parts of an error that contain no request data. */
export interface LoggedError {
  readonly name: string;
  /** A system error's code, such as ENOENT. */
  readonly code?: string;
  /** Only for a `Fault` or an `HttpError`: messages of other errors may contain request data. */
  readonly message?: string;
  /** Stack frames. */
  readonly at?: readonly string[];
  readonly cause?: LoggedError;
}

export type Log = (record: LogRecord) => void;

/** Creates the log record of a response. */
export function logRecordOf(exchange: Exchange, durationMs: number): LogRecord {
  const { requestId, method, status, target, caller, failure, units } = exchange;
  const record: { -readonly [Field in keyof LogRecord]: LogRecord[Field] } = {
    request_id: requestId,
    method,
    status,
    duration_ms: durationMs,
  };
  if (target !== undefined) record.route = target.template;
  if (failure !== undefined) record.code = failure.code;
  if (units !== undefined && target?.route.metered !== undefined) record.units = units;
  if (caller !== undefined) {
    record.account_id = caller.accountId;
    record.key_id = caller.keyId;
    if (caller.customerId !== undefined) record.customer_id = caller.customerId;
  }
  // The code describes a rejection completely, and under overload there are many. `internal_error` has several causes.
  const isExplained =
    failure?.error instanceof HttpError && failure.error.cause === undefined && failure.code !== "internal_error";
  if (failure !== undefined && status >= 500 && !isExplained) record.error = loggedError(failure.error);
  return record;
}

const CAUSE_DEPTH_MAX = 4;

/** Returns the parts of an error that contain no request data. */
export function loggedError(error: unknown, depth = 0): LoggedError {
  if (!(error instanceof Error)) return { name: typeof error };
  const code: unknown = "code" in error ? error.code : undefined;
  const frames = error.stack?.split("\n").filter((line) => line.startsWith("    at "));
  return {
    name: error.name,
    ...(typeof code === "string" ? { code } : {}),
    ...(isFault(error) || error instanceof HttpError ? { message: error.message } : {}),
    ...(frames === undefined ? {} : { at: frames.map((frame) => frame.trim()) }),
    ...(error.cause === undefined || depth === CAUSE_DEPTH_MAX ? {} : { cause: loggedError(error.cause, depth + 1) }),
  };
}
