/** How CSV is written (RFC 4180): in files, in reports, by the command line and by the service. */

/** What is not there is an empty cell. */
export type CsvCell = string | number | null | undefined;

/** In quotes where it holds what would end it. Nothing else is changed: what is read again is what was written. */
export function csvCell(cell: CsvCell): string {
  const text = String(cell ?? "");
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** @param end RFC 4180 has `\r\n`; programs that work line by line read `\n` more easily, and spreadsheets read both */
export function csvLine(cells: readonly CsvCell[], end: "\n" | "\r\n" = "\n"): string {
  return `${cells.map(csvCell).join(",")}${end}`;
}
