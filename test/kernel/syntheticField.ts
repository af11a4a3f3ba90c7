import {
  Field,
  FieldGrid,
  LANES,
  type MissingTiles,
  type ResultOrMissing,
  tileBytes,
  type TileForm,
} from "../../src/kernel/field.ts";
import { type Circle, type CircleCells, rowSpans, rowWeights } from "../../src/kernel/geodesy.ts";
import type { Grid } from "../../src/kernel/grid.ts";
import { Kernel, type Region } from "../../src/kernel/instance.ts";
import { STEPS_MAX, STEPS_NODATA, STEPS_OUTSIDE, TILE_SIZE } from "../../src/kernel/kernel.generated.ts";
import { CircleAccumulator, type CircleSummary } from "../../src/kernel/circleAccumulator.ts";
import { randomFrom, type SeededRandom } from "../seededRandom.ts";

const TILES_PER_PYRAMID_TILE = 8;
const BLOCK = 8;
const COUNT_ONE = 2 ** 22;

/** u16[row][column][layer] of a whole grid. */
export interface Raster {
  readonly layerCount: number;
  readonly steps: Uint16Array;
}

/**
 * Returns a raster of square patches, tens of cells wide. Each patch has one kind of values per layer: all zero, all
 * nodata, all outside, mixed, mostly small, all at the maximum, mostly nodata, or any.
 */
export function patchyRaster(
  grid: Grid,
  { layerCount, seed }: { readonly layerCount: number; readonly seed: number },
): Raster {
  const random = randomFrom(seed);
  const steps = new Uint16Array(grid.rowCount * grid.columnCount * layerCount);
  const edge = 8 + random.below(80);
  const kinds = new Map<number, Uint8Array>();
  let index = 0;
  for (let row = 0; row < grid.rowCount; row++) {
    for (let column = 0; column < grid.columnCount; column++) {
      const patch = Math.floor(row / edge) * 100_000 + Math.floor(column / edge);
      let kindOf = kinds.get(patch);
      if (kindOf === undefined) {
        const shared = random.below(8);
        kindOf = Uint8Array.from({ length: layerCount }, () => (random.chance(0.5) ? shared : random.below(8)));
        kinds.set(patch, kindOf);
      }
      for (let layer = 0; layer < layerCount; layer++) steps[index++] = randomSteps(random, kindOf[layer] ?? 0);
    }
  }
  return { layerCount, steps };
}

function randomSteps(random: SeededRandom, kind: number): number {
  switch (kind) {
    case 0:
      return 0;
    case 1:
      return STEPS_NODATA;
    case 2:
      return STEPS_OUTSIDE;
    case 3:
      return random.pick([0, STEPS_NODATA, STEPS_OUTSIDE, STEPS_MAX, random.below(STEPS_MAX)]);
    case 4:
      return random.chance(0.01) ? random.below(STEPS_MAX + 1) : random.below(50);
    case 5:
      return STEPS_MAX;
    case 6:
      return random.chance(0.9) ? STEPS_NODATA : random.below(1000);
    default:
      return random.below(STEPS_MAX + 1);
  }
}

/**
 * A field with tiles computed from a raster as assembly/field.ts defines them, in plain loops. A test controls which
 * tiles are in memory, as far as kernels can see.
 */
export class SyntheticField {
  readonly kernel: Kernel;
  readonly grid: FieldGrid;
  readonly field: Field;
  readonly raster: Raster;
  readonly #tiles = new Map<string, Region>();

  private constructor(kernel: Kernel, grid: Grid, raster: Raster) {
    this.kernel = kernel;
    this.grid = new FieldGrid(kernel, grid);
    this.field = new Field(this.grid, raster.layerCount);
    this.raster = raster;
  }

  static async of(grid: Grid, raster: Raster): Promise<SyntheticField> {
    return new SyntheticField(await Kernel.load({ scratchBytes: 4 << 20 }), grid, raster);
  }

  /** Returns the number of tiles of this form. */
  countOf(form: TileForm): number {
    const { grid } = this;
    return form === "cells" || form === "prefixes"
      ? grid.tileRowCount * grid.tileColumnCount
      : grid.pyramidRowCount * grid.pyramidColumnCount;
  }

