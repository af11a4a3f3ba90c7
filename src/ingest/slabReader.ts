/** Divides the window of an ingest into slabs of rows and parts of slabs, and has the parts computed ahead of their use. */
import { type HazardPlan, mapsOf } from "./plan.ts";
import type { GroupRows, PartKey } from "./partComputer.ts";
import type { CellWindow } from "./raster.ts";
import type { SlabParts } from "./slabParts.ts";
import { layerCountOf } from "./supplementPlan.ts";

/** Rows of an atlas tile; the writer requests this many rows at a time. */
const BAND_ROWS = 64;

/** Limits on memory and on the work between two checkpoints. */
export interface SlabBudget {
  /** Decoded values of the maps of one curve in one part of a slab. */
  readonly decodedValues: number;
  /** Computed steps of all groups of a slab, which stay in memory until they are written. */
  readonly finishedSteps: number;
  /** Values of all models in one part of a slab, the unit that a thread computes and that is saved. */
  readonly partValues: number;
}

/**
 * 128 MiB of steps. Unless its blocks are larger, a part has at most 24 MB of 32-bit floats; it takes a fraction of a
 * second.
 */
const BUDGET: SlabBudget = { decodedValues: 25_000_000, finishedSteps: 64 << 20, partValues: 6_000_000 };

/** Computes parts, possibly several at a time. */
export interface PartRunner {
  /** Number of parts that are computed at the same time. */
  readonly concurrency: number;
  compute(key: PartKey): Promise<GroupRows>;
}

/** The store for finished parts, and the signal that stops the work. */
export interface SlabOptions {
  readonly parts?: SlabParts;
  readonly signal?: AbortSignal | undefined;
}

/** A finished part. */
export interface Part extends PartKey {
  readonly rows: GroupRows;
}

/** A run of rows of the window: all its parts, for every group. */
export interface Slab {
  /** In rows of the source grid. */
  readonly firstRow: number;
  readonly rowCount: number;
  readonly parts: readonly Part[];
}

/** A part that is being computed or is finished. */
interface RequestedPart {
  readonly key: PartKey;
  readonly finished: Promise<{ readonly rows: GroupRows; readonly isSaved: boolean }>;
  /** Set when it is finished. */
  part?: Part & { readonly isSaved: boolean };
}

/**
 * Reads layers from a window of source maps, a slab of rows at a time. Slabs are aligned with the blocks of the source files,
 * so that each block is decoded once; the writer takes bands of 64 rows from them. The division does not depend on the number
 * of threads.
 *
 * Memory is bounded by the slab, the parts that are computed ahead (at most as many as a slab has, or two for each thread
 * if that is more), and the parts in progress. If blocks have more than 64 rows, a slab has as many rows as a block, unless
 * that exceeds the budget; then blocks are decoded again for each slab.
 */
export class SlabReader {
  readonly #runner: PartRunner;
  readonly #window: CellWindow;
  readonly #groupCount: number;
  readonly #slabRows: number;
  readonly #slabColumns: number;
  #current: Slab | undefined;
  /** In the order of use. */
  #requested: RequestedPart[] = [];
  /** The parts to be requested after those. */
  #next: Iterator<PartKey> | undefined;

