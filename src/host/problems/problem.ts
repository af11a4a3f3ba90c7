import { type FaultCode, type FaultItem, isFault } from "../../errors.ts";

/** What only the wire can refuse. */
export type HttpProblemCode =
  | "route_not_found"
  | "method_not_allowed"
  | "http_malformed"
  | "headers_too_large"
  | "request_timeout"
  | "content_type_unsupported"
  | "body_too_large"
  | "customer_id_missing"
  | "customer_id_malformed"
  | "customer_not_accessible"
  | "overloaded"
  | "internal_error";

export type ProblemCode = FaultCode | HttpProblemCode;

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
  combination_unavailable: { status: 422, title: "There is no data for this combination" },
  asset_type_unsupported: { status: 422, title: "The alignment of this type of asset is not known" },
  country_unknown: { status: 422, title: "The country is not known" },
  industry_unknown: { status: 422, title: "The industry is not known" },
  scenario_unknown: { status: 422, title: "The scenario is not known" },
  too_many_values: { status: 400, title: "The request asks for too much at once" },
  json_malformed: { status: 400, title: "The body is not JSON as RFC 8259 has it" },
  atlas_not_found: { status: 503, title: "The atlas cannot be read", retryAfterS: 30, detail: NOT_YOURS },
  atlas_unavailable: { status: 503, title: "The atlas cannot be read", retryAfterS: 30, detail: NOT_YOURS },
  source_invalid: { status: 500, title: "Internal error", detail: NOT_YOURS },
  api_key_missing: { status: 401, title: "There is no API key" },
  api_key_invalid: { status: 401, title: "The API key is not known" },
  api_key_revoked: { status: 401, title: "The API key has been revoked" },
  account_suspended: { status: 401, title: "The account is suspended" },
  customer_not_found: { status: 404, title: "There is no such customer" },
  // Of registering it again. That its data is refused is for the host to say, with 403.
  customer_archived: { status: 409, title: "The customer is archived" },
  idempotency_key_reused: { status: 422, title: "The idempotency key stands for another request" },
  rate_limited: { status: 429, title: "Too many requests", retryAfterS: 1 },
  account_not_found: { status: 500, title: "Internal error", detail: NOT_YOURS },
  key_not_found: { status: 500, title: "Internal error", detail: NOT_YOURS },
  ledger_unavailable: { status: 503, title: "Keys cannot be looked up", retryAfterS: 5, detail: NOT_YOURS },
  usage_not_recorded: { status: 503, title: "The usage could not be recorded", retryAfterS: 5 },
  configuration_invalid: { status: 500, title: "Internal error", detail: NOT_YOURS },
  route_not_found: { status: 404, title: "There is no such address" },
  method_not_allowed: { status: 405, title: "The address does not take this method" },
  http_malformed: { status: 400, title: "The request is not HTTP as RFC 9112 has it" },
  headers_too_large: { status: 431, title: "The request's address and headers are too large" },
  request_timeout: { status: 408, title: "The request took too long to arrive" },
  content_type_unsupported: { status: 415, title: "The body is not declared as JSON" },
  body_too_large: { status: 413, title: "The body is too large" },
  customer_id_missing: { status: 400, title: "The request does not say for which customer it is" },
  customer_id_malformed: { status: 400, title: "The customer id is no UUID" },
  customer_not_accessible: { status: 403, title: "The account has no such customer" },
  overloaded: { status: 503, title: "The service has too much to do, or is stopping", retryAfterS: 1 },
  internal_error: { status: 500, title: "Internal error", detail: NOT_YOURS },
} as const satisfies Record<ProblemCode, ProblemKind>;

/** The host itself refuses. */
export class Refusal extends Error {
  override readonly name = "Refusal";
  readonly code: ProblemCode;
  readonly headers: Readonly<Record<string, string>>;
  readonly items: readonly FaultItem[];
  /** Where it is not the code's usual one. */
  readonly status: number | undefined;
  constructor(
    code: ProblemCode,
    message: string,
    headers: Readonly<Record<string, string>> = {},
    more: { readonly items?: readonly FaultItem[]; readonly status?: number } = {},
  ) {
    super(message);
    this.code = code;
    this.headers = headers;
    this.items = more.items ?? [];
    this.status = more.status;
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
    status: (told instanceof Refusal ? told.status : undefined) ?? status,
    code,
    detail: detail ?? told?.message ?? NOT_YOURS,
    request_id: requestId,
    retryable: retryAfterS !== undefined || code === "request_timeout",
  };
  if (detail !== undefined || told === undefined) return problem;
  const errors = told.items.length > 0 ? { errors: told.items } : {};
  if (!isFault(told)) return { ...problem, ...errors };
  const { requested, limit, line, column } = told.details;
  return {
    ...problem,
    ...errors,
    ...(code === "too_many_values" && typeof requested === "number" && typeof limit === "number"
      ? { requested, limit }
      : {}),
    ...(code === "json_malformed" && typeof line === "number" && typeof column === "number" ? { line, column } : {}),
  };
}

/** The header fields that belong to a problem, beside its body. */
export function problemHeaders(problem: Problem, error: unknown): Readonly<Record<string, string>> {
  const { retryAfterS }: ProblemKind = PROBLEM_KINDS[problem.code];
  const inFact = isFault(error) ? error.details["retryAfterS"] : undefined;
  return {
    // The scheme has no registered name: a key in a field of its own is older than the registry.
    ...(problem.status === 401 ? { "WWW-Authenticate": 'ApiKey realm="isotherm", header="X-API-Key"' } : {}),
    ...(retryAfterS === undefined ? {} : { "Retry-After": String(typeof inFact === "number" ? inFact : retryAfterS) }),
    ...(error instanceof Refusal ? error.headers : {}),
  };
}
