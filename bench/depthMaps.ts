/** Synthetic flood depths of a world map as tiled GeoTIFF files, one per return period, for the benchmark of the ingest. */
import { open } from "node:fs/promises";
import { promisify } from "node:util";
import { deflate } from "node:zlib";
import type { Grid } from "../src/kernel/grid.ts";
import { randomFrom } from "../test/seededRandom.ts";
import { addOctaves, NoiseField, type Octaves, quantile, sortedSample } from "./noiseField.ts";

const compress = promisify(deflate);

/** Edge length of a tile of the files, in cells. */
const TILE = 256;
const NODATA = -9999;
/** Share of the cells that are wet in the map of the longest return period. */
const WET_SHARE = 0.15;
/** Share of the cells without data, in large areas such as oceans. */
const NODATA_SHARE = 0.3;
/** TIFF field types in use: type code and bytes per value. */
const TYPES = { ascii: [2, 1], short: [3, 2], long: [4, 4], double: [12, 8] } as const;

/** Depths that are deepest in the middle of connected patches and grow with the return period. */
export class DepthMaps {
  readonly grid: Grid;
  readonly #wet: Octaves;
  readonly #gaps: Octaves;
  /** Height of the shore in the map of the longest return period. */
  readonly #shore: number;
  readonly #gapFrom: number;

  constructor({ grid, seed }: { readonly grid: Grid; readonly seed: number }) {
    this.grid = grid;
    const random = randomFrom(seed);
    const field = (pitchCells: number, weight: number) => ({ field: new NoiseField(random, grid, pitchCells), weight });
    this.#wet = [field(256, 0.6), field(64, 0.25), field(16, 0.1), field(4, 0.05)];
    this.#gaps = [field(1024, 0.8), field(128, 0.2)];
    this.#shore = quantile(sortedSample(this.#wet, grid), 1 - WET_SHARE / (1 - NODATA_SHARE));
    this.#gapFrom = quantile(sortedSample(this.#gaps, grid), 1 - NODATA_SHARE);
  }

