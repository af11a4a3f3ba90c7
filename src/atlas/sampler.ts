import { type Circle, type CircleCells, rowSpans, rowWeights } from "../kernel/geodesy.ts";
import { type Cell, cellCentre, type Location } from "../kernel/grid.ts";
import type { Kernel, Region } from "../kernel/instance.ts";
import { TILE_SIZE } from "../kernel/kernel.generated.ts";
import { gatherCells, locateCell } from "../kernel/points.ts";
import { CircleSums, type CircleSummary } from "../kernel/radius.ts";
import { TileCache } from "./cache.ts";
import type { GroupEntry } from "./catalogue.ts";
import type { AtlasHazard, CellAtlas, CellSource, TileRequest } from "./cellSource.ts";
import { CONSTANT_STEPS } from "./tile.ts";
import { type TileAddress, tilesOf } from "./tiling.ts";

/** One (scenario, year) of a hazard, wherever its cells come from. */
export interface SampledGroup {
  readonly entry: GroupEntry;
  readonly source: CellSource;
  /** Index in the source's groups. */
  readonly group: number;
  /** First cache key of its tiles. */
  readonly keyBase: number;
}

/** A hazard whose groups can be looked up. */
export interface SampledHazard extends Pick<AtlasHazard, "hazard" | "grid" | "rules"> {
  group(scenario: string, year: number): SampledGroup | undefined;
}

/** What stands at a location. */
export interface CellSample {
  readonly cell: Cell;
  readonly centre: Location;
  /** For each group u16[layer], steps or why there are none. */
  readonly steps: readonly Uint16Array[];
}

/** What stands within a circle. */
export interface CircleSample {
  readonly cellCount: number;
  /** For each group, for each layer. */
  readonly summaries: readonly (readonly CircleSummary[])[];
}

/** A tile of one of the groups asked for, in memory. */
interface ResidentTile extends TileAddress {
  /** Which of the groups asked for. */
  readonly asked: number;
  readonly cells: Region;
}

/** Keys of one group's tiles stay apart from the next group's. */
const KEYS_PER_GROUP = 2 ** 32;

type ConstantState = keyof typeof CONSTANT_STEPS;
const CONSTANT_STATES = Object.keys(CONSTANT_STEPS) as ConstantState[];

/** Asks the cells of an open atlas: where a query's geometry, the cache and the kernels meet. Knows no hazard. */
export class Sampler {
  readonly hazards: ReadonlyMap<string, SampledHazard>;
  readonly #kernel: Kernel;
  readonly #cache: TileCache;
  /** One shared tile for each state that is not stored. */
  readonly #constants: Readonly<Record<ConstantState, Region>>;

