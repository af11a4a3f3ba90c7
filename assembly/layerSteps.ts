import { STEPS_MAX, STEPS_NODATA } from "./cells";
import { STATUS_OK, STATUS_OUT_OF_RANGE } from "./status";

/** A layer whose values are given. */
export const LAYER_VALUES: i32 = 0;
/** A layer of min(1, value / reference). */
export const LAYER_SHARE: i32 = 1;
/** A layer of the product of two layers before it, computed from their steps. */
export const LAYER_PRODUCT: i32 = 2;
/** Bytes of the description of a layer. */
export const LAYER_BYTES: i32 = 48;
/** Number of counts that layerSteps adds to: see there. */
export const CELL_COUNTS: i32 = 6;

/**
 * Encodes the metrics of cells as steps, interleaved by cell, and counts the cells.
 *
 * In       layers   LAYER_BYTES for each layer: kind i32, pointer to f64[cellCount] (kinds values and share), stepsPerUnit
 *                   f64, offset f64, reference f64 (kind share), and for the kind product: first and second factor i32
 *                   (indices of layers, with offset 0), divisor of the product of their steps f64. NaN = missing
 *          counted  index of the layer whose cells are counted
 *          flags    u8[cellCount]
 * Out      steps    u16[cellCount][layerCount]
 *          bad      i32[2]: layer and cell of the first value outside the range of its layer
 * In, out  worst    f64[layerCount]: largest rounding error so far, in units of the value
 *          counts   i32[6]: cells without data, cells that are 0, and cells with bits 0 to 3 of their flags
 * Scratch  values   f64[layerCount]
 * Formula  steps = round((value - offset) * stepsPerUnit), half up; a product is
 *          round(first steps * second steps * stepsPerUnit / divisor)
 */
export function layerSteps(
  layers: usize,
  layerCount: i32,
  cellCount: i32,
  counted: i32,
  flags: usize,
  steps: usize,
  worst: usize,
  counts: usize,
  values: usize,
  bad: usize,
): i32 {
  let nodataCount = 0,
    zeroCount = 0;
  let target = steps;
  for (let cell = 0; cell < cellCount; cell++, target += (<usize>layerCount) << 1) {
    if (!areZero(layers, layerCount, cell)) {
      for (let layer = 0; layer < layerCount; layer++) {
        const entry = layers + <usize>layer * LAYER_BYTES;
        const stepsPerUnit = load<f64>(entry, 8);
        const kind = load<i32>(entry);
        let nearest: f64, error: f64;
        if (kind == LAYER_PRODUCT) {
          const first = <usize>load<i32>(entry, 32),
            second = <usize>load<i32>(entry, 36);
          const firstSteps = <i32>load<u16>(target + (first << 1)),
            secondSteps = <i32>load<u16>(target + (second << 1));
          if (firstSteps == STEPS_NODATA || secondSteps == STEPS_NODATA) {
            store<u16>(target + ((<usize>layer) << 1), <u16>STEPS_NODATA);
            continue;
          }
          nearest = Math.round((<f64>firstSteps * <f64>secondSteps * stepsPerUnit) / load<f64>(entry, 40));
          error = Math.abs(
            nearest / stepsPerUnit - load<f64>(values + (first << 3)) * load<f64>(values + (second << 3)),
          );
        } else {
          let value = load<f64>(<usize>load<u32>(entry, 4) + ((<usize>cell) << 3));
          if (kind == LAYER_SHARE) value = Math.min(1, value / load<f64>(entry, 24));
          if (value != value) {
            store<u16>(target + ((<usize>layer) << 1), <u16>STEPS_NODATA);
            continue;
          }
          store<f64>(values + ((<usize>layer) << 3), value);
          const offset = load<f64>(entry, 16);
          nearest = Math.floor((value - offset) * stepsPerUnit + 0.5);
          error = Math.abs(nearest / stepsPerUnit + offset - value);
        }
        if (!(nearest >= 0 && nearest <= <f64>STEPS_MAX)) {
          store<i32>(bad, layer);
          store<i32>(bad, cell, 4);
          return STATUS_OUT_OF_RANGE;
        }
        store<u16>(target + ((<usize>layer) << 1), <u16>nearest);
        const largest = worst + ((<usize>layer) << 3);
        if (error > load<f64>(largest)) store<f64>(largest, error);
      }
    } else {
      for (let layer = 0; layer < layerCount; layer++) store<u16>(target + ((<usize>layer) << 1), 0);
    }
    const step = <i32>load<u16>(target + ((<usize>counted) << 1));
    if (step == STEPS_NODATA) nodataCount++;
    else if (step == 0) zeroCount++;
    const bits = load<u8>(flags + <usize>cell);
    if (bits != 0) {
      for (let bit: usize = 0; bit < 4; bit++) {
        const count = counts + ((bit + 2) << 2);
        store<i32>(count, load<i32>(count) + (((<i32>bits) >> (<i32>bit)) & 1));
      }
    }
  }
  store<i32>(counts, load<i32>(counts) + nodataCount);
  store<i32>(counts, load<i32>(counts, 4) + zeroCount, 4);
  return STATUS_OK;
}

/** Returns whether all layers of a cell have the value 0 and the offset 0, so that their steps are 0 and exact. */
function areZero(layers: usize, layerCount: i32, cell: i32): bool {
  let bits: u64 = 0;
  for (let layer = 0; layer < layerCount; layer++) {
    const entry = layers + <usize>layer * LAYER_BYTES;
    if (load<i32>(entry) == LAYER_PRODUCT) continue;
    bits |= load<u64>(<usize>load<u32>(entry, 4) + ((<usize>cell) << 3)) | load<u64>(entry, 16);
  }
  return bits == 0;
}
