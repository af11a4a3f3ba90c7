import { FieldGrid, LANES, type MissingTiles } from "../kernel/field.ts";
import { type Circle, type CircleCells, rowSpans, rowWeights } from "../kernel/geodesy.ts";
import { type Cell, cellCenter, type Location, normalizeLonDeg } from "../kernel/grid.ts";
import type { Kernel } from "../kernel/instance.ts";
import { PYRAMID_SIZE, REASON_NODATA, REASON_OUTSIDE, STEPS_OUTSIDE, TILE_SIZE } from "../kernel/kernel.generated.ts";
import type { LocationArrays, LocationResults, LocationValues } from "../kernel/sampling.ts";
import { CircleAccumulator, type CircleSummary } from "../kernel/radius.ts";
import { TileCache } from "./cache.ts";
import type { GroupEntry } from "./catalog.ts";
import type { AtlasHazard, CellAtlas, CellSource } from "./cellSource.ts";
import { ConstantTiles } from "./constantTiles.ts";
import { Fields, type FoundField } from "./fields.ts";
import { computeLocations, sampleFromTiles } from "./bulkSampling.ts";
import type { FieldLayer, CachedField } from "./cachedField.ts";
import { FetchListeners } from "./tileUse.ts";
import { tilesInCircle } from "./circleTiles.ts";

/** One (scenario, year) of a hazard. */
export interface SampledGroup {
  readonly entry: GroupEntry;
  readonly source: CellSource;
  /** Index in the source's groups. */
  readonly group: number;
}

/** A hazard whose groups can be looked up and sampled. */
export interface SampledHazard extends Pick<AtlasHazard, "hazard" | "grid" | "rules"> {
  group(scenario: string, year: number): SampledGroup | undefined;
  /** Every layer of every group. */
  allLayers(): readonly FieldLayer[];
}

/** Layers that are asked for together, at the cost of no others. */
export interface LayerSet extends FoundField {
  readonly hazard: SampledHazard;
}

/** What stands at a location. */
export interface CellSample {
  readonly center: Location;
  /** Of each layer: steps, or why there are none. */
  readonly steps: Uint16Array;
}

/** What stands within a circle, of one layer. */
export interface CircleValue {
  /** Whole for a maximum, a fraction for a mean; undefined when no cell is valid. */
  readonly steps: number | undefined;
  /** Of a circle without a valid cell: whether the source marks any of its cells as missing. */
  readonly hasNodata: boolean;
  /** Area of the valid cells / area of all cells; only when it was asked for. */
  readonly validShare: number | undefined;
}

export interface CircleSample {
  /** Only when it was asked for. */
  readonly cellCount: number | undefined;
  readonly values: readonly CircleValue[];
}

/** Of a meridian, nearly. */
const METRES_PER_DEG = 111_200;

/** A circle, and where its values go. */
export interface CircleAt {
  readonly circle: Circle;
  readonly method: "max" | "mean";
  readonly first: number;
}

/** Asks the cells of an open atlas: where a query's geometry, the cache and the kernels meet. Knows no hazard. */
export class Sampler {
  readonly hazards: ReadonlyMap<string, SampledHazard>;
  /** Of tiles that were not in memory. */
  readonly fetches = new FetchListeners();
  readonly #kernel: Kernel;
  readonly #cache: TileCache;
  readonly #constants: ConstantTiles;
  readonly #fields = new Map<SampledHazard, Fields>();

  constructor(kernel: Kernel, atlas: CellAtlas, { cacheBytes }: { readonly cacheBytes: number }) {
    this.#kernel = kernel;
    this.#cache = new TileCache(kernel, { sizeBytes: cacheBytes });
    this.#constants = new ConstantTiles(kernel);
    const hazards = new Map<string, SampledHazard>();
    for (const { hazard, grid, rules, sources } of atlas.hazards) {
      const groups = new Map<string, SampledGroup>();
      for (const source of sources) {
        for (const [group, entry] of source.groups.entries()) {
          if (entry.superseded !== true) groups.set(`${entry.scenario}/${entry.year}`, { entry, source, group });
        }
      }
      hazards.set(hazard, {
        hazard,
        grid,
        rules,
        group: (scenario, year) => groups.get(`${scenario}/${year}`),
        allLayers: () =>
          [...groups.values()].flatMap(({ source, group, entry: { layers } }) =>
            layers.map((entry, layer) => ({ source, group, layer, entry })),
          ),
      });
    }
    this.hazards = hazards;
  }

  /** Bytes of the tiles that are in memory. */
  get cachedBytes(): number {
    return this.#cache.usedBytes;
  }

