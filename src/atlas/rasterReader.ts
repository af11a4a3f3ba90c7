/**
 * Reads one layer where given rows and columns cross, as a map needs it: cells, or maxima of blocks of cells. Tiles
 * come directly from their source and are kept in a separate small cache, so that browsing a map evicts none of the tiles
 * that queries use.
 */
import { cellCenter, type Grid, locateCells } from "../kernel/grid.ts";
import type { Kernel } from "../kernel/instance.ts";
import { STEPS_OUTSIDE } from "../kernel/kernel.generated.ts";
import type { LocationArrays } from "../kernel/sampling.ts";
import type { TimeSlice } from "../concurrency/timeSlice.ts";
import { SizedCache } from "../concurrency/sizedCache.ts";
import type { FieldLayer } from "./cachedField.ts";
import type { CellSource } from "./cellSource.ts";
import { blockTiles, cellTiles, type RasterTiles } from "./rasterTiles.ts";

/** Cells that are computed before the time slice is checked. */
const COMPUTED_CELL_COUNT = 1024;

/** Time slice and cancellation of a read. */
export interface RasterRun {
  readonly timeSlice: TimeSlice;
  readonly signal?: AbortSignal | undefined;
}

/** Reads layers for maps. */
export class RasterReader {
  readonly #kernel: Kernel;
  /** Decoded tiles of single layers. */
  readonly #decoded: SizedCache<Uint16Array>;
  readonly #sources = new Map<CellSource, number>();

  /** @param options.cacheBytes size of the decoded tiles that are kept */
  constructor(kernel: Kernel, { cacheBytes }: { readonly cacheBytes: number }) {
    this.#kernel = kernel;
    this.#decoded = new SizedCache(cacheBytes);
  }

  /** Size of the tiles in memory. */
  get cachedBytes(): number {
    return this.#decoded.sizeBytes;
  }

  /** Returns the rows of latitudes and the columns of longitudes, -1 outside the grid, as queries find them. */
  locate(grid: Grid, { latitudes, longitudes }: LocationArrays): Crossings {
    const { latDeg, lonDeg } = cellCenter(grid, { row: 0, column: 0 });
    const { rows } = locateCells(this.#kernel, grid, {
      latitudes,
      longitudes: new Float64Array(latitudes.length).fill(lonDeg),
    });
    const { columns } = locateCells(this.#kernel, grid, {
      latitudes: new Float64Array(longitudes.length).fill(latDeg),
      longitudes,
    });
    return { rows, columns };
  }

  /**
   * Returns the steps of the cells at the crossings, u16[rows.length][columns.length].
   * @throws Fault `atlas_unavailable` if a tile is missing or damaged
   */
  async readCells(layer: FieldLayer, crossings: Crossings, run: RasterRun): Promise<Uint16Array> {
    const crossed = new CrossedSteps(crossings);
    if (layer.source.readCells === undefined) {
      await this.#read(crossed, { layer, kind: "cells", tiles: cellTiles(layer), run });
    } else await computeCells(crossed, layer, run);
    return crossed.expand(STEPS_OUTSIDE);
  }

  /**
   * Returns the largest step in the blocks at the crossings, u16[rows.length][columns.length], from the pyramid alone. A
   * block without values is STEPS_OUTSIDE if all its data tiles are outside, otherwise STEPS_NODATA.
   *
   * @param blocks rows and columns of blocks, and their size: 8, 64, or 512 times a power of 8
   * @throws Fault `atlas_unavailable` if a tile is missing or damaged; Error if the source has no pyramid
   */
  async readBlockMaxima(
    layer: FieldLayer,
    blocks: Crossings & { readonly blockSizeCells: number },
    run: RasterRun,
  ): Promise<Uint16Array> {
    const { pyramid } = layer.source;
    if (pyramid === undefined) throw new Error("The source has no pyramid.");
    const { blockSizeCells } = blocks;
    const crossed = new CrossedSteps(blocks);
    const tiles = blockTiles(layer, pyramid, blockSizeCells);
    await this.#read(crossed, { layer, kind: `maxima of ${blockSizeCells}`, tiles, run });
    return crossed.expand(STEPS_OUTSIDE);
  }

  async #read(
    crossed: CrossedSteps,
    {
      layer,
      kind,
      tiles,
      run,
    }: {
      readonly layer: FieldLayer;
      readonly kind: string;
      readonly tiles: RasterTiles;
      readonly run: RasterRun;
    },
  ): Promise<void> {
    const { size, loadCount } = tiles;
    const prefix = `${kind}/${this.#indexOf(layer.source)}/${layer.group}/${layer.layer}`;
    const nameOf = ({ row, column }: { readonly row: number; readonly column: number }): string =>
      `${prefix}/${row}/${column}`;
    const missing = crossed.tiles(size).filter((tile) => {
      const known = this.#decoded.get(nameOf(tile));
      if (known !== undefined) crossed.copyFrom(known, tile, size);
      return known === undefined;
    });
    for (let first = 0; first < missing.length; first += loadCount) {
      await nextStep(run);
      const some = missing.slice(first, first + loadCount);
      const loaded = await tiles.load(some, run.timeSlice);
      for (const [i, tile] of some.entries()) {
        const steps = loaded[i];
        if (steps === undefined) throw new Error(`A source must return ${some.length} tiles (got ${loaded.length}).`);
        this.#decoded.set(nameOf(tile), steps, steps.byteLength);
        crossed.copyFrom(steps, tile, size);
      }
    }
  }

  #indexOf(source: CellSource): number {
    const known = this.#sources.get(source);
    if (known !== undefined) return known;
    this.#sources.set(source, this.#sources.size);
    return this.#sources.size - 1;
  }
}

