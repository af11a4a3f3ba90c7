import { parse } from "csv-parse/sync";
import { describe, expect, test } from "vitest";
import { type CsvDelimiter, type CsvRow, CsvSplitter, parseCsvRows } from "../../src/text/csv.ts";
import { isFault } from "../../src/errors.ts";
import { type OracleRow, splitCsv } from "../oracle/csvRows.ts";
import { randomFrom, type SeededRandom } from "../seededRandom.ts";

/** The number of random texts; `CSV_TEXT_COUNT` runs more. */
const TEXT_COUNT = Number(process.env["CSV_TEXT_COUNT"] ?? 3000);
const ROW_SIZE_MAX = 1 << 20;

interface Pieces {
  readonly delimiter?: CsvDelimiter;
  readonly pieceSize?: () => number;
}

/** Splits a text that arrives in pieces. @param take takes all complete rows */
function withPieces(
  text: string,
  { delimiter = ",", pieceSize = () => text.length }: Pieces,
  take: (splitter: CsvSplitter) => void,
): void {
  const splitter = new CsvSplitter({ delimiter });
  for (let offset = 0; offset < text.length;) {
    const size = pieceSize();
    splitter.push(text.slice(offset, offset + size));
    offset += size;
    take(splitter);
  }
  splitter.end();
  take(splitter);
}

/** Splits a text without malformed rows. */
function split(text: string): readonly CsvRow[] {
  const rows: CsvRow[] = [];
  withPieces(text, {}, (splitter) => {
    for (let cells = splitter.next(); cells !== undefined; cells = splitter.next()) {
      rows.push({ cells, line: splitter.rowLine });
    }
  });
  return rows;
}

function splitWithMalformed(text: string, pieces: Pieces = {}): readonly OracleRow[] {
  const rows: OracleRow[] = [];
  withPieces(text, pieces, (splitter) => {
    for (let cells = splitter.nextOrMalformed(); cells !== undefined; cells = splitter.nextOrMalformed()) {
      rows.push({ cells, line: splitter.rowLine, errorLine: splitter.rowError?.line });
    }
  });
  return rows;
}

/** Returns undefined for text that is not RFC 4180. */
function cellsByCsvParse(text: string, delimiter: CsvDelimiter, lineBreak: string): string[][] | undefined {
  const options = { delimiter, relax_column_count: true, skip_empty_lines: true, record_delimiter: lineBreak };
  try {
    return parse(text, options);
  } catch {
    return undefined;
  }
}

function randomText(random: SeededRandom, delimiter: CsvDelimiter, lineBreak: string): string {
  const plain = ["", "a", "0.5", " x ", "é", "\u{1f600}", "-12.25", delimiter === "," ? ";" : ","];
  const inner = [...plain, delimiter, lineBreak, '""'];
  const cell = (): string =>
    random.chance(0.3)
      ? `"${Array.from({ length: random.below(4) }, () => random.pick(inner)).join("")}"`
      : random.pick(plain);
  const rows = Array.from({ length: random.below(6) }, () =>
    Array.from({ length: 1 + random.below(4) }, cell).join(delimiter),
  );
  const text = rows.join(lineBreak) + (random.chance(0.5) ? lineBreak : "");
  if (random.chance(0.5)) return text;
  // Mutations: a character is removed, repeated or inserted.
  const index = random.below(text.length + 1);
  const inserted = random.pick(["", text.slice(index, index + 1).repeat(2), '"', delimiter, lineBreak]);
  const mutated = text.slice(0, index) + inserted + text.slice(index + random.below(2));
  return Buffer.from(mutated).toString(); // replaces halves of surrogate pairs, as csv-parse does
}

