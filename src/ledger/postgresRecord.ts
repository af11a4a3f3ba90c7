import type { ClientBase } from "pg";
import { idempotencyCutoff, type Outcome } from "./entry.ts";
import type { UsageEntry } from "./ledger.ts";

/**
 * All of a batch in one statement, which is its own transaction: there and back once, on disk when it answers.
 *
 * `tick` comes first because everything else needs the time from it, and it holds the ledger's one row until the commit:
 * so batches of all replicas follow one another, `seq` and time rise together, and no reader meets a `seq` before a
 * smaller one. A statement sees the tables as they were when it began, before it waited for that row; what another
 * batch may just have written is therefore only met through `on conflict`, which looks at what is there.
 */
const RECORD = `
with tick as (
  update ledger_state set last_at = greatest(last_at, $1) returning last_at
), entry as (
  select * from unnest($3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::bigint[], $9::text[],
      $10::text[], $11::text[], $12::text[]) with ordinality
    as t (receipt, account_id, customer_id, key_id, meter, units, route, atlas_release, idempotency_key, fingerprint, nth)
), request as (
  insert into idempotency as known
    (account_id, customer_id, route, idempotency_key, fingerprint, receipt, recorded_at)
  select account_id, customer_id, route, idempotency_key, fingerprint, receipt, last_at
    from entry cross join tick where idempotency_key is not null
  on conflict (account_id, customer_id, route, idempotency_key) do update set
    fingerprint = case when known.recorded_at < $2 then excluded.fingerprint else known.fingerprint end,
    receipt = case when known.recorded_at < $2 then excluded.receipt else known.receipt end,
    recorded_at = case when known.recorded_at < $2 then excluded.recorded_at else known.recorded_at end
  returning account_id, customer_id, route, idempotency_key, fingerprint, receipt
), event as (
  insert into usage_event (receipt, account_id, customer_id, key_id, meter, units, recorded_at, route, atlas_release)
  select entry.receipt, account_id, customer_id, key_id, meter, units, last_at, route, atlas_release
    from entry cross join tick left join request using (account_id, customer_id, route, idempotency_key)
    where units > 0 and (idempotency_key is null or request.receipt = entry.receipt)
    order by nth
  on conflict (receipt) do nothing
  returning receipt, account_id, customer_id, meter, units, recorded_at
), rollup as (
  insert into usage_rollup as total (account_id, customer_id, meter, hour, units, requests)
  select account_id, customer_id, meter, substr(recorded_at, 1, 13), sum(units), count(*)
    from event group by 1, 2, 3, 4
  on conflict (account_id, customer_id, meter, hour) do update set
    units = total.units + excluded.units, requests = total.requests + excluded.requests
)
select event.receipt is not null as "isNew", request.fingerprint, request.receipt as "requestReceipt"
  from entry
    left join request using (account_id, customer_id, route, idempotency_key)
    left join event on event.receipt = entry.receipt
  order by nth`;

const UNITS_OF = "select receipt, units from usage_event where receipt = any ($1::text[])";

const FORGET = `
delete from idempotency where (account_id, customer_id, route, idempotency_key) in
  (select account_id, customer_id, route, idempotency_key from idempotency
    where recorded_at < $1 order by recorded_at limit $2 for update skip locked)`;

interface RecordRow {
  readonly isNew: boolean;
  readonly fingerprint: string | null;
  readonly requestReceipt: string | null;
}

/** Records entries together, and answers when they are on disk. */
export async function recordBatch(
  connection: ClientBase,
  entries: readonly UsageEntry[],
  nowMs: number,
): Promise<readonly Outcome[]> {
  const now = new Date(nowMs).toISOString();
  // A row can be changed only once by a statement: of those with one idempotency key the first goes ahead for all.
  const leaders = new Map<string, number>();
  const sent: UsageEntry[] = [];
  const sentAs = entries.map((entry) => {
    const place = placeOf(entry);
    const leader = place === undefined ? undefined : leaders.get(place);
    if (leader !== undefined) return leader;
    if (place !== undefined) leaders.set(place, sent.length);
    return sent.push(entry) - 1;
  });
  const { rows } = await connection.query<RecordRow>({
    name: "isotherm-record",
    text: RECORD,
    values: [now, idempotencyCutoff(now), ...columnsOf(sent)],
  });
  const outcomes = entries.map((entry, i): Outcome | undefined => {
    const row = rows[sentAs[i] ?? -1];
    if (row === undefined) throw new Error("PostgreSQL answered for too few entries.");
    if (entry.idempotency !== undefined) {
      if (row.fingerprint !== entry.idempotency.fingerprint) return { refusal: "idempotency_key_reused" };
      if (row.requestReceipt !== entry.receipt) return { units: 0, isReplay: true };
    }
    if (entry.units === 0 || row.isNew) return { units: entry.units, isReplay: false };
    return undefined;
  });
  if (outcomes.every((outcome) => outcome !== undefined)) return outcomes;

  // Receipts that had been written down before, with what was written.
  const receipts = entries.filter((_, i) => outcomes[i] === undefined).map(({ receipt }) => receipt);
  const known = await connection.query<{ receipt: string; units: number }>({
    name: "isotherm-units-of",
    text: UNITS_OF,
    values: [receipts],
  });
  const units = new Map(known.rows.map((row) => [row.receipt, row.units]));
  return outcomes.map((outcome, i) => outcome ?? { units: units.get(entries[i]?.receipt ?? "") ?? 0, isReplay: false });
}

/** Removes idempotency keys that are out of date, so many at most. */
export async function forgetRequests(connection: ClientBase, nowMs: number, countMax: number): Promise<void> {
  const cutoff = idempotencyCutoff(new Date(nowMs).toISOString());
  await connection.query({ name: "isotherm-forget", text: FORGET, values: [cutoff, countMax] });
}

function placeOf({ accountId, customerId, route, idempotency }: UsageEntry): string | undefined {
  return idempotency === undefined ? undefined : `${accountId} ${customerId} ${route} ${idempotency.key}`;
}

function columnsOf(entries: readonly UsageEntry[]): readonly unknown[][] {
  return [
    entries.map(({ receipt }) => receipt),
    entries.map(({ accountId }) => accountId),
    entries.map(({ customerId }) => customerId),
    entries.map(({ keyId }) => keyId),
    entries.map(({ meter }) => meter),
    entries.map(({ units }) => units),
    entries.map(({ route }) => route),
    entries.map(({ atlasRelease }) => atlasRelease ?? null),
    entries.map(({ idempotency }) => idempotency?.key ?? null),
    entries.map(({ idempotency }) => idempotency?.fingerprint ?? null),
  ];
}
