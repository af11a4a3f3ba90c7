import { ByteBuffer } from "flatbuffers";
import type { Grid } from "../kernel/grid.ts";
import type { GroupEntry } from "./catalog.ts";
import type { TileState } from "./cellSource.ts";
import { damagedFile } from "./damagedFile.ts";
import { PackRoot } from "./generated/pack-root.ts";
import { STATES, tilingOf } from "./tile.ts";

export const ROOT_IDENTIFIER = "IsoR";

/** The decoded root of a pack: one entry per pyramid tile, row by row. */
export interface RootIndex {
  readonly states: readonly TileState[];
  /** Byte offset of each pyramid tile's header in the `.pyramid` file. */
  readonly offsets: readonly number[];
  readonly headerSizes: Uint32Array;
  /** CRC-32 of each header. */
  readonly headerChecksums: Uint32Array;
  /** Level-512 bounds, u16[pyramid tile][layer of every group]. */
  readonly bounds: Uint16Array;
}

/**
 * Decodes the root file of a pack. The caller has verified its SHA-256.
 * @throws Fault `atlas_unavailable` if it is not a root file or does not match the grid and groups of the catalog
 */
export function readRoot(
  bytes: Uint8Array,
  { name, grid, groups }: { readonly name: string; readonly grid: Grid; readonly groups: readonly GroupEntry[] },
): RootIndex {
  const buffer = new ByteBuffer(bytes);
  if (bytes.length < 8 || !buffer.__has_identifier(ROOT_IDENTIFIER)) {
    throw damagedFile(name, "it is not the root file of a pack");
  }
  const root = PackRoot.getRootAsPackRoot(buffer);
  const tiling = tilingOf(grid);
  const count = tiling.pyramidRowCount * tiling.pyramidColumnCount;
  const layerCount = groups.reduce((sum, { layers }) => sum + layers.length, 0);
  const layerCounts = root.layerCountsArray();
  const states = root.statesArray();
  const headerSizes = root.headerSizesArray();
  const headerChecksums = root.headerChecksumsArray();
  const bounds = root.boundsArray();
  if (
    root.tileRowCount() !== tiling.tileRowCount ||
    root.tileColumnCount() !== tiling.tileColumnCount ||
    layerCounts?.length !== groups.length ||
    groups.some(({ layers }, i) => layers.length !== layerCounts[i]) ||
    states?.length !== count ||
    states.some((state) => STATES[state] === undefined) ||
    root.offsetsLength() !== count ||
    headerSizes?.length !== count ||
    headerChecksums?.length !== count ||
    bounds?.length !== count * layerCount
  ) {
    throw damagedFile(name, "it does not match the grid and the groups of the catalog");
  }
  return {
    states: Array.from(states, (state) => STATES[state] as TileState),
    offsets: Array.from({ length: count }, (_, i) => Number(root.offsets(i))),
    headerSizes: headerSizes.slice(),
    headerChecksums: headerChecksums.slice(),
    bounds: bounds.slice(),
  };
}
