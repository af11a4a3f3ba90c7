import type { IncomingMessage } from "node:http";
import { Fault } from "../../errors.ts";

/** What scripts of other origins may read beside the body. */
const EXPOSED = [
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

/** The origins whose scripts may ask: none, unless whoever runs the service names them. */
export class CorsPolicy {
  readonly #allowed: ReadonlySet<string>;

  /** @throws Fault `configuration_invalid` for what is no origin */
  constructor(origins: readonly string[]) {
    for (const origin of origins) {
      if (origin === "*" || (URL.canParse(origin) && new URL(origin).origin === origin)) continue;
      const message = `${JSON.stringify(origin)} is no origin; write scheme, host and port alone: https://example.org`;
      throw new Fault("configuration_invalid", message, { details: { origin } });
    }
    this.#allowed = new Set(origins);
  }

  get isEnabled(): boolean {
    return this.#allowed.size > 0;
  }

  /** The header fields that let the script that asks read the answer, flat: name, value, … */
  responseFields(request: IncomingMessage): readonly string[] {
    const { origin } = request.headers;
    if (origin === undefined || !(this.#allowed.has(origin) || this.#allowed.has("*"))) return [];
    return ["Access-Control-Allow-Origin", origin, "Access-Control-Expose-Headers", EXPOSED];
  }

  /** What a browser asks before it lets a script ask; a key is never sent with that. */
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
