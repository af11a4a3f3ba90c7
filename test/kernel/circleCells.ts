import type { CircleCells } from "../../src/kernel/geodesy.ts";
import type { OracleCell, OracleGrid } from "../oracle/points.ts";

/** A grid all round the Earth and from pole to pole, unless told otherwise. Square cells unless a height is given. */
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
 * The cells of the runs, one by one.
 *
 * @throws Error where the runs break what CircleCells promises: rows ascending, nothing empty, nothing
 *   twice, nothing outside the grid
 */
export function cellsOf(grid: OracleGrid, { spans, spanCount }: CircleCells): OracleCell[] {
  if (spans.length !== spanCount * 3) throw new Error(`${spans.length} numbers for ${spanCount} runs`);
  const cells: OracleCell[] = [];
  const seen = new Set<number>();
  let rowBefore = -1;
  for (let i = 0; i < spans.length; i += 3) {
    const [row = NaN, first = NaN, last = NaN] = spans.subarray(i, i + 3);
    const where = `run ${i / 3}: row ${row}, columns ${first} to ${last}`;
    if (row < rowBefore) throw new Error(`${where} stands after row ${rowBefore}`);
    if (!(row >= 0 && row < grid.rowCount && first >= 0 && first <= last && last < grid.columnCount)) {
      throw new Error(`${where} is no run of a grid of ${grid.rowCount} x ${grid.columnCount}`);
    }
    for (let column = first; column <= last; column++) {
      if (seen.has(row * grid.columnCount + column)) throw new Error(`${where} holds column ${column} a second time`);
      seen.add(row * grid.columnCount + column);
      cells.push({ row, column });
    }
    rowBefore = row;
  }
  return cells;
}

/** One line a row, so that a difference can be read: "12: 3-5 9". */
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
      const runs: [number, number][] = [];
      for (const column of columns.toSorted((a, b) => a - b)) {
        const run = runs.at(-1);
        if (run !== undefined && column === run[1] + 1) run[1] = column;
        else runs.push([column, column]);
      }
      return `${row}: ${runs.map(([first, last]) => (first === last ? first : `${first}-${last}`)).join(" ")}`;
    });
}
