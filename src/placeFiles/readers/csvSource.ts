import { type CsvDelimiter, type CsvRowError, CsvSplitter } from "../../csvRows.ts";
import { Fault } from "../../errors.ts";
import type { PlaceBlock, RowError } from "../../places/placeBlock.ts";
import { quote } from "../../schemaErrors.ts";
import type { PlaceSource } from "../placeSource.ts";
import { BlockAssembler, type PlaceLayout, placeColumnsOf, placePositionsOf } from "./blockAssembler.ts";
import { type PlaceTextFile, readFileText } from "./fileText.ts";
import { findPlaceColumns, readColumnNames, type RequestedColumns } from "./placeColumnNames.ts";

const DELIMITERS: readonly CsvDelimiter[] = [",", ";", "\t"];
const HEADER_SIZE_CHARACTERS_MAX = 1 << 20;

/**
 * Opens CSV with a header line. The delimiter is the comma, semicolon or tab that occurs most often in the header, outside
 * quotes. All columns are kept as text; empty cells are null. A malformed row is an invalid row.
 */
export async function openCsvSource(
  file: PlaceTextFile,
  { requested, radiusKm }: { readonly requested: RequestedColumns; readonly radiusKm: number | undefined },
): Promise<PlaceSource> {
  const { delimiter, cells } = await readHeader(file);
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
    rowCount: undefined,
    sizeBytes: file.sizeBytes,
    blocks: ({ isWanted, ...options }) =>
      readBlocks(readFileText(file, options), {
        delimiter,
        columnNames: names,
        assembler: new BlockAssembler(layout, isWanted),
      }),
    close: () => Promise.resolve(),
  };
}

async function readHeader(
  file: PlaceTextFile,
): Promise<{ readonly delimiter: CsvDelimiter; readonly cells: readonly string[] }> {
  let head = "";
  for await (const text of readFileText(file)) {
    head += text;
    if (headerLine(head) !== undefined || head.length > HEADER_SIZE_CHARACTERS_MAX) break;
  }
  const delimiter = delimiterOf(headerLine(head) ?? head);
  const splitter = new CsvSplitter({ delimiter });
  splitter.push(head);
  splitter.end();
  const cells = splitter.next();
  if (cells === undefined) throw new Fault("invalid_request", "The file has no header line.");
  return { delimiter, cells };
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
    columnNames,
    assembler,
  }: {
    readonly delimiter: CsvDelimiter;
    readonly columnNames: readonly string[];
    readonly assembler: BlockAssembler;
  },
): AsyncGenerator<PlaceBlock> {
  const splitter = new CsvSplitter({ delimiter });
  let isAfterHeader = false;
  function* completeBlocks(): Generator<PlaceBlock> {
    isAfterHeader ||= splitter.skip();
    if (!isAfterHeader) return;
    for (;;) {
      if (!assembler.wantsRow) {
        if (!splitter.skip()) return;
        assembler.skip(splitter.rowSizeCharacters);
        continue;
      }
      const cells = splitter.nextOrMalformed();
      if (cells === undefined) return;
      const error =
        splitter.rowError === undefined
          ? cellCountError(cells.length, columnNames.length)
          : malformedRowError(splitter.rowError, columnNames);
      const block = assembler.add(emptyAsNull(cells), splitter.rowSizeCharacters, error);
      if (block !== undefined) yield block;
    }
  }
  for await (const text of texts) {
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

function malformedRowError({ line, cell, detail }: CsvRowError, columnNames: readonly string[]): RowError {
  const name = cell === undefined ? undefined : columnNames[cell];
  const place = name === undefined ? `line ${line}` : `line ${line}, column ${quote(name)}`;
  return { reason: "row_invalid", message: `${place}: ${detail}` };
}

function cellCountError(cellCount: number, columnCount: number): RowError | undefined {
  if (cellCount === columnCount) return undefined;
  const hint = cellCount > columnCount ? "; cells that contain the delimiter must be quoted" : "";
  return {
    reason: "row_invalid",
    message: `the row has ${cellCount} cells, but the header has ${columnCount}${hint}`,
  };
}
