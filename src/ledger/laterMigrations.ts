/**
 * The migrations after the first: sums of usage, from which reports read their lines without adding up many rows; the
 * hash chain; and the number of customers of each account. Triggers maintain them, so that instances of an earlier
 * release that are still running do too.
 */
import { type Kysely, type RawBuilder, sql } from "kysely";
import { randomUUID } from "node:crypto";
import { type BatchRow, type EventRow, TextHash, batchPrefix, eventText, firstHash } from "./chain.ts";

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

  await (isPostgres ? createPostgresSumTriggers(tx) : createSqliteSumTriggers(tx));
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

async function createSqliteSumTriggers<Tables>(tx: Kysely<Tables>): Promise<void> {
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

async function createPostgresSumTriggers<Tables>(tx: Kysely<Tables>): Promise<void> {
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

/** Rows per account in PostgreSQL: concurrent registrations that changed the same row would wait for each other's commit. */
const POSTGRES_PART_COUNT = 16;

/** Returns an expression for the number of customers of an account, including archived ones. */
export function customerCountOf(accountId: string): RawBuilder<number> {
  return sql<number>`(select cast(coalesce(sum(count), 0) as bigint) from customer_count where account_id = ${accountId})`;
}

/** Creates the numbers, and the triggers that maintain them. */
export async function createCustomerCounts<Tables>(tx: Kysely<Tables>, dialect: "sqlite" | "postgres"): Promise<void> {
  const isPostgres = dialect === "postgres";
  const text = sql.raw(isPostgres ? `text collate "C"` : "text");
  const options = sql.raw(isPostgres ? "with (fillfactor = 70)" : "strict, without rowid");
  // Keeps instances of an earlier release from registering customers between the counting and the creation of the triggers.
  if (isPostgres) await sql`lock table customer in share row exclusive mode`.execute(tx);
  await sql`create table customer_count (
      account_id ${text} not null, part integer not null, count integer not null, primary key (account_id, part)
    ) ${options}`.execute(tx);
  await sql`insert into customer_count select account_id, 0, count(*) from customer group by account_id`.execute(tx);
  await (isPostgres ? createPostgresTrigger(tx) : createSqliteCountTriggers(tx));
}

async function createSqliteCountTriggers<Tables>(tx: Kysely<Tables>): Promise<void> {
  for (const [event, row, change] of [
    ["insert", "new", 1],
    ["delete", "old", -1],
  ] as const) {
    await sql
      .raw(
        `create trigger customer_count_${event} after ${event} on customer begin
           insert into customer_count (account_id, part, count) values (${row}.account_id, 0, ${change})
             on conflict (account_id, part) do update set count = count + excluded.count;
         end`,
      )
      .execute(tx);
  }
}

async function createPostgresTrigger<Tables>(tx: Kysely<Tables>): Promise<void> {
  await sql
    .raw(
      `create function customer_count_change() returns trigger language plpgsql as $$
       declare
         changed_id text;
         change integer;
       begin
         if tg_op = 'INSERT' then changed_id := new.account_id; change := 1;
         else changed_id := old.account_id; change := -1;
         end if;
         insert into customer_count as known (account_id, part, count)
           values (changed_id, pg_backend_pid() % ${POSTGRES_PART_COUNT}, change)
           on conflict (account_id, part) do update set count = known.count + excluded.count;
         return null;
       end $$`,
    )
    .execute(tx);
  await sql`create trigger customer_count_change after insert or delete on customer
    for each row execute function customer_count_change()`.execute(tx);
}

/** Tables and triggers of the hash chain over recorded usage (`chain.ts`), and the chaining of existing events. */

/** Rows that are read together. */
const PAGE_COUNT = 10_000;

/** Creates the chain. Existing events get one batch per day, so that they can be pruned by day. */
export async function createChain<Tables>(tx: Kysely<Tables>, dialect: "sqlite" | "postgres"): Promise<void> {
  const isPostgres = dialect === "postgres";
  const text = sql.raw(isPostgres ? `text collate "C"` : "text");
  const integer = sql.raw(isPostgres ? "bigint" : "integer");
  const strict = sql.raw(isPostgres ? "" : "strict");
  const strictByKey = sql.raw(isPostgres ? "" : "strict, without rowid");
  // Waits for instances of an earlier release that are recording, and keeps them from adding events meanwhile.
  if (isPostgres) await sql`lock table ledger_state, usage_event in access exclusive mode`.execute(tx);
  await sql`alter table ledger_state add column ledger_id ${text} not null default ''`.execute(tx);
  await sql`create table usage_batch (
      batch ${integer} primary key, last_seq ${integer} not null, event_count ${integer} not null, hash ${text} not null
    ) ${strict}`.execute(tx);
  await sql`create table usage_prune (
      batch ${integer} primary key, before_day ${text} not null, last_batch ${integer} not null,
      last_hash ${text} not null, last_seq ${integer} not null, event_count ${integer} not null,
      rollup_hash ${text} not null, archive_name ${text} not null, archive_sha256 ${text} not null,
      previous_prune ${text} not null
    ) ${strict}`.execute(tx);
  await sql`create table free_key_count (
      account_id ${text} not null primary key, day ${text} not null, count ${integer} not null
    ) ${strictByKey}`.execute(tx);

  const ledgerId = randomUUID();
  await sql`update ledger_state set ledger_id = ${ledgerId}`.execute(tx);
  await chainExistingEvents(tx, ledgerId);
  await (isPostgres ? createPostgresChainTriggers(tx) : createSqliteChainTriggers(tx));
}

async function chainExistingEvents<Tables>(tx: Kysely<Tables>, ledgerId: string): Promise<void> {
  let last: BatchRow = { batch: 0, last_seq: 0, event_count: 0, hash: firstHash(ledgerId) };
  await insertBatch(tx, last);
  let open: { day: string; lastSeq: number; eventCount: number; hash: TextHash } | undefined;
  const closeBatch = async (): Promise<void> => {
    if (open === undefined) return;
    const { lastSeq, eventCount, hash } = open;
    last = { batch: last.batch + 1, last_seq: lastSeq, event_count: eventCount, hash: hash.hex() };
    open = undefined;
    await insertBatch(tx, last);
  };
  for (let after = 0; ;) {
    const { rows } = await sql<EventRow>`
      select * from usage_event where seq > ${after} order by seq limit ${PAGE_COUNT}`.execute(tx);
    for (const event of rows) {
      const day = event.recorded_at.slice(0, "YYYY-MM-DD".length);
      if (open?.day !== day) {
        await closeBatch();
        open = { day, lastSeq: 0, eventCount: 0, hash: new TextHash() };
        open.hash.update(batchPrefix(last.hash, last.batch + 1));
      }
      open.hash.update(eventText(event));
      open.lastSeq = event.seq;
      open.eventCount++;
    }
    if (rows.length < PAGE_COUNT) break;
    after = rows.at(-1)?.seq ?? after;
  }
  await closeBatch();
}

/** Creates the sums of archived events that a wrong clock has dated after the day until which events are archived. */
export async function createCarriedSums<Tables>(tx: Kysely<Tables>, dialect: "sqlite" | "postgres"): Promise<void> {
  const isPostgres = dialect === "postgres";
  const text = sql.raw(isPostgres ? `text collate "C"` : "text");
  const integer = sql.raw(isPostgres ? "bigint" : "integer");
  await sql`create table usage_carried (
      account_id ${text} not null, customer_id ${text} not null, meter ${text} not null, hour ${text} not null,
      units ${integer} not null, requests ${integer} not null, primary key (account_id, customer_id, meter, hour)
    ) ${sql.raw(isPostgres ? "" : "strict, without rowid")}`.execute(tx);
}

async function insertBatch<Tables>(tx: Kysely<Tables>, row: BatchRow): Promise<void> {
  await sql`insert into usage_batch (batch, last_seq, event_count, hash)
    values (${row.batch}, ${row.last_seq}, ${row.event_count}, ${row.hash})`.execute(tx);
}

/** Replaces the trigger that rejects every deletion: events may be deleted once they have been archived. */
async function createSqliteChainTriggers<Tables>(tx: Kysely<Tables>): Promise<void> {
  await sql`drop trigger usage_event_no_delete`.execute(tx);
  await sql`create trigger usage_event_no_delete before delete on usage_event
    when not exists (select 1 from usage_prune where last_seq >= old.seq)
    begin select raise(abort, 'usage_event is only added to'); end`.execute(tx);
}

/** `eventText` in SQL. */
const EVENT_TEXT = `seq || ',' || ${["receipt", "account_id", "customer_id", "key_id", "meter"].map(fieldSql).join(" || ")}
  || units || ',' || ${fieldSql("recorded_at")} || ${fieldSql("route")}
  || coalesce(octet_length(atlas_release) || ':' || atlas_release, '-') || ','`;

function fieldSql(column: string): string {
  return `octet_length(${column}) || ':' || ${column} || ','`;
}

/**
 * Creates the triggers. The chain is computed by a trigger, so that instances of an earlier release that are still
 * running maintain it too. The row lock on `ledger_state`, which recording holds already, serializes all instances.
 */
async function createPostgresChainTriggers<Tables>(tx: Kysely<Tables>): Promise<void> {
  const create = (statement: string): Promise<unknown> => sql.raw(statement).execute(tx);
  await create(`create function usage_event_chain() returns trigger language plpgsql as $$
    declare
      added_count bigint; newest_seq bigint; content text; head_batch bigint; head_hash text;
    begin
      select count(*), max(seq), string_agg(${EVENT_TEXT}, '' order by seq)
        into added_count, newest_seq, content from added;
      if added_count = 0 then return null; end if;
      perform 1 from ledger_state for update;
      select batch, hash into head_batch, head_hash from usage_batch order by batch desc limit 1;
      insert into usage_batch (batch, last_seq, event_count, hash) values (
        head_batch + 1, newest_seq, added_count,
        encode(sha256(convert_to(head_hash || E'\\n' || (head_batch + 1) || E'\\n' || content, 'UTF8')), 'hex'));
      return null;
    end $$`);
  await create(`create trigger usage_event_chain after insert on usage_event
    referencing new table as added for each statement execute function usage_event_chain()`);
  await create("drop trigger usage_event_no_change on usage_event");
  await create(`create trigger usage_event_no_change before update or truncate on usage_event
    for each statement execute function usage_event_refuse()`);
  await create(`create function usage_event_refuse_unarchived() returns trigger language plpgsql as $$ begin
      if exists (select 1 from usage_prune where last_seq >= old.seq) then return old; end if;
      raise exception 'usage_event is only added to';
    end $$`);
  await create(`create trigger usage_event_no_delete before delete on usage_event
    for each row execute function usage_event_refuse_unarchived()`);
}
