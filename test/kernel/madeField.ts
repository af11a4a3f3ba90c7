import {
  Field,
  FieldGrid,
  type Found,
  LANES,
  type MissingTiles,
  tileBytes,
  type TileForm,
} from "../../src/kernel/field.ts";
import { type Circle, type CircleCells, rowSpans, rowWeights } from "../../src/kernel/geodesy.ts";
import type { Grid } from "../../src/kernel/grid.ts";
import { Kernel, type Region } from "../../src/kernel/instance.ts";
import { STEPS_MAX, STEPS_NODATA, STEPS_OUTSIDE, TILE_SIZE } from "../../src/kernel/kernel.generated.ts";
import { CircleSums, type CircleSummary } from "../../src/kernel/radius.ts";
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
 * Cells in patches of some tens of cells, each patch of one kind for each layer: all zero, all nodata, all outside, a
 * mixture, small numbers, numbers up to the top, one high cell among low ones.
 */
export function patchyRaster(
  grid: Grid,
  { layerCount, seed }: { readonly layerCount: number; readonly seed: number },
): Raster {
  const random = randomFrom(seed);
  const steps = new Uint16Array(grid.rowCount * grid.columnCount * layerCount);
  const edge = 8 + random.below(80);
  const kinds = new Map<number, Uint8Array>();
  let at = 0;
  for (let row = 0; row < grid.rowCount; row++) {
    for (let column = 0; column < grid.columnCount; column++) {
      const patch = Math.floor(row / edge) * 100_000 + Math.floor(column / edge);
      let kindOf = kinds.get(patch);
      if (kindOf === undefined) {
        const shared = random.below(8);
        kindOf = Uint8Array.from({ length: layerCount }, () => (random.chance(0.5) ? shared : random.below(8)));
        kinds.set(patch, kindOf);
      }
      for (let layer = 0; layer < layerCount; layer++) steps[at++] = someSteps(random, kindOf[layer] ?? 0);
    }
  }
  return { layerCount, steps };
}

