/** Encoding of pyramid tiles and of the root; see docs/atlas-format.md. */
import { Builder } from "flatbuffers";
import { crc32 } from "../kernel/tiles.ts";
import type { Grid } from "../kernel/grid.ts";
import type { Kernel } from "../kernel/instance.ts";
import { PackRoot } from "./generated/pack-root.ts";
import { PyramidTile } from "./generated/pyramid-tile.ts";
import { PYRAMID_IDENTIFIER, ROOT_IDENTIFIER } from "./pyramidHeader.ts";
import type { PackWork, RootRow } from "./packWork.ts";
import { largestBounds, type PyramidSections, STORED_STATES, tilingOf } from "./tile.ts";
import { compress } from "./tileEncoding.ts";

/** The stored form of a tile: state and compressed bytes of each group, and bounds of all layers. */
export interface PackedTile {
  readonly states: readonly number[];
  readonly parts: readonly Uint8Array[];
  readonly bounds: Uint16Array;
}

/**
 * Appends a pyramid tile and the data tiles under it to the files of a pack.
 * @param tiles 64 tiles, row by row; undefined beyond the grid
 */
export async function writePyramidTile(
  kernel: Kernel,
  work: PackWork,
  tiles: readonly (PackedTile | undefined)[],
  sections: readonly PyramidSections[],
  position: { readonly row: number; readonly column: number },
): Promise<RootRow> {
  const groupCount = sections.length;
  const present = tiles.filter((tile) => tile !== undefined);
  const layerCount = present[0]?.bounds.length ?? 0;
  const bounds = [...largestBounds(Uint16Array.from(present.flatMap((tile) => [...tile.bounds])), layerCount)];
  const [first] = present.flatMap(({ states }) => states);
  if (first !== STORED_STATES.cells && present.every(({ states }) => states.every((state) => state === first))) {
    return { state: first ?? STORED_STATES.outside, offset: 0, headerSize: 0, headerChecksum: 0, bounds };
  }

  const offsets: bigint[] = [];
  const states: number[] = [];
  const sizes: number[] = [];
  const checksums: number[] = [];
  const tileBounds: number[] = [];
  let tileOffset = await work.appendTiles(concatenate(tiles.flatMap((tile) => tile?.parts ?? [])));
  for (const tile of tiles) {
    offsets.push(BigInt(tileOffset));
    for (let group = 0; group < groupCount; group++) {
      const part = tile?.parts[group] ?? new Uint8Array(0);
      states.push(tile?.states[group] ?? STORED_STATES.outside);
      sizes.push(part.length);
      tileOffset += part.length;
      checksums.push(part.length === 0 ? 0 : crc32(kernel, part));
    }
    tileBounds.push(...(tile?.bounds ?? new Uint16Array(layerCount)));
  }
  const maxima = sections.map((section) => compress(section.maxima));
  const totals = sections.map((section) => compress(section.totals));

  const builder = new Builder(16_384);
  const vectors = {
    offsets: PyramidTile.createOffsetsVector(builder, offsets),
    states: PyramidTile.createStatesVector(builder, states),
    sizes: PyramidTile.createSizesVector(builder, sizes),
    checksums: PyramidTile.createChecksumsVector(builder, checksums),
    bounds: PyramidTile.createBoundsVector(builder, tileBounds),
    maximaSizes: PyramidTile.createMaximaSizesVector(
      builder,
      maxima.map(({ length }) => length),
    ),
    maximaChecksums: PyramidTile.createMaximaChecksumsVector(
      builder,
      maxima.map((bytes) => crc32(kernel, bytes)),
    ),
    totalsSizes: PyramidTile.createTotalsSizesVector(
      builder,
      totals.map(({ length }) => length),
    ),
    totalsChecksums: PyramidTile.createTotalsChecksumsVector(
      builder,
      totals.map((bytes) => crc32(kernel, bytes)),
    ),
  };
  PyramidTile.startPyramidTile(builder);
  PyramidTile.addRow(builder, position.row);
  PyramidTile.addColumn(builder, position.column);
  PyramidTile.addOffsets(builder, vectors.offsets);
  PyramidTile.addStates(builder, vectors.states);
  PyramidTile.addSizes(builder, vectors.sizes);
  PyramidTile.addChecksums(builder, vectors.checksums);
  PyramidTile.addBounds(builder, vectors.bounds);
  PyramidTile.addMaximaSizes(builder, vectors.maximaSizes);
  PyramidTile.addMaximaChecksums(builder, vectors.maximaChecksums);
  PyramidTile.addTotalsSizes(builder, vectors.totalsSizes);
  PyramidTile.addTotalsChecksums(builder, vectors.totalsChecksums);
  builder.finish(PyramidTile.endPyramidTile(builder), PYRAMID_IDENTIFIER);
  const header = builder.asUint8Array();

  const offset = await work.appendPyramid(concatenate([header, ...maxima, ...totals]));
  return {
    state: STORED_STATES.cells,
    offset,
    headerSize: header.length,
    headerChecksum: crc32(kernel, header),
    bounds,
  };
}

/** Encodes the root file of a pack from the entries of its pyramid tiles, row by row. */
export function encodeRoot(
  { grid, groups }: { readonly grid: Grid; readonly groups: readonly { readonly layers: readonly unknown[] }[] },
  rows: readonly RootRow[],
): Uint8Array {
  const tiling = tilingOf(grid);
  const builder = new Builder(65_536);
  const layerCounts = PackRoot.createLayerCountsVector(
    builder,
    groups.map(({ layers }) => layers.length),
  );
  const states = PackRoot.createStatesVector(
    builder,
    rows.map(({ state }) => state),
  );
  const offsets = PackRoot.createOffsetsVector(
    builder,
    rows.map(({ offset }) => BigInt(offset)),
  );
  const headerSizes = PackRoot.createHeaderSizesVector(
    builder,
    rows.map(({ headerSize }) => headerSize),
  );
  const checksums = PackRoot.createHeaderChecksumsVector(
    builder,
    rows.map(({ headerChecksum }) => headerChecksum),
  );
  const bounds = PackRoot.createBoundsVector(
    builder,
    rows.flatMap((row) => [...row.bounds]),
  );
  PackRoot.startPackRoot(builder);
  PackRoot.addTileRowCount(builder, tiling.tileRowCount);
  PackRoot.addTileColumnCount(builder, tiling.tileColumnCount);
  PackRoot.addLayerCounts(builder, layerCounts);
  PackRoot.addStates(builder, states);
  PackRoot.addOffsets(builder, offsets);
  PackRoot.addHeaderSizes(builder, headerSizes);
  PackRoot.addHeaderChecksums(builder, checksums);
  PackRoot.addBounds(builder, bounds);
  builder.finish(PackRoot.endPackRoot(builder), ROOT_IDENTIFIER);
  return builder.asUint8Array();
}

/** Returns the bytes of an array without copying. */
export function bytesOf(array: Uint16Array | Uint32Array): Uint8Array {
  return new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
}

/** Returns the parts joined in one array. */
export function concatenate(parts: readonly Uint8Array[]): Uint8Array {
  const joined = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let offset = 0;
  for (const part of parts) {
    joined.set(part, offset);
    offset += part.length;
  }
  return joined;
}