  /** Adds a tile to its directory. */
  load(form: TileForm, index: number): void {
    const { pointer } = this.tile(form, index); // before `words`, because it may grow the memory
    this.kernel.words[this.#wordOf(form, index)] = pointer;
  }

  /** Removes all tiles from the directories. */
  unloadAll(): void {
    for (const form of ["cells", "prefixes", "bounds", "totals"] as const) {
      for (let index = 0; index < this.countOf(form); index++) this.kernel.words[this.#wordOf(form, index)] = 0;
    }
  }

  isLoaded(form: TileForm, index: number): boolean {
    return this.kernel.words[this.#wordOf(form, index)] !== 0;
  }

  /**
   * Repeats a kernel call, loading exactly the missing tiles, until there is a result.
   *
   * @returns the result, and the loaded tiles in order
   */
  runUntilFound<T extends Uint16Array | Float64Array>(
    call: () => ResultOrMissing<T>,
  ): { readonly value: T; readonly loaded: readonly { readonly form: TileForm; readonly index: number }[] } {
    const loaded: { readonly form: TileForm; readonly index: number }[] = [];
    for (;;) {
      const found = call();
      if (found.kind === "found") return { value: found.value.slice() as T, loaded };
      const missing = distinctTiles(found.tiles);
      if (missing.length === 0) throw new Error("the kernel needs tiles but lists none");
      for (const { form, index } of missing) {
        if (!(index >= 0 && index < this.countOf(form)))
          throw new Error(`the kernel lists tile ${index} of ${form}, which does not exist`);
        if (this.isLoaded(form, index)) throw new Error(`the kernel lists tile ${index} of ${form}, which is loaded`);
        this.load(form, index);
        loaded.push({ form, index });
      }
    }
  }

  /** Computes the statistics of a circle cell by cell. */
  summarize(circle: Circle): { readonly cells: CircleCells; readonly summaries: readonly CircleSummary[] } {
    const cells = rowSpans(this.kernel, this.grid.grid, circle);
    const sums = new CircleAccumulator(cells, this.field.vectorCount * LANES);
    const tiles = new Set<number>();
    for (let i = 0; i < cells.spans.length; i += 3) {
      const [row = 0, first = 0, last = 0] = cells.spans.subarray(i, i + 3);
      const tileRow = Math.floor(row / TILE_SIZE) * this.grid.tileColumnCount;
      for (let column = Math.floor(first / TILE_SIZE); column <= Math.floor(last / TILE_SIZE); column++) {
        tiles.add(tileRow + column);
      }
    }
    sums.add(
      this.kernel,
      [...tiles].map((index) => ({
        tileRow: Math.floor(index / this.grid.tileColumnCount),
        tileColumn: index % this.grid.tileColumnCount,
        cells: this.tile("cells", index),
      })),
    );
    const weights = rowWeights(this.kernel, this.grid.grid, sums.rows);
    return { cells, summaries: sums.summarize(this.kernel, weights).slice(0, this.raster.layerCount) };
  }

  stepsAt({ row, column, layer }: { readonly row: number; readonly column: number; readonly layer: number }): number {
    const { rowCount, columnCount } = this.grid.grid;
    if (row >= rowCount || column >= columnCount || layer >= this.raster.layerCount) return STEPS_OUTSIDE;
    return this.raster.steps[(row * columnCount + column) * this.raster.layerCount + layer] ?? STEPS_OUTSIDE;
  }

  /** Returns a tile; generates it on the first call. */
  tile(form: TileForm, index: number): Region {
    const name = `${form} ${index}`;
    let region = this.#tiles.get(name);
    if (region === undefined) {
      region = this.kernel.reserve(tileBytes(form, this.field.vectorCount));
      this.#tiles.set(name, region);
      if (form === "cells") this.#fillCells(index, this.kernel.u16(region));
      else if (form === "prefixes") this.#fillPrefixes(index, this.kernel.i32(region));
      else if (form === "bounds") this.#fillBounds(index, this.kernel.u16(region));
      else this.#fillTotals(index, this.kernel.i32(region));
    }
    return region;
  }

  #wordOf(form: TileForm, index: number): number {
    return (this.field.directories[form].pointer >> 2) + index;
  }

  #fillCells(index: number, out: Uint16Array): void {
    const lanes = this.field.vectorCount * LANES;
    const top = Math.floor(index / this.grid.tileColumnCount) * TILE_SIZE;
    const west = (index % this.grid.tileColumnCount) * TILE_SIZE;
    const { layerCount, steps } = this.raster;
    const { rowCount, columnCount } = this.grid.grid;
    out.fill(STEPS_OUTSIDE);
    for (let row = top; row < Math.min(top + TILE_SIZE, rowCount); row++) {
      for (let column = west; column < Math.min(west + TILE_SIZE, columnCount); column++) {
        const from = (row * columnCount + column) * layerCount;
        out.set(steps.subarray(from, from + layerCount), ((row - top) * TILE_SIZE + column - west) * lanes);
      }
    }
  }

  #fillPrefixes(index: number, out: Int32Array): void {
    const lanes = this.field.vectorCount * LANES;
    const top = Math.floor(index / this.grid.tileColumnCount) * TILE_SIZE;
    const west = (index % this.grid.tileColumnCount) * TILE_SIZE;
    for (let row = 0; row < TILE_SIZE; row++) {
      for (let layer = 0; layer < lanes; layer++) {
        let prefix = 0;
        for (let column = 0; column <= TILE_SIZE; column++) {
          out[(row * (TILE_SIZE + 1) + column) * lanes + layer] = prefix;
          const steps = this.stepsAt({ row: top + row, column: west + column, layer });
          if (steps <= STEPS_MAX) prefix += COUNT_ONE + steps;
        }
      }
    }
  }

