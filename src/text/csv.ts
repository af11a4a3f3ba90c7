/** CSV input (RFC 4180) of the command line and of files of places. */
import { Fault } from "../errors.ts";
import { quote } from "../validation/schemaErrors.ts";

/** CSV output (RFC 4180) of the command line, the reports and the service. */

/** A value of a cell; null and undefined are written as an empty cell. */
export type CsvCell = string | number | null | undefined;

/** Returns the cell as CSV, quoted if it contains a quote, comma or line break. The text is otherwise unchanged. */
export function csvCell(cell: CsvCell): string {
  const text = String(cell ?? "");
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/**
 * Returns a line of CSV.
 *
 * @param end RFC 4180 specifies `\r\n`; `\n` suits line-oriented programs, and spreadsheets accept both
 */
export function csvLine(cells: readonly CsvCell[], end: "\n" | "\r\n" = "\n"): string {
  return `${cells.map(csvCell).join(",")}${end}`;
}

const ROW_SIZE_CHARACTERS_MAX = 1 << 20;

const LF = 0x0a;
const CR = 0x0d;
const QUOTE = 0x22;

export type CsvDelimiter = "," | ";" | "\t";

/** A row of a CSV file and the line on which it begins, counted from 1. */
export interface CsvRow {
  readonly cells: readonly string[];
  readonly line: number;
}

/** Why a row is malformed. */
export interface CsvRowError {
  /** The line with the error, which can follow the line on which the row begins. */
  readonly line: number;
  /** Index of the malformed cell; undefined if the error is not in a cell. */
  readonly cell: number | undefined;
  readonly detail: string;
}

/** Returns why a row is malformed, with its line and the name of its column. */
export function csvRowErrorText({ line, cell, detail }: CsvRowError, columnNames: readonly string[]): string {
  const name = cell === undefined ? undefined : columnNames[cell];
  const place = name === undefined ? `line ${line}` : `line ${line}, column ${quote(name)}`;
  return `${place}: ${detail}`;
}

const CLOSING_QUOTE_MISSING = "the closing quote of a cell is missing";
const TEXT_AFTER_QUOTE = "unexpected text after the closing quote of a cell; write a quote inside a quoted cell twice";
const AMBIGUOUS_QUOTE =
  "quote in an unquoted cell next to a line break in a quoted cell, or after a malformed row; quote the whole cell and write the inner quote twice";
const ROW_TOO_LONG = `a row must be at most ${ROW_SIZE_CHARACTERS_MAX} characters long; a closing quote may be missing`;

/**
 * Splits CSV text into rows and cells. The text may be divided anywhere. Rows end with LF, CRLF or CR, and empty lines are
 * skipped. The rows may have different numbers of cells.
 *
 * A cell that begins with a quote ends with one, and contains quotes twice. In other cells, quotes are text. Where this can
 * only be explained by a missing quote, the row is malformed: it consists of the line on which it begins, and the next row
 * begins on the next line. So that a part of a malformed row is not taken for a row, quotes in unquoted cells are then not
 * accepted up to the line on which the error was found, and never in a row that has a line break in a quoted cell.
 */
export class CsvSplitter {
  readonly #delimiterCode: number;
  #text = "";
  /** Start of the next row in `#text`. */
  #index = 0;
  /** Line of `#index`. */
  #line = 1;
  #isEnded = false;
  /** Whether `#index` is in a row that was too long. */
  #isSkippingLine = false;
  /** Last line on which an earlier row may be continued, because its quotes are ambiguous. */
  #ambiguousLineMax = 0;
  /** The next line feed, carriage return and quote at or after `#index`; Infinity if `#text` has none. */
  #nextLf = -1;
  #nextCr = -1;
  #nextQuote = -1;
  #rowLine = 1;
  #rowSize = 0;
  #rowError: CsvRowError | undefined;

  constructor({ delimiter = "," }: { readonly delimiter?: CsvDelimiter } = {}) {
    this.#delimiterCode = delimiter.charCodeAt(0);
  }

  /** The line on which the last row began. */
  get rowLine(): number {
    return this.#rowLine;
  }

  /** Size of the last row in characters, at most 1,048,576. Does not depend on how the text was divided. */
  get rowSizeCharacters(): number {
    return this.#rowSize;
  }

  /** Why the last row is malformed; undefined if it is not. */
  get rowError(): CsvRowError | undefined {
    return this.#rowError;
  }

  /** Adds text. All complete rows should have been taken before. */
  push(text: string): void {
    this.#text = this.#index < this.#text.length ? this.#text.slice(this.#index) + text : text;
    this.#index = 0;
    this.#nextLf = this.#nextCr = this.#nextQuote = -1;
  }

  /** Marks the end of the text, which completes the last row. */
  end(): void {
    this.#isEnded = true;
  }

  /**
   * Returns the cells of the next row; undefined if there is no complete row.
   * @throws Fault `invalid_request` naming the line if the row is malformed
   */
  next(): string[] | undefined {
    const cells = this.nextOrMalformed();
    if (cells !== undefined && this.#rowError !== undefined) throw csvFault(this.#rowError);
    return cells;
  }

  /**
   * As `next`, but also returns malformed rows, for which `rowError` is set. Their cells are those of the line without regard
   * to quotes, or none if the line is too long.
   */
  nextOrMalformed(): string[] | undefined {
    const cells: string[] = [];
    return this.#takeRow(cells) ? cells : undefined;
  }

  /** Skips the next row, which may be malformed. @returns whether there was a complete row */
  skip(): boolean {
    return this.#takeRow(undefined);
  }

  #takeRow(cells: string[] | undefined): boolean {
    if (this.#isSkippingLine && !this.#skipRestOfLine()) return false;
    for (;;) {
      const rowEnd = this.#findRowEnd();
      const start = this.#index;
      if (Math.min(rowEnd, this.#nextQuote, this.#text.length) - start > ROW_SIZE_CHARACTERS_MAX) {
        return this.#takeLongLine({ line: this.#line, cell: undefined, detail: ROW_TOO_LONG });
      }
      if (this.#nextQuote < rowEnd) return this.#takeQuotedRow(cells);
      if (rowEnd === Infinity && !this.#isEnded) return false;
      const end = Math.min(rowEnd, this.#text.length);
      const next = this.#skipLineBreak(end);
      if (next === undefined) return false;
      if (end > start) {
        if (cells !== undefined) this.#splitCells(cells, start, end);
        return this.#completeRow({ end, next, nextLine: this.#line + 1 });
      }
      this.#index = next;
      if (start === this.#text.length) return false;
      this.#line++;
    }
  }

  /** Moves to the next row. @param row.end position of the line break of this one */
  #completeRow(
    { end, next, nextLine }: { readonly end: number; readonly next: number; readonly nextLine: number },
    error?: CsvRowError,
  ): true {
    this.#rowLine = this.#line;
    this.#rowSize = end - this.#index;
    this.#rowError = error;
    this.#line = nextLine;
    this.#index = next;
    return true;
  }

  /** Returns the position of the next line break, ignoring quotes; Infinity if there is none. */
  #findRowEnd(): number {
    const start = this.#index;
    if (this.#nextLf < start) this.#nextLf = this.#find("\n", start);
    if (this.#nextCr < start) this.#nextCr = this.#find("\r", start);
    if (this.#nextQuote < start) this.#nextQuote = this.#find('"', start);
    return Math.min(this.#nextLf, this.#nextCr);
  }

  #find(character: string, start: number): number {
    const index = this.#text.indexOf(character, start);
    return index < 0 ? Infinity : index;
  }

  /** Returns the position after the line break at `end`; undefined if a line feed may follow with the next text. */
  #skipLineBreak(end: number): number | undefined {
    if (end === this.#text.length) return end;
    if (this.#text.charCodeAt(end) === LF) return end + 1;
    if (end + 1 === this.#text.length && !this.#isEnded) return undefined;
    return this.#text.charCodeAt(end + 1) === LF ? end + 2 : end + 1;
  }

  #splitCells(cells: string[], start: number, end: number): void {
    const text = this.#text;
    const delimiterCode = this.#delimiterCode;
    let cellStart = start;
    for (let index = start; index < end; index++) {
      if (text.charCodeAt(index) !== delimiterCode) continue;
      cells.push(text.slice(cellStart, index));
      cellStart = index + 1;
    }
    cells.push(text.slice(cellStart, end));
  }

  #takeQuotedRow(cells: string[] | undefined): boolean {
    const text = this.#text;
    const sizeMax = this.#index + ROW_SIZE_CHARACTERS_MAX;
    let index = this.#index;
    let line = this.#line;
    let hasStrayQuote = false;
    for (let cell = 0; ; cell++) {
      if (text.charCodeAt(index) === QUOTE) {
        const start = index + 1;
        const quote = this.#findClosingQuote(start);
        if (quote === undefined || quote > sizeMax) {
          if (text.length > sizeMax) return this.#takeLongRow(cells);
          if (!this.#isEnded) return false;
          return this.#takeMalformedRow(cells, { line, cell, detail: CLOSING_QUOTE_MISSING }, Infinity);
        }
        const content = text.slice(start, quote);
        cells?.push(content.includes('"') ? content.replaceAll('""', '"') : content);
        line += lineBreakCount(content);
        index = quote + 1;
      } else {
        const start = index;
        for (; index < text.length && !this.#endsCell(text.charCodeAt(index)); index++) {
          if (text.charCodeAt(index) === QUOTE) hasStrayQuote = true;
        }
        cells?.push(text.slice(start, index));
      }
      if (index > sizeMax) return this.#takeLongRow(cells);
      if (index === text.length && !this.#isEnded) return false;
      if (hasStrayQuote && (line > this.#line || line <= this.#ambiguousLineMax)) {
        return this.#takeMalformedRow(cells, { line, cell, detail: AMBIGUOUS_QUOTE }, line);
      }
      const code = text.charCodeAt(index);
      if (index < text.length && !this.#endsCell(code)) {
        return this.#takeMalformedRow(cells, { line, cell, detail: TEXT_AFTER_QUOTE }, line);
      }
      if (index < text.length && code === this.#delimiterCode) {
        index++;
        continue;
      }
      const next = this.#skipLineBreak(index);
      return next !== undefined && this.#completeRow({ end: index, next, nextLine: line + 1 });
    }
  }

  #endsCell(code: number): boolean {
    return code === this.#delimiterCode || code === LF || code === CR;
  }

  /** Returns undefined if the cell is not complete. */
  #findClosingQuote(start: number): number | undefined {
    for (let index = this.#text.indexOf('"', start); index >= 0; index = this.#text.indexOf('"', index + 2)) {
      if (index + 1 === this.#text.length && !this.#isEnded) return undefined;
      if (this.#text.charCodeAt(index + 1) !== QUOTE) return index;
    }
    return undefined;
  }

  /** Takes a row with quotes that is too long. */
  #takeLongRow(cells: string[] | undefined): boolean {
    const taken = this.#text.slice(this.#index, this.#index + ROW_SIZE_CHARACTERS_MAX);
    const error = { line: this.#line, cell: undefined, detail: ROW_TOO_LONG };
    return this.#takeMalformedRow(cells, error, this.#line + lineBreakCount(taken));
  }

  /** Takes the line on which a malformed row begins. @param lineMax the last line that may belong to the row */
  #takeMalformedRow(cells: string[] | undefined, error: CsvRowError, lineMax: number): boolean {
    const start = this.#index;
    const lineEnd = this.#findRowEnd();
    const end = Math.min(lineEnd, this.#text.length);
    if (end - start > ROW_SIZE_CHARACTERS_MAX) {
      if (cells !== undefined) cells.length = 0;
      this.#ambiguousLineMax = Math.max(this.#ambiguousLineMax, lineMax);
      return this.#takeLongLine(error);
    }
    if (lineEnd === Infinity && !this.#isEnded) return false;
    const next = this.#skipLineBreak(end);
    if (next === undefined) return false;
    if (cells !== undefined) {
      cells.length = 0;
      this.#splitCells(cells, start, end);
    }
    this.#ambiguousLineMax = Math.max(this.#ambiguousLineMax, lineMax);
    return this.#completeRow({ end, next, nextLine: this.#line + 1 }, error);
  }

  /** Takes a row with a line that is too long. The next row begins after its line break, which may not have arrived. */
  #takeLongLine(error: CsvRowError): boolean {
    this.#isSkippingLine = true;
    const next = this.#index + ROW_SIZE_CHARACTERS_MAX;
    return this.#completeRow({ end: next, next, nextLine: this.#line }, error);
  }

  /** Moves after the next line break. @returns whether it has arrived */
  #skipRestOfLine(): boolean {
    const end = this.#findRowEnd();
    const next = end === Infinity ? undefined : this.#skipLineBreak(end);
    this.#index = next ?? Math.min(end, this.#text.length);
    if (next === undefined) return false;
    this.#line++;
    this.#isSkippingLine = false;
    return true;
  }
}

/**
 * Parses CSV with commas. Yields the rows that each piece of text completes.
 * @throws Fault `invalid_request` naming the line of malformed CSV
 */
export async function* parseCsvRows(texts: AsyncIterable<string>): AsyncGenerator<readonly CsvRow[]> {
  const splitter = new CsvSplitter();
  const takeRows = (): readonly CsvRow[] => {
    const rows: CsvRow[] = [];
    for (let cells = splitter.next(); cells !== undefined; cells = splitter.next()) {
      rows.push({ cells, line: splitter.rowLine });
    }
    return rows;
  };
  for await (const text of texts) {
    splitter.push(text);
    const rows = takeRows();
    if (rows.length > 0) yield rows;
  }
  splitter.end();
  const rows = takeRows();
  if (rows.length > 0) yield rows;
}

/** Returns how many lines end in a text. */
export function lineBreakCount(text: string): number {
  if (!text.includes("\n") && !text.includes("\r")) return 0;
  return text.match(/\r\n|\r|\n/g)?.length ?? 0;
}

function csvFault({ line, detail }: CsvRowError): Fault {
  return new Fault("invalid_request", `Line ${line}: ${detail}.`, { details: { line } });
}
