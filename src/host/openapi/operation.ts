import type { FaultCode } from "../../errors.ts";
import type { TSchema } from "typebox";
import { PROBLEM_CONTENT_TYPE } from "../problems/problem.ts";
import { describeProblem } from "../problems/problemTexts.ts";
import type { Route } from "../route.ts";
import { type Components, type JsonObject, reference } from "./components.ts";
import type { Examples } from "./examples.ts";
import { problemsOf, statusOf } from "./routeProblems.ts";
import { ProblemSchema } from "../../contract/problem.ts";

type AnyRoute = Route<unknown, unknown>;

interface Context {
  readonly components: Components;
  readonly examples: Examples;
}

/** Security schemes that a request must satisfy, by the access of its route. */
const SECURITY = {
  open: [],
  key: [{ ApiKey: [] }],
  customer: [{ ApiKey: [], CustomerId: [] }],
} as const satisfies Record<AnyRoute["access"], readonly object[]>;

/** Describes a route as an OpenAPI operation. Adds its named schemas and its problem examples to the components. */
export function operationOf(route: AnyRoute, context: Context): JsonObject {
  const { access, metered, description } = route;
  const { body } = description;
  const { components } = context;
  const parameters = [
    ...parametersIn("path", description.path, description.parameterExamples, components),
    ...(metered === undefined ? [] : [reference("parameters", "IdempotencyKey")]),
    ...parametersIn("query", description.query, description.parameterExamples, components),
  ];
  return {
    operationId: description.operationId,
    tags: [description.tag],
    summary: description.summary,
    ...(description.description === undefined ? {} : { description: description.description }),
    security: [...SECURITY[access], ...(route.tokenScope === undefined ? [] : [{ TileToken: [] }])],
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === undefined
      ? {}
      : {
          requestBody: {
            required: true,
            content: { "application/json": { schema: components.schema(body.schema), example: body.example } },
          },
        }),
    responses: { ...successResponses(route, context), ...problemResponses(route, context) },
  };
}

function parametersIn(
  location: "path" | "query",
  schema: TSchema | undefined,
  examples: Readonly<Record<string, unknown>> = {},
  components: Components,
): readonly JsonObject[] {
  const { properties = {}, required = [] } = (schema ?? {}) as {
    readonly properties?: Readonly<Record<string, TSchema & { readonly type?: string; readonly description?: string }>>;
    readonly required?: readonly string[];
  };
  return Object.entries(properties).map(([name, member]) => {
    const { description, ...rest } = components.schema(member);
    return {
      name,
      in: location,
      required: required.includes(name),
      ...(description === undefined ? {} : { description }),
      ...(member.type === "array" ? { style: "form", explode: false } : {}),
      schema: rest,
      ...(name in examples ? { example: parameterExample(member.type, examples[name]) } : {}),
    };
  });
}

/** Splits the example of a list parameter, which is comma-separated in requests, into the list that OpenAPI expects. */
function parameterExample(type: string | undefined, example: unknown): unknown {
  if (type !== "array" || typeof example !== "string") return example;
  return example.split(",").map((item) => (/^[0-9]+$/.test(item) ? Number(item) : item));
}

function successResponses(route: AnyRoute, { components, examples }: Context): JsonObject {
  const { access, metered, revision, description } = route;
  const examplesByStatus = examples.responses[description.operationId] ?? {};
  const commonHeaders = {
    "X-Request-Id": reference("headers", "RequestId"),
    ...(access === "open"
      ? {}
      : { RateLimit: reference("headers", "RateLimit"), "RateLimit-Policy": reference("headers", "RateLimitPolicy") }),
  };
  const responses: Record<string, JsonObject> = {};
  for (const [status, response] of Object.entries(description.responses)) {
    const { contentType = "application/json", otherContentTypes = [], schema, headers = {} } = response;
    const example = examplesByStatus[status];
    responses[status] = {
      description: response.description,
      headers: {
        ...commonHeaders,
        ...(metered === undefined
          ? {}
          : {
              "X-Usage-Units": reference("headers", "UsageUnits"),
              "Idempotent-Replayed": reference("headers", "IdempotentReplayed"),
            }),
        ...(revision === undefined ? {} : { ETag: reference("headers", "ETag") }),
        ...Object.fromEntries(
          Object.entries(headers).map(([name, text]) => [name, { description: text, schema: { type: "string" } }]),
        ),
      },
      content: {
        [contentType]: {
          schema: schema === undefined ? { type: "string" } : components.schema(schema),
          ...(example === undefined ? {} : { examples: { example } }),
        },
        ...Object.fromEntries(otherContentTypes.map((type) => [type, { schema: { type: "string" } }])),
      },
    };
  }
  if (revision !== undefined) {
    responses["304"] = {
      description: "If-None-Match matches the current response. Not metered.",
      headers: { ...commonHeaders, ETag: reference("headers", "ETag") },
    };
  }
  return responses;
}

function problemResponses(route: AnyRoute, { components, examples }: Context): JsonObject {
  const codesByStatus = new Map<number, FaultCode[]>();
  for (const code of problemsOf(route)) {
    const status = statusOf(code, route);
    codesByStatus.set(status, [...(codesByStatus.get(status) ?? []), code]);
  }
  return Object.fromEntries(
    [...codesByStatus].map(([status, codes]) => {
      const exampleReferences = codes.flatMap((code) => {
        const name = `${code}_${status}`;
        const value = examples.problems[name];
        if (value === undefined) return [];
        return [[code, components.addExample(name, { summary: describeProblem(code).title, value })] as const];
      });
      const response = {
        description: codes.map((code) => `\`${code}\`: ${describeProblem(code).title}.`).join("\n\n"),
        headers: {
          "X-Request-Id": reference("headers", "RequestId"),
          ...(status === 401 ? { "WWW-Authenticate": reference("headers", "WwwAuthenticate") } : {}),
          ...(status === 429 || status === 503 ? { "Retry-After": reference("headers", "RetryAfter") } : {}),
        },
        content: {
          [PROBLEM_CONTENT_TYPE]: {
            schema: components.schema(ProblemSchema),
            examples: Object.fromEntries(exampleReferences),
          },
        },
      };
      return [String(status), response];
    }),
  );
}
