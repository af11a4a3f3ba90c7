import type { Kernel, Region } from "./instance.ts";

/**
 * Copies the layers of a stored group into their lanes of a field's tile. An item is a cell, a block or a row,
 * depending on the form of the tile.
 *
 * @param source u16 or u32[item][lanes.length], as stored
 * @param lanes the lane of each layer of the group, -1 for layers that the field does not have
 */
export function copyToLanes(
  kernel: Kernel,
  source: Uint16Array | Uint32Array,
  lanes: Int32Array,
  target: { readonly region: Region; readonly laneCount: number },
): void {
  kernel.withScratch((scratch) => {
    const isWide = source instanceof Uint32Array;
    const copy = isWide ? kernel.exports.copyToLanes32 : kernel.exports.copyToLanes16;
    copy(
      scratch.copyIn(source).pointer,
      lanes.length,
      scratch.copyIn(lanes).pointer,
      source.length / lanes.length,
      target.region.pointer,
      target.laneCount,
    );
  });
}

/** Computes the prefixes of a field's tile from its cells (assembly/tiles.ts). Pointers are addresses in kernel memory. */
export function prefixTile(
  kernel: Kernel,
  tile: { readonly cellsPointer: number; readonly prefixesPointer: number; readonly vectorCount: number },
): void {
  kernel.exports.prefixTile(tile.cellsPointer, tile.vectorCount, tile.prefixesPointer);
}
