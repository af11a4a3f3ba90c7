import { LANES, type MissingTiles } from "../kernel/field.ts";
import { type Circle, type CircleCells, rowSpans, rowWeights } from "../kernel/geodesy.ts";
import type { Kernel } from "../kernel/instance.ts";
import { CircleAccumulator, type CircleSummary } from "../kernel/circleAccumulator.ts";
import type { TimeSlice } from "../concurrency/timeSlice.ts";
import { TileCache } from "./cache.ts";
import type { LayerSet } from "./layerSet.ts";
import { TILE_SIZE } from "../kernel/kernel.generated.ts";

/** The value of one layer within a circle. */
export interface CircleValue {
  /** An integer for a maximum, a fraction for a mean; undefined if no cell is valid. */
  readonly steps: number | undefined;
  /** For a circle without a valid cell: whether the source marks any of its cells as missing. */
  readonly hasNodata: boolean;
  /** Area of the valid cells divided by the area of all cells; present only if `shares` was requested. */
  readonly validShare: number | undefined;
}

export interface CircleSample {
  /** Present only if `shares` was requested. */
  readonly cellCount: number | undefined;
  readonly values: readonly CircleValue[];
}

export interface CircleOptions {
  readonly method: "max" | "mean";
  /** Whether to compute the cell count and the valid shares. */
  readonly shares: boolean;
}

/** Aggregates the cells of a circle: the cells whose centers are inside it, and the cell that contains its center. */
export class CircleSampler {
  readonly #kernel: Kernel;
  readonly #cache: TileCache;

  constructor(kernel: Kernel, cache: TileCache) {
    this.#kernel = kernel;
    this.#cache = cache;
  }

  /**
   * Samples from the pyramid if possible, otherwise cell by cell; both give the same result.
   * @param timeSlice its `yield` is awaited between tiles that must be loaded; default: of this thread
   */
  async sample(set: LayerSet, circle: Circle, options: CircleOptions, timeSlice?: TimeSlice): Promise<CircleSample> {
    const pyramidSample = set.cachedField.hasPyramid
      ? await this.#sampleByPyramid(set, circle, options, timeSlice)
      : undefined;
    return pyramidSample ?? this.#sampleByCells(set, circle, options.method, timeSlice);
  }

  /**
   * Samples from the pyramid tiles and rim cells that are in memory.
   *
   * @returns the missing tiles if any; undefined if only the cells can give the result
   */
  trySample(
    { cachedField, lanes }: LayerSet,
    circle: Circle,
    { method, shares }: CircleOptions,
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
    let circleArea = 0;
    const areas: number[] = [];
    if (method === "mean" || shares) {
      const sums = grid.sums(field);
      if (sums.kind === "missing") return sums.tiles;
      for (const lane of lanes) {
        const index = (lane >> 2) * 8 + (lane & 3);
        const area = sums.value[index + 4] ?? 0;
        areas.push(area);
        if (method === "mean") steps.push(area > 0 ? (sums.value[index] ?? 0) / area : undefined);
      }
      if (shares) circleArea = grid.sumArea();
    }
    // The pyramid does not distinguish nodata from outside; only the cells give the reason for a missing value.
    if (steps.includes(undefined)) return undefined;
    return {
      cellCount: shares ? grid.countCells() : undefined,
      values: steps.map((value, i) => ({
        steps: value,
        hasNodata: false,
        validShare: shares ? shareOf(areas[i] ?? 0, circleArea) : undefined,
      })),
    };
  }

