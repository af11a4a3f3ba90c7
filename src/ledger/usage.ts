import { type RawBuilder, type Selectable, sql } from "kysely";
import { checkSpan, checkWhole } from "./checks.ts";
import { openCursor, sealCursor } from "./cursor.ts";
import {
  type AuditReport,
  type Meter,
  type Page,
  type RecordedEntry,
  USAGE_LINE_COUNT_MAX,
  type UsageLine,
  type UsageQuestion,
} from "./ledger.ts";
import type { Storage, Tables } from "./schema.ts";

/** Characters of a time that say its day, its month and its hour. */
const DAY_LENGTH = "YYYY-MM-DD".length;
const MONTH_LENGTH = "YYYY-MM".length;
const HOUR_LENGTH = "YYYY-MM-DDTHH".length;
/** More of them tell nothing new. */
const DIFFERENCE_COUNT_MAX = 1000;

/** Sums of the rollups, by what the question groups by; by day and month is by day, which says the month too. */
export async function usage({ db }: Storage, question: UsageQuestion): Promise<Page<UsageLine>> {
  const { accountId, customerId, groupBy, limit, cursor } = question;
  const { from, to } = checkSpan(question);
  checkWhole("limit", limit, { least: 1, most: USAGE_LINE_COUNT_MAX });
  const periodLength = groupBy.includes("day") ? DAY_LENGTH : groupBy.includes("month") ? MONTH_LENGTH : 0;
  const byCustomer = groupBy.includes("customer");
  const byMeter = groupBy.includes("meter");

  const { cursor_secret } = await db.selectFrom("ledger_state").select("cursor_secret").executeTakeFirstOrThrow();
  const order = ["usage", accountId, customerId ?? null, from ?? null, to ?? null, periodLength, byCustomer, byMeter];

  // What is not grouped by is the same for all, so that the order is one tuple however it is asked.
  const same = sql<string>`cast('' as text)`;
  const period: RawBuilder<string> = periodLength === 0 ? same : firstOf("hour", periodLength);
  let rollups = db
    .selectFrom("usage_rollup")
    .select([
      period.as("period"),
      (byCustomer ? sql.ref<string>("customer_id") : same).as("customer"),
      (byMeter ? sql.ref<string>("meter") : same).as("meter_name"),
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
    .select([...groups, wholeSum("units").as("units"), wholeSum("requests").as("requests")])
    .groupBy([...groups])
    .orderBy("period")
    .orderBy("customer")
    .orderBy("meter_name")
    .limit(limit + 1);
  if (cursor !== undefined) {
    const [period = "", customer = "", meter = ""] = openCursor(cursor_secret, order, cursor);
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
  return { items, next: sealCursor(cursor_secret, order, [last.period, last.customer, last.meter_name]) };
}

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
  const known = new Map(rows.map(({ customer_id, internal_id }) => [customer_id, internal_id]));
  return (customerId) => {
    const internalId = known.get(customerId);
    return internalId === undefined ? {} : { internalId };
  };
}

/** Adds the events up anew, hour by hour, and compares with what was added up as they were recorded. */
export function audit(storage: Storage): Promise<AuditReport> {
  return storage.snapshot(async (db) => {
    const count = (table: "usage_event" | "usage_rollup"): Promise<{ count: number }> =>
      db.selectFrom(table).select(wholeCount.as("count")).executeTakeFirstOrThrow();
    const key = ["account_id", "customer_id", "meter", "hour"] as const;
    const events = db
      .selectFrom("usage_event")
      .select([
        "account_id",
        "customer_id",
        "meter",
        firstOf("recorded_at", HOUR_LENGTH).as("hour"),
        wholeSum("units").as("units"),
        wholeCount.as("requests"),
      ])
      .groupBy([...key]);
    const either = db
      .selectFrom(events.as("event"))
      .fullJoin("usage_rollup as rollup", (join) =>
        key.reduce((joined, name) => joined.onRef(`event.${name}`, "=", `rollup.${name}`), join),
      )
      .select(({ fn, val }) => [
        ...key.map((name) => fn.coalesce(`event.${name}`, `rollup.${name}`).$notNull().as(name)),
        fn.coalesce("event.units", val(0)).as("event_units"),
        fn.coalesce("rollup.units", val(0)).as("rollup_units"),
        fn.coalesce("event.requests", val(0)).as("event_requests"),
        fn.coalesce("rollup.requests", val(0)).as("rollup_requests"),
      ]);
    const rows = await db
      .selectFrom(either.as("either"))
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

export interface EventQuestion {
  readonly accountId?: string;
  readonly from?: string;
  readonly to?: string;
  /** Those after this one. */
  readonly after?: { readonly seq: number; readonly recordedAt: string } | undefined;
  readonly limit: number;
}

/** Some events, in the order they were recorded. */
export async function eventPage({ db }: Storage, question: EventQuestion): Promise<readonly RecordedEntry[]> {
  const { accountId, after, limit } = question;
  const { from, to } = checkSpan(question);
  // Times never go back, so this is the order of `seq` too, and the index on it finds where a span begins.
  let events = db.selectFrom("usage_event").selectAll().orderBy("recorded_at").orderBy("seq").limit(limit);
  if (accountId !== undefined) events = events.where("account_id", "=", accountId);
  if (from !== undefined) events = events.where("recorded_at", ">=", from);
  if (to !== undefined) events = events.where("recorded_at", "<", to);
  if (after !== undefined) {
    events = events.where(({ eb, refTuple, tuple }) =>
      eb(refTuple("recorded_at", "seq"), ">", tuple(after.recordedAt, after.seq)),
    );
  }
  return (await events.execute()).map(entryOf);
}

function entryOf(row: Selectable<Tables["usage_event"]>): RecordedEntry {
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

/** The first characters of a time. */
function firstOf(column: "hour" | "recorded_at", length: number): RawBuilder<string> {
  return sql<string>`substr(${sql.ref(column)}, 1, ${sql.lit(length)})`;
}

/** Sums of whole numbers are of another kind in each database. */
function wholeSum(column: "units" | "requests") {
  return sql<number>`cast(sum(${sql.ref(column)}) as bigint)`;
}

const wholeCount = sql<number>`count(*)`;
