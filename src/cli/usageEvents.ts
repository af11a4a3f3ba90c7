import { csvLine } from "../text/csv.ts";
import type { RecordedEntry } from "../ledger/ledger.ts";

/** Columns of exported events. */
export const EVENT_COLUMNS = [
  "seq",
  "recorded_at",
  "receipt",
  "account_id",
  "customer_id",
  "key_id",
  "meter",
  "units",
  "route",
  "atlas_release",
] as const;

type EventCells = Readonly<Record<(typeof EVENT_COLUMNS)[number], string | number | null>>;

/** Returns an event with the names of the columns. */
export function eventJson(event: RecordedEntry): EventCells {
  return {
    seq: event.seq,
    recorded_at: event.recordedAt,
    receipt: event.receipt,
    account_id: event.accountId,
    customer_id: event.customerId,
    key_id: event.keyId,
    meter: event.meter,
    units: event.units,
    route: event.route,
    atlas_release: event.atlasRelease ?? null,
  };
}

/** Returns an event as a line of CSV. @param more cells after those of the event */
export function eventCsvLine(event: RecordedEntry, more: readonly (string | number)[] = []): string {
  const cells = eventJson(event);
  return csvLine([...EVENT_COLUMNS.map((name) => cells[name]), ...more]);
}
