import { ByteBuffer } from "flatbuffers";
import { Fault } from "../errors.ts";
import { crc32 } from "../kernel/checksum.ts";
import type { Grid } from "../kernel/grid.ts";
import type { Kernel } from "../kernel/instance.ts";
import { TILE_SIZE } from "../kernel/kernel.generated.ts";
import type { Blobs } from "./blobs.ts";
import type { TileToFill, TileCache } from "./cache.ts";
import { type FileEntry, type GroupEntry, type PackEntry, sha256Hex } from "./catalog.ts";
import type { CellSource, Pyramid, PyramidRequest, TileRequest, TileState } from "./cellSource.ts";
import { PackRoot } from "./generated/pack-root.ts";
import { PyramidTile } from "./generated/pyramid-tile.ts";
import { inflateRaw } from "./inflate.ts";
import { PYRAMID_SIZE, PyramidSections, STATES, type Tiling, tilingOf } from "./tile.ts";

export const ROOT_IDENTIFIER = "IsoR";
export const PYRAMID_IDENTIFIER = "IsoP";
/** Ranges with no more than this between them are read as one: a seek costs more than the bytes. */
const GAP_BYTES_MAX = 4096;
const TILES_PER_PYRAMID_TILE = PYRAMID_SIZE * PYRAMID_SIZE;

/** What a pack needs of the atlas that it belongs to. */
export interface PackContext {
  readonly blobs: Blobs;
  readonly kernel: Kernel;
  /** Holds headers of pyramid tiles, apart from the tiles: finding one never waits for another's room. */
  readonly headers: TileCache;
}

/** Where one stored group of a tile lies. */
interface StoredGroup {
  readonly offset: number;
  readonly sizeBytes: number;
  readonly checksum: number;
}

/** The cells of one pack: the reading half of docs/atlas-format.md. */
export class PackSource implements CellSource {
  readonly grid: Grid;
  readonly groups: readonly GroupEntry[];
  readonly #context: PackContext;
  readonly #pack: PackEntry;
  readonly #tiling: Tiling;
  readonly #root: RootIndex;
  readonly #layerCount: number;
  /** First word of the directory of headers. */
  readonly #directory: number;
  readonly pyramid: Pyramid;

  private constructor(context: PackContext, grid: Grid, pack: PackEntry, root: RootIndex) {
    this.grid = grid;
    this.groups = pack.groups;
    this.#context = context;
    this.#pack = pack;
    this.#tiling = tilingOf(grid);
    this.#root = root;
    this.#layerCount = pack.groups.reduce((sum, { layers }) => sum + layers.length, 0);
    this.#directory = context.kernel.reserve(root.states.length * 4).pointer >>> 2;
    this.pyramid = {
      resolve: (tiles) => tiles.map((tile) => root.states[this.#indexOf(tile)] ?? "outside"),
      loadBounds: async (tiles) =>
        (await this.#loadSections("maxima", tiles)).map((bytes) => new Uint16Array(bytes.buffer)),
      loadTotals: async (tiles) =>
        (await this.#loadSections("totals", tiles)).map((bytes) => new Uint32Array(bytes.buffer)),
    };
  }

  /** Reads and checks the root; the two large files are looked up, not read. */
  static async open(context: PackContext, grid: Grid, pack: PackEntry): Promise<PackSource> {
    for (const file of Object.values(pack.files)) await checkSize(context.blobs, file);
    const { root } = pack.files;
    const bytes = await context.blobs.read(root.name, { offset: 0, sizeBytes: root.size_bytes });
    if ((await sha256Hex(bytes)) !== root.sha256) throw damaged(root.name, "its SHA-256 is not the catalog's");
    return new PackSource(context, grid, pack, readRoot(bytes, { name: root.name, grid, groups: pack.groups }));
  }

  async resolve(tiles: readonly TileRequest[]): Promise<readonly TileState[]> {
    const states: TileState[] = tiles.map((tile) => this.#root.states[this.#pyramidIndex(tile)] ?? "outside");
    const open = tiles.flatMap((tile, i) => (states[i] === "cells" ? [i] : []));
    await this.#withHeaders(
      open.map((i) => tiles[i] as TileRequest),
      (header, tile, position) => {
        states[open[position] ?? 0] = header.stateOf(tile);
      },
    );
    return states;
  }

  async load(tiles: readonly TileRequest[]): Promise<readonly Uint16Array[]> {
    const places: StoredPart[] = [];
    await this.#withHeaders(tiles, (header, tile, position) => {
      const layerCount = this.groups[tile.group]?.layers.length ?? 0;
      places[position] = { ...header.placeOf(tile), tile, unpackedBytes: TILE_SIZE * TILE_SIZE * layerCount * 2 };
    });
    const parts = await this.#readParts(this.#pack.files.tiles.name, places);
    return parts.map((bytes) => new Uint16Array(bytes.buffer));
  }

  async #loadSections(kind: "maxima" | "totals", tiles: readonly PyramidRequest[]): Promise<readonly Uint8Array[]> {
    const places: StoredPart[] = [];
    const requests = tiles.map(({ group, pyramidRow, pyramidColumn }) => ({
      group,
      tileRow: pyramidRow * PYRAMID_SIZE,
      tileColumn: pyramidColumn * PYRAMID_SIZE,
    }));
    await this.#withHeaders(requests, (header, tile, position) => {
      const index = this.#pyramidIndex(tile);
      const start = (this.#root.offsets[index] ?? 0) + (this.#root.headerSizes[index] ?? 0);
      const { offset, ...section } = header.sectionOf(kind, tile.group);
      const empty = new PyramidSections(this.groups[tile.group]?.layers.length ?? 0)[kind];
      places[position] = { ...section, offset: start + offset, tile, unpackedBytes: empty.byteLength };
    });
    return this.#readParts(this.#pack.files.pyramid.name, places);
  }

