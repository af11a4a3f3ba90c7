import { IDEMPOTENCY_KEY_PATTERN } from "../../contract/ranges.ts";
import { FAULT_ITEM_COUNT_MAX } from "../../errors.ts";
import type { Route } from "../route.ts";
import { Components, type JsonObject } from "./components.ts";
import { readExamples } from "./examples.ts";
import { operationOf } from "./operation.ts";

/** Version of the HTTP contract, which also appears in the paths; the package is versioned separately. */
const CONTRACT_VERSION = "1.0.0";

const TAGS: Readonly<Record<string, string>> = {
  "Hazard risk": "Climate hazards at a location.",
  "Map tiles": "Layers of the atlas as tiles for map clients.",
  "Temperature alignment": "Implied temperature rise of a company's emissions.",
  "Company risk": "Transition and physical climate losses of a company.",
  Customers: "Subdivisions of an account, to which usage is attributed.",
  Usage: "Recorded usage of an account and its customers.",
  Service: "Status, limits and documentation of the service.",
};

/**
 * Returns the OpenAPI 3.1 document of the routes, derived from the schemas that requests are validated with.
 * @param prefix path below which clients reach the service
 */
export function openApiDocument(routes: readonly Route<unknown, unknown>[], prefix = ""): JsonObject {
  const components = new Components();
  const context = { components, examples: readExamples(prefix) };
  const paths: Record<string, Record<string, JsonObject>> = {};
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
          description:
            "API key of the account, issued by the operator of the service: `iso_sk_` followed by 64 letters and digits.",
        },
        TileToken: {
          type: "apiKey",
          in: "query",
          name: "token",
          description: "Token of one layer, which the URLs in its TileJSON contain.",
        },
        // A security scheme and not a parameter, so that users of /docs and generated clients set it only once.
        CustomerId: {
          type: "apiKey",
          in: "header",
          name: "X-Customer-ID",
          description:
            "Id of the customer for whom data is requested: the UUID returned by POST /latest/api/v1/customers.",
        },
      },
      parameters: {
        IdempotencyKey: {
          name: "Idempotency-Key",
          in: "header",
          required: false,
          description:
            "Makes retries safe. If a request is repeated with the same key within 72 hours, it is answered again and counted only once.",
          schema: { type: "string", pattern: IDEMPOTENCY_KEY_PATTERN },
        },
      },
      headers: HEADERS,
      schemas: components.schemas,
      examples: components.examples,
    },
  };
}

const INTRODUCTION = `Data and analysis requests need the header fields \`X-API-Key\` and \`X-Customer-ID\`. Other requests need only the key, except that _Service_ requests without a security scheme need neither.

- Every path under \`/api/v1/\` is also available under \`/latest/api/v1/\`, and vice versa. HEAD is supported wherever GET is supported, and is not counted.
- Errors are returned as \`application/problem+json\`. Branch on \`code\`, and retry only if \`retryable\` is true, after the number of seconds in \`Retry-After\`. The errors in the parameters and the body of a request are reported together, up to ${FAULT_ITEM_COUNT_MAX}. An unknown path returns 404 \`route_not_found\`, and an unsupported method returns 405 \`method_not_allowed\`.
- In a query string, a list is one parameter whose elements are separated by commas. Numbers are written as \`[-]digits[.digits][e[+|-]digits]\`.
- A data response is sent only after its usage has been written to disk. Errors, null values and responses without data are not counted. \`X-Usage-Units\` gives the number of units that were counted.
- Responses may gain members; no member is renamed or removed.`;

const HEADERS = {
  RequestId: {
    description: "Id of the request, which the operator's logs also contain.",
    schema: { type: "string", format: "uuid" },
  },
  UsageUnits: {
    description: "Number of units counted for this response; 0 if it repeats a response that was already counted.",
    schema: { type: "integer", minimum: 0 },
  },
  IdempotentReplayed: {
    description: "`true` if the same request with the same key had already been counted.",
    schema: { type: "string", enum: ["true"] },
  },
  RateLimit: {
    description:
      "Number of requests that the account can still send, and the number of seconds until the full number is available again.",
    schema: { type: "string" },
  },
  RateLimitPolicy: { description: "The rate limit of the account.", schema: { type: "string" } },
  RetryAfter: { description: "Seconds to wait before retrying.", schema: { type: "integer", minimum: 0 } },
  WwwAuthenticate: { description: "Authentication scheme that the request must use.", schema: { type: "string" } },
  ETag: {
    description:
      "Identifies the exact content. A request that sends it as If-None-Match is answered with 304, which is not counted, if the content has not changed.",
    schema: { type: "string" },
  },
} as const;
