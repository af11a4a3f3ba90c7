/** The queries behind usage reports, which read the lines in the order of an index. */
import { type Kysely, type RawBuilder, sql } from "kysely";
import { METERS } from "../contract/names.ts";
import type { Tables } from "./schema.ts";
import { ALL_CUSTOMERS, ALL_TIME } from "./laterMigrations.ts";

const DAY_LENGTH = "YYYY-MM-DD".length;
const MONTH_LENGTH = "YYYY-MM".length;
const DAY_MS = 86_400_000;
/** Sorts after every meter. */
const AFTER_ALL_METERS = "~";

/** Bounds on what one call reads. */
export interface ReadBounds {
  /** Daily sums that are added up, or searched for in vain. */
  readonly dailySumCountMax: number;
  /** Daily sums of a range that are sorted for each page, instead of searching for those of every customer. */
  readonly sortedSumCountMax: number;
}

/** A report: its account, filters and groups. */
export interface Report {
  readonly accountId: string;
  readonly customerId: string | undefined;
  readonly from: string | undefined;
  readonly to: string | undefined;
  readonly periodUnit: "day" | "month" | undefined;
  readonly byCustomer: boolean;
  readonly byMeter: boolean;
}

/** Position of a line in its report; values that are not grouped by are empty. */
export interface Position {
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

/** Reads the lines of a part of a report. `end` is the position up to which it has read if that is not its end. */
export type Selection = (
  db: Kysely<Tables>,
  options: { readonly limit: number; readonly bounds: ReadBounds },
) => Promise<{ readonly lines: readonly Line[]; readonly end?: Position }>;

/** Returns the selections that yield, one after the other, the lines of a report after a position. */
export function selectionsOf(report: Report, after: Position | undefined): readonly Selection[] {
  const { customerId, byCustomer, periodUnit, from, to } = report;
  if (customerId !== undefined || !byCustomer) return [inOrder((limit) => ofOneCustomer(report, after, limit))];
  if (periodUnit === "day") return [inOrder((limit) => ofDays(report, after, limit))];
  if (periodUnit === "month") return monthSelections(report, after);
  if (from === undefined && to === undefined) {
    return [inOrder((limit) => ofPeriods(report, after, { limit, first: ALL_TIME, end: nextText(ALL_TIME) }))];
  }
  return [withinPeriod(report, after, { keyPeriod: ALL_TIME, label: ALL_TIME, from, to })];
}

/** Creates the selection of a query that reads at most a few sums per line. */
function inOrder(queryOf: (limit: number) => RawBuilder<unknown>): Selection {
  return async (db, { limit }) => ({ lines: (await withInternalIds(queryOf(limit)).execute(db)).rows });
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

/** A range of days, and the period that lists its customers. */
interface PeriodRange {
  /** The period in `usage_total` that lists the customers. */
  readonly keyPeriod: string;
  /** The period of the lines. */
  readonly label: string;
  readonly from: string | undefined;
  readonly to: string | undefined;
}

/**
 * Lines per customer over a range of days: the customers of a period, each with a search of its days. Reads no more
 * customers than the bounds allow, whether or not they have usage in the range. If there are only a few daily sums in the
 * range, sorts these.
 */
function withinPeriod(report: Report, after: Position | undefined, range: PeriodRange): Selection {
  const { accountId } = report;
  const { keyPeriod, label } = range;
  const start = after?.period === label ? after : undefined;
  return async (db, { limit, bounds }) => {
    if (await hasFewSums(db, report, range, bounds.sortedSumCountMax)) {
      return { lines: (await withInternalIds(sortedWithin(report, start, { ...range, limit })).execute(db)).rows };
    }
    const dayCount = await recordedDayCount(db, accountId, range);
    if (dayCount === 0) return { lines: [] };
    const customerCountMax = Math.max(1, Math.floor(bounds.dailySumCountMax / (dayCount * METERS.length)));
    // The rest of a customer between two meters of which the last page ended is read in addition.
    const isAfter = start === undefined ? [] : [sql`customer_id > ${start.customer}`];
    const last = await sql<{ customer_id: string }>`
      select customer_id from usage_total
        where ${allOf([sql`account_id = ${accountId} and period = ${keyPeriod}`, ...isAfter])}
        group by customer_id order by customer_id limit 1 offset ${customerCountMax - 1}`.execute(db);
    const lastCustomer = last.rows[0]?.customer_id;
    const { rows: lines } = await withInternalIds(sumsWithin(report, start, { ...range, lastCustomer, limit })).execute(
      db,
    );
    if (lastCustomer === undefined) return { lines };
    return { lines, end: { period: label, customer: lastCustomer, meter: AFTER_ALL_METERS } };
  };
}

/** Whether a range of days has at most `countMax` daily sums. */
async function hasFewSums(
  db: Kysely<Tables>,
  { accountId }: Report,
  days: Pick<PeriodRange, "from" | "to">,
  countMax: number,
): Promise<boolean> {
  const { rows } = await sql`
    select 1 from usage_daily where ${allOf(dailySums(accountId, days))} limit 1 offset ${countMax}`.execute(db);
  return rows.length === 0;
}

/** The daily sums of the customers in a range of days. The function call makes the planner search by day, not by customer. */
function dailySums(
  accountId: string,
  { from = "", to }: { readonly from?: string | undefined; readonly to?: string | undefined },
): readonly RawBuilder<unknown>[] {
  return [sql`account_id = ${accountId} and length(customer_id) > 0`, ...dayRange(sql`day`, { from, to })];
}

/** The lines of `withinPeriod`, from all daily sums of the range. */
function sortedWithin(
  { accountId, byMeter }: Report,
  start: Position | undefined,
  { label, limit, ...days }: PeriodRange & { readonly limit: number },
): RawBuilder<unknown> {
  const groups = byMeter ? sql`customer_id, meter` : sql`customer_id`;
  const isAfter = start === undefined ? [] : [isBeyond(groups, byMeter, [start.customer], start.meter)];
  return sql`
    select cast(${label} as text) as period, customer_id as customer, ${byMeter ? sql`meter` : EMPTY} as meter, ${SUMS}
      from usage_daily
      where ${allOf([...dailySums(accountId, days), ...isAfter])}
      group by ${groups} order by ${groups} limit ${limit}`;
}

/** Returns the number of days of a range from the account's first day with usage to its last one. */
async function recordedDayCount(
  db: Kysely<Tables>,
  accountId: string,
  { from, to }: Pick<PeriodRange, "from" | "to">,
): Promise<number> {
  const { rows } = await sql<{ first_day: string | null; last_day: string | null }>`
    select (select min(day) from usage_daily where account_id = ${accountId}) as first_day,
      (select max(day) from usage_daily where account_id = ${accountId}) as last_day`.execute(db);
  const { first_day: first, last_day: last } = rows[0] ?? { first_day: null, last_day: null };
  if (first === null || last === null) return 0;
  const startMs = Date.parse(from !== undefined && from > first ? from : first);
  const endMs = to !== undefined && to <= last ? Date.parse(to) : Date.parse(last) + DAY_MS;
  return Math.max(0, (endMs - startMs) / DAY_MS);
}

function sumsWithin(
  report: Report,
  start: Position | undefined,
  range: PeriodRange & { readonly lastCustomer: string | undefined; readonly limit: number },
): RawBuilder<unknown> {
  const { accountId, byMeter } = report;
  const { keyPeriod, label, limit, lastCustomer, ...days } = range;
  const groups = byMeter ? sql`known.customer_id, known.meter` : sql`known.customer_id`;
  const customers = [
    ...(start === undefined ? [] : [isBeyond(groups, byMeter, [start.customer], start.meter)]),
    ...(lastCustomer === undefined ? [] : [sql`known.customer_id <= ${lastCustomer}`]),
  ];
  // SQLite never reorders a cross join.
  return sql`
    select cast(${label} as text) as period, known.customer_id as customer, ${byMeter ? sql`known.meter` : EMPTY} as meter,
        cast(sum(daily.units) as bigint) as units, cast(sum(daily.requests) as bigint) as requests
      from usage_total as known cross join usage_daily as daily
      where ${allOf([
        sql`known.account_id = ${accountId} and known.period = ${keyPeriod}`,
        ...customers,
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
    selections.push(withinPeriod(report, after, { keyPeriod: label, label, ...days }));
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
      const wholeMonths = { first, end };
      selections.push(inOrder((limit) => ofPeriods(report, after, { ...wholeMonths, limit })));
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
