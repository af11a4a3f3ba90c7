/** The lines of usage reports, read in the order of an index: a page costs as much as its lines, wherever it starts. */
import { checkDateRange, checkInteger } from "./checks.ts";
import { decodeCursor, encodeCursor } from "./cursor.ts";
import {
  CSV_PAGE_LENGTH_MAX,
  type CsvPage,
  type Page,
  USAGE_LINE_COUNT_MAX,
  type UsageLine,
  type UsageQuery,
} from "./ledger.ts";
import type { Storage } from "./schema.ts";
import { type Line, type Position, type ReadBounds, selectionsOf } from "./usageSelections.ts";
import { ALL_CUSTOMERS } from "./laterMigrations.ts";
import type { Meter } from "../contract/wireTypes.ts";
import { csvCell } from "../text/csv.ts";
import { USAGE_CSV_LINE_END } from "./usageRecord.ts";

const DEFAULT_BOUNDS: ReadBounds = {
  // As many as are read in about 75 ms, or a third of that if customers use one of the three meters, as most do.
  dailySumCountMax: 300_000,
  sortedSumCountMax: 2_000,
};

/** A page of lines, or the part of it that can be read within the bounds. */
interface LinePage extends Page<Line> {
  /** Whether reading ended before the limit, so that it is not known whether lines follow. */
  readonly isPartial: boolean;
  /** Returns the cursor of the lines after a line of this page. */
  cursorAfter(line: Line): string;
}

/** A page of a report, or a part of one. */
export interface UsagePart extends Page<UsageLine> {
  /** Whether reading ended before the limit, so that it is not known whether lines follow. */
  readonly isPartial: boolean;
}

/** Returns sums by the groups of the query: a page, or the part of it that can be read within the bounds. */
export async function usage(storage: Storage, query: UsageQuery, bounds?: ReadBounds): Promise<UsagePart> {
  const { items, next, isPartial } = await readLines(storage, query, bounds);
  const { groupBy } = query;
  const byCustomer = groupBy.includes("customer");
  const byMeter = groupBy.includes("meter");
  const byPeriod = groupBy.includes("day") || groupBy.includes("month");
  const lines = items.map(({ period, customer, meter, units, requests, internal_id }) => ({
    ...(byCustomer ? { customerId: customer, ...(internal_id === null ? {} : { internalId: internal_id }) } : {}),
    ...(byMeter ? { meter: meter as Meter } : {}),
    ...(byPeriod ? { period } : {}),
    requests,
    units,
  }));
  return { items: lines, ...(next === undefined ? {} : { next }), isPartial };
}

/**
 * Reads a page of sums by the groups of the query; values that are not grouped by are empty. Grouping by day and month is
 * the same as grouping by day.
 */
async function readLines({ db }: Storage, query: UsageQuery, bounds: ReadBounds = DEFAULT_BOUNDS): Promise<LinePage> {
  const { accountId, customerId, groupBy, limit, cursor } = query;
  const { from, to } = checkDateRange(query);
  checkInteger("limit", limit, { min: 1, max: USAGE_LINE_COUNT_MAX });
  const periodUnit = groupBy.includes("day") ? "day" : groupBy.includes("month") ? "month" : undefined;
  const byCustomer = groupBy.includes("customer");
  const byMeter = groupBy.includes("meter");
  const { cursor_secret } = await db.selectFrom("ledger_state").select("cursor_secret").executeTakeFirstOrThrow();
  const filters = [accountId, customerId ?? null, from ?? null, to ?? null];
  const cursorScope = ["usage", ...filters, periodUnit ?? null, byCustomer, byMeter];
  const cursorAt = ({ period, customer, meter }: Position): string =>
    encodeCursor(cursor_secret, cursorScope, [period, customer, meter]);
  let after: Position | undefined;
  if (cursor !== undefined) {
    const [period = "", customer = "", meter = ""] = decodeCursor(cursor_secret, cursorScope, cursor);
    after = { period, customer, meter };
  }
  if (customerId === ALL_CUSTOMERS) return { items: [], isPartial: false, cursorAfter: cursorAt };
  const report = { accountId, customerId, from, to, periodUnit, byCustomer, byMeter } as const;
  const rows: Line[] = [];
  for (const read of selectionsOf(report, after)) {
    const { lines, end } = await read(db, { limit: limit + 1 - rows.length, bounds });
    rows.push(...lines);
    if (rows.length > limit) break;
    if (end !== undefined) return { items: rows, next: cursorAt(end), isPartial: true, cursorAfter: cursorAt };
  }
  const items = rows.slice(0, limit);
  const last = items.at(-1);
  const next = rows.length <= limit || last === undefined ? {} : { next: cursorAt(last) };
  return { items, ...next, isPartial: false, cursorAfter: cursorAt };
}

/**
 * Usage reports as CSV. Each page is encoded where its lines are read, because sending one text between threads costs
 * far less than sending thousands of lines.
 */

/** Returns sums by the groups of the query as lines of CSV: a page, or as much of it as fits or can be read at a time. */
export async function usageCsv(storage: Storage, query: UsageQuery): Promise<CsvPage> {
  const { items, next, cursorAfter } = await readLines(storage, query);
  let text = "";
  let last: Line | undefined;
  for (const [lineCount, line] of items.entries()) {
    const lineText = csvLineOf(line);
    if (last !== undefined && text.length + lineText.length > CSV_PAGE_LENGTH_MAX) {
      return { text, lineCount, next: cursorAfter(last) };
    }
    text += lineText;
    last = line;
  }
  return { text, lineCount: items.length, ...(next === undefined ? {} : { next }) };
}

/** Returns a line with the columns of `USAGE_CSV_HEADER`. Only ids can contain characters that must be quoted. */
function csvLineOf({ customer, internal_id, meter, period, requests, units }: Line): string {
  return `${csvCell(customer)},${csvCell(internal_id)},${meter},${period},${requests},${units}${USAGE_CSV_LINE_END}`;
}
