/**
 * Usage reports as CSV. Each page is encoded where its lines are read, because sending one text between threads costs
 * far less than sending thousands of lines.
 */
import { csvCell } from "../csvText.ts";
import type { CsvPage, UsageQuery } from "./ledger.ts";
import type { Storage } from "./schema.ts";
import { USAGE_CSV_LINE_END } from "./usageCsvHeader.ts";
import { type Line, readLines } from "./usageLines.ts";

/** Returns a page of sums by the groups of the query as lines of CSV. */
export async function usageCsv(storage: Storage, query: UsageQuery): Promise<CsvPage> {
  const { items, ...page } = await readLines(storage, query);
  let text = "";
  for (const line of items) text += csvLineOf(line);
  return { text, ...page };
}

/** Returns a line with the columns of `USAGE_CSV_HEADER`. Only ids can contain characters that must be quoted. */
function csvLineOf({ customer, internal_id, meter, period, requests, units }: Line): string {
  return `${csvCell(customer)},${csvCell(internal_id)},${meter},${period},${requests},${units}${USAGE_CSV_LINE_END}`;
}
