import type { Cell, Grid } from "../kernel/grid.ts";
import type { Region } from "../kernel/instance.ts";
import type { GroupEntry } from "./catalogue.ts";

/** What a tile of one group holds: cells to be read, or the same everywhere. */
export type TileState = "cells" | "zero" | "nodata" | "outside";

/** 64 x 64 cells of one group. */
export interface TileRequest {
  /** Index into `groups`. */
  readonly group: number;
  readonly tileRow: number;
  readonly tileColumn: number;
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
   * Fills each slot with the tile's cells, u16[64][64][layer count of its group]. Only for tiles that
   * resolved to "cells". Cells of the tile beyond the grid are STEPS_OUTSIDE.
   * @throws Fault `atlas_unavailable` naming file and place when the bytes are missing or damaged
   */
  load(tiles: readonly (TileRequest & { readonly slot: Region })[]): Promise<void>;

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
  /** True where the numbers are invented: the demo. */
  readonly synthetic: boolean;
  readonly hazards: readonly AtlasHazard[];
  close(): Promise<void>;
}
