import {
  Field,
  type FieldGrid,
  LANES,
  type MissingTiles,
  PYRAMID_FORMS,
  tileBytes,
  type TileForm,
} from "../kernel/field.ts";
import type { Kernel } from "../kernel/instance.ts";
import { TILE_SIZE } from "../kernel/kernel.generated.ts";
import { copyToLanes, prefixTile } from "../kernel/tiles.ts";
import { TimeSlice } from "../concurrency/timeSlice.ts";
import type { TileToFill, TileCache, TileSlot } from "./cache.ts";
import type { LayerEntry } from "./catalog.ts";
import type { CellSource, PyramidRequest, TileState } from "./cellSource.ts";
import { type Constant, constantSection, ConstantTiles } from "./constantTiles.ts";
import { CONSTANT_STEPS } from "./tile.ts";

/** One layer of a field and the source of its cells. */
export interface FieldLayer {
  readonly source: CellSource;
  /** Index in the source's groups. */
  readonly group: number;
  /** Index in the group's layers. */
  readonly layer: number;
  readonly entry: LayerEntry;
}

/** The layers of a field that come from one group of one source. */
interface SourceLayers {
  readonly source: CellSource;
  readonly group: number;
  /** Lane of each layer of the group, -1 for layers that are not in the field. */
  readonly lanes: Int32Array;
}

/** Access to one kind of tile of a source. */
interface TileReader<Request, Numbers> {
  requestOf(index: number, group: number): Request;
  resolve(requests: readonly Request[]): Promise<readonly TileState[]>;
  load(requests: readonly Request[]): Promise<readonly Numbers[]>;
}

/**
 * Layers that are sampled together, interleaved in memory, with tiles loaded on demand. A tile of the field combines the
 * groups of its sources; if all groups have the same constant state, the directory points to a shared tile.
 *
 * A lane is the index of a layer in the interleaved vectors, in the order of `layers`.
 */
export class CachedField {
  readonly field: Field;
  readonly layers: readonly FieldLayer[];
  /** Whether every source has a pyramid. */
  readonly hasPyramid: boolean;
  readonly #kernel: Kernel;
  readonly #cache: TileCache;
  readonly #onFetch: (durationMs: number) => void;
  readonly #sourceLayers: readonly SourceLayers[];
  readonly #constants: ConstantTiles;

