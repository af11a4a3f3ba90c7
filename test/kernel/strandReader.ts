import { Field, FieldGrid } from "../../src/kernel/field.ts";
import type { Circle, CircleCells } from "../../src/kernel/geodesy.ts";
import type { Grid } from "../../src/kernel/grid.ts";
import { Kernel } from "../../src/kernel/instance.ts";
import { SPANS_HEADER_BYTES, STATUS_OK } from "../../src/kernel/kernel.generated.ts";

/** Where a strand's header holds its capacity, in words; assembly/spans.ts. */
const CAPACITY_WORD = 4;

/** A circle as `lay` left it in the kernel's memory. */
export interface LaidCircle {
  /** Row, first column, last column of each run; rows ascend, the runs of a row ascend and do not touch. */
  readonly spans: Int32Array;
  readonly spanCount: number;
  /** Whether the fast kernels answered alone. */
  readonly isFast: boolean;
}

/**
 * Lays circles and reads back the strands that the kernels of a maximum or a mean would be given. It listens at the
 * exports of a kernel of its own: whether a fast one declined, and where the strands lie.
 */
export class StrandReader {
  readonly grid: FieldGrid;
  readonly kernel: Kernel;
  readonly #field: Field;
  #strands: readonly number[] = [];
  #hasDeclined = false;

  private constructor(kernel: Kernel, grid: Grid) {
    const { strandSpans, includeCell } = kernel.exports;
    const noting = (status: number): number => {
      this.#hasDeclined ||= status !== STATUS_OK;
      return status;
    };
    const exports: Kernel["exports"] = {
      ...kernel.exports,
      strandSpans: (...given) => noting(strandSpans(...given)),
      includeCell: (...given) => noting(includeCell(...given)),
      circleSums: (_field, spans, seam) => {
        this.#strands = seam === 0 ? [spans] : [spans, seam];
        return STATUS_OK;
      },
    };
    Object.defineProperty(kernel, "exports", { value: exports });
    this.kernel = kernel;
    this.grid = new FieldGrid(kernel, grid);
    this.#field = new Field(this.grid, 1);
  }

  static async on(grid: Grid): Promise<StrandReader> {
    return new StrandReader(await Kernel.load({ scratchBytes: 32 << 20 }), grid);
  }

  /** @throws Error where `lay` did not lay the circle */
  lay(circle: Circle): LaidCircle {
    this.#hasDeclined = false;
    if (!this.grid.lay(circle).isLaid) throw new Error(`not laid: ${JSON.stringify(circle)}`);
    const isFast = !this.#hasDeclined;
    this.grid.sums(this.#field);
    const { words } = this.kernel;
    const [at = 0] = this.#strands.map((pointer) => pointer >> 2);
    const firstRow = words[at] ?? 0;
    const rowCounts = this.#strands.map((pointer) => words[(pointer >> 2) + 1] ?? 0);
    const spans: number[] = [];
    for (let i = 0; i < Math.max(0, ...rowCounts); i++) {
      const runs = this.#strands
        .filter((_, strand) => i < (rowCounts[strand] ?? 0))
        .map((pointer) => runAt(words, pointer >> 2, i))
        .filter(([first, last]) => first <= last)
        .toSorted(([a], [b]) => a - b);
      for (const [first, last] of runs) {
        const end = spans.length;
        if (spans[end - 3] === firstRow + i && spans[end - 1] === first - 1) spans[end - 1] = last;
        else spans.push(firstRow + i, first, last);
      }
    }
    return { spans: Int32Array.from(spans), spanCount: spans.length / 3, isFast };
  }
}

function runAt(words: Int32Array, strand: number, index: number): readonly [first: number, last: number] {
  const firsts = strand + (SPANS_HEADER_BYTES >> 2);
  return [words[firsts + index] ?? 0, words[firsts + (words[strand + CAPACITY_WORD] ?? 0) + index] ?? 0];
}

/** The runs with those of a row in order and joined where they touch, to compare one way of finding them with another. */
export function joined({ spans }: Pick<CircleCells, "spans">): Int32Array {
  const runs = Array.from({ length: spans.length / 3 }, (_, i) => spans.subarray(i * 3, i * 3 + 3));
  runs.sort((a, b) => (a[0] ?? 0) - (b[0] ?? 0) || (a[1] ?? 0) - (b[1] ?? 0));
  const out: number[] = [];
  for (const [row = 0, first = 0, last = 0] of runs) {
    if (out.at(-3) === row && out.at(-1) === first - 1) out[out.length - 1] = last;
    else out.push(row, first, last);
  }
  return Int32Array.from(out);
}
