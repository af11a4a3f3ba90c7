import type { CircleCells } from "./geodesy.ts";
import type { Kernel, Region } from "./instance.ts";
import { SEEN_NODATA, SEEN_OUTSIDE } from "./kernel.generated.ts";

/** Statistics of one layer over a circle. */
export interface CircleSummary {
  /** Largest valid value in steps; undefined if no cell is valid. */
  readonly maxSteps: number | undefined;
  /** Area-weighted mean of the valid cells, in steps; undefined if there are none. */
  readonly meanSteps: number | undefined;
  readonly validCellCount: number;
  /** Area of the valid cells / area of all cells of the circle. */
  readonly validShare: number;
  /** Whether the circle contains a nodata cell. */
  readonly hasNodata: boolean;
  /** Whether the circle contains a cell outside the coverage of the atlas's sources. */
  readonly hasOutsideCoverage: boolean;
}

/** The 64 x 64 cells of one tile in the kernel's memory, u16[row][column][layer]. */
export interface TileCells {
  readonly tileRow: number;
  readonly tileColumn: number;
  readonly cells: Region;
}

/**
 * Accumulates the cells of one circle, tile by tile, for several layers. Tiles may be added in any order and in any
 * number of calls: all sums are integers until `summarize`.
 */
export class CircleAccumulator {
  readonly #layerCount: number;
  readonly #firstRow: number;
  readonly #rowCount: number;
  readonly #spans: Int32Array;
  readonly #sums: Float64Array; // u64 bit patterns; only the kernel interprets them
  readonly #counts: Int32Array;
  readonly #maxima: Int32Array;
  readonly #seen: Int32Array;

  constructor(circle: CircleCells, layerCount: number) {
    this.#spans = circle.spans;
    this.#layerCount = layerCount;
    this.#firstRow = circle.spans[0] ?? 0;
    this.#rowCount = circle.spanCount === 0 ? 0 : (circle.spans.at(-3) ?? 0) - this.#firstRow + 1;
    this.#sums = new Float64Array(this.#rowCount * layerCount);
    this.#counts = new Int32Array(this.#rowCount * layerCount);
    this.#maxima = new Int32Array(layerCount).fill(-1);
    this.#seen = new Int32Array(layerCount);
  }

  /** Rows from the circle's first to its last span. */
  get rows(): { readonly firstRow: number; readonly rowCount: number } {
    return { firstRow: this.#firstRow, rowCount: this.#rowCount };
  }

  /** Adds those cells of the tiles that are in the circle. Add each tile once. */
  add(kernel: Kernel, tiles: readonly TileCells[]): void {
    kernel.withScratch((scratch) => {
      const spans = scratch.copyIn(this.#spans);
      const sums = scratch.copyIn(this.#sums);
      const counts = scratch.copyIn(this.#counts);
      const maxima = scratch.copyIn(this.#maxima);
      const seen = scratch.copyIn(this.#seen);
      for (const { tileRow, tileColumn, cells } of tiles) {
        kernel.check(
          kernel.exports.addTile(
            cells.pointer,
            this.#layerCount,
            tileRow,
            tileColumn,
            spans.pointer,
            this.#spans.length / 3,
            this.#firstRow,
            this.#rowCount,
            sums.pointer,
            counts.pointer,
            maxima.pointer,
            seen.pointer,
          ),
          "addTile",
        );
      }
      this.#sums.set(kernel.f64(sums));
      this.#counts.set(kernel.i32(counts));
      this.#maxima.set(kernel.i32(maxima));
      this.#seen.set(kernel.i32(seen));
    });
  }

  /**
   * Returns one summary per layer. `weights` contains the relative cell area of each row in `rows`
   * (geodesy.rowWeights).
   */
  summarize(kernel: Kernel, weights: Float64Array): CircleSummary[] {
    if (weights.length !== this.#rowCount) {
      throw new RangeError(`weights must have ${this.#rowCount} elements, one per row (got ${weights.length})`);
    }
    const cellCountByRow = new Int32Array(this.#rowCount);
    for (let i = 0; i < this.#spans.length; i += 3) {
      const row = (this.#spans[i] ?? 0) - this.#firstRow;
      cellCountByRow[row] = (cellCountByRow[row] ?? 0) + (this.#spans[i + 2] ?? 0) - (this.#spans[i + 1] ?? 0) + 1;
    }
    // Same order of operations as the kernel, so that a circle without missing cells has a share of exactly 1.
    const circleArea = cellCountByRow.reduce((area, cellCount, row) => area + (weights[row] ?? 0) * cellCount, 0);
    const results = kernel.withScratch((scratch) => {
      const out = scratch.reserve(this.#layerCount * 16);
      kernel.check(
        kernel.exports.meanOfRows(
          scratch.copyIn(this.#sums).pointer,
          scratch.copyIn(this.#counts).pointer,
          scratch.copyIn(weights).pointer,
          this.#rowCount,
          this.#layerCount,
          out.pointer,
        ),
        "meanOfRows",
      );
      return kernel.f64(out).slice();
    });
    return Array.from({ length: this.#layerCount }, (_, layer) => {
      let validCellCount = 0;
      for (let index = layer; index < this.#counts.length; index += this.#layerCount)
        validCellCount += this.#counts[index] ?? 0;
      const seen = this.#seen[layer] ?? 0;
      return {
        maxSteps: validCellCount === 0 ? undefined : this.#maxima[layer],
        meanSteps: validCellCount === 0 ? undefined : results[layer * 2],
        validCellCount,
        validShare: circleArea === 0 ? 0 : (results[layer * 2 + 1] ?? 0) / circleArea,
        hasNodata: (seen & SEEN_NODATA) !== 0,
        hasOutsideCoverage: (seen & SEEN_OUTSIDE) !== 0,
      };
    });
  }
}