  #fillBounds(index: number, out: Uint16Array): void {
    const lanes = this.field.vectorCount * LANES;
    const edge = TILES_PER_PYRAMID_TILE * TILE_SIZE;
    const top = Math.floor(index / this.grid.pyramidColumnCount) * edge;
    const west = (index % this.grid.pyramidColumnCount) * edge;
    const { rowCount, columnCount } = this.grid.grid;
    for (let row = top; row < Math.min(top + edge, rowCount); row++) {
      for (let column = west; column < Math.min(west + edge, columnCount); column++) {
        const block = Math.floor((row - top) / BLOCK) * (edge / BLOCK) + Math.floor((column - west) / BLOCK);
        for (let layer = 0; layer < this.raster.layerCount; layer++) {
          const steps = this.stepsAt({ row, column, layer });
          const index = block * lanes + layer;
          if (steps <= STEPS_MAX) out[index] = Math.max(out[index] ?? 0, steps + 1);
        }
      }
    }
  }

  #fillTotals(index: number, out: Int32Array): void {
    const lanes = this.field.vectorCount * LANES;
    const edge = TILES_PER_PYRAMID_TILE * TILE_SIZE;
    const top = Math.floor(index / this.grid.pyramidColumnCount) * edge;
    const west = (index % this.grid.pyramidColumnCount) * edge;
    const { rowCount, columnCount } = this.grid.grid;
    for (let row = top; row < Math.min(top + edge, rowCount); row++) {
      for (let column = west; column < Math.min(west + edge, columnCount); column++) {
        const tile = (row - top) * TILES_PER_PYRAMID_TILE + Math.floor((column - west) / TILE_SIZE);
        for (let layer = 0; layer < this.raster.layerCount; layer++) {
          const steps = this.stepsAt({ row, column, layer });
          const index = tile * lanes + layer;
          if (steps <= STEPS_MAX) out[index] = (out[index] ?? 0) + COUNT_ONE + steps;
        }
      }
    }
  }
}

function distinctTiles(tiles: readonly MissingTiles[]): { readonly form: TileForm; readonly index: number }[] {
  return tiles.flatMap(({ form, indices }) => [...new Set(indices)].map((index) => ({ form, index })));
}
