import { Fault } from "../errors.ts";
import { quote } from "../explain.ts";

const TEXT_LENGTH_MAX = 200;
/** Control characters, and halves of a pair that stand alone, which no storage keeps apart. */
const UNFIT = /[\p{Cc}\p{Cs}]/u;
const DATE = /^[0-9]{4}-[0-9]{2}-[0-9]{2}$/;
export const PAGE_COUNT_MAX = 500;

/**
 * A name or an id that somebody chose: 1 to 200 characters, none of them control characters.
 * @throws Fault `invalid_request`
 */
export function checkText(name: string, text: string): string {
  const length = Array.from(text).length;
  if (length < 1 || length > TEXT_LENGTH_MAX) {
    throw invalid(name, "out_of_range", `must be 1 to ${TEXT_LENGTH_MAX} characters long, not ${length}.`);
  }
  if (UNFIT.test(text)) {
    throw invalid(name, "malformed", "must be whole characters, without control characters such as line ends.");
  }
  return text;
}

/** @throws Fault `invalid_request` */
export function checkWhole(
  name: string,
  value: number,
  { least, most }: { readonly least: number; readonly most: number },
): number {
  if (Number.isInteger(value) && value >= least && value <= most) return value;
  throw invalid(name, "out_of_range", `must be a whole number from ${least} to ${most}, not ${value}.`);
}

/**
 * A span of days in UTC, with its first and without its last.
 * @throws Fault `invalid_request`
 */
export function checkSpan({ from, to }: { readonly from?: string | undefined; readonly to?: string | undefined }): {
  readonly from: string | undefined;
  readonly to: string | undefined;
} {
  checkDate("from", from);
  checkDate("to", to);
  if (from !== undefined && to !== undefined && to < from) {
    throw invalid("to", "out_of_range", `must not lie before from, ${from}; it is ${to}.`);
  }
  return { from, to };
}

function checkDate(name: string, date: string | undefined): void {
  if (date === undefined) return;
  const isDay = DATE.test(date) && !Number.isNaN(Date.parse(date)) && new Date(date).toISOString().startsWith(date);
  if (!isDay) throw invalid(name, "malformed", `must be a day written YYYY-MM-DD, not ${quote(date)}.`);
}

function invalid(name: string, code: "out_of_range" | "malformed", what: string): Fault {
  const detail = `${name} ${what}`;
  return new Fault("invalid_request", detail, { items: [{ pointer: `/${name}`, code, detail }] });
}
