import { describe, expect, test } from "vitest";
import { parse } from "csv-parse/sync";
import { csvCell, csvLine } from "../../src/text/csv.ts";

describe("CSV text", () => {
  test.each([
    ["plain", "plain"],
    ["", ""],
    [null, ""],
    [undefined, ""],
    [0, "0"],
    [-1.5e-7, "-1.5e-7"],
    [9007199254740991, "9007199254740991"],
    ["a,b", '"a,b"'],
    ['say "so"', '"say ""so"""'],
    ["two\nlines", '"two\nlines"'],
    ["two\rlines", '"two\rlines"'],
    [" spaced ", " spaced "],
    // Formulas are not escaped: files contain the exact text.
    ["=1+1", "=1+1"],
    ["Zürich; 再保険", "Zürich; 再保険"],
  ])("writes %j as %s", (value, text) => {
    expect(csvCell(value)).toBe(text);
  });

  test("is read back unchanged by csv-parse", () => {
    const fragments = ["", "a", ",", '"', "\n", "\r", "\r\n", ";", " ", "=", "é", "🌊"];
    const cells = fragments.flatMap((one) => fragments.map((other) => `x${one}${other}`));
    for (const end of ["\n", "\r\n"] as const) {
      const text = csvLine(cells, end) + csvLine(cells.toReversed(), end);
      expect(parse(text, { record_delimiter: end })).toEqual([cells, cells.toReversed()]);
    }
    expect(csvLine(["a", 1, null])).toBe("a,1,\n");
  });
});
