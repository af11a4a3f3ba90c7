import { describe, expect, test } from "vitest";
import { formatTable } from "../../src/cli/textTable.ts";

const head = ["layer", "cells"];
const rows = [
  ["depth\nmeters", "9"],
  ["wind", "120"],
];

describe("formatTable", () => {
  test("aligns numbers to the right and has no lines between rows", () => {
    expect(formatTable({ head, rows, isNumeric: (column) => column === 1 }).split("\n")).toEqual([
      "┌────────┬───────┐",
      "│ layer  │ cells │",
      "├────────┼───────┤",
      "│ depth  │     9 │",
      "│ meters │       │",
      "│ wind   │   120 │",
      "└────────┴───────┘",
    ]);
  });

  test("separates rows by lines on request", () => {
    expect(formatTable({ head, rows, hasRowLines: true }).split("\n")).toEqual([
      "┌────────┬───────┐",
      "│ layer  │ cells │",
      "├────────┼───────┤",
      "│ depth  │ 9     │",
      "│ meters │       │",
      "├────────┼───────┤",
      "│ wind   │ 120   │",
      "└────────┴───────┘",
    ]);
  });

  test("has only the heading without rows", () => {
    expect(formatTable({ head, rows: [] }).split("\n")).toHaveLength(3);
  });
});
