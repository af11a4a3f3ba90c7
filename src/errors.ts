import type { ProblemItem } from "./contract/wireTypes.ts";

export { FAULT_ITEM_COUNT_MAX } from "./contract/ranges.ts";

/**
 * Codes of all expected errors. Programs branch on `code`; people read `message`. The library, the command line and the
 * HTTP contract use the same codes.
 */
export type FaultCode =
  // fixed by the caller
  | "invalid_request"
  | "combination_unavailable"
  | "asset_type_unsupported"
  | "country_unknown"
  | "industry_unknown"
  | "scenario_unknown"
  | "too_many_values"
  | "json_malformed"
  // fixed by the owner of the data
  | "atlas_not_found"
  | "atlas_unavailable"
  | "source_invalid"
  // fixed by the holder of the API key
  | "api_key_missing"
  | "api_key_invalid"
  | "api_key_revoked"
  | "account_suspended"
  | "customer_not_found"
  | "customer_archived"
  | "idempotency_key_reused"
  | "rate_limited"
  // fixed by the operator of the service
  | "account_not_found"
  | "key_not_found"
  | "ledger_unavailable"
  | "usage_not_recorded"
  | "clock_unreliable"
  | "configuration_invalid"
  // only over HTTP
  | "route_not_found"
  | "method_not_allowed"
  | "http_malformed"
  | "headers_too_large"
  | "request_timeout"
  | "content_type_unsupported"
  | "body_too_large"
  | "token_invalid"
  | "customer_id_missing"
  | "customer_id_malformed"
  | "customer_not_accessible"
  | "overloaded"
  | "internal_error";

/** Location of an error in the input value, a query parameter or a header. */
export type FaultLocation =
  /** JSON pointer (RFC 6901) into the input object or array; "" is the entire input. */
  | { readonly pointer: string; readonly parameter?: never; readonly header?: never }
  | { readonly parameter: string; readonly pointer?: never; readonly header?: never }
  | { readonly header: string; readonly pointer?: never; readonly parameter?: never };

/** Kind of error at one location. Programs branch on it, so the meaning of a code never changes. */
export type FaultItemCode =
  | "missing"
  /** A value of the wrong type, or text that cannot be parsed as that type. */
  | "wrong_type"
  | "not_finite"
  | "out_of_range"
  /** Not one of the accepted values, which are in `allowed`. */
  | "not_allowed"
  /** No member or parameter has this name. */
  | "unknown"
  /** An empty list. */
  | "empty"
  /** A list with more items than are accepted. */
  | "too_many"
  /** An item that occurs earlier in the list. */
  | "duplicate"
  /** A parameter given more than once. */
  | "repeated"
  /** Text that cannot be decoded: invalid percent-encoding or invalid UTF-8. */
  | "malformed"
  /** A member, parameter or header that this request does not accept. */
  | "not_expected"
  | "combination_unavailable"
  | "asset_type_unsupported"
  | "country_unknown"
  | "industry_unknown"
  | "scenario_unknown";

/** Description of one error, without its location. */
export interface FaultDescription extends Omit<ProblemItem, "pointer" | "parameter" | "header"> {
  readonly code: FaultItemCode;
}

/** One error and its location. */
export type FaultItem = FaultLocation & FaultDescription;

/**
 * An expected error that the caller, the operator or the owner of the data can fix. `message` may be shown to the caller;
 * information that only the operator may see belongs in `cause`.
 */
export class Fault extends Error {
  override readonly name = "Fault";
  readonly code: FaultCode;
  /** Context of the error, by name. */
  readonly details: Readonly<Record<string, unknown>>;
  /** All errors in the input, up to FAULT_ITEM_COUNT_MAX; empty if the input is not the cause. */
  readonly items: readonly FaultItem[];
  /** Header fields of the HTTP response, in addition to those of the code. */
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    code: FaultCode,
    message: string,
    more: {
      readonly details?: Readonly<Record<string, unknown>>;
      readonly items?: readonly FaultItem[];
      readonly headers?: Readonly<Record<string, string>>;
      readonly cause?: unknown;
    } = {},
  ) {
    super(message, more.cause === undefined ? undefined : { cause: more.cause });
    this.code = code;
    this.details = more.details ?? {};
    this.items = more.items ?? [];
    this.headers = more.headers ?? {};
  }
}

/** Returns whether an error is a Fault, and has this code if one is given. */
export function isFault(error: unknown, code?: FaultCode): error is Fault {
  return error instanceof Fault && (code === undefined || error.code === code);
}
