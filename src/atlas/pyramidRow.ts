import type { Grid } from "../kernel/grid.ts";
import type { Kernel } from "../kernel/instance.ts";
import { TILE_SIZE } from "../kernel/kernel.generated.ts";
import { bytesOf, concatenate, type PackedTile, writePyramidTile } from "./packEncoding.ts";
import type { PackWork } from "./packWork.ts";
import { TILES_PER_PYRAMID_TILE } from "./pyramidHeader.ts";
import { type Band, extentOf, PYRAMID_SIZE, PyramidSections, STORED_STATES, tilingOf } from "./tile.ts";
import { type EncodedTile, encodeTiles } from "./tileEncoding.ts";

/** Rows of blocks in a row of tiles. */
const BLOCK_ROWS = 8;
const NO_BYTES = new Uint8Array(0);

/** A row of tiles of one group: its cells, u16[rowCount][columnCount][layerCount], or its tiles, from west to east. */
export type BandContent = Uint16Array | readonly EncodedTile[];

/** Dimensions of a pyramid row: the grid and the layer count of each group. */
export interface PyramidShape {
  readonly grid: Grid;
  readonly layerCounts: readonly number[];
}

/** Header of a saved row of tiles, followed by the sections and the compressed bytes of the tiles. */
interface SavedRow {
  readonly states: readonly (readonly number[])[];
  readonly sizes: readonly (readonly number[])[];
  readonly bounds: readonly (readonly number[])[];
}

/**
 * The pyramid row in progress: eight rows of tiles, which are added from north to south and then written as pyramid tiles.
 * Finished rows of tiles can be saved earlier, so that an interrupted write does not compute them again.
 */
export class PyramidRow {
  readonly #shape: PyramidShape;
  readonly #pyramidRow: number;
  /** By pyramid column and group. */
  readonly #sections: readonly (readonly PyramidSections[])[];
  readonly #rows: (readonly PackedTile[])[] = [];
  /** Number of rows already in the `partial` file. */
  #savedCount = 0;

