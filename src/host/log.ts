import { isFault } from "../errors.ts";

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
  /** Only for a `Fault`: messages of other errors may contain request data. */
  readonly message?: string;
  /** Stack frames. */
  readonly at?: readonly string[];
  readonly cause?: LoggedError;
}

export type Log = (record: LogRecord) => void;

const CAUSE_DEPTH_MAX = 4;

/** Returns the parts of an error that contain no request data. */
export function loggedError(error: unknown, depth = 0): LoggedError {
  if (!(error instanceof Error)) return { name: typeof error };
  const code: unknown = "code" in error ? error.code : undefined;
  const frames = error.stack?.split("\n").filter((line) => line.startsWith("    at "));
  return {
    name: error.name,
    ...(typeof code === "string" ? { code } : {}),
    ...(isFault(error) ? { message: error.message } : {}),
    ...(frames === undefined ? {} : { at: frames.map((frame) => frame.trim()) }),
    ...(error.cause === undefined || depth === CAUSE_DEPTH_MAX ? {} : { cause: loggedError(error.cause, depth + 1) }),
  };
}
