/** An atlas of two hazards with holes, bounds, changes between unequal encodings, missing layers and curves. */
import { type Catalog, catalogGridOf, type GroupEntry } from "../../../src/atlas/catalog.ts";
import { supplementName } from "../../../src/atlas/supplement.ts";
import { publish, writePack } from "../../../src/atlas/writer.ts";
import type { HazardName } from "../../../src/hazard/hazards.ts";
import type { Grid } from "../../../src/kernel/grid.ts";
import type { Kernel } from "../../../src/kernel/instance.ts";
import { STEPS_NODATA, STEPS_OUTSIDE } from "../../../src/kernel/kernel.generated.ts";
import { packInputOf } from "../../atlas/makeAtlas.ts";
import { randomFrom, type SeededRandom } from "../../seededRandom.ts";

/** Cells of half a degree over the whole globe. */
const FLOOD_GRID: Grid = {
  northDeg: 90,
  westDeg: -180,
  cellSizeLatDeg: 0.5,
  cellSizeLonDeg: 0.5,
  rowCount: 360,
  columnCount: 720,
};
/** Part of the globe, so that places are outside the grid. */
const WIND_GRID: Grid = { ...FLOOD_GRID, northDeg: 50, westDeg: -100, rowCount: 160, columnCount: 400 };

/** Edge of the squares of cells that share a kind, in cells. */
const PATCH_CELLS = 20;
const PERIODS = [2, 10, 100, 1000] as const;

interface MadeGroup {
  readonly scenario: string;
  readonly year: number;
  readonly layers: GroupEntry["layers"];
  /** Return periods of the source maps; empty if they are maps of probability. */
  readonly periods: readonly number[];
  readonly models: readonly string[];
  readonly hasCurve: boolean;
}

function layersOf(own: string, unit: string, probabilitySteps = 60_000): GroupEntry["layers"] {
  return [
    { metric: "intensity", unit: "1", steps_per_unit: 10_000, offset: 0 },
    { metric: own, unit, steps_per_unit: 1000, offset: 0 },
    { metric: "probability", unit: "1", steps_per_unit: probabilitySteps, offset: 0 },
    { metric: "total_hazard", unit: "1", steps_per_unit: probabilitySteps, offset: 0 },
  ];
}

const FLOOD_LAYERS = layersOf("depth_meters", "m");
const WIND_LAYERS = layersOf("wind_speed_mps", "m/s");
const FLOODS: readonly MadeGroup[] = [
  { scenario: "baseline", year: 1980, layers: FLOOD_LAYERS, periods: PERIODS, models: ["A"], hasCurve: true },
  { scenario: "rcp4p5", year: 2030, layers: FLOOD_LAYERS, periods: PERIODS, models: ["A", "B"], hasCurve: false },
  // Other encodings than the baseline, and no total_hazard.
  {
    scenario: "rcp8p5",
    year: 2030,
    layers: layersOf("depth_meters", "m", 50_000).slice(0, 3),
    periods: [5, 500],
    models: ["A"],
    hasCurve: true,
  },
  { scenario: "rcp8p5", year: 2050, layers: FLOOD_LAYERS, periods: [], models: [], hasCurve: true },
];
const WINDS: readonly MadeGroup[] = [
  { scenario: "baseline", year: 1980, layers: WIND_LAYERS, periods: PERIODS, models: ["A"], hasCurve: true },
  { scenario: "rcp8p5", year: 2050, layers: WIND_LAYERS, periods: PERIODS, models: ["A"], hasCurve: true },
  { scenario: "rcp2p6", year: 2050, layers: WIND_LAYERS.slice(1, 2), periods: [], models: [], hasCurve: false },
];

/** Writes the atlas to an empty folder. */
export async function makePortfolioAtlas(kernel: Kernel, folder: string): Promise<void> {
  const hazards = [
    ...(await writeHazard(kernel, folder, { hazard: "riverine_floods", grid: FLOOD_GRID, groups: FLOODS, seed: 1 })),
    ...(await writeHazard(kernel, folder, { hazard: "cyclones", grid: WIND_GRID, groups: WINDS, seed: 2 })),
  ];
  await publish(folder, () => ({
    format: "isotherm-atlas",
    format_version: 1,
    release: "portfolio-1",
    created_at: "2026-01-01T00:00:00.000Z",
    synthetic: true,
    hazards,
  }));
}

interface MadeHazard {
  readonly hazard: HazardName;
  readonly grid: Grid;
  readonly groups: readonly MadeGroup[];
  readonly seed: number;
}

