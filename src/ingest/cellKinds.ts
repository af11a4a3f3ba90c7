/**
 * Finds the cells of return-period maps whose curve must be computed. Most cells of most maps are dry or missing on all maps.
 */
import type { RasterValues } from "./raster.ts";

/** The cells of a batch, by what their metrics are. Its arrays are valid until the next call. */
export interface CellKinds {
  /** Cells whose values are 0 on every map: both metrics are 0. */
  readonly zero: Int32Array;
  /** Cells that are missing on every map. */
  readonly missing: Int32Array;
  /** All other cells. */
  readonly active: Int32Array;
}

/** Sorts the cells of batches; it reuses its memory. */
export class CellSorter {
  readonly #nonzero: Int32Array;
  readonly #present: Int32Array;
  readonly #zero: Int32Array;
  readonly #missing: Int32Array;
  readonly #active: Int32Array;

  constructor(cellCountMax: number) {
    this.#nonzero = new Int32Array(cellCountMax);
    this.#present = new Int32Array(cellCountMax);
    this.#zero = new Int32Array(cellCountMax);
    this.#missing = new Int32Array(cellCountMax);
    this.#active = new Int32Array(cellCountMax);
  }

  /** @param maps of equal length, at most `cellCountMax` */
  kindsOf(maps: readonly RasterValues[]): CellKinds {
    const cellCount = maps[0]?.length ?? 0;
    const [nonzero, present] = [this.#nonzero, this.#present];
    nonzero.fill(0, 0, cellCount);
    present.fill(0, 0, cellCount);
    for (const values of maps) {
      if (values instanceof Float32Array) markFloats(values, nonzero, present);
      else markDoubles(values, nonzero, present);
    }
    const [zero, missing, active] = [this.#zero, this.#missing, this.#active];
    let [zeroCount, missingCount, activeCount] = [0, 0, 0];
    for (let cell = 0; cell < cellCount; cell++) {
      if (nonzero[cell] === 0) zero[zeroCount++] = cell;
      else if (present[cell] === 0) missing[missingCount++] = cell;
      else active[activeCount++] = cell;
    }
    return {
      zero: zero.subarray(0, zeroCount),
      missing: missing.subarray(0, missingCount),
      active: active.subarray(0, activeCount),
    };
  }
}

/** Marks cells that are not 0, and cells that are not missing, by the bits of their values. */
function markFloats(values: Float32Array, nonzero: Int32Array, present: Int32Array): void {
  const INFINITY_BITS = 0x7f80_0000;
  const bits = new Int32Array(values.buffer, values.byteOffset, values.length);
  for (let cell = 0; cell < bits.length; cell++) {
    const word = bits[cell] as number;
    nonzero[cell] = (nonzero[cell] as number) | word;
    present[cell] = (present[cell] as number) | ((word & 0x7fff_ffff) <= INFINITY_BITS ? 1 : 0);
  }
}

function markDoubles(values: Float64Array, nonzero: Int32Array, present: Int32Array): void {
  for (let cell = 0; cell < values.length; cell++) {
    const value = values[cell] as number;
    if (value !== 0) nonzero[cell] = 1;
    if (!Number.isNaN(value)) present[cell] = 1;
  }
}
