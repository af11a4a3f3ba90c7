import { IDEMPOTENCY_KEY_PATTERN } from "../../contract/headers.ts";
import { FAULT_ITEM_COUNT_MAX } from "../../errors.ts";
import type { Route } from "../route.ts";
import { Components, type Json } from "./components.ts";
import { readExamples } from "./examples.ts";
import { operationOf } from "./operation.ts";

/** Version of the HTTP contract, which also appears in the paths; the package is versioned separately. */
const CONTRACT_VERSION = "1.0.0";

const TAGS: Readonly<Record<string, string>> = {
  "Hazard risk": "Climate hazards at a location.",
  "Temperature alignment": "Implied temperature rise of a company's emissions.",
  "Company risk": "Transition and physical climate losses of a company.",
  Customers: "Subdivisions of an account that usage is attributed to.",
  Usage: "Recorded usage.",
  Service: "The service itself.",
};

/**
 * Returns the OpenAPI 3.1 document of the routes, derived from the schemas that requests are validated with.
 * @param prefix path below which clients reach the service
 */
export function openApiDocument(routes: readonly Route<unknown, unknown>[], prefix = ""): Json {
  const components = new Components();
  const context = { components, examples: readExamples(prefix) };
  const paths: Record<string, Record<string, Json>> = {};
  for (const route of routes) {
    const path = route.path.replaceAll(/:(\w+)/g, "{$1}");
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operationOf(route, context) };
  }
  const tags = new Set(routes.map(({ description }) => description.tag));
  return {
    openapi: "3.1.0",
    info: {
      title: "Isotherm",
      version: CONTRACT_VERSION,
      summary: "Climate hazards of locations, temperature alignment and climate risk of companies.",
      description: INTRODUCTION,
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    servers: [{ url: prefix === "" ? "/" : prefix, description: "The service that returned this document." }],
    tags: Object.entries(TAGS)
      .filter(([name]) => tags.has(name))
      .map(([name, description]) => ({ name, description })),
    paths,
    components: {
      securitySchemes: {
        ApiKey: {
          type: "apiKey",
          in: "header",
          name: "X-API-Key",
          description: "The account's key: `iso_sk_` and 64 letters and digits, issued by the operator of the service.",
        },
        // A security scheme and not a parameter, so that users of /docs and generated clients set it only once.
        CustomerId: {
          type: "apiKey",
          in: "header",
          name: "X-Customer-ID",
          description: "The customer that data is requested for: the UUID returned by POST /latest/api/v1/customers.",
        },
      },
      parameters: {
        IdempotencyKey: {
          name: "Idempotency-Key",
          in: "header",
          required: false,
          description:
            "Makes retries safe: the same request repeated with the same key within 72 hours is answered again and counted once.",
          schema: { type: "string", pattern: IDEMPOTENCY_KEY_PATTERN },
        },
      },
      headers: HEADERS,
      schemas: components.schemas,
      examples: components.examples,
    },
  };
}

const INTRODUCTION = `Data and analysis requests need both header fields \`X-API-Key\` and \`X-Customer-ID\`, other requests only the key; _Service_ requests without a security scheme need neither.

- Every path under \`/api/v1/\` is also available under \`/latest/api/v1/\`, and vice versa. HEAD is supported wherever GET is, and is not counted.
- Errors are returned as \`application/problem+json\`. Branch on \`code\`, and retry only if \`retryable\` is true, after the number of seconds in \`Retry-After\`. All faults of a request are reported at once, up to ${FAULT_ITEM_COUNT_MAX}. An unknown path returns 404 \`route_not_found\`, an unsupported method 405 \`method_not_allowed\`.
- Lists in a query are one parameter with commas; numbers are written as \`-?digits[.digits][e[+-]digits]\`.
- A data response is sent after its usage is on disk. Errors, nulls and responses without data are not counted; \`X-Usage-Units\` is what a response was counted as.
- Responses may gain members; no member is renamed or removed.`;

const HEADERS = {
  RequestId: {
    description: "Identifies the request, also in the operator's logs.",
    schema: { type: "string", format: "uuid" },
  },
  UsageUnits: {
    description: "Units that this response was counted as; 0 for a recognized repetition.",
    schema: { type: "integer", minimum: 0 },
  },
  IdempotentReplayed: {
    description: "`true` if the same request with the same key had already been counted.",
    schema: { type: "string", enum: ["true"] },
  },
  RateLimit: {
    description: "Requests that the account has left, and the number of seconds until all are available again.",
    schema: { type: "string" },
  },
  RateLimitPolicy: { description: "The rate limit of the account.", schema: { type: "string" } },
  RetryAfter: { description: "Seconds to wait before retrying.", schema: { type: "integer", minimum: 0 } },
  WwwAuthenticate: { description: "How to authenticate.", schema: { type: "string" } },
  ETag: {
    description:
      "Identifies the exact content; if it is sent as If-None-Match and the response has not changed, the response is 304 and not counted.",
    schema: { type: "string" },
  },
} as const;