  /**
   * The layers as one set. Their field, with all that is in memory of it, is kept for the next time.
   *
   * @param layers at least one, none twice
   */
  layerSet(hazard: SampledHazard, layers: readonly FieldLayer[]): LayerSet {
    let fields = this.#fields.get(hazard);
    if (fields === undefined) {
      fields = new Fields(this.#kernel, this.#cache, {
        grid: new FieldGrid(this.#kernel, hazard.grid),
        allLayers: hazard.allLayers(),
        constants: this.#constants,
        onFetch: (durationMs) => this.fetches.notify(durationMs),
      });
      this.#fields.set(hazard, fields);
    }
    return { hazard, ...fields.of(layers) };
  }

  /** The cell that contains the location. @returns undefined where the grid does not reach */
  async sampleCell(
    { hazard, cachedField, lanes }: LayerSet,
    { latDeg, lonDeg }: Location,
  ): Promise<CellSample | undefined> {
    const { field } = cachedField;
    const { columnCount } = hazard.grid;
    const index = field.grid.cellOf(latDeg, lonDeg);
    if (index < 0) return undefined;
    const row = Math.floor(index / columnCount);
    const cell = { row, column: index - row * columnCount };
    const center = cellCenter(hazard.grid, cell);
    const made = readMade(cachedField, lanes, cell);
    if (made !== undefined) return { center, steps: made };
    const tile = Math.floor(cell.row / TILE_SIZE) * field.grid.tileColumnCount + Math.floor(cell.column / TILE_SIZE);
    const read = (): Uint16Array => this.#readCell(cachedField, lanes, { tile, ...cell });
    const isThere = this.#kernel.words[cachedField.wordOf("cells", tile)] !== 0;
    const steps = isThere ? read() : await cachedField.withTiles([{ form: "cells", indices: [tile] }], read);
    return { center, steps };
  }

  /**
   * All cells whose centres lie in the circle, and the one that contains its center.
   *
   * @param asked `shares`: also the count of cells and the share of valid ones
   */
  async sampleCircle(
    set: LayerSet,
    circle: Circle,
    asked: { readonly method: "max" | "mean"; readonly shares: boolean },
  ): Promise<CircleSample> {
    const found = set.cachedField.hasPyramid ? await this.#sampleByPyramid(set, circle, asked) : undefined;
    return found ?? this.#sampleByCells(set, circle, asked.method);
  }

  /**
   * What a circle would have to have looked at, cell by cell: vectors of layers, an estimate by its area. None where a
   * pyramid tells of cells in bulk.
   */
  estimateCellVectors({ hazard, cachedField }: LayerSet, { latDeg, radiusM }: Circle): number {
    if (cachedField.hasPyramid) return 0;
    const { cellSizeLatDeg, cellSizeLonDeg, rowCount, columnCount } = hazard.grid;
    const parallel = Math.max(0.01, Math.cos((latDeg * Math.PI) / 180));
    const cellAreaM2 = cellSizeLatDeg * cellSizeLonDeg * parallel * METRES_PER_DEG ** 2;
    const cellCount = Math.min(rowCount * columnCount, (Math.PI * radiusM ** 2) / cellAreaM2);
    return cellCount * cachedField.field.vectorCount;
  }

