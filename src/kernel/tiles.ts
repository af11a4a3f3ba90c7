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

/** Bytes per kernel call, well below the size of the scratch memory. */
const CRC_CHUNK_BYTES = 1 << 20;
/** Lookup table of each kernel, u32[8][256]. */
const tables = new WeakMap<Kernel, Region>();

/** Computes the CRC-32 that zip and PNG use. */
export function crc32(kernel: Kernel, bytes: Uint8Array): number {
  const table = tables.get(kernel) ?? kernel.reserve(8 * 256 * 4);
  tables.set(kernel, table);
  let crc = 0;
  for (let start = 0; start < bytes.length; start += CRC_CHUNK_BYTES) {
    const chunk = bytes.subarray(start, start + CRC_CHUNK_BYTES);
    crc = kernel.withScratch((scratch) =>
      kernel.exports.crc32(scratch.copyIn(chunk).pointer, chunk.length, table.pointer, crc),
    );
  }
  return crc >>> 0;
}