describe("splitting CSV", () => {
  test("equals the reference and, for RFC 4180, csv-parse, however the text is divided", () => {
    const random = randomFrom(18);
    const counts = { rows: 0, malformed: 0, textsOfCsvParse: 0 };
    for (let run = 0; run < TEXT_COUNT; run++) {
      const delimiter = random.pick([",", ";", "\t"] as const);
      const lineBreak = random.pick(["\n", "\r\n", "\r"]);
      const text = randomText(random, delimiter, lineBreak);
      // csv-parse keeps the other line breaks as text, which is the only intended difference.
      if (lineBreak === "\r\n" && /\r(?!\n)|(?<!\r)\n/.test(text)) continue;
      const pieceSize = (): number => 1 + random.below(random.pick([1, 3, 20]));
      const rows = splitWithMalformed(text, { delimiter, pieceSize });
      expect(rows, JSON.stringify(text)).toStrictEqual(splitCsv(text, delimiter));
      counts.rows += rows.length;
      counts.malformed += rows.filter(({ errorLine }) => errorLine !== undefined).length;
      const expected = cellsByCsvParse(text, delimiter, lineBreak);
      if (expected === undefined) continue;
      counts.textsOfCsvParse++;
      const wellFormed = rows.filter(({ errorLine }) => errorLine === undefined);
      expect(
        wellFormed.map(({ cells }) => cells),
        JSON.stringify(text),
      ).toStrictEqual(expected);
    }
    expect(counts.rows).toBeGreaterThan(TEXT_COUNT);
    expect(counts.malformed).toBeGreaterThan(TEXT_COUNT / 50);
    expect(counts.textsOfCsvParse).toBeGreaterThan(TEXT_COUNT / 2);
  });

  test("takes quotes in unquoted cells as text", () => {
    expect(split('id,size\n1,5" pipe\n2,"a ""b"" c"\n3, "c"\n')).toStrictEqual([
      { cells: ["id", "size"], line: 1 },
      { cells: ["1", '5" pipe'], line: 2 },
      { cells: ["2", 'a "b" c'], line: 3 },
      { cells: ["3", ' "c"'], line: 4 },
    ]);
  });

  test.each([
    ["a closing quote is missing", '1,"b,2\n3,c,4\n5,d,6\n', 1, ["1", '"b', "2"]],
    ["a closing quote is missing before another quoted cell", '1,"b,2\n3,c,4\n5,"d",6\n', 3, ["1", '"b', "2"]],
    ["text follows a closing quote", '1,"b"x,2\n3,c,4\n5,d,6\n', 1, ["1", '"b"x', "2"]],
  ])("takes only the first line as malformed if %s", (_, text, errorLine, cells) => {
    expect(splitWithMalformed(text)).toStrictEqual([
      { cells, line: 1, errorLine },
      { cells: ["3", "c", "4"], line: 2, errorLine: undefined },
      { cells: ["5", "d", "6"], line: 3, errorLine: undefined },
    ]);
  });

  test.each([
    ["the rest of a malformed row", '"two\nlines"x,5,6\n', ['"two'], ['lines"x', "5", "6"]],
    ["a line that may continue a malformed row", '"a,1\n5" b",3\n', ['"a', "1"], ['5" b"', "3"]],
    ["a row with quotes as text and with a line break", '"a\nb",5" pipe\n', ['"a'], ['b"', '5" pipe']],
  ])("does not take %s for a row", (_, text, first, second) => {
    expect(splitWithMalformed(`${text}1,5" pipe,2\n`)).toStrictEqual([
      { cells: first, line: 1, errorLine: 2 },
      { cells: second, line: 2, errorLine: 2 },
      { cells: ["1", '5" pipe', "2"], line: 3, errorLine: undefined },
    ]);
  });

  test("takes rows that are too long as malformed, however the text is divided", () => {
    const long = "x".repeat(ROW_SIZE_MAX);
    const lines = [long, `1${long}`, `2,"${long}"`, "3,c", '4,"a', `${long}""`, '"', "5,e", `6${long}"`, "7,g"];
    const text = lines.join("\r\n");
    const rows: readonly OracleRow[] = [
      { cells: [long], line: 1, errorLine: undefined },
      { cells: [], line: 2, errorLine: 2 },
      { cells: [], line: 3, errorLine: 3 },
      { cells: ["3", "c"], line: 4, errorLine: undefined },
      { cells: ["4", '"a'], line: 5, errorLine: 5 },
      { cells: [], line: 6, errorLine: 6 },
      { cells: ['"'], line: 7, errorLine: 7 },
      { cells: ["5", "e"], line: 8, errorLine: undefined },
      { cells: [], line: 9, errorLine: 9 },
      { cells: ["7", "g"], line: 10, errorLine: undefined },
    ];
    for (const pieceSize of [text.length, ROW_SIZE_MAX, 400_000]) {
      const actual = splitWithMalformed(text, { pieceSize: () => pieceSize });
      // A difference between long cells would be printed.
      const short = (cell: string): string => (cell.length > 100 ? `${cell.length} characters` : cell);
      const shortened = (all: readonly OracleRow[]) => all.map((row) => ({ ...row, cells: row.cells.map(short) }));
      expect(shortened(actual), `pieces of ${pieceSize}`).toStrictEqual(shortened(rows));
    }
  });

  test("reports the size of rows without their line breaks, also if they are skipped or malformed", () => {
    const splitter = new CsvSplitter();
    splitter.push('ab,c\r\n"d\n""e",f\n"g"h,i\n');
    expect([splitter.skip(), splitter.rowSizeCharacters]).toStrictEqual([true, 4]);
    expect([splitter.next(), splitter.rowSizeCharacters]).toStrictEqual([['d\n"e', "f"], 9]);
    expect([splitter.skip(), splitter.rowSizeCharacters]).toStrictEqual([true, 6]);
    expect(splitter.rowError).toMatchObject({ line: 4, cell: 0 });
  });

  test("counts lines and skips rows in the same way as it splits them", () => {
    const text = 'a,b\r\n\r\n"1\n2",x\n"3\r\n4\r5",y\r6,z\n7,8';
    const lines = split(text).map(({ cells: [first = ""], line }) => [first, line]);
    expect(lines).toStrictEqual([
      ["a", 1],
      ["1\n2", 3],
      ["3\r\n4\r5", 5],
      ["6", 8],
      ["7", 9],
    ]);
    const splitter = new CsvSplitter();
    splitter.push(text);
    splitter.end();
    expect([splitter.skip(), splitter.skip(), splitter.skip()]).toStrictEqual([true, true, true]);
    expect(splitter.rowLine).toBe(5);
    expect(splitter.next()).toStrictEqual(["6", "z"]);
    expect([splitter.skip(), splitter.skip()]).toStrictEqual([true, false]);
  });

  test.each([
    ["a missing closing quote", 'a\n"b\nc', "Line 2: the closing quote of a cell is missing."],
    ["text after a closing quote", 'a\n"b\n" c', "Line 3: unexpected text after the closing quote"],
    ["a quote as text next to a line break", 'a\n"b\n",c"', "Line 3: quote in an unquoted cell next to a line break"],
    [
      "a row that is too long",
      `a\n${"x".repeat(ROW_SIZE_MAX + 1)}\n`,
      "Line 2: a row must be at most 1048576 characters",
    ],
    ["a cell that is too long", `a\n"${"x\n".repeat(1 << 19)}"`, "Line 2: a row must be at most 1048576 characters"],
  ])("rejects %s with its line", (_, text, message) => {
    expect(() => split(text)).toThrow(message);
  });

  test("yields the rows of an asynchronous text with the lines on which they begin", async () => {
    async function* texts() {
      yield 'a,"b';
      yield '\n1"\nc,d';
    }
    const batches: (readonly CsvRow[])[] = [];
    for await (const rows of parseCsvRows(texts())) batches.push(rows);
    expect(batches).toStrictEqual([[{ cells: ["a", "b\n1"], line: 1 }], [{ cells: ["c", "d"], line: 3 }]]);
  });

  test("reports malformed text as a fault of the request", () => {
    let error: unknown;
    try {
      split('"');
    } catch (caught) {
      error = caught;
    }
    expect(isFault(error, "invalid_request") && error.details).toStrictEqual({ line: 1 });
  });
});
