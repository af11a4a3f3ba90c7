import { inflateRawSync } from "node:zlib";
import { ByteBuffer } from "flatbuffers";
import { Fault } from "../errors.ts";
import { crc32 } from "../kernel/checksum.ts";
import type { Grid } from "../kernel/grid.ts";
import type { Kernel, Region } from "../kernel/instance.ts";
import { TILE_SIZE } from "../kernel/kernel.generated.ts";
import type { Blobs } from "./blobs.ts";
import type { TileCache } from "./cache.ts";
import { type FileEntry, type GroupEntry, type PackEntry, sha256Hex } from "./catalogue.ts";
import type { CellSource, TileRequest, TileState } from "./cellSource.ts";
import { PackRoot } from "./generated/pack-root.ts";
import { PyramidTile } from "./generated/pyramid-tile.ts";
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
  /** Holds headers of pyramid tiles; its slots take at least `headerBytesMax` of every pack. */
  readonly headers: TileCache;
  /** A number of its own for each header: `headerKeyBase` + index of the pyramid tile. */
  readonly headerKeyBase: number;
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

  private constructor(context: PackContext, grid: Grid, pack: PackEntry, root: RootIndex) {
    this.grid = grid;
    this.groups = pack.groups;
    this.#context = context;
    this.#pack = pack;
    this.#tiling = tilingOf(grid);
    this.#root = root;
    this.#layerCount = pack.groups.reduce((sum, { layers }) => sum + layers.length, 0);
  }

  /** Reads and checks the root; the two large files are looked up, not read. */
  static async open(context: PackContext, grid: Grid, pack: PackEntry): Promise<PackSource> {
    for (const file of Object.values(pack.files)) await checkSize(context.blobs, file);
    const { root } = pack.files;
    const bytes = await context.blobs.read(root.name, { offset: 0, sizeBytes: root.size_bytes });
    if ((await sha256Hex(bytes)) !== root.sha256) throw damaged(root.name, "its SHA-256 is not the catalogue's");
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

  async load(tiles: readonly (TileRequest & { readonly slot: Region })[]): Promise<void> {
    const places: (StoredGroup & { readonly tile: TileRequest & { readonly slot: Region } })[] = [];
    await this.#withHeaders(tiles, (header, tile, position) => {
      places.push({ ...header.placeOf(tile), tile: tiles[position] as TileRequest & { readonly slot: Region } });
    });
    const { blobs } = this.#context;
    const { name } = this.#pack.files.tiles;
    await Promise.all(
      coalesced(places).map(async (run) => {
        const first = run[0];
        const last = run.at(-1);
        if (first === undefined || last === undefined) return;
        const bytes = await blobs.read(name, {
          offset: first.offset,
          sizeBytes: last.offset + last.sizeBytes - first.offset,
        });
        for (const { offset, sizeBytes, checksum, tile } of run) {
          const part = bytes.subarray(offset - first.offset, offset - first.offset + sizeBytes);
          const layerCount = this.groups[tile.group]?.layers.length ?? 0;
          this.#context.kernel
            .bytes(tile.slot)
            .set(this.#decoded(part, { name, checksum, ...tile, sizeBytes: TILE_SIZE * TILE_SIZE * layerCount * 2 }));
        }
      }),
    );
  }

  /** The pyramid tile as stored, decoded: for verification. @returns undefined where it is not stored */
  async readPyramid(at: {
    readonly row: number;
    readonly column: number;
  }): Promise<readonly PyramidSections[] | undefined> {
    const tile = { group: 0, tileRow: at.row * PYRAMID_SIZE, tileColumn: at.column * PYRAMID_SIZE };
    const index = this.#pyramidIndex(tile);
    if (this.#root.states[index] !== "cells") return undefined;
    let sections: readonly SectionPlace[] = [];
    await this.#withHeaders([tile], (header) => {
      sections = header.sections();
    });
    const { name } = this.#pack.files.pyramid;
    const start = (this.#root.offsets[index] ?? 0) + (this.#root.headerSizes[index] ?? 0);
    const found = this.groups.map(({ layers }) => new PyramidSections(layers.length));
    for (const { group, kind, offset, sizeBytes, checksum } of sections) {
      const target = found[group]?.[kind];
      if (target === undefined) continue;
      const bytes = await this.#context.blobs.read(name, { offset: start + offset, sizeBytes });
      const decoded = this.#decoded(bytes, { name, checksum, ...tile, group, sizeBytes: target.byteLength });
      new Uint8Array(target.buffer).set(decoded);
    }
    return found;
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
    return Math.floor(tileRow / PYRAMID_SIZE) * this.#tiling.pyramidColumnCount + Math.floor(tileColumn / PYRAMID_SIZE);
  }

  /** Calls `read` for every tile with the header of its pyramid tile, which is only there for that call. */
  async #withHeaders(
    tiles: readonly TileRequest[],
    read: (header: Header, tile: TileRequest, position: number) => void,
  ): Promise<void> {
    const { blobs, kernel, headers, headerKeyBase } = this.#context;
    const all = [...new Set(tiles.map((tile) => this.#pyramidIndex(tile)))];
    for (let start = 0; start < all.length; start += headers.keysPerUseMax) {
      const indices = all.slice(start, start + headers.keysPerUseMax);
      await headers.use(
        indices.map((index) => headerKeyBase + index),
        async (missing) => {
          await Promise.all(
            missing.map(async ({ index: position, slot }) => {
              const index = indices[position] ?? 0;
              const { name } = this.#pack.files.pyramid;
              const offset = this.#root.offsets[index] ?? 0;
              const sizeBytes = this.#root.headerSizes[index] ?? 0;
              const bytes = await blobs.read(name, { offset, sizeBytes });
              if (crc32(kernel, bytes) !== this.#root.headerChecksums[index]) {
                throw damaged(name, `the header at byte ${offset} does not carry its checksum`, { offset });
              }
              kernel.bytes(slot).set(bytes);
            }),
          );
        },
        (slots) => {
          const found = new Map(
            indices.map((index, i) => [index, new Header(kernel.bytes(slots[i] as Region), this.#pack, index)]),
          );
          tiles.forEach((tile, position) => {
            const header = found.get(this.#pyramidIndex(tile));
            if (header !== undefined) read(header, tile, position);
          });
        },
      );
    }
  }

  #decoded(
    stored: Uint8Array,
    expected: TileRequest & { readonly name: string; readonly checksum: number; readonly sizeBytes: number },
  ): Uint8Array {
    const { name, tileRow, tileColumn, group, checksum, sizeBytes } = expected;
    const { scenario, year } = this.groups[group] ?? {};
    const place = `tile row ${tileRow}, column ${tileColumn}, ${scenario} ${year}`;
    const details = { tileRow, tileColumn, scenario, year };
    if (crc32(this.#context.kernel, stored) !== checksum) {
      throw damaged(name, `${place}: the stored bytes do not carry their checksum`, details);
    }
    let bytes: Uint8Array;
    try {
      bytes = inflateRawSync(stored, { maxOutputLength: sizeBytes });
    } catch (error) {
      throw damaged(name, `${place}: cannot be unpacked`, details, error);
    }
    if (bytes.length !== sizeBytes) {
      throw damaged(name, `${place}: holds ${bytes.length} bytes instead of ${sizeBytes}`, details);
    }
    return bytes;
  }
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
    root.offsetsLength() !== count ||
    headerSizes?.length !== count ||
    headerChecksums?.length !== count ||
    bounds?.length !== count * layerCount
  ) {
    throw damaged(name, "it does not fit the grid and the groups of the catalogue");
  }
  return {
    states: Array.from(states, (state) => STATES[state] ?? "outside"),
    offsets: Array.from({ length: count }, (_, i) => Number(root.offsets(i))),
    headerSizes: headerSizes.slice(),
    headerChecksums: headerChecksums.slice(),
    bounds: bounds.slice(),
  };
}

interface SectionPlace {
  readonly group: number;
  readonly kind: "maxima" | "totals";
  /** From the end of the header. */
  readonly offset: number;
  readonly sizeBytes: number;
  readonly checksum: number;
}

/** A view on the header of a pyramid tile where it lies in the cache. Its checksum has been compared. */
class Header {
  readonly #tile: PyramidTile;
  readonly #groups: readonly GroupEntry[];
  readonly #states: Uint8Array;
  readonly #sizes: Uint32Array;
  readonly #checksums: Uint32Array;
  readonly #bounds: Uint16Array;

  constructor(bytes: Uint8Array, pack: PackEntry, index: number) {
    const buffer = new ByteBuffer(bytes);
    const { name } = pack.files.pyramid;
    if (!buffer.__has_identifier(PYRAMID_IDENTIFIER)) throw damaged(name, `pyramid tile ${index} is none`);
    this.#tile = PyramidTile.getRootAsPyramidTile(buffer);
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
      throw damaged(name, `pyramid tile ${index} does not fit the groups of the catalogue`);
    }
    this.#states = states;
    this.#sizes = sizes;
    this.#checksums = checksums;
    this.#bounds = bounds;
  }

  stateOf(tile: TileRequest): TileState {
    return STATES[this.#states[entryOf(tile, this.#groups.length)] ?? 0] ?? "outside";
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

  sections(): SectionPlace[] {
    let offset = 0;
    const places: SectionPlace[] = [];
    for (const kind of ["maxima", "totals"] as const) {
      for (let group = 0; group < this.#groups.length; group++) {
        const [sizeBytes, checksum] =
          kind === "maxima"
            ? [this.#tile.maximaSizes(group) ?? 0, this.#tile.maximaChecksums(group) ?? 0]
            : [this.#tile.totalsSizes(group) ?? 0, this.#tile.totalsChecksums(group) ?? 0];
        places.push({ group, kind, offset, sizeBytes, checksum });
        offset += sizeBytes;
      }
    }
    return places;
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
    throw damaged(name, `it has ${sizeBytes} bytes; the catalogue says ${size_bytes}`);
  }
}

function damaged(name: string, why: string, details: Record<string, unknown> = {}, cause?: unknown): Fault {
  return new Fault("atlas_unavailable", `${name}: ${why}.`, { details: { file: name, ...details }, cause });
}