function someSteps(random: SeededRandom, kind: number): number {
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
 * A field whose tiles are made of a raster by the words of assembly/field.ts, in plain loops, and put where the
 * kernels look for them one by one. So a test says which tiles are in memory.
 */
export class MadeField {
  readonly kernel: Kernel;
  readonly grid: FieldGrid;
  readonly field: Field;
  readonly raster: Raster;
  readonly #made = new Map<string, Region>();

  private constructor(kernel: Kernel, grid: Grid, raster: Raster) {
    this.kernel = kernel;
    this.grid = new FieldGrid(kernel, grid);
    this.field = new Field(this.grid, raster.layerCount);
    this.raster = raster;
  }

  static async of(grid: Grid, raster: Raster): Promise<MadeField> {
    return new MadeField(await Kernel.load({ scratchBytes: 32 << 20 }), grid, raster);
  }

  /** How many tiles of this form the grid has. */
  countOf(form: TileForm): number {
    const { grid } = this;
    return form === "cells" || form === "prefixes"
      ? grid.tileRowCount * grid.tileColumnCount
      : grid.pyramidRowCount * grid.pyramidColumnCount;
  }

  /** Has the tile in memory, as far as kernels know. */
  admit(form: TileForm, index: number): void {
    const { pointer } = this.made(form, index); // first: it may grow the memory, and detach the words
    this.kernel.words[this.#wordOf(form, index)] = pointer;
  }

  /** Has no tile in memory, as far as kernels know. */
  withholdAll(): void {
    for (const form of ["cells", "prefixes", "bounds", "totals"] as const) {
      for (let index = 0; index < this.countOf(form); index++) this.kernel.words[this.#wordOf(form, index)] = 0;
    }
  }

  isAdmitted(form: TileForm, index: number): boolean {
    return this.kernel.words[this.#wordOf(form, index)] !== 0;
  }

  /** Asks until nothing is missing, giving exactly what is named. @returns also what was named, in order */
  askUntilFound<T extends Uint16Array | Float64Array>(
    ask: () => Found<T>,
  ): { readonly value: T; readonly named: readonly { readonly form: TileForm; readonly index: number }[] } {
    const named: { readonly form: TileForm; readonly index: number }[] = [];
    for (;;) {
      const found = ask();
      if (found.kind === "found") return { value: found.value.slice() as T, named };
      const news = newTiles(found.tiles);
      if (news.length === 0) throw new Error("Something is missing, and nothing is named.");
      for (const { form, index } of news) {
        if (!(index >= 0 && index < this.countOf(form))) throw new Error(`There is no tile ${index} of ${form}.`);
        if (this.isAdmitted(form, index)) throw new Error(`Tile ${index} of ${form} is named, though it is there.`);
        this.admit(form, index);
        named.push({ form, index });
      }
    }
  }

  /** The slow way: every cell of the circle, one after the other. */
  summarise(circle: Circle): { readonly cells: CircleCells; readonly summaries: readonly CircleSummary[] } {
    const cells = rowSpans(this.kernel, this.grid.grid, circle);
    const sums = new CircleSums(cells, this.field.vectorCount * LANES);
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
        cells: this.made("cells", index),
      })),
    );
    const weights = rowWeights(this.kernel, this.grid.grid, sums.rows);
    return { cells, summaries: sums.summarise(this.kernel, weights).slice(0, this.raster.layerCount) };
  }

  stepsAt({ row, column, layer }: { readonly row: number; readonly column: number; readonly layer: number }): number {
    const { rowCount, columnCount } = this.grid.grid;
    if (row >= rowCount || column >= columnCount || layer >= this.raster.layerCount) return STEPS_OUTSIDE;
    return this.raster.steps[(row * columnCount + column) * this.raster.layerCount + layer] ?? STEPS_OUTSIDE;
  }

  /** The bytes of a tile, made once. */
  made(form: TileForm, index: number): Region {
    const name = `${form} ${index}`;
    let region = this.#made.get(name);
    if (region === undefined) {
      region = this.kernel.reserve(tileBytes(form, this.field.vectorCount));
      this.#made.set(name, region);
      if (form === "cells") this.#makeCells(index, this.kernel.u16(region));
      else if (form === "prefixes") this.#makePrefixes(index, this.kernel.i32(region));
      else if (form === "bounds") this.#makeBounds(index, this.kernel.u16(region));
      else this.#makeTotals(index, this.kernel.i32(region));
    }
    return region;
  }

  #wordOf(form: TileForm, index: number): number {
    return (this.field.directories[form].pointer >> 2) + index;
  }

  #makeCells(index: number, out: Uint16Array): void {
    const lanes = this.field.vectorCount * LANES;
    const top = Math.floor(index / this.grid.tileColumnCount) * TILE_SIZE;
    const west = (index % this.grid.tileColumnCount) * TILE_SIZE;
    for (let at = 0; at < out.length; at++) {
      const cell = Math.floor(at / lanes);
      out[at] = this.stepsAt({
        row: top + Math.floor(cell / TILE_SIZE),
        column: west + (cell % TILE_SIZE),
        layer: at % lanes,
      });
    }
  }

  #makePrefixes(index: number, out: Int32Array): void {
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

  #makeBounds(index: number, out: Uint16Array): void {
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
          const at = block * lanes + layer;
          if (steps <= STEPS_MAX) out[at] = Math.max(out[at] ?? 0, steps + 1);
        }
      }
    }
  }

  #makeTotals(index: number, out: Int32Array): void {
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
          const at = tile * lanes + layer;
          if (steps <= STEPS_MAX) out[at] = (out[at] ?? 0) + COUNT_ONE + steps;
        }
      }
    }
  }
}

function newTiles(tiles: readonly MissingTiles[]): { readonly form: TileForm; readonly index: number }[] {
  return tiles.flatMap(({ form, indices }) => [...new Set(indices)].map((index) => ({ form, index })));
}
