import { crc32 } from "../kernel/tiles.ts";
import type { Grid } from "../kernel/grid.ts";
import type { Kernel } from "../kernel/instance.ts";
import { TILE_SIZE } from "../kernel/kernel.generated.ts";
import { type Blobs, damagedFile } from "./blobs.ts";
import type { TileCache, TileToFill } from "./cache.ts";
import { type FileEntry, type GroupEntry, type PackEntry, sha256Hex } from "./catalog.ts";
import type { TimeSlice } from "../concurrency/timeSlice.ts";
import type { CellSource, Pyramid, PyramidRequest, TileRequest, TileState } from "./cellSource.ts";
import { inflateRaw } from "./inflate.ts";
import { PyramidHeader, readRoot, type RootIndex, type StoredRange } from "./pyramidHeader.ts";
import { PYRAMID_SIZE, PyramidSections, type Tiling, tilingOf } from "./tile.ts";

/** Ranges separated by at most this many bytes are read as one: a seek costs more than the extra bytes. */
const GAP_BYTES_MAX = 4096;

/** What the packs of an open atlas share. */
export interface PackContext {
  readonly blobs: Blobs;
  readonly kernel: Kernel;
  /** Cache of pyramid tile headers, separate from the tiles so that a header lookup never waits for tile memory. */
  readonly headers: TileCache;
}

/** A stored range with the tile it belongs to and its decompressed size. */
interface RangeToRead extends StoredRange {
  readonly tile: TileRequest;
  readonly unpackedBytes: number;
}

/** Reads the cells of one pack; see docs/atlas-format.md for the format. */
export class PackSource implements CellSource {
  readonly grid: Grid;
  readonly groups: readonly GroupEntry[];
  readonly #context: PackContext;
  readonly #pack: PackEntry;
  readonly #tiling: Tiling;
  readonly #root: RootIndex;
  readonly #layerCount: number;
  /** Index of the first word of the header directory. */
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
      loadBounds: async (tiles, timeSlice) =>
        (await this.#loadSections("maxima", tiles, timeSlice)).map((bytes) => new Uint16Array(bytes.buffer)),
      loadTotals: async (tiles, timeSlice) =>
        (await this.#loadSections("totals", tiles, timeSlice)).map((bytes) => new Uint32Array(bytes.buffer)),
      loadTileBounds: (tiles) => this.#loadTileBounds(tiles),
      rootBounds: ({ group, ...tile }) => {
        const first = this.groups.slice(0, group).reduce((sum, { layers }) => sum + layers.length, 0);
        const ofAllGroups = this.rootBounds({ row: tile.pyramidRow, column: tile.pyramidColumn });
        return ofAllGroups.subarray(first, first + (this.groups[group]?.layers.length ?? 0));
      },
    };
  }

  /**
   * Reads and verifies the root. Checks only the sizes of the two large files.
   * @throws Fault `atlas_unavailable` if a file is missing or has another size, or if the root is damaged
   */
  static async open(context: PackContext, grid: Grid, pack: PackEntry): Promise<PackSource> {
    for (const file of Object.values(pack.files)) await checkSize(context.blobs, file);
    const { root } = pack.files;
    const bytes = await context.blobs.read(root.name, { offset: 0, sizeBytes: root.size_bytes });
    if ((await sha256Hex(bytes)) !== root.sha256) {
      throw damagedFile(root.name, "its SHA-256 differs from that in the catalog");
    }
    return new PackSource(context, grid, pack, readRoot(bytes, { name: root.name, grid, groups: pack.groups }));
  }

  async resolve(tiles: readonly TileRequest[]): Promise<readonly TileState[]> {
    const states: TileState[] = tiles.map((tile) => this.#root.states[this.#pyramidIndex(tile)] ?? "outside");
    const storedIndices = tiles.flatMap((tile, i) => (states[i] === "cells" ? [i] : []));
    await this.#withHeaders(
      storedIndices.map((i) => tiles[i] as TileRequest),
      (header, tile, position) => {
        states[storedIndices[position] ?? 0] = header.stateOf(tile);
      },
    );
    return states;
  }

