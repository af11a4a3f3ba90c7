import { type ProblemCode, problemOf, Refusal } from "./problem.ts";

interface ProblemText {
  /** What has happened. */
  readonly meaning: string;
  /** What whoever asked can do. */
  readonly remedy: string;
}

const REPORT = "Nothing. Tell whoever runs the service, and name the request id.";
const ASK_AGAIN = "Ask again after the seconds that Retry-After says, the same way. Nothing was counted.";

/** A new code does not compile until somebody has said what to do about it. */
const TEXTS = {
  invalid_request: {
    meaning: "A parameter, a member of the body or a header field is missing, of the wrong kind, or out of range.",
    remedy:
      "Put right what `errors` lists: each item says where (`pointer`, `parameter` or `header`), what is wrong, and what would be right.",
  },
  combination_unavailable: {
    meaning: "Every value is known, but a hazard that is asked about has no data for one of the years or scenarios.",
    remedy:
      "Ask each hazard for the years and scenarios that it offers: `errors` lists them, and so does GET /api/v1/hazards.",
  },
  asset_type_unsupported: {
    meaning: "The alignment of this type of asset cannot be computed.",
    remedy: "Send entities of the asset type `equity` only; `errors` points at the others.",
  },
  country_unknown: {
    meaning: "The country is not in the tables of the company model, or has no data there.",
    remedy: "Send an ISO code or a name from GET /api/v1/reference/countries; `errors` names the nearest ones.",
  },
  industry_unknown: {
    meaning: "The industry is not in the tables of the company model. It is never replaced by an average in silence.",
    remedy:
      "Send an id, a name or a code from GET /api/v1/reference/industries; `errors` names the nearest ones. `miscellaneous` asks for the average on purpose.",
  },
  scenario_unknown: {
    meaning: "A transition scenario is not known.",
    remedy: "Send ids from GET /api/v1/reference/scenarios. Case, hyphens, underscores and spaces do not matter.",
  },
  too_many_values: {
    meaning: "The request asks for more at once than is allowed: `requested` is more than `limit`.",
    remedy: "Ask in several requests. GET /api/v1/limits tells all limits.",
  },
  json_malformed: {
    meaning:
      "The body is not JSON in UTF-8, stands deeper than 16 levels, says a key twice in one object, or holds a number that is too large.",
    remedy: "Put right what stands at `line` and `column`, counted from 1.",
  },
  atlas_not_found: {
    meaning: "The maps that answers come from cannot be read at the moment.",
    remedy: ASK_AGAIN,
  },
  atlas_unavailable: {
    meaning: "A file of the maps that the answer comes from is missing or damaged, or cannot be reached.",
    remedy: ASK_AGAIN,
  },
  source_invalid: { meaning: "Something went wrong on the service's side.", remedy: REPORT },
  api_key_missing: {
    meaning: "The request has no API key.",
    remedy: "Send the key in the header field X-API-Key, once. Whoever runs the service gives out keys.",
  },
  api_key_invalid: {
    meaning: "The API key is not one that this service has given out: mistyped, cut short, or of another service.",
    remedy: "Compare the key with the one that was given out: `iso_sk_` and 64 letters and digits.",
  },
  api_key_revoked: {
    meaning: "The API key was good once; it has been revoked, or another one has taken its place.",
    remedy: "Use the account's present key, or ask whoever runs the service for one.",
  },
  account_suspended: {
    meaning: "The account of this key may not ask at present.",
    remedy: "Speak to whoever runs the service.",
  },
  customer_not_found: {
    meaning: "The account has no customer with this id. Another account's customer is not told apart from none.",
    remedy: "Take the id from the registration's answer, or from GET /latest/api/v1/customers.",
  },
  customer_id_missing: {
    meaning: "Data is asked for without saying for which customer.",
    remedy:
      "Register a customer (POST /latest/api/v1/customers), and send its `customer_id` in the header field X-Customer-ID.",
  },
  customer_id_malformed: {
    meaning: "The header field X-Customer-ID holds no UUID, or stands there more than once.",
    remedy: "Send the `customer_id` of the registration's answer, once.",
  },
  customer_not_accessible: {
    meaning:
      "The account has no customer with the id in X-Customer-ID. Another account's customer is not told apart from none.",
    remedy: "Send the `customer_id` of a customer of this account; GET /latest/api/v1/customers lists them.",
  },
  customer_archived: {
    meaning: "The customer has been archived: its usage can be read, but it asks for nothing any more.",
    remedy: "Ask for another customer, or register one with another `internal_id`.",
  },
  idempotency_key_reused: {
    meaning: "The Idempotency-Key stands for another request, which was made in the last 72 hours.",
    remedy: "Send a new key with every new request, and the same key only to repeat a request unchanged.",
  },
  rate_limited: {
    meaning: "The account, or an address with wrong keys, asks more often than is allowed.",
    remedy: "Wait for the seconds that Retry-After says. The RateLimit header fields tell how much is left.",
  },
  account_not_found: { meaning: "Something went wrong on the service's side.", remedy: REPORT },
  key_not_found: { meaning: "Something went wrong on the service's side.", remedy: REPORT },
  ledger_unavailable: {
    meaning: "Keys and customers cannot be looked up at the moment.",
    remedy: ASK_AGAIN,
  },
  usage_not_recorded: {
    meaning:
      "The answer was computed, but it could not be made certain that its usage is written down, so it was kept.",
    remedy:
      "Ask again after the seconds that Retry-After says, with the same Idempotency-Key if you sent one: the usage is then counted once at most.",
  },
  configuration_invalid: { meaning: "Something went wrong on the service's side.", remedy: REPORT },
  route_not_found: {
    meaning: "There is nothing at this address.",
    remedy: "Compare the path with those in /openapi.json; case and a slash at the end matter.",
  },
  method_not_allowed: {
    meaning: "The address exists, but not for this method.",
    remedy: "Use one of the methods that the header field Allow names.",
  },
  http_malformed: {
    meaning: "What came is not a request as HTTP/1.1 has it, or it ended too early.",
    remedy: "Send the request with a common HTTP library, with one Host field, and whole.",
  },
  headers_too_large: {
    meaning: "The address and header fields are longer than the service reads.",
    remedy: "Send fewer or shorter header fields; long lists belong into the body of a batch.",
  },
  request_timeout: {
    meaning: "The request did not arrive in time.",
    remedy: "Send it again, in one go.",
  },
  content_type_unsupported: {
    meaning: "The body is not declared as JSON in UTF-8, or it is compressed.",
    remedy: "Send Content-Type: application/json, and the body as it is.",
  },
  body_too_large: {
    meaning: "The body is longer than is allowed.",
    remedy: "Ask in several requests. GET /api/v1/limits tells how long a body may be.",
  },
  overloaded: {
    meaning: "The service has more to do than it can answer in time, or is about to stop.",
    remedy: ASK_AGAIN,
  },
  internal_error: { meaning: "Something went wrong on the service's side.", remedy: REPORT },
} as const satisfies Record<ProblemCode, ProblemText>;

/** A code, and all that there is to say about it. */
export interface ProblemPage extends ProblemText {
  readonly code: ProblemCode;
  readonly title: string;
  /** The usual one. */
  readonly status: number;
  readonly retryable: boolean;
}

/** Every code that there is. */
export const PROBLEM_CODES = Object.keys(TEXTS) as readonly ProblemCode[];

export function isProblemCode(code: string): code is ProblemCode {
  return Object.hasOwn(TEXTS, code);
}

export function problemPage(code: ProblemCode): ProblemPage {
  const { title, status, retryable } = problemOf(new Refusal(code, ""), "");
  return { code, title, status, retryable, ...TEXTS[code] };
}
