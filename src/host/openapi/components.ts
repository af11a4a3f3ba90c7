import type { TSchema } from "typebox";
import { EntitySchema } from "../../contract/alignmentRequest.ts";
import { CompanyRequestSchema } from "../../contract/companyRequest.ts";
import { HazardQueryInputSchema } from "../../contract/hazardQuery.ts";
import { HoldingSchema } from "../../contract/portfolioRequest.ts";
import { ProblemItemSchema, ProblemSchema } from "../../contract/problem.ts";
import { CustomerRecordSchema } from "../../contract/customers.ts";
import { HazardResultSchema } from "../../contract/hazardResult.ts";
import { UsagePageSchema } from "../../contract/usage.ts";

export type Json = Readonly<Record<string, unknown>>;

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
export function reference(kind: "schemas" | "examples" | "headers" | "parameters", name: string): Json {
  return { $ref: `#/components/${kind}/${name}` };
}

/** The schemas and examples that operations refer to, collected while the operations are written. */
export class Components {
  readonly #schemas = new Map<string, Json>();
  readonly #examples = new Map<string, Json>();

  get schemas(): Json {
    return Object.fromEntries(this.#schemas);
  }

  get examples(): Json {
    return Object.fromEntries(this.#examples);
  }

  /** Adds an example and returns a reference to it. */
  addExample(name: string, example: Json): Json {
    this.#examples.set(name, example);
    return reference("examples", name);
  }

  /** Returns a schema as the document writes it: a reference if the schema has a name, else the schema itself. */
  schema(schema: TSchema): Json {
    const name = SCHEMA_NAMES.get(schema);
    if (name === undefined) return this.#members(schema) as Json;
    if (!this.#schemas.has(name)) {
      this.#schemas.set(name, {}); // ends the recursion if the schema contains itself
      this.#schemas.set(name, this.#members(schema) as Json);
    }
    return reference("schemas", name);
  }

  #members(value: unknown): unknown {
    if (Array.isArray(value)) return value.map((item) => this.#value(item));
    if (typeof value !== "object" || value === null) return value;
    const members = Object.fromEntries(
      Object.entries(value)
        .filter(([, member]) => !isNever(member))
        .map(([key, member]) => [key, this.#value(member)]),
    );
    return "enum" in value && Array.isArray(value.enum) && !("type" in value)
      ? { type: enumType(value.enum), ...members }
      : members;
  }

  #value(value: unknown): unknown {
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? this.schema(value)
      : this.#members(value);
  }
}

/** Returns whether a schema accepts nothing, like those of members that only the static type has. */
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
