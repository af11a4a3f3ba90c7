/**
 * Content of tiles, independent of storage: cells cut from rows, states, block bounds and row totals. The writer
 * creates this content, and `verify` recomputes it.
 */
import type { Grid } from "../kernel/grid.ts";
import { STEPS_MAX, STEPS_NODATA, STEPS_OUTSIDE, TILE_SIZE } from "../kernel/kernel.generated.ts";
import type { TileState } from "./cellSource.ts";
import { TileState as StoredState } from "./generated/tile-state.ts";

/** Data tiles along one edge of a pyramid tile. */
export const PYRAMID_SIZE = 8;
/** Cells along one edge of a block. */
const BLOCK_SIZE = 8;
const BLOCKS_PER_TILE = TILE_SIZE / BLOCK_SIZE;
/** Factor of the count in a row total. It exceeds the sum of 64 cells of at most 65,533 steps. */
export const TOTAL_COUNT_SHIFT = 2 ** 22;

export const STORED_STATES: Readonly<Record<TileState, StoredState>> = {
  cells: StoredState.Cells,
  zero: StoredState.Zero,
  nodata: StoredState.Nodata,
  outside: StoredState.Outside,
};
/** States, indexed by stored number. */
export const STATES: readonly TileState[] = ["cells", "zero", "nodata", "outside"];
export const CONSTANT_STEPS = { zero: 0, nodata: STEPS_NODATA, outside: STEPS_OUTSIDE } as const;

/** Tile and pyramid tile counts of a grid. */
export interface Tiling {
  readonly tileRowCount: number;
  readonly tileColumnCount: number;
  readonly pyramidRowCount: number;
  readonly pyramidColumnCount: number;
}

/** Returns the tile and pyramid tile counts of a grid. */
export function tilingOf(grid: Grid): Tiling {
  const tileRowCount = Math.ceil(grid.rowCount / TILE_SIZE);
  const tileColumnCount = Math.ceil(grid.columnCount / TILE_SIZE);
  return {
    tileRowCount,
    tileColumnCount,
    pyramidRowCount: Math.ceil(tileRowCount / PYRAMID_SIZE),
    pyramidColumnCount: Math.ceil(tileColumnCount / PYRAMID_SIZE),
  };
}

/** Consecutive rows of a grid. */
export interface Band {
  readonly firstRow: number;
  readonly rowCount: number;
}

/** Cells in a rectangle of a grid: u16[rowCount][columnCount][layerCount]. */
export interface CellRectangle extends Band {
  readonly firstColumn: number;
  readonly columnCount: number;
  readonly layerCount: number;
  readonly cells: Uint16Array;
}

/** Consecutive layers of cells. */
export interface LayerRange {
  readonly first: number;
  readonly count: number;
}

/**
 * Copies layers of the cells that a rectangle shares with a tile, u16[64][64][layers.count]; the other cells of the tile are
 * unchanged.
 */
export function copyToTile(
  tile: Uint16Array,
  { firstRow, rowCount, firstColumn, columnCount, layerCount, cells }: CellRectangle,
  {
    tileRow,
    tileColumn,
    layers,
  }: { readonly tileRow: number; readonly tileColumn: number; readonly layers: LayerRange },
): void {
  const [top, left] = [tileRow * TILE_SIZE, tileColumn * TILE_SIZE];
  const from = Math.max(left, firstColumn);
  const width = Math.min(left + TILE_SIZE, firstColumn + columnCount) - from;
  if (width <= 0) return;
  for (let row = Math.max(top, firstRow); row < Math.min(top + TILE_SIZE, firstRow + rowCount); row++) {
    const source = ((row - firstRow) * columnCount + from - firstColumn) * layerCount;
    const target = ((row - top) * TILE_SIZE + from - left) * layers.count;
    if (layers.count === layerCount) {
      tile.set(cells.subarray(source, source + width * layerCount), target);
      continue;
    }
    for (let column = 0; column < width; column++) {
      const [cell, to] = [source + column * layerCount + layers.first, target + column * layers.count];
      for (let layer = 0; layer < layers.count; layer++) tile[to + layer] = cells[cell + layer] as number;
    }
  }
}

