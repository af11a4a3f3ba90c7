import type { TextSyntax } from "./rowText.ts";

/** NDJSON: one object per line, with every column as a member. A missing value is null. */
export const NDJSON_SYNTAX: TextSyntax = {
  lead: (name, isFirst) => `${isFirst ? "{" : ","}${JSON.stringify(name)}:`,
  missing: "null",
  rowEnd: "}\n",
  text: (value) => JSON.stringify(value),
  // JSON has no such numbers.
  specialNumber: () => "null",
  header: () => "",
};