/** Computes the crossings one by one, from a source that can. */
async function computeCells(
  crossed: CrossedSteps,
  { source, group, layer }: FieldLayer,
  run: RasterRun,
): Promise<void> {
  const { rows, columns, steps } = crossed;
  const layerCount = source.groups[group]?.layers.length ?? 1;
  for (let first = 0; first < steps.length; first += COMPUTED_CELL_COUNT) {
    await nextStep(run);
    const count = Math.min(COMPUTED_CELL_COUNT, steps.length - first);
    const cells = Array.from({ length: count }, (_, i) => ({
      row: rows[Math.floor((first + i) / columns.length)] ?? 0,
      column: columns[(first + i) % columns.length] ?? 0,
    }));
    const computed = source.readCells?.(group, cells);
    for (let i = 0; i < count; i++) steps[first + i] = computed?.[i * layerCount + layer] ?? STEPS_OUTSIDE;
  }
}

/** Waits for the next time slice if this one has ended. @throws the reason of the signal if it is aborted */
async function nextStep({ timeSlice, signal }: RasterRun): Promise<void> {
  await timeSlice.yield();
  signal?.throwIfAborted();
}

/** Rows and columns; a map shows the cells where they cross. Indices repeat where several pixels show the same cell. */
export interface Crossings {
  /** -1 outside the grid. */
  readonly rows: Int32Array;
  /** -1 outside the grid. */
  readonly columns: Int32Array;
}

/** The distinct rows and columns in one tile of a tiling. */
export interface CrossedTile {
  readonly row: number;
  readonly column: number;
  /** Position of the first row in this tile among the distinct rows. */
  readonly firstRow: number;
  readonly rowCount: number;
  /** Position of the first column in this tile among the distinct columns. */
  readonly firstColumn: number;
  readonly columnCount: number;
}

/** A run of distinct indices in one tile of a tiling. */
interface TileRun {
  readonly tile: number;
  readonly first: number;
  readonly count: number;
}

/** Steps at the crossings of distinct rows and columns, which are read tile by tile and then copied to each crossing. */
export class CrossedSteps {
  /** In ascending order. */
  readonly rows: Int32Array;
  /** In ascending order. */
  readonly columns: Int32Array;
  /** u16[rows.length][columns.length] */
  readonly steps: Uint16Array;
  readonly #crossings: Crossings;

  constructor(crossings: Crossings) {
    this.#crossings = crossings;
    this.rows = distinctInside(crossings.rows);
    this.columns = distinctInside(crossings.columns);
    this.steps = new Uint16Array(this.rows.length * this.columns.length);
  }

  /** Returns the tiles, of `tileSize` rows and columns, that contain a crossing, row by row. */
  tiles(tileSize: number): readonly CrossedTile[] {
    const columnRuns = runsOf(this.columns, tileSize);
    return runsOf(this.rows, tileSize).flatMap((rows) =>
      columnRuns.map((columns) => ({
        row: rows.tile,
        column: columns.tile,
        firstRow: rows.first,
        rowCount: rows.count,
        firstColumn: columns.first,
        columnCount: columns.count,
      })),
    );
  }

  /** Copies the crossings of a tile from its steps, u16[tileSize][tileSize]. */
  copyFrom(tileSteps: Uint16Array, tile: CrossedTile, tileSize: number): void {
    const { rows, columns, steps } = this;
    const width = columns.length;
    for (let row = tile.firstRow; row < tile.firstRow + tile.rowCount; row++) {
      const from = ((rows[row] as number) % tileSize) * tileSize;
      const to = row * width;
      for (let column = tile.firstColumn; column < tile.firstColumn + tile.columnCount; column++) {
        steps[to + column] = tileSteps[from + ((columns[column] as number) % tileSize)] as number;
      }
    }
  }

  /** Returns the steps of all crossings, u16[row][column], with `outside` where the row or the column is -1. */
  expand(outside: number): Uint16Array {
    const { rows, columns } = this.#crossings;
    const width = columns.length;
    const rowPositions = positionsOf(rows, this.rows);
    const columnPositions = positionsOf(columns, this.columns);
    const out = new Uint16Array(rows.length * width).fill(outside);
    for (let row = 0; row < rows.length; row++) {
      const position = rowPositions[row] as number;
      if (position < 0) continue;
      const to = row * width;
      if (row > 0 && rowPositions[row - 1] === position) {
        out.copyWithin(to, to - width, to);
        continue;
      }
      const from = position * this.columns.length;
      for (let column = 0; column < width; column++) {
        const columnPosition = columnPositions[column] as number;
        if (columnPosition >= 0) out[to + column] = this.steps[from + columnPosition] as number;
      }
    }
    return out;
  }
}

function distinctInside(indices: Int32Array): Int32Array {
  return Int32Array.from(new Set(indices.filter((index) => index >= 0))).toSorted((a, b) => a - b);
}

/** Returns the position of each index in the distinct indices, -1 for -1. */
function positionsOf(indices: Int32Array, distinct: Int32Array): Int32Array {
  const positions = new Map([...distinct].map((index, position) => [index, position]));
  return indices.map((index) => positions.get(index) ?? -1);
}

function runsOf(indices: Int32Array, tileSize: number): readonly TileRun[] {
  const runs: TileRun[] = [];
  for (let first = 0; first < indices.length;) {
    const tile = Math.floor((indices[first] ?? 0) / tileSize);
    let end = first + 1;
    while (end < indices.length && Math.floor((indices[end] ?? 0) / tileSize) === tile) end += 1;
    runs.push({ tile, first, count: end - first });
    first = end;
  }
  return runs;
}
