import { type RawBuilder, type Selectable, sql } from "kysely";
import { checkDateRange, checkInteger } from "./checks.ts";
import { decodeCursor, encodeCursor } from "./cursor.ts";
import {
  type AuditReport,
  type Page,
  type RecordedEntry,
  USAGE_LINE_COUNT_MAX,
  type UsageLine,
  type UsageQuery,
} from "./ledger.ts";
import type { Storage, Tables } from "./schema.ts";
import type { Meter } from "../contract/wireTypes.ts";

/** Lengths of the prefixes of an ISO 8601 time that give its day, month and hour. */
const DAY_LENGTH = "YYYY-MM-DD".length;
const MONTH_LENGTH = "YYYY-MM".length;
const HOUR_LENGTH = "YYYY-MM-DDTHH".length;
/** Maximum number of differences that an audit lists. */
const DIFFERENCE_COUNT_MAX = 1000;

/** Sums rollups by the groups of the query. Grouping by day and month is the same as grouping by day. */
export async function usage({ db }: Storage, query: UsageQuery): Promise<Page<UsageLine>> {
  const { accountId, customerId, groupBy, limit, cursor } = query;
  const { from, to } = checkDateRange(query);
  checkInteger("limit", limit, { min: 1, max: USAGE_LINE_COUNT_MAX });
  const periodLength = groupBy.includes("day") ? DAY_LENGTH : groupBy.includes("month") ? MONTH_LENGTH : 0;
  const byCustomer = groupBy.includes("customer");
  const byMeter = groupBy.includes("meter");

  const { cursor_secret } = await db.selectFrom("ledger_state").select("cursor_secret").executeTakeFirstOrThrow();
  const filters = [accountId, customerId ?? null, from ?? null, to ?? null];
  const cursorScope = ["usage", ...filters, periodLength, byCustomer, byMeter];

  // Columns that are not grouped by are constant, so that the sort key is the same tuple for every grouping.
  const constant = sql<string>`cast('' as text)`;
  const period: RawBuilder<string> = periodLength === 0 ? constant : textPrefix("hour", periodLength);
  let rollups = db
    .selectFrom("usage_rollup")
    .select([
      period.as("period"),
      (byCustomer ? sql.ref<string>("customer_id") : constant).as("customer"),
      (byMeter ? sql.ref<string>("meter") : constant).as("meter_name"),
      "units",
      "requests",
    ])
    .where("account_id", "=", accountId);
  if (customerId !== undefined) rollups = rollups.where("customer_id", "=", customerId);
  if (from !== undefined) rollups = rollups.where("hour", ">=", from);
  if (to !== undefined) rollups = rollups.where("hour", "<", to);

  const groups = ["period", "customer", "meter_name"] as const;
  let lines = db
    .selectFrom(rollups.as("rollup"))
    .select([...groups, integerSum("units").as("units"), integerSum("requests").as("requests")])
    .groupBy([...groups])
    .orderBy("period")
    .orderBy("customer")
    .orderBy("meter_name")
    .limit(limit + 1);
  if (cursor !== undefined) {
    const [period = "", customer = "", meter = ""] = decodeCursor(cursor_secret, cursorScope, cursor);
    lines = lines.where(({ eb, refTuple, tuple }) => eb(refTuple(...groups), ">", tuple(period, customer, meter)));
  }
  const rows = await lines.execute();
  const page = rows.slice(0, limit);
  const internalIds = byCustomer
    ? await internalIdsOf(
        db,
        page.map(({ customer }) => customer),
      )
    : undefined;
  const items = page.map(({ period, customer, meter_name, units, requests }) => ({
    ...(internalIds === undefined ? {} : { customerId: customer, ...internalIds(customer) }),
    ...(byMeter ? { meter: meter_name as Meter } : {}),
    ...(periodLength === 0 ? {} : { period }),
    requests,
    units,
  }));
  const last = page.at(-1);
  if (rows.length <= limit || last === undefined) return { items };
  return { items, next: encodeCursor(cursor_secret, cursorScope, [last.period, last.customer, last.meter_name]) };
}

/** Returns a function that finds the internal id of a customer of the list. */
async function internalIdsOf(
  db: Storage["db"],
  customerIds: readonly string[],
): Promise<(customerId: string) => { readonly internalId?: string }> {
  if (customerIds.length === 0) return () => ({});
  const rows = await db
    .selectFrom("customer")
    .select(["customer_id", "internal_id"])
    .where("customer_id", "in", [...new Set(customerIds)])
    .execute();
  const internalIds = new Map(rows.map(({ customer_id, internal_id }) => [customer_id, internal_id]));
  return (customerId) => {
    const internalId = internalIds.get(customerId);
    return internalId === undefined ? {} : { internalId };
  };
}

