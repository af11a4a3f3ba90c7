import type { Kernel, Region } from "./instance.ts";

/**
 * Puts the layers of a group into their lanes of a tile of a field, cell by cell (or block by block, row by row).
 *
 * @param source u16 or u32[count][lanes.length], as stored
 * @param lanes the lane of each layer of the group, -1 for those that the field leaves out
 */
export function placeLanes(
  kernel: Kernel,
  source: Uint16Array | Uint32Array,
  lanes: Int32Array,
  target: { readonly region: Region; readonly laneCount: number },
): void {
  kernel.withScratch((scratch) => {
    const isWide = source instanceof Uint32Array;
    const place = isWide ? kernel.exports.placeLanes32 : kernel.exports.placeLanes16;
    place(
      scratch.copyIn(source).pointer,
      lanes.length,
      scratch.copyIn(lanes).pointer,
      source.length / lanes.length,
      target.region.pointer,
      target.laneCount,
    );
  });
}

/** The prefixes of a tile of a field from its cells; assembly/tiles.ts. */
export function prefixTile(
  kernel: Kernel,
  tile: { readonly cells: number; readonly prefixes: number; readonly vectorCount: number },
): void {
  kernel.exports.prefixTile(tile.cells, tile.vectorCount, tile.prefixes);
}
