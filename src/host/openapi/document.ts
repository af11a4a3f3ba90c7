import type { TSchema } from "typebox";
import { EntitySchema } from "../../alignment/entity.ts";
import { CompanyRequestSchema } from "../../company/request.ts";
import { FAULT_ITEM_COUNT_MAX } from "../../errors.ts";
import { HazardQuerySchema } from "../../hazard/query.ts";
import { CustomerSchema } from "../routes/customerRecord.ts";
import { EXAMPLES } from "./examples.ts";
import { PROBLEM_CONTENT_TYPE, type ProblemCode } from "../problems/problem.ts";
import { ProblemItemSchema, ProblemSchema } from "../problems/problemSchema.ts";
import { isProblemCode, PROBLEM_CODES, describeProblem } from "../problems/problemTexts.ts";
import type { Route } from "../routes/route.ts";
import { HazardResultSchema } from "../routes/hazardRisk.ts";
import { UsagePageSchema } from "../routes/usageReport.ts";

type AnyRoute = Route<unknown, unknown>;
type Json = Readonly<Record<string, unknown>>;

/** Of the contract, which the addresses name too; the program has its own. */
const CONTRACT_VERSION = "1.0.0";

/** Schemas with names of their own: they stand in the document once. */
const NAMES: ReadonlyMap<TSchema, string> = new Map<TSchema, string>([
  [ProblemSchema, "Problem"],
  [ProblemItemSchema, "ProblemItem"],
  [HazardQuerySchema, "HazardQuery"],
  [HazardResultSchema, "HazardResult"],
  [EntitySchema, "Entity"],
  [CompanyRequestSchema, "CompanyRequest"],
  [CustomerSchema, "Customer"],
  [UsagePageSchema, "Usage"],
]);

const TAGS: Readonly<Record<string, string>> = {
  "Hazard risk": "What the climate will do at a place.",
  "Temperature alignment": "How warm the world is that a company's emissions belong to.",
  "Company risk": "What transition and climate cost a company.",
  Customers: "The parts of an account that usage is counted for.",
  Usage: "What has been counted.",
  Service: "The service itself.",
};

/** Security schemes that a call must satisfy together. */
const SECURITY = {
  open: [],
  key: [{ ApiKey: [] }],
  customer: [{ ApiKey: [], CustomerId: [] }],
} as const satisfies Record<AnyRoute["access"], readonly object[]>;

/** What every route can refuse with, and what more those can that ask who is there. */
const OPEN_PROBLEMS = [
  "http_malformed",
  "headers_too_large",
  "request_timeout",
  "invalid_request",
  "overloaded",
  "internal_error",
] as const satisfies readonly ProblemCode[];
const KEY_PROBLEMS = [
  "api_key_missing",
  "api_key_invalid",
  "api_key_revoked",
  "account_suspended",
  "rate_limited",
  "ledger_unavailable",
] as const satisfies readonly ProblemCode[];
const CUSTOMER_PROBLEMS = [
  "customer_id_missing",
  "customer_id_malformed",
  "customer_not_accessible",
  "customer_archived",
] as const satisfies readonly ProblemCode[];
const BODY_PROBLEMS = [
  "content_type_unsupported",
  "body_too_large",
  "json_malformed",
] as const satisfies readonly ProblemCode[];
const METERED_PROBLEMS = ["usage_not_recorded", "idempotency_key_reused"] as const satisfies readonly ProblemCode[];

/** Every code that a route can refuse with. */
export function problemsOf({ access, method, metered, description }: AnyRoute): readonly ProblemCode[] {
  const codes = new Set<string>(OPEN_PROBLEMS);
  const add = (more: readonly string[]): void => more.forEach((code) => codes.add(code));
  if (access !== "open") add(KEY_PROBLEMS);
  if (access === "customer") add(CUSTOMER_PROBLEMS);
  if (method === "POST") add(BODY_PROBLEMS);
  if (metered !== undefined) add(METERED_PROBLEMS);
  add(description.problems);
  return PROBLEM_CODES.filter((code) => codes.delete(code)).concat(
    [...codes].map((code) => {
      if (!isProblemCode(code))
        throw new Error(`${description.operationId} names a problem ${code}, which there is not.`);
      return code;
    }),
  );
}

/** The status that a code has on a route. */
function statusOf(code: ProblemCode, { access }: AnyRoute): number {
  // That a customer is archived forbids its data, and stands in the way of registering it again.
  return code === "customer_archived" && access === "customer" ? 403 : describeProblem(code).status;
}

