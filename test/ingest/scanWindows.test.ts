import { describe, expect, test } from "vitest";
import { scanWindows } from "../../src/ingest/scanWindows.ts";

const WINDOW = { firstRow: 10, rowCount: 5000, firstColumn: 30, columnCount: 7000 };
const VALUES_MAX = 6_000_000;

describe("the parts of a window that are checked together", () => {
  test.each([
    ["tiles", 512, 512, 9],
    ["strips of one row", 1, 10_000, 9],
    ["tiles of many maps", 1024, 1024, 40],
    ["a single strip", 6000, 10_000, 9],
  ])("have at most 6 million values and cover each cell once: %s", (_, blockRowCount, blockColumnCount, mapCount) => {
    const covered = new Uint8Array(WINDOW.rowCount * WINDOW.columnCount);
    for (const part of scanWindows(WINDOW, { blockRowCount, blockColumnCount, mapCount })) {
      expect(part.rowCount * part.columnCount * mapCount).toBeLessThanOrEqual(VALUES_MAX);
      for (let row = part.firstRow; row < part.firstRow + part.rowCount; row++) {
        const first = (row - WINDOW.firstRow) * WINDOW.columnCount + part.firstColumn - WINDOW.firstColumn;
        for (let index = first; index < first + part.columnCount; index++) covered[index] = (covered[index] ?? 0) + 1;
      }
    }
    expect(covered.every((count) => count === 1)).toBe(true);
  });

  test("consist of whole blocks if these are small enough", () => {
    for (const part of scanWindows(WINDOW, { blockRowCount: 512, blockColumnCount: 512, mapCount: 9 })) {
      expect(part.firstRow === WINDOW.firstRow || part.firstRow % 512 === 0).toBe(true);
      expect(part.firstColumn === WINDOW.firstColumn || part.firstColumn % 512 === 0).toBe(true);
    }
  });
});