  /** Reads what lies near each other at once, checks and unpacks it. Each result is a buffer of its own. */
  async #readParts(name: string, places: readonly StoredPart[]): Promise<readonly Uint8Array[]> {
    const results: Uint8Array[] = Array.from({ length: places.length });
    const ordered = places.map((place, position) => ({ ...place, position }));
    await Promise.all(
      coalesced(ordered).map(async (run) => {
        const first = run[0];
        const last = run.at(-1);
        if (first === undefined || last === undefined) return;
        const bytes = await this.#context.blobs.read(name, {
          offset: first.offset,
          sizeBytes: last.offset + last.sizeBytes - first.offset,
        });
        for (const part of run) {
          const from = part.offset - first.offset;
          results[part.position] = await this.#decoded(bytes.subarray(from, from + part.sizeBytes), name, part);
        }
      }),
    );
    return results;
  }

  /** The sections of a pyramid tile, decoded: for verification. @returns undefined where it is not stored */
  async readPyramid(at: {
    readonly row: number;
    readonly column: number;
  }): Promise<readonly PyramidSections[] | undefined> {
    const requests = this.groups.map((_, group) => ({ group, pyramidRow: at.row, pyramidColumn: at.column }));
    if (this.pyramid.resolve(requests).some((state) => state !== "cells")) return undefined;
    const maxima = await this.pyramid.loadBounds(requests);
    const totals = await this.pyramid.loadTotals(requests);
    return this.groups.map(({ layers }, group) => {
      const sections = new PyramidSections(layers.length);
      sections.maxima.set(maxima[group] ?? []);
      sections.totals.set(totals[group] ?? []);
      return sections;
    });
  }

  /** Level-64 bounds of a tile's group and, with it, what the root says of the pyramid tile: for verification. */
  async readBounds(tile: TileRequest): Promise<Uint16Array> {
    let bounds: Uint16Array = new Uint16Array(this.groups[tile.group]?.layers.length ?? 0);
    await this.#withHeaders([tile], (header) => {
      bounds = header.boundsOf(tile);
    });
    return bounds;
  }

  /** Level-512 bounds of all layers of all groups. */
  rootBounds(at: { readonly row: number; readonly column: number }): Uint16Array {
    const index = at.row * this.#tiling.pyramidColumnCount + at.column;
    return this.#root.bounds.slice(index * this.#layerCount, (index + 1) * this.#layerCount);
  }

  async close(): Promise<void> {
    // The blobs belong to whoever opened the atlas.
  }

  #pyramidIndex({ tileRow, tileColumn }: TileRequest): number {
    return this.#indexOf({
      pyramidRow: Math.floor(tileRow / PYRAMID_SIZE),
      pyramidColumn: Math.floor(tileColumn / PYRAMID_SIZE),
    });
  }

  #indexOf({ pyramidRow, pyramidColumn }: Omit<PyramidRequest, "group">): number {
    return pyramidRow * this.#tiling.pyramidColumnCount + pyramidColumn;
  }

  /** Calls `read` for every tile with the header of its pyramid tile, which is only there for that call. */
  async #withHeaders(
    tiles: readonly TileRequest[],
    read: (header: Header, tile: TileRequest, position: number) => void,
  ): Promise<void> {
    const { kernel, headers } = this.#context;
    const byIndex = new Map<number, { readonly tile: TileRequest; readonly position: number }[]>();
    for (const [position, tile] of tiles.entries()) {
      const index = this.#pyramidIndex(tile);
      const inside = byIndex.get(index);
      if (inside === undefined) byIndex.set(index, [{ tile, position }]);
      else inside.push({ tile, position });
    }
    const readHeader = async ([index, inside]: readonly [
      number,
      readonly { readonly tile: TileRequest; readonly position: number }[],
    ]): Promise<void> => {
      const word = this.#directory + index;
      const sizeBytes = this.#root.headerSizes[index] ?? 0;
      const at = {
        row: Math.floor(index / this.#tiling.pyramidColumnCount),
        column: index % this.#tiling.pyramidColumnCount,
      };
      const readAll = (): void => {
        const pointer = kernel.pointerAt(word);
        const header = new Header(kernel.bytes({ pointer, sizeBytes }), this.#pack, at);
        for (const { tile, position } of inside) read(header, tile, position);
      };
      if (kernel.words[word] !== 0) readAll();
      else await headers.withTiles([{ word, sizeBytes }], (missing) => this.#fillHeader(index, missing), readAll);
    };
    // Side by side: over a network the way there costs more than all that is read.
    await Promise.all([...byIndex].map(readHeader));
  }

  async #fillHeader(index: number, missing: readonly TileToFill[]): Promise<void> {
    const { blobs, kernel } = this.#context;
    const { name } = this.#pack.files.pyramid;
    const offset = this.#root.offsets[index] ?? 0;
    for (const { region } of missing) {
      const bytes = await blobs.read(name, { offset, sizeBytes: region.sizeBytes });
      if (crc32(kernel, bytes) !== this.#root.headerChecksums[index]) {
        throw damaged(name, `the header at byte ${offset} does not carry its checksum`, { offset });
      }
      kernel.bytes(region).set(bytes);
    }
  }

  async #decoded(stored: Uint8Array, name: string, part: StoredPart): Promise<Uint8Array> {
    const { tileRow, tileColumn, group } = part.tile;
    const { scenario, year } = this.groups[group] ?? {};
    const place = `tile row ${tileRow}, column ${tileColumn}, ${scenario} ${year}`;
    const details = { tileRow, tileColumn, scenario, year };
    if (crc32(this.#context.kernel, stored) !== part.checksum) {
      throw damaged(name, `${place}: the stored bytes do not carry their checksum`, details);
    }
    try {
      return await inflateRaw(stored, part.unpackedBytes);
    } catch (error) {
      throw damaged(name, `${place}: cannot be unpacked`, details, error);
    }
  }
}

/** A stored part with what it should become. */
interface StoredPart extends StoredGroup {
  readonly tile: TileRequest;
  readonly unpackedBytes: number;
}

/** The most bytes a header of this pack can have: what a slot must take. */
export function headerBytesMax(groups: readonly { readonly layers: readonly unknown[] }[]): number {
  const layerCount = groups.reduce((sum, { layers }) => sum + layers.length, 0);
  return TILES_PER_PYRAMID_TILE * (8 + groups.length * 9 + layerCount * 2) + groups.length * 16 + 512;
}

function coalesced<T extends StoredGroup>(places: readonly T[]): T[][] {
  const runs: T[][] = [];
  for (const place of places.toSorted((a, b) => a.offset - b.offset)) {
    const run = runs.at(-1);
    const last = run?.at(-1);
    if (run !== undefined && last !== undefined && place.offset - (last.offset + last.sizeBytes) <= GAP_BYTES_MAX) {
      run.push(place);
    } else {
      runs.push([place]);
    }
  }
  return runs;
}

interface RootIndex {
  readonly states: readonly TileState[];
  readonly offsets: readonly number[];
  readonly headerSizes: Uint32Array;
  readonly headerChecksums: Uint32Array;
  readonly bounds: Uint16Array;
}

function readRoot(
  bytes: Uint8Array,
  { name, grid, groups }: { readonly name: string; readonly grid: Grid; readonly groups: readonly GroupEntry[] },
): RootIndex {
  const buffer = new ByteBuffer(bytes);
  if (bytes.length < 8 || !buffer.__has_identifier(ROOT_IDENTIFIER)) throw damaged(name, "it is no root of a pack");
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
    throw damaged(name, "it does not fit the grid and the groups of the catalog");
  }
  return {
    states: Array.from(states, (state) => STATES[state] as TileState),
    offsets: Array.from({ length: count }, (_, i) => Number(root.offsets(i))),
    headerSizes: headerSizes.slice(),
    headerChecksums: headerChecksums.slice(),
    bounds: bounds.slice(),
  };
}