/**
 * Extracts the cells of one tile from a band of rows.
 *
 * @param cells u16[band.rowCount][grid.columnCount][layerCount]; the band starts at the tile's first row
 * @returns u16[64][64][layerCount]; STEPS_OUTSIDE beyond the grid
 */
export function cutTile(
  cells: Uint16Array,
  band: Band,
  { grid, layerCount, tileColumn }: { readonly grid: Grid; readonly layerCount: number; readonly tileColumn: number },
): Uint16Array {
  const tile = new Uint16Array(TILE_SIZE * TILE_SIZE * layerCount).fill(STEPS_OUTSIDE);
  const rectangle = { ...band, cells, layerCount, firstColumn: 0, columnCount: grid.columnCount };
  const layers = { first: 0, count: layerCount };
  copyToTile(tile, rectangle, { layers, tileRow: band.firstRow / TILE_SIZE, tileColumn });
  return tile;
}

/** Number of rows and columns of a tile that are within the grid. */
export interface TileExtent {
  readonly rows: number;
  readonly columns: number;
}

/** Returns the rows and columns of a tile that are within the grid. */
export function extentOf(grid: Grid, tile: { readonly tileRow: number; readonly tileColumn: number }): TileExtent {
  return {
    rows: Math.min(TILE_SIZE, grid.rowCount - tile.tileRow * TILE_SIZE),
    columns: Math.min(TILE_SIZE, grid.columnCount - tile.tileColumn * TILE_SIZE),
  };
}

/** Returns the state of a tile: constant if all its cells within the grid, in all layers, are 0, nodata or outside. */
export function tileStateOf(tile: Uint16Array, layerCount: number, extent: TileExtent): TileState {
  const first = tile[0];
  const state =
    first === 0 ? "zero" : first === STEPS_NODATA ? "nodata" : first === STEPS_OUTSIDE ? "outside" : "cells";
  if (state === "cells") return state;
  if (extent.rows === TILE_SIZE && extent.columns === TILE_SIZE && tile.byteOffset % 4 === 0) {
    return isConstant(tile) ? state : "cells";
  }
  for (let row = 0; row < extent.rows; row++) {
    const from = row * TILE_SIZE * layerCount;
    for (let index = from; index < from + extent.columns * layerCount; index++) {
      if (tile[index] !== first) return "cells";
    }
  }
  return state;
}

/** Returns whether all numbers of an array of even length are equal; compares two at a time. */
function isConstant(numbers: Uint16Array): boolean {
  const pairs = new Int32Array(numbers.buffer, numbers.byteOffset, numbers.length >> 1);
  const [first = 0] = pairs;
  for (let index = 1; index < pairs.length; index++) if (pairs[index] !== first) return false;
  return numbers[0] === numbers[1];
}

/** The part of the pyramid that summarizes one tile. */
export interface TileSummary {
  /** u16[8][8][layerCount]; 0 if no cell of the block is valid, otherwise the largest step + 1. */
  readonly bounds: Uint16Array;
  /** u32[64][layerCount]: count * 2^22 + sum of the valid cells of a row. */
  readonly totals: Uint32Array;
}

/** Computes the bounds of the blocks of a tile and its row totals. */
export function summarizeTile(tile: Uint16Array, layerCount: number): TileSummary {
  const bounds = new Uint16Array(BLOCKS_PER_TILE * BLOCKS_PER_TILE * layerCount);
  const totals = new Uint32Array(TILE_SIZE * layerCount);
  for (let row = 0; row < TILE_SIZE; row++) {
    for (let block = 0; block < BLOCKS_PER_TILE; block++) {
      const firstIndex = (row * TILE_SIZE + block * BLOCK_SIZE) * layerCount;
      for (let layer = 0; layer < layerCount; layer++) {
        let bound = 0;
        let total = 0;
        for (let cell = 0, index = firstIndex + layer; cell < BLOCK_SIZE; cell++, index += layerCount) {
          const steps = tile[index] as number;
          if (steps > STEPS_MAX) continue;
          if (steps >= bound) bound = steps + 1;
          total += TOTAL_COUNT_SHIFT + steps;
        }
        const boundIndex = (((row / BLOCK_SIZE) | 0) * BLOCKS_PER_TILE + block) * layerCount + layer;
        if (bound > (bounds[boundIndex] as number)) bounds[boundIndex] = bound;
        const totalIndex = row * layerCount + layer;
        totals[totalIndex] = (totals[totalIndex] as number) + total;
      }
    }
  }
  return { bounds, totals };
}

