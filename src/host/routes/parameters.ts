import type { Static, TObject } from "typebox";
import { FAULT_ITEM_COUNT_MAX, Fault, type FaultItem } from "../../errors.ts";
import { findSchemaErrors, type ValueSchema } from "../../schemaErrors.ts";
import { toParameterItem, decodeParameters } from "../../parameters.ts";

/**
 * Reads the query parts of a route's addresses.
 *
 * @param schema every parameter there is
 * @param explainMore what no schema says; asked where the parameters have the right shapes
 * @returns a function that throws Fault `invalid_request` with everything that is wrong
 */
export function parameterReader<Schema extends TObject>(
  schema: Schema,
  explainMore: (parameters: Static<Schema>) => readonly FaultItem[] = () => [],
): (queryText: string) => Static<Schema> {
  const shape: ValueSchema = schema;
  return (queryText) => {
    const { input, items, refused } = decodeParameters(queryText, shape.properties ?? {});
    const misread = findSchemaErrors(shape, input, { name: "The query", skip: refused }).map(toParameterItem);
    const found = [...items, ...misread];
    if (found.length === 0) found.push(...explainMore(input as Static<Schema>));
    if (found.length > 0) throw invalidRequest(found);
    return input as Static<Schema>;
  };
}

/** For addresses without parameters: whatever is given is a slip. */
export function refuseParameters(queryText: string): void {
  const { items } = decodeParameters(queryText, {});
  if (items.length === 0) return;
  throw invalidRequest(items.map((item) => ({ ...item, detail: "This address takes no parameters." })));
}

/** @param found at least one thing that is wrong */
export function invalidRequest(found: readonly FaultItem[]): Fault {
  const items = found.slice(0, FAULT_ITEM_COUNT_MAX);
  const first = items[0]?.detail;
  if (first === undefined) throw new Error("Nothing is wrong with what is refused.");
  const count = items.length === FAULT_ITEM_COUNT_MAX ? `At least ${items.length}` : String(items.length);
  const message = items.length === 1 ? first : `${count} things are wrong with the request. The first: ${first}`;
  return new Fault("invalid_request", message, { items });
}
