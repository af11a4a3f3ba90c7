import { type Field, LANES } from "./field.ts";

/** Values of many places, and why there is none where there is none. */
export interface PlaceValues {
  /** f64[place][layer], NaN where there is no value. */
  readonly values: Float64Array;
  /** u8[place][layer]: 0, or REASON_OUTSIDE, REASON_NODATA. */
  readonly reasons: Uint8Array;
}

/** What a kernel needs to turn steps into values: the lane, steps per unit and offset of each layer. */
export interface LayerQuanta {
  readonly lanes: Int32Array;
  /** f64[2][layer, padded to a multiple of 8]: steps per unit (padded with 1), offset (with 0). */
  readonly quanta: Float64Array;
}

/**
 * Reads the cells of a field that contain the places, as values.
 *
 * @param out written from `out.first` on; places whose tile is not in memory are left as they are
 * @returns for each place -1, or the index of the tile that is missing; undefined when none is
 */
export function readPlaces(
  field: Field,
  places: { readonly latitudes: Float64Array; readonly longitudes: Float64Array },
  { lanes, quanta }: LayerQuanta,
  out: PlaceValues & { readonly first: number },
): Int32Array | undefined {
  const { kernel } = field.grid;
  const count = places.latitudes.length;
  const laneCount = field.vectorCount * LANES;
  return kernel.withScratch((scratch) => {
    const steps = scratch.reserve(count * laneCount * 2);
    const missing = scratch.reserve(count * 4);
    const missingCount = kernel.exports.fieldCells(
      field.pointer,
      scratch.copyIn(places.latitudes).pointer,
      scratch.copyIn(places.longitudes).pointer,
      count,
      steps.pointer,
      missing.pointer,
      scratch.reserve(count * 4).pointer,
    );
    const values = scratch.reserve(count * lanes.length * 8);
    const reasons = scratch.reserve(count * lanes.length);
    kernel.exports.stepsToValues(
      steps.pointer,
      laneCount,
      count,
      scratch.copyIn(lanes).pointer,
      scratch.copyIn(quanta).pointer,
      lanes.length,
      values.pointer,
      reasons.pointer,
    );
    out.values.set(kernel.f64(values), out.first * lanes.length);
    out.reasons.set(kernel.bytes(reasons), out.first * lanes.length);
    return missingCount === 0 ? undefined : kernel.i32(missing).slice();
  });
}
