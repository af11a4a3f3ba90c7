/** Assembles the rows of an atlas from the parts that are computed from the source maps. */
import { type Band, type CellBlock, copyToTile, extentOf, type LayerRange, tilingOf } from "../atlas/tile.ts";
import { type EncodedTile, encodeTile, tilesOfRow } from "../atlas/tileEncoding.ts";
import type { WorkSteps } from "../atlas/writer.ts";
import { STEPS_OUTSIDE, TILE_SIZE } from "../kernel/kernel.generated.ts";
import { addCounts, type GroupTotals, zeroCounts } from "./cellCounts.ts";
import { mergeLargestRounding } from "./metricSteps.ts";
import { tileRowsOf } from "./partComputer.ts";
import { atlasBlockOf, atlasRowOfSource, layerRangesOf } from "./partTiles.ts";
import { type Part, type PartRunner, SlabReader } from "./slabReader.ts";
import { SlabParts } from "./slabParts.ts";
import { storedLayerCounts } from "./supplementPlan.ts";
import type { IngestTarget } from "./target.ts";

/** A row of tiles of one group of the plan while it is assembled. */
interface BandTiles {
  /** By stored group and column; undefined until it is encoded. */
  readonly encoded: (EncodedTile | undefined)[][];
  /** The cells of tiles that are not in one part, with the layers of all stored groups. */
  readonly blocks: CellBlock[];
}

/** Reads bands of one pack and counts their cells. */
export class BandReader {
  readonly #target: IngestTarget;
  readonly #slabs: SlabReader;
  /** The layers of each group that is stored, for each group of the plan. */
  readonly #stored: readonly (readonly LayerRange[])[];
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
    this.#stored = plan.groups.map((group) => layerRangesOf(storedLayerCounts(plan, group)));
    this.#signal = signal;
    this.totals = plan.groups.map(() => ({ counts: zeroCounts(), worst: {} }));
  }

  /** Returns the tiles of a band for each stored group, from west to east; call it from north to south. */
  async read(band: Band, steps: WorkSteps): Promise<readonly (readonly EncodedTile[])[]> {
    const { window } = this.#target;
    const parts = (this.#parts ??= await SlabParts.open(steps));
    const tileRow = band.firstRow / TILE_SIZE;
    const rows = this.#stored.map((stored) => this.#emptyRow(stored.length));
    const shift = atlasRowOfSource(this.#target);
    const first = Math.max(window.firstRow, band.firstRow - shift);
    const end = Math.min(window.firstRow + window.rowCount, band.firstRow + band.rowCount - shift);
    for (let row = first; row < end;) {
      const slab = await this.#slabs.slabAt(row, { parts, signal: this.#signal });
      for (const part of slab.parts) {
        this.#addPart(part, tileRow, rows[part.group] as BandTiles);
        this.#count(part, band);
      }
      row = Math.min(end, slab.firstRow + slab.rowCount);
    }
    return rows.flatMap(({ encoded, blocks }, group) =>
      encoded.map((tiles, stored) => {
        const layers = this.#stored[group]?.[stored] as LayerRange;
        return tiles.map((tile, tileColumn) => tile ?? this.#encode(blocks, { tileRow, tileColumn, layers }));
      }),
    );
  }

  /** Removes saved parts that are no longer needed when this many rows of the atlas are durable. */
  async committed(rowsDone: number): Promise<void> {
    await this.#parts?.removeBefore(rowsDone - atlasRowOfSource(this.#target));
  }

  #emptyRow(storedCount: number): BandTiles {
    const { tileColumnCount } = tilingOf(this.#target.grid);
    const encoded = Array.from({ length: storedCount }, () =>
      Array.from({ length: tileColumnCount }, (): EncodedTile | undefined => undefined),
    );
    return { encoded, blocks: [] };
  }

  /** Adds the encoded tiles of a part to a row of tiles, and its cells if tiles have cells in several parts. */
  #addPart({ group, window, rows }: Part, tileRow: number, { encoded, blocks }: BandTiles): void {
    const stored = this.#stored[group] ?? [];
    if (rows.steps.length > 0) {
      const layerCount = stored.reduce((sum, { count }) => sum + count, 0);
      blocks.push(atlasBlockOf(window, rows.steps, { layerCount, placement: this.#target }));
    }
    for (const [index, tiles] of (rows.tiles ?? []).entries()) {
      if (tileRow < tiles.firstRow || tileRow >= tiles.firstRow + tiles.rowCount) continue;
      const ofRow = tilesOfRow(tiles, tileRow, stored[index]?.count ?? 0);
      for (const [column, tile] of ofRow.entries()) (encoded[index] ?? [])[tiles.firstColumn + column] = tile;
    }
  }

  /** Encodes a tile whose cells are in several parts, or in none. */
  #encode(
    blocks: readonly CellBlock[],
    position: { readonly tileRow: number; readonly tileColumn: number; readonly layers: LayerRange },
  ): EncodedTile {
    if (blocks.length === 0) return { state: "outside" };
    const layerCount = position.layers.count;
    const tile = new Uint16Array(TILE_SIZE * TILE_SIZE * layerCount).fill(STEPS_OUTSIDE);
    for (const block of blocks) copyToTile(tile, block, position);
    return encodeTile(tile, layerCount, extentOf(this.#target.grid, position));
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