async function writeHazard(
  kernel: Kernel,
  folder: string,
  { hazard, grid, groups, seed }: MadeHazard,
): Promise<Catalog["hazards"]> {
  const random = randomFrom(seed);
  const metrics = await writeGroups(kernel, folder, hazard, grid, {
    entries: groups.map(({ scenario, year, layers, periods, models }) => {
      const maps = periods.map((return_period_years) => ({ return_period_years }));
      const return_period_maps = models.map((model) => ({ model, maps }));
      const provenance = { product: "synthetic test data", ...(periods.length === 0 ? {} : { return_period_maps }) };
      return { scenario, year, layers, provenance };
    }),
    cells: groups.map((group) => metricCells(random, grid, group)),
  });
  const withCurve = groups.filter(({ hasCurve }) => hasCurve);
  const curveLayers = PERIODS.map((period) => ({
    metric: `rp${period}`,
    unit: hazard === "cyclones" ? "m/s" : "m",
    steps_per_unit: 1000,
    offset: 0,
  }));
  const curves = await writeGroups(kernel, folder, supplementName(hazard), grid, {
    entries: withCurve.map(({ scenario, year }) => ({
      scenario,
      year,
      layers: curveLayers,
      provenance: {
        kind: "curve",
        metrics_pack: metrics.packs[0]?.id ?? "",
        return_periods_years: [...PERIODS],
        variate: hazard === "cyclones" ? "log" : "gumbel",
      },
    })),
    cells: withCurve.map(() => curveCells(random, grid)),
  });
  return [metrics, curves];
}

async function writeGroups(
  kernel: Kernel,
  folder: string,
  hazard: string,
  grid: Grid,
  { entries, cells }: { readonly entries: readonly GroupEntry[]; readonly cells: readonly Uint16Array[] },
): Promise<Catalog["hazards"][number]> {
  const groups = entries.map(({ scenario, year, layers }, i) => ({
    scenario,
    year,
    layers,
    cells: cells[i] ?? new Uint16Array(),
  }));
  const pack = await writePack(kernel, folder, packInputOf({ hazard, grid, groups }));
  return { hazard, grid: catalogGridOf(grid), rules: {}, packs: [{ ...pack, groups: [...entries] }] };
}

type CellKind = "zero" | "nodata" | "outside" | "mixed";

/** Returns the cells of a layer vector, in patches of one kind. `mixed` cells have single missing layers. */
function patches(
  random: SeededRandom,
  { rowCount, columnCount }: Grid,
  layerCount: number,
  write: (cells: Uint16Array, first: number) => void,
): Uint16Array {
  const cells = new Uint16Array(rowCount * columnCount * layerCount);
  const kinds = new Map<number, CellKind>();
  for (let row = 0; row < rowCount; row++) {
    for (let column = 0; column < columnCount; column++) {
      const patch = Math.floor(row / PATCH_CELLS) * columnCount + Math.floor(column / PATCH_CELLS);
      const kind = kinds.get(patch) ?? random.pick<CellKind>(["zero", "nodata", "outside", "mixed", "mixed", "mixed"]);
      kinds.set(patch, kind);
      const first = (row * columnCount + column) * layerCount;
      if (kind === "mixed") write(cells, first);
      else {
        const steps = kind === "zero" ? 0 : kind === "nodata" ? STEPS_NODATA : STEPS_OUTSIDE;
        cells.fill(steps, first, first + layerCount);
      }
    }
  }
  return cells;
}

function metricCells(random: SeededRandom, grid: Grid, { layers, periods }: MadeGroup): Uint16Array {
  const [shortest = 2, longest = 2] = [periods[0], periods.at(-1)];
  const probability = layers.find(({ metric }) => metric === "probability");
  const firstSteps = Math.floor((probability?.steps_per_unit ?? 0) / shortest + 0.5);
  return patches(random, grid, layers.length, (cells, first) => {
    const kind = random.next();
    for (const [i, { metric, steps_per_unit }] of layers.entries()) {
      let steps = kind < 0.3 ? 0 : random.below(Math.min(65_534, steps_per_unit + 1));
      if (metric === "probability" && periods.length > 0) {
        // As a curve gives: at least 1/T of the shortest return period, at most that of the longest, or between them.
        steps =
          kind < 0.3 ? 0 : kind < 0.5 ? firstSteps : Math.max(Math.floor(firstSteps / longest), steps % firstSteps);
      }
      cells[first + i] = kind > 0.97 && random.chance(0.5) ? STEPS_NODATA : steps;
    }
  });
}

function curveCells(random: SeededRandom, grid: Grid): Uint16Array {
  return patches(random, grid, PERIODS.length, (cells, first) => {
    let steps = 0;
    for (let i = 0; i < PERIODS.length; i++) {
      steps += random.chance(0.3) ? 0 : random.below(2000);
      cells[first + i] = random.chance(0.01) ? STEPS_NODATA : steps;
    }
  });
}
