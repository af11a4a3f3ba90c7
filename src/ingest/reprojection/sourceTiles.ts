/** Reads single cells of a source by way of tiles that stay in memory while there is room. */
import type { BandWindow, ProjectedRaster, RasterValues } from "../raster.ts";

/** Decoded tiles that stay in memory, of all maps of a thread. */
const CACHE_BYTES = 128 << 20;
/** Smallest tile; a source with smaller blocks is read several blocks at a time. */
const TILE_CELLS_MIN = 256;
/** Largest tile, unless a single block is larger. */
const TILE_AREA_MAX_CELLS = 2 << 20;

/** A tile size in cells, in whole blocks of the source. */
export interface TileSize {
  readonly rowCount: number;
  readonly columnCount: number;
}

/** Returns the size of the tiles in which a source is read. */
export function tileSizeOf({ plane, blockRowCount, blockColumnCount }: ProjectedRaster): TileSize {
  const rows = Math.min(blockRowCount, plane.rowCount);
  const columns = Math.min(blockColumnCount, plane.columnCount);
  const columnCount = Math.min(plane.columnCount, columns * Math.ceil(TILE_CELLS_MIN / columns));
  const rowBlocks = Math.ceil(TILE_CELLS_MIN / rows);
  const affordable = Math.max(1, Math.floor(TILE_AREA_MAX_CELLS / (columnCount * rows)));
  return { rowCount: Math.min(plane.rowCount, rows * Math.min(rowBlocks, affordable)), columnCount };
}

interface CachedTile {
  readonly values: Promise<RasterValues>;
  readonly sizeBytes: number;
}

/** Decoded tiles, from the least to the most recently used. */
class TileCache {
  readonly #tiles = new Map<string, CachedTile>();
  readonly #sizeBytesMax: number;
  #sizeBytes = 0;

  constructor(sizeBytesMax: number) {
    this.#sizeBytesMax = sizeBytesMax;
  }

  /** Returns a tile, and reads it if it is not in memory. A failure is not remembered. */
  get(key: string, cellCount: number, read: () => Promise<RasterValues>): Promise<RasterValues> {
    const known = this.#tiles.get(key);
    const tile = known ?? { values: read(), sizeBytes: 8 * cellCount };
    if (known === undefined) {
      this.#sizeBytes += tile.sizeBytes;
      tile.values.catch(() => this.#delete(key, tile));
    }
    this.#tiles.delete(key);
    this.#tiles.set(key, tile);
    for (const [oldestKey, oldest] of this.#tiles) {
      if (this.#sizeBytes <= this.#sizeBytesMax || oldestKey === key) break;
      this.#delete(oldestKey, oldest);
    }
    return tile.values;
  }

  /** Removes the tiles whose keys start with a text. */
  clear(prefix: string): void {
    for (const [key, tile] of this.#tiles) if (key.startsWith(prefix)) this.#delete(key, tile);
  }

  #delete(key: string, tile: CachedTile): void {
    if (this.#tiles.get(key) !== tile) return;
    this.#tiles.delete(key);
    this.#sizeBytes -= tile.sizeBytes;
  }
}

const cache = new TileCache(CACHE_BYTES);
let sourceCount = 0;

/** The tiles of one map. */
export class SourceTiles {
  readonly #source: ProjectedRaster;
  readonly #size: TileSize;
  readonly #tilesAcross: number;
  readonly #prefix = `${sourceCount++}/`;

  constructor(source: ProjectedRaster) {
    this.#source = source;
    this.#size = tileSizeOf(source);
    this.#tilesAcross = Math.ceil(source.plane.columnCount / this.#size.columnCount);
  }

  /** Returns the number of the tile that contains a cell. */
  tileOf(row: number, column: number): number {
    return Math.floor(row / this.#size.rowCount) * this.#tilesAcross + Math.floor(column / this.#size.columnCount);
  }

  /** Reads a tile, and returns a function that reads cells in it. */
  async open(tile: number, band: number): Promise<(row: number, column: number) => number> {
    const window = this.#windowOf(tile, band);
    const { firstRow, firstColumn, rowCount, columnCount } = window;
    const values = await cache.get(`${this.#prefix}${band}/${tile}`, rowCount * columnCount, () =>
      this.#source.readWindow(window),
    );
    return (row, column) => values[(row - firstRow) * columnCount + column - firstColumn] ?? NaN;
  }

  /** Frees the memory of the tiles. */
  close(): void {
    cache.clear(this.#prefix);
  }

  #windowOf(tile: number, band: number): BandWindow {
    const { plane } = this.#source;
    const firstRow = Math.floor(tile / this.#tilesAcross) * this.#size.rowCount;
    const firstColumn = (tile % this.#tilesAcross) * this.#size.columnCount;
    const rowCount = Math.min(this.#size.rowCount, plane.rowCount - firstRow);
    const columnCount = Math.min(this.#size.columnCount, plane.columnCount - firstColumn);
    return { band, firstRow, rowCount, firstColumn, columnCount };
  }
}
