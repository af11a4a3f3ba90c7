/** The lines of usage reports, read in the order of an index: a page costs as much as its lines, wherever it starts. */
import { type RawBuilder, sql } from "kysely";
import { checkDateRange, checkInteger } from "./checks.ts";
import { decodeCursor, encodeCursor } from "./cursor.ts";
import { type Page, USAGE_LINE_COUNT_MAX, type UsageLine, type UsageQuery } from "./ledger.ts";
import type { Storage } from "./schema.ts";
import { ALL_CUSTOMERS, ALL_TIME } from "./usageSums.ts";
import type { Meter } from "../contract/wireTypes.ts";

const DAY_LENGTH = "YYYY-MM-DD".length;
const MONTH_LENGTH = "YYYY-MM".length;

/** A report: its account, filters and groups. */
interface Report {
  readonly accountId: string;
  readonly customerId: string | undefined;
  readonly from: string | undefined;
  readonly to: string | undefined;
  readonly periodUnit: "day" | "month" | undefined;
  readonly byCustomer: boolean;
  readonly byMeter: boolean;
}

/** Position of a line in its report; values that are not grouped by are empty. */
interface Position {
  readonly period: string;
  readonly customer: string;
  readonly meter: string;
}

/** A line as read. */
export interface Line extends Position {
  readonly units: number;
  readonly requests: number;
  readonly internal_id: string | null;
}

/** Returns a page of sums by the groups of the query. */
export async function usage(storage: Storage, query: UsageQuery): Promise<Page<UsageLine>> {
  const { items, ...page } = await readLines(storage, query);
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
  return { items: lines, ...page };
}

/**
 * Reads a page of sums by the groups of the query; values that are not grouped by are empty. Grouping by day and month is
 * the same as grouping by day.
 */
export async function readLines({ db }: Storage, query: UsageQuery): Promise<Page<Line>> {
  const { accountId, customerId, groupBy, limit, cursor } = query;
  const { from, to } = checkDateRange(query);
  checkInteger("limit", limit, { min: 1, max: USAGE_LINE_COUNT_MAX });
  const periodUnit = groupBy.includes("day") ? "day" : groupBy.includes("month") ? "month" : undefined;
  const byCustomer = groupBy.includes("customer");
  const byMeter = groupBy.includes("meter");
  if (customerId === ALL_CUSTOMERS) return { items: [] };

  const { cursor_secret } = await db.selectFrom("ledger_state").select("cursor_secret").executeTakeFirstOrThrow();
  const filters = [accountId, customerId ?? null, from ?? null, to ?? null];
  const cursorScope = ["usage", ...filters, periodUnit ?? null, byCustomer, byMeter];
  let after: Position | undefined;
  if (cursor !== undefined) {
    const [period = "", customer = "", meter = ""] = decodeCursor(cursor_secret, cursorScope, cursor);
    after = { period, customer, meter };
  }
  const report = { accountId, customerId, from, to, periodUnit, byCustomer, byMeter } as const;
  const rows: Line[] = [];
  for (const select of selectionsOf(report, after)) {
    const remaining = limit + 1 - rows.length;
    if (remaining === 0) break;
    rows.push(...(await withInternalIds(select(remaining)).execute(db)).rows);
  }
  const items = rows.slice(0, limit);
  const last = items.at(-1);
  if (rows.length <= limit || last === undefined) return { items };
  return { items, next: encodeCursor(cursor_secret, cursorScope, [last.period, last.customer, last.meter]) };
}

type Selection = (limit: number) => RawBuilder<unknown>;

/** Returns the queries whose results, one after the other, are the lines of a report after a position. */
function selectionsOf(report: Report, after: Position | undefined): readonly Selection[] {
  const { customerId, byCustomer, periodUnit, from, to } = report;
  if (customerId !== undefined || !byCustomer) return [(limit) => ofOneCustomer(report, after, limit)];
  if (periodUnit === "day") return [(limit) => ofDays(report, after, limit)];
  if (periodUnit === "month") return monthSelections(report, after);
  if (from === undefined && to === undefined) {
    return [(limit) => ofPeriods(report, after, { limit, first: ALL_TIME, end: nextText(ALL_TIME) })];
  }
  const days = { keyPeriod: ALL_TIME, label: ALL_TIME, from, to };
  return [(limit) => withinPeriod(report, after, { limit, ...days })];
}

