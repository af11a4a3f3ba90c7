/** Tables and triggers of the hash chain over recorded usage (`chain.ts`), and the chaining of existing events. */
import { randomUUID } from "node:crypto";
import { type Kysely, sql } from "kysely";
import { batchPrefix, type BatchRow, type EventRow, eventText, firstHash, TextHash } from "./chain.ts";

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
  await (isPostgres ? createPostgresTriggers(tx) : createSqliteTriggers(tx));
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
async function createSqliteTriggers<Tables>(tx: Kysely<Tables>): Promise<void> {
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
async function createPostgresTriggers<Tables>(tx: Kysely<Tables>): Promise<void> {
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
