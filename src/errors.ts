/**
 * Every way this library refuses. Programs branch on `code`; people read `message`.
 * The codes are those of the HTTP contract, so that a refusal has one name wherever it is met.
 */
export type FaultCode =
  // the caller can put it right
  | "invalid_request"
  | "combination_unavailable"
  | "asset_type_unsupported"
  | "country_unknown"
  | "industry_unknown"
  | "scenario_unknown"
  | "too_many_values"
  | "json_malformed"
  // whoever holds the data can
  | "atlas_not_found"
  | "atlas_unavailable"
  | "source_invalid"
  // whoever holds the key can
  | "api_key_missing"
  | "api_key_invalid"
  | "api_key_revoked"
  | "account_suspended"
  | "customer_not_found"
  | "customer_archived"
  | "idempotency_key_reused"
  | "rate_limited"
  // whoever runs the service can
  | "account_not_found"
  | "key_not_found"
  | "ledger_unavailable"
  | "usage_not_recorded"
  | "configuration_invalid";

/** Where something is wrong: in what was handed in, in a query parameter, or in a header. */
type FaultLocation =
  /** A JSON pointer (RFC 6901) into the object or array that was handed in; "" is the whole of it. */
  | { readonly pointer: string; readonly parameter?: never; readonly header?: never }
  | { readonly parameter: string; readonly pointer?: never; readonly header?: never }
  | { readonly header: string; readonly pointer?: never; readonly parameter?: never };

/** What is wrong at one place. Programs branch on it, so a code keeps its meaning. */
type FaultItemCode =
  | "missing"
  /** Of another kind than belongs there, or text that does not read as that kind. */
  | "wrong_type"
  | "not_finite"
  | "out_of_range"
  /** Not in the closed list of values; `allowed` holds the list. */
  | "not_allowed"
  /** No such member or parameter. */
  | "unknown"
  /** A list without items. */
  | "empty"
  /** A list with more items than belong there. */
  | "too_many"
  /** A list item that stands in the list already. */
  | "duplicate"
  /** A parameter that is given more than once. */
  | "repeated"
  /** Text that cannot be decoded: broken percent-encoding, bytes that are not UTF-8. */
  | "malformed"
  /** A member, parameter or header that has no place in such a request. */
  | "not_expected"
  | "combination_unavailable"
  | "asset_type_unsupported"
  | "country_unknown"
  | "industry_unknown"
  | "scenario_unknown";

/** One thing that is wrong. */
export interface FaultDescription {
  readonly code: FaultItemCode;
  /** What is wrong, and what would be right. */
  readonly detail: string;
  readonly allowed?: readonly (string | number | boolean)[];
  readonly did_you_mean?: string | number;
  /** With a name that is not known: those most like it, the likest first. */
  readonly nearest?: readonly string[];
  /** With `combination_unavailable`: the hazard, and all that it offers. */
  readonly hazard?: string;
  readonly offered_years?: readonly number[];
  readonly offered_scenarios?: readonly string[];
}

/** One thing that is wrong, and where. */
export type FaultItem = FaultLocation & FaultDescription;

/** So many items a refusal lists at most. */
export const FAULT_ITEM_COUNT_MAX = 100;

/**
 * A refusal. `message` may be shown to whoever asked; what only the operator should see goes into `cause`.
 */
export class Fault extends Error {
  override readonly name = "Fault";
  readonly code: FaultCode;
  /** Where, and what was found there. */
  readonly details: Readonly<Record<string, unknown>>;
  /** All that is wrong at once, where the caller can put it right. */
  readonly items: readonly FaultItem[];

  constructor(
    code: FaultCode,
    message: string,
    more: {
      readonly details?: Readonly<Record<string, unknown>>;
      readonly items?: readonly FaultItem[];
      readonly cause?: unknown;
    } = {},
  ) {
    super(message, more.cause === undefined ? undefined : { cause: more.cause });
    this.code = code;
    this.details = more.details ?? {};
    this.items = more.items ?? [];
  }
}

export function isFault(error: unknown, code?: FaultCode): error is Fault {
  return error instanceof Fault && (code === undefined || error.code === code);
}
