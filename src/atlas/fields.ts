import type { FieldGrid } from "../kernel/field.ts";
import type { Kernel } from "../kernel/instance.ts";
import type { TileCache } from "./cache.ts";
import type { CellSource } from "./cellSource.ts";
import type { ConstantTiles } from "./constantTiles.ts";
import { type FieldLayer, CachedField } from "./cachedField.ts";

/** Layers that are asked for together. */
export interface FoundField {
  readonly cachedField: CachedField;
  /** Where each layer asked for lies in the cachedField field. */
  readonly lanes: readonly number[];
}

interface Kept {
  readonly cachedField: CachedField;
  /** By the layer's name. */
  readonly lanes: ReadonlyMap<string, number>;
}

/**
 * So many fields of one grid are kept, for as long as the atlas is open: services and portfolios ask some sets of layers
 * over and over. More would read the same tiles anew for each, and crowd one another out of the cache.
 */
const FIELD_COUNT_MAX = 64;
/** Directories of all of them together, address space that is taken as they are filled; on fine grids that is fewer. */
const DIRECTORY_BYTES_MAX = 64 << 20;
const FIELD_COUNT_MIN = 6;

/** The fields of one grid: to each set of layers that is asked for together the one that answers it at the least cost. */
export class Fields {
  readonly grid: FieldGrid;
  readonly #kernel: Kernel;
  readonly #cache: TileCache;
  readonly #how: { readonly constants: ConstantTiles; readonly onFetch: (durationMs: number) => void };
  readonly #allLayers: readonly FieldLayer[];
  /** A number for each source, to name layers. */
  readonly #sources: ReadonlyMap<CellSource, number>;
  readonly #byName = new Map<string, Kept>();
  readonly #countMax: number;
  #all: Kept | undefined;

  constructor(
    kernel: Kernel,
    cache: TileCache,
    about: {
      readonly grid: FieldGrid;
      readonly allLayers: readonly FieldLayer[];
      readonly constants: ConstantTiles;
      readonly onFetch: (durationMs: number) => void;
    },
  ) {
    const { grid, allLayers, constants, onFetch } = about;
    this.#kernel = kernel;
    this.#cache = cache;
    this.grid = grid;
    this.#allLayers = allLayers;
    this.#how = { constants, onFetch };
    this.#sources = new Map([...new Set(allLayers.map(({ source }) => source))].map((source, i) => [source, i]));
    this.#countMax = Math.min(
      FIELD_COUNT_MAX,
      Math.max(FIELD_COUNT_MIN, Math.floor(DIRECTORY_BYTES_MAX / grid.directoryBytes)),
    );
  }

  /** @param layers at least one, none twice */
  of(layers: readonly FieldLayer[]): FoundField {
    const names = layers.map((layer) => this.#nameOf(layer));
    const { cachedField, lanes } = this.#keptFor(layers, names);
    return { cachedField, lanes: names.map((name) => lanes.get(name) ?? -1) };
  }

  #keptFor(layers: readonly FieldLayer[], names: readonly string[]): Kept {
    // The same layers in another order are the same field.
    const name = names.toSorted().join(" ");
    const known = this.#byName.get(name);
    if (known !== undefined) return known;
    if (this.#byName.size >= this.#countMax) {
      return this.#narrowestWith(names) ?? (this.#all ??= this.#keep(this.#allLayers));
    }
    const kept = this.#keep(layers);
    this.#byName.set(name, kept);
    return kept;
  }

  #narrowestWith(names: readonly string[]): Kept | undefined {
    let narrowest: Kept | undefined;
    for (const kept of this.#byName.values()) {
      if (kept.lanes.size >= (narrowest?.lanes.size ?? Infinity)) continue;
      if (names.every((name) => kept.lanes.has(name))) narrowest = kept;
    }
    return narrowest;
  }

  #keep(layers: readonly FieldLayer[]): Kept {
    const numberOf = ({ source }: FieldLayer): number => this.#sources.get(source) ?? 0;
    const ordered = layers.toSorted((a, b) => numberOf(a) - numberOf(b) || a.group - b.group || a.layer - b.layer);
    const cachedField = new CachedField(this.#kernel, this.#cache, this.grid, ordered, this.#how);
    return { cachedField, lanes: new Map(ordered.map((layer, lane) => [this.#nameOf(layer), lane])) };
  }

  #nameOf({ source, group, layer }: FieldLayer): string {
    return `${this.#sources.get(source)}.${group}.${layer}`;
  }
}
