import { isFault } from "../errors.ts";

/**
 * What is written down about an answered request. The list is closed on purpose: where a customer's assets lie
 * is confidential, so there are no addresses, query strings, bodies, headers or coordinates here.
 */
export interface LogRecord {
  readonly request_id: string;
  /** Absent, with `route`, where the request could not be read. */
  readonly method?: string;
  /** The route's template, never the path that was asked for. */
  readonly route?: string;
  readonly status: number;
  /** The problem's code, where the answer is one. */
  readonly code?: string;
  readonly duration_ms?: number;
  /** With answers that are counted. */
  readonly units?: number;
  /** Who asked, where that was found out. */
  readonly account_id?: string;
  readonly key_id?: string;
  readonly customer_id?: string;
  /** What went wrong on our side: with answers of 500 and above that were not given on purpose. */
  readonly error?: LoggedError;
}

export interface LoggedError {
  readonly name: string;
  /** A system error's code, such as ENOENT. */
  readonly code?: string;
  /** Of our own faults only: what others put into their messages we cannot know. */
  readonly message?: string;
  readonly at?: readonly string[];
  readonly cause?: LoggedError;
}

export type Log = (record: LogRecord) => void;

const CAUSE_DEPTH_MAX = 4;

/** An error without what it may hold of a request. */
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
