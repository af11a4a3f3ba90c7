import { type CsvDelimiter, type CsvRowError, csvRowErrorText, CsvSplitter, lineBreakCount } from "../../text/csv.ts";
import { Fault } from "../../errors.ts";
import { quote } from "../../validation/schemaErrors.ts";
import type { PlaceBlock, RowError } from "../scores/placeBlock.ts";
import {
  BlockAssembler,
  placeColumnsOf,
  type PlaceLayout,
  placePositionsOf,
  type PlaceSource,
} from "./blockAssembler.ts";
import { INVALID_UTF8, INVALID_UTF8_MARK, invalidUtf8Fault, withoutMarks } from "../../text/utf8Text.ts";
import { type PlaceTextFile, readMarkedFileText } from "./fileText.ts";
import { findPlaceColumns, readColumnNames, type RequestedColumns } from "./placeColumnNames.ts";

const DELIMITERS: readonly CsvDelimiter[] = [",", ";", "\t"];
const DELIMITER_NAMES = "a comma, a semicolon or a tab";
const HEADER_SIZE_CHARACTERS_MAX = 1 << 20;
/** A first line with which Excel recognizes the delimiter. */
const DELIMITER_LINE = /^[\r\n]*sep=([^\r\n])[\r\n]+/i;

/**
 * Opens CSV with a header line. The delimiter is the comma, semicolon or tab that occurs most often in the header, outside
 * quotes, or the one of a line such as `sep=;` before it. All columns are kept as text; empty cells are null. A malformed
 * row is an invalid row, and so is a row with bytes that are not UTF-8, whose cells have U+FFFD instead of them.
 */
export async function openCsvSource(
  file: PlaceTextFile,
  { requested, radiusKm }: { readonly requested: RequestedColumns; readonly radiusKm: number | undefined },
): Promise<PlaceSource> {
  const { delimiter, hasDelimiterLine, cells } = await readHeader(file);
  const names = readColumnNames(cells);
  const layout: PlaceLayout = {
    keptColumns: names.map((name) => ({ name, type: "text" })),
    indices: findPlaceColumns(names, { requested, hasGeometry: false }),
    radiusKm,
  };
  return {
    columns: placeColumnsOf(layout),
    positions: placePositionsOf(layout),
    keptColumns: layout.keptColumns,
    omittedColumns: [],
    rowCount: undefined,
    sizeBytes: file.sizeBytes,
    blocks: ({ isWanted, ...options }) =>
      readBlocks(readMarkedFileText(file, options), {
        delimiter,
        headRowCount: hasDelimiterLine ? 2 : 1,
        columnNames: names,
        assembler: new BlockAssembler(layout, isWanted),
      }),
    close: () => Promise.resolve(),
  };
}

interface CsvHeader {
  readonly delimiter: CsvDelimiter;
  /** Whether a line with the delimiter precedes the header. */
  readonly hasDelimiterLine: boolean;
  readonly cells: readonly string[];
}

/** @throws Fault `invalid_request` if the header is missing or malformed, has one column, or the delimiter is not accepted */
async function readHeader(file: PlaceTextFile): Promise<CsvHeader> {
  let head = "";
  for await (const text of readMarkedFileText(file)) {
    head += text;
    if (headerLine(head.replace(DELIMITER_LINE, "")) !== undefined || head.length > HEADER_SIZE_CHARACTERS_MAX) break;
  }
  const stated = DELIMITER_LINE.exec(head)?.[1];
  const hasDelimiterLine = stated !== undefined;
  const delimiter = stated === undefined ? delimiterOf(headerLine(head) ?? head) : acceptedDelimiter(stated);
  const splitter = new CsvSplitter({ delimiter });
  splitter.push(head);
  splitter.end();
  if (hasDelimiterLine) splitter.skip();
  const cells = splitter.next();
  if (cells === undefined) throw new Fault("invalid_request", "The file has no header line.");
  // The file has another encoding.
  if (cells.some((cell) => INVALID_UTF8_MARK.test(cell))) throw invalidUtf8Fault(splitter.rowLine);
  if (cells.length === 1) {
    const message = `The header has only the column ${quote(cells[0])}; columns must be separated by ${DELIMITER_NAMES}.`;
    throw new Fault("invalid_request", message);
  }
  return { delimiter, hasDelimiterLine, cells };
}

