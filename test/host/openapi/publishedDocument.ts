import { Compile } from "typebox/compile";
import { openApiDocument } from "../../../src/host/openapi/document.ts";
import { ROUTES } from "../../../src/host/routes/routeList.ts";

/** The subset of JSON Schema that the OpenAPI document uses. */
export interface JsonSchema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly minimum?: number;
  readonly exclusiveMinimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly examples?: readonly unknown[];
  readonly format?: string;
  readonly items?: JsonSchema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly uniqueItems?: boolean;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly patternProperties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean;
  readonly anyOf?: readonly JsonSchema[];
}

interface MediaType {
  readonly schema: JsonSchema;
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, { readonly $ref?: string; readonly value?: unknown }>>;
}

export interface Parameter {
  readonly $ref?: string;
  readonly name: string;
  readonly in: "path" | "query" | "header";
  readonly required: boolean;
  readonly schema: JsonSchema;
  readonly example?: unknown;
}

export interface Operation {
  readonly operationId: string;
  readonly security: readonly object[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: Readonly<Record<string, MediaType>> };
  readonly responses: Readonly<
    Record<
      string,
      {
        readonly description: string;
        readonly headers: Readonly<Record<string, unknown>>;
        readonly content?: Readonly<Record<string, MediaType>>;
      }
    >
  >;
}

interface OpenApiDocument {
  readonly openapi: string;
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, JsonSchema>>;
    readonly parameters: Readonly<Record<string, Parameter>>;
    readonly securitySchemes: Readonly<Record<string, object>>;
    readonly examples: Readonly<Record<string, { readonly value: unknown }>>;
  };
}

/** The document after a JSON round trip, as clients receive it. */
export const DOCUMENT = JSON.parse(JSON.stringify(openApiDocument(ROUTES))) as OpenApiDocument;

export interface OperationAtPath extends Operation {
  readonly method: string;
  readonly path: string;
}

export const OPERATIONS: readonly OperationAtPath[] = Object.entries(DOCUMENT.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ ...operation, method: method.toUpperCase(), path })),
);

export function operationOf(operationId: string): OperationAtPath {
  const operation = OPERATIONS.find((each) => each.operationId === operationId);
  if (operation === undefined) throw new Error(`the document has no operation ${operationId}`);
  return operation;
}

/** Resolves a reference to a schema. */
export function resolveReference(schema: JsonSchema): JsonSchema {
  const name = schema.$ref?.replace("#/components/schemas/", "");
  if (name === undefined) return schema;
  const found = DOCUMENT.components.schemas[name];
  if (found === undefined) throw new Error(`the document has no schema ${name}`);
  return found;
}

/** Returns the parameters of an operation with references resolveReference. */
export function parametersOf({ parameters = [] }: Operation): readonly Parameter[] {
  return parameters.map((parameter) => {
    const name = parameter.$ref?.replace("#/components/parameters/", "");
    if (name === undefined) return parameter;
    const found = DOCUMENT.components.parameters[name];
    if (found === undefined) throw new Error(`the document has no parameter ${name}`);
    return found;
  });
}

/** Disallows additional members at every level: responses must be documented completely. */
function disallowAdditionalMembers(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(disallowAdditionalMembers);
  if (typeof value !== "object" || value === null) return value;
  const members = Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, disallowAdditionalMembers(member)]),
  );
  const isObject = members["type"] === "object" && members["properties"] !== undefined;
  return isObject ? { ...members, additionalProperties: false } : members;
}

const STRICT_COMPONENTS = disallowAdditionalMembers({ schemas: DOCUMENT.components.schemas });
const checks = new Map<JsonSchema, (value: unknown) => readonly string[]>();

/** Returns the violations of a schema of the document, without additional members; empty if the value is valid. */
export function schemaViolations(schema: JsonSchema, value: unknown): readonly string[] {
  let check = checks.get(schema);
  if (check === undefined) {
    const compiled = Compile({
      ...(disallowAdditionalMembers(schema) as object),
      components: STRICT_COMPONENTS,
    } as object);
    check = (given) =>
      compiled.Check(given)
        ? []
        : compiled.Errors(given).map(({ instancePath, message }) => `${instancePath}: ${message}`);
    checks.set(schema, check);
  }
  return check(value);
}

/** Returns the violations of the document by a response; empty if it is valid. */
export function responseViolations(
  operation: Operation,
  status: number,
  contentType: string,
  value: unknown,
): readonly string[] {
  const schema = operation.responses[status]?.content?.[contentType]?.schema;
  if (schema !== undefined) return schemaViolations(schema, value);
  return [`the document has no response ${status} of type ${contentType} for ${operation.operationId}`];
}
