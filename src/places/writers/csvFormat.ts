import { csvCell, csvLine } from "../../text/csvText.ts";
import type { TextSyntax } from "./rowText.ts";

/** CSV (RFC 4180) with a header row. A missing value is an empty cell. */
export const CSV_SYNTAX: TextSyntax = {
  lead: (_, isFirst) => (isFirst ? "" : ","),
  missing: "",
  rowEnd: "\n",
  text: csvCell,
  specialNumber: String,
  header: csvLine,
};
