/**
 * Recording as releases before the hash chain did it in PostgreSQL, with their statement unchanged: an instance of such a
 * release keeps running during an upgrade, while the tables are already those of this release.
 */
import type pg from "pg";
import type { UsageEntry } from "../../src/ledger/ledger.ts";

/** The statement of schema versions 1 and 2. */
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

/** Records a batch as an instance of an earlier release. */
export async function recordAsEarlier(client: pg.Client, entries: readonly UsageEntry[], nowMs: number): Promise<void> {
  await client.query({
    name: "isotherm-record",
    text: RECORD,
    values: [
      new Date(nowMs).toISOString(),
      new Date(nowMs - 72 * 3_600_000).toISOString(),
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
    ],
  });
}
