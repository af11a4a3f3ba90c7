/**
 * Usage reports as CSV. Each page is encoded where its lines are read, because sending one text between threads costs
 * far less than sending thousands of lines.
 */
import { UsageRecordSchema } from "../contract/usage.ts";
import { csvCell, csvLine } from "../csvText.ts";
import type { CsvPage, UsageQuery } from "./ledger.ts";
import type { Storage } from "./schema.ts";
import { type Line, readLines } from "./usageLines.ts";

const LINE_END = "\r\n";

/** The header line of a report. */
export const USAGE_CSV_HEADER = csvLine(Object.keys(UsageRecordSchema.properties), LINE_END);

/** Returns a page of sums by the groups of the query as lines of CSV. */
export async function usageCsv(storage: Storage, query: UsageQuery): Promise<CsvPage> {
  const { items, ...page } = await readLines(storage, query);
  let text = "";
  for (const line of items) text += csvLineOf(line);
  return { text, ...page };
}

/** Returns a line with the columns of `USAGE_CSV_HEADER`. Only ids can contain characters that must be quoted. */
function csvLineOf({ customer, internal_id, meter, period, requests, units }: Line): string {
  return `${csvCell(customer)},${csvCell(internal_id)},${meter},${period},${requests},${units}${LINE_END}`;
}