/** A view on the header of a pyramid tile where it lies in the cache. Its checksum has been compared. */
class Header {
  readonly #tile: PyramidTile;
  readonly #damaged: (why: string) => Fault;
  readonly #groups: readonly GroupEntry[];
  readonly #states: Uint8Array;
  readonly #sizes: Uint32Array;
  readonly #checksums: Uint32Array;
  readonly #bounds: Uint16Array;

  constructor(bytes: Uint8Array, pack: PackEntry, at: { readonly row: number; readonly column: number }) {
    const buffer = new ByteBuffer(bytes);
    this.#damaged = (why) =>
      damaged(pack.files.pyramid.name, `the header of pyramid tile row ${at.row}, column ${at.column} ${why}`);
    if (!buffer.__has_identifier(PYRAMID_IDENTIFIER)) throw this.#damaged("is none");
    this.#tile = PyramidTile.getRootAsPyramidTile(buffer);
    if (this.#tile.row() !== at.row || this.#tile.column() !== at.column) {
      throw this.#damaged(`is that of row ${this.#tile.row()}, column ${this.#tile.column()}`);
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
      throw this.#damaged("does not fit the groups of the catalog");
    }
    this.#states = states;
    this.#sizes = sizes;
    this.#checksums = checksums;
    this.#bounds = bounds;
  }

