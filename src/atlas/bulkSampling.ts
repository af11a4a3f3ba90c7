import type { Grid } from "../kernel/grid.ts";
import {
  layerEncodings,
  type LocationArrays,
  type LocationResults,
  newResults,
  readLocations,
  type ResultArray,
  writeSteps,
} from "../kernel/sampling.ts";
import { locateCells } from "../kernel/points.ts";
import { STEPS_OUTSIDE } from "../kernel/kernel.generated.ts";
import { TileCache } from "./cache.ts";
import type { CellSource } from "./cellSource.ts";
import type { FieldLayer, CachedField } from "./cachedField.ts";

/** Places that one call of a kernel takes: their steps and values stay in the processor's caches. */
const PLACES_PER_CALL = 2048;
/** How long others wait for the thread. */
const TURN_MS = 5;
/** Tiles that are fetched together: enough to keep reads busy. */
const TILES_PER_HOLD = 64;

/** Layers of a field, in the order in which they are asked for. */
interface AskedLayers {
  readonly cachedField: CachedField;
  readonly lanes: readonly number[];
}

/**
 * The cells that contain many places, from their tiles: first those that are in memory, in the order of the places, then
 * the others tile by tile.
 */
export async function sampleFromTiles(
  { cachedField, lanes, pinnedBytesMax }: AskedLayers & { readonly pinnedBytesMax: number },
  places: LocationArrays,
  out: LocationResults,
  onPlaces: (count: number) => void,
): Promise<void> {
  const { field, layers } = cachedField;
  const quanta = layerEncodings(lanes.map((lane) => ({ lane, ...unitOf(layers[lane] as FieldLayer) })));
  const count = places.latitudes.length;
  /** tile * count + place: in order, neighbours follow each other. Exact: fewer than 2^22 tiles and 2^31 places. */
  const absent: number[] = [];
  const timeSlice = new TimeSlice();
  for (let first = 0; first < count; first += PLACES_PER_CALL) {
    const chunk = slice(places, first, first + PLACES_PER_CALL);
    const missing = readLocations(field, chunk, quanta, { out, first });
    for (let i = 0; i < missing.length; i += 2) absent.push((missing[i + 1] ?? 0) * count + first + (missing[i] ?? 0));
    onPlaces(chunk.latitudes.length - missing.length / 2);
    await timeSlice.yield();
  }
  if (absent.length === 0) return;

  const keys = Float64Array.from(absent).toSorted();
  const perHold = Math.max(1, Math.floor(pinnedBytesMax / TileCache.costBytes(cachedField.bytesOf("cells"))));
  for (let start = 0; start < keys.length;) {
    const tiles = new Set<number>();
    let end = start;
    for (; end < keys.length && end - start < PLACES_PER_CALL; end++) {
      const tile = Math.floor((keys[end] ?? 0) / count);
      if (!tiles.has(tile) && tiles.size === Math.min(perHold, TILES_PER_HOLD)) break;
      tiles.add(tile);
    }
    const batch = Uint32Array.from(keys.subarray(start, end), (key) => key % count);
    const chunk = {
      latitudes: Float64Array.from(batch, (place) => places.latitudes[place] ?? NaN),
      longitudes: Float64Array.from(batch, (place) => places.longitudes[place] ?? NaN),
    };
    const found = newResults(out, batch.length * lanes.length);
    await cachedField.withTiles([{ form: "cells", indices: [...tiles] }], () => {
      readLocations(field, chunk, quanta, { out: found, first: 0 });
    });
    scatter(found, batch, lanes.length, out);
    onPlaces(batch.length);
    start = end;
  }
}

