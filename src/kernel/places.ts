import { type Field, LANES } from "./field.ts";
import type { Kernel, Region, Scratch } from "./instance.ts";
import { STEPS_OUTSIDE } from "./kernel.generated.ts";

/** Places, degrees. Two arrays of one length. */
export interface Places {
  readonly latitudes: Float64Array;
  readonly longitudes: Float64Array;
}

/** Values of many places, and why there is none where there is none. */
export interface PlaceValues {
  /** f64[place][layer], NaN where there is no value. */
  readonly values: Float64Array;
  /** u8[place][layer]: 0, or REASON_OUTSIDE, REASON_NODATA. */
  readonly reasons: Uint8Array;
}

/** What is stored for many places. */
export interface PlaceSteps {
  /** u16[place][layer]: steps, or STEPS_OUTSIDE, STEPS_NODATA. */
  readonly steps: Uint16Array;
}

/** Where the answers of many places go. */
export type PlaceAnswers = PlaceValues | PlaceSteps;

/** An array of answers, of whatever kind. */
export type AnswerArray = Float64Array | Uint8Array | Uint16Array;

/** Room for answers of the same kind. */
export function newAnswers<Answers extends PlaceAnswers>(like: Answers, length: number): Answers;
export function newAnswers(like: PlaceAnswers, length: number): PlaceAnswers {
  if ("steps" in like) return { steps: new Uint16Array(length) };
  return { values: new Float64Array(length), reasons: new Uint8Array(length) };
}

/** What a kernel needs to hand out layers: the lane, steps per unit and offset of each. */
export interface LayerQuanta {
  readonly lanes: Int32Array;
  /** f64[3][layer, padded to a multiple of 8]: steps per unit (padded with 1), offset (with 0), the value of 0 steps. */
  readonly quanta: Float64Array;
}

/** What most cells hold. */
const ZERO_STEPS = 0;

/** @param layers in the order in which they are handed out, each with its lane */
export function quantaOf(
  layers: readonly { readonly lane: number; readonly stepsPerUnit: number; readonly offset: number }[],
): LayerQuanta {
  const padded = Math.ceil(layers.length / LANES) * LANES;
  const quanta = new Float64Array(3 * padded).fill(1, 0, padded);
  for (const [i, { stepsPerUnit, offset }] of layers.entries()) {
    quanta[i] = stepsPerUnit;
    quanta[padded + i] = offset;
    quanta[2 * padded + i] = ZERO_STEPS / stepsPerUnit + offset;
  }
  return { lanes: Int32Array.from(layers, ({ lane }) => lane), quanta };
}

/**
 * Reads the cells of a field that contain the places.
 *
 * @param out written from place `first` on; what is written of places whose tile is not in memory means nothing
 * @returns number and tile of each place whose tile is not in memory, one pair after the other
 */
export function readPlaces(
  field: Field,
  { latitudes, longitudes }: Places,
  layers: LayerQuanta,
  { out, first }: { readonly out: PlaceAnswers; readonly first: number },
): Int32Array {
  const { kernel } = field.grid;
  const { exports } = kernel;
  const count = latitudes.length;
  const layerCount = layers.lanes.length;
  // Layers in the order of their lanes are the first lanes: no others need be read, and none be sorted.
  const isInOrder = layers.lanes.every((lane, layer) => lane === layer);
  const vectorCount = isInOrder ? Math.ceil(layerCount / LANES) : field.vectorCount;
  const laneCount = vectorCount * LANES;
  return kernel.withScratch((scratch) => {
    const addresses = scratch.reserve(count * 4);
    const missing = scratch.reserve(count * 8);
    const outside = scratch.reserve(laneCount * 2);
    kernel.u16(outside).fill(STEPS_OUTSIDE);
    const missingCount = exports.findCells(
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
    const gather = (step: number): Region => {
      const cells = scratch.reserve(count * step);
      exports.gatherCells(addresses.pointer, count, vectorCount, cells.pointer, step);
      return cells;
    };
    if ("values" in out) {
      writeValues(kernel, scratch, { cells: gather(laneCount * 2), laneCount, count }, layers, { out, first });
    } else if (isInOrder) {
      out.steps.set(kernel.u16(gather(layerCount * 2)), first * layerCount);
    } else {
      const cells = gather(laneCount * 2);
      const lanes = scratch.copyIn(layers.lanes);
      const steps = scratch.reserve(count * layerCount * 2);
      exports.pickLanes(cells.pointer, laneCount, count, lanes.pointer, layerCount, steps.pointer);
      out.steps.set(kernel.u16(steps), first * layerCount);
    }
    return kernel.i32({ pointer: missing.pointer, sizeBytes: missingCount * 8 }).slice();
  });
}

/**
 * Hands out steps that were made, not read.
 *
 * @param steps u16[place][lane]
 * @param layers in the order of their lanes
 * @param out written from place `first` on
 */
export function writeSteps(
  kernel: Kernel,
  steps: Uint16Array,
  layers: LayerQuanta,
  { out, first }: { readonly out: PlaceAnswers; readonly first: number },
): void {
  const laneCount = layers.lanes.length;
  if ("steps" in out) {
    out.steps.set(steps, first * laneCount);
    return;
  }
  kernel.withScratch((scratch) => {
    const cells = { cells: scratch.copyIn(steps), laneCount, count: steps.length / laneCount };
    writeValues(kernel, scratch, cells, layers, { out, first });
  });
}

/** @param cells u16[count][laneCount] */
function writeValues(
  kernel: Kernel,
  scratch: Scratch,
  { cells, laneCount, count }: { readonly cells: Region; readonly laneCount: number; readonly count: number },
  { lanes, quanta }: LayerQuanta,
  { out, first }: { readonly out: PlaceValues; readonly first: number },
): void {
  const values = scratch.reserve(count * lanes.length * 8);
  const reasons = scratch.reserve(count * lanes.length);
  kernel.exports.stepsToValues(
    cells.pointer,
    laneCount,
    count,
    scratch.copyIn(lanes).pointer,
    scratch.copyIn(quanta).pointer,
    lanes.length,
    values.pointer,
    reasons.pointer,
  );
  out.values.set(kernel.f64(values), first * lanes.length);
  out.reasons.set(kernel.bytes(reasons), first * lanes.length);
}
