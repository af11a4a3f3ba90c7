/** Assembles the rows of an atlas from the chunks that are computed from the source maps, and encodes the tiles of chunks. */
import { type Band, type CellRectangle, copyToTile, extentOf, type LayerRange, tilingOf } from "../atlas/tile.ts";
import {
  type EncodedTile,
  encodeTile,
  encodeTiles,
  joinTiles,
  type TileRange,
  tilesOfRow,
} from "../atlas/tileEncoding.ts";
import type { WorkSteps } from "../atlas/writer.ts";
import { STEPS_OUTSIDE, TILE_SIZE } from "../kernel/kernel.generated.ts";
import { addCounts, type GroupTotals, mergeLargestRounding, zeroCounts } from "./metricSteps.ts";
import { type GroupRows, tileRowsOf } from "./chunkComputer.ts";
import { type Chunk, type ChunkRunner, SlabChunks, SlabReader } from "./slabReader.ts";
import { storedLayerCounts } from "./supplementPlan.ts";
import type { IngestTarget } from "./target.ts";
import type { CellWindow } from "./raster.ts";

/** A row of tiles of one group of the plan while it is assembled. */
interface BandTiles {
  /** By stored group and column; undefined until it is encoded. */
  readonly encoded: (EncodedTile | undefined)[][];
  /** The cells of tiles that are not in one chunk, with the layers of all stored groups. */
  readonly rectangles: CellRectangle[];
}

/** Reads bands of one pack and counts their cells. */
export class BandReader {
  readonly #target: IngestTarget;
  readonly #slabs: SlabReader;
  /** The layers of each group that is stored, for each group of the plan. */
  readonly #stored: readonly (readonly LayerRange[])[];
  readonly #signal: AbortSignal | undefined;
  #chunks: SlabChunks | undefined;
  /** Counts and rounding errors of each group in the rows that were read; replaced when an ingest is resumed. */
  totals: GroupTotals[];

  constructor(
    target: IngestTarget,
    { runner, signal }: { readonly runner: ChunkRunner; readonly signal: AbortSignal | undefined },
  ) {
    const { plan, window } = target;
    this.#target = target;
    this.#slabs = new SlabReader(plan, window, { runner });
    this.#stored = plan.groups.map((group) => layerRangesOf(storedLayerCounts(plan, group)));
    this.#signal = signal;
    this.totals = plan.groups.map(() => ({ counts: zeroCounts(), worst: {} }));
  }

