import type { TProperties, TSchema } from "typebox";
import { Compile, type Validator } from "typebox/compile";

/**
 * Returns a function that returns the compiled validator of a schema, and compiles it when it is called first. Compiling
 * takes some milliseconds, and a command uses one or two schemas of those that its modules have.
 */
export function compileOnUse<Schema extends TSchema>(schemaOf: () => Schema): () => Validator<TProperties, Schema> {
  let validator: Validator<TProperties, Schema> | undefined;
  return () => (validator ??= Compile(schemaOf()));
}
