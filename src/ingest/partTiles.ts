/** Encodes the tiles of finished parts, on the thread that computed them, as far as their cells are in one part. */
import { type CellBlock, tilingOf } from "../atlas/tile.ts";
import { encodeTiles, joinTiles, type TileRange } from "../atlas/tileEncoding.ts";
import { TILE_SIZE } from "../kernel/kernel.generated.ts";
import { divideLayers } from "./divideLayers.ts";
import type { GroupRows } from "./partComputer.ts";
import type { CellWindow } from "./raster.ts";
import type { IngestTarget } from "./target.ts";

/** Where the cells of a source are in the hazard's grid in the atlas. */
export type Placement = Pick<IngestTarget, "window" | "grid" | "offset">;

/** Returns how many rows the rows of the atlas are numbered higher than those of the source. */
export function atlasRowOfSource({ offset, window }: Pick<Placement, "offset" | "window">): number {
  return offset.row - window.firstRow;
}

/** Returns a block of the atlas with the cells of a window of the source. */
export function atlasBlockOf(
  { firstRow, rowCount, firstColumn, columnCount }: CellWindow,
  cells: Uint16Array,
  placement: Placement,
): CellBlock {
  return {
    firstRow: firstRow + atlasRowOfSource(placement),
    rowCount,
    firstColumn: firstColumn + placement.offset.column - placement.window.firstColumn,
    columnCount,
    cells,
  };
}

/** Returns the rows or columns of tiles whose source cells are all in a part. */
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

/** Returns the tiles whose source cells are all in a window of the source. */
export function completeTilesOf(part: CellWindow, placement: Placement): TileRange {
  const { tileRowCount, tileColumnCount } = tilingOf(placement.grid);
  const block = atlasBlockOf(part, new Uint16Array(), placement);
  const source = atlasBlockOf(placement.window, new Uint16Array(), placement);
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

/** Returns a part with its complete tiles encoded, and without its cells if they are all in complete tiles. */
export function withTiles(
  rows: GroupRows,
  window: CellWindow,
  {
    layerCounts,
    placement,
  }: {
    /** Of each group that the pack stores; the cells have the layers of all of them. */
    readonly layerCounts: readonly number[];
    readonly placement: Placement;
  },
): GroupRows {
  const range = completeTilesOf(window, placement);
  const block = atlasBlockOf(window, rows.steps, placement);
  const tiles = divideLayers(rows.steps, layerCounts).map((cells, group) => {
    const layerCount = layerCounts[group] ?? 0;
    const encoded = encodeTiles({ ...block, cells }, range, { layerCount, grid: placement.grid });
    return joinTiles(range, encoded, layerCount);
  });
  const isAllEncoded =
    range.firstRow * TILE_SIZE <= block.firstRow &&
    range.firstColumn * TILE_SIZE <= block.firstColumn &&
    (range.firstRow + range.rowCount) * TILE_SIZE >= block.firstRow + block.rowCount &&
    (range.firstColumn + range.columnCount) * TILE_SIZE >= block.firstColumn + block.columnCount;
  return { ...rows, steps: isAllEncoded ? new Uint16Array() : rows.steps, tiles };
}
