import { Fault } from "../errors.ts";
import { quote } from "../schemaErrors.ts";

const TEXT_LENGTH_MAX = 200;
/** Control characters, and unpaired surrogates, which have no UTF-8 encoding. */
const FORBIDDEN_CHARACTER = /[\p{Cc}\p{Cs}]/u;
const DATE = /^[0-9]{4}-[0-9]{2}-[0-9]{2}$/;
/** Maximum number of items of a page. */
export const PAGE_COUNT_MAX = 500;

/**
 * Checks a name or id chosen by a user: 1 to 200 characters, without control characters.
 * @throws Fault `invalid_request`
 */
export function checkText(name: string, text: string): string {
  const length = Array.from(text).length;
  if (length < 1 || length > TEXT_LENGTH_MAX) {
    throw invalid(name, "out_of_range", `must be 1 to ${TEXT_LENGTH_MAX} characters long (got ${length}).`);
  }
  if (FORBIDDEN_CHARACTER.test(text)) {
    const problem = "must not contain control characters, such as line breaks, or unpaired surrogates.";
    throw invalid(name, "malformed", problem);
  }
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
  throw invalid(name, "out_of_range", `must be an integer from ${min} to ${max} (got ${value}).`);
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
    throw invalid("to", "out_of_range", `must not be before from, ${from} (got ${to}).`);
  }
  return { from, to };
}

function checkDate(name: string, date: string | undefined): void {
  if (date === undefined) return;
  const isDay = DATE.test(date) && !Number.isNaN(Date.parse(date)) && new Date(date).toISOString().startsWith(date);
  if (!isDay) throw invalid(name, "malformed", `must be a date in the form YYYY-MM-DD (got ${quote(date)}).`);
}

function invalid(name: string, code: "out_of_range" | "malformed", problem: string): Fault {
  const detail = `${name} ${problem}`;
  return new Fault("invalid_request", detail, { items: [{ pointer: `/${name}`, code, detail }] });
}
