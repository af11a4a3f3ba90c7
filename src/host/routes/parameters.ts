import type { Static, TObject } from "typebox";
import { FAULT_ITEM_COUNT_MAX, Fault, type FaultItem } from "../../errors.ts";
import { findSchemaErrors, summarizeItems, type ValueSchema } from "../../validation/schemaErrors.ts";
import { toParameterItem, decodeParameters } from "../../validation/parameters.ts";

/**
 * Returns a function that decodes and validates the query parameters of a route. It throws `invalid_request` with all
 * errors.
 *
 * @param schema all parameters of the route
 * @param findMoreErrors returns errors that the schema cannot express; called only if the parameters match the schema
 */
export function parameterReader<Schema extends TObject>(
  schema: Schema,
  findMoreErrors: (parameters: Static<Schema>) => readonly FaultItem[] = () => [],
): (queryText: string) => Static<Schema> {
  const shape: ValueSchema = schema;
  return (queryText) => {
    const { input, items, refused } = decodeParameters(queryText, shape.properties ?? {});
    const schemaItems = findSchemaErrors(shape, input, { name: "The query", skip: refused }).map(toParameterItem);
    const errors = [...items, ...schemaItems];
    if (errors.length === 0) errors.push(...findMoreErrors(input as Static<Schema>));
    if (errors.length > 0) throw invalidRequest(errors);
    return input as Static<Schema>;
  };
}

/** Rejects the query of a route without parameters if it is not empty. @throws Fault `invalid_request` */
export function rejectParameters(queryText: string): void {
  const { items } = decodeParameters(queryText, {});
  if (items.length === 0) return;
  throw invalidRequest(items.map((item) => ({ ...item, detail: "This path takes no parameters." })));
}

/**
 * Returns an `invalid_request` fault that lists at most FAULT_ITEM_COUNT_MAX items.
 *
 * @param errors at least one item
 */
export function invalidRequest(errors: readonly FaultItem[]): Fault {
  const items = errors.slice(0, FAULT_ITEM_COUNT_MAX);
  if (items.length === 0) throw new Error("an invalid request needs at least one fault");
  return new Fault("invalid_request", summarizeItems(items, "the request"), { items });
}