/** The whole contract as OpenAPI 3.1, from the schemas that requests are checked with. */
export function openApiDocument(routes: readonly AnyRoute[]): Json {
  const schemas = new Map<string, Json>();
  const examples = new Map<string, Json>();
  const collected: Collected = { schemas, examples };
  const paths: Record<string, Record<string, Json>> = {};
  for (const route of routes) {
    const path = route.path.replaceAll(/:(\w+)/g, "{$1}");
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operation(route, collected) };
  }
  const tags = new Set(routes.map(({ description }) => description.tag));
  return {
    openapi: "3.1.0",
    info: {
      title: "Isotherm",
      version: CONTRACT_VERSION,
      summary: "Climate hazards of places, temperature alignment and climate risk of companies.",
      description: INTRODUCTION,
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    servers: [{ url: "/", description: "Where this document comes from." }],
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
        // A security scheme rather than a parameter, so that a caller (and the page at /docs) states it once.
        CustomerId: {
          type: "apiKey",
          in: "header",
          name: "X-Customer-ID",
          description:
            "The customer that data is requested for: the UUID in the answer of POST /latest/api/v1/customers.",
        },
      },
      parameters: {
        IdempotencyKey: {
          name: "Idempotency-Key",
          in: "header",
          required: false,
          description:
            "Makes asking again safe: the same request with the same key, within 72 hours, is answered again and counted once.",
          schema: { type: "string", pattern: "^[!-~]{1,255}$" },
        },
      },
      headers: HEADERS,
      schemas: Object.fromEntries(schemas),
      examples: Object.fromEntries(examples),
    },
  };
}

const INTRODUCTION = `Data and analysis calls require both header fields \`X-API-Key\` and \`X-Customer-ID\`, other calls the key only; calls of the tag _Service_ that list no security scheme require neither.

- Addresses below \`/api/v1/\` are answered below \`/latest/api/v1/\` as well, and the other way round. HEAD is answered wherever GET is, and costs nothing.
- What is refused is told as \`application/problem+json\`: branch on \`code\`, and ask again only where \`retryable\` is true, after the seconds that \`Retry-After\` says. All faults of a request are told at once, up to ${FAULT_ITEM_COUNT_MAX}. An address that there is not is answered 404 \`route_not_found\`, another method 405 \`method_not_allowed\`.
- Lists in an address are written with commas in one parameter; numbers as \`-?digits[.digits][e[+-]digits]\`.
- A data answer leaves when its usage is on disk. Errors, nulls and everything that is no data cost nothing; \`X-Usage-Units\` says what an answer has cost.
- Members may be added to answers; none is renamed or dropped.`;

const HEADERS = {
  RequestId: { description: "Names the request, to its operator too.", schema: { type: "string", format: "uuid" } },
  UsageUnits: {
    description: "What this answer has been counted as; 0 for a repetition that is known again.",
    schema: { type: "integer", minimum: 0 },
  },
  IdempotentReplayed: {
    description: "`true` where the same request with the same key had been counted before.",
    schema: { type: "string", enum: ["true"] },
  },
  RateLimit: {
    description: "How many more requests the account may send at once, and in how many seconds all are free again.",
    schema: { type: "string" },
  },
  RateLimitPolicy: { description: "How often the account may ask.", schema: { type: "string" } },
  RetryAfter: { description: "Seconds after which to ask again.", schema: { type: "integer", minimum: 0 } },
  WwwAuthenticate: { description: "How to say who asks.", schema: { type: "string" } },
  ETag: {
    description: "Names these very bytes; sent back as If-None-Match, an unchanged answer is 304 and costs nothing.",
    schema: { type: "string" },
  },
} as const;

interface Collected {
  readonly schemas: Map<string, Json>;
  readonly examples: Map<string, Json>;
}

function operation(route: AnyRoute, collected: Collected): Json {
  const { access, metered, description } = route;
  const { body } = description;
  const parameters = [
    ...parametersIn("path", description.path, description.parameterExamples, collected),
    ...(metered === undefined ? [] : [reference("parameters", "IdempotencyKey")]),
    ...parametersIn("query", description.query, description.parameterExamples, collected),
  ];
  return {
    operationId: description.operationId,
    tags: [description.tag],
    summary: description.summary,
    ...(description.description === undefined ? {} : { description: description.description }),
    security: SECURITY[access],
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === undefined
      ? {}
      : {
          requestBody: {
            required: true,
            content: { "application/json": { schema: published(body.schema, collected), example: body.example } },
          },
        }),
    responses: { ...answersOf(route, collected), ...refusalsOf(route, collected) },
  };
}

function parametersIn(
  place: "path" | "query",
  schema: TSchema | undefined,
  examples: Readonly<Record<string, unknown>> = {},
  collected: Collected,
): readonly Json[] {
  const { properties = {}, required = [] } = (schema ?? {}) as {
    readonly properties?: Readonly<Record<string, TSchema & { readonly type?: string; readonly description?: string }>>;
    readonly required?: readonly string[];
  };
  return Object.entries(properties).map(([name, member]) => {
    const { description, ...rest } = published(member, collected);
    return {
      name,
      in: place,
      required: required.includes(name),
      ...(description === undefined ? {} : { description }),
      ...(member.type === "array" ? { style: "form", explode: false } : {}),
      schema: rest,
      ...(name in examples ? { example: exampleOf(member.type, examples[name]) } : {}),
    };
  });
}

