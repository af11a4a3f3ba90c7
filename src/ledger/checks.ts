import { customerTextError } from "../contract/ranges.ts";
import { Fault } from "../errors.ts";
import { quote } from "../validation/schemaErrors.ts";

const DATE = /^[0-9]{4}-[0-9]{2}-[0-9]{2}$/;

/**
 * Checks a name or id that a user chose.
 * @throws Fault `invalid_request`
 */
export function checkText(name: string, text: string): string {
  const error = customerTextError(text);
  if (error !== undefined) throw invalidField(name, error.code, error.detail);
  return text;
}

/**
 * Checks an integer from `min` to `max`.
 * @throws Fault `invalid_request`
 */
export function checkInteger(
  name: string,
  value: number,
  { min, max }: { readonly min: number; readonly max: number },
): number {
  if (Number.isInteger(value) && value >= min && value <= max) return value;
  throw invalidField(name, "out_of_range", `must be an integer from ${min} to ${max} (got ${value}).`);
}

/**
 * Checks a range of UTC dates, `from` inclusive, `to` exclusive.
 * @throws Fault `invalid_request`
 */
export function checkDateRange({
  from,
  to,
}: {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}): {
  readonly from: string | undefined;
  readonly to: string | undefined;
} {
  checkDate("from", from);
  checkDate("to", to);
  if (from !== undefined && to !== undefined && to < from) {
    throw invalidField("to", "out_of_range", `must not be before from, ${from} (got ${to}).`);
  }
  return { from, to };
}

/** Returns whether a text is an existing date in the form YYYY-MM-DD. */
export function isDate(text: string): boolean {
  // `Date.parse` accepts February 30 and returns the time of March 1 or 2.
  return DATE.test(text) && !Number.isNaN(Date.parse(text)) && new Date(text).toISOString().startsWith(text);
}

/** Checks a UTC date, if one is given. @throws Fault `invalid_request` */
export function checkDate(name: string, text: string | undefined): void {
  if (text === undefined || isDate(text)) return;
  throw invalidField(name, "malformed", `must be a date in the form YYYY-MM-DD (got ${quote(text)}).`);
}

function invalidField(name: string, code: "out_of_range" | "malformed", problem: string): Fault {
  const detail = `${name} ${problem}`;
  return new Fault("invalid_request", detail, { items: [{ pointer: `/${name}`, code, detail }] });
}
