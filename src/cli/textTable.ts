import Table from "cli-table3";

/** A table of text. A cell may have several lines. */
interface TextTable {
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
  /** Returns whether a column, by its index, has numbers and is aligned to the right. Default: no column. */
  readonly isNumeric?: (column: number) => boolean;
  /** Whether lines separate the rows. Default: false. */
  readonly hasRowLines?: boolean;
}

/** Returns a table with borders, without a line break at the end. */
export function formatTable({ head, rows, isNumeric = () => false, hasRowLines = false }: TextTable): string {
  const table = new Table({
    head: [...head],
    colAligns: head.map((_, column) => (isNumeric(column) ? "right" : "left")),
    style: { head: [], border: [], compact: !hasRowLines },
  });
  for (const row of rows) table.push([...row]);
  return table.toString();
}