  async load(tiles: readonly TileRequest[], timeSlice?: TimeSlice): Promise<readonly Uint16Array[]> {
    const rangesToRead: RangeToRead[] = [];
    await this.#withHeaders(tiles, (header, tile, position) => {
      const layerCount = this.groups[tile.group]?.layers.length ?? 0;
      rangesToRead[position] = { ...header.rangeOf(tile), tile, unpackedBytes: TILE_SIZE * TILE_SIZE * layerCount * 2 };
    });
    const ranges = await this.#readRanges(this.#pack.files.tiles.name, rangesToRead, timeSlice);
    return ranges.map((bytes) => new Uint16Array(bytes.buffer));
  }

  async #loadTileBounds(tiles: readonly PyramidRequest[]): Promise<readonly Uint16Array[]> {
    const bounds: Uint16Array[] = [];
    await this.#withHeaders(tiles.map(firstTileOf), (header, { group }, position) => {
      bounds[position] = header.allBoundsOf(group);
    });
    return bounds;
  }

  async #loadSections(
    kind: "maxima" | "totals",
    tiles: readonly PyramidRequest[],
    timeSlice: TimeSlice | undefined,
  ): Promise<readonly Uint8Array[]> {
    const rangesToRead: RangeToRead[] = [];
    await this.#withHeaders(tiles.map(firstTileOf), (header, tile, position) => {
      const index = this.#pyramidIndex(tile);
      const start = (this.#root.offsets[index] ?? 0) + (this.#root.headerSizes[index] ?? 0);
      const { offset, ...section } = header.sectionOf(kind, tile.group);
      const empty = new PyramidSections(this.groups[tile.group]?.layers.length ?? 0)[kind];
      rangesToRead[position] = { ...section, offset: start + offset, tile, unpackedBytes: empty.byteLength };
    });
    return this.#readRanges(this.#pack.files.pyramid.name, rangesToRead, timeSlice);
  }

  /** Reads, verifies and decompresses ranges; one read covers nearby ones. Each result has a separate buffer. */
  async #readRanges(
    name: string,
    rangesToRead: readonly RangeToRead[],
    timeSlice: TimeSlice | undefined,
  ): Promise<readonly Uint8Array[]> {
    const results: Uint8Array[] = Array.from({ length: rangesToRead.length });
    const numbered = rangesToRead.map((range, position) => ({ ...range, position }));
    await Promise.all(
      adjacentRuns(numbered).map(async (run) => {
        const first = run[0];
        const last = run.at(-1);
        if (first === undefined || last === undefined) return;
        const bytes = await this.#context.blobs.read(name, {
          offset: first.offset,
          sizeBytes: last.offset + last.sizeBytes - first.offset,
        });
        for (const range of run) {
          if (timeSlice?.isExpired === true) await timeSlice.waitForStep();
          const from = range.offset - first.offset;
          results[range.position] = await this.#decode(bytes.subarray(from, from + range.sizeBytes), name, range);
        }
      }),
    );
    return results;
  }

  /** Returns the decoded sections of a pyramid tile, or undefined if none are stored. For verification. */
  async readPyramid(pyramidTile: {
    readonly row: number;
    readonly column: number;
  }): Promise<readonly PyramidSections[] | undefined> {
    const requests = this.groups.map((_, group) => ({
      group,
      pyramidRow: pyramidTile.row,
      pyramidColumn: pyramidTile.column,
    }));
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

  /** Returns the level-64 bounds of a tile's group as stored in the header. For verification. */
  async readBounds(tile: TileRequest): Promise<Uint16Array> {
    let bounds: Uint16Array = new Uint16Array(this.groups[tile.group]?.layers.length ?? 0);
    await this.#withHeaders([tile], (header) => {
      bounds = header.boundsOf(tile);
    });
    return bounds;
  }

  /** Returns the level-512 bounds of all layers of all groups of a pyramid tile. */
  rootBounds(pyramidTile: { readonly row: number; readonly column: number }): Uint16Array {
    const index = pyramidTile.row * this.#tiling.pyramidColumnCount + pyramidTile.column;
    return this.#root.bounds.slice(index * this.#layerCount, (index + 1) * this.#layerCount);
  }

  async close(): Promise<void> {
    // The atlas that opened the blobs closes them.
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

  /** Calls `read` for every tile with the header of its pyramid tile, which is valid only during that call. */
  async #withHeaders(
    tiles: readonly TileRequest[],
    read: (header: PyramidHeader, tile: TileRequest, position: number) => void,
  ): Promise<void> {
    const { kernel, headers } = this.#context;
    const byIndex = new Map<number, { readonly tile: TileRequest; readonly position: number }[]>();
    for (const [position, tile] of tiles.entries()) {
      const index = this.#pyramidIndex(tile);
      const tilesInside = byIndex.get(index);
      if (tilesInside === undefined) byIndex.set(index, [{ tile, position }]);
      else tilesInside.push({ tile, position });
    }
    const readHeader = async ([index, tilesInside]: readonly [
      number,
      readonly { readonly tile: TileRequest; readonly position: number }[],
    ]): Promise<void> => {
      const word = this.#directory + index;
      const sizeBytes = this.#root.headerSizes[index] ?? 0;
      const tileAddress = {
        row: Math.floor(index / this.#tiling.pyramidColumnCount),
        column: index % this.#tiling.pyramidColumnCount,
      };
      const readAll = (): void => {
        const pointer = kernel.pointerAt(word);
        const header = new PyramidHeader(kernel.bytes({ pointer, sizeBytes }), this.#pack, tileAddress);
        for (const { tile, position } of tilesInside) read(header, tile, position);
      };
      if (kernel.words[word] !== 0) readAll();
      else await headers.withTiles([{ word, sizeBytes }], (missing) => this.#fillHeader(index, missing), readAll);
    };
    // The headers are read in parallel, because over a network round trips take most of the time.
    await Promise.all([...byIndex].map(readHeader));
  }

  async #fillHeader(index: number, missing: readonly TileToFill[]): Promise<void> {
    const { blobs, kernel } = this.#context;
    const { name } = this.#pack.files.pyramid;
    const offset = this.#root.offsets[index] ?? 0;
    for (const { region } of missing) {
      const bytes = await blobs.read(name, { offset, sizeBytes: region.sizeBytes });
      if (crc32(kernel, bytes) !== this.#root.headerChecksums[index]) {
        throw damagedFile(name, `the header at byte ${offset} does not match its checksum`, { offset });
      }
      kernel.bytes(region).set(bytes);
    }
  }

  async #decode(stored: Uint8Array, name: string, range: RangeToRead): Promise<Uint8Array> {
    const { tileRow, tileColumn, group } = range.tile;
    const { scenario, year } = this.groups[group] ?? {};
    const tileName = `tile row ${tileRow}, column ${tileColumn}, ${scenario} ${year}`;
    const details = { tileRow, tileColumn, scenario, year };
    if (crc32(this.#context.kernel, stored) !== range.checksum) {
      throw damagedFile(name, `${tileName}: the stored bytes do not match their checksum`, details);
    }
    try {
      return await inflateRaw(stored, range.unpackedBytes);
    } catch (error) {
      throw damagedFile(name, `${tileName}: cannot be decompressed`, details, error);
    }
  }
}

function firstTileOf({ group, pyramidRow, pyramidColumn }: PyramidRequest): TileRequest {
  return { group, tileRow: pyramidRow * PYRAMID_SIZE, tileColumn: pyramidColumn * PYRAMID_SIZE };
}

/** Sorts ranges by offset and divides them into runs that one read can cover. */
function adjacentRuns<T extends StoredRange>(ranges: readonly T[]): T[][] {
  const runs: T[][] = [];
  for (const range of ranges.toSorted((a, b) => a.offset - b.offset)) {
    const run = runs.at(-1);
    const last = run?.at(-1);
    if (run !== undefined && last !== undefined && range.offset - (last.offset + last.sizeBytes) <= GAP_BYTES_MAX) {
      run.push(range);
    } else {
      runs.push([range]);
    }
  }
  return runs;
}

async function checkSize(blobs: Blobs, { name, size_bytes }: FileEntry): Promise<void> {
  const sizeBytes = await blobs.sizeBytes(name);
  if (sizeBytes === undefined) throw damagedFile(name, "there is no such file");
  if (sizeBytes !== size_bytes) {
    throw damagedFile(name, `its size is ${sizeBytes} bytes, but ${size_bytes} bytes in the catalog`);
  }
}
