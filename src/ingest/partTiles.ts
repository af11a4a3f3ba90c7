/** Encodes the tiles of finished parts, on the thread that computed them, as far as their cells are in one part. */
import { type CellBlock, type LayerRange, tilingOf } from "../atlas/tile.ts";
import { encodeTiles, joinTiles, type TileRange } from "../atlas/tileEncoding.ts";
import { TILE_SIZE } from "../kernel/kernel.generated.ts";
import type { GroupRows } from "./partComputer.ts";
import type { CellWindow } from "./raster.ts";
import type { IngestTarget } from "./target.ts";

/** Where the cells of a source are in the hazard's grid in the atlas. */
export type Placement = Pick<IngestTarget, "window" | "grid" | "offset">;

/** Returns how many rows the rows of the atlas are numbered higher than those of the source. */
export function atlasRowOfSource({ offset, window }: Pick<Placement, "offset" | "window">): number {
  return offset.row - window.firstRow;
}

/** Returns the position in the atlas of a window of the source. */
function inAtlas({ firstRow, rowCount, firstColumn, columnCount }: CellWindow, placement: Placement): CellWindow {
  return {
    firstRow: firstRow + atlasRowOfSource(placement),
    rowCount,
    firstColumn: firstColumn + placement.offset.column - placement.window.firstColumn,
    columnCount,
  };
}

/** Returns a block of the atlas with the cells of a part. */
export function atlasBlockOf(
  window: CellWindow,
  steps: Uint16Array,
  { layerCount, placement }: { readonly layerCount: number; readonly placement: Placement },
): CellBlock {
  return { ...inAtlas(window, placement), layerCount, cells: steps };
}

/** Returns the layers of each group that a part is stored as; the part has the layers of every group. */
export function layerRangesOf(layerCounts: readonly number[]): readonly LayerRange[] {
  let first = 0;
  return layerCounts.map((count) => ({ first: (first += count) - count, count }));
}

/** Returns the rows or columns of tiles with all source cells in a part. */
function completeTiles(
  part: { readonly first: number; readonly end: number },
  source: { readonly first: number; readonly end: number },
): { readonly first: number; readonly end: number } {
  // At an edge of the source, a tile needs no cells beyond it.
  const isFirst = part.first === source.first;
  const isLast = part.end === source.end;
  const first = (isFirst ? Math.floor : Math.ceil)(part.first / TILE_SIZE);
  const end = (isLast ? Math.ceil : Math.floor)(part.end / TILE_SIZE);
  return { first, end: Math.max(first, end) };
}

/** Returns the tiles with all source cells in a window of the source. */
function completeTilesOf(part: CellWindow, placement: Placement): TileRange {
  const { tileRowCount, tileColumnCount } = tilingOf(placement.grid);
  const block = inAtlas(part, placement);
  const source = inAtlas(placement.window, placement);
  const rows = completeTiles(
    { first: block.firstRow, end: block.firstRow + block.rowCount },
    { first: source.firstRow, end: source.firstRow + source.rowCount },
  );
  const columns = completeTiles(
    { first: block.firstColumn, end: block.firstColumn + block.columnCount },
    { first: source.firstColumn, end: source.firstColumn + source.columnCount },
  );
  return {
    firstRow: rows.first,
    rowCount: Math.min(rows.end, tileRowCount) - rows.first,
    firstColumn: columns.first,
    columnCount: Math.min(columns.end, tileColumnCount) - columns.first,
  };
}

/**
 * Returns a part with its complete tiles encoded, and without its cells if they are all in complete tiles.
 * @param layerCounts of the groups that the part is stored as
 */
export function withTiles(
  rows: GroupRows,
  window: CellWindow,
  { layerCounts, placement }: { readonly layerCounts: readonly number[]; readonly placement: Placement },
): GroupRows {
  const range = completeTilesOf(window, placement);
  const layerCount = layerCounts.reduce((sum, count) => sum + count, 0);
  const block = atlasBlockOf(window, rows.steps, { layerCount, placement });
  const tiles = layerRangesOf(layerCounts).map((layers) =>
    joinTiles(range, encodeTiles(block, range, { layers, grid: placement.grid }), layers.count),
  );
  const isAllEncoded =
    range.firstRow * TILE_SIZE <= block.firstRow &&
    range.firstColumn * TILE_SIZE <= block.firstColumn &&
    (range.firstRow + range.rowCount) * TILE_SIZE >= block.firstRow + block.rowCount &&
    (range.firstColumn + range.columnCount) * TILE_SIZE >= block.firstColumn + block.columnCount;
  return { ...rows, steps: isAllEncoded ? new Uint16Array() : rows.steps, tiles };
}