/** Returns the summary of a tile whose cells within the grid are all 0; other constant tiles have only zeros. */
function summaryOfZeros(layerCount: number, extent: TileExtent): TileSummary {
  const bounds = new Uint16Array(BLOCKS_PER_TILE * BLOCKS_PER_TILE * layerCount);
  const blocksAcross = Math.ceil(extent.columns / BLOCK_SIZE) * layerCount;
  for (let row = 0; row < Math.ceil(extent.rows / BLOCK_SIZE); row++) {
    const first = row * BLOCKS_PER_TILE * layerCount;
    bounds.fill(1, first, first + blocksAcross);
  }
  const totals = new Uint32Array(TILE_SIZE * layerCount);
  totals.fill(extent.columns * TOTAL_COUNT_SHIFT, 0, extent.rows * layerCount);
  return { bounds, totals };
}

/** Returns the largest bound per layer, u16[layerCount]. */
export function largestBounds(bounds: Uint16Array, layerCount: number): Uint16Array {
  const largest = new Uint16Array(layerCount);
  for (let index = 0; index < bounds.length; index++) {
    const layer = index % layerCount;
    largest[layer] = Math.max(largest[layer] ?? 0, bounds[index] ?? 0);
  }
  return largest;
}

/** The two sections of a pyramid tile for one group; tiles are added one by one. */
export class PyramidSections {
  readonly #layerCount: number;
  /** u16[64][64][layerCount] */
  readonly maxima: Uint16Array;
  /** u32[512][8][layerCount] */
  readonly totals: Uint32Array;

  constructor(layerCount: number) {
    this.#layerCount = layerCount;
    const blocks = PYRAMID_SIZE * BLOCKS_PER_TILE;
    this.maxima = new Uint16Array(blocks * blocks * layerCount);
    this.totals = new Uint32Array(PYRAMID_SIZE * TILE_SIZE * PYRAMID_SIZE * layerCount);
  }

  /** Writes one tile at its row and column within the pyramid tile. Returns its level-64 bounds. */
  put(tile: Uint16Array, position: { readonly row: number; readonly column: number }): Uint16Array {
    return this.putSummary(summarizeTile(tile, this.#layerCount), position);
  }

  /**
   * Writes a tile whose cells within the grid are all 0, nodata or outside; its place must be empty. Returns its level-64
   * bounds.
   */
  putConstant(
    state: Exclude<TileState, "cells">,
    extent: TileExtent,
    position: { readonly row: number; readonly column: number },
  ): Uint16Array {
    if (state !== "zero") return new Uint16Array(this.#layerCount);
    return this.putSummary(summaryOfZeros(this.#layerCount, extent), position);
  }

  /** Writes the summary of one tile. Returns its level-64 bounds. */
  putSummary(
    { bounds, totals }: TileSummary,
    position: { readonly row: number; readonly column: number },
  ): Uint16Array {
    const layers = this.#layerCount;
    const width = BLOCKS_PER_TILE * layers;
    for (let row = 0; row < BLOCKS_PER_TILE; row++) {
      const to = ((position.row * BLOCKS_PER_TILE + row) * PYRAMID_SIZE + position.column) * width;
      this.maxima.set(bounds.subarray(row * width, (row + 1) * width), to);
    }
    for (let row = 0; row < TILE_SIZE; row++) {
      const to = ((position.row * TILE_SIZE + row) * PYRAMID_SIZE + position.column) * layers;
      this.totals.set(totals.subarray(row * layers, (row + 1) * layers), to);
    }
    return largestBounds(bounds, layers);
  }
}
