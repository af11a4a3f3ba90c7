/** Encodes tiles as a pack stores them: state, compressed cells and summary. */
import { deflateRawSync } from "node:zlib";
import type { Grid } from "../kernel/grid.ts";
import { TILE_SIZE } from "../kernel/kernel.generated.ts";
import type { TileState } from "./cellSource.ts";
import {
  type CellRectangle,
  copyToTile,
  CONSTANT_STEPS,
  extentOf,
  type LayerRange,
  STATES,
  STORED_STATES,
  summarizeTile,
  type TileExtent,
  tileStateOf,
  type TileSummary,
} from "./tile.ts";

/** One group of a tile. */
export type EncodedTile =
  | { readonly state: Exclude<TileState, "cells"> }
  | {
      readonly state: "cells";
      /** The cells, u16[64][64][layerCount], compressed as raw DEFLATE. */
      readonly bytes: Uint8Array;
      readonly summary: TileSummary;
    };

/** Encodes a tile. @param tile u16[64][64][layerCount]; STEPS_OUTSIDE beyond the grid */
export function encodeTile(tile: Uint16Array, layerCount: number, extent: TileExtent): EncodedTile {
  const state = tileStateOf(tile, layerCount, extent);
  if (state !== "cells") return { state };
  return { state, bytes: compress(tile), summary: summarizeTile(tile, layerCount) };
}

/**
 * Compresses in the calling thread: zlib's thread pool costs more than it saves for 32 KiB, and tiles are encoded on several
 * threads.
 */
export function compress(numbers: Uint16Array | Uint32Array): Uint8Array {
  return deflateRawSync(new Uint8Array(numbers.buffer, numbers.byteOffset, numbers.byteLength));
}

/** A rectangle of tiles of a grid. */
export interface TileRange {
  readonly firstRow: number;
  readonly rowCount: number;
  readonly firstColumn: number;
  readonly columnCount: number;
}

/** The encoded tiles of one group in a rectangle, row by row, in arrays that can be transferred between threads. */
export interface EncodedTiles extends TileRange {
  /** Stored state of each tile. */
  readonly states: Uint8Array<ArrayBuffer>;
  /** The compressed cells of the tiles with state "cells" one after the other, and where each ends. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly byteEnds: Uint32Array<ArrayBuffer>;
  /** The summaries of the tiles with state "cells", one after the other. */
  readonly bounds: Uint16Array<ArrayBuffer>;
  readonly totals: Uint32Array<ArrayBuffer>;
}

/** Encodes some layers of the tiles of a range, row by row. Cells that are not in the rectangle are outside. */
export function* encodeTiles(
  rectangle: CellRectangle,
  { firstRow, rowCount, firstColumn, columnCount }: TileRange,
  { layers, grid }: { readonly layers: LayerRange; readonly grid: Grid },
): Generator<EncodedTile> {
  const tile = new Uint16Array(TILE_SIZE * TILE_SIZE * layers.count);
  for (let tileRow = firstRow; tileRow < firstRow + rowCount; tileRow++) {
    for (let tileColumn = firstColumn; tileColumn < firstColumn + columnCount; tileColumn++) {
      tile.fill(CONSTANT_STEPS.outside);
      copyToTile(tile, rectangle, { layers, tileRow, tileColumn });
      yield encodeTile(tile, layers.count, extentOf(grid, { tileRow, tileColumn }));
    }
  }
}

/** Joins the tiles of a range, which are given row by row. */
export function joinTiles(range: TileRange, given: Iterable<EncodedTile>, layerCount: number): EncodedTiles {
  const tiles = [...given];
  const stored = tiles.filter((tile) => tile.state === "cells");
  const byteEnds = new Uint32Array(stored.length);
  let size = 0;
  for (const [index, { bytes }] of stored.entries()) byteEnds[index] = size += bytes.length;
  const bytes = new Uint8Array(size);
  const [boundCount, totalCount] = summarySizes(layerCount);
  const bounds = new Uint16Array(stored.length * boundCount);
  const totals = new Uint32Array(stored.length * totalCount);
  for (const [index, tile] of stored.entries()) {
    bytes.set(tile.bytes, (byteEnds[index] ?? 0) - tile.bytes.length);
    bounds.set(tile.summary.bounds, index * boundCount);
    totals.set(tile.summary.totals, index * totalCount);
  }
  const states = Uint8Array.from(tiles, ({ state }) => STORED_STATES[state]);
  const { firstRow, rowCount, firstColumn, columnCount } = range;
  return { firstRow, rowCount, firstColumn, columnCount, states, bytes, byteEnds, bounds, totals };
}

/** Returns the tiles of one row, from west to east. Their arrays are views. */
export function tilesOfRow(
  { firstRow, columnCount, states, bytes, byteEnds, bounds, totals }: EncodedTiles,
  tileRow: number,
  layerCount: number,
): readonly EncodedTile[] {
  const first = (tileRow - firstRow) * columnCount;
  const [boundCount, totalCount] = summarySizes(layerCount);
  let index = 0;
  for (let tile = 0; tile < first; tile++) if (states[tile] === STORED_STATES.cells) index++;
  return Array.from(states.subarray(first, first + columnCount), (stored): EncodedTile => {
    const state = STATES[stored];
    if (state === undefined) throw new Error(`There is no tile state ${stored}.`);
    if (state !== "cells") return { state };
    const [start, end] = [index === 0 ? 0 : byteEnds[index - 1], byteEnds[index]];
    const summary = {
      bounds: bounds.subarray(index * boundCount, (index + 1) * boundCount),
      totals: totals.subarray(index * totalCount, (index + 1) * totalCount),
    };
    index++;
    return { state, bytes: bytes.subarray(start, end), summary };
  });
}

/** Returns the lengths of the bounds and totals of a tile. */
function summarySizes(layerCount: number): readonly [bounds: number, totals: number] {
  return [TILE_SIZE * layerCount, TILE_SIZE * layerCount];
}
