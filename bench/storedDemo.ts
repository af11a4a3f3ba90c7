/**
 * A part of the demo world, 20 x 20 degrees of Europe, as a stored atlas and as GeoTIFF files, so that benchmarks measure
 * tiles that are read instead of the formulas of the demo. Written once and cached under build/bench-data.
 */
import { existsSync } from "node:fs";
import { mkdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { catalogGridOf, type GroupEntry } from "../src/atlas/catalog.ts";
import type { AtlasHazard, CellSource } from "../src/atlas/cellSource.ts";
import { publish, writePack } from "../src/atlas/writer.ts";
import { openDemo } from "../src/demo/world.ts";
import type { Grid } from "../src/kernel/grid.ts";
import { Kernel } from "../src/kernel/instance.ts";
import { STEPS_NODATA, TILE_SIZE } from "../src/kernel/kernel.generated.ts";
import { writeGeoTiff } from "./geoTiff.ts";
import type { WorkloadSpec } from "./workload.ts";

const FOLDER = "build/bench-data/demo-europe-1";
const NORTH_DEG = 55;
const WEST_DEG = 10;
const SIDE_DEG = 20;

/** A hazard as a GeoTIFF of all its groups and queried metrics. */
export interface StoredHazard {
  readonly hazard: string;
  /** Bands of stored steps: the queried metrics of the first group, then those of the next. Missing cells are 65,535. */
  readonly geoTiffPath: string;
  readonly stepsPerUnit: readonly number[];
  readonly offsets: readonly number[];
}

export interface StoredDemo {
  /** An atlas folder for `openAtlas`. */
  readonly atlasFolder: string;
  readonly hazards: readonly StoredHazard[];
}

/** Where portfolios on the stored demo are, see `generatePlaces`: within the area that all hazards cover. */
export const STORED_DEMO_PLACES: WorkloadSpec = {
  name: "demo-europe",
  seed: 4000,
  grid: {
    northDeg: NORTH_DEG,
    westDeg: WEST_DEG,
    cellSizeLatDeg: 0.01,
    cellSizeLonDeg: 0.01,
    rowCount: SIDE_DEG * 100,
    columnCount: SIDE_DEG * 100,
  },
  places: { count: 1_000_000, townCount: 40 },
};

/** Writes the atlas and the files, or finds them in the cache. */
export async function prepareStoredDemo(): Promise<StoredDemo> {
  const kernel = await Kernel.load();
  const { hazards } = await openDemo(kernel);
  const stored = hazards.filter(({ rules }) => Object.keys(rules).length > 0); // without the curves
  const demo = {
    atlasFolder: join(FOLDER, "atlas"),
    hazards: stored.map((hazard): StoredHazard => {
      const layers = queriedLayers(hazard).flatMap(({ entries }) => entries);
      return {
        hazard: hazard.hazard,
        geoTiffPath: join(FOLDER, `${hazard.hazard}.tif`),
        stepsPerUnit: layers.map(({ steps_per_unit }) => steps_per_unit),
        offsets: layers.map(({ offset }) => offset),
      };
    }),
  };
  if (existsSync(FOLDER)) return demo;
  console.error(`writing a part of the demo world to ${FOLDER}`);
  const unfinished = `${FOLDER}.unfinished`;
  await rm(unfinished, { recursive: true, force: true });
  const atlasFolder = join(unfinished, "atlas");
  await mkdir(atlasFolder, { recursive: true });
  const packs: Awaited<ReturnType<typeof writePack>>[] = [];
  for (const hazard of stored) {
    const region = new DemoRegion(hazard);
    packs.push(
      await writePack(kernel, atlasFolder, {
        hazard: hazard.hazard,
        grid: region.grid,
        groups: region.source.groups,
        resumeKey: "bench",
        readBand: ({ firstRow }) => region.readTileRow(firstRow / TILE_SIZE),
      }),
    );
    await writeFile(join(unfinished, `${hazard.hazard}.tif`), await writeGeoTiff(await region.readBands()));
  }
  await publish(atlasFolder, () => ({
    format: "isotherm-atlas",
    format_version: 1,
    release: "bench-demo-europe-1",
    created_at: "2026-01-01T00:00:00.000Z",
    synthetic: true,
    hazards: stored.map((hazard, index) => {
      const region = new DemoRegion(hazard);
      return {
        hazard: hazard.hazard,
        grid: catalogGridOf(region.grid),
        rules: { ...hazard.rules },
        packs: [{ ...(packs[index] as (typeof packs)[number]), groups: [...region.source.groups] }],
      };
    }),
  }));
  await rename(unfinished, FOLDER);
  return demo;
}

/** Returns the layers of each group that portfolios have by default: all but `total_hazard`, which is the last. */
function queriedLayers({ sources }: AtlasHazard): readonly { readonly entries: GroupEntry["layers"] }[] {
  const groups = sources[0]?.groups ?? [];
  return groups.map(({ layers }) => ({ entries: layers.filter(({ metric }) => metric !== "total_hazard") }));
}

/** The tiles of a hazard of the demo that intersect the area. */
class DemoRegion {
  readonly source: CellSource;
  readonly grid: Grid;
  readonly #firstTileRow: number;
  readonly #firstTileColumn: number;
  readonly #tileColumnCount: number;

  constructor({ sources, grid }: AtlasHazard) {
    const [source] = sources;
    if (source === undefined) throw new Error("the hazard has no source");
    this.source = source;
    const { cellSizeLatDeg, cellSizeLonDeg } = grid;
    const [tileLatDeg, tileLonDeg] = [TILE_SIZE * cellSizeLatDeg, TILE_SIZE * cellSizeLonDeg];
    this.#firstTileRow = Math.floor((grid.northDeg - NORTH_DEG) / tileLatDeg);
    this.#firstTileColumn = Math.floor((WEST_DEG - grid.westDeg) / tileLonDeg);
    const endTileRow = Math.ceil((grid.northDeg - NORTH_DEG + SIDE_DEG) / tileLatDeg);
    const endTileColumn = Math.ceil((WEST_DEG + SIDE_DEG - grid.westDeg) / tileLonDeg);
    this.#tileColumnCount = endTileColumn - this.#firstTileColumn;
    this.grid = {
      northDeg: grid.northDeg - this.#firstTileRow * tileLatDeg,
      westDeg: grid.westDeg + this.#firstTileColumn * tileLonDeg,
      cellSizeLatDeg,
      cellSizeLonDeg,
      rowCount: (endTileRow - this.#firstTileRow) * TILE_SIZE,
      columnCount: this.#tileColumnCount * TILE_SIZE,
    };
  }

  /** Returns the cells of a row of tiles of the region: for each group u16[64][columnCount][layer]. */
  async readTileRow(tileRow: number): Promise<Uint16Array[]> {
    const { columnCount } = this.grid;
    return await Promise.all(
      this.source.groups.map(async ({ layers }, group) => {
        const cells = new Uint16Array(TILE_SIZE * columnCount * layers.length);
        const tiles = await this.source.load(
          Array.from({ length: this.#tileColumnCount }, (_, column) => ({
            group,
            tileRow: this.#firstTileRow + tileRow,
            tileColumn: this.#firstTileColumn + column,
          })),
        );
        const tileWidth = TILE_SIZE * layers.length;
        for (const [column, tile] of tiles.entries()) {
          for (let row = 0; row < TILE_SIZE; row++) {
            const from = row * tileWidth;
            cells.set(tile.subarray(from, from + tileWidth), row * columnCount * layers.length + column * tileWidth);
          }
        }
        return cells;
      }),
    );
  }

  /** Returns the queried layers of the region. */
  async readBands(): Promise<Parameters<typeof writeGeoTiff>[0]> {
    const { rowCount, columnCount } = this.grid;
    const layerCounts = this.source.groups.map(({ layers }) => layers.length - 1);
    const bandCount = layerCounts.reduce((sum, count) => sum + count, 0);
    const cells = new Uint16Array(rowCount * columnCount * bandCount);
    for (let tileRow = 0; tileRow < rowCount / TILE_SIZE; tileRow++) {
      const groups = await this.readTileRow(tileRow);
      const first = tileRow * TILE_SIZE * columnCount;
      for (let cell = 0; cell < TILE_SIZE * columnCount; cell++) {
        let band = (first + cell) * bandCount;
        for (const [group, layerCount] of layerCounts.entries()) {
          for (let layer = 0; layer < layerCount; layer++) {
            cells[band++] = groups[group]?.[cell * (layerCount + 1) + layer] ?? STEPS_NODATA;
          }
        }
      }
    }
    return { grid: this.grid, bandCount, nodata: STEPS_NODATA, cells };
  }
}
