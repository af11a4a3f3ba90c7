import { type TUnsafe, Type } from "typebox";

/** Schema of a number or null, as one schema with two types: OpenAPI 3.1 viewers show that better than a union. */
export function numberOrNull(options: { readonly description?: string } = {}): TUnsafe<number | null> {
  return Type.Unsafe<number | null>({ type: ["number", "null"], ...options });
}

/** Schema of a string or null. */
export function textOrNull(options: { readonly description?: string } = {}): TUnsafe<string | null> {
  return Type.Unsafe<string | null>({ type: ["string", "null"], ...options });
}
