import type { TSchema } from "typebox";
import { EntitySchema } from "../../contract/alignmentRequest.ts";
import { CompanyRequestSchema } from "../../contract/companyRequest.ts";
import { HazardQueryInputSchema } from "../../contract/hazardQuery.ts";
import { HoldingSchema } from "../../contract/portfolioRequest.ts";
import { ProblemItemSchema, ProblemSchema } from "../../contract/problem.ts";
import { CustomerRecordSchema, UsagePageSchema } from "../../contract/accounts.ts";
import { HazardResultSchema } from "../../contract/hazardResult.ts";

export type JsonObject = Readonly<Record<string, unknown>>;

/** Schemas that the document defines once, under these names, and refers to elsewhere. */
const SCHEMA_NAMES: ReadonlyMap<TSchema, string> = new Map<TSchema, string>([
  [ProblemSchema, "Problem"],
  [ProblemItemSchema, "ProblemItem"],
  [HazardQueryInputSchema, "HazardQuery"],
  [HazardResultSchema, "HazardResult"],
  [EntitySchema, "Entity"],
  [HoldingSchema, "Holding"],
  [CompanyRequestSchema, "CompanyRequest"],
  [CustomerRecordSchema, "Customer"],
  [UsagePageSchema, "Usage"],
]);

/** Returns a reference to a component of the document. */
export function reference(kind: "schemas" | "examples" | "headers" | "parameters", name: string): JsonObject {
  return { $ref: `#/components/${kind}/${name}` };
}

/** The schemas and examples that operations refer to, collected while the operations are written. */
export class Components {
  readonly #schemas = new Map<string, JsonObject>();
  readonly #examples = new Map<string, JsonObject>();

  get schemas(): JsonObject {
    return Object.fromEntries(this.#schemas);
  }

  get examples(): JsonObject {
    return Object.fromEntries(this.#examples);
  }

  /** Adds an example and returns a reference to it. */
  addExample(name: string, example: JsonObject): JsonObject {
    this.#examples.set(name, example);
    return reference("examples", name);
  }

  /** Returns a schema as it appears in the document: a reference if it is named, otherwise an inlined copy. */
  schema(schema: TSchema): JsonObject {
    const name = SCHEMA_NAMES.get(schema);
    if (name === undefined) return this.#convertNested(schema) as JsonObject;
    if (!this.#schemas.has(name)) this.#schemas.set(name, this.#convertNested(schema) as JsonObject);
    return reference("schemas", name);
  }

  /** Converts the schemas in a list or in the members of an object. */
  #convertNested(value: unknown): unknown {
    if (Array.isArray(value)) return value.map((item) => this.#convertValue(item));
    if (typeof value !== "object" || value === null) return value;
    const members = Object.fromEntries(
      Object.entries(value)
        .filter(([, member]) => !isNever(member))
        .map(([key, member]) => [key, this.#convertValue(member)]),
    );
    return "enum" in value && Array.isArray(value.enum) && !("type" in value)
      ? { type: enumType(value.enum), ...members }
      : members;
  }

  #convertValue(value: unknown): unknown {
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? this.schema(value)
      : this.#convertNested(value);
  }
}

/** Returns whether a schema accepts nothing, such as Type.Never(), which marks members that exist only in the static type. */
function isNever(schema: unknown): boolean {
  return JSON.stringify(schema) === '{"not":{}}';
}

/** Returns the JSON type of an enum's values, which TypeBox omits and code generators need. */
function enumType(values: readonly unknown[]): string {
  const types = new Set(values.map((value) => (Number.isInteger(value) ? "integer" : typeof value)));
  const [type] = types;
  if (type !== undefined && types.size === 1) return type;
  throw new Error(`all values of an enum must have the same type (got ${values.join(", ")})`);
}
