import { ByteBuffer } from "flatbuffers";
import type { Fault } from "../errors.ts";
import type { GroupEntry, PackEntry } from "./catalog.ts";
import type { TileRequest, TileState } from "./cellSource.ts";
import { damagedFile } from "./blobs.ts";
import { PyramidTile } from "./generated/pyramid-tile.ts";
import { PYRAMID_SIZE, STATES, tilingOf } from "./tile.ts";
import type { Grid } from "../kernel/grid.ts";
import { PackRoot } from "./generated/pack-root.ts";

export const PYRAMID_IDENTIFIER = "IsoP";
export const TILES_PER_PYRAMID_TILE = PYRAMID_SIZE * PYRAMID_SIZE;

/** Location of compressed bytes in a file of a pack, with its CRC-32. */
export interface StoredRange {
  readonly offset: number;
  readonly sizeBytes: number;
  readonly checksum: number;
}

/** Returns the maximum size of a pyramid tile header of a pack with these groups, in bytes. */
export function headerBytesMax(groups: readonly { readonly layers: readonly unknown[] }[]): number {
  const layerCount = groups.reduce((sum, { layers }) => sum + layers.length, 0);
  return TILES_PER_PYRAMID_TILE * (8 + groups.length * 9 + layerCount * 2) + groups.length * 16 + 512;
}

/** A view of a pyramid tile header in the cache. The caller has verified its checksum. */
export class PyramidHeader {
  readonly #tile: PyramidTile;
  readonly #damaged: (problem: string) => Fault;
  readonly #groups: readonly GroupEntry[];
  readonly #states: Uint8Array;
  readonly #sizes: Uint32Array;
  readonly #checksums: Uint32Array;
  readonly #bounds: Uint16Array;

  /** @throws Fault `atlas_unavailable` if the header belongs to another tile or does not match the pack's groups */
  constructor(bytes: Uint8Array, pack: PackEntry, address: { readonly row: number; readonly column: number }) {
    const buffer = new ByteBuffer(bytes);
    this.#damaged = (problem) =>
      damagedFile(
        pack.files.pyramid.name,
        `the header of pyramid tile row ${address.row}, column ${address.column} ${problem}`,
      );
    if (!buffer.__has_identifier(PYRAMID_IDENTIFIER)) {
      throw this.#damaged(`does not have the identifier ${PYRAMID_IDENTIFIER}`);
    }
    this.#tile = PyramidTile.getRootAsPyramidTile(buffer);
    if (this.#tile.row() !== address.row || this.#tile.column() !== address.column) {
      throw this.#damaged(`belongs to row ${this.#tile.row()}, column ${this.#tile.column()}`);
    }
    this.#groups = pack.groups;
    const entries = TILES_PER_PYRAMID_TILE * pack.groups.length;
    const layerCount = pack.groups.reduce((sum, { layers }) => sum + layers.length, 0);
    const states = this.#tile.statesArray();
    const sizes = this.#tile.sizesArray();
    const checksums = this.#tile.checksumsArray();
    const bounds = this.#tile.boundsArray();
    if (
      this.#tile.offsetsLength() !== TILES_PER_PYRAMID_TILE ||
      states?.length !== entries ||
      sizes?.length !== entries ||
      checksums?.length !== entries ||
      bounds?.length !== TILES_PER_PYRAMID_TILE * layerCount ||
      this.#tile.maximaSizesLength() !== pack.groups.length ||
      this.#tile.maximaChecksumsLength() !== pack.groups.length ||
      this.#tile.totalsSizesLength() !== pack.groups.length ||
      this.#tile.totalsChecksumsLength() !== pack.groups.length
    ) {
      throw this.#damaged("does not match the groups of the catalog");
    }
    this.#states = states;
    this.#sizes = sizes;
    this.#checksums = checksums;
    this.#bounds = bounds;
  }

  /**
   * Returns the state of the tile's group.
   * @throws Fault `atlas_unavailable` if the stored state is not one of the four defined states
   */
  stateOf(tile: TileRequest): TileState {
    const stored = this.#states[entryIndex(tile, this.#groups.length)] ?? NaN;
    const state = STATES[stored];
    if (state === undefined) {
      throw this.#damaged(`has the unknown state ${stored} for tile row ${tile.tileRow}, column ${tile.tileColumn}`);
    }
    return state;
  }

  /** Returns the location of the tile's group in the `.tiles` file. */
  rangeOf(tile: TileRequest): StoredRange {
    const tileIndex = positionOf(tile);
    let offset = Number(this.#tile.offsets(tileIndex));
    const first = tileIndex * this.#groups.length;
    for (let entry = first; entry < first + tile.group; entry++) offset += this.#sizes[entry] ?? 0;
    const entry = first + tile.group;
    return { offset, sizeBytes: this.#sizes[entry] ?? 0, checksum: this.#checksums[entry] ?? 0 };
  }

  /** Returns the level-64 bounds of the tile's group, u16[layer count of the group]. */
  boundsOf(tile: TileRequest): Uint16Array {
    const perTile = this.#bounds.length / TILES_PER_PYRAMID_TILE;
    const earlierLayerCount = this.#groups.slice(0, tile.group).reduce((sum, { layers }) => sum + layers.length, 0);
    const from = positionOf(tile) * perTile + earlierLayerCount;
    return this.#bounds.slice(from, from + (this.#groups[tile.group]?.layers.length ?? 0));
  }

  /** Returns the level-64 bounds of a group in all tiles, u16[8][8][layer count of the group]. */
  allBoundsOf(group: number): Uint16Array {
    const layerCount = this.#groups[group]?.layers.length ?? 0;
    const all = new Uint16Array(TILES_PER_PYRAMID_TILE * layerCount);
    for (let tile = 0; tile < TILES_PER_PYRAMID_TILE; tile++) {
      const address = { group, tileRow: Math.floor(tile / PYRAMID_SIZE), tileColumn: tile % PYRAMID_SIZE };
      all.set(this.boundsOf(address), tile * layerCount);
    }
    return all;
  }

  /** Returns the location of a section relative to the end of the header. The maxima of all groups precede the totals. */
  sectionOf(kind: "maxima" | "totals", group: number): StoredRange {
    const tile = this.#tile;
    let offset = 0;
    const maximaCount = kind === "maxima" ? group : this.#groups.length;
    for (let i = 0; i < maximaCount; i++) offset += tile.maximaSizes(i) ?? 0;
    if (kind === "maxima") {
      return { offset, sizeBytes: tile.maximaSizes(group) ?? 0, checksum: tile.maximaChecksums(group) ?? 0 };
    }
    for (let i = 0; i < group; i++) offset += tile.totalsSizes(i) ?? 0;
    return { offset, sizeBytes: tile.totalsSizes(group) ?? 0, checksum: tile.totalsChecksums(group) ?? 0 };
  }
}

function positionOf({ tileRow, tileColumn }: TileRequest): number {
  return (tileRow % PYRAMID_SIZE) * PYRAMID_SIZE + (tileColumn % PYRAMID_SIZE);
}

function entryIndex(tile: TileRequest, groupCount: number): number {
  return positionOf(tile) * groupCount + tile.group;
}

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
