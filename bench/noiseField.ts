/** Smooth noise, from which synthetic maps are made. */
import type { Grid } from "../src/kernel/grid.ts";
import type { SeededRandom } from "../test/seededRandom.ts";

/** Smooth random heights on a lattice: value noise (Ebert et al., Texturing and Modeling, chapter 2). */
export class NoiseField {
  readonly #heights: Float32Array;
  readonly #pitch: number;
  readonly #width: number;

  constructor(random: SeededRandom, grid: Grid, pitchCells: number) {
    this.#pitch = pitchCells;
    this.#width = Math.ceil(grid.columnCount / pitchCells) + 2;
    const rows = Math.ceil(grid.rowCount / pitchCells) + 2;
    this.#heights = Float32Array.from({ length: this.#width * rows }, () => random.next());
  }

  /** Adds the heights along one row of cells, times `weight`, to `out`. */
  addRow(row: number, weight: number, out: Float32Array): void {
    const pitch = this.#pitch;
    const v = smooth((row % pitch) / pitch);
    const north = Math.floor(row / pitch) * this.#width;
    const south = north + this.#width;
    for (let column = 0, lattice = 0; column < out.length; column += pitch, lattice++) {
      const west = mix(this.#heights[north + lattice] ?? 0, this.#heights[south + lattice] ?? 0, v);
      const east = mix(this.#heights[north + lattice + 1] ?? 0, this.#heights[south + lattice + 1] ?? 0, v);
      const end = Math.min(out.length, column + pitch);
      for (let offset = column; offset < end; offset++) {
        out[offset] = (out[offset] ?? 0) + weight * mix(west, east, smooth((offset - column) / pitch));
      }
    }
  }
}

/** Noise fields summed from coarse to fine. */
export type Octaves = readonly { readonly field: NoiseField; readonly weight: number }[];

function smooth(t: number): number {
  return t * t * (3 - 2 * t);
}

function mix(a: number, b: number, t: number): number {
  return a + (b - a) * t;
}

/** Returns the sum of the fields along one row. */
export function addOctaves(fields: Octaves, row: number, columnCount: number): Float32Array {
  const out = new Float32Array(columnCount);
  for (const { field, weight } of fields) field.addRow(row, weight, out);
  return out;
}

/** Returns a sorted sample of the summed heights, for quantiles. */
export function sortedSample(fields: Octaves, { rowCount, columnCount }: Grid): Float32Array {
  const step = Math.max(1, Math.floor(rowCount / 300));
  const rows: number[] = [];
  for (let row = 0; row < rowCount; row += step)
    for (const height of addOctaves(fields, row, columnCount)) rows.push(height);
  return Float32Array.from(rows).toSorted();
}

export function quantile(sorted: Float32Array, share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
}
