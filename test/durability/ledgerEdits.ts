/** Random edits of a ledger's tables, as somebody with write access to the database could make them. */
import { batchPrefix, type EventRow, eventText, TextHash } from "../../src/ledger/chain.ts";
import type { SeededRandom } from "../seededRandom.ts";
import type { Int, LedgerEditor } from "./ledgerEditors.ts";

/** SQL that changes the first digit of a hash. */
export const changedHash = (column: string): string =>
  `${column} = case when ${column} like '1%' then '2' else '1' end || substr(${column}, 2)`;

export type Edit = (editor: LedgerEditor, random: SeededRandom) => Promise<void>;

const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`;

export async function events(editor: LedgerEditor): Promise<readonly EventRow[]> {
  const rows = await editor.rows<Omit<EventRow, "seq" | "units"> & { seq: Int; units: Int }>(
    "select * from usage_event order by seq",
  );
  return rows.map((row) => ({ ...row, seq: Number(row.seq), units: Number(row.units) }));
}

async function batches(
  editor: LedgerEditor,
): Promise<readonly { readonly batch: number; readonly last_seq: number }[]> {
  const rows = await editor.rows<{ batch: Int; last_seq: Int }>("select * from usage_batch order by batch");
  return rows.map((row) => ({ batch: Number(row.batch), last_seq: Number(row.last_seq) }));
}

/** Adds the units and requests of an event to its hourly sum, with a factor; all other sums follow by triggers. */
async function addToSums(editor: LedgerEditor, event: EventRow, factor: number, units = event.units): Promise<void> {
  const hour = event.recorded_at.slice(0, 13);
  await editor.run(
    `update usage_rollup set units = units + ${factor * units}, requests = requests + ${factor}
      where account_id = '${event.account_id}' and customer_id = '${event.customer_id}' and meter = '${event.meter}'
        and hour = '${hour}'`,
  );
}

/** Inserts a copy of an event with another number. */
export async function insertEvent(editor: LedgerEditor, event: EventRow, seq: number): Promise<void> {
  await editor.run(
    `insert into usage_event (seq, receipt, account_id, customer_id, key_id, meter, units, recorded_at, route)
      OVERRIDING values (${seq}, 'inserted ${seq}', '${event.account_id}', '${event.customer_id}', '${event.key_id}',
        '${event.meter}', ${event.units}, '${event.recorded_at}', '/')`,
  );
}

/** Computes the chain again from a batch on, as somebody who knows the code could do. */
export async function rewriteChain(editor: LedgerEditor, fromSeq: number): Promise<void> {
  const all = await events(editor);
  const rows = await editor.rows<{ batch: Int; last_seq: Int; event_count: Int; hash: string }>(
    "select * from usage_batch order by batch",
  );
  let previous: { readonly hash: string; readonly last_seq: Int } | undefined;
  for (const row of rows) {
    const after = Number(previous?.last_seq ?? 0);
    const content = all.filter(({ seq }) => seq > after && seq <= Number(row.last_seq));
    if (previous !== undefined && Number(row.event_count) > 0 && Number(row.last_seq) >= fromSeq) {
      const hash = new TextHash();
      hash.update(batchPrefix(previous.hash, Number(row.batch)));
      for (const event of content) hash.update(eventText(event));
      row.hash = hash.hex();
      await editor.run(
        `update usage_batch set hash = '${row.hash}', event_count = ${content.length} where batch = ${row.batch}`,
      );
    }
    previous = row;
  }
}

const CHANGES: readonly ((event: EventRow) => Partial<EventRow>)[] = [
  ({ units }) => ({ units: units + 1 }),
  ({ receipt }) => ({ receipt: `${receipt.slice(0, -1)}${receipt.endsWith("0") ? "1" : "0"}` }),
  () => ({ customer_id: "another customer" }),
  () => ({ account_id: "another account" }),
  () => ({ key_id: "another key" }),
  ({ meter }) => ({ meter: meter === "hazard_values" ? "company_results" : "hazard_values" }),
  ({ recorded_at }) => ({ recorded_at: new Date(Date.parse(recorded_at) + 1).toISOString() }),
  ({ route }) => ({ route: `${route}x` }),
  ({ atlas_release }) => ({ atlas_release: atlas_release === null ? "2026-1" : null }),
];

const assignments = (change: Partial<EventRow>): string =>
  Object.entries(change)
    .map(([name, value]) => `${name} = ${typeof value === "string" ? quoted(value) : String(value)}`)
    .join(", ");

/** The edits by name. Each changes what the ledger says. */
export const LEDGER_EDITS: Readonly<Record<string, Edit>> = {
  async "delete events"(editor, random) {
    const all = await events(editor);
    for (let count = 1 + random.below(3); count > 0; count--) {
      await editor.run(`delete from usage_event where seq = ${random.pick(all).seq}`);
    }
  },
  async "delete an event and correct the sums"(editor, random) {
    const event = random.pick(await events(editor));
    await editor.run(`delete from usage_event where seq = ${event.seq}`);
    await addToSums(editor, event, -1);
  },
  async "change a column of an event"(editor, random) {
    const event = random.pick(await events(editor));
    const change = random.pick(CHANGES)(event);
    await editor.run(`update usage_event set ${assignments(change)} where seq = ${event.seq}`);
  },
  async "change the units of an event and correct the sums"(editor, random) {
    const event = random.pick(await events(editor));
    const more = 1 + random.below(100);
    await editor.run(`update usage_event set units = units + ${more} where seq = ${event.seq}`);
    await addToSums(editor, event, 0);
    await editor.run(
      `update usage_rollup set units = units + ${more} where account_id = '${event.account_id}'
        and customer_id = '${event.customer_id}' and meter = '${event.meter}' and hour = '${event.recorded_at.slice(0, 13)}'`,
    );
  },
  async "change an event and compute the chain again"(editor, random) {
    const event = random.pick(await events(editor));
    await editor.run(`update usage_event set route = '/changed' where seq = ${event.seq}`);
    await rewriteChain(editor, event.seq);
  },
  async "delete an event, correct the sums and compute the chain again"(editor, random) {
    const all = await events(editor);
    const lastSeqs = new Set((await batches(editor)).map(({ last_seq }) => last_seq));
    const event = random.pick(all.filter(({ seq }) => !lastSeqs.has(seq)));
    await editor.run(`delete from usage_event where seq = ${event.seq}`);
    await addToSums(editor, event, -1);
    await rewriteChain(editor, event.seq);
  },
  async "swap two events"(editor, random) {
    const all = await events(editor);
    const first = random.below(all.length - 1);
    const [a, b] = [all[first], all[first + 1 + random.below(all.length - first - 1)]];
    if (a === undefined || b === undefined) throw new Error("There are too few events.");
    const { seq: firstSeq, ...firstColumns } = a;
    const { seq: secondSeq, ...secondColumns } = b;
    await editor.run(`update usage_event set receipt = 'moving' where seq = ${firstSeq}`);
    await editor.run(`update usage_event set ${assignments(firstColumns)} where seq = ${secondSeq}`);
    await editor.run(`update usage_event set ${assignments(secondColumns)} where seq = ${firstSeq}`);
  },
  async "insert an event and correct the sums"(editor, random) {
    const all = await events(editor);
    const event = random.pick(all);
    const seq = (all.at(-1)?.seq ?? 0) + 1 + random.below(5);
    await insertEvent(editor, event, seq);
    await addToSums(editor, event, 1);
  },
  async "truncate the events"(editor, random) {
    const all = await events(editor);
    await editor.run(`delete from usage_event where seq >= ${random.pick(all).seq}`);
  },
  async "truncate the events and their batches, and correct the sums"(editor, random) {
    const all = await batches(editor);
    const last = all[random.below(all.length - 1)];
    if (last === undefined) throw new Error("There are no batches.");
    for (const event of await events(editor)) if (event.seq > last.last_seq) await addToSums(editor, event, -1);
    await editor.run(`delete from usage_event where seq > ${last.last_seq}`);
    await editor.run(`delete from usage_batch where batch > ${last.batch}`);
    await editor.run("delete from usage_rollup where requests = 0");
    for (const table of ["usage_daily", "usage_total"]) await editor.run(`delete from ${table} where requests = 0`);
  },
  async "delete all usage"(editor) {
    for (const table of ["usage_event", "usage_rollup", "usage_daily", "usage_total"])
      await editor.run(`delete from ${table}`);
    await editor.run("delete from usage_batch where batch > (select min(batch) from usage_batch)");
  },
  async "change a batch"(editor, random) {
    const { batch } = random.pick(await batches(editor));
    const change = random.pick(["last_seq = last_seq + 1", "event_count = event_count + 1", changedHash("hash")]);
    await editor.run(`update usage_batch set ${change} where batch = ${batch}`);
  },
  async "delete a batch"(editor, random) {
    await editor.run(`delete from usage_batch where batch = ${random.pick(await batches(editor)).batch}`);
  },
  async "swap two batches"(editor, random) {
    const all = await batches(editor);
    const first = random.below(all.length - 1);
    const [a, b] = [all[first]?.batch ?? 0, all[first + 1]?.batch ?? 0];
    await editor.run(`update usage_batch set batch = -1 where batch = ${a}`);
    await editor.run(`update usage_batch set batch = ${a} where batch = ${b}`);
    await editor.run(`update usage_batch set batch = ${b} where batch = -1`);
  },
  async "change a sum"(editor, random) {
    const table = random.pick(["usage_rollup", "usage_daily", "usage_total"]);
    const column = random.pick(["units", "requests"]);
    const rows = await editor.rows<Record<string, string | number>>(`select * from ${table}`);
    const row = random.pick(rows);
    const period = "hour" in row ? "hour" : "day" in row ? "day" : "period";
    await editor.run(
      `update ${table} set ${column} = ${column} + 1 where account_id = '${row["account_id"]}'
        and customer_id = '${row["customer_id"]}' and meter = '${row["meter"]}' and ${period} = '${row[period]}'`,
    );
  },
  async "move an hourly sum to another customer"(editor, random) {
    const row = random.pick(await editor.rows<Record<string, string>>("select * from usage_rollup"));
    const key = `account_id = '${row["account_id"]}' and customer_id = '${row["customer_id"]}' and meter = '${row["meter"]}'`;
    await editor.run(
      `insert into usage_rollup select account_id, 'another customer', meter, hour, units, requests from usage_rollup
        where ${key} and hour = '${row["hour"]}'`,
    );
    await editor.run(`delete from usage_rollup where ${key} and hour = '${row["hour"]}'`);
  },
  async "delete a sum"(editor, random) {
    const table = random.pick(["usage_rollup", "usage_daily", "usage_total"]);
    const rows = await editor.rows<Record<string, string>>(`select * from ${table}`);
    const row = random.pick(rows);
    const period = "hour" in row ? "hour" : "day" in row ? "day" : "period";
    await editor.run(
      `delete from ${table} where account_id = '${row["account_id"]}' and customer_id = '${row["customer_id"]}'
        and meter = '${row["meter"]}' and ${period} = '${row[period]}'`,
    );
  },
  async "insert events before the first one"(editor, random) {
    for (let count = 1 + random.below(3); count > 0; count--) {
      await insertEvent(editor, random.pick(await events(editor)), -random.below(1000) - count + 1);
    }
  },
  async "change the id of the ledger"(editor) {
    await editor.run("update ledger_state set ledger_id = 'another'");
  },
};
