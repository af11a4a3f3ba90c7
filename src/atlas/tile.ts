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
  const firstColumn = tileColumn * TILE_SIZE;
  const width = Math.min(TILE_SIZE, grid.columnCount - firstColumn) * layerCount;
  for (let row = 0; row < Math.min(TILE_SIZE, band.rowCount); row++) {
    const from = (row * grid.columnCount + firstColumn) * layerCount;
    tile.set(cells.subarray(from, from + width), row * TILE_SIZE * layerCount);
  }
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
  for (let row = 0; row < extent.rows; row++) {
    const from = row * TILE_SIZE * layerCount;
    for (let index = from; index < from + extent.columns * layerCount; index++) {
      if (tile[index] !== first) return "cells";
    }
  }
  return state;
}

/** Returns a bound updated with one cell. A bound is 0 if no cell is valid, otherwise the largest step + 1. */
function raiseBound(bound: number, steps: number): number {
  return steps <= STEPS_MAX && steps + 1 > bound ? steps + 1 : bound;
}

/** Returns the bounds of the 8 x 8 blocks of a tile, u16[8][8][layerCount]. */
function blockBounds(tile: Uint16Array, layerCount: number): Uint16Array {
  const bounds = new Uint16Array(BLOCKS_PER_TILE * BLOCKS_PER_TILE * layerCount);
  let index = 0;
  for (let row = 0; row < TILE_SIZE; row++) {
    const blockRow = (row / BLOCK_SIZE) | 0;
    for (let column = 0; column < TILE_SIZE; column++) {
      const block = (blockRow * BLOCKS_PER_TILE + ((column / BLOCK_SIZE) | 0)) * layerCount;
      for (let layer = 0; layer < layerCount; layer++, index++) {
        bounds[block + layer] = raiseBound(bounds[block + layer] ?? 0, tile[index] ?? 0);
      }
    }
  }
  return bounds;
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

/** Returns the row totals of a tile, u32[64][layerCount]: count * 2^22 + sum of the valid cells. */
function rowTotals(tile: Uint16Array, layerCount: number): Uint32Array {
  const totals = new Uint32Array(TILE_SIZE * layerCount);
  let index = 0;
  for (let row = 0; row < TILE_SIZE; row++) {
    for (let column = 0; column < TILE_SIZE; column++) {
      for (let layer = 0; layer < layerCount; layer++, index++) {
        const steps = tile[index] ?? 0;
        const total = row * layerCount + layer;
        if (steps <= STEPS_MAX) totals[total] = (totals[total] ?? 0) + TOTAL_COUNT_SHIFT + steps;
      }
    }
  }
  return totals;
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
    const layers = this.#layerCount;
    const bounds = blockBounds(tile, layers);
    const width = BLOCKS_PER_TILE * layers;
    for (let row = 0; row < BLOCKS_PER_TILE; row++) {
      const to = ((position.row * BLOCKS_PER_TILE + row) * PYRAMID_SIZE + position.column) * width;
      this.maxima.set(bounds.subarray(row * width, (row + 1) * width), to);
    }
    const totals = rowTotals(tile, layers);
    for (let row = 0; row < TILE_SIZE; row++) {
      const to = ((position.row * TILE_SIZE + row) * PYRAMID_SIZE + position.column) * layers;
      this.totals.set(totals.subarray(row * layers, (row + 1) * layers), to);
    }
    return largestBounds(bounds, layers);
  }
}