  constructor(shape: PyramidShape, pyramidRow: number) {
    this.#shape = shape;
    this.#pyramidRow = pyramidRow;
    this.#sections = Array.from({ length: tilingOf(shape.grid).pyramidColumnCount }, () =>
      shape.layerCounts.map((layerCount) => new PyramidSections(layerCount)),
    );
  }

  /** Restores the pyramid row in progress from the `partial` file. */
  static async restore(shape: PyramidShape, work: PackWork): Promise<PyramidRow> {
    const { tileRowsDone } = work.journal;
    const row = new PyramidRow(shape, Math.floor(tileRowsDone / PYRAMID_SIZE));
    const bytes = await work.readPartial();
    let offset = 0;
    while (offset < bytes.length) offset = row.#restore(bytes, offset);
    row.#savedCount = row.#rows.length;
    const isComplete = tileRowsDone === tilingOf(shape.grid).tileRowCount;
    if (!isComplete && row.#rows.length !== tileRowsDone % PYRAMID_SIZE) {
      throw new Error(
        `The partial file must hold ${tileRowsDone % PYRAMID_SIZE} rows of tiles (got ${row.#rows.length}).`,
      );
    }
    return row;
  }

  /** Adds the next row of tiles, for each group its cells or its encoded tiles. */
  add(groups: readonly BandContent[], band: Band): void {
    const { grid, layerCounts } = this.#shape;
    const position = { row: this.#rows.length, tileRow: this.#pyramidRow * PYRAMID_SIZE + this.#rows.length };
    const encoded = groups.map((content, group) =>
      content instanceof Uint16Array ? this.#encode(content, band, layerCounts[group] ?? 0) : content,
    );
    const { tileColumnCount } = tilingOf(grid);
    this.#rows.push(
      Array.from({ length: tileColumnCount }, (_, tileColumn) => {
        const tiles = encoded.map((ofGroup) => ofGroup[tileColumn] ?? ({ state: "outside" } as const));
        return this.#addTile(tiles, { ...position, tileColumn });
      }),
    );
  }

  #encode(cells: Uint16Array, band: Band, layerCount: number): readonly EncodedTile[] {
    const { grid } = this.#shape;
    const { tileColumnCount } = tilingOf(grid);
    const tileRow = band.firstRow / TILE_SIZE;
    const block = { ...band, cells, layerCount, firstColumn: 0, columnCount: grid.columnCount };
    const range = { firstRow: tileRow, rowCount: 1, firstColumn: 0, columnCount: tileColumnCount };
    return [...encodeTiles(block, range, { layers: { first: 0, count: layerCount }, grid })];
  }

  #addTile(
    tiles: readonly EncodedTile[],
    { row, tileRow, tileColumn }: { readonly row: number; readonly tileRow: number; readonly tileColumn: number },
  ): PackedTile {
    const sections = this.#sections[Math.floor(tileColumn / PYRAMID_SIZE)] ?? [];
    const extent = extentOf(this.#shape.grid, { tileRow, tileColumn });
    const position = { row, column: tileColumn % PYRAMID_SIZE };
    const bounds = tiles.map((tile, group) => {
      const section = sections[group] as PyramidSections;
      return tile.state === "cells"
        ? section.putSummary(tile.summary, position)
        : section.putConstant(tile.state, extent, position);
    });
    return {
      states: tiles.map(({ state }) => STORED_STATES[state]),
      parts: tiles.map((tile) => (tile.state === "cells" ? tile.bytes : NO_BYTES)),
      bounds: concatenateBounds(bounds),
    };
  }

  /** Appends the rows of tiles that are not saved yet to the `partial` file. */
  async save(work: PackWork): Promise<void> {
    for (; this.#savedCount < this.#rows.length; this.#savedCount++) {
      await work.appendPartial(this.#encodeRow(this.#savedCount));
    }
  }

  /** Appends the pyramid tiles and their data tiles to the files of the pack. */
  async finish(kernel: Kernel, work: PackWork): Promise<void> {
    for (const [column, sections] of this.#sections.entries()) {
      const tiles = Array.from({ length: TILES_PER_PYRAMID_TILE }, (_, i) => {
        const tileColumn = column * PYRAMID_SIZE + (i % PYRAMID_SIZE);
        return this.#rows[Math.floor(i / PYRAMID_SIZE)]?.[tileColumn];
      });
      work.addRow(await writePyramidTile(kernel, work, tiles, sections, { row: this.#pyramidRow, column }));
    }
  }

  #encodeRow(index: number): Uint8Array {
    const tiles = this.#rows[index] ?? [];
    const header: SavedRow = {
      states: tiles.map(({ states }) => states),
      sizes: tiles.map(({ parts }) => parts.map(({ length }) => length)),
      bounds: tiles.map(({ bounds }) => [...bounds]),
    };
    const text = new TextEncoder().encode(JSON.stringify(header));
    const size = bytesOf(Uint32Array.of(text.length));
    const sections = this.#sectionsOf(index).flatMap(({ maxima, totals }) => [bytesOf(maxima), bytesOf(totals)]);
    return concatenate([size, text, ...sections, ...tiles.flatMap(({ parts }) => parts)]);
  }

  /** Decodes one saved row and returns the offset of the next. */
  #restore(bytes: Uint8Array, start: number): number {
    let offset = start;
    const take = (size: number): Uint8Array => bytes.subarray(offset, (offset += size));
    const textSize = new DataView(bytes.buffer, bytes.byteOffset + offset, 4).getUint32(0, true);
    take(4);
    const header = JSON.parse(new TextDecoder().decode(take(textSize))) as SavedRow;
    for (const { maxima, totals } of this.#sectionsOf(this.#rows.length)) {
      bytesOf(maxima).set(take(maxima.byteLength));
      bytesOf(totals).set(take(totals.byteLength));
    }
    this.#rows.push(
      header.states.map((states, tile) => ({
        states,
        parts: (header.sizes[tile] ?? []).map(take),
        bounds: Uint16Array.from(header.bounds[tile] ?? []),
      })),
    );
    if (offset > bytes.length) throw new Error("The partial file is truncated.");
    return offset;
  }

  /** Returns the parts of the sections that a row of tiles fills, for each pyramid column and group. */
  #sectionsOf(index: number): readonly { readonly maxima: Uint16Array; readonly totals: Uint32Array }[] {
    return this.#sections.flatMap((sections) =>
      sections.map(({ maxima, totals }, group) => {
        const layerCount = this.#shape.layerCounts[group] ?? 0;
        const maximaSize = BLOCK_ROWS * PYRAMID_SIZE * BLOCK_ROWS * layerCount;
        const totalsSize = TILE_SIZE * PYRAMID_SIZE * layerCount;
        return {
          maxima: maxima.subarray(index * maximaSize, (index + 1) * maximaSize),
          totals: totals.subarray(index * totalsSize, (index + 1) * totalsSize),
        };
      }),
    );
  }
}

function concatenateBounds(bounds: readonly Uint16Array[]): Uint16Array {
  const joined = new Uint16Array(bounds.reduce((sum, { length }) => sum + length, 0));
  let offset = 0;
  for (const ofGroup of bounds) {
    joined.set(ofGroup, offset);
    offset += ofGroup.length;
  }
  return joined;
}