  constructor(
    plan: HazardPlan,
    window: CellWindow,
    { runner, budget = BUDGET }: { readonly runner: PartRunner; readonly budget?: SlabBudget },
  ) {
    this.#runner = runner;
    this.#window = window;
    this.#groupCount = plan.groups.length;

    const rasters = plan.groups.flatMap(mapsOf).map(({ raster }) => raster);
    const blockRows = Math.max(...rasters.map(({ blockRowCount }) => blockRowCount));
    const blockColumns = Math.max(...rasters.map(({ blockColumnCount }) => blockColumnCount));
    const layerCount = plan.groups.reduce((sum, group) => sum + layerCountOf(plan, group), 0);
    const mapCount = Math.max(...plan.groups.flatMap(mapCountsInMemory));
    const mapCountOfAllModels = Math.max(...plan.groups.map((group) => mapsOf(group).length));

    const rowsWanted = blockRows >= BAND_ROWS ? blockRows : Math.floor(BAND_ROWS / blockRows) * blockRows;
    const narrowest = Math.min(blockColumns, window.columnCount);
    const affordable = Math.min(
      Math.floor(budget.finishedSteps / (window.columnCount * layerCount)),
      Math.floor(budget.decodedValues / (narrowest * mapCount)),
    );
    const rowsAtOnce = Math.max(1, Math.min(rowsWanted, Math.max(BAND_ROWS, affordable)));
    // Fewer rows if a part would take too long, unless blocks would then be decoded more than once.
    const rowsOfPart = Math.floor(budget.partValues / (narrowest * mapCountOfAllModels));
    this.#slabRows = Math.min(rowsAtOnce, Math.max(blockRows, Math.floor(rowsOfPart / blockRows) * blockRows));
    const blocksAcross = Math.min(
      Math.floor(budget.decodedValues / (this.#slabRows * blockColumns * mapCount)),
      Math.floor(budget.partValues / (this.#slabRows * blockColumns * mapCountOfAllModels)),
    );
    this.#slabColumns = blockColumns * Math.max(1, blocksAcross);
  }

  /**
   * Returns the slab that contains a row of the window, given in rows of the source grid; call it with ascending rows. Saved
   * parts are not computed again; new parts are saved when a checkpoint is due and when the signal stops the work.
   */
  async slabAt(row: number, options: SlabOptions = {}): Promise<Slab> {
    const current = this.#current;
    if (current !== undefined && row >= current.firstRow && row < current.firstRow + current.rowCount) return current;
    this.#current = undefined; // frees the old rows before the new ones are allocated
    this.#next ??= this.#partKeysFrom(row);
    const rows = this.#slabRowsAt(row);
    const partCount = this.#groupCount * this.#columnRanges().length;
    const parts: Part[] = [];
    let unsaved: Part[] = [];
    try {
      while (parts.length < partCount) {
        // Without threads, nothing is gained by computing ahead.
        const isAhead = this.#runner.concurrency > 1;
        this.#request(isAhead ? Math.max(2 * this.#runner.concurrency, partCount) : 1, options.parts);
        const requested = this.#requested[0];
        if (requested?.key.window.firstRow !== rows.firstRow) throw new Error(`Row ${row} is not the next row.`);
        const { rows: computed, isSaved } = await requested.finished;
        this.#requested.shift();
        const part = { ...requested.key, rows: computed };
        parts.push(part);
        if (!isSaved) unsaved.push(part);
        options.signal?.throwIfAborted();
        if (options.parts?.isDue === true) {
          await options.parts.save(unsaved);
          unsaved = [];
        }
      }
    } catch (error) {
      if (options.signal?.aborted === true) {
        const ahead = this.#requested.flatMap(({ part }) => (part === undefined || part.isSaved ? [] : [part]));
        await options.parts?.save([...unsaved, ...ahead]);
      }
      throw error;
    }
    this.#current = { ...rows, parts };
    return this.#current;
  }

  /** Requests the next parts until this many are requested. */
  #request(count: number, parts: SlabParts | undefined): void {
    while (this.#requested.length < count) {
      const next = this.#next?.next();
      if (next === undefined || next.done === true) return;
      const key = next.value;
      const finished = (async () => {
        const saved = await parts?.find(key);
        return { rows: saved ?? (await this.#runner.compute(key)), isSaved: saved !== undefined };
      })();
      const requested: RequestedPart = { key, finished };
      // An error is thrown only when its part is used, so that the error reported is always that of the first part that
      // fails.
      finished.then(
        (result) => (requested.part = { ...key, ...result }),
        () => undefined,
      );
      this.#requested.push(requested);
    }
  }

  /** Returns the parts of the slab that contains a row and of all slabs south of it. */
  *#partKeysFrom(row: number): Generator<PartKey> {
    const end = this.#window.firstRow + this.#window.rowCount;
    for (let next = row; next < end;) {
      const rows = this.#slabRowsAt(next);
      for (const columns of this.#columnRanges()) {
        for (let group = 0; group < this.#groupCount; group++) yield { group, window: { ...rows, ...columns } };
      }
      next = rows.firstRow + rows.rowCount;
    }
  }

  #slabRowsAt(row: number): { readonly firstRow: number; readonly rowCount: number } {
    const { firstRow, rowCount } = this.#window;
    const start = Math.floor(row / this.#slabRows) * this.#slabRows;
    const first = Math.max(start, firstRow);
    return { firstRow: first, rowCount: Math.min(start + this.#slabRows, firstRow + rowCount) - first };
  }

  #columnRanges(): readonly { readonly firstColumn: number; readonly columnCount: number }[] {
    const { firstColumn, columnCount } = this.#window;
    const end = firstColumn + columnCount;
    const ranges = [];
    for (let column = firstColumn; column < end;) {
      const next = Math.min(end, (Math.floor(column / this.#slabColumns) + 1) * this.#slabColumns);
      ranges.push({ firstColumn: column, columnCount: next - column });
      column = next;
    }
    return ranges;
  }
}

/** Returns how many maps of a group are in memory at once: those of each curve, or one. */
function mapCountsInMemory({ content }: HazardPlan["groups"][number]): number[] {
  return content.kind === "curves" ? content.models.map(({ maps }) => maps.length) : [1];
}