  /**
   * Calls `trySample` repeatedly and loads the tiles that it reports missing.
   * @returns undefined if only the cells can give the result, or if the tiles exceed what one call may pin
   */
  async #sampleByPyramid(
    set: LayerSet,
    circle: Circle,
    options: CircleOptions,
    timeSlice: TimeSlice | undefined,
  ): Promise<CircleSample | undefined> {
    const { cachedField } = set;
    const needed = new Map<MissingTiles["form"], Set<number>>();
    for (;;) {
      const attempt = (): CircleSample | readonly MissingTiles[] | undefined => this.trySample(set, circle, options);
      let bytes = 0;
      for (const [form, indices] of needed) bytes += indices.size * TileCache.costBytes(cachedField.bytesOf(form));
      if (bytes > this.#cache.pinnedBytesMax) return undefined;
      const tiles = [...needed].map(([form, indices]) => ({ form, indices: [...indices] }));
      const result = needed.size === 0 ? attempt() : await cachedField.withTiles(tiles, attempt, timeSlice);
      if (result === undefined || !isMissingTiles(result)) return result;
      for (const { form, indices } of result) {
        const known = needed.get(form) ?? new Set<number>();
        needed.set(form, known);
        for (const index of indices) known.add(index);
      }
    }
  }

  /**
   * Samples every cell of the circle, in batches that fit in the cache. Needs no pyramid; the cost is proportional to
   * the number of cells.
   */
  async #sampleByCells(
    { hazard, cachedField, lanes }: LayerSet,
    circle: Circle,
    method: "max" | "mean",
    timeSlice: TimeSlice | undefined,
  ): Promise<CircleSample> {
    const { field } = cachedField;
    const laneCount = field.vectorCount * LANES;
    const cells = rowSpans(this.#kernel, hazard.grid, circle);
    const sums = new CircleAccumulator(cells, laneCount);
    const tiles = tilesInCircle(cells);
    const tilesPerBatch = Math.max(
      1,
      Math.floor(this.#cache.pinnedBytesMax / TileCache.costBytes(cachedField.bytesOf("cells"))),
    );
    for (let start = 0; start < tiles.length; start += tilesPerBatch) {
      // Another query of the same slice may have used the time for which this one waited.
      if (timeSlice?.isExpired === true) await timeSlice.waitForStep();
      const batch = tiles.slice(start, start + tilesPerBatch);
      const indices = batch.map(({ tileRow, tileColumn }) => tileRow * field.grid.tileColumnCount + tileColumn);
      const add = (): void =>
        sums.add(
          this.#kernel,
          // The fields are listed because a spread retains 300 bytes per circle until a full garbage collection.
          batch.map(({ tileRow, tileColumn }, i) => {
            const pointer = this.#kernel.pointerAt(cachedField.wordOf("cells", indices[i] ?? 0));
            return { tileRow, tileColumn, cells: { pointer, sizeBytes: cachedField.bytesOf("cells") } };
          }),
        );
      const isCached = indices.every((index) => this.#kernel.words[cachedField.wordOf("cells", index)] !== 0);
      if (isCached) add();
      else await cachedField.withTiles([{ form: "cells", indices }], add, timeSlice);
    }
    const summaries = sums.summarize(this.#kernel, rowWeights(this.#kernel, hazard.grid, sums.rows));
    return {
      cellCount: countOf(cells),
      values: lanes.map((lane) => circleValue(summaries[lane] as CircleSummary, method)),
    };
  }
}

/** Returns whether `trySample` returned missing tiles. */
export function isMissingTiles(result: CircleSample | readonly MissingTiles[]): result is readonly MissingTiles[] {
  return Array.isArray(result);
}

function circleValue(summary: CircleSummary, method: "max" | "mean"): CircleValue {
  const { maxSteps, meanSteps, hasNodata, validShare } = summary;
  return { steps: method === "max" ? maxSteps : meanSteps, hasNodata, validShare };
}

/** Returns area / circleArea, or exactly 1 if the two differ only by rounding. */
function shareOf(area: number, circleArea: number): number {
  const share = circleArea > 0 ? area / circleArea : 0;
  return share > 1 - 1e-12 ? 1 : share;
}

function countOf({ spans }: CircleCells): number {
  let count = 0;
  for (let i = 0; i < spans.length; i += 3) count += (spans[i + 2] ?? 0) - (spans[i + 1] ?? 0) + 1;
  return count;
}

/** Row and column of a tile in its grid. */
interface CircleTile {
  readonly tileRow: number;
  readonly tileColumn: number;
}

/** Returns the tiles that contain cells of the circle, north to south, then west to east. */
function tilesInCircle({ spans }: CircleCells): CircleTile[] {
  const columnsByRow = new Map<number, Set<number>>();
  for (let i = 0; i < spans.length; i += 3) {
    const tileRow = Math.floor((spans[i] ?? 0) / TILE_SIZE);
    let columns = columnsByRow.get(tileRow);
    if (columns === undefined) columnsByRow.set(tileRow, (columns = new Set()));
    const last = Math.floor((spans[i + 2] ?? 0) / TILE_SIZE);
    for (let column = Math.floor((spans[i + 1] ?? 0) / TILE_SIZE); column <= last; column++) columns.add(column);
  }
  return [...columnsByRow].flatMap(([tileRow, columns]) =>
    [...columns].toSorted((a, b) => a - b).map((tileColumn) => ({ tileRow, tileColumn })),
  );
}