  /** Returns the tiles of a band for each stored group, from west to east; call it from north to south. */
  async read(band: Band, steps: WorkSteps): Promise<readonly (readonly EncodedTile[])[]> {
    const { window } = this.#target;
    const chunks = (this.#chunks ??= await SlabChunks.open(steps));
    const tileRow = band.firstRow / TILE_SIZE;
    const rows = this.#stored.map((stored) => this.#emptyRow(stored.length));
    const shift = atlasRowOfSource(this.#target);
    const first = Math.max(window.firstRow, band.firstRow - shift);
    const end = Math.min(window.firstRow + window.rowCount, band.firstRow + band.rowCount - shift);
    for (let row = first; row < end;) {
      const slab = await this.#slabs.slabAt(row, { chunks, signal: this.#signal });
      for (const chunk of slab.chunks) {
        this.#addChunk(chunk, tileRow, rows[chunk.group] as BandTiles);
        this.#count(chunk, band);
      }
      row = Math.min(end, slab.firstRow + slab.rowCount);
    }
    return rows.flatMap(({ encoded, rectangles }, group) =>
      encoded.map((tiles, stored) => {
        const layers = this.#stored[group]?.[stored] as LayerRange;
        return tiles.map((tile, tileColumn) => tile ?? this.#encode(rectangles, { tileRow, tileColumn, layers }));
      }),
    );
  }

  /** Removes saved chunks that are no longer needed when this many rows of the atlas are durable. */
  async committed(rowsDone: number): Promise<void> {
    await this.#chunks?.removeBefore(rowsDone - atlasRowOfSource(this.#target));
  }

  #emptyRow(storedCount: number): BandTiles {
    const { tileColumnCount } = tilingOf(this.#target.grid);
    const encoded = Array.from({ length: storedCount }, () =>
      Array.from({ length: tileColumnCount }, (): EncodedTile | undefined => undefined),
    );
    return { encoded, rectangles: [] };
  }

  /** Adds the encoded tiles of a chunk to a row of tiles, and its cells if tiles have cells in several chunks. */
  #addChunk({ group, window, rows }: Chunk, tileRow: number, { encoded, rectangles }: BandTiles): void {
    const stored = this.#stored[group] ?? [];
    if (rows.steps.length > 0) {
      const layerCount = stored.reduce((sum, { count }) => sum + count, 0);
      rectangles.push(rectangleOf(window, rows.steps, { layerCount, placement: this.#target }));
    }
    for (const [index, tiles] of (rows.tiles ?? []).entries()) {
      if (tileRow < tiles.firstRow || tileRow >= tiles.firstRow + tiles.rowCount) continue;
      const ofRow = tilesOfRow(tiles, tileRow, stored[index]?.count ?? 0);
      for (const [column, tile] of ofRow.entries()) (encoded[index] ?? [])[tiles.firstColumn + column] = tile;
    }
  }

  /** Encodes a tile whose cells are in several chunks, or in none. */
  #encode(
    rectangles: readonly CellRectangle[],
    position: { readonly tileRow: number; readonly tileColumn: number; readonly layers: LayerRange },
  ): EncodedTile {
    if (rectangles.length === 0) return { state: "outside" };
    const layerCount = position.layers.count;
    const tile = new Uint16Array(TILE_SIZE * TILE_SIZE * layerCount).fill(STEPS_OUTSIDE);
    for (const rectangle of rectangles) copyToTile(tile, rectangle, position);
    return encodeTile(tile, layerCount, extentOf(this.#target.grid, position));
  }

  #count({ group, window, rows }: Chunk, band: Band): void {
    const tileRow = band.firstRow / TILE_SIZE - tileRowsOf(window, atlasRowOfSource(this.#target)).first;
    const counts = rows.counts[tileRow];
    const total = this.totals[group];
    if (counts === undefined || total === undefined)
      throw new Error(`Chunk of group ${group} does not count row ${band.firstRow}.`);
    addCounts(total.counts, counts);
    total.worst = mergeLargestRounding(total.worst, rows.worst);
  }
}

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

/** Returns a rectangle of the atlas with the cells of a chunk. */
function rectangleOf(
  window: CellWindow,
  steps: Uint16Array,
  { layerCount, placement }: { readonly layerCount: number; readonly placement: Placement },
): CellRectangle {
  return { ...inAtlas(window, placement), layerCount, cells: steps };
}

/** Returns the layers of each group that a chunk is stored as; the chunk has the layers of every group. */
function layerRangesOf(layerCounts: readonly number[]): readonly LayerRange[] {
  let first = 0;
  return layerCounts.map((count) => ({ first: (first += count) - count, count }));
}

/** Returns the rows or columns of tiles with all source cells in a chunk. */
function completeTiles(
  chunk: { readonly first: number; readonly end: number },
  source: { readonly first: number; readonly end: number },
): { readonly first: number; readonly end: number } {
  // At an edge of the source, a tile needs no cells beyond it.
  const isFirst = chunk.first === source.first;
  const isLast = chunk.end === source.end;
  const first = (isFirst ? Math.floor : Math.ceil)(chunk.first / TILE_SIZE);
  const end = (isLast ? Math.ceil : Math.floor)(chunk.end / TILE_SIZE);
  return { first, end: Math.max(first, end) };
}

/** Returns the tiles with all source cells in a window of the source. */
function completeTilesOf(chunk: CellWindow, placement: Placement): TileRange {
  const { tileRowCount, tileColumnCount } = tilingOf(placement.grid);
  const rectangle = inAtlas(chunk, placement);
  const source = inAtlas(placement.window, placement);
  const rows = completeTiles(
    { first: rectangle.firstRow, end: rectangle.firstRow + rectangle.rowCount },
    { first: source.firstRow, end: source.firstRow + source.rowCount },
  );
  const columns = completeTiles(
    { first: rectangle.firstColumn, end: rectangle.firstColumn + rectangle.columnCount },
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
 * Returns a chunk with its complete tiles encoded, and without its cells if they are all in complete tiles.
 * @param layerCounts of the groups that the chunk is stored as
 */
export function withTiles(
  rows: GroupRows,
  window: CellWindow,
  { layerCounts, placement }: { readonly layerCounts: readonly number[]; readonly placement: Placement },
): GroupRows {
  const range = completeTilesOf(window, placement);
  const layerCount = layerCounts.reduce((sum, count) => sum + count, 0);
  const rectangle = rectangleOf(window, rows.steps, { layerCount, placement });
  const tiles = layerRangesOf(layerCounts).map((layers) =>
    joinTiles(range, encodeTiles(rectangle, range, { layers, grid: placement.grid }), layers.count),
  );
  const isAllEncoded =
    range.firstRow * TILE_SIZE <= rectangle.firstRow &&
    range.firstColumn * TILE_SIZE <= rectangle.firstColumn &&
    (range.firstRow + range.rowCount) * TILE_SIZE >= rectangle.firstRow + rectangle.rowCount &&
    (range.firstColumn + range.columnCount) * TILE_SIZE >= rectangle.firstColumn + rectangle.columnCount;
  return { ...rows, steps: isAllEncoded ? new Uint16Array() : rows.steps, tiles };
}
