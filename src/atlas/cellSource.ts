import type { Cell, Grid } from "../kernel/grid.ts";
import type { GroupEntry } from "./catalog.ts";

/** What a tile of one group holds: cells to be read, or the same everywhere. */
export type TileState = "cells" | "zero" | "nodata" | "outside";

/** 64 x 64 cells of one group. */
export interface TileRequest {
  /** Index into `groups`. */
  readonly group: number;
  readonly tileRow: number;
  readonly tileColumn: number;
}

/** 8 x 8 data tiles of one group. */
export interface PyramidRequest {
  readonly group: number;
  readonly pyramidRow: number;
  readonly pyramidColumn: number;
}

/** The bounds of the blocks and the totals of the rows under a pyramid tile. */
export interface Pyramid {
  /** What each pyramid tile holds; only "cells" need loading. */
  resolve(tiles: readonly PyramidRequest[]): readonly TileState[];
  /** @returns for each u16[64][64][layer count of its group] */
  loadBounds(tiles: readonly PyramidRequest[]): Promise<readonly Uint16Array[]>;
  /** @returns for each u32[512][8][layer count of its group] */
  loadTotals(tiles: readonly PyramidRequest[]): Promise<readonly Uint32Array[]>;
}

/**
 * Where the cells of some groups of one hazard come from: packs of an atlas, or the demo's kernel.
 * Groups are (scenario, year); the layers of a group lie side by side in each cell.
 */
export interface CellSource {
  readonly grid: Grid;
  readonly groups: readonly GroupEntry[];

  /** What each tile holds; only "cells" need loading. */
  resolve(tiles: readonly TileRequest[]): Promise<readonly TileState[]>;

  /**
   * The tiles' cells. Only for tiles that resolved to "cells". Cells of the tile beyond the grid are STEPS_OUTSIDE.
   *
   * @returns for each u16[64][64][layer count of its group]
   * @throws Fault `atlas_unavailable` naming file and place when the bytes are missing or damaged
   */
  load(tiles: readonly TileRequest[]): Promise<readonly Uint16Array[]>;

  /** Absent where nothing is kept about the cells of a tile: then circles read their cells. */
  readonly pyramid?: Pyramid;

  /**
   * Single cells without their tiles, where the source can make them cheaper so.
   * @returns u16[cells.length][layer count of the group]
   */
  readCells?(group: number, cells: readonly Cell[]): Uint16Array;

  close(): Promise<void>;
}

/** One hazard of an open atlas: its groups, each with the source that has it. */
export interface AtlasHazard {
  readonly hazard: string;
  readonly grid: Grid;
  /** What the layers were made with; opaque here, read by src/hazard. */
  readonly rules: Readonly<Record<string, unknown>>;
  readonly sources: readonly CellSource[];
}

/** An atlas that can be asked: from disk, or the demo. */
export interface CellAtlas {
  /** Names this set of numbers; another release may give others. */
  readonly release: string;
  /** SHA-256, hexadecimal, of everything that an answer can show, the release name included. */
  readonly contentHash: string;
  /** True where the numbers are invented: the demo. */
  readonly synthetic: boolean;
  readonly hazards: readonly AtlasHazard[];
  close(): Promise<void>;
}
