import { type RawBuilder, sql } from "kysely";
import type { EventRow } from "./chain.ts";
import { latestPrune, rollupHash } from "./chainAudit.ts";
import { checkDateRange } from "./checks.ts";
import type { AuditReport, RecordedEntry } from "./ledger.ts";
import type { Storage } from "./schema.ts";
import { ALL_CUSTOMERS, ALL_TIME } from "./laterMigrations.ts";
import type { Meter } from "../contract/wireTypes.ts";

/** Length of the prefix of an ISO 8601 time that gives its hour. */
const HOUR_LENGTH = "YYYY-MM-DDTHH".length;
/** Maximum length of each list of differences in an audit. */
const DIFFERENCE_COUNT_MAX = 1000;

/** The part of an audit that compares sums. */
export interface SumAudit extends Omit<AuditReport, "chain"> {
  /** Whether the hourly sums of pruned events have changed since the pruning, or there are some without a pruning. */
  readonly hasChangedPrunedSums: boolean;
}

/**
 * Recomputes the hourly sums from the events, and all other sums from the hourly ones, and compares the results with the
 * stored sums.
 */
export function auditSums(storage: Storage): Promise<SumAudit> {
  return storage.snapshot(async (db) => {
    const pruned = await latestPrune(db);
    const prunedSeq = pruned?.last_seq ?? 0;
    const key = ["account_id", "customer_id", "meter", "hour"] as const;
    const recorded = db
      .selectFrom("usage_event")
      .select([
        "account_id",
        "customer_id",
        "meter",
        textPrefix("recorded_at", HOUR_LENGTH).as("hour"),
        integerSum("units").as("units"),
        rowCount.as("requests"),
      ])
      .where("seq", ">", prunedSeq)
      .groupBy([...key]);
    const carried = db.selectFrom("usage_carried").select([...key, "units", "requests"]);
    // Without a pruning, nothing protects these sums, and nothing can have been carried.
    const events = pruned === undefined ? recorded : recorded.unionAll(carried);
    const expected = db
      .selectFrom(events.as("recorded"))
      .select([...key, integerSum("units").as("units"), integerSum("requests").as("requests")])
      .groupBy([...key]);
    // The events of earlier hours are archived.
    const rollups = db
      .selectFrom("usage_rollup")
      .selectAll()
      .where("hour", ">=", pruned?.before_day ?? "");
    const joined = db
      .selectFrom(expected.as("event"))
      .fullJoin(rollups.as("rollup"), (join) =>
        key.reduce((joinOn, name) => joinOn.onRef(`event.${name}`, "=", `rollup.${name}`), join),
      )
      .select(({ fn, val }) => [
        ...key.map((name) => fn.coalesce(`event.${name}`, `rollup.${name}`).$castTo<string>().as(name)),
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
      eventCount: (
        await db
          .selectFrom("usage_event")
          .select(rowCount.as("count"))
          .where("seq", ">", prunedSeq)
          .executeTakeFirstOrThrow()
      ).count,
      rollupCount: (await db.selectFrom("usage_rollup").select(rowCount.as("count")).executeTakeFirstOrThrow()).count,
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
      sumDifferences: await sumDifferences(db),
      hasChangedPrunedSums:
        pruned === undefined
          ? (await carried.limit(1).execute()).length > 0
          : (await prunedSumsHash(db, pruned.before_day)) !== pruned.rollup_hash,
    };
  });
}

async function prunedSumsHash(db: Storage["db"], beforeDay: string): Promise<string> {
  const carried = db.selectFrom("usage_carried").selectAll().orderBy("account_id").orderBy("customer_id");
  return rollupHash(db, beforeDay, await carried.orderBy("meter").orderBy("hour").execute());
}

interface SumRow {
  readonly account_id: string;
  readonly customer_id: string;
  readonly meter: Meter;
  readonly period: string;
  readonly hourly_units: number;
  readonly units: number;
  readonly hourly_requests: number;
  readonly requests: number;
}

/** Compares the daily, monthly and total sums with the hourly ones. */
async function sumDifferences(db: Storage["db"]): Promise<AuditReport["sumDifferences"]> {
  const day = sql`substr(hour, 1, 10)`;
  const month = sql`substr(hour, 1, 7)`;
  const hourlySums = (period: RawBuilder<unknown>, customer: RawBuilder<unknown>): RawBuilder<unknown> => sql`
    select account_id, ${customer} as customer_id, meter, ${period} as period, ${integerSum("units")} as units,
        ${integerSum("requests")} as requests
      from usage_rollup group by 1, 2, 3, 4`;
  const customer = sql`customer_id`;
  const compared = [
    {
      stored: sql`select *, day as period from usage_daily where customer_id <> ${ALL_CUSTOMERS}`,
      expected: hourlySums(day, customer),
    },
    {
      stored: sql`select *, day as period from usage_daily where customer_id = ${ALL_CUSTOMERS}`,
      expected: hourlySums(day, sql`cast('' as text)`),
    },
    { stored: sql`select * from usage_total where period <> ${ALL_TIME}`, expected: hourlySums(month, customer) },
    {
      stored: sql`select * from usage_total where period = ${ALL_TIME}`,
      expected: hourlySums(sql`cast('' as text)`, customer),
    },
  ];
  const differences: SumRow[] = [];
  for (const { stored, expected } of compared) {
    const { rows } = await sql<SumRow>`
      select * from (
        select coalesce(hourly.account_id, stored.account_id) as account_id,
            coalesce(hourly.customer_id, stored.customer_id) as customer_id,
            coalesce(hourly.meter, stored.meter) as meter, coalesce(hourly.period, stored.period) as period,
            coalesce(hourly.units, 0) as hourly_units, coalesce(stored.units, 0) as units,
            coalesce(hourly.requests, 0) as hourly_requests, coalesce(stored.requests, 0) as requests
          from (${expected}) as hourly full join (${stored}) as stored
            on stored.account_id = hourly.account_id and stored.customer_id = hourly.customer_id
              and stored.meter = hourly.meter and stored.period = hourly.period
      ) as compared
      where hourly_units <> units or hourly_requests <> requests
      order by period, account_id, customer_id, meter limit ${DIFFERENCE_COUNT_MAX - differences.length}`.execute(db);
    differences.push(...rows);
  }
  return differences.map((row) => ({
    accountId: row.account_id,
    ...(row.customer_id === ALL_CUSTOMERS ? {} : { customerId: row.customer_id }),
    meter: row.meter,
    ...(row.period === ALL_TIME ? {} : { period: row.period }),
    hourlyUnits: row.hourly_units,
    units: row.units,
    hourlyRequests: row.hourly_requests,
    requests: row.requests,
  }));
}

export interface EventQuery {
  readonly accountId?: string;
  readonly from?: string;
  readonly to?: string;
  /** The last event of the previous page. */
  readonly after?: { readonly seq: number; readonly recordedAt: string } | undefined;
  readonly limit: number;
}

/** Returns a page of events in the order of their times, without archived ones that are not deleted yet. */
export async function eventPage({ db }: Storage, query: EventQuery): Promise<readonly RecordedEntry[]> {
  const { accountId, after, limit } = query;
  const { from, to } = checkDateRange(query);
  // The order of `seq` too, unless the clock was reset; the index on (recorded_at, seq) finds date ranges.
  let events = db.selectFrom("usage_event").selectAll().orderBy("recorded_at").orderBy("seq").limit(limit);
  events = events.where("seq", ">", (await latestPrune(db))?.last_seq ?? 0);
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

/** Converts a row to an entry. */
export function recordedEntryOf(row: EventRow): RecordedEntry {
  return {
    seq: row.seq,
    recordedAt: row.recorded_at,
    receipt: row.receipt,
    accountId: row.account_id,
    customerId: row.customer_id,
    keyId: row.key_id,
    meter: row.meter as Meter,
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