/** The day as an expression, so that the planner searches by customer instead of by day. */
const DAY = sql`substr(day, 1, ${sql.lit(DAY_LENGTH)})`;

/** Lines of a single customer, or of all customers together: at most one row per day and meter is added up. */
function ofOneCustomer(report: Report, after: Position | undefined, limit: number): RawBuilder<unknown> {
  const { accountId, customerId, byCustomer, byMeter, periodUnit, from, to } = report;
  const period =
    periodUnit === undefined ? EMPTY : periodUnit === "day" ? DAY : sql`substr(day, 1, ${sql.lit(MONTH_LENGTH)})`;
  const rows = sql`
    select ${period} as period, ${byCustomer ? sql`customer_id` : EMPTY} as customer, ${byMeter ? sql`meter` : EMPTY} as meter,
        units, requests
      from usage_daily
      where ${allOf([
        sql`account_id = ${accountId} and customer_id = ${customerId ?? ALL_CUSTOMERS}`,
        ...dayRange(DAY, { from, to }),
      ])}`;
  const isAfter =
    after === undefined ? [] : [sql`(period, customer, meter) > (${after.period}, ${after.customer}, ${after.meter})`];
  return sql`
    select period, customer, meter, ${SUMS}
      from (${rows}) as daily ${isAfter.length === 0 ? sql`` : sql`where ${allOf(isAfter)}`}
      group by period, customer, meter order by period, customer, meter limit ${limit}`;
}

/** Lines per day and customer, in the order of the primary key of `usage_daily`. */
function ofDays(report: Report, after: Position | undefined, limit: number): RawBuilder<unknown> {
  const { accountId, byMeter, from, to } = report;
  const groups = byMeter ? sql`day, customer_id, meter` : sql`day, customer_id`;
  // The position implies `from`. A range of days and the function call make the planner search by day, not by customer.
  const start =
    after === undefined
      ? dayRange(sql`day`, { from: from ?? "", to })
      : [isBeyond(groups, byMeter, [after.period, after.customer], after.meter), ...dayRange(sql`day`, { to })];
  return sql`
    select day as period, customer_id as customer, ${byMeter ? sql`meter` : EMPTY} as meter, ${SUMS}
      from usage_daily
      where ${allOf([sql`account_id = ${accountId} and length(customer_id) > 0`, ...start])}
      group by ${groups} order by ${groups} limit ${limit}`;
}

/** Lines per period and customer, in the order of the primary key of `usage_total`. */
function ofPeriods(
  report: Report,
  after: Position | undefined,
  { first, end, limit }: { readonly first: string; readonly end: string | undefined; readonly limit: number },
): RawBuilder<unknown> {
  const { accountId, byMeter } = report;
  const groups = byMeter ? sql`period, customer_id, meter` : sql`period, customer_id`;
  const isAfter = after !== undefined && after.period >= first;
  const start = isAfter
    ? isBeyond(groups, byMeter, [after.period, after.customer], after.meter)
    : sql`period >= ${first}`;
  return sql`
    select period, customer_id as customer, ${byMeter ? sql`meter` : EMPTY} as meter, ${SUMS}
      from usage_total
      where ${allOf([sql`account_id = ${accountId}`, start, ...(end === undefined ? [] : [sql`period < ${end}`])])}
      group by ${groups} order by ${groups} limit ${limit}`;
}

