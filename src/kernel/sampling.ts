import { type Field, LANES } from "./field.ts";
import type { Kernel, Region, Scratch } from "./instance.ts";
import { STEPS_OUTSIDE } from "./kernel.generated.ts";

/** Many locations, as parallel arrays of degrees. */
export interface LocationArrays {
  readonly latitudes: Float64Array;
  readonly longitudes: Float64Array;
}

/** Values at many locations, with a reason for each missing one. */
export interface LocationValues {
  /** f64[location][layer], NaN where missing. */
  readonly values: Float64Array;
  /** u8[location][layer]: 0 for a value, else REASON_OUTSIDE or REASON_NODATA. */
  readonly reasons: Uint8Array;
}

/** Stored steps at many locations. */
interface LocationSteps {
  /** u16[location][layer]: steps, or STEPS_OUTSIDE, STEPS_NODATA. */
  readonly steps: Uint16Array;
}

/** Results at many locations, in one of two forms. */
export type LocationResults = LocationValues | LocationSteps;

/** An array of results, of either form. */
export type ResultArray = Float64Array | Uint8Array | Uint16Array;

/** Allocates results of the same form as `like`; `length` is the number of locations x layers. */
export function newResults<Results extends LocationResults>(like: Results, length: number): Results;
export function newResults(like: LocationResults, length: number): LocationResults {
  if ("steps" in like) return { steps: new Uint16Array(length) };
  return { values: new Float64Array(length), reasons: new Uint8Array(length) };
}

/** Lane, steps per unit and offset of each requested layer, in the kernel's memory layout. */
export interface LayerEncodings {
  readonly lanes: Int32Array;
  /**
   * f64[3][layer, padded to a multiple of 8]: steps per unit (padded with 1), offset (with 0), the value of 0 steps.
   */
  readonly encodings: Float64Array;
}

const ZERO_STEPS = 0;

/** Builds the encodings of layers, in the order in which results are returned. */
export function layerEncodings(
  layers: readonly { readonly lane: number; readonly stepsPerUnit: number; readonly offset: number }[],
): LayerEncodings {
  const padded = Math.ceil(layers.length / LANES) * LANES;
  const encodings = new Float64Array(3 * padded).fill(1, 0, padded);
  for (const [i, { stepsPerUnit, offset }] of layers.entries()) {
    encodings[i] = stepsPerUnit;
    encodings[padded + i] = offset;
    encodings[2 * padded + i] = ZERO_STEPS / stepsPerUnit + offset;
  }
  return { lanes: Int32Array.from(layers, ({ lane }) => lane), encodings };
}

/**
 * Reads those cells of a field that contain the locations.
 *
 * @param out written from location `first` on; results of locations with a missing tile are meaningless
 * @returns i32[][2]: index of each location with a tile that is not in memory, index of the tile
 */
export function readLocations(
  field: Field,
  { latitudes, longitudes }: LocationArrays,
  layers: LayerEncodings,
  { out, first }: { readonly out: LocationResults; readonly first: number },
): Int32Array {
  const { kernel } = field.grid;
  const { exports } = kernel;
  const count = latitudes.length;
  const layerCount = layers.lanes.length;
  // If the layers are in the order of their lanes, they are the first lanes: no other lane is read, and no layer is
  // reordered.
  const isInOrder = layers.lanes.every((lane, layer) => lane === layer);
  const vectorCount = isInOrder ? Math.ceil(layerCount / LANES) : field.vectorCount;
  const laneCount = vectorCount * LANES;
  return kernel.withScratch((scratch) => {
    const addresses = scratch.reserve(count * 4);
    const missing = scratch.reserve(count * 8);
    const outside = scratch.reserve(laneCount * 2);
    kernel.u16(outside).fill(STEPS_OUTSIDE);
    const missingCount = exports.findCellAddresses(
      field.pointer,
      scratch.copyIn(latitudes).pointer,
      scratch.copyIn(longitudes).pointer,
      count,
      outside.pointer,
      addresses.pointer,
      missing.pointer,
      scratch.reserve(count * 4).pointer,
      scratch.reserve(count * 4).pointer,
    );
    const gather = (strideBytes: number): Region => {
      const cells = scratch.reserve(count * strideBytes);
      exports.gatherCells(addresses.pointer, count, vectorCount, cells.pointer, strideBytes);
      return cells;
    };
    if ("values" in out) {
      writeLocationValues(kernel, scratch, { cells: gather(laneCount * 2), laneCount, count }, layers, { out, first });
    } else if (isInOrder) {
      out.steps.set(kernel.u16(gather(layerCount * 2)), first * layerCount);
    } else {
      const cells = gather(laneCount * 2);
      const lanes = scratch.copyIn(layers.lanes);
      const steps = scratch.reserve(count * layerCount * 2);
      exports.selectLanes(cells.pointer, laneCount, count, lanes.pointer, layerCount, steps.pointer);
      out.steps.set(kernel.u16(steps), first * layerCount);
    }
    return kernel.i32({ pointer: missing.pointer, sizeBytes: missingCount * 8 }).slice();
  });
}

/**
 * Writes steps that were generated rather than read from a field.
 *
 * @param steps u16[location][lane]
 * @param layers in the order of their lanes
 * @param out written from location `first` on
 */
export function writeSteps(
  kernel: Kernel,
  steps: Uint16Array,
  layers: LayerEncodings,
  { out, first }: { readonly out: LocationResults; readonly first: number },
): void {
  const laneCount = layers.lanes.length;
  if ("steps" in out) {
    out.steps.set(steps, first * laneCount);
    return;
  }
  kernel.withScratch((scratch) => {
    const cells = { cells: scratch.copyIn(steps), laneCount, count: steps.length / laneCount };
    writeLocationValues(kernel, scratch, cells, layers, { out, first });
  });
}

/** Decodes cells, u16[count][laneCount], into `out`. */
function writeLocationValues(
  kernel: Kernel,
  scratch: Scratch,
  { cells, laneCount, count }: { readonly cells: Region; readonly laneCount: number; readonly count: number },
  { lanes, encodings }: LayerEncodings,
  { out, first }: { readonly out: LocationValues; readonly first: number },
): void {
  const values = scratch.reserve(count * lanes.length * 8);
  const reasons = scratch.reserve(count * lanes.length);
  kernel.exports.stepsToValues(
    cells.pointer,
    laneCount,
    count,
    scratch.copyIn(lanes).pointer,
    scratch.copyIn(encodings).pointer,
    lanes.length,
    values.pointer,
    reasons.pointer,
  );
  out.values.set(kernel.f64(values), first * lanes.length);
  out.reasons.set(kernel.bytes(reasons), first * lanes.length);
}
