import type { Problem as WireProblem } from "../../contract/wireTypes.ts";
import { Fault, type FaultCode, type FaultItem, isFault } from "../../errors.ts";
import { WorkerDeathError } from "../../pool/workerDeath.ts";

/** A problem document with the codes of this release. */
export interface Problem extends WireProblem {
  readonly code: FaultCode;
  readonly errors?: readonly FaultItem[];
}

export const PROBLEM_CONTENT_TYPE = "application/problem+json";

interface ProblemKind {
  readonly status: number;
  readonly title: string;
  /** Seconds after which a retry may succeed; absent if a retry cannot help. */
  readonly retryAfterS?: number;
  /** Replaces the fault's own message, which is meant for the operator and may name files. */
  readonly detail?: string;
}

const INTERNAL_DETAIL = "An internal error occurred. Include the request id when you report it.";

/** The status and title of each code. Complete by type: a code without an entry does not compile. */
const PROBLEM_KINDS = {
  invalid_request: { status: 400, title: "The request is not valid" },
  combination_unavailable: { status: 422, title: "There is no data for this combination" },
  asset_type_unsupported: { status: 422, title: "The asset type is not supported" },
  country_unknown: { status: 422, title: "Unknown country" },
  industry_unknown: { status: 422, title: "Unknown industry" },
  scenario_unknown: { status: 422, title: "Unknown scenario" },
  too_many_values: { status: 400, title: "The request exceeds a limit" },
  json_malformed: { status: 400, title: "The body is not valid JSON (RFC 8259)" },
  atlas_not_found: { status: 503, title: "The atlas cannot be read", retryAfterS: 30, detail: INTERNAL_DETAIL },
  atlas_unavailable: { status: 503, title: "The atlas cannot be read", retryAfterS: 30, detail: INTERNAL_DETAIL },
  source_invalid: { status: 500, title: "Internal error", detail: INTERNAL_DETAIL },
  api_key_missing: { status: 401, title: "The API key is missing" },
  api_key_invalid: { status: 401, title: "The API key is not valid" },
  api_key_revoked: { status: 401, title: "The API key has been revoked" },
  account_suspended: { status: 401, title: "The account is suspended" },
  customer_not_found: { status: 404, title: "Customer not found" },
  // The status of a repeated registration; data requests for an archived customer use 403.
  customer_archived: { status: 409, title: "The customer is archived" },
  idempotency_key_reused: { status: 422, title: "The idempotency key belongs to another request" },
  rate_limited: { status: 429, title: "Too many requests", retryAfterS: 1 },
  account_not_found: { status: 500, title: "Internal error", detail: INTERNAL_DETAIL },
  key_not_found: { status: 500, title: "Internal error", detail: INTERNAL_DETAIL },
  ledger_unavailable: { status: 503, title: "API keys cannot be checked", retryAfterS: 5, detail: INTERNAL_DETAIL },
  usage_not_recorded: { status: 503, title: "The usage could not be recorded", retryAfterS: 5 },
  clock_unreliable: { status: 503, title: "The clock of the service is not reliable", retryAfterS: 60 },
  configuration_invalid: { status: 500, title: "Internal error", detail: INTERNAL_DETAIL },
  route_not_found: { status: 404, title: "Path not found" },
  method_not_allowed: { status: 405, title: "Method not allowed" },
  http_malformed: { status: 400, title: "The request is not valid HTTP/1.1 (RFC 9112)" },
  headers_too_large: { status: 431, title: "The request line and headers are too large" },
  request_timeout: { status: 408, title: "The request took too long to arrive" },
  content_type_unsupported: { status: 415, title: "The body is not declared as JSON" },
  body_too_large: { status: 413, title: "The body is too large" },
  token_invalid: { status: 401, title: "The token is not valid" },
  customer_id_missing: { status: 400, title: "The customer id is missing" },
  customer_id_malformed: { status: 400, title: "The customer id is not a UUID" },
  customer_not_accessible: { status: 403, title: "The account has no such customer" },
  overloaded: { status: 503, title: "The service is overloaded or shutting down", retryAfterS: 1 },
  // A fault with this code has a message for the client.
  internal_error: { status: 500, title: "Internal error" },
} as const satisfies Record<FaultCode, ProblemKind>;

/**
 * Converts an error to a problem document. Any error other than a `Fault` or the death of a worker is a
 * bug and is reported as `internal_error` without details.
 *
 * @param prefix path below which clients reach the service
 */
export function problemOf(error: unknown, requestId: string, prefix = ""): Problem {
  const known = knownError(error);
  const code = known?.code ?? "internal_error";
  const { status, title, retryAfterS, detail }: ProblemKind = PROBLEM_KINDS[code];
  const statusOfFault = known?.details["status"];
  const problem = {
    type: `${prefix}/problems/${code}`,
    title,
    status: typeof statusOfFault === "number" ? statusOfFault : status,
    code,
    detail: detail ?? known?.message ?? INTERNAL_DETAIL,
    request_id: requestId,
    retryable: retryAfterS !== undefined || code === "request_timeout",
  };
  if (detail !== undefined || known === undefined) return problem;
  const errors = known.items.length > 0 ? { errors: known.items } : {};
  const { requested, limit, line, column } = known.details;
  return {
    ...problem,
    ...errors,
    ...(code === "too_many_values" && typeof requested === "number" && typeof limit === "number"
      ? { requested, limit }
      : {}),
    ...(code === "json_malformed" && typeof line === "number" && typeof column === "number" ? { line, column } : {}),
  };
}

/** Returns the error that describes a failure to the client; undefined if it is a bug. */
function knownError(error: unknown): Fault | undefined {
  if (isFault(error)) return error;
  if (!(error instanceof WorkerDeathError)) return undefined;
  return new Fault("overloaded", "The thread that processed the request ended; retry the request.");
}

/** Returns the header fields of a problem response. */
export function problemHeaders(problem: Problem, error: unknown): Readonly<Record<string, string>> {
  const { retryAfterS }: ProblemKind = PROBLEM_KINDS[problem.code];
  const faultRetryAfterS = isFault(error) ? error.details["retryAfterS"] : undefined;
  return {
    // There is no registered authentication scheme for keys in a custom header.
    ...(problem.status === 401 ? { "WWW-Authenticate": 'ApiKey realm="isotherm", header="X-API-Key"' } : {}),
    ...(retryAfterS === undefined
      ? {}
      : { "Retry-After": String(typeof faultRetryAfterS === "number" ? faultRetryAfterS : retryAfterS) }),
    ...(isFault(error) ? error.headers : {}),
  };
}
