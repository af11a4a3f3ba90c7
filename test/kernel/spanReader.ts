import { Field, FieldGrid } from "../../src/kernel/field.ts";
import type { Circle, CircleCells } from "../../src/kernel/geodesy.ts";
import type { Grid } from "../../src/kernel/grid.ts";
import { Kernel } from "../../src/kernel/instance.ts";
import { SPANS_HEADER_BYTES, STATUS_OK } from "../../src/kernel/kernel.generated.ts";

/** Offset of the capacity in the header of a span table, in words (assembly/spans.ts). */
const CAPACITY_WORD = 4;

/** Spans of a circle, read from the kernel's memory after `setCircle`. */
export interface CircleSpans {
  /** i32[spanCount][3]: row, first column, last column; rows and columns ascending, spans of a row not adjacent. */
  readonly spans: Int32Array;
  readonly spanCount: number;
  /** Whether the fast kernels found the spans, so that the exact ones were not needed. */
  readonly isFast: boolean;
}

/**
 * Sets circles and reads back the span tables that the kernels would use. Intercepts the exports of its own kernel to
 * learn the addresses of the tables, and whether a fast kernel returned STATUS_AMBIGUOUS.
 */
export class SpanReader {
  readonly grid: FieldGrid;
  readonly kernel: Kernel;
  readonly #field: Field;
  #tables: readonly number[] = [];
  #hasFallenBack = false;

  private constructor(kernel: Kernel, grid: Grid) {
    const { fastRowSpans, includeCell } = kernel.exports;
    const recordStatus = (status: number): number => {
      this.#hasFallenBack ||= status !== STATUS_OK;
      return status;
    };
    const exports: Kernel["exports"] = {
      ...kernel.exports,
      fastRowSpans: (...args) => recordStatus(fastRowSpans(...args)),
      includeCell: (...args) => recordStatus(includeCell(...args)),
      circleSums: (_field, spans, wrappedSpans) => {
        this.#tables = wrappedSpans === 0 ? [spans] : [spans, wrappedSpans];
        return STATUS_OK;
      },
    };
    Object.defineProperty(kernel, "exports", { value: exports });
    this.kernel = kernel;
    this.grid = new FieldGrid(kernel, grid);
    this.#field = new Field(this.grid, 1);
  }

  static async open(grid: Grid): Promise<SpanReader> {
    return new SpanReader(await Kernel.load({ scratchBytes: 4 << 20 }), grid);
  }

  /** Sets a circle and returns its spans. @throws Error if `setCircle` returns false */
  read(circle: Circle): CircleSpans {
    this.#hasFallenBack = false;
    if (!this.grid.setCircle(circle)) throw new Error(`circle not set: ${JSON.stringify(circle)}`);
    const isFast = !this.#hasFallenBack;
    this.grid.sums(this.#field);
    const { words } = this.kernel;
    const [headerWord = 0] = this.#tables.map((pointer) => pointer >> 2);
    const firstRow = words[headerWord] ?? 0;
    const rowCounts = this.#tables.map((pointer) => words[(pointer >> 2) + 1] ?? 0);
    const spans: number[] = [];
    for (let i = 0; i < Math.max(0, ...rowCounts); i++) {
      const rowSpans = this.#tables
        .filter((_, table) => i < (rowCounts[table] ?? 0))
        .map((pointer) => spanAt(words, pointer >> 2, i))
        .filter(([first, last]) => first <= last)
        .toSorted(([a], [b]) => a - b);
      for (const [first, last] of rowSpans) {
        const end = spans.length;
        if (spans[end - 3] === firstRow + i && spans[end - 1] === first - 1) spans[end - 1] = last;
        else spans.push(firstRow + i, first, last);
      }
    }
    return { spans: Int32Array.from(spans), spanCount: spans.length / 3, isFast };
  }
}

function spanAt(words: Int32Array, table: number, spanIndex: number): readonly [first: number, last: number] {
  const firsts = table + (SPANS_HEADER_BYTES >> 2);
  return [words[firsts + spanIndex] ?? 0, words[firsts + (words[table + CAPACITY_WORD] ?? 0) + spanIndex] ?? 0];
}

/** Returns the spans in ascending order with adjacent ones merged, for comparison. */
export function mergeSpans({ spans }: Pick<CircleCells, "spans">): Int32Array {
  const rowSpans = Array.from({ length: spans.length / 3 }, (_, i) => spans.subarray(i * 3, i * 3 + 3));
  rowSpans.sort((a, b) => (a[0] ?? 0) - (b[0] ?? 0) || (a[1] ?? 0) - (b[1] ?? 0));
  const out: number[] = [];
  for (const [row = 0, first = 0, last = 0] of rowSpans) {
    if (out.at(-3) === row && out.at(-1) === first - 1) out[out.length - 1] = last;
    else out.push(row, first, last);
  }
  return Int32Array.from(out);
}
