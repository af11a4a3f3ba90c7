/** Assembles the rows of an atlas from the parts that are computed from the source maps. */
import { type Band, type CellBlock, copyToTile, extentOf, tilingOf } from "../atlas/tile.ts";
import { type EncodedTile, encodeTile, tilesOfRow } from "../atlas/tileEncoding.ts";
import type { WorkSteps } from "../atlas/writer.ts";
import { STEPS_OUTSIDE, TILE_SIZE } from "../kernel/kernel.generated.ts";
import { addCounts, type GroupTotals, zeroCounts } from "./cellCounts.ts";
import { divideLayers } from "./divideLayers.ts";
import { mergeLargestRounding } from "./metricSteps.ts";
import { tileRowsOf } from "./partComputer.ts";
import { atlasBlockOf, atlasRowOfSource } from "./partTiles.ts";
import { type Part, type PartRunner, SlabReader } from "./slabReader.ts";
import { SlabParts } from "./slabParts.ts";
import { layerCountsOf } from "./supplementPlan.ts";
import type { IngestTarget } from "./target.ts";

/** A row of tiles of one group of the plan while it is assembled. */
interface BandTiles {
  /** By group that the pack stores, and by column; undefined until it is encoded. */
  readonly encoded: readonly (EncodedTile | undefined)[][];
  /** The cells of tiles that are not in one part. */
  readonly blocks: CellBlock[];
}

/** Reads bands of one pack and counts their cells. */
export class BandReader {
  readonly #target: IngestTarget;
  readonly #slabs: SlabReader;
  /** Of the groups that the pack stores for each group of the plan. */
  readonly #layerCounts: readonly (readonly number[])[];
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
    this.#layerCounts = plan.groups.map((group) => layerCountsOf(plan, group));
    this.#signal = signal;
    this.totals = plan.groups.map(() => ({ counts: zeroCounts(), worst: {} }));
  }

  /** Returns the tiles of a band for each group that the pack stores, from west to east; call it from north to south. */
  async read(band: Band, steps: WorkSteps): Promise<readonly (readonly EncodedTile[])[]> {
    const { window, grid } = this.#target;
    const parts = (this.#parts ??= await SlabParts.open(steps));
    const { tileColumnCount } = tilingOf(grid);
    const tileRow = band.firstRow / TILE_SIZE;
    const rows = this.#layerCounts.map((layerCounts): BandTiles => ({
      encoded: layerCounts.map(() => Array.from({ length: tileColumnCount })),
      blocks: [],
    }));
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
    for (const [group, { encoded, blocks }] of rows.entries()) {
      for (let tileColumn = 0; tileColumn < tileColumnCount; tileColumn++) {
        if (encoded[0]?.[tileColumn] !== undefined) continue;
        const tiles = this.#encode(blocks, { tileRow, tileColumn }, group);
        for (const [index, tile] of tiles.entries()) (encoded[index] as EncodedTile[])[tileColumn] = tile;
      }
    }
    return rows.flatMap(({ encoded }) => encoded as EncodedTile[][]);
  }

  /** Removes saved parts that are no longer needed when this many rows of the atlas are durable. */
  async committed(rowsDone: number): Promise<void> {
    await this.#parts?.removeBefore(rowsDone - atlasRowOfSource(this.#target));
  }

  /** Adds the encoded tiles of a part to a row of tiles, and its cells if tiles have cells in several parts. */
  #addPart({ group, window, rows }: Part, tileRow: number, { encoded, blocks }: BandTiles): void {
    if (rows.steps.length > 0) blocks.push(atlasBlockOf(window, rows.steps, this.#target));
    for (const [stored, tiles] of (rows.tiles ?? []).entries()) {
      if (tileRow < tiles.firstRow || tileRow >= tiles.firstRow + tiles.rowCount) return;
      const ofRow = tilesOfRow(tiles, tileRow, this.#layerCounts[group]?.[stored] ?? 0);
      const columns = encoded[stored] as (EncodedTile | undefined)[];
      for (const [index, tile] of ofRow.entries()) columns[tiles.firstColumn + index] = tile;
    }
  }

  /** Encodes the groups of a tile whose cells are in several parts, or in none. */
  #encode(
    blocks: readonly CellBlock[],
    position: { readonly tileRow: number; readonly tileColumn: number },
    group: number,
  ): readonly EncodedTile[] {
    const layerCounts = this.#layerCounts[group] ?? [];
    if (blocks.length === 0) return layerCounts.map(() => ({ state: "outside" }));
    const layerCount = layerCounts.reduce((sum, count) => sum + count, 0);
    const tile = new Uint16Array(TILE_SIZE * TILE_SIZE * layerCount).fill(STEPS_OUTSIDE);
    for (const block of blocks) copyToTile(tile, block, { layerCount, ...position });
    const extent = extentOf(this.#target.grid, position);
    return divideLayers(tile, layerCounts).map((cells, stored) => encodeTile(cells, layerCounts[stored] ?? 0, extent));
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
