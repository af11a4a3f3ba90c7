/**
 * Usage reports as CSV. Each page is encoded where its lines are read, because sending one text between threads costs
 * far less than sending thousands of lines.
 */
import { csvCell } from "../text/csv.ts";
import { CSV_PAGE_LENGTH_MAX, type CsvPage, type UsageQuery } from "./ledger.ts";
import type { Storage } from "./schema.ts";
import { USAGE_CSV_LINE_END } from "./usageCsvHeader.ts";
import { readLines } from "./usageLines.ts";
import type { Line } from "./usageSelections.ts";

/** Returns sums by the groups of the query as lines of CSV: a page, or as much of it as fits or can be read at a time. */
export async function usageCsv(storage: Storage, query: UsageQuery): Promise<CsvPage> {
  const { items, next, cursorAfter } = await readLines(storage, query);
  let text = "";
  let last: Line | undefined;
  for (const [lineCount, line] of items.entries()) {
    const lineText = csvLineOf(line);
    if (last !== undefined && text.length + lineText.length > CSV_PAGE_LENGTH_MAX) {
      return { text, lineCount, next: cursorAfter(last) };
    }
    text += lineText;
    last = line;
  }
  return { text, lineCount: items.length, ...(next === undefined ? {} : { next }) };
}

/** Returns a line with the columns of `USAGE_CSV_HEADER`. Only ids can contain characters that must be quoted. */
function csvLineOf({ customer, internal_id, meter, period, requests, units }: Line): string {
  return `${csvCell(customer)},${csvCell(internal_id)},${meter},${period},${requests},${units}${USAGE_CSV_LINE_END}`;
}
