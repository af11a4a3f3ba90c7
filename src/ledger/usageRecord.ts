import type { UsageRecord } from "../contract/wireTypes.ts";
import type { UsageLine } from "./ledger.ts";

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
