/** Divides a window of several maps into parts that fit into memory together. */
import type { CellWindow } from "./raster.ts";

/** Values of all maps in one part. */
const VALUES_MAX = 6_000_000;

/**
 * Returns parts of a window that consist of whole blocks, unless the blocks of all maps are too large: then of rows of blocks.
 * @param blocks `mapCount` maps with the largest numbers of rows and columns that are decoded together
 */
export function* scanWindows(
  window: CellWindow,
  {
    blockRowCount,
    blockColumnCount,
    mapCount,
  }: { readonly blockRowCount: number; readonly blockColumnCount: number; readonly mapCount: number },
): Generator<CellWindow> {
  const valuesPerRow = Math.min(blockColumnCount, window.columnCount) * mapCount;
  const blockCountMax = Math.floor(VALUES_MAX / (valuesPerRow * blockRowCount));
  const across = Math.max(1, Math.min(blockCountMax, Math.ceil(window.columnCount / blockColumnCount) + 1));
  const rowSize =
    blockCountMax >= 1
      ? blockRowCount * Math.max(1, Math.floor(blockCountMax / across))
      : Math.max(1, Math.floor(VALUES_MAX / valuesPerRow));
  const columnSize = blockColumnCount * across;
  const nextEdge = (cell: number, size: number): number => (Math.floor(cell / size) + 1) * size;
  const bottom = window.firstRow + window.rowCount;
  const right = window.firstColumn + window.columnCount;
  for (let row = window.firstRow; row < bottom; row = nextEdge(row, rowSize)) {
    for (let column = window.firstColumn; column < right; column = nextEdge(column, columnSize)) {
      yield {
        firstRow: row,
        rowCount: Math.min(bottom, nextEdge(row, rowSize)) - row,
        firstColumn: column,
        columnCount: Math.min(right, nextEdge(column, columnSize)) - column,
      };
    }
  }
}
