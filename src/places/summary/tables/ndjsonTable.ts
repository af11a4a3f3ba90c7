import { Fault } from "../../../errors.ts";
import { type PlaceTextFile, readFileText } from "../../readers/fileText.ts";
import { isObject, type Members } from "../../readers/jsonMembers.ts";
import { type JsonRecord, splitJsonLines } from "../../readers/jsonRecords.ts";
import type { ScoreTable, TableBatch } from "../scoreTable.ts";

/**
 * Opens an output in NDJSON. Its columns are the members of the first object, which has all of them.
 * @param statedColumnNames columns of a file without rows
 * @throws Fault `invalid_request` if the file has no rows and no columns are stated
 */
export async function openNdjsonTable(file: PlaceTextFile, statedColumnNames: readonly string[]): Promise<ScoreTable> {
  const columnNames = (await readMemberNames(file)) ?? statedColumnNames;
  if (columnNames.length === 0) {
    throw new Fault("invalid_request", "The file has no rows, and no manifest that states its columns.");
  }
  return {
    columnNames,
    sizeBytes: file.sizeBytes,
    batches: (names, onBytes) => readBatches(readFileText(file, onBytes === undefined ? {} : { onBytes }), names),
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
async function* readBatches(texts: AsyncIterable<string>, names: readonly string[]): AsyncGenerator<TableBatch> {
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
