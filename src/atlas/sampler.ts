import { FieldGrid, LANES } from "../kernel/field.ts";
import type { Circle } from "../kernel/geodesy.ts";
import { type Cell, cellCenter, type Location, normalizeLonDeg } from "../kernel/grid.ts";
import type { Kernel } from "../kernel/instance.ts";
import {
  PYRAMID_SIZE,
  REASON_NODATA,
  REASON_OUTSIDE,
  STEPS_NODATA,
  STEPS_OUTSIDE,
  TILE_SIZE,
} from "../kernel/kernel.generated.ts";
import type { LocationArrays, LocationResults, LocationValues } from "../kernel/sampling.ts";
import type { TimeSlice } from "../concurrency/timeSlice.ts";
import { type BulkRun, computeLocations, sampleFromTiles } from "./bulkSampling.ts";
import { TileCache } from "./cache.ts";
import type { CachedField, FieldLayer } from "./cachedField.ts";
import type { CellAtlas, CellSource } from "./cellSource.ts";
import {
  type CircleOptions,
  type CircleSample,
  CircleSampler,
  type CircleValue,
  isMissingTiles,
} from "./circleSampling.ts";
import { cellVectorsInCircle, type CircleWork, estimateCircleWork } from "./circleWork.ts";
import { ConstantTiles } from "./constantTiles.ts";
import { Fields } from "./fields.ts";
import { type LayerSet, type SampledHazard, sampledHazards } from "./layerSet.ts";
import { RasterReader } from "./rasterReader.ts";
import { FetchListeners } from "./tileUse.ts";

/** The cell at a location. */
export interface CellSample {
  readonly center: Location;
  /** One step per layer; reserved steps mark missing values. */
  readonly steps: Uint16Array;
}

/** Steps of many circles. */
interface CircleSteps {
  /** f64[circle][layer]: an integer for a maximum, a fraction for a mean; STEPS_OUTSIDE or STEPS_NODATA if missing. */
  readonly steps: Float64Array;
}

/** Results of many circles, in one of two forms. */
export type CircleResults = LocationValues | CircleSteps;

/** A circle to sample, and the index of its first value in the output arrays. */
export interface CircleTarget {
  readonly circle: Circle;
  readonly method: "max" | "mean";
  readonly first: number;
}

/**
 * Samples the cells of an open atlas: combines geometry, tile cache and kernels. Does not depend on the meaning of the
 * hazards.
 */
export class Sampler {
  readonly hazards: ReadonlyMap<string, SampledHazard>;
  /** Notified of every fetch of tiles that were not in memory. */
  readonly fetches = new FetchListeners();
  /** Reads layers for maps. */
  readonly raster: RasterReader;
  readonly #kernel: Kernel;
  readonly #cache: TileCache;
  readonly #circles: CircleSampler;
  readonly #constants: ConstantTiles;
  readonly #fields = new Map<SampledHazard, Fields>();

  /** @param sizes.rasterCacheBytes size of the tiles that are kept for maps, in addition to `cacheBytes` */
  constructor(
    kernel: Kernel,
    atlas: CellAtlas,
    { cacheBytes, rasterCacheBytes = 0 }: { readonly cacheBytes: number; readonly rasterCacheBytes?: number },
  ) {
    this.#kernel = kernel;
    this.raster = new RasterReader(kernel, { cacheBytes: rasterCacheBytes });
    this.#cache = new TileCache(kernel, { sizeBytes: cacheBytes });
    this.#circles = new CircleSampler(kernel, this.#cache);
    this.#constants = new ConstantTiles(kernel);
    this.hazards = sampledHazards(atlas.hazards);
  }

  /** Size of the tiles in memory. */
  get cachedBytes(): number {
    return this.#cache.usedBytes + this.raster.cachedBytes;
  }

