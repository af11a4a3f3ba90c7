import { type TUnsafe, Type } from "typebox";

/** A number, or null where no number exists. One schema with two types, which readers of OpenAPI 3.1 show best. */
export function numberOrNull(options: { readonly description?: string } = {}): TUnsafe<number | null> {
  return Type.Unsafe<number | null>({ type: ["number", "null"], ...options });
}

/** Text, or null where there is none. */
export function textOrNull(options: { readonly description?: string } = {}): TUnsafe<string | null> {
  return Type.Unsafe<string | null>({ type: ["string", "null"], ...options });
}
