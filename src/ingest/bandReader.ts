/** Assembles the rows of an atlas from the parts that are computed from the source maps. */
import type { Band } from "../atlas/tile.ts";
import type { WorkSteps } from "../atlas/writer.ts";
import { STEPS_OUTSIDE, TILE_SIZE } from "../kernel/kernel.generated.ts";
import { addCounts, type GroupTotals, zeroCounts } from "./cellCounts.ts";
import { mergeLargestRounding } from "./metricSteps.ts";
import { tileRowsOf } from "./partComputer.ts";
import { type Part, type PartRunner, SlabReader } from "./slabReader.ts";
import { SlabParts } from "./slabParts.ts";
import { layerCountOf } from "./supplementPlan.ts";
import type { IngestTarget } from "./target.ts";

/** Returns how many rows the rows of the atlas are numbered higher than those of the source. */
export function atlasRowOfSource({ offset, window }: Pick<IngestTarget, "offset" | "window">): number {
  return offset.row - window.firstRow;
}

/** Reads bands of one pack and counts their cells. */
export class BandReader {
  readonly #target: IngestTarget;
  readonly #slabs: SlabReader;
  readonly #layerCounts: readonly number[];
  readonly #signal: AbortSignal | undefined;
  #parts: SlabParts | undefined;
  /** Counts and rounding errors of each group in the rows that were read; replaced when an ingest is resumed. */
  totals: GroupTotals[];

  constructor(
    target: IngestTarget,
    { runner, signal }: { readonly runner: PartRunner; readonly signal: AbortSignal | undefined },
  ) {
    const { plan, window } = target;
    this.#target = target;
    this.#slabs = new SlabReader(plan, window, { runner });
    this.#layerCounts = plan.groups.map((group) => layerCountOf(plan, group));
    this.#signal = signal;
    this.totals = plan.groups.map(() => ({ counts: zeroCounts(), worst: {} }));
  }

  /** Returns the cells of a band for each group, u16[rowCount][columnCount][layerCount]; call it from north to south. */
  async read(band: Band, steps: WorkSteps): Promise<readonly Uint16Array[]> {
    const { window, grid } = this.#target;
    const parts = (this.#parts ??= await SlabParts.open(steps));
    const cells = this.#layerCounts.map((layerCount) =>
      new Uint16Array(band.rowCount * grid.columnCount * layerCount).fill(STEPS_OUTSIDE),
    );
    const shift = atlasRowOfSource(this.#target);
    const first = Math.max(window.firstRow, band.firstRow - shift);
    const end = Math.min(window.firstRow + window.rowCount, band.firstRow + band.rowCount - shift);
    for (let row = first; row < end;) {
      const slab = await this.#slabs.slabAt(row, { parts, signal: this.#signal });
      const slabEnd = Math.min(end, slab.firstRow + slab.rowCount);
      for (const part of slab.parts) {
        this.#copyRows(part, { first: row, end: slabEnd }, { band, cells: cells[part.group] as Uint16Array });
        this.#count(part, band);
      }
      row = slabEnd;
    }
    return cells;
  }

  /** Removes saved parts that are no longer needed when this many rows of the atlas are durable. */
  async committed(rowsDone: number): Promise<void> {
    await this.#parts?.removeBefore(rowsDone - atlasRowOfSource(this.#target));
  }

  #copyRows(
    { group, window: { firstRow, firstColumn, columnCount }, rows: { steps } }: Part,
    rows: { readonly first: number; readonly end: number },
    { band, cells }: { readonly band: Band; readonly cells: Uint16Array },
  ): void {
    const { window, grid, offset } = this.#target;
    const layerCount = this.#layerCounts[group] ?? 0;
    const size = columnCount * layerCount;
    const column = offset.column + firstColumn - window.firstColumn;
    for (let row = rows.first; row < rows.end; row++) {
      const from = (row - firstRow) * size;
      const bandRow = row + atlasRowOfSource(this.#target) - band.firstRow;
      cells.set(steps.subarray(from, from + size), (bandRow * grid.columnCount + column) * layerCount);
    }
  }

  #count({ group, window, rows }: Part, band: Band): void {
    const tileRow = band.firstRow / TILE_SIZE - tileRowsOf(window, atlasRowOfSource(this.#target)).first;
    const counts = rows.counts[tileRow];
    const total = this.totals[group];
    if (counts === undefined || total === undefined)
      throw new Error(`Part of group ${group} does not count row ${band.firstRow}.`);
    addCounts(total.counts, counts);
    total.worst = mergeLargestRounding(total.worst, rows.worst);
  }
}
