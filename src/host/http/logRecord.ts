import { loggedError, type LogRecord } from "../log.ts";
import { HttpError } from "../problems/problem.ts";
import type { PipelineResponse } from "./exchange.ts";
import type { HttpRequestContext } from "./requestContext.ts";

/** Creates the log record of a response. */
export function logRecordOf(
  { request, requestId, target, caller }: HttpRequestContext,
  { status, failure, units }: PipelineResponse,
  durationMs: number,
): LogRecord {
  const record: { -readonly [Field in keyof LogRecord]: LogRecord[Field] } = {
    request_id: requestId,
    method: request.method ?? "",
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
  if (failure !== undefined && status >= 500 && !isExplained) {
    record.error = loggedError(failure.error);
  }
  return record;
}
