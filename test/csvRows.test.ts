import { parse } from "csv-parse/sync";
import { describe, expect, test } from "vitest";
import { type CsvDelimiter, type CsvRow, CsvSplitter, parseCsvRows } from "../src/csvRows.ts";
import { isFault } from "../src/errors.ts";
import { randomFrom, type SeededRandom } from "./seededRandom.ts";

/** The number of random texts; `CSV_TEXT_COUNT` runs more. */
const TEXT_COUNT = Number(process.env["CSV_TEXT_COUNT"] ?? 3000);

type Outcome = readonly (readonly string[])[] | "rejected";

/** Splits a text that arrives in random pieces. */
function split(
  text: string,
  { delimiter = ",", random }: { readonly delimiter?: CsvDelimiter; readonly random?: SeededRandom } = {},
): CsvRow[] {
  const splitter = new CsvSplitter({ delimiter });
  const rows: CsvRow[] = [];
  const take = (): void => {
    for (let cells = splitter.next(); cells !== undefined; cells = splitter.next()) {
      rows.push({ cells, line: splitter.rowLine });
    }
  };
  for (let offset = 0; offset < text.length;) {
    const size = random === undefined ? text.length : 1 + random.below(random.pick([1, 3, 20]));
    splitter.push(text.slice(offset, offset + size));
    offset += size;
    take();
  }
  splitter.end();
  take();
  return rows;
}

function outcomeOf(rows: () => readonly (readonly string[])[]): Outcome {
  try {
    return rows();
  } catch {
    return "rejected";
  }
}

function cellsByCsvParse(text: string, delimiter: CsvDelimiter, lineBreak: string): string[][] {
  const options = { delimiter, relax_column_count: true, skip_empty_lines: true, record_delimiter: lineBreak };
  return parse(text, options);
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
  if (random.chance(0.6)) return text;
  // Mutations: a character is removed, repeated or inserted.
  const index = random.below(text.length + 1);
  const inserted = random.pick(["", text.slice(index, index + 1).repeat(2), '"', delimiter, lineBreak]);
  const mutated = text.slice(0, index) + inserted + text.slice(index + random.below(2));
  return Buffer.from(mutated).toString(); // replaces halves of surrogate pairs, as csv-parse does
}

describe("splitting CSV", () => {
  test("equals csv-parse for random and mutated texts, however they are divided", () => {
    const random = randomFrom(18);
    const counts = { rows: 0, rejected: 0 };
    for (let run = 0; run < TEXT_COUNT; run++) {
      const delimiter = random.pick([",", ";", "\t"] as const);
      const lineBreak = random.pick(["\n", "\r\n", "\r"]);
      const text = randomText(random, delimiter, lineBreak);
      // csv-parse keeps the other line breaks as text, which is the only intended difference.
      if (lineBreak === "\r\n" && /\r(?!\n)|(?<!\r)\n/.test(text)) continue;
      const expected = outcomeOf(() => cellsByCsvParse(text, delimiter, lineBreak));
      const actual = outcomeOf(() => split(text, { delimiter, random }).map(({ cells }) => cells));
      expect(actual, JSON.stringify(text)).toStrictEqual(expected);
      if (actual === "rejected") counts.rejected++;
      else counts.rows += actual.length;
    }
    expect(counts.rows).toBeGreaterThan(TEXT_COUNT);
    expect(counts.rejected).toBeGreaterThan(TEXT_COUNT / 50);
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
    ["a quote inside a cell", 'a\nb"c', "Line 2: quote in the middle of an unquoted cell"],
    ["a row that is too long", `a\n${"x".repeat((1 << 20) + 1)}\n`, "Line 2: a row must be at most 1048576 characters"],
    ["a cell that is too long", `a\n"${"x\n".repeat(1 << 19)}"`, "Line 2: a row must be at most 1048576 characters"],
  ])("rejects %s with its line, also in skipped rows", (_, text, message) => {
    expect(() => split(text)).toThrow(message);
    const splitter = new CsvSplitter();
    splitter.push(text);
    splitter.end();
    expect(splitter.skip()).toBe(true);
    expect(() => splitter.skip()).toThrow(message);
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