  /**
   * @param options `constants` can be shared with other fields; `onFetch` receives the duration of every fetch of tiles
   */
  constructor(
    kernel: Kernel,
    cache: TileCache,
    grid: FieldGrid,
    layers: readonly FieldLayer[],
    options: { readonly constants?: ConstantTiles; readonly onFetch?: (durationMs: number) => void } = {},
  ) {
    this.#kernel = kernel;
    this.#cache = cache;
    this.#constants = options.constants ?? new ConstantTiles(kernel);
    this.#onFetch = options.onFetch ?? (() => undefined);
    this.field = new Field(grid, layers.length);
    this.layers = layers;
    this.hasPyramid = layers.every(({ source }) => source.pyramid !== undefined);
    const sourceLayers = new Map<CellSource, Map<number, Int32Array>>();
    for (const [lane, { source, group, layer }] of layers.entries()) {
      const groups = sourceLayers.get(source) ?? new Map<number, Int32Array>();
      sourceLayers.set(source, groups);
      const lanes = groups.get(group) ?? new Int32Array(source.groups[group]?.layers.length ?? 0).fill(-1);
      groups.set(group, lanes);
      lanes[layer] = lane;
    }
    this.#sourceLayers = [...sourceLayers].flatMap(([source, groups]) =>
      [...groups].map(([group, lanes]) => ({ source, group, lanes })),
    );
  }

  /** Returns the size of a tile of this form, without padding. */
  bytesOf(form: TileForm): number {
    return tileBytes(form, this.field.vectorCount);
  }

  /** Returns the index of the tile's directory word, in 32-bit words of the kernel's memory. */
  wordOf(form: TileForm, index: number): number {
    return (this.field.directories[form].pointer >>> 2) + index;
  }

  /**
   * Runs `read`, which must be synchronous, while these tiles are in memory.
   * @param timeSlice its `yield` is awaited between the tiles that must be loaded
   */
  async withTiles<T>(tiles: readonly MissingTiles[], read: () => T, timeSlice = new TimeSlice()): Promise<T> {
    const wanted: { readonly form: TileForm; readonly index: number }[] = [];
    const slots: TileSlot[] = [];
    for (const { form, indices } of tiles) {
      for (const index of await this.#withoutConstants(form, [...new Set(indices)])) {
        wanted.push({ form, index });
        slots.push({ word: this.wordOf(form, index), sizeBytes: this.bytesOf(form) });
      }
    }
    return this.#cache.withTiles(
      slots,
      (missing) =>
        this.#fill(
          missing.map((tile) => ({ ...tile, ...(wanted[tile.index] as (typeof wanted)[number]) })),
          timeSlice,
        ),
      read,
    );
  }

  /** Points the directory entries of constant tiles to shared tiles. Returns the indices of the other tiles. */
  async #withoutConstants(form: TileForm, indices: readonly number[]): Promise<readonly number[]> {
    const unknown = indices.filter((index) => this.#kernel.words[this.wordOf(form, index)] === 0);
    const states = await Promise.all(
      this.#sourceLayers.map((layersOfSource) => this.#statesOf(layersOfSource, form, unknown)),
    );
    for (const [i, index] of unknown.entries()) {
      const [first = "cells"] = states.map((sourceStates) => sourceStates[i] ?? "cells");
      if (first === "cells" || states.some((sourceStates) => sourceStates[i] !== first)) continue;
      // Called before `words` is accessed, because it may grow the memory, which detaches all views.
      const { pointer } = this.#constants.of(form, first, this.field.vectorCount);
      if (this.#kernel.words[this.wordOf(form, index)] === 0) this.#kernel.words[this.wordOf(form, index)] = pointer;
    }
    return indices.filter((index) => !this.#isConstant(form, index));
  }

  #isConstant(form: TileForm, index: number): boolean {
    return this.#constants.has(this.#kernel.pointerAt(this.wordOf(form, index)));
  }

  #statesOf(layersOfSource: SourceLayers, form: TileForm, indices: readonly number[]): Promise<readonly TileState[]> {
    const { group, source } = layersOfSource;
    const { tileColumnCount, pyramidColumnCount } = this.field.grid;
    if (PYRAMID_FORMS.includes(form)) {
      const requests = indices.map((index) => pyramidAt(index, pyramidColumnCount, group));
      return Promise.resolve(source.pyramid?.resolve(requests) ?? []);
    }
    return source.resolve(indices.map((index) => tileAt(index, tileColumnCount, group)));
  }

  async #fill(
    missing: readonly (TileToFill & { readonly form: TileForm; readonly index: number })[],
    timeSlice: TimeSlice,
  ): Promise<void> {
    await Promise.all(
      (["cells", "prefixes", "bounds", "totals"] as const).map(async (form) => {
        const tiles = missing.filter((tile) => tile.form === form);
        if (tiles.length === 0) return;
        if (PYRAMID_FORMS.includes(form)) await this.#fillPyramid(form, tiles, timeSlice);
        else await this.#fillTiles(form, tiles, timeSlice);
      }),
    );
  }

  async #fillTiles(
    form: TileForm,
    tiles: readonly (TileToFill & { readonly index: number })[],
    timeSlice: TimeSlice,
  ): Promise<void> {
    const { tileColumnCount } = this.field.grid;
    const { vectorCount } = this.field;
    const laneCount = vectorCount * LANES;
    if (form === "prefixes") {
      const tilesWithoutCells = tiles.filter(({ index, region }) => {
        const cells = this.#kernel.pointerAt(this.wordOf("cells", index));
        if (cells !== 0)
          prefixTile(this.#kernel, { cellsPointer: cells, prefixesPointer: region.pointer, vectorCount });
        return cells === 0;
      });
      if (tilesWithoutCells.length < tiles.length) {
        if (tilesWithoutCells.length > 0) await this.#fillTiles(form, tilesWithoutCells, timeSlice);
        return;
      }
    }
    const stored = await this.#readTiles(
      tiles.map(({ index }) => index),
      (source) => ({
        requestOf: (index, group) => tileAt(index, tileColumnCount, group),
        resolve: (requests) => source.resolve(requests),
        load: (requests) => source.load(requests, timeSlice),
      }),
    );
    for (const [position, { region }] of tiles.entries()) {
      this.#kernel.withScratch((scratch) => {
        const cells = form === "cells" ? region : scratch.reserve(this.bytesOf("cells"));
        this.#kernel.u16(cells).fill(CONSTANT_STEPS.outside);
        for (const layersOfSource of this.#sourceLayers) {
          const storedTile = stored.get(layersOfSource)?.[position] ?? "outside";
          const groupLayers = layersOfSource.lanes.length;
          const source =
            typeof storedTile === "string"
              ? new Uint16Array(TILE_SIZE * TILE_SIZE * groupLayers).fill(CONSTANT_STEPS[storedTile])
              : storedTile;
          copyToLanes(this.#kernel, source, layersOfSource.lanes, { region: cells, laneCount });
        }
        if (form === "prefixes") {
          prefixTile(this.#kernel, { cellsPointer: cells.pointer, prefixesPointer: region.pointer, vectorCount });
        }
      });
    }
  }

  async #fillPyramid(
    form: TileForm,
    tiles: readonly (TileToFill & { readonly index: number })[],
    timeSlice: TimeSlice,
  ): Promise<void> {
    const { pyramidColumnCount } = this.field.grid;
    const laneCount = this.field.vectorCount * LANES;
    const stored = await this.#readTiles<PyramidRequest, Uint16Array | Uint32Array>(
      tiles.map(({ index }) => index),
      ({ pyramid }) => {
        if (pyramid === undefined) throw new Error("The source has no pyramid.");
        return {
          requestOf: (index, group) => pyramidAt(index, pyramidColumnCount, group),
          resolve: (requests) => Promise.resolve(pyramid.resolve(requests)),
          load: (requests) =>
            form === "bounds" ? pyramid.loadBounds(requests, timeSlice) : pyramid.loadTotals(requests, timeSlice),
        };
      },
    );
    for (const [position, { region }] of tiles.entries()) {
      this.#kernel.bytes(region).fill(0);
      for (const layersOfSource of this.#sourceLayers) {
        const storedTile = stored.get(layersOfSource)?.[position] ?? "outside";
        const section =
          typeof storedTile === "string" ? constantSection(form, storedTile, layersOfSource.lanes.length) : storedTile;
        copyToLanes(this.#kernel, section, layersOfSource.lanes, { region, laneCount });
      }
    }
  }

  /**
   * Returns the content of the tiles for the layers of each group of a source, as numbers or a constant state. All tiles of
   * a source are requested together, so that adjacent bytes of a file are read as one range. Everything is read before
   * anything is written, so that tiles are complete or absent.
   */
  async #readTiles<Request, Numbers>(
    indices: readonly number[],
    readerOf: (source: CellSource) => TileReader<Request, Numbers>,
  ): Promise<ReadonlyMap<SourceLayers, readonly (Numbers | Constant)[]>> {
    const sources = new Set(this.#sourceLayers.map(({ source }) => source));
    const found = new Map<SourceLayers, (Numbers | Constant)[]>(
      this.#sourceLayers.map((layersOfSource) => [layersOfSource, []]),
    );
    const startMs = performance.now();
    await Promise.all(
      [...sources].map(async (source) => {
        const { requestOf, resolve, load } = readerOf(source);
        const sourceLayers = this.#sourceLayers.filter((layersOfSource) => layersOfSource.source === source);
        const requests = indices.flatMap((index) => sourceLayers.map(({ group }) => requestOf(index, group)));
        const states = await resolve(requests);
        const loaded = await load(requests.filter((_, i) => states[i] === "cells"));
        let next = 0;
        for (const [i] of requests.entries()) {
          const layersOfSource = sourceLayers[i % sourceLayers.length] as SourceLayers;
          const state = states[i] ?? "outside";
          found.get(layersOfSource)?.push(state === "cells" ? (loaded[next++] as Numbers) : state);
        }
      }),
    );
    this.#onFetch(performance.now() - startMs);
    return found;
  }
}

function tileAt(index: number, columnCount: number, group: number) {
  return { group, tileRow: Math.floor(index / columnCount), tileColumn: index % columnCount };
}

function pyramidAt(index: number, columnCount: number, group: number) {
  return { group, pyramidRow: Math.floor(index / columnCount), pyramidColumn: index % columnCount };
}
