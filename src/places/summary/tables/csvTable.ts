import { CsvSplitter } from "../../../text/csvRows.ts";
import { Fault } from "../../../errors.ts";
import { type PlaceTextFile, readFileText } from "../../readers/fileText.ts";
import { readColumnNames } from "../../readers/placeColumnNames.ts";
import type { ScoreTable, TableBatch } from "../scoreTable.ts";

/** Opens an output in CSV. */
export async function openCsvTable(file: PlaceTextFile): Promise<ScoreTable> {
  const columnNames = await readHeader(file);
  return {
    columnNames,
    sizeBytes: file.sizeBytes,
    batches: (names, onBytes) =>
      readBatches(readFileText(file, onBytes === undefined ? {} : { onBytes }), columnNames, names),
    close: () => Promise.resolve(),
  };
}

async function readHeader(file: PlaceTextFile): Promise<readonly string[]> {
  const splitter = new CsvSplitter();
  for await (const text of readFileText(file)) {
    splitter.push(text);
    const cells = splitter.next();
    if (cells !== undefined) return readColumnNames(cells);
  }
  splitter.end();
  return readColumnNames(splitter.next() ?? []);
}

/** Yields the rows that each piece of text completes. */
async function* readBatches(
  texts: AsyncIterable<string>,
  columnNames: readonly string[],
  names: readonly string[],
): AsyncGenerator<TableBatch> {
  const indices = names.map((name) => columnNames.indexOf(name));
  const splitter = new CsvSplitter();
  let hasHeader = false;
  const completeRows = (): TableBatch => {
    hasHeader ||= splitter.skip();
    const columns = indices.map((): string[] => []);
    let rowCount = 0;
    if (!hasHeader) return { rowCount, columns };
    for (let cells = splitter.next(); cells !== undefined; cells = splitter.next()) {
      if (cells.length !== columnNames.length) throw cellCountFault(splitter.rowLine, cells.length, columnNames.length);
      for (let i = 0; i < indices.length; i++) columns[i]?.push(cells[indices[i] ?? -1] ?? "");
      rowCount++;
    }
    return { rowCount, columns };
  };
  for await (const text of texts) {
    splitter.push(text);
    yield completeRows();
  }
  splitter.end();
  yield completeRows();
}

function cellCountFault(line: number, cellCount: number, columnCount: number): Fault {
  const message = `Line ${line}: the row has ${cellCount} cells, but the header has ${columnCount}. The file may be incomplete.`;
  return new Fault("invalid_request", message, { details: { line } });
}
