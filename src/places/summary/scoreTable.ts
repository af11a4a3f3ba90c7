import { extname } from "node:path";
import type { SchemaElement } from "hyparquet";
import { Fault } from "../../errors.ts";
import { CsvSplitter } from "../../text/csv.ts";
import { quote } from "../../validation/schemaErrors.ts";
import { type PlaceTextFile, readFileText } from "../readers/fileText.ts";
import { isObject, type Members } from "../readers/jsonMembers.ts";
import { type JsonRecord, splitJsonLines } from "../readers/jsonRecords.ts";
import { columnTypeOf, HEXADECIMAL } from "../readers/parquetColumnTypes.ts";
import { openParquetFile, type ParquetFile } from "../readers/parquetFile.ts";
import { readColumnNames } from "../readers/placeColumnNames.ts";
import type { KeptValue } from "../scores/placeBlock.ts";
import { timestampOf, timestampText } from "../timestamps.ts";

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

const CHUNK_SIZE_BYTES = 1 << 20;

type OpenTable = (file: PlaceTextFile, statedColumnNames: readonly string[]) => Promise<ScoreTable>;

const OPENERS: Readonly<Record<string, OpenTable>> = {
  ".csv": openCsvTable,
  ".ndjson": openNdjsonTable,
  ".jsonl": openNdjsonTable,
  ".parquet": openParquetTable,
  ".geoparquet": openParquetTable,
};

/**
 * Opens an output of `isotherm portfolio`.
 *
 * @param file.stated what the manifest states; without a format, the extension determines it. NDJSON without rows has the
 *   stated columns.
 * @throws Fault `configuration_invalid` if the extension is not that of an output, `invalid_request` if the file is damaged
 */
export async function openScoreTable({
  path,
  sizeBytes,
  stated,
}: {
  readonly path: string;
  readonly sizeBytes: number;
  readonly stated: { readonly outputFormat: string | undefined; readonly columnNames: readonly string[] } | undefined;
}): Promise<ScoreTable> {
  const format = stated?.outputFormat;
  // Every format has the name of an extension.
  const extension = format === undefined ? extname(path).toLowerCase() : `.${format}`;
  const open = Object.hasOwn(OPENERS, extension) ? OPENERS[extension] : undefined;
  if (open !== undefined) {
    return await open({ path, sizeBytes, chunkSizeBytes: CHUNK_SIZE_BYTES }, stated?.columnNames ?? []);
  }
  const accepted = Object.keys(OPENERS).join(", ");
  if (format !== undefined) {
    const message = `the manifest states the format ${quote(format)}, which is not supported; the formats are named as the extensions ${accepted}.`;
    throw new Fault("invalid_request", message);
  }
  const what = extension === "" ? "the name has no extension" : `the extension ${extname(path)} is not supported`;
  throw new Fault("configuration_invalid", `${what}; an output without a manifest ends in ${accepted}.`);
}

/** Opens an output in CSV. */
async function openCsvTable(file: PlaceTextFile): Promise<ScoreTable> {
  const columnNames = await readHeader(file);
  return {
    columnNames,
    sizeBytes: file.sizeBytes,
    batches: (names, onBytes) =>
      csvBatches(readFileText(file, onBytes === undefined ? {} : { onBytes }), columnNames, names),
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
async function* csvBatches(
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

/**
 * Opens an output in NDJSON. Its columns are the members of the first object, which has all of them.
 * @param statedColumnNames columns of a file without rows
 * @throws Fault `invalid_request` if the file has no rows and no columns are stated
 */
async function openNdjsonTable(file: PlaceTextFile, statedColumnNames: readonly string[]): Promise<ScoreTable> {
  const columnNames = (await readMemberNames(file)) ?? statedColumnNames;
  if (columnNames.length === 0) {
    throw new Fault("invalid_request", "The file has no rows, and no manifest that states its columns.");
  }
  return {
    columnNames,
    sizeBytes: file.sizeBytes,
    batches: (names, onBytes) => ndjsonBatches(readFileText(file, onBytes === undefined ? {} : { onBytes }), names),
    close: () => Promise.resolve(),
  };
}

async function readMemberNames(file: PlaceTextFile): Promise<readonly string[] | undefined> {
  for await (const [first] of splitJsonLines(readFileText(file))) {
    if (first !== undefined) return Object.keys(readObject(first));
  }
  return undefined;
}

/** Yields the rows that each piece of text completes. */
async function* ndjsonBatches(texts: AsyncIterable<string>, names: readonly string[]): AsyncGenerator<TableBatch> {
  for await (const records of splitJsonLines(texts)) {
    const rows = records.map(readObject);
    yield { rowCount: rows.length, columns: names.map((name) => rows.map((row) => row[name])) };
  }
}

function readObject(record: JsonRecord): Members {
  let value: unknown;
  try {
    value = JSON.parse(record.text);
  } catch (error) {
    throw lineFault(record, `the line is not valid JSON. The file may be incomplete.`, error);
  }
  if (isObject(value)) return value;
  throw lineFault(record, "the line must be a JSON object.");
}

function lineFault(record: JsonRecord, detail: string, cause?: unknown): Fault {
  const { line } = record.position();
  return new Fault("invalid_request", `Line ${line}: ${detail}`, { details: { line }, cause });
}

const ROWS_PER_BATCH = 8192;

/** Opens an output in Parquet or GeoParquet. Only the columns that are asked for are read. */
async function openParquetTable({ path, sizeBytes }: PlaceTextFile): Promise<ScoreTable> {
  const file = await openParquetFile(path, sizeBytes);
  try {
    return {
      columnNames: readColumnNames(file.columns.map(({ name }) => name)),
      sizeBytes,
      batches: (names, onBytes) => parquetBatches(file, names, { sizeBytes, onBytes }),
      close: () => file.close(),
    };
  } catch (error) {
    await file.close();
    throw error;
  }
}

async function* parquetBatches(
  file: ParquetFile,
  names: readonly string[],
  { sizeBytes, onBytes }: { readonly sizeBytes: number; readonly onBytes: ((sizeBytes: number) => void) | undefined },
): AsyncGenerator<TableBatch> {
  // Lists and structures are not read; their cells are empty.
  const flat = file.columns.flatMap(({ name, element, leafIndex }) =>
    element === undefined || !names.includes(name) ? [] : [{ element, leafIndex, convert: cellConverter(element) }],
  );
  const readers = await file.openColumns(flat);
  const positions = names.map((name) => flat.findIndex(({ element }) => element.name === name));
  for (let firstRow = 0; firstRow < file.rowCount; firstRow += ROWS_PER_BATCH) {
    const rowCount = Math.min(ROWS_PER_BATCH, file.rowCount - firstRow);
    const columns: (readonly unknown[])[] = [];
    for (const position of positions) columns.push((await readers[position]?.read(firstRow, rowCount)) ?? []);
    yield { rowCount, columns };
    // The columns are not read in the order of the file.
    const bytesBefore = (rows: number): number => Math.round((sizeBytes * rows) / file.rowCount);
    onBytes?.(bytesBefore(firstRow + rowCount) - bytesBefore(firstRow));
  }
}

/** Returns how stored values become cells; undefined if they are kept. */
function cellConverter(element: SchemaElement): ((stored: unknown) => KeptValue) | undefined {
  const { type, convert } = columnTypeOf(element) ?? HEXADECIMAL;
  const timestamp = timestampOf(type);
  if (timestamp === undefined) return convert;
  return (stored) => timestampText((convert === undefined ? stored : convert(stored)) as bigint, timestamp);
}
