import type { Cell, Grid } from "../kernel/grid.ts";
import type { TimeSlice } from "../concurrency/timeSlice.ts";
import type { GroupEntry } from "./catalog.ts";

/** State of one group of a tile: "cells" if its cells must be loaded; otherwise all its cells have the same value. */
export type TileState = "cells" | "zero" | "nodata" | "outside";

/** Identifies one group of a tile of 64 x 64 cells. */
export interface TileRequest {
  /** Index into `groups`. */
  readonly group: number;
  readonly tileRow: number;
  readonly tileColumn: number;
}

/** Identifies one group of a pyramid tile, which covers 8 x 8 data tiles. */
export interface PyramidRequest {
  readonly group: number;
  readonly pyramidRow: number;
  readonly pyramidColumn: number;
}

/** Access to block bounds and row totals, by pyramid tile. Loading awaits `timeSlice.yield()` between tiles. */
export interface Pyramid {
  /** Returns the state of each pyramid tile; only "cells" need loading. */
  resolve(tiles: readonly PyramidRequest[]): readonly TileState[];
  /** Returns u16[64][64][layer count of its group] for each tile. */
  loadBounds(tiles: readonly PyramidRequest[], timeSlice?: TimeSlice): Promise<readonly Uint16Array[]>;
  /** Returns u32[512][8][layer count of its group] for each tile. */
  loadTotals(tiles: readonly PyramidRequest[], timeSlice?: TimeSlice): Promise<readonly Uint32Array[]>;
  /** Returns the bounds of the data tiles of each tile, u16[8][8][layer count of its group]. */
  loadTileBounds(tiles: readonly PyramidRequest[]): Promise<readonly Uint16Array[]>;
  /** Returns the bound of each layer over the whole tile, u16[layer count of its group]. */
  rootBounds(tile: PyramidRequest): Uint16Array;
}

/**
 * Source of the cells of one or more groups of one hazard: a pack of an atlas, or the demo kernel.
 * A group is a (scenario, year); the layers of a group are interleaved in each cell.
 */
export interface CellSource {
  readonly grid: Grid;
  readonly groups: readonly GroupEntry[];

  /** Returns the state of each tile; only "cells" need loading. */
  resolve(tiles: readonly TileRequest[]): Promise<readonly TileState[]>;

  /**
   * Returns u16[64][64][layer count of its group] for each tile. All tiles must have the state "cells". Cells beyond
   * the grid are STEPS_OUTSIDE.
   *
   * @param timeSlice its `yield` is awaited between tiles
   * @throws Fault `atlas_unavailable`, which names the file and the tile, if the bytes are missing or damaged
   */
  load(tiles: readonly TileRequest[], timeSlice?: TimeSlice): Promise<readonly Uint16Array[]>;

  /** Absent if the source has no pyramid; all cells of a circle are then read. */
  readonly pyramid?: Pyramid;

  /**
   * Returns single cells without loading their tiles, u16[cells.length][layer count of the group]. Absent if the source
   * cannot compute single cells more cheaply than tiles.
   */
  readCells?(group: number, cells: readonly Cell[]): Uint16Array;

  close(): Promise<void>;
}

/** One hazard of an open atlas, with the sources of its groups. */
export interface AtlasHazard {
  readonly hazard: string;
  readonly grid: Grid;
  /** Parameters from which the layers were computed; interpreted only by src/hazard. */
  readonly rules: Readonly<Record<string, unknown>>;
  readonly sources: readonly CellSource[];
}

/** An open atlas: a stored atlas, or the demo. */
export interface CellAtlas {
  /** Name of this version of the data. */
  readonly release: string;
  /** SHA-256, hexadecimal, of everything that responses depend on, including the release name. */
  readonly contentHash: string;
  /** True if the values are invented, as in the demo. */
  readonly synthetic: boolean;
  readonly hazards: readonly AtlasHazard[];
  close(): Promise<void>;
}