/** Lines per customer over a range of days: the customers of a period, each with a search of its days. */
function withinPeriod(
  report: Report,
  after: Position | undefined,
  range: {
    /** The period in `usage_total` that lists the customers. */
    readonly keyPeriod: string;
    /** The period of the lines. */
    readonly label: string;
    readonly from: string | undefined;
    readonly to: string | undefined;
    readonly limit: number;
  },
): RawBuilder<unknown> {
  const { accountId, byMeter } = report;
  const { keyPeriod, label, limit, ...days } = range;
  const groups = byMeter ? sql`known.customer_id, known.meter` : sql`known.customer_id`;
  const isAfter =
    after === undefined || after.period !== label ? [] : [isBeyond(groups, byMeter, [after.customer], after.meter)];
  // SQLite never reorders a cross join.
  return sql`
    select cast(${label} as text) as period, known.customer_id as customer, ${byMeter ? sql`known.meter` : EMPTY} as meter,
        cast(sum(daily.units) as bigint) as units, cast(sum(daily.requests) as bigint) as requests
      from usage_total as known cross join usage_daily as daily
      where ${allOf([
        sql`known.account_id = ${accountId} and known.period = ${keyPeriod}`,
        ...isAfter,
        sql`daily.account_id = ${accountId} and daily.customer_id = known.customer_id and daily.meter = known.meter`,
        ...dayRange(sql`daily.day`, days),
      ])}
      group by ${groups} order by ${groups} limit ${limit}`;
}

/** Lines per month and customer: a partial first month, whole months, a partial last month. */
function monthSelections(report: Report, after: Position | undefined): readonly Selection[] {
  const { from, to } = report;
  const selections: Selection[] = [];
  const addPartial = (days: { readonly from: string; readonly to: string }): void => {
    const label = monthOf(days.from);
    if (after !== undefined && label < after.period) return;
    selections.push((limit) => withinPeriod(report, after, { keyPeriod: label, label, ...days, limit }));
  };
  let first = nextText(ALL_TIME);
  if (from !== undefined) {
    first = monthOf(from);
    if (!from.endsWith("-01")) {
      const end = firstDayOf(nextMonth(first));
      addPartial({ from, to: to === undefined || end < to ? end : to });
      first = nextMonth(first);
    }
  }
  const end = to === undefined ? undefined : monthOf(to);
  if (end === undefined || first < end) {
    if (after === undefined || end === undefined || after.period < end) {
      selections.push((limit) => ofPeriods(report, after, { first, end, limit }));
    }
  }
  if (end !== undefined && to !== undefined && !to.endsWith("-01") && first <= end) {
    addPartial({ from: firstDayOf(end), to });
  }
  return selections;
}

/** Adds the internal ids of the customers to the lines of a page. */
function withInternalIds(lines: RawBuilder<unknown>): RawBuilder<Line> {
  return sql<Line>`
    select line.period, line.customer, line.meter, line.units, line.requests, customer.internal_id
      from (${lines}) as line left join customer on customer.customer_id = line.customer
      order by line.period, line.customer, line.meter`;
}

const EMPTY = sql<string>`cast('' as text)`;
/** Without the cast, PostgreSQL returns numeric. */
const SUMS = sql`cast(sum(units) as bigint) as units, cast(sum(requests) as bigint) as requests`;

/** Returns the condition that a line's groups come after a position. */
function isBeyond(
  groups: RawBuilder<unknown>,
  byMeter: boolean,
  keys: readonly string[],
  meter: string,
): RawBuilder<unknown> {
  return sql`(${groups}) > (${sql.join(byMeter ? [...keys, meter] : keys)})`;
}

function dayRange(
  day: RawBuilder<unknown>,
  { from, to }: { readonly from?: string | undefined; readonly to?: string | undefined },
): readonly RawBuilder<unknown>[] {
  return [...(from === undefined ? [] : [sql`${day} >= ${from}`]), ...(to === undefined ? [] : [sql`${day} < ${to}`])];
}

function allOf(conditions: readonly RawBuilder<unknown>[]): RawBuilder<unknown> {
  return sql.join(conditions, sql` and `);
}

/** Returns a text that sorts directly after another one and before every longer text of digits. */
function nextText(text: string): string {
  return `${text}\u0001`;
}

function monthOf(day: string): string {
  return day.slice(0, MONTH_LENGTH);
}

function firstDayOf(month: string): string {
  return `${month}-01`;
}

function nextMonth(month: string): string {
  const [year = 0, number = 0] = month.split("-").map(Number);
  const next = number === 12 ? [year + 1, 1] : [year, number + 1];
  return next.map((part, i) => String(part).padStart(i === 0 ? 4 : 2, "0")).join("-");
}