  /**
   * Returns the layers as one set. Its field, including cached tiles, is kept for later calls.
   *
   * @param layers at least one, without duplicates
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

  /**
   * Returns the cell that contains the location without waiting: null outside the grid, and undefined if its tile must be
   * fetched first.
   */
  readCell({ hazard, cachedField, lanes }: LayerSet, { latDeg, lonDeg }: Location): CellSample | null | undefined {
    const { field } = cachedField;
    const { columnCount } = hazard.grid;
    const index = field.grid.cellOf(latDeg, lonDeg);
    if (index < 0) return null;
    const row = Math.floor(index / columnCount);
    const cell = { row, column: index - row * columnCount };
    const tile = Math.floor(cell.row / TILE_SIZE) * field.grid.tileColumnCount + Math.floor(cell.column / TILE_SIZE);
    const word = cachedField.wordOf("cells", tile);
    const steps =
      this.#kernel.words[word] === 0
        ? computeCell(cachedField, lanes, cell)
        : this.#readSteps(cachedField, lanes, { word, ...cell });
    return steps === undefined ? undefined : { center: cellCenter(hazard.grid, cell), steps };
  }

  /** Returns the cell that contains the location, or undefined outside the grid. */
  async sampleCell(set: LayerSet, location: Location, timeSlice?: TimeSlice): Promise<CellSample | undefined> {
    const read = (): CellSample | null | undefined => this.readCell(set, location);
    const found = read();
    if (found !== undefined) return found ?? undefined;
    const { cachedField } = set;
    const tile = tileOf(cachedField, cachedField.field.grid.cellOf(location.latDeg, location.lonDeg));
    return (await cachedField.withTiles([{ form: "cells", indices: [tile] }], read, timeSlice)) ?? undefined;
  }

  /** Samples a circle without waiting. @returns undefined if tiles must be fetched, or if there is no pyramid to give the result */
  trySampleCircle(set: LayerSet, circle: Circle, options: CircleOptions): CircleSample | undefined {
    if (!set.cachedField.hasPyramid) return undefined;
    const sample = this.#circles.trySample(set, circle, options);
    return sample === undefined || isMissingTiles(sample) ? undefined : sample;
  }

  /** Samples all cells whose centers are inside the circle, and the cell that contains its center. */
  sampleCircle(set: LayerSet, circle: Circle, options: CircleOptions, timeSlice?: TimeSlice): Promise<CircleSample> {
    return this.#circles.sample(set, circle, options, timeSlice);
  }

  /**
   * Estimates the cost of a circle that is sampled cell by cell, in vectors of layers to read, from its area. Returns 0
   * if a pyramid makes the cost independent of the number of cells.
   */
  estimateCellVectors(set: LayerSet, circle: Circle): number {
    return set.cachedField.hasPyramid ? 0 : cellVectorsInCircle(set, circle);
  }

