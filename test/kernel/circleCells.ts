import type { CircleCells } from "../../src/kernel/geodesy.ts";
import type { OracleCell, OracleGrid } from "../oracle/points.ts";

/** Returns a grid that covers the Earth by default, with square cells unless `heightDeg` is given. */
export function worldGrid(
  sizeDeg: number,
  {
    northDeg = 90,
    westDeg = -180,
    heightDeg = sizeDeg,
  }: { readonly northDeg?: number; readonly westDeg?: number; readonly heightDeg?: number } = {},
): OracleGrid {
  return {
    northDeg,
    westDeg,
    cellSizeLatDeg: heightDeg,
    cellSizeLonDeg: sizeDeg,
    rowCount: Math.round((northDeg + 90) / heightDeg),
    columnCount: Math.round(360 / sizeDeg),
  };
}

/**
 * Lists the cells of the spans.
 *
 * @throws Error if the spans violate the rules of CircleCells: rows ascending, no span empty, no cell repeated, no cell
 *   outside the grid
 */
export function cellsOf(grid: OracleGrid, { spans, spanCount }: CircleCells): OracleCell[] {
  if (spans.length !== spanCount * 3)
    throw new Error(`${spanCount} spans must have ${3 * spanCount} numbers (got ${spans.length})`);
  const cells: OracleCell[] = [];
  const seen = new Set<number>();
  let previousRow = -1;
  for (let i = 0; i < spans.length; i += 3) {
    const [row = NaN, first = NaN, last = NaN] = spans.subarray(i, i + 3);
    const spanText = `span ${i / 3}: row ${row}, columns ${first} to ${last}`;
    if (row < previousRow) throw new Error(`${spanText} follows row ${previousRow}`);
    if (!(row >= 0 && row < grid.rowCount && first >= 0 && first <= last && last < grid.columnCount)) {
      throw new Error(`${spanText} is empty or outside a grid of ${grid.rowCount} x ${grid.columnCount}`);
    }
    for (let column = first; column <= last; column++) {
      if (seen.has(row * grid.columnCount + column)) throw new Error(`${spanText} repeats column ${column}`);
      seen.add(row * grid.columnCount + column);
      cells.push({ row, column });
    }
    previousRow = row;
  }
  return cells;
}

/** Formats cells with one line per row, to make differences readable: "12: 3-5 9". */
export function rowsAsText(cells: readonly OracleCell[]): string[] {
  const columnsByRow = new Map<number, number[]>();
  for (const { row, column } of cells) {
    const columns = columnsByRow.get(row) ?? [];
    columnsByRow.set(row, columns);
    columns.push(column);
  }
  return [...columnsByRow]
    .toSorted(([a], [b]) => a - b)
    .map(([row, columns]) => {
      const ranges: [number, number][] = [];
      for (const column of columns.toSorted((a, b) => a - b)) {
        const range = ranges.at(-1);
        if (range !== undefined && column === range[1] + 1) range[1] = column;
        else ranges.push([column, column]);
      }
      return `${row}: ${ranges.map(([first, last]) => (first === last ? first : `${first}-${last}`)).join(" ")}`;
    });
}
