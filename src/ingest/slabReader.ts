/** Divides the window of an ingest into slabs of rows and chunks of slabs, and has the chunks computed ahead of their use. */
import { type HazardPlan, mapsOf } from "./plan.ts";
import type { ChunkKey, GroupRows } from "./chunkComputer.ts";
import type { CellWindow } from "./raster.ts";
import { layerCountOf } from "./supplementPlan.ts";
import { readdir, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { writeSynced } from "../files/files.ts";
import type { EncodedTiles, TileRange } from "../atlas/tileEncoding.ts";
import type { WorkSteps } from "../atlas/writer.ts";

/** Rows of an atlas tile; the writer requests this many rows at a time. */
const BAND_ROWS = 64;

/** Limits on memory and on the work between two checkpoints. */
export interface SlabBudget {
  /** Decoded values of the maps of one curve in one chunk of a slab. */
  readonly decodedValues: number;
  /** Computed steps of all groups of a slab, which stay in memory until they are written. */
  readonly finishedSteps: number;
  /** Values of all models in one chunk of a slab, the unit that a thread computes and that is saved. */
  readonly chunkValues: number;
}

/**
 * 128 MiB of steps. Unless its blocks are larger, a chunk has at most 24 MB of 32-bit floats; it takes a fraction of a
 * second.
 */
const BUDGET: SlabBudget = { decodedValues: 25_000_000, finishedSteps: 64 << 20, chunkValues: 6_000_000 };

/** Computes chunks, possibly several at a time. */
export interface ChunkRunner {
  /** Number of chunks that are computed at the same time. */
  readonly concurrency: number;
  compute(key: ChunkKey): Promise<GroupRows>;
}

/** The store for finished chunks, and the signal that stops the work. */
export interface SlabOptions {
  readonly chunks?: SlabChunks;
  readonly signal?: AbortSignal | undefined;
}

/** A finished chunk. */
export interface Chunk extends ChunkKey {
  readonly rows: GroupRows;
}

/** A run of rows of the window: all its chunks, for every group. */
export interface Slab {
  /** In rows of the source grid. */
  readonly firstRow: number;
  readonly rowCount: number;
  readonly chunks: readonly Chunk[];
}

/** A chunk that is being computed or is finished. */
interface RequestedChunk {
  readonly key: ChunkKey;
  readonly finished: Promise<{ readonly rows: GroupRows; readonly isSaved: boolean }>;
  /** Set when it is finished. */
  chunk?: Chunk & { readonly isSaved: boolean };
}

/**
 * Reads layers from a window of source maps, a slab of rows at a time. Slabs are aligned with the blocks of the source files,
 * so that each block is decoded once; the writer takes bands of 64 rows from them. The division does not depend on the number
 * of threads.
 *
 * Memory is bounded by the slab, the chunks that are computed ahead (at most as many as a slab has, or two for each thread
 * if that is more), and the chunks in progress. If blocks have more than 64 rows, a slab has as many rows as a block, unless
 * that exceeds the budget; then blocks are decoded again for each slab.
 */
export class SlabReader {
  readonly #runner: ChunkRunner;
  readonly #window: CellWindow;
  readonly #groupCount: number;
  readonly #slabRows: number;
  readonly #slabColumns: number;
  #current: Slab | undefined;
  /** In the order of use. */
  #requested: RequestedChunk[] = [];
  /** The chunks to be requested after those. */
  #next: Iterator<ChunkKey> | undefined;

  constructor(
    plan: HazardPlan,
    window: CellWindow,
    { runner, budget = BUDGET }: { readonly runner: ChunkRunner; readonly budget?: SlabBudget },
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
    // Fewer rows if a chunk would take too long, unless blocks would then be decoded more than once.
    const rowsOfChunk = Math.floor(budget.chunkValues / (narrowest * mapCountOfAllModels));
    this.#slabRows = Math.min(rowsAtOnce, Math.max(blockRows, Math.floor(rowsOfChunk / blockRows) * blockRows));
    const blocksAcross = Math.min(
      Math.floor(budget.decodedValues / (this.#slabRows * blockColumns * mapCount)),
      Math.floor(budget.chunkValues / (this.#slabRows * blockColumns * mapCountOfAllModels)),
    );
    this.#slabColumns = blockColumns * Math.max(1, blocksAcross);
  }

  /**
   * Returns the slab that contains a row of the window, given in rows of the source grid; call it with ascending rows. Saved
   * chunks are not computed again; new chunks are saved when a checkpoint is due and when the signal stops the work.
   */
  async slabAt(row: number, options: SlabOptions = {}): Promise<Slab> {
    const current = this.#current;
    if (current !== undefined && row >= current.firstRow && row < current.firstRow + current.rowCount) return current;
    this.#current = undefined; // frees the old rows before the new ones are allocated
    this.#next ??= this.#chunkKeysFrom(row);
    const rows = this.#slabRowsAt(row);
    const chunkCount = this.#groupCount * this.#columnRanges().length;
    const chunks: Chunk[] = [];
    let unsaved: Chunk[] = [];
    try {
      while (chunks.length < chunkCount) {
        // Without threads, nothing is gained by computing ahead.
        const isAhead = this.#runner.concurrency > 1;
        this.#request(isAhead ? Math.max(2 * this.#runner.concurrency, chunkCount) : 1, options.chunks);
        const requested = this.#requested[0];
        if (requested?.key.window.firstRow !== rows.firstRow) throw new Error(`Row ${row} is not the next row.`);
        const { rows: computed, isSaved } = await requested.finished;
        this.#requested.shift();
        const chunk = { ...requested.key, rows: computed };
        chunks.push(chunk);
        if (!isSaved) unsaved.push(chunk);
        options.signal?.throwIfAborted();
        if (options.chunks?.isDue === true) {
          await options.chunks.save(unsaved);
          unsaved = [];
        }
      }
    } catch (error) {
      if (options.signal?.aborted === true) {
        const ahead = this.#requested.flatMap(({ chunk }) => (chunk === undefined || chunk.isSaved ? [] : [chunk]));
        await options.chunks?.save([...unsaved, ...ahead]);
      }
      throw error;
    }
    this.#current = { ...rows, chunks };
    return this.#current;
  }

  /** Requests the next chunks until this many are requested. */
  #request(count: number, chunks: SlabChunks | undefined): void {
    while (this.#requested.length < count) {
      const next = this.#next?.next();
      if (next === undefined || next.done === true) return;
      const key = next.value;
      const finished = (async () => {
        const saved = await chunks?.find(key);
        return { rows: saved ?? (await this.#runner.compute(key)), isSaved: saved !== undefined };
      })();
      const requested: RequestedChunk = { key, finished };
      // An error is thrown only when its chunk is used, so that the error reported is always that of the first chunk that
      // fails.
      finished.then(
        (result) => (requested.chunk = { ...key, ...result }),
        () => undefined,
      );
      this.#requested.push(requested);
    }
  }

  /** Returns the chunks of the slab that contains a row and of all slabs south of it. */
  *#chunkKeysFrom(row: number): Generator<ChunkKey> {
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

/** Chunks of earlier releases, which had no tiles, were named `part-` and `cells-`. */
const CHUNK_NAME = /^tiles-(\d+)-(\d+)-\d+-\d+-\d+$/;

/** The arrays of encoded tiles in the order in which they are saved, after the steps. */
const ARRAY_NAMES = ["totals", "byteEnds", "bounds", "states", "bytes"] as const;
type ArrayName = (typeof ARRAY_NAMES)[number];

/** What precedes the arrays of a saved chunk. */
interface ChunkHeader extends Pick<GroupRows, "counts" | "worst"> {
  readonly stepCount: number;
  /** For each stored group; `lengths` has the number of elements of each array. */
  readonly tiles: readonly { readonly range: TileRange; readonly lengths: Readonly<Record<ArrayName, number>> }[];
}

/**
 * The chunks saved in a work folder, so that an interrupted ingest does not compute them again: a slab of high-resolution maps of
 * many climate models takes long to compute. The name of the folder is a hash of all inputs, so a chunk found there is valid. A chunk
 * is written to a temporary file that is then renamed, so a chunk is either complete or absent.
 */
export class SlabChunks {
  readonly #steps: WorkSteps;
  readonly #names: Set<string>;

  private constructor(steps: WorkSteps, names: Set<string>) {
    this.#steps = steps;
    this.#names = names;
  }

  /** Lists the chunks saved in the work folder. */
  static async open(steps: WorkSteps): Promise<SlabChunks> {
    const names = (await readdir(steps.folder)).filter((name) => CHUNK_NAME.test(name));
    return new SlabChunks(steps, new Set(names));
  }

  /** True if a checkpoint is due. */
  get isDue(): boolean {
    return this.#steps.isDue();
  }

  /** Returns a saved chunk, or undefined if it was not saved. */
  async find(key: ChunkKey): Promise<GroupRows | undefined> {
    const name = chunkFileName(key);
    if (!this.#names.has(name)) return undefined;
    const bytes = await readFile(join(this.#steps.folder, name));
    return decodeChunk(new Uint8Array(bytes).buffer);
  }

  /** Saves chunks and records the checkpoint. */
  async save(chunks: readonly (ChunkKey & { readonly rows: GroupRows })[]): Promise<void> {
    for (const { rows, ...key } of chunks) {
      const name = chunkFileName(key);
      const temporaryPath = join(this.#steps.folder, `${name}.tmp`);
      await writeSynced(temporaryPath, encodeChunk(rows));
      await rename(temporaryPath, join(this.#steps.folder, name));
      this.#names.add(name);
    }
    if (chunks.length > 0) this.#steps.saved();
  }

  /** Removes the chunks of slabs that end at or before a row of the source grid. */
  async removeBefore(row: number): Promise<void> {
    for (const name of this.#names) {
      const [, firstRow = NaN, rowCount = NaN] = (CHUNK_NAME.exec(name) ?? []).map(Number);
      if (!(firstRow + rowCount <= row)) continue;
      await rm(join(this.#steps.folder, name), { force: true });
      this.#names.delete(name);
    }
  }
}

function chunkFileName({ group, window }: ChunkKey): string {
  return `tiles-${window.firstRow}-${window.rowCount}-${window.firstColumn}-${window.columnCount}-${group}`;
}

/** Returns the size of the header, the header as JSON and the arrays, each padded to a multiple of 4 bytes. */
function encodeChunk({ steps, tiles = [], counts, worst }: GroupRows): Buffer {
  const header: ChunkHeader = {
    counts,
    worst,
    stepCount: steps.length,
    tiles: tiles.map(({ firstRow, rowCount, firstColumn, columnCount, ...arrays }) => ({
      range: { firstRow, rowCount, firstColumn, columnCount },
      lengths: Object.fromEntries(ARRAY_NAMES.map((name) => [name, arrays[name].length])) as Record<ArrayName, number>,
    })),
  };
  const text = new TextEncoder().encode(JSON.stringify(header));
  const arrays = [steps, ...tiles.flatMap((each) => ARRAY_NAMES.map((name) => each[name]))];
  return Buffer.concat([Uint32Array.of(text.length), text, ...arrays].flatMap(padded));
}

function padded(array: Uint8Array | Uint16Array | Uint32Array): readonly Uint8Array[] {
  const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
  return [bytes, new Uint8Array(paddedSize(bytes.length) - bytes.length)];
}

function paddedSize(sizeBytes: number): number {
  return 4 * Math.ceil(sizeBytes / 4);
}

function decodeChunk(buffer: ArrayBuffer): GroupRows {
  const textSize = new DataView(buffer).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, textSize))) as ChunkHeader;
  let offset = 4 + paddedSize(textSize);
  const take = <Numbers extends ArrayBufferView>(
    type: new (buffer: ArrayBuffer, offset: number, length: number) => Numbers,
    length: number,
  ): Numbers => {
    const array = new type(buffer, offset, length);
    offset += paddedSize(array.byteLength);
    return array;
  };
  const steps = take(Uint16Array, header.stepCount);
  const tiles = header.tiles.map(({ range, lengths }): EncodedTiles => ({
    ...range,
    totals: take(Uint32Array, lengths.totals),
    byteEnds: take(Uint32Array, lengths.byteEnds),
    bounds: take(Uint16Array, lengths.bounds),
    states: take(Uint8Array, lengths.states),
    bytes: take(Uint8Array, lengths.bytes),
  }));
  return { steps, tiles, counts: header.counts, worst: header.worst };
}
