import { type FaultCode, type FaultItem, isFault } from "../errors.ts";

/** What only the wire can refuse. */
export type WireCode =
  | "route_not_found"
  | "method_not_allowed"
  | "http_malformed"
  | "headers_too_large"
  | "request_timeout"
  | "content_type_unsupported"
  | "body_too_large"
  | "internal_error";

export type ProblemCode = FaultCode | WireCode;

/** A refusal as it is written on the wire (RFC 9457). */
export interface Problem {
  /** A relative address that explains the code. */
  readonly type: string;
  readonly title: string;
  readonly status: number;
  /** Programs branch on it; it never changes its meaning. */
  readonly code: ProblemCode;
  readonly detail: string;
  readonly request_id: string;
  /** Whether the same request may succeed later. */
  readonly retryable: boolean;
  readonly errors?: readonly FaultItem[];
  /** With `too_many_values`: what was asked for, and what is allowed. */
  readonly requested?: number;
  readonly limit?: number;
  /** With `json_malformed`: where in the body, counted from 1. */
  readonly line?: number;
  readonly column?: number;
}

export const PROBLEM_CONTENT_TYPE = "application/problem+json";

interface ProblemKind {
  readonly status: number;
  readonly title: string;
  /** When to ask again, where that can help. */
  readonly retryAfterS?: number;
  /** Said instead of the fault's own message, which is for the operator and may name files. */
  readonly detail?: string;
}

const NOT_YOURS = "Something went wrong on our side. Name the request id when you report it.";

/** A new code does not compile until its status has been chosen. */
const PROBLEM_KINDS = {
  invalid_request: { status: 400, title: "The request is not valid" },
  combination_unavailable: { status: 422, title: "A hazard does not offer this year or scenario" },
  asset_type_unsupported: { status: 422, title: "The alignment of this type of asset is not known" },
  too_many_values: { status: 400, title: "The request asks for too much at once" },
  json_malformed: { status: 400, title: "The body is not JSON as RFC 8259 has it" },
  atlas_not_found: { status: 503, title: "The atlas cannot be read", retryAfterS: 30, detail: NOT_YOURS },
  atlas_unavailable: { status: 503, title: "The atlas cannot be read", retryAfterS: 30, detail: NOT_YOURS },
  source_invalid: { status: 500, title: "Internal error", detail: NOT_YOURS },
  configuration_invalid: { status: 500, title: "Internal error", detail: NOT_YOURS },
  route_not_found: { status: 404, title: "There is no such address" },
  method_not_allowed: { status: 405, title: "The address does not take this method" },
  http_malformed: { status: 400, title: "The request is not HTTP as RFC 9112 has it" },
  headers_too_large: { status: 431, title: "The request's address and headers are too large" },
  request_timeout: { status: 408, title: "The request took too long to arrive" },
  content_type_unsupported: { status: 415, title: "The body is not declared as JSON" },
  body_too_large: { status: 413, title: "The body is too large" },
  internal_error: { status: 500, title: "Internal error", detail: NOT_YOURS },
} as const satisfies Record<ProblemCode, ProblemKind>;

/** The host itself refuses. */
export class Refusal extends Error {
  override readonly name = "Refusal";
  readonly code: WireCode;
  readonly headers: Readonly<Record<string, string>>;
  constructor(code: WireCode, message: string, headers: Readonly<Record<string, string>> = {}) {
    super(message);
    this.code = code;
    this.headers = headers;
  }
}

/** What is told of an error. Anything but a fault and a refusal is a bug of ours, of which nothing is told. */
export function problemOf(error: unknown, requestId: string): Problem {
  const told = isFault(error) || error instanceof Refusal ? error : undefined;
  const code = told?.code ?? "internal_error";
  const { status, title, retryAfterS, detail }: ProblemKind = PROBLEM_KINDS[code];
  const problem = {
    type: `/problems/${code}`,
    title,
    status,
    code,
    detail: detail ?? told?.message ?? NOT_YOURS,
    request_id: requestId,
    retryable: retryAfterS !== undefined || code === "request_timeout",
  };
  if (detail !== undefined || !isFault(error)) return problem;
  const { requested, limit, line, column } = error.details;
  return {
    ...problem,
    ...(error.items.length > 0 ? { errors: error.items } : {}),
    ...(code === "too_many_values" && typeof requested === "number" && typeof limit === "number"
      ? { requested, limit }
      : {}),
    ...(code === "json_malformed" && typeof line === "number" && typeof column === "number" ? { line, column } : {}),
  };
}

/** The header fields that belong to a problem, beside its body. */
export function problemHeaders(problem: Problem, error: unknown): Readonly<Record<string, string>> {
  const { retryAfterS }: ProblemKind = PROBLEM_KINDS[problem.code];
  return {
    ...(error instanceof Refusal ? error.headers : {}),
    ...(retryAfterS === undefined ? {} : { "Retry-After": String(retryAfterS) }),
  };
}
