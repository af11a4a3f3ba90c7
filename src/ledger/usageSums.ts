/**
 * Sums per day, month and in total, from which reports read their lines in order and without adding up many rows.
 * Triggers on `usage_rollup` maintain them, so that instances of an earlier release that are still running do too.
 */
import { type Kysely, sql } from "kysely";

/** The customer of rows that sum up all customers of an account. It sorts before every customer id. */
export const ALL_CUSTOMERS = "";
/** The period of rows that sum up all months. It sorts before every month. */
export const ALL_TIME = "";

/** Creates the sums, fills them from the hourly sums, and creates the triggers that maintain them. */
export async function createUsageSums<Tables>(tx: Kysely<Tables>, dialect: "sqlite" | "postgres"): Promise<void> {
  const isPostgres = dialect === "postgres";
  const text = sql.raw(isPostgres ? `text collate "C"` : "text");
  const integer = sql.raw(isPostgres ? "bigint" : "integer");
  // Free space in each page lets PostgreSQL update a row without adding to the index.
  const options = sql.raw(isPostgres ? "with (fillfactor = 70)" : "strict, without rowid");
  // Waits for instances of an earlier release that are recording, and keeps them from adding hourly sums between the
  // filling of the new tables and the creation of the triggers.
  if (isPostgres) await sql`lock table ledger_state, usage_rollup in access exclusive mode`.execute(tx);
  await sql`create table usage_daily (
      account_id ${text} not null, day ${text} not null, customer_id ${text} not null, meter ${text} not null,
      units ${integer} not null, requests ${integer} not null,
      primary key (account_id, day, customer_id, meter)
    ) ${options}`.execute(tx);
  await sql`create table usage_total (
      account_id ${text} not null, period ${text} not null, customer_id ${text} not null, meter ${text} not null,
      units ${integer} not null, requests ${integer} not null,
      primary key (account_id, period, customer_id, meter)
    ) ${options}`.execute(tx);

  await sql`insert into usage_daily
    select account_id, substr(hour, 1, 10) as day, customer_id, meter, sum(units), sum(requests)
      from usage_rollup group by account_id, substr(hour, 1, 10), customer_id, meter`.execute(tx);
  await sql`insert into usage_total
    select account_id, substr(day, 1, 7), customer_id, meter, sum(units), sum(requests)
      from usage_daily group by account_id, substr(day, 1, 7), customer_id, meter`.execute(tx);
  await sql`insert into usage_total
    select account_id, ${sql.lit(ALL_TIME)}, customer_id, meter, sum(units), sum(requests)
      from usage_total group by account_id, customer_id, meter`.execute(tx);
  await sql`insert into usage_daily
    select account_id, day, ${sql.lit(ALL_CUSTOMERS)}, meter, sum(units), sum(requests)
      from usage_daily group by account_id, day, meter`.execute(tx);
  // In SQLite the index covers the query; in PostgreSQL, indexed sums would make every update write to all indexes.
  const sums = sql.raw(isPostgres ? "" : ", units, requests");
  await sql`create index usage_daily_by_customer on usage_daily
    (account_id, customer_id, meter, day${sums})`.execute(tx);

  await (isPostgres ? createPostgresTriggers(tx) : createSqliteTriggers(tx));
}

/** The changes of hourly sums that the triggers add to the sums; each row is a change of `units` and `requests`. */
const SQLITE_CHANGES = [
  { event: "insert", row: "new", units: "new.units", requests: "new.requests" },
  {
    event: "update",
    row: "new",
    units: "new.units - old.units",
    requests: "new.requests - old.requests",
  },
  { event: "delete", row: "old", units: "-old.units", requests: "-old.requests" },
] as const;

async function createSqliteTriggers<Tables>(tx: Kysely<Tables>): Promise<void> {
  for (const { event, row, units, requests } of SQLITE_CHANGES) {
    const addTo = (table: string, column: string, period: string, customer: string): string =>
      `insert into ${table} (account_id, ${column}, customer_id, meter, units, requests)
         values (${row}.account_id, ${period}, ${customer}, ${row}.meter, ${units}, ${requests})
         on conflict (account_id, ${column}, customer_id, meter)
         do update set units = units + excluded.units, requests = requests + excluded.requests;`;
    const day = `substr(${row}.hour, 1, 10)`;
    await sql
      .raw(
        `create trigger usage_rollup_${event} after ${event} on usage_rollup begin
           ${addTo("usage_daily", "day", day, `${row}.customer_id`)}
           ${addTo("usage_daily", "day", day, `'${ALL_CUSTOMERS}'`)}
           ${addTo("usage_total", "period", `substr(${row}.hour, 1, 7)`, `${row}.customer_id`)}
           ${addTo("usage_total", "period", `'${ALL_TIME}'`, `${row}.customer_id`)}
         end`,
      )
      .execute(tx);
  }
}

/** Rows of a trigger's transition tables as changes of `units` and `requests`. */
const POSTGRES_CHANGES = {
  insert: "select account_id, customer_id, meter, hour, units, requests from added",
  update: `select account_id, customer_id, meter, hour, units, requests from added
           union all select account_id, customer_id, meter, hour, -units, -requests from removed`,
  delete: "select account_id, customer_id, meter, hour, -units as units, -requests as requests from removed",
} as const;
const TRANSITION_TABLES = {
  insert: "new table as added",
  update: "old table as removed new table as added",
  delete: "old table as removed",
} as const;

async function createPostgresTriggers<Tables>(tx: Kysely<Tables>): Promise<void> {
  for (const event of ["insert", "update", "delete"] as const) {
    const name = `usage_rollup_${event}`;
    const addTo = (table: string, column: string, rows: string): string =>
      `insert into ${table} as total (account_id, ${column}, customer_id, meter, units, requests)
         select account_id, ${column}, customer_id, meter, sum(units), sum(requests) from (${rows}) as change
         group by account_id, ${column}, customer_id, meter
         on conflict (account_id, ${column}, customer_id, meter)
         do update set units = total.units + excluded.units, requests = total.requests + excluded.requests;`;
    const changes = `(${POSTGRES_CHANGES[event]}) as hourly`;
    const each = (column: string, period: string, customer: string): string =>
      `select account_id, ${period} as ${column}, ${customer} as customer_id, meter, units, requests from ${changes}`;
    const days = `${each("day", "substr(hour, 1, 10)", "customer_id")} union all
      ${each("day", "substr(hour, 1, 10)", `'${ALL_CUSTOMERS}'`)}`;
    const totals = `${each("period", "substr(hour, 1, 7)", "customer_id")} union all
      ${each("period", `'${ALL_TIME}'`, "customer_id")}`;
    await sql
      .raw(
        `create function ${name}() returns trigger language plpgsql as $$ begin
           ${addTo("usage_daily", "day", days)}
           ${addTo("usage_total", "period", totals)}
           return null;
         end $$`,
      )
      .execute(tx);
    await sql
      .raw(
        `create trigger ${name} after ${event} on usage_rollup
           referencing ${TRANSITION_TABLES[event]} for each statement execute function ${name}()`,
      )
      .execute(tx);
  }
}
