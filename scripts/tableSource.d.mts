/** `list`: texts separated by `;`. `number?`: a number or an empty cell. `note`: text that is not compiled. */
export type ColumnKind = "text" | "list" | "number" | "number?" | "note";

/** A CSV file of the repository that is compiled into the package. */
export interface Table {
  /** Path of the CSV file from the root. */
  readonly file: string;
  /** Name of the exported constant with all rows. */
  readonly rows: string;
  /** Name of the exported interface of a row. */
  readonly row: string;
  /** Kind of each column, by the name in the header. */
  readonly columns: Readonly<Record<string, ColumnKind>>;
}

/**
 * Returns the TypeScript source of a table.
 *
 * @throws Error for a header other than the columns, a row of a different length, and a cell that is not of the
 *   column's kind, with file and line
 */
export function tableSource(csv: string, table: Table): string;
