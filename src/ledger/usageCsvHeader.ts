import { UsageRecordSchema } from "../contract/accounts.ts";
import { csvLine } from "../text/csv.ts";

export const USAGE_CSV_LINE_END = "\r\n";

/** The header line of a usage report as CSV. In a module without database packages, because routes also use it. */
export const USAGE_CSV_HEADER = csvLine(Object.keys(UsageRecordSchema.properties), USAGE_CSV_LINE_END);
