import type { ProblemDescription } from "../../contract/wireTypes.ts";
import { Fault, type FaultCode } from "../../errors.ts";
import { problemOf } from "./problem.ts";

interface ProblemText {
  /** Meaning of the code. Backticks enclose names of members, header fields and values. */
  readonly meaning: string;
  /** What the caller can do. */
  readonly remedy: string;
}

const REPORT = "Report it to the operator of the service, with the `request_id`.";
const RETRY = "Send the same request again after the number of seconds in `Retry-After`. Nothing was counted.";
const INTERNAL_MEANING = "An error occurred inside the service.";

/** The text of each code. Complete by type: a code without an entry does not compile. */
const TEXTS = {
  invalid_request: {
    meaning: "A parameter, a member of the body or a header field is missing, has the wrong type or is out of range.",
    remedy:
      "Correct the errors listed in `errors`. Each item gives the location (`pointer`, `parameter` or `header`), what is wrong, and what is accepted.",
  },
  combination_unavailable: {
    meaning:
      "All names and years are valid, but one of the hazards is not offered for one of the years or scenarios, or the atlas has no return-period curves of it.",
    remedy:
      "Request each hazard only for the years and scenarios that it offers; `errors` and `GET /api/v1/hazards` list them. If the atlas has no curves of a hazard, `errors` lists those of which it has.",
  },
  asset_type_unsupported: {
    meaning: "The temperature alignment of this type of asset cannot be computed.",
    remedy: "Send only entities of the asset type `equity`; `errors` lists the others.",
  },
  country_unknown: {
    meaning: "The country is not in the tables of the company model, or the tables have no data for it.",
    remedy:
      "Send an ISO code or a name from `GET /api/v1/reference/countries`; `errors` gives the nearest names and, in `did_you_mean`, the probable one.",
  },
  industry_unknown: {
    meaning:
      "The industry is not in the tables of the company model. Unknown industries are not replaced by an average.",
    remedy:
      "Send an id, a name or a code from `GET /api/v1/reference/industries`; `errors` gives the industries that a name matches, or the nearest ones. Send `miscellaneous` to request the average.",
  },
  scenario_unknown: {
    meaning: "A transition scenario is not in the tables of the company model.",
    remedy: "Send ids from `GET /api/v1/reference/scenarios`. Case, hyphens, underscores and spaces do not matter.",
  },
  too_many_values: {
    meaning: "The request exceeds a limit: `requested` is more than `limit`.",
    remedy:
      "Split the request into several requests. `GET /api/v1/limits` lists all limits. If the account has too many customers, use registered ones, or ask the operator of the service for a higher limit.",
  },
  json_malformed: {
    meaning:
      "The body is not JSON in UTF-8, is nested deeper than 16 levels, repeats a key in one object, or has a number that is too large.",
    remedy: "Correct the body at `line` and `column`, both counted from 1.",
  },
  atlas_not_found: {
    meaning: "The hazard maps cannot be read at the moment.",
    remedy: RETRY,
  },
  atlas_unavailable: {
    meaning: "A file of the hazard maps is missing, damaged or cannot be reached.",
    remedy: RETRY,
  },
  source_invalid: { meaning: INTERNAL_MEANING, remedy: REPORT },
  api_key_missing: {
    meaning: "The request has no API key.",
    remedy: "Send the key once, in the header field `X-API-Key`. The operator of the service issues keys.",
  },
  api_key_invalid: {
    meaning: "This service has not issued the API key. It may be mistyped, incomplete, or the key of another service.",
    remedy:
      "Compare the key with the one that was issued, which is `iso_sk_` followed by 64 letters and digits. `detail` says whether the key looks mistyped.",
  },
  api_key_revoked: {
    meaning: "The API key is no longer valid, because it has been revoked or replaced.",
    remedy: "Use a current key of the account, or ask the operator of the service for one.",
  },
  account_suspended: {
    meaning: "The account of this key is suspended.",
    remedy: "Contact the operator of the service.",
  },
  token_invalid: {
    meaning: "The token in the URL of a map tile has expired, was changed, or was issued for another layer.",
    remedy:
      "Get the TileJSON of the layer again, which contains new URLs, or send the key in the header field `X-API-Key`.",
  },
  customer_not_found: {
    meaning: "The account has no customer with this id. The response is the same for customers of other accounts.",
    remedy: "Take the id from the response of the registration, or from `GET /latest/api/v1/customers`.",
  },
  customer_id_missing: {
    meaning: "A data request does not say which customer it is for.",
    remedy:
      "Register a customer (`POST /latest/api/v1/customers`), and send its `customer_id` in the header field `X-Customer-ID`.",
  },
  customer_id_malformed: {
    meaning: "The header field `X-Customer-ID` is not a UUID, or is given more than once.",
    remedy: "Send the `customer_id` from the response of the registration, once.",
  },
  customer_not_accessible: {
    meaning:
      "The account has no customer with the id in `X-Customer-ID`. The response is the same for customers of other accounts.",
    remedy: "Send the `customer_id` of a customer of this account; `GET /latest/api/v1/customers` lists them.",
  },
  customer_archived: {
    meaning: "The customer is archived. Its usage can still be read, but no data can be requested for it.",
    remedy: "Use another customer, or register one with another `internal_id`.",
  },
  idempotency_key_reused: {
    meaning: "The `Idempotency-Key` was sent with a different request within the last 72 hours.",
    remedy: "Send a new key with each new request, and the same key only to repeat a request unchanged.",
  },
  rate_limited: {
    meaning:
      "The account sends requests faster than allowed, or the address of the client has sent too many requests without a valid key.",
    remedy:
      "Wait for the number of seconds in `Retry-After`. The `RateLimit` header fields give the number of requests left.",
  },
  account_not_found: { meaning: INTERNAL_MEANING, remedy: REPORT },
  key_not_found: { meaning: INTERNAL_MEANING, remedy: REPORT },
  ledger_unavailable: {
    meaning: "Keys and customers cannot be looked up at the moment.",
    remedy: RETRY,
  },
  usage_not_recorded: {
    meaning: "The response was computed, but is withheld because it is uncertain whether its usage was recorded.",
    remedy:
      "Send the request again after the number of seconds in `Retry-After`, with the same `Idempotency-Key` if you sent one: the usage is then counted at most once.",
  },
  clock_unreliable: {
    meaning:
      "The clock of the service differs by more than five minutes from other clocks, so the usage of the response cannot be dated. The response is withheld, and nothing was recorded.",
    remedy:
      "The operator must correct the clock and restart the service. Send the request again after the number of seconds in `Retry-After`.",
  },
  configuration_invalid: { meaning: INTERNAL_MEANING, remedy: REPORT },
  route_not_found: {
    meaning: "The service has no resource at this path.",
    remedy: "Compare the path with those in `/openapi.json`; case and a trailing slash matter.",
  },
  method_not_allowed: {
    meaning: "The path exists, but does not accept this method.",
    remedy: "Use one of the methods in the header field `Allow`.",
  },
  http_malformed: {
    meaning: "The data received is not a valid HTTP/1.1 request, or it ended too early.",
    remedy: "Use a common HTTP library, and send a complete request with exactly one `Host` field.",
  },
  headers_too_large: {
    meaning: "The request line and the header fields are longer than the service accepts.",
    remedy: "Send fewer or shorter header fields, and send long lists in the body of a batch request.",
  },
  request_timeout: {
    meaning: "The request did not arrive in time.",
    remedy: "Send the request again, without pauses.",
  },
  content_type_unsupported: {
    meaning: "The body is not declared as JSON in UTF-8, or it is compressed.",
    remedy: "Send the header field `Content-Type: application/json` and an uncompressed body.",
  },
  body_too_large: {
    meaning: "The body is larger than the limit, or its lists, objects and values would take too much memory.",
    remedy:
      "Split the request into several requests. `GET /api/v1/limits` gives the largest size allowed, and the message of the " +
      "problem the memory that one request may take.",
  },
  overloaded: {
    meaning: "The service has more requests than it can answer in time, is not ready, or is shutting down.",
    remedy: RETRY,
  },
  internal_error: { meaning: INTERNAL_MEANING, remedy: REPORT },
} as const satisfies Record<FaultCode, ProblemText>;

/** All problem codes, in the order of the contract. */
export const PROBLEM_CODES = Object.keys(TEXTS) as readonly FaultCode[];

export function isProblemCode(code: string): code is FaultCode {
  return Object.hasOwn(TEXTS, code);
}

/**
 * Returns the explanation of a code, with its usual status and title.
 * @param prefix path below which clients reach the service; precedes the paths in the texts
 */
export function describeProblem(code: FaultCode, prefix = ""): ProblemDescription {
  const { title, status, retryable } = problemOf(new Fault(code, ""), "");
  const { meaning, remedy } = TEXTS[code];
  const addPrefix = (text: string): string => text.replaceAll(/`((?:[A-Z]+ )?)(?=\/)/g, `$&${prefix}`);
  return { code, title, status, retryable, meaning: addPrefix(meaning), remedy: addPrefix(remedy) };
}
