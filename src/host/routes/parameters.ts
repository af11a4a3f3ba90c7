import type { Static, TObject } from "typebox";
import { FAULT_ITEM_COUNT_MAX, Fault, type FaultItem } from "../../errors.ts";
import { findSchemaErrors, type ValueSchema } from "../../schemaErrors.ts";
import { toParameterItem, decodeParameters } from "../../parameters.ts";

/**
 * Returns a function that decodes and validates the query parameters of a route. It throws `invalid_request` with every
 * fault.
 *
 * @param schema all parameters of the route
 * @param explainMore returns faults that the schema cannot express; called only if the parameters match the schema
 */
export function parameterReader<Schema extends TObject>(
  schema: Schema,
  explainMore: (parameters: Static<Schema>) => readonly FaultItem[] = () => [],
): (queryText: string) => Static<Schema> {
  const shape: ValueSchema = schema;
  return (queryText) => {
    const { input, items, refused } = decodeParameters(queryText, shape.properties ?? {});
    const schemaItems = findSchemaErrors(shape, input, { name: "The query", skip: refused }).map(toParameterItem);
    const faults = [...items, ...schemaItems];
    if (faults.length === 0) faults.push(...explainMore(input as Static<Schema>));
    if (faults.length > 0) throw invalidRequest(faults);
    return input as Static<Schema>;
  };
}

/** @throws Fault `invalid_request` if the query of a route without parameters is not empty */
export function rejectParameters(queryText: string): void {
  const { items } = decodeParameters(queryText, {});
  if (items.length === 0) return;
  throw invalidRequest(items.map((item) => ({ ...item, detail: "This path takes no parameters." })));
}

/**
 * Returns an `invalid_request` fault that lists at most FAULT_ITEM_COUNT_MAX items.
 *
 * @param faults at least one item
 */
export function invalidRequest(faults: readonly FaultItem[]): Fault {
  const items = faults.slice(0, FAULT_ITEM_COUNT_MAX);
  const first = items[0]?.detail;
  if (first === undefined) throw new Error("an invalid request needs at least one fault");
  const count = items.length === FAULT_ITEM_COUNT_MAX ? `at least ${items.length}` : String(items.length);
  const message = items.length === 1 ? first : `The request has ${count} faults. The first: ${first}`;
  return new Fault("invalid_request", message, { items });
}