  /** Estimates what it takes to sample a circle. */
  estimateCircleWork(set: LayerSet, circle: Circle): CircleWork {
    return estimateCircleWork(this.#kernel, set, circle);
  }

  /**
   * Samples the cells that contain many locations. Locations whose tiles must be fetched are sampled last, grouped by
   * tile.
   */
  sampleLocations(
    { hazard, cachedField, lanes }: LayerSet,
    locations: LocationArrays,
    out: LocationResults,
    run: BulkRun,
  ): Promise<void> {
    const isComputed = cachedField.layers.every(({ source }) => source.readCells !== undefined);
    if (isComputed) return computeLocations({ grid: hazard.grid, cachedField, lanes }, locations, out, run);
    const { pinnedBytesMax } = this.#cache;
    return sampleFromTiles({ cachedField, lanes, pinnedBytesMax }, locations, out, run);
  }

  /**
   * Samples a circle synchronously if everything it needs is in memory.
   *
   * @param out written from index `target.first`
   * @returns false if tiles must be fetched or the pyramid cannot give the result; then call `fetchCircle`
   */
  readCircle(set: LayerSet, target: CircleTarget, out: CircleResults): boolean {
    const sample = this.trySampleCircle(set, target.circle, { method: target.method, shares: false });
    if (sample === undefined) return false;
    writeCircle(set, sample.values, target.first, out);
    return true;
  }

  /** Samples a circle, fetching the tiles that it needs. */
  async fetchCircle(set: LayerSet, target: CircleTarget, out: CircleResults, timeSlice: TimeSlice): Promise<void> {
    const options = { method: target.method, shares: false };
    const { values } = await this.sampleCircle(set, target.circle, options, timeSlice);
    writeCircle(set, values, target.first, out);
  }

  /**
   * Returns the index of the pyramid tile that contains the location, or -1 outside the grid. Locations with the same
   * index read the same tiles.
   */
  neighborhoodOf(hazard: string, { latDeg, lonDeg }: Location): number {
    const grid = this.hazards.get(hazard)?.grid;
    if (grid === undefined) return -1;
    const cells = TILE_SIZE * PYRAMID_SIZE;
    const row = Math.floor((grid.northDeg - latDeg) / grid.cellSizeLatDeg / cells);
    const column = Math.floor((normalizeLonDeg(grid, lonDeg) - grid.westDeg) / grid.cellSizeLonDeg / cells);
    return row >= 0 && column >= 0 ? row * Math.ceil(grid.columnCount / cells) + column : -1;
  }

  /**
   * Returns the indices of the locations sorted by data tile, tiles row by row. Locations outside the grid are first.
   */
  orderByTile({ cachedField }: LayerSet, { latitudes, longitudes }: LocationArrays): Uint32Array {
    const { grid } = cachedField.field;
    const { columnCount } = grid.grid;
    const count = latitudes.length;
    // Loops over typed arrays, because for a million locations `from` and a comparator would allocate about 60 MiB of
    // objects.
    /**
     * Sort keys of the locations: (tile + 1) * count + location. Exact for fewer than 2^22 tiles and 2^31 locations.
     */
    const keys = new Float64Array(count);
    for (let location = 0; location < count; location++) {
      const cell = grid.cellOf(latitudes[location] ?? NaN, longitudes[location] ?? NaN);
      const row = Math.floor(cell / columnCount);
      const tile =
        cell < 0
          ? -1
          : Math.floor(row / TILE_SIZE) * grid.tileColumnCount + Math.floor((cell - row * columnCount) / TILE_SIZE);
      keys[location] = (tile + 1) * count + location;
    }
    keys.sort();
    const order = new Uint32Array(count);
    for (let i = 0; i < count; i++) order[i] = (keys[i] ?? 0) % count;
    return order;
  }

  #readSteps(
    { field }: CachedField,
    lanes: readonly number[],
    { word, row, column }: Cell & { readonly word: number },
  ): Uint16Array {
    const { vectorCount, layerCount } = field;
    const pointer = this.#kernel.pointerAt(word);
    this.#kernel.words[word] = pointer | 1;
    const cellIndex = (row % TILE_SIZE) * TILE_SIZE + (column % TILE_SIZE);
    const cellPointer = pointer + cellIndex * vectorCount * LANES * 2;
    const cell = this.#kernel.u16({ pointer: cellPointer, sizeBytes: layerCount * 2 });
    // A loop, because `from` with a mapping function is slower.
    const steps = new Uint16Array(lanes.length);
    for (let i = 0; i < lanes.length; i++) steps[i] = cell[lanes[i] ?? -1] ?? STEPS_OUTSIDE;
    return steps;
  }
}

/** Returns the index of the data tile of a cell, which is row * columnCount + column. */
function tileOf({ field: { grid } }: CachedField, cell: number): number {
  const row = Math.floor(cell / grid.grid.columnCount);
  const column = cell - row * grid.grid.columnCount;
  return Math.floor(row / TILE_SIZE) * grid.tileColumnCount + Math.floor(column / TILE_SIZE);
}

function writeCircle(set: LayerSet, found: readonly CircleValue[], first: number, out: CircleResults): void {
  if ("values" in out) {
    writeCircleValues(set, found, first, out);
    return;
  }
  // A loop with an index, because iterating over entries takes longer than the values do.
  for (let i = 0; i < found.length; i++) {
    const value = found[i] as CircleValue;
    out.steps[first + i] = value.steps ?? (value.hasNodata ? STEPS_NODATA : STEPS_OUTSIDE);
  }
}

/** Writes values in the units of their layers. Writes NaN and the reason for missing values. */
function writeCircleValues(
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

/** Returns the layers of a cell from sources that compute single cells, or undefined if one of them cannot. */
function computeCell({ layers }: CachedField, lanes: readonly number[], cell: Cell): Uint16Array | undefined {
  const steps = new Uint16Array(lanes.length);
  let last: { readonly source: CellSource; readonly group: number; readonly computed: Uint16Array } | undefined;
  for (const [i, lane] of lanes.entries()) {
    const { source, group, layer } = layers[lane] as FieldLayer;
    if (last?.source !== source || last.group !== group) {
      const computed = source.readCells?.(group, [cell]);
      if (computed === undefined) return undefined;
      last = { source, group, computed };
    }
    steps[i] = last.computed[layer] ?? STEPS_OUTSIDE;
  }
  return steps;
}