  /**
   * Writes one GeoTIFF of 32-bit floats in DEFLATE tiles for each return period.
   * @param paths path of the file by return period in years
   * @param storedRowCount number of rows, from the north, whose tiles are stored; the others are omitted (nodata)
   */
  async write(paths: ReadonlyMap<number, string>, storedRowCount = this.grid.rowCount): Promise<void> {
    const { rowCount, columnCount } = this.grid;
    const files: TiledFile[] = [];
    for (const path of paths.values()) files.push(await TiledFile.create(path, this.grid));
    const longest = Math.max(...paths.keys());
    const shores = [...paths.keys()].map((years) => this.#shore + 0.02 * Math.log(longest / years));
    for (let top = 0; top < rowCount; top += TILE) {
      if (top >= storedRowCount) {
        for (const file of files) file.omitRow();
        continue;
      }
      const rows = files.map(() => new Float32Array(TILE * columnCount).fill(NODATA));
      for (let row = top; row < Math.min(rowCount, top + TILE); row++) {
        const heights = addOctaves(this.#wet, row, columnCount);
        const gaps = addOctaves(this.#gaps, row, columnCount);
        for (const [index, depths] of rows.entries()) {
          const shore = shores[index] ?? 0;
          const offset = (row - top) * columnCount;
          for (let column = 0; column < columnCount; column++) {
            if ((gaps[column] ?? 0) >= this.#gapFrom) continue;
            depths[offset + column] = Math.max(0, 45 * ((heights[column] ?? 0) - shore));
          }
        }
      }
      await Promise.all(files.map((file, index) => file.appendRow(rows[index] as Float32Array)));
    }
    for (const file of files) await file.finish();
  }
}

/** A GeoTIFF whose tiles are appended row by row; the directory follows them. */
class TiledFile {
  readonly #handle: Awaited<ReturnType<typeof open>>;
  readonly #grid: Grid;
  readonly #offsets: number[] = [];
  readonly #sizes: number[] = [];
  #sizeBytes = 8;

  private constructor(handle: Awaited<ReturnType<typeof open>>, grid: Grid) {
    this.#handle = handle;
    this.#grid = grid;
  }

  static async create(path: string, grid: Grid): Promise<TiledFile> {
    return new TiledFile(await open(path, "w"), grid);
  }

  /** Appends one row of tiles: f32[TILE][columnCount]. */
  async appendRow(values: Float32Array): Promise<void> {
    const { columnCount } = this.#grid;
    const tiles: Promise<Buffer>[] = [];
    for (let column = 0; column < columnCount; column += TILE) {
      const tile = new Float32Array(TILE * TILE).fill(NODATA);
      const width = Math.min(TILE, columnCount - column);
      for (let row = 0; row < TILE; row++) {
        const from = row * columnCount + column;
        tile.set(values.subarray(from, from + width), row * TILE);
      }
      tiles.push(compress(new Uint8Array(tile.buffer), { level: 6 }));
    }
    for (const tile of await Promise.all(tiles)) {
      this.#offsets.push(this.#sizeBytes);
      this.#sizes.push(tile.length);
      await this.#handle.write(tile, 0, tile.length, this.#sizeBytes);
      this.#sizeBytes += tile.length;
    }
  }

  /** Omits one row of tiles, whose cells have no data. */
  omitRow(): void {
    for (let column = 0; column < this.#grid.columnCount; column += TILE) {
      this.#offsets.push(0);
      this.#sizes.push(0);
    }
  }

  async finish(): Promise<void> {
    const { rowCount, columnCount, cellSizeLonDeg, cellSizeLatDeg, westDeg, northDeg } = this.#grid;
    const fields: readonly (readonly [tag: number, type: keyof typeof TYPES, values: readonly number[]])[] = [
      [256, "long", [columnCount]],
      [257, "long", [rowCount]],
      [258, "short", [32]],
      [259, "short", [8]], // DEFLATE
      [262, "short", [1]],
      [277, "short", [1]],
      [284, "short", [1]],
      [322, "long", [TILE]],
      [323, "long", [TILE]],
      [324, "long", this.#offsets],
      [325, "long", this.#sizes],
      [339, "short", [3]], // floats
      [33550, "double", [cellSizeLonDeg, cellSizeLatDeg, 0]],
      [33922, "double", [0, 0, 0, westDeg, northDeg, 0]],
      [34735, "short", [1, 1, 0, 3, 1024, 0, 1, 2, 1025, 0, 1, 1, 2048, 0, 1, 4326]],
      [42113, "ascii", [...Buffer.from(`${NODATA}\0`, "latin1")]],
    ];
    const start = this.#sizeBytes + (this.#sizeBytes % 2);
    const sizeOf = (type: keyof typeof TYPES, values: readonly number[]): number => values.length * TYPES[type][1];
    const directoryBytes = 2 + 12 * fields.length + 4;
    let next = directoryBytes;
    const bytes = Buffer.alloc(
      directoryBytes + fields.reduce((sum, [, type, values]) => sum + sizeOf(type, values) + 8, 0),
    );
    bytes.writeUInt16LE(fields.length, 0);
    for (const [index, [tag, type, values]] of fields.entries()) {
      const [code, size] = TYPES[type];
      const entry = 2 + 12 * index;
      bytes.writeUInt16LE(tag, entry);
      bytes.writeUInt16LE(code, entry + 2);
      bytes.writeUInt32LE(values.length, entry + 4);
      let position = entry + 8;
      if (sizeOf(type, values) > 4) {
        bytes.writeUInt32LE(start + next, position);
        position = next;
        next += Math.ceil(sizeOf(type, values) / 8) * 8;
      }
      for (const value of values) {
        if (type === "double") bytes.writeDoubleLE(value, position);
        else bytes.writeUIntLE(value, position, size);
        position += size;
      }
    }
    await this.#handle.write(bytes, 0, next, start);
    const head = Buffer.alloc(8);
    head.write("II*\0", 0, "latin1");
    head.writeUInt32LE(start, 4);
    await this.#handle.write(head, 0, 8, 0);
    await this.#handle.close();
  }
}
