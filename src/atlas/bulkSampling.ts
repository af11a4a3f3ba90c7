import { type Grid, locateCells } from "../kernel/grid.ts";
import {
  layerEncodings,
  type LocationArrays,
  type LocationResults,
  newResults,
  readLocations,
  type ResultArray,
  writeSteps,
} from "../kernel/sampling.ts";
import { STEPS_OUTSIDE } from "../kernel/kernel.generated.ts";
import type { TimeSlice } from "../concurrency/timeSlice.ts";
import { TileCache } from "./cache.ts";
import type { CellSource } from "./cellSource.ts";
import type { FieldLayer, CachedField } from "./cachedField.ts";

/** Locations per kernel call; with this number, their steps and values stay in the processor's caches. */
const LOCATIONS_PER_CALL = 2048;
/** Maximum number of tiles per fetch; larger than the number of concurrent reads. */
const TILES_PER_FETCH = 64;

/** Time slice and progress of a bulk sampling run. */
export interface BulkRun {
  readonly timeSlice: TimeSlice;
  /** Called with the number of locations just completed; may throw to stop. */
  readonly onProgress: (count: number) => void;
}

/** Layers of a field, in the order of the output. */
interface SelectedLayers {
  readonly cachedField: CachedField;
  readonly lanes: readonly number[];
}

/**
 * Samples the cells that contain many locations: first those whose tiles are in memory, in the order of the locations,
 * then the others tile by tile.
 */
export async function sampleFromTiles(
  { cachedField, lanes, pinnedBytesMax }: SelectedLayers & { readonly pinnedBytesMax: number },
  locations: LocationArrays,
  out: LocationResults,
  { timeSlice, onProgress }: BulkRun,
): Promise<void> {
  const { field, layers } = cachedField;
  const encodings = layerEncodings(lanes.map((lane) => ({ lane, ...unitOf(layers[lane] as FieldLayer) })));
  const count = locations.latitudes.length;
  /**
   * Sort keys of the locations whose tiles are not in memory: tile * count + location. Exact for fewer than 2^22 tiles
   * and 2^31 locations.
   */
  const uncached: number[] = [];
  for (let first = 0; first < count; first += LOCATIONS_PER_CALL) {
    const chunk = slice(locations, first, first + LOCATIONS_PER_CALL);
    const missing = readLocations(field, chunk, encodings, { out, first });
    for (let i = 0; i < missing.length; i += 2)
      uncached.push((missing[i + 1] ?? 0) * count + first + (missing[i] ?? 0));
    onProgress(chunk.latitudes.length - missing.length / 2);
    await timeSlice.yield();
  }
  if (uncached.length === 0) return;

  const keys = Float64Array.from(uncached).toSorted();
  const tilesPerFetch = Math.max(1, Math.floor(pinnedBytesMax / TileCache.costBytes(cachedField.bytesOf("cells"))));
  for (let start = 0; start < keys.length;) {
    const tiles = new Set<number>();
    let end = start;
    for (; end < keys.length && end - start < LOCATIONS_PER_CALL; end++) {
      const tile = Math.floor((keys[end] ?? 0) / count);
      if (!tiles.has(tile) && tiles.size === Math.min(tilesPerFetch, TILES_PER_FETCH)) break;
      tiles.add(tile);
    }
    const batch = Uint32Array.from(keys.subarray(start, end), (key) => key % count);
    const chunk = {
      latitudes: Float64Array.from(batch, (location) => locations.latitudes[location] ?? NaN),
      longitudes: Float64Array.from(batch, (location) => locations.longitudes[location] ?? NaN),
    };
    const batchResults = newResults(out, batch.length * lanes.length);
    const read = (): void => {
      readLocations(field, chunk, encodings, { out: batchResults, first: 0 });
    };
    await cachedField.withTiles([{ form: "cells", indices: [...tiles] }], read, timeSlice);
    scatter(batchResults, batch, lanes.length, out);
    onProgress(batch.length);
    start = end;
    await timeSlice.yield();
  }
}

/** Samples the cells that contain many locations, from sources that compute single cells without loading tiles. */
export async function computeLocations(
  { grid, cachedField, lanes }: SelectedLayers & { readonly grid: Grid },
  locations: LocationArrays,
  out: LocationResults,
  { timeSlice, onProgress }: BulkRun,
): Promise<void> {
  const { kernel } = cachedField.field.grid;
  const selected = lanes.map((lane) => cachedField.layers[lane] as FieldLayer);
  const encodings = layerEncodings(selected.map((layer, i) => ({ lane: i, ...unitOf(layer) })));
  for (let first = 0; first < locations.latitudes.length; first += LOCATIONS_PER_CALL) {
    const chunk = slice(locations, first, first + LOCATIONS_PER_CALL);
    const { rows, columns } = locateCells(kernel, grid, chunk);
    const inside: number[] = [];
    rows.forEach((row, i) => {
      if (row >= 0) inside.push(i);
    });
    const cells = inside.map((i) => ({ row: rows[i] ?? 0, column: columns[i] ?? 0 }));
    const steps = new Uint16Array(rows.length * selected.length).fill(STEPS_OUTSIDE);
    const computed = new Map<CellSource, Map<number, Uint16Array>>();
    for (const [i, { source, group, layer }] of selected.entries()) {
      const groups = computed.get(source) ?? new Map<number, Uint16Array>();
      computed.set(source, groups);
      const groupSteps = groups.get(group) ?? source.readCells?.(group, cells) ?? new Uint16Array();
      groups.set(group, groupSteps);
      const groupLayers = source.groups[group]?.layers.length ?? 1;
      for (const [position, location] of inside.entries()) {
        steps[location * selected.length + i] = groupSteps[position * groupLayers + layer] ?? STEPS_OUTSIDE;
      }
    }
    writeSteps(kernel, steps, encodings, { out, first });
    onProgress(rows.length);
    await timeSlice.yield();
  }
}

function unitOf({ entry }: FieldLayer): { readonly stepsPerUnit: number; readonly offset: number } {
  return { stepsPerUnit: entry.steps_per_unit, offset: entry.offset };
}

function slice({ latitudes, longitudes }: LocationArrays, from: number, to: number): LocationArrays {
  return { latitudes: latitudes.subarray(from, to), longitudes: longitudes.subarray(from, to) };
}

/** Copies the results of a batch to the positions of its locations. */
function scatter(batchResults: LocationResults, batch: Uint32Array, layerCount: number, out: LocationResults): void {
  if ("steps" in batchResults && "steps" in out) {
    scatterRows(batchResults.steps, batch, layerCount, out.steps);
  } else if ("values" in batchResults && "values" in out) {
    scatterRows(batchResults.values, batch, layerCount, out.values);
    scatterRows(batchResults.reasons, batch, layerCount, out.reasons);
  }
}

function scatterRows(from: ResultArray, locations: Uint32Array, width: number, to: ResultArray): void {
  for (const [i, location] of locations.entries()) {
    for (let layer = 0; layer < width; layer++) to[location * width + layer] = from[i * width + layer] ?? NaN;
  }
}
