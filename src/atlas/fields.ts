import type { FieldGrid } from "../kernel/field.ts";
import type { Kernel } from "../kernel/instance.ts";
import type { TileCache } from "./cache.ts";
import type { CellSource } from "./cellSource.ts";
import type { ConstantTiles } from "./constantTiles.ts";
import { type FieldLayer, CachedField } from "./cachedField.ts";

/** The cached field that holds a set of layers. */
export interface FoundField {
  readonly cachedField: CachedField;
  /** Lane of each requested layer: its index among the layers of the cached field. */
  readonly lanes: readonly number[];
}

/** A field and its lanes by layer name. */
interface FieldEntry {
  readonly cachedField: CachedField;
  readonly lanes: ReadonlyMap<string, number>;
}

/**
 * Maximum number of fields per grid. Services and portfolios use a few sets of layers repeatedly; with more fields, each
 * field would read the same tiles again and compete for the cache.
 */
const FIELD_COUNT_MAX = 64;
/** Maximum size of the directories of all fields of a grid; limits the number of fields on high-resolution grids. */
const DIRECTORY_BYTES_MAX = 64 << 20;
const FIELD_COUNT_MIN = 6;

/** The fields of one grid. Finds the field that samples a set of layers at the lowest cost. */
export class Fields {
  readonly grid: FieldGrid;
  readonly #kernel: Kernel;
  readonly #cache: TileCache;
  readonly #options: { readonly constants: ConstantTiles; readonly onFetch: (durationMs: number) => void };
  readonly #allLayers: readonly FieldLayer[];
  /** Index of each source, used in layer names. */
  readonly #sources: ReadonlyMap<CellSource, number>;
  readonly #byName = new Map<string, FieldEntry>();
  readonly #countMax: number;
  #all: FieldEntry | undefined;

  constructor(
    kernel: Kernel,
    cache: TileCache,
    options: {
      readonly grid: FieldGrid;
      readonly allLayers: readonly FieldLayer[];
      readonly constants: ConstantTiles;
      readonly onFetch: (durationMs: number) => void;
    },
  ) {
    const { grid, allLayers, constants, onFetch } = options;
    this.#kernel = kernel;
    this.#cache = cache;
    this.grid = grid;
    this.#allLayers = allLayers;
    this.#options = { constants, onFetch };
    this.#sources = new Map([...new Set(allLayers.map(({ source }) => source))].map((source, i) => [source, i]));
    this.#countMax = Math.min(
      FIELD_COUNT_MAX,
      Math.max(FIELD_COUNT_MIN, Math.floor(DIRECTORY_BYTES_MAX / grid.directoryBytes)),
    );
  }

  /**
   * Returns the field that holds the layers, and their lanes.
   * @param layers at least one, without duplicates
   */
  of(layers: readonly FieldLayer[]): FoundField {
    const names = layers.map((layer) => this.#nameOf(layer));
    const { cachedField, lanes } = this.#entryFor(layers, names);
    return { cachedField, lanes: names.map((name) => lanes.get(name) ?? -1) };
  }

  #entryFor(layers: readonly FieldLayer[], names: readonly string[]): FieldEntry {
    // The order of layers does not matter: the same set gives the same field.
    const name = names.toSorted().join(" ");
    const existing = this.#byName.get(name);
    if (existing !== undefined) return existing;
    if (this.#byName.size >= this.#countMax) {
      return this.#narrowestWith(names) ?? (this.#all ??= this.#create(this.#allLayers));
    }
    const entry = this.#create(layers);
    this.#byName.set(name, entry);
    return entry;
  }

  #narrowestWith(names: readonly string[]): FieldEntry | undefined {
    let narrowest: FieldEntry | undefined;
    for (const entry of this.#byName.values()) {
      if (entry.lanes.size >= (narrowest?.lanes.size ?? Infinity)) continue;
      if (names.every((name) => entry.lanes.has(name))) narrowest = entry;
    }
    return narrowest;
  }

  #create(layers: readonly FieldLayer[]): FieldEntry {
    const sourceIndexOf = ({ source }: FieldLayer): number => this.#sources.get(source) ?? 0;
    const ordered = layers.toSorted(
      (a, b) => sourceIndexOf(a) - sourceIndexOf(b) || a.group - b.group || a.layer - b.layer,
    );
    const cachedField = new CachedField(this.#kernel, this.#cache, this.grid, ordered, this.#options);
    return { cachedField, lanes: new Map(ordered.map((layer, lane) => [this.#nameOf(layer), lane])) };
  }

  #nameOf({ source, group, layer }: FieldLayer): string {
    return `${this.#sources.get(source)}.${group}.${layer}`;
  }
}
