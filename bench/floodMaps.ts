/** The flood layers that benchmarks query, and synthetic maps of them. */
import type { GroupEntry } from "../src/atlas/catalog.ts";
import type { Band } from "../src/atlas/tile.ts";
import { HAZARDS, totalHazardSteps } from "../src/hazard/hazards.ts";
import type { Grid } from "../src/kernel/grid.ts";
import { STEPS_NODATA } from "../src/kernel/kernel.generated.ts";
import { randomFrom } from "../test/seededRandom.ts";
import { addOctaves, NoiseField, type Octaves, quantile, sortedSample } from "./noiseField.ts";

export const HAZARD = "riverine_floods";

/**
 * The (scenario, year) groups of the maps; `wetnessIncrease` is the increase over the baseline, relative to that of
 * rcp8p5 2080.
 */
export const GROUPS = [
  { scenario: "baseline", year: 1980, wetnessIncrease: 0 },
  { scenario: "rcp4p5", year: 2030, wetnessIncrease: 0.1 },
  { scenario: "rcp4p5", year: 2050, wetnessIncrease: 0.25 },
  { scenario: "rcp4p5", year: 2080, wetnessIncrease: 0.4 },
  { scenario: "rcp8p5", year: 2030, wetnessIncrease: 0.15 },
  { scenario: "rcp8p5", year: 2050, wetnessIncrease: 0.45 },
  { scenario: "rcp8p5", year: 2080, wetnessIncrease: 1 },
] as const;
/** The metrics that benchmarks query. `total_hazard` is also stored in every group, but never queried. */
export const QUERIED_METRICS = ["intensity", "depth_meters", "probability"] as const;
export const QUERIED_LAYERS = GROUPS.flatMap(({ scenario, year }) =>
  QUERIED_METRICS.map((metric) => ({ scenario, year, metric })),
);
/** 7 (scenario, year) x 3 metrics. */
export const LAYER_COUNT = QUERIED_LAYERS.length;

export const SPEC = HAZARDS[HAZARD];
const STORED_PER_GROUP = SPEC.metrics.length;
export const STORED_LAYERS: GroupEntry["layers"] = SPEC.metrics.map(({ metric, unit, stepsPerUnit, offset }) => ({
  metric,
  unit,
  steps_per_unit: stepsPerUnit,
  offset,
}));
/** Steps per unit of each queried layer. */
export const STEPS_PER_UNIT = QUERIED_LAYERS.map(
  ({ metric }) => SPEC.metrics.find((spec) => spec.metric === metric)?.stepsPerUnit ?? Number.NaN,
);

/** Share of all cells that are zero in the driest map; about 0.03 less in the wettest. */
const ZERO_SHARE = 0.79;
const NODATA_SHARE = 0.045;
/** How far the shore moves inland from the driest to the wettest scenario, as a share of all cells. */
const SHORE_SHARE = 0.025;

/**
 * Synthetic flood maps that resemble real ones: mostly dry, with connected patches of water that are deepest in the
 * middle and grow with the scenario, and with patches of nodata at the same cells in all layers.
 */
export class FloodMaps {
  readonly grid: Grid;
  readonly #wet: Octaves;
  readonly #gaps: Octaves;
  readonly #shoreOfGroup: readonly number[];
  readonly #gapFrom: number;

  constructor({ grid, seed }: { readonly grid: Grid; readonly seed: number }) {
    this.grid = grid;
    const random = randomFrom(seed);
    const field = (pitchCells: number, weight: number) => ({ field: new NoiseField(random, grid, pitchCells), weight });
    this.#wet = [field(192, 0.5), field(48, 0.3), field(12, 0.15), field(4, 0.05)];
    this.#gaps = [field(160, 0.8), field(20, 0.2)];
    const wetness = sortedSample(this.#wet, grid);
    const dryShare = ZERO_SHARE / (1 - NODATA_SHARE); // of the cells that have data
    this.#shoreOfGroup = GROUPS.map(({ wetnessIncrease }) =>
      quantile(wetness, dryShare - SHORE_SHARE * wetnessIncrease),
    );
    this.#gapFrom = quantile(sortedSample(this.#gaps, grid), 1 - NODATA_SHARE);
  }

  /** Returns the cells of some rows: for each group u16[rowCount][columnCount][4], `total_hazard` last. */
  readBand({ firstRow, rowCount }: Band): Uint16Array[] {
    const { columnCount } = this.grid;
    const groups = GROUPS.map(() => new Uint16Array(rowCount * columnCount * STORED_PER_GROUP));
    for (let row = 0; row < rowCount; row++) {
      const wet = addOctaves(this.#wet, firstRow + row, columnCount);
      const gaps = addOctaves(this.#gaps, firstRow + row, columnCount);
      for (const [group, cells] of groups.entries()) {
        const shore = this.#shoreOfGroup[group] ?? 0;
        const depthFactor = 1 + 0.5 * (GROUPS[group]?.wetnessIncrease ?? 0);
        let offset = row * columnCount * STORED_PER_GROUP;
        for (let column = 0; column < columnCount; column++, offset += STORED_PER_GROUP) {
          if ((gaps[column] ?? 0) >= this.#gapFrom) {
            cells.fill(STEPS_NODATA, offset, offset + STORED_PER_GROUP);
            continue;
          }
          const heightAboveShore = (wet[column] ?? 0) - shore;
          if (heightAboveShore > 0)
            setFlood(cells, offset, {
              depthM: Math.min(60, 0.02 + 45 * depthFactor * heightAboveShore),
              heightAboveShore,
            });
        }
      }
    }
    return groups;
  }
}

/**
 * Sets the metrics of a wet cell as ingest would derive them from a depth: intensity is full at 10 m, probability grows
 * with depth.
 */
function setFlood(
  cells: Uint16Array,
  offset: number,
  { depthM, heightAboveShore }: { depthM: number; heightAboveShore: number },
): void {
  const intensity = Math.max(1, Math.round(Math.min(1, depthM / 10) * 10_000));
  const probability = Math.round(Math.min(0.5, 0.005 + 1.5 * heightAboveShore) * 60_000);
  cells[offset] = intensity;
  cells[offset + 1] = Math.round(depthM * 1000);
  cells[offset + 2] = probability;
  cells[offset + 3] = totalHazardSteps(intensity, probability);
}

/** Interleaves the queried layers of all groups: u16[cells][21]. */
export function interleaveLayers(groups: readonly Uint16Array[]): Uint16Array {
  const cellCount = (groups[0]?.length ?? 0) / STORED_PER_GROUP;
  const metricCount = QUERIED_METRICS.length;
  const cells = new Uint16Array(cellCount * LAYER_COUNT);
  for (const [group, stored] of groups.entries()) {
    for (let cell = 0; cell < cellCount; cell++) {
      for (let metric = 0; metric < metricCount; metric++) {
        cells[cell * LAYER_COUNT + group * metricCount + metric] = stored[cell * STORED_PER_GROUP + metric] ?? 0;
      }
    }
  }
  return cells;
}
