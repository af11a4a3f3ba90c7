import type { IncomingMessage } from "node:http";
import { Fault } from "../../errors.ts";

/** Response headers that scripts of other origins may read. */
const EXPOSED_HEADERS = [
  "ETag",
  "Idempotent-Replayed",
  "Location",
  "RateLimit",
  "RateLimit-Policy",
  "Retry-After",
  "X-Atlas-Release",
  "X-Benchmark",
  "X-Item-Errors",
  "X-Request-Id",
  "X-Usage-Units",
].join(", ");
const ALLOWED_HEADERS = "Content-Type, Idempotency-Key, If-None-Match, X-API-Key, X-Customer-ID";
const PREFLIGHT_S = 7200;

/** The origins whose scripts may send requests: none unless the operator configures them. */
export class CorsPolicy {
  readonly #allowed: ReadonlySet<string>;

  /** @throws Fault `configuration_invalid` for a value that is not an origin */
  constructor(origins: readonly string[]) {
    for (const origin of origins) {
      if (origin === "*" || (URL.canParse(origin) && new URL(origin).origin === origin)) continue;
      const message = `A CORS origin must be "*" or a scheme, host and port such as https://example.org (got ${JSON.stringify(origin)}).`;
      throw new Fault("configuration_invalid", message, { details: { origin } });
    }
    this.#allowed = new Set(origins);
  }

  get isEnabled(): boolean {
    return this.#allowed.size > 0;
  }

  /** Returns the header fields that let the requesting script read the response, flat: name, value, … */
  responseFields(request: IncomingMessage): readonly string[] {
    const { origin } = request.headers;
    if (origin === undefined || !(this.#allowed.has(origin) || this.#allowed.has("*"))) return [];
    return ["Access-Control-Allow-Origin", origin, "Access-Control-Expose-Headers", EXPOSED_HEADERS];
  }

  /** Returns the header fields of the response to a CORS preflight, which browsers send without a key. */
  preflightFields(request: IncomingMessage, methods: string): readonly string[] {
    if (request.headers["access-control-request-method"] === undefined) return [];
    const fields = this.responseFields(request);
    if (fields.length === 0) return fields;
    return [
      ...fields.slice(0, 2),
      "Access-Control-Allow-Methods",
      methods,
      "Access-Control-Allow-Headers",
      ALLOWED_HEADERS,
      "Access-Control-Max-Age",
      String(PREFLIGHT_S),
    ];
  }
}
