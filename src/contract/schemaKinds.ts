/** Kinds of schemas that TypeBox lacks. */
import { type TSchema, type TUnsafe, Type } from "typebox";

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
