/**
 * The number of customers of each account. Triggers on `customer` maintain it, so that instances of an earlier release
 * that are still running do too.
 */
import { type Kysely, type RawBuilder, sql } from "kysely";

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
  await (isPostgres ? createPostgresTrigger(tx) : createSqliteTriggers(tx));
}

async function createSqliteTriggers<Tables>(tx: Kysely<Tables>): Promise<void> {
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