/** The same of sources that make cells without their tiles. */
export async function computeLocations(
  { grid, cachedField, lanes }: AskedLayers & { readonly grid: Grid },
  places: LocationArrays,
  out: LocationResults,
  onPlaces: (count: number) => void,
): Promise<void> {
  const { kernel } = cachedField.field.grid;
  const asked = lanes.map((lane) => cachedField.layers[lane] as FieldLayer);
  const quanta = layerEncodings(asked.map((layer, i) => ({ lane: i, ...unitOf(layer) })));
  const timeSlice = new TimeSlice();
  for (let first = 0; first < places.latitudes.length; first += PLACES_PER_CALL) {
    const chunk = slice(places, first, first + PLACES_PER_CALL);
    const { rows, columns } = locateCells(kernel, grid, chunk);
    const inside: number[] = [];
    rows.forEach((row, i) => {
      if (row >= 0) inside.push(i);
    });
    const cells = inside.map((i) => ({ row: rows[i] ?? 0, column: columns[i] ?? 0 }));
    const steps = new Uint16Array(rows.length * asked.length).fill(STEPS_OUTSIDE);
    const made = new Map<CellSource, Map<number, Uint16Array>>();
    for (const [i, { source, group, layer }] of asked.entries()) {
      const groups = made.get(source) ?? new Map<number, Uint16Array>();
      made.set(source, groups);
      const ofGroup = groups.get(group) ?? source.readCells?.(group, cells) ?? new Uint16Array();
      groups.set(group, ofGroup);
      const groupLayers = source.groups[group]?.layers.length ?? 1;
      for (const [position, place] of inside.entries()) {
        steps[place * asked.length + i] = ofGroup[position * groupLayers + layer] ?? STEPS_OUTSIDE;
      }
    }
    writeSteps(kernel, steps, quanta, { out, first });
    onPlaces(rows.length);
    await timeSlice.yield();
  }
}

/** Long work in timeSlice, between which whatever else waits for the thread goes first. */
export class TimeSlice {
  #end = performance.now() + TURN_MS;
  #pause: Promise<void> | undefined;

  /** Whether it is time to give way: for work so small that to wait for nothing would cost more. */
  get isExpired(): boolean {
    return performance.now() >= this.#end;
  }

  /** Whether another that works side by side gives way now: as long as one goes on, nobody else has the thread. */
  get isPaused(): boolean {
    return this.#pause !== undefined;
  }

  async yield(): Promise<void> {
    if (this.isExpired) await (this.#pause ??= this.#letOthers()); // all that work side by side wait for one message
  }

  async #letOthers(): Promise<void> {
    // A timer would sleep for a millisecond, or four in a browser; a message comes as soon as the others are through.
    const { port1, port2 } = new MessageChannel();
    await new Promise((resolve) => {
      port1.addEventListener("message", resolve, { once: true });
      port1.start();
      port2.postMessage(undefined);
    });
    port1.close();
    this.#end = performance.now() + TURN_MS;
    this.#pause = undefined;
  }
}

function unitOf({ entry }: FieldLayer): { readonly stepsPerUnit: number; readonly offset: number } {
  return { stepsPerUnit: entry.steps_per_unit, offset: entry.offset };
}

function slice({ latitudes, longitudes }: LocationArrays, from: number, to: number): LocationArrays {
  return { latitudes: latitudes.subarray(from, to), longitudes: longitudes.subarray(from, to) };
}

/** Puts the answers of a batch where its places stand. */
function scatter(found: LocationResults, batch: Uint32Array, layerCount: number, out: LocationResults): void {
  if ("steps" in found && "steps" in out) {
    scatterRows(found.steps, batch, layerCount, out.steps);
  } else if ("values" in found && "values" in out) {
    scatterRows(found.values, batch, layerCount, out.values);
    scatterRows(found.reasons, batch, layerCount, out.reasons);
  }
}

function scatterRows(from: ResultArray, places: Uint32Array, width: number, to: ResultArray): void {
  for (const [i, place] of places.entries()) {
    for (let layer = 0; layer < width; layer++) to[place * width + layer] = from[i * width + layer] ?? NaN;
  }
}
