import type { UsageRecord } from "../contract/wireTypes.ts";
import type { UsageLine } from "./ledger.ts";
import { UsageRecordSchema } from "../contract/accounts.ts";
import { csvLine } from "../text/csv.ts";

/** Converts a line of a usage report to the form of the HTTP contract, which `isotherm usage report --json` prints too. */
export function toUsageRecord({ customerId, internalId, meter, period, requests, units }: UsageLine): UsageRecord {
  return {
    ...(customerId === undefined ? {} : { customer_id: customerId }),
    ...(internalId === undefined ? {} : { internal_id: internalId }),
    ...(meter === undefined ? {} : { meter }),
    ...(period === undefined ? {} : { period }),
    requests,
    units,
  };
}

export const USAGE_CSV_LINE_END = "\r\n";

/** The header line of a usage report as CSV. In a module without database packages, because routes also use it. */
export const USAGE_CSV_HEADER = csvLine(Object.keys(UsageRecordSchema.properties), USAGE_CSV_LINE_END);