/** Recomputes the hourly sums from the events and compares them with the rollups. */
export function audit(storage: Storage): Promise<AuditReport> {
  return storage.snapshot(async (db) => {
    const count = (table: "usage_event" | "usage_rollup"): Promise<{ count: number }> =>
      db.selectFrom(table).select(rowCount.as("count")).executeTakeFirstOrThrow();
    const key = ["account_id", "customer_id", "meter", "hour"] as const;
    const events = db
      .selectFrom("usage_event")
      .select([
        "account_id",
        "customer_id",
        "meter",
        textPrefix("recorded_at", HOUR_LENGTH).as("hour"),
        integerSum("units").as("units"),
        rowCount.as("requests"),
      ])
      .groupBy([...key]);
    const joined = db
      .selectFrom(events.as("event"))
      .fullJoin("usage_rollup as rollup", (join) =>
        key.reduce((joinOn, name) => joinOn.onRef(`event.${name}`, "=", `rollup.${name}`), join),
      )
      .select(({ fn, val }) => [
        ...key.map((name) => fn.coalesce(`event.${name}`, `rollup.${name}`).$notNull().as(name)),
        fn.coalesce("event.units", val(0)).as("event_units"),
        fn.coalesce("rollup.units", val(0)).as("rollup_units"),
        fn.coalesce("event.requests", val(0)).as("event_requests"),
        fn.coalesce("rollup.requests", val(0)).as("rollup_requests"),
      ]);
    const rows = await db
      .selectFrom(joined.as("joined"))
      .selectAll()
      .where(({ eb, or }) =>
        or([eb("event_units", "!=", eb.ref("rollup_units")), eb("event_requests", "!=", eb.ref("rollup_requests"))]),
      )
      .orderBy("hour")
      .orderBy("account_id")
      .orderBy("customer_id")
      .orderBy("meter")
      .limit(DIFFERENCE_COUNT_MAX)
      .execute();
    return {
      eventCount: (await count("usage_event")).count,
      rollupCount: (await count("usage_rollup")).count,
      differences: rows.map((row) => ({
        accountId: row.account_id,
        customerId: row.customer_id,
        meter: row.meter as Meter,
        hour: row.hour,
        eventUnits: row.event_units,
        rollupUnits: row.rollup_units,
        eventRequests: row.event_requests,
        rollupRequests: row.rollup_requests,
      })),
    };
  });
}

export interface EventQuery {
  readonly accountId?: string;
  readonly from?: string;
  readonly to?: string;
  /** The last event of the previous page. */
  readonly after?: { readonly seq: number; readonly recordedAt: string } | undefined;
  readonly limit: number;
}

/** Returns a page of events in the order of recording. */
export async function eventPage({ db }: Storage, query: EventQuery): Promise<readonly RecordedEntry[]> {
  const { accountId, after, limit } = query;
  const { from, to } = checkDateRange(query);
  // Times never decrease, so this is the order of `seq` too; the index on (recorded_at, seq) finds date ranges.
  let events = db.selectFrom("usage_event").selectAll().orderBy("recorded_at").orderBy("seq").limit(limit);
  if (accountId !== undefined) events = events.where("account_id", "=", accountId);
  if (from !== undefined) events = events.where("recorded_at", ">=", from);
  if (to !== undefined) events = events.where("recorded_at", "<", to);
  if (after !== undefined) {
    events = events.where(({ eb, refTuple, tuple }) =>
      eb(refTuple("recorded_at", "seq"), ">", tuple(after.recordedAt, after.seq)),
    );
  }
  return (await events.execute()).map(recordedEntryOf);
}

function recordedEntryOf(row: Selectable<Tables["usage_event"]>): RecordedEntry {
  return {
    seq: row.seq,
    recordedAt: row.recorded_at,
    receipt: row.receipt,
    accountId: row.account_id,
    customerId: row.customer_id,
    keyId: row.key_id,
    meter: row.meter,
    units: row.units,
    route: row.route,
    ...(row.atlas_release === null ? {} : { atlasRelease: row.atlas_release }),
  };
}

/** Returns an expression for the first `length` characters of a time. */
function textPrefix(column: "hour" | "recorded_at", length: number): RawBuilder<string> {
  return sql<string>`substr(${sql.ref(column)}, 1, ${sql.lit(length)})`;
}

/** Returns an expression for a sum as bigint: without the cast, PostgreSQL returns numeric. */
function integerSum(column: "units" | "requests") {
  return sql<number>`cast(sum(${sql.ref(column)}) as bigint)`;
}

const rowCount = sql<number>`count(*)`;