  constructor(kernel: Kernel, atlas: CellAtlas, { cacheBytes }: { readonly cacheBytes: number }) {
    this.#kernel = kernel;
    const hazards = new Map<string, SampledHazard>();
    let groupCount = 0;
    let layersMax = 1;
    for (const { hazard, grid, rules, sources } of atlas.hazards) {
      const groups = new Map<string, SampledGroup>();
      for (const source of sources) {
        for (const [group, entry] of source.groups.entries()) {
          layersMax = Math.max(layersMax, entry.layers.length);
          if (entry.superseded === true) continue;
          groups.set(groupName(entry), { entry, source, group, keyBase: groupCount++ * KEYS_PER_GROUP });
        }
      }
      hazards.set(hazard, {
        hazard,
        grid,
        rules,
        group: (scenario, year) => groups.get(groupName({ scenario, year })),
      });
    }
    this.hazards = hazards;
    const slotBytes = TILE_SIZE * TILE_SIZE * layersMax * 2;
    this.#constants = Object.fromEntries(
      CONSTANT_STATES.map((state) => {
        const region = kernel.reserve(slotBytes);
        kernel.u16(region).fill(CONSTANT_STEPS[state]);
        return [state, region];
      }),
    ) as Record<ConstantState, Region>;
    this.#cache = new TileCache(kernel, { slotBytes, slotCount: Math.max(2, Math.floor(cacheBytes / slotBytes)) });
  }

  /** The cell that contains the location. @returns undefined where the grid does not reach */
  async sampleCell(
    hazard: SampledHazard,
    location: Location,
    groups: readonly SampledGroup[],
  ): Promise<CellSample | undefined> {
    const cell = locateCell(this.#kernel, hazard.grid, location);
    if (cell === undefined) return undefined;
    const tile = { tileRow: Math.floor(cell.row / TILE_SIZE), tileColumn: Math.floor(cell.column / TILE_SIZE) };
    const index = Int32Array.of((cell.row % TILE_SIZE) * TILE_SIZE + (cell.column % TILE_SIZE));
    const steps: Uint16Array[] = Array.from({ length: groups.length });
    const inTiles: number[] = [];
    for (const [i, { source, group }] of groups.entries()) {
      const made = source.readCells?.(group, [cell]);
      if (made === undefined) inTiles.push(i);
      else steps[i] = made;
    }
    await this.#withTiles(
      hazard,
      inTiles.map((i) => groups[i] as SampledGroup),
      [tile],
      (resident) => {
        for (const { asked, cells } of resident) {
          const i = inTiles[asked] ?? 0;
          steps[i] = gatherCells(this.#kernel, { cells, layerCount: layerCountOf(groups[i]) }, index);
        }
      },
    );
    return { cell, centre: cellCentre(hazard.grid, cell), steps };
  }

  /** All cells whose centres lie in the circle, and the one that contains its centre. */
  async sampleCircle(hazard: SampledHazard, circle: Circle, groups: readonly SampledGroup[]): Promise<CircleSample> {
    const cells = rowSpans(this.#kernel, hazard.grid, circle);
    const sums = groups.map((group) => new CircleSums(cells, layerCountOf(group)));
    await this.#withTiles(hazard, groups, tilesOf(cells), (resident) => {
      for (const [i, sum] of sums.entries()) {
        const tiles = resident.filter(({ asked }) => asked === i);
        if (tiles.length > 0) sum.add(this.#kernel, tiles);
      }
    });
    const rows = sums[0]?.rows ?? { firstRow: 0, rowCount: 0 };
    const weights = rowWeights(this.#kernel, hazard.grid, rows);
    return {
      cellCount: countOf(cells),
      summaries: sums.map((sum) => sum.summarise(this.#kernel, weights)),
    };
  }

  /**
   * Brings every group of every tile before `read` exactly once; the cells are only there for that call.
   * Tiles come in batches that the cache can hold; all groups of a source in one go, so that neighbours in the
   * file are read together.
   */
  async #withTiles(
    hazard: SampledHazard,
    groups: readonly SampledGroup[],
    tiles: readonly TileAddress[],
    read: (resident: readonly ResidentTile[]) => void,
  ): Promise<void> {
    const tileColumnCount = Math.ceil(hazard.grid.columnCount / TILE_SIZE);
    for (const source of new Set(groups.map((group) => group.source))) {
      const wanted = groups.flatMap((group, i) => (group.source === source ? [i] : []));
      const requests = tiles.flatMap((tile) =>
        wanted.map((i) => ({ ...tile, group: groups[i]?.group ?? 0, asked: i, keyBase: groups[i]?.keyBase ?? 0 })),
      );
      const states = await source.resolve(requests);
      const stored: typeof requests = [];
      const constant: ResidentTile[] = [];
      for (const [i, request] of requests.entries()) {
        const state = states[i] ?? "outside";
        if (state === "cells") stored.push(request);
        else constant.push({ ...request, cells: this.#constants[state] });
      }
      read(constant);
      for (let start = 0; start < stored.length; start += this.#cache.keysPerUseMax) {
        const batch = stored.slice(start, start + this.#cache.keysPerUseMax);
        await this.#cache.use(
          batch.map(({ keyBase, tileRow, tileColumn }) => keyBase + tileRow * tileColumnCount + tileColumn),
          async (missing) => {
            await source.load(missing.map(({ index, slot }) => ({ ...(batch[index] as TileRequest), slot })));
          },
          (slots) => read(batch.map((request, i) => ({ ...request, cells: slots[i] as Region }))),
        );
      }
    }
  }
}

function groupName({ scenario, year }: { readonly scenario: string; readonly year: number }): string {
  return `${scenario}/${year}`;
}

function layerCountOf(group: SampledGroup | undefined): number {
  return group?.entry.layers.length ?? 0;
}

function countOf({ spans }: CircleCells): number {
  let count = 0;
  for (let i = 0; i < spans.length; i += 3) count += (spans[i + 2] ?? 0) - (spans[i + 1] ?? 0) + 1;
  return count;
}
