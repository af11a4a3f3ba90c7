import type { FaultCode } from "../../errors.ts";
import { describeProblem, isProblemCode, PROBLEM_CODES } from "../problems/problemTexts.ts";
import type { Route } from "../route.ts";

type AnyRoute = Route<unknown, unknown>;

/** Problems that all routes can return. */
const OPEN_PROBLEMS = [
  "http_malformed",
  "headers_too_large",
  "request_timeout",
  "invalid_request",
  "rate_limited",
  "overloaded",
  "internal_error",
] as const satisfies readonly FaultCode[];
/** Problems of routes that require an API key. */
const KEY_PROBLEMS = [
  "api_key_missing",
  "api_key_invalid",
  "api_key_revoked",
  "account_suspended",
  "ledger_unavailable",
] as const satisfies readonly FaultCode[];
const CUSTOMER_PROBLEMS = [
  "customer_id_missing",
  "customer_id_malformed",
  "customer_not_accessible",
  "customer_archived",
] as const satisfies readonly FaultCode[];
const BODY_PROBLEMS = [
  "content_type_unsupported",
  "body_too_large",
  "json_malformed",
] as const satisfies readonly FaultCode[];
const METERED_PROBLEMS = [
  "usage_not_recorded",
  "clock_unreliable",
  "idempotency_key_reused",
] as const satisfies readonly FaultCode[];

/** Returns every problem code that a route can return, in the order of the contract. */
export function problemsOf({ access, method, metered, description }: AnyRoute): readonly FaultCode[] {
  const codes = new Set<string>(OPEN_PROBLEMS);
  const add = (more: readonly string[]): void => more.forEach((code) => codes.add(code));
  if (access !== "open") add(KEY_PROBLEMS);
  if (access === "customer") add(CUSTOMER_PROBLEMS);
  if (method === "POST") add(BODY_PROBLEMS);
  if (metered !== undefined) add(METERED_PROBLEMS);
  add(description.problems);
  return PROBLEM_CODES.filter((code) => codes.delete(code)).concat(
    [...codes].map((code) => {
      if (!isProblemCode(code)) throw new Error(`${description.operationId} lists an unknown problem code: ${code}`);
      return code;
    }),
  );
}

/** Returns the status that a problem code has on a route. */
export function statusOf(code: FaultCode, { access }: AnyRoute): number {
  // The status is 403 on data routes, and 409 if an archived customer is registered again.
  return code === "customer_archived" && access === "customer" ? 403 : describeProblem(code).status;
}
