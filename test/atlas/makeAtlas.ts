import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Catalog, type GroupEntry, catalogGridOf } from "../../src/atlas/catalog.ts";
import type { Band } from "../../src/atlas/tile.ts";
import { type PackInput, publish, writePack } from "../../src/atlas/writer.ts";
import type { Grid } from "../../src/kernel/grid.ts";
import type { Kernel } from "../../src/kernel/instance.ts";
import { randomFrom } from "../seededRandom.ts";

/** A (scenario, year) group with the cells of a whole grid, u16[row][column][layer]. */
export interface GroupFixture {
  readonly scenario: string;
  readonly year: number;
  readonly layers: GroupEntry["layers"];
  readonly cells: Uint16Array;
}

export interface HazardFixture {
  readonly hazard: string;
  readonly grid: Grid;
  readonly rules?: Readonly<Record<string, unknown>>;
  readonly groups: readonly GroupFixture[];
}

/** Runs `act` with a temporary folder and then removes the folder. */
export async function withTempFolder<T>(act: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), "isotherm-test-"));
  try {
    return await act(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Returns the writer's input for a hazard whose cells are all in memory. */
export function packInputOf({ hazard, grid, groups }: HazardFixture): PackInput {
  return {
    hazard,
    grid,
    groups: groups.map(({ scenario, year, layers }) => ({ scenario, year, layers })),
    resumeKey: "fixture",
    readBand: async ({ firstRow, rowCount }: Band) =>
      groups.map(({ cells, layers }) => {
        const rowLength = grid.columnCount * layers.length;
        return cells.subarray(firstRow * rowLength, (firstRow + rowCount) * rowLength);
      }),
  };
}

/** Writes an atlas with one pack per hazard. */
export async function makeAtlas(kernel: Kernel, folder: string, hazards: readonly HazardFixture[]): Promise<void> {
  const entries: Catalog["hazards"] = [];
  for (const fixture of hazards) {
    const pack = await writePack(kernel, folder, packInputOf(fixture));
    entries.push({
      hazard: fixture.hazard,
      grid: catalogGridOf(fixture.grid),
      rules: { ...fixture.rules },
      packs: [
        {
          ...pack,
          groups: fixture.groups.map(({ scenario, year, layers }) => ({
            scenario,
            year,
            layers,
            provenance: { product: "synthetic test data" },
          })),
        },
      ],
    });
  }
  await publish(folder, () => ({
    format: "isotherm-atlas",
    format_version: 1,
    release: "made-1",
    created_at: "2026-01-01T00:00:00.000Z",
    synthetic: true,
    hazards: entries,
  }));
}

/** The four layers of a flood group. */
export const FLOOD_LAYERS: GroupEntry["layers"] = [
  { metric: "intensity", unit: "1", steps_per_unit: 10_000, offset: 0 },
  { metric: "depth_meters", unit: "m", steps_per_unit: 1000, offset: 0 },
  { metric: "probability", unit: "1", steps_per_unit: 60_000, offset: 0 },
  { metric: "total_hazard", unit: "1", steps_per_unit: 60_000, offset: 0 },
];

/** Returns cells in patches of zero, nodata, outside and values, so that some tiles are constant and most are not. */
export function patchyCells(grid: Grid, { layerCount, seed }: { layerCount: number; seed: number }): Uint16Array {
  const random = randomFrom(seed);
  const cells = new Uint16Array(grid.rowCount * grid.columnCount * layerCount);
  const patches = new Map<string, number>();
  let index = 0;
  for (let row = 0; row < grid.rowCount; row++) {
    for (let column = 0; column < grid.columnCount; column++) {
      const name = `${Math.floor(row / 70)}/${Math.floor(column / 70)}`;
      const kind = patches.get(name) ?? random.next();
      patches.set(name, kind);
      for (let layer = 0; layer < layerCount; layer++) {
        const value = Math.floor(random.next() * 65_534);
        cells[index++] =
          kind < 0.25 ? 0 : kind < 0.4 ? 65_535 : kind < 0.5 ? 65_534 : random.next() < 0.1 ? 65_535 : value;
      }
    }
  }
  return cells;
}
