/** Kinds of schemas that TypeBox lacks. */
import { type TSchema, type TUnsafe, Type } from "typebox";
import { PAGE_ITEMS } from "./ranges.ts";

interface Description {
  readonly description?: string;
}

interface NumberKeywords extends Description {
  readonly minimum?: number;
  readonly exclusiveMinimum?: number;
  readonly maximum?: number;
}

/** Returns a schema of a number or null. It lists both types, which OpenAPI 3.1 viewers show better than a union. */
export function numberOrNull(options: NumberKeywords = {}): TUnsafe<number | null> {
  return Type.Unsafe<number | null>({ type: ["number", "null"], ...options });
}

/** Returns a schema of a string or null. */
export function textOrNull(options: Description = {}): TUnsafe<string | null> {
  return Type.Unsafe<string | null>({ type: ["string", "null"], ...options });
}

/** Key of the values that an `openEnum` lists; not enumerable, so it is not published. */
const KNOWN_VALUES = "~knownValues";

/**
 * Returns a schema of a string with known values, to which later releases may add. The published schema accepts any string, so that
 * generated clients accept new values; the static type also lists the values of this release, which editors then
 * suggest.
 */
export function openEnum<const Values extends readonly string[]>(
  values: Values,
  options: Description = {},
): TUnsafe<Values[number] | (string & {})> {
  const schema = Type.Unsafe<Values[number] | (string & {})>({ type: "string", ...options });
  return Object.defineProperty(schema, KNOWN_VALUES, { value: values });
}

/** Returns a copy of a schema with another description. */
export function describe<Schema extends TSchema>(schema: Schema, description: string): Schema {
  // Not a spread, because TypeBox stores kind and modifiers in properties that are not enumerable.
  const descriptors = {
    ...Object.getOwnPropertyDescriptors(schema),
    description: { value: description, enumerable: true },
  };
  return Object.defineProperties({}, descriptors) as Schema;
}

/** Query parameters of lists that are returned in pages. */
export const PAGE_PARAMETERS = {
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: PAGE_ITEMS.max,
      default: PAGE_ITEMS.default,
      description: "Maximum number of items.",
    }),
  ),
  cursor: Type.Optional(Type.String({ description: "`next` of the previous page; omit it for the first page." })),
};

export const PageParametersSchema = Type.Object(PAGE_PARAMETERS, { additionalProperties: false });

/** Returns the schema of one page of a list. */
export function pageOf<Schema extends TSchema>(item: Schema) {
  return Type.Object({
    items: Type.Array(item),
    next: Type.Optional(Type.String({ description: "Cursor of the next page; absent on the last page." })),
  });
}