  stateOf(tile: TileRequest): TileState {
    const stored = this.#states[entryOf(tile, this.#groups.length)] ?? NaN;
    const state = STATES[stored];
    if (state === undefined) {
      throw this.#damaged(`says ${stored} of tile row ${tile.tileRow}, column ${tile.tileColumn}, which means nothing`);
    }
    return state;
  }

  placeOf(tile: TileRequest): StoredGroup {
    const inPyramid = positionOf(tile);
    let offset = Number(this.#tile.offsets(inPyramid));
    const first = inPyramid * this.#groups.length;
    for (let entry = first; entry < first + tile.group; entry++) offset += this.#sizes[entry] ?? 0;
    const entry = first + tile.group;
    return { offset, sizeBytes: this.#sizes[entry] ?? 0, checksum: this.#checksums[entry] ?? 0 };
  }

  boundsOf(tile: TileRequest): Uint16Array {
    const perTile = this.#bounds.length / TILES_PER_PYRAMID_TILE;
    const before = this.#groups.slice(0, tile.group).reduce((sum, { layers }) => sum + layers.length, 0);
    const from = positionOf(tile) * perTile + before;
    return this.#bounds.slice(from, from + (this.#groups[tile.group]?.layers.length ?? 0));
  }

  /** Where a section lies, from the end of the header: first the maxima of all groups, then the totals. */
  sectionOf(kind: "maxima" | "totals", group: number): StoredGroup {
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

function entryOf(tile: TileRequest, groupCount: number): number {
  return positionOf(tile) * groupCount + tile.group;
}

async function checkSize(blobs: Blobs, { name, size_bytes }: FileEntry): Promise<void> {
  const sizeBytes = await blobs.sizeBytes(name);
  if (sizeBytes === undefined) throw damaged(name, "there is no such file");
  if (sizeBytes !== size_bytes) {
    throw damaged(name, `it has ${sizeBytes} bytes; the catalog says ${size_bytes}`);
  }
}

function damaged(name: string, why: string, details: Record<string, unknown> = {}, cause?: unknown): Fault {
  return new Fault("atlas_unavailable", `${name}: ${why}.`, { details: { file: name, ...details }, cause });
}
