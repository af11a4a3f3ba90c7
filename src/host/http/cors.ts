import type { IncomingHttpHeaders } from "node:http";
import type { FaultItem } from "../../errors.ts";
import { quote } from "../../validation/schemaErrors.ts";

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
  "X-Block-Size-Cells",
  "X-Item-Errors",
  "X-Request-Id",
  "X-Usage-Units",
].join(", ");
const ALLOWED_HEADERS = "Content-Type, Idempotency-Key, If-None-Match, X-API-Key, X-Customer-ID";
const PREFLIGHT_MAX_AGE_S = 7200;

/** Returns an error for each text in a list that is not an origin. */
export function corsOriginErrors(origins: unknown): readonly FaultItem[] {
  if (!Array.isArray(origins)) return [];
  return origins.flatMap((origin: unknown, index) => {
    if (typeof origin !== "string" || origin === "*") return [];
    if (URL.canParse(origin) && new URL(origin).origin === origin) return [];
    const detail = `A CORS origin must be "*" or a scheme, host and port such as https://example.org (got ${quote(origin)}).`;
    return [{ pointer: `/corsOrigins/${index}`, code: "malformed" as const, detail }];
  });
}

/** The origins whose scripts may send requests: none unless the operator configures them. */
export class CorsPolicy {
  readonly #allowed: ReadonlySet<string>;

  /** @param origins origins for which `corsOriginErrors` returns no errors */
  constructor(origins: readonly string[]) {
    this.#allowed = new Set(origins);
  }

  get isEnabled(): boolean {
    return this.#allowed.size > 0;
  }

  /** Returns the header fields that let the requesting script read the response, flat: name, value, … */
  responseFields({ origin }: IncomingHttpHeaders): readonly string[] {
    if (origin === undefined || !(this.#allowed.has(origin) || this.#allowed.has("*"))) return [];
    return ["Access-Control-Allow-Origin", origin, "Access-Control-Expose-Headers", EXPOSED_HEADERS];
  }

  /** Returns the header fields of the response to a CORS preflight, which browsers send without a key. */
  preflightFields(headers: IncomingHttpHeaders, methods: string): readonly string[] {
    if (headers["access-control-request-method"] === undefined) return [];
    const fields = this.responseFields(headers);
    if (fields.length === 0) return fields;
    return [
      ...fields.slice(0, 2),
      "Access-Control-Allow-Methods",
      methods,
      "Access-Control-Allow-Headers",
      ALLOWED_HEADERS,
      "Access-Control-Max-Age",
      String(PREFLIGHT_MAX_AGE_S),
    ];
  }
}
