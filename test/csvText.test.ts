import { describe, expect, test } from "vitest";
import { parse } from "csv-parse/sync";
import { csvCell, csvLine } from "../src/csvText.ts";

describe("text of CSV", () => {
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
    // What a spreadsheet makes of it is for whoever opens it there; a file says what is so.
    ["=1+1", "=1+1"],
    ["Zürich; 再保険", "Zürich; 再保険"],
  ])("writes %j as %s", (value, text) => {
    expect(csvCell(value)).toBe(text);
  });

  test("is read again as what it was written from, by a reader that is not ours", () => {
    const pieces = ["", "a", ",", '"', "\n", "\r", "\r\n", ";", " ", "=", "é", "🌊"];
    const cells = pieces.flatMap((one) => pieces.map((other) => `x${one}${other}`));
    for (const end of ["\n", "\r\n"] as const) {
      const text = csvLine(cells, end) + csvLine(cells.toReversed(), end);
      expect(parse(text, { record_delimiter: end })).toEqual([cells, cells.toReversed()]);
    }
    expect(csvLine(["a", 1, null])).toBe("a,1,\n");
  });
});
