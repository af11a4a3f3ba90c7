/** Rows of an output of `isotherm portfolio`, as columns, read in a stream. */
export interface ScoreTable {
  readonly columnNames: readonly string[];
  /** Size of the file, for progress. */
  readonly sizeBytes: number;
  /**
   * Reads the rows in the order of the file.
   *
   * @param columnNames the columns to read; each is in the table
   * @param onBytes called with the number of bytes read
   * @throws Fault `invalid_request` naming the row or line if the file is damaged
   */
  batches(columnNames: readonly string[], onBytes?: (sizeBytes: number) => void): AsyncIterable<TableBatch>;
  close(): Promise<void>;
}

/** Consecutive rows of a table. */
export interface TableBatch {
  readonly rowCount: number;
  /** Cells by column, in the order of the requested names. Null, undefined and "" are empty cells. */
  readonly columns: readonly (readonly unknown[])[];
}