function acceptedDelimiter(stated: string): CsvDelimiter {
  const delimiter = DELIMITERS.find((accepted) => accepted === stated);
  if (delimiter !== undefined) return delimiter;
  const message = `Line 1: the delimiter must be ${DELIMITER_NAMES} (got ${quote(`sep=${stated}`)}).`;
  throw new Fault("invalid_request", message);
}

/** Returns the first line with text, outside quotes; undefined if the text has no line break after it. */
function headerLine(text: string): string | undefined {
  return /^[\r\n]*((?:[^"\r\n]|"[^"]*")+)[\r\n]/.exec(text)?.[1];
}

function delimiterOf(line: string): CsvDelimiter {
  const unquoted = line.replaceAll(/"[^"]*"/g, "");
  const countOf = (delimiter: CsvDelimiter): number => unquoted.split(delimiter).length - 1;
  return DELIMITERS.reduce((best, delimiter) => (countOf(delimiter) > countOf(best) ? delimiter : best));
}

async function* readBlocks(
  texts: AsyncIterable<string>,
  {
    delimiter,
    headRowCount,
    columnNames,
    assembler,
  }: {
    readonly delimiter: CsvDelimiter;
    /** Number of rows up to the header. */
    readonly headRowCount: number;
    readonly columnNames: readonly string[];
    readonly assembler: BlockAssembler;
  },
): AsyncGenerator<PlaceBlock> {
  const splitter = new CsvSplitter({ delimiter });
  let skippedCount = 0;
  let hasMarks = false;
  function* completeBlocks(): Generator<PlaceBlock> {
    while (skippedCount < headRowCount) {
      if (!splitter.skip()) return;
      skippedCount++;
    }
    for (;;) {
      if (!assembler.wantsRow) {
        if (!splitter.skip()) return;
        assembler.skip(splitter.rowSizeCharacters);
        continue;
      }
      const cells = splitter.nextOrMalformed();
      if (cells === undefined) return;
      const rowError = splitter.rowError ?? (hasMarks ? invalidTextError(cells, splitter.rowLine) : undefined);
      const error: RowError | undefined =
        rowError === undefined
          ? cellCountError(cells.length, columnNames.length)
          : { reason: "row_invalid", message: csvRowErrorText(rowError, columnNames) };
      const values = emptyAsNull(hasMarks ? cells.map(withoutMarks) : cells);
      const block = assembler.add(values, splitter.rowSizeCharacters, error);
      if (block !== undefined) yield block;
    }
  }
  for await (const text of texts) {
    hasMarks ||= INVALID_UTF8_MARK.test(text);
    splitter.push(text);
    yield* completeBlocks();
  }
  splitter.end();
  yield* completeBlocks();
  const last = assembler.end();
  if (last !== undefined) yield last;
}

function emptyAsNull(cells: (string | null)[]): readonly (string | null)[] {
  for (let index = 0; index < cells.length; index++) if (cells[index] === "") cells[index] = null;
  return cells;
}

/** Returns the error of a row with bytes that are not UTF-8. */
function invalidTextError(cells: readonly string[], rowLine: number): CsvRowError | undefined {
  const cell = cells.findIndex((text) => INVALID_UTF8_MARK.test(text));
  if (cell < 0) return undefined;
  const before = cells.slice(0, cell).concat(cells[cell]?.split(INVALID_UTF8_MARK, 1) ?? []);
  const line = before.reduce((sum, text) => sum + lineBreakCount(text), rowLine);
  return { line, cell, detail: INVALID_UTF8 };
}

function cellCountError(cellCount: number, columnCount: number): RowError | undefined {
  if (cellCount === columnCount) return undefined;
  const hint = cellCount > columnCount ? "; cells that contain the delimiter must be quoted" : "";
  return {
    reason: "row_invalid",
    message: `the row has ${cellCount} cells, but the header has ${columnCount}${hint}`,
  };
}