/** Lists are told of as lists, though they are written with commas. */
function exampleOf(type: string | undefined, example: unknown): unknown {
  if (type !== "array" || typeof example !== "string") return example;
  return example.split(",").map((item) => (/^[0-9]+$/.test(item) ? Number(item) : item));
}

function answersOf(route: AnyRoute, collected: Collected): Json {
  const { access, metered, revision, description } = route;
  const known = EXAMPLES.answers[description.operationId] ?? {};
  const always = {
    "X-Request-Id": reference("headers", "RequestId"),
    ...(access === "open"
      ? {}
      : { RateLimit: reference("headers", "RateLimit"), "RateLimit-Policy": reference("headers", "RateLimitPolicy") }),
  };
  const answers: Record<string, Json> = {};
  for (const [status, answer] of Object.entries(description.responses)) {
    const { contentType = "application/json", alsoAs = [], schema, headers = {} } = answer;
    const example = known[status];
    answers[status] = {
      description: answer.description,
      headers: {
        ...always,
        ...(metered === undefined
          ? {}
          : {
              "X-Usage-Units": reference("headers", "UsageUnits"),
              "Idempotent-Replayed": reference("headers", "IdempotentReplayed"),
            }),
        ...(revision === undefined ? {} : { ETag: reference("headers", "ETag") }),
        ...Object.fromEntries(
          Object.entries(headers).map(([name, says]) => [name, { description: says, schema: { type: "string" } }]),
        ),
      },
      content: {
        [contentType]: {
          schema: schema === undefined ? { type: "string" } : published(schema, collected),
          ...(example === undefined ? {} : { examples: { shown: example } }),
        },
        ...Object.fromEntries(alsoAs.map((type) => [type, { schema: { type: "string" } }])),
      },
    };
  }
  if (revision !== undefined) {
    answers["304"] = {
      description: "If-None-Match names what would be answered. It costs nothing.",
      headers: { ...always, ETag: reference("headers", "ETag") },
    };
  }
  return answers;
}

function refusalsOf(route: AnyRoute, collected: Collected): Json {
  const byStatus = new Map<number, ProblemCode[]>();
  for (const code of problemsOf(route)) {
    const status = statusOf(code, route);
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  return Object.fromEntries(
    [...byStatus].map(([status, codes]) => {
      const examples = codes.flatMap((code) => {
        const example = exampleReference(code, status, collected);
        return example === undefined ? [] : [[code, example] as const];
      });
      const refusal = {
        description: codes.map((code) => `\`${code}\`: ${describeProblem(code).title}.`).join("\n\n"),
        headers: {
          "X-Request-Id": reference("headers", "RequestId"),
          ...(status === 401 ? { "WWW-Authenticate": reference("headers", "WwwAuthenticate") } : {}),
          ...(status === 429 || status === 503 ? { "Retry-After": reference("headers", "RetryAfter") } : {}),
        },
        content: {
          [PROBLEM_CONTENT_TYPE]: {
            schema: published(ProblemSchema, collected),
            examples: Object.fromEntries(examples),
          },
        },
      };
      return [String(status), refusal];
    }),
  );
}

function exampleReference(code: ProblemCode, status: number, { examples }: Collected): Json | undefined {
  const name = `${code}_${status}`;
  const value = EXAMPLES.problems[name];
  if (value === undefined) return undefined;
  examples.set(name, { summary: describeProblem(code).title, value });
  return reference("examples", name);
}

/** A schema as the document has it: those with names once, and referred to. */
function published(schema: TSchema, collected: Collected): Json {
  const name = NAMES.get(schema);
  if (name === undefined) return membersOf(schema, collected) as Json;
  if (!collected.schemas.has(name)) {
    collected.schemas.set(name, {}); // keeps its place, should it hold itself
    collected.schemas.set(name, membersOf(schema, collected) as Json);
  }
  return reference("schemas", name);
}

function membersOf(value: unknown, collected: Collected): unknown {
  if (Array.isArray(value)) return value.map((item) => publishedValue(item, collected));
  if (typeof value !== "object" || value === null) return value;
  const members = Object.fromEntries(
    Object.entries(value).map(([key, member]) => [key, publishedValue(member, collected)]),
  );
  return "enum" in value && Array.isArray(value.enum) && !("type" in value)
    ? { type: typeOfValues(value.enum), ...members }
    : members;
}

/** The JSON type of an enum's values, which TypeBox leaves out and code generators ask for. */
function typeOfValues(values: readonly unknown[]): string {
  const types = new Set(values.map((value) => (Number.isInteger(value) ? "integer" : typeof value)));
  const [type] = types;
  if (type !== undefined && types.size === 1) return type;
  throw new Error(`The values of an enum must have one type: ${values.join(", ")}`);
}

function publishedValue(value: unknown, collected: Collected): unknown {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? published(value, collected)
    : membersOf(value, collected);
}

function reference(kind: "schemas" | "examples" | "headers" | "parameters", name: string): Json {
  return { $ref: `#/components/${kind}/${name}` };
}
