import { Fault } from "../errors.ts";
import type { SourceChunk } from "./fileIo.ts";

const ROW_SIZE_CHARACTERS_MAX = 1 << 20;

/** A row of a CSV file and the line on which it ends. */
export interface CsvRow {
  readonly cells: readonly string[];
  readonly lastLine: number;
}

/** Returns the line on which a row begins, counted from 1. */
export function firstLine({ cells, lastLine }: CsvRow): number {
  return lastLine - cells.reduce((count, cell) => count + (cell.match(/\r\n|\r|\n/g)?.length ?? 0), 0);
}

/**
 * Parses CSV (RFC 4180, commas). Yields the rows that each chunk of the file completes.
 * @throws Fault `invalid_request` naming the line of malformed CSV
 */
export async function* parseCsvRows(chunks: AsyncIterable<SourceChunk>): AsyncGenerator<readonly CsvRow[]> {
  // Imported on demand, because only CSV input needs it.
  const { parse } = await import("csv-parse");
  let rows: CsvRow[] = [];
  const parser = parse({
    bom: true,
    relax_column_count: true,
    skip_empty_lines: true,
    max_record_size: ROW_SIZE_CHARACTERS_MAX,
    on_record: (cells: string[], { lines }) => {
      rows.push({ cells, lastLine: lines });
      return null; // Bypasses the output stream, which would double the time per row.
    },
  });
  parser.on("error", () => undefined); // Errors are reported by the write callbacks below.
  parser.resume();
  const settled = (write: (done: (error?: Error | null) => void) => void): Promise<void> =>
    new Promise((resolve, reject) => {
      write((error) => (error === null || error === undefined ? resolve() : reject(csvFault(error))));
    });
  const takeRows = (): readonly CsvRow[] => {
    const batch = rows;
    rows = [];
    return batch;
  };
  for await (const { bytes } of chunks) {
    await settled((done) => parser.write(bytes, done));
    if (rows.length > 0) yield takeRows();
  }
  await settled((done) => parser.end(done));
  if (rows.length > 0) yield takeRows();
}

const CSV_FAULTS: Readonly<Record<string, string>> = {
  CSV_INVALID_CLOSING_QUOTE:
    "unexpected text after the closing quote of a cell; write a quote inside a quoted cell twice",
  INVALID_OPENING_QUOTE:
    "quote in the middle of an unquoted cell; quote the whole cell and write the inner quote twice",
  CSV_QUOTE_NOT_CLOSED: "the closing quote of a cell is missing",
  CSV_MAX_RECORD_SIZE: `a row must be at most ${ROW_SIZE_CHARACTERS_MAX} characters long; a closing quote may be missing`,
};

function csvFault(error: Error): Fault {
  const { code = "", lines } = error as Error & { readonly code?: string; readonly lines?: number };
  const detail = CSV_FAULTS[code];
  if (detail === undefined || lines === undefined) throw error;
  return new Fault("invalid_request", `Line ${lines}: ${detail}.`, { details: { line: lines }, cause: error });
}
