/** CSV input (RFC 4180) of the command line and of files of places. */
import { Fault } from "./errors.ts";

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

/**
 * Splits CSV text into rows and cells. The text may be divided anywhere. Rows end with LF, CRLF or CR, and empty lines are
 * skipped. A cell with quotes begins and ends with a quote. The rows may have different numbers of cells.
 */
export class CsvSplitter {
  readonly #delimiterCode: number;
  #text = "";
  /** Start of the next row in `#text`. */
  #index = 0;
  /** Line of `#index`. */
  #line = 1;
  #isEnded = false;
  /** The next line feed, carriage return and quote at or after `#index`; Infinity if `#text` has none. */
  #nextLf = -1;
  #nextCr = -1;
  #nextQuote = -1;
  #rowLine = 1;

  constructor({ delimiter = "," }: { readonly delimiter?: CsvDelimiter } = {}) {
    this.#delimiterCode = delimiter.charCodeAt(0);
  }

  /** The line on which the last row began. */
  get rowLine(): number {
    return this.#rowLine;
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
   * @throws Fault `invalid_request` naming the line of malformed CSV
   */
  next(): string[] | undefined {
    const cells: string[] = [];
    return this.#takeRow(cells) ? cells : undefined;
  }

  /** Skips the next row, checking only its quotes. @returns whether there was a complete row */
  skip(): boolean {
    return this.#takeRow(undefined);
  }

  #takeRow(cells: string[] | undefined): boolean {
    for (;;) {
      const rowEnd = this.#findRowEnd();
      if (this.#nextQuote < rowEnd) return this.#takeQuotedRow(cells);
      if (rowEnd === Infinity && !this.#isEnded) {
        this.#checkRowSize(this.#text.length);
        return false;
      }
      const end = Math.min(rowEnd, this.#text.length);
      const start = this.#index;
      const next = this.#skipLineBreak(end);
      if (next === undefined) return false;
      this.#checkRowSize(end);
      this.#index = next;
      if (end > start) {
        this.#rowLine = this.#line++;
        if (cells !== undefined) this.#splitCells(cells, start, end);
        return true;
      }
      if (start === this.#text.length) return false;
      this.#line++;
    }
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
    let index = this.#index;
    let line = this.#line;
    for (;;) {
      if (text.charCodeAt(index) === QUOTE) {
        const start = index + 1;
        const quote = this.#findClosingQuote(start);
        if (quote === undefined) return this.#isIncomplete("the closing quote of a cell is missing", line);
        const cell = text.slice(start, quote);
        cells?.push(cell.includes('"') ? cell.replaceAll('""', '"') : cell);
        line += lineBreakCount(cell);
        index = quote + 1;
      } else {
        const start = index;
        while (index < text.length && !this.#endsCell(text.charCodeAt(index))) {
          if (text.charCodeAt(index) === QUOTE) {
            throw csvFault(
              line,
              "quote in the middle of an unquoted cell; quote the whole cell and write the inner quote twice",
            );
          }
          index++;
        }
        cells?.push(text.slice(start, index));
      }
      if (index === text.length && !this.#isEnded) return this.#isIncomplete("", line);
      const code = text.charCodeAt(index);
      if (index < text.length && !this.#endsCell(code)) {
        throw csvFault(
          line,
          "unexpected text after the closing quote of a cell; write a quote inside a quoted cell twice",
        );
      }
      if (index < text.length && code === this.#delimiterCode) {
        index++;
        continue;
      }
      const next = this.#skipLineBreak(index);
      if (next === undefined) return false;
      this.#checkRowSize(index);
      this.#rowLine = this.#line;
      this.#line = line + 1;
      this.#index = next;
      return true;
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

  #isIncomplete(whatIsMissing: string, line: number): false {
    this.#checkRowSize(this.#text.length);
    if (this.#isEnded) throw csvFault(line, whatIsMissing);
    return false;
  }

  #checkRowSize(end: number): void {
    if (end - this.#index <= ROW_SIZE_CHARACTERS_MAX) return;
    const detail = `a row must be at most ${ROW_SIZE_CHARACTERS_MAX} characters long; a closing quote may be missing`;
    throw csvFault(this.#line, detail);
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

function lineBreakCount(text: string): number {
  if (!text.includes("\n") && !text.includes("\r")) return 0;
  return text.match(/\r\n|\r|\n/g)?.length ?? 0;
}

function csvFault(line: number, detail: string): Fault {
  return new Fault("invalid_request", `Line ${line}: ${detail}.`, { details: { line } });
}
