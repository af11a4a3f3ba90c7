/** CSV output (RFC 4180) of the command line, the reports and the service. */

/** A value of a cell; null and undefined are written as an empty cell. */
export type CsvCell = string | number | null | undefined;

/** Returns the cell as CSV, quoted if it contains a quote, comma or line break. The text is otherwise unchanged. */
export function csvCell(cell: CsvCell): string {
  const text = String(cell ?? "");
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/**
 * Returns a line of CSV.
 *
 * @param end RFC 4180 specifies `\r\n`; `\n` suits line-oriented programs, and spreadsheets accept both
 */
export function csvLine(cells: readonly CsvCell[], end: "\n" | "\r\n" = "\n"): string {
  return `${cells.map(csvCell).join(",")}${end}`;
}