  /**
   * The cells that contain many places. Places whose tiles must be fetched come last, neighbours together.
   *
   * @param onPlaces told how many more are done; may throw to end the work
   */
  sampleLocations(
    { hazard, cachedField, lanes }: LayerSet,
    places: LocationArrays,
    out: LocationResults,
    onPlaces: (count: number) => void,
  ): Promise<void> {
    const isMade = cachedField.layers.every(({ source }) => source.readCells !== undefined);
    if (isMade) return computeLocations({ grid: hazard.grid, cachedField, lanes }, places, out, onPlaces);
    return sampleFromTiles({ cachedField, lanes, pinnedBytesMax: this.#cache.pinnedBytesMax }, places, out, onPlaces);
  }

  /**
   * The values of a circle, if all that they need is in memory.
   *
   * @param out written from `at.first` on
   * @returns false where something has to be fetched, or the circle is not for the quick way: then `fetchCircle`
   */
  readCircle(set: LayerSet, at: CircleAt, out: LocationValues): boolean {
    if (!set.cachedField.hasPyramid) return false;
    const found = this.#tryPyramid(set, at.circle, { method: at.method, shares: false });
    if (found === undefined || isMissing(found)) return false;
    writeValues(set, found.values, at.first, out);
    return true;
  }

  async fetchCircle(set: LayerSet, at: CircleAt, out: LocationValues): Promise<void> {
    const { values } = await this.sampleCircle(set, at.circle, { method: at.method, shares: false });
    writeValues(set, values, at.first, out);
  }

  /** The pyramid tile that a place lies in: what places have in common that read the same tiles. -1 outside. */
  neighborhoodOf(hazard: string, { latDeg, lonDeg }: Location): number {
    const grid = this.hazards.get(hazard)?.grid;
    if (grid === undefined) return -1;
    const cells = TILE_SIZE * PYRAMID_SIZE;
    const row = Math.floor((grid.northDeg - latDeg) / grid.cellSizeLatDeg / cells);
    const column = Math.floor((normalizeLonDeg(grid, lonDeg) - grid.westDeg) / grid.cellSizeLonDeg / cells);
    return row >= 0 && column >= 0 ? row * Math.ceil(grid.columnCount / cells) + column : -1;
  }

  /** An order of places in which neighbours follow each other: by data tile, row by row. */
  orderByTile({ cachedField }: LayerSet, { latitudes, longitudes }: LocationArrays): Uint32Array {
    const { grid } = cachedField.field;
    const { columnCount } = grid.grid;
    const count = latitudes.length;
    // Loops over arrays of numbers: of a million places, `from` and a comparator make objects of some 60 MiB.
    /** (tile + 1) * count + place: exact, for there are fewer than 2^22 tiles and 2^31 places. */
    const keys = new Float64Array(count);
    for (let place = 0; place < count; place++) {
      const cell = grid.cellOf(latitudes[place] ?? NaN, longitudes[place] ?? NaN);
      const row = Math.floor(cell / columnCount);
      const tile =
        cell < 0
          ? -1
          : Math.floor(row / TILE_SIZE) * grid.tileColumnCount + Math.floor((cell - row * columnCount) / TILE_SIZE);
      keys[place] = (tile + 1) * count + place;
    }
    keys.sort();
    const order = new Uint32Array(count);
    for (let i = 0; i < count; i++) order[i] = (keys[i] ?? 0) % count;
    return order;
  }

  /** @returns undefined where the circle, or what it needs, is not for this way */
  async #sampleByPyramid(
    set: LayerSet,
    circle: Circle,
    asked: { readonly method: "max" | "mean"; readonly shares: boolean },
  ): Promise<CircleSample | undefined> {
    const { cachedField } = set;
    const needed = new Map<MissingTiles["form"], Set<number>>();
    for (;;) {
      const attempt = (): CircleSample | readonly MissingTiles[] | undefined => this.#tryPyramid(set, circle, asked);
      let bytes = 0;
      for (const [form, indices] of needed) bytes += indices.size * TileCache.costBytes(cachedField.bytesOf(form));
      if (bytes > this.#cache.pinnedBytesMax) return undefined;
      const held = [...needed].map(([form, indices]) => ({ form, indices: [...indices] }));
      const result = needed.size === 0 ? attempt() : await cachedField.withTiles(held, attempt);
      if (result === undefined || !isMissing(result)) return result;
      for (const { form, indices } of result) {
        const known = needed.get(form) ?? new Set<number>();
        needed.set(form, known);
        for (const index of indices) known.add(index);
      }
    }
  }

  #tryPyramid(
    { cachedField, lanes }: LayerSet,
    circle: Circle,
    { method, shares }: { readonly method: "max" | "mean"; readonly shares: boolean },
  ): CircleSample | readonly MissingTiles[] | undefined {
    const { field } = cachedField;
    const { grid } = field;
    if (!grid.setCircle(circle)) return undefined;
    const steps: (number | undefined)[] = [];
    if (method === "max") {
      const bounds = grid.max(field);
      if (bounds.kind === "missing") return bounds.tiles;
      for (const lane of lanes) {
        const bound = bounds.value[lane] ?? 0;
        steps.push(bound === 0 ? undefined : bound - 1);
      }
    }
    let allArea = 0;
    const areas: number[] = [];
    if (method === "mean" || shares) {
      const sums = grid.sums(field);
      if (sums.kind === "missing") return sums.tiles;
      for (const lane of lanes) {
        const at = (lane >> 2) * 8 + (lane & 3);
        const area = sums.value[at + 4] ?? 0;
        areas.push(area);
        if (method === "mean") steps.push(area > 0 ? (sums.value[at] ?? 0) / area : undefined);
      }
      if (shares) allArea = grid.sumArea();
    }
    // Why there is nothing is written in the cells alone.
    if (steps.includes(undefined)) return undefined;
    return {
      cellCount: shares ? grid.countCells() : undefined,
      values: steps.map((value, i) => ({
        steps: value,
        hasNodata: false,
        validShare: shares ? shareOf(areas[i] ?? 0, allArea) : undefined,
      })),
    };
  }

  /** From every cell of the circle, batch by batch as the cache allows: always right, at the cost of all its cells. */
  async #sampleByCells(
    { hazard, cachedField, lanes }: LayerSet,
    circle: Circle,
    method: "max" | "mean",
  ): Promise<CircleSample> {
    const { field } = cachedField;
    const laneCount = field.vectorCount * LANES;
    const cells = rowSpans(this.#kernel, hazard.grid, circle);
    const sums = new CircleAccumulator(cells, laneCount);
    const tiles = tilesInCircle(cells);
    const perHold = Math.max(
      1,
      Math.floor(this.#cache.pinnedBytesMax / TileCache.costBytes(cachedField.bytesOf("cells"))),
    );
    for (let start = 0; start < tiles.length; start += perHold) {
      const batch = tiles.slice(start, start + perHold);
      const indices = batch.map(({ tileRow, tileColumn }) => tileRow * field.grid.tileColumnCount + tileColumn);
      const add = (): void =>
        sums.add(
          this.#kernel,
          // Named one by one: a spread leaves 300 bytes with each circle that only a full collection frees.
          batch.map(({ tileRow, tileColumn }, i) => {
            const pointer = this.#kernel.pointerAt(cachedField.wordOf("cells", indices[i] ?? 0));
            return { tileRow, tileColumn, cells: { pointer, sizeBytes: cachedField.bytesOf("cells") } };
          }),
        );
      const isThere = indices.every((index) => this.#kernel.words[cachedField.wordOf("cells", index)] !== 0);
      if (isThere) add();
      else await cachedField.withTiles([{ form: "cells", indices }], add);
    }
    const summaries = sums.summarize(this.#kernel, rowWeights(this.#kernel, hazard.grid, sums.rows));
    return {
      cellCount: countOf(cells),
      values: lanes.map((lane) => valueOf(summaries[lane] as CircleSummary, method)),
    };
  }

  #readCell(
    cachedField: CachedField,
    lanes: readonly number[],
    { tile, row, column }: Cell & { readonly tile: number },
  ): Uint16Array {
    const { vectorCount, layerCount } = cachedField.field;
    const word = cachedField.wordOf("cells", tile);
    const pointer = this.#kernel.pointerAt(word);
    this.#kernel.words[word] = pointer | 1;
    const inTile = (row % TILE_SIZE) * TILE_SIZE + (column % TILE_SIZE);
    const at = pointer + inTile * vectorCount * LANES * 2;
    const cell = this.#kernel.u16({ pointer: at, sizeBytes: layerCount * 2 });
    // A loop: `from` with a mapping goes through an iterator for each lane.
    const steps = new Uint16Array(lanes.length);
    for (let i = 0; i < lanes.length; i++) steps[i] = cell[lanes[i] ?? -1] ?? STEPS_OUTSIDE;
    return steps;
  }
}

function isMissing(result: CircleSample | readonly MissingTiles[]): result is readonly MissingTiles[] {
  return Array.isArray(result);
}

function writeValues(
  { cachedField, lanes }: LayerSet,
  found: readonly CircleValue[],
  first: number,
  out: LocationValues,
): void {
  for (const [i, { steps, hasNodata }] of found.entries()) {
    const { entry } = cachedField.layers[lanes[i] ?? 0] as FieldLayer;
    out.values[first + i] = steps === undefined ? NaN : steps / entry.steps_per_unit + entry.offset;
    out.reasons[first + i] = steps !== undefined ? 0 : hasNodata ? REASON_NODATA : REASON_OUTSIDE;
  }
}

/** The layers of one cell from sources that make cells without their tiles. @returns undefined where one does not */
function readMade({ layers }: CachedField, lanes: readonly number[], cell: Cell): Uint16Array | undefined {
  const steps = new Uint16Array(lanes.length);
  let last: { readonly source: CellSource; readonly group: number; readonly made: Uint16Array } | undefined;
  for (const [i, lane] of lanes.entries()) {
    const { source, group, layer } = layers[lane] as FieldLayer;
    if (last?.source !== source || last.group !== group) {
      const made = source.readCells?.(group, [cell]);
      if (made === undefined) return undefined;
      last = { source, group, made };
    }
    steps[i] = last.made[layer] ?? STEPS_OUTSIDE;
  }
  return steps;
}

function valueOf(summary: CircleSummary, method: "max" | "mean"): CircleValue {
  const { maxSteps, meanSteps, hasNodata, validShare } = summary;
  return { steps: method === "max" ? maxSteps : meanSteps, hasNodata, validShare };
}

/** Equal sums in another order of terms: a circle without gaps is whole, and never more. */
function shareOf(area: number, allArea: number): number {
  const share = allArea > 0 ? area / allArea : 0;
  return share > 1 - 1e-12 ? 1 : share;
}

function countOf({ spans }: CircleCells): number {
  let count = 0;
  for (let i = 0; i < spans.length; i += 3) count += (spans[i + 2] ?? 0) - (spans[i + 1] ?? 0) + 1;
  return count;
}
