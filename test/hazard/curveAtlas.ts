/** An atlas of two hazards with curves of synthetic values, and the stored values. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll } from "vitest";
import { type Catalog, catalogGridOf, type GroupEntry } from "../../src/atlas/catalog.ts";
import { supplementName } from "../../src/atlas/supplement.ts";
import { publish, writePack } from "../../src/atlas/writer.ts";
import type { LocalAtlas } from "../../src/hazard/answer.ts";
import type { HazardName } from "../../src/hazard/hazards.ts";
import type { Grid } from "../../src/kernel/grid.ts";
import { Kernel } from "../../src/kernel/instance.ts";
import { STEPS_NODATA } from "../../src/kernel/kernel.generated.ts";
import { openLocalAtlas } from "../../src/openAtlas.ts";
import { packInputOf } from "../atlas/makeAtlas.ts";
import { randomFrom } from "../seededRandom.ts";

/** Cells of 1 degree over the whole globe. */
export const GRID: Grid = {
  northDeg: 90,
  westDeg: -180,
  cellSizeLatDeg: 1,
  cellSizeLonDeg: 1,
  rowCount: 180,
  columnCount: 360,
};
const CELL_COUNT = GRID.rowCount * GRID.columnCount;
/** Cells with data in none of the maps are the missing ones of this many. */
const MISSING_SHARE = 0.2;
const LAYERS_PER_GROUP_MAX = 8;

export interface StoredCurve {
  readonly hazard: HazardName;
  readonly scenario: string;
  readonly year: number;
  readonly variate: "gumbel" | "log";
  readonly stepsPerUnit: number;
  readonly unit: string;
  readonly returnPeriodsYears: readonly number[];
  /** u16[cell][return period], not decreasing within a cell. */
  readonly steps: Uint16Array;
}

export const FLOODS = {
  hazard: "riverine_floods",
  variate: "gumbel",
  stepsPerUnit: 1000,
  unit: "m",
  returnPeriodsYears: [2, 5, 10, 25, 50, 100, 250, 500, 1000],
} as const;
export const WINDS = {
  hazard: "cyclones",
  variate: "log",
  stepsPerUnit: 100,
  unit: "m/s",
  returnPeriodsYears: [10, 20, 30, 50, 100, 200, 500, 1000],
} as const;

/** Every group of metrics has a curve, except that of riverine floods under rcp4p5 in 2030. */
export const CURVES: readonly StoredCurve[] = [
  { ...FLOODS, scenario: "baseline", year: 1980, steps: curveCells(FLOODS, 1) },
  { ...FLOODS, scenario: "rcp8p5", year: 2050, steps: curveCells(FLOODS, 2) },
  { ...WINDS, scenario: "rcp8p5", year: 2050, steps: curveCells(WINDS, 3) },
];

const RULES = { design_return_period_years: 100, threshold: 0.5, threshold_unit: "m", curve: "gumbel" };

/** An open atlas with curves, during the tests of the calling file. */
export interface CurveAtlas {
  readonly folder: string;
  readonly atlas: LocalAtlas;
}

/** Writes and opens the atlas before the tests of the calling file, and removes it after them. @returns a function that returns it */
export function useCurveAtlas(allCurves: readonly StoredCurve[] = CURVES): () => CurveAtlas {
  let opened: CurveAtlas | undefined;
  beforeAll(async () => {
    const folder = await mkdtemp(join(tmpdir(), "isotherm-test-"));
    await makeCurveAtlas(await Kernel.load(), folder, allCurves);
    opened = { folder, atlas: await openLocalAtlas(folder, 16 << 20) };
  });
  afterAll(async () => {
    await opened?.atlas.close();
    if (opened !== undefined) await rm(opened.folder, { recursive: true, force: true });
  });
  return () => {
    if (opened === undefined) throw new Error("The atlas is open only during tests.");
    return opened;
  };
}

/** Writes the atlas to an empty folder. */
async function makeCurveAtlas(kernel: Kernel, folder: string, allCurves: readonly StoredCurve[]): Promise<void> {
  const hazards: Catalog["hazards"] = [];
  for (const hazard of new Set(allCurves.map((curve) => curve.hazard))) {
    const curves = allCurves.filter((curve) => curve.hazard === hazard);
    const bare = hazard === "riverine_floods" ? [{ scenario: "rcp4p5", year: 2030 }] : [];
    const metrics = await writeGroups(kernel, folder, {
      hazard,
      groups: [...curves, ...bare].map(({ scenario, year }) => ({
        entry: { scenario, year, layers: [METRIC_LAYER], provenance: provenanceOf(curves) },
        cells: new Uint16Array(CELL_COUNT),
      })),
    });
    const supplement = await writeGroups(kernel, folder, {
      hazard: supplementName(hazard),
      groups: curves.flatMap((curve) => groupsOf(curve, metrics.packs[0]?.id ?? "")),
    });
    hazards.push({ ...metrics, rules: RULES }, supplement);
  }
  await publish(folder, () => ({
    format: "isotherm-atlas",
    format_version: 1,
    release: "curves-1",
    created_at: "2026-01-01T00:00:00.000Z",
    synthetic: true,
    hazards,
  }));
}

/** Returns the stored values of a cell; undefined if it is missing. */
export function storedValues(curve: StoredCurve, cell: { readonly row: number; readonly column: number }) {
  const count = curve.returnPeriodsYears.length;
  const first = (cell.row * GRID.columnCount + cell.column) * count;
  const steps = [...curve.steps.subarray(first, first + count)];
  return steps.includes(STEPS_NODATA) ? undefined : steps.map((step) => step / curve.stepsPerUnit);
}

const METRIC_LAYER: GroupEntry["layers"][number] = {
  metric: "probability",
  unit: "1",
  steps_per_unit: 60_000,
  offset: 0,
};

function provenanceOf(curves: readonly StoredCurve[]): GroupEntry["provenance"] {
  const maps = (curves[0]?.returnPeriodsYears ?? []).map((return_period_years) => ({ return_period_years }));
  return { product: "synthetic test data", return_period_maps: ["A", "B"].map((model) => ({ model, maps })) };
}

interface WrittenGroup {
  readonly entry: GroupEntry;
  readonly cells: Uint16Array;
}

async function writeGroups(
  kernel: Kernel,
  folder: string,
  { hazard, groups }: { readonly hazard: string; readonly groups: readonly WrittenGroup[] },
): Promise<Catalog["hazards"][number]> {
  const fixtures = groups.map(({ entry: { scenario, year, layers }, cells }) => ({ scenario, year, layers, cells }));
  const pack = await writePack(kernel, folder, packInputOf({ hazard, grid: GRID, groups: fixtures }));
  const packs = [{ ...pack, groups: groups.map(({ entry }) => entry) }];
  return { hazard, grid: catalogGridOf(GRID), rules: {}, packs };
}

/** Divides a curve into groups of at most eight return periods. */
function groupsOf(curve: StoredCurve, metricsPack: string): readonly WrittenGroup[] {
  const { scenario, year, variate, stepsPerUnit, unit, returnPeriodsYears, steps } = curve;
  const count = returnPeriodsYears.length;
  const groups: WrittenGroup[] = [];
  for (let first = 0; first < count; first += LAYERS_PER_GROUP_MAX) {
    const periods = returnPeriodsYears.slice(first, first + LAYERS_PER_GROUP_MAX);
    const layers = periods.map((period) => ({ metric: `rp${period}`, unit, steps_per_unit: stepsPerUnit, offset: 0 }));
    const cells = Uint16Array.from({ length: CELL_COUNT * periods.length }, (_, i) => {
      const [cell, layer] = [Math.floor(i / periods.length), i % periods.length];
      return steps[cell * count + first + layer] ?? 0;
    });
    const provenance = { kind: "curve", metrics_pack: metricsPack, return_periods_years: periods, variate };
    groups.push({ entry: { scenario, year, layers, provenance }, cells });
  }
  return groups;
}

/** Returns cells in which a fifth are missing, a fifth are 0, and the others rise from a random return period on. */
function curveCells(
  { returnPeriodsYears }: { readonly returnPeriodsYears: readonly number[] },
  seed: number,
): Uint16Array {
  const random = randomFrom(seed);
  const count = returnPeriodsYears.length;
  const steps = new Uint16Array(CELL_COUNT * count);
  for (let cell = 0; cell < CELL_COUNT; cell++) {
    if (random.chance(MISSING_SHARE)) {
      steps.fill(STEPS_NODATA, cell * count, (cell + 1) * count);
      continue;
    }
    const firstWet = random.below(count + 2);
    let highest = 0;
    for (let i = firstWet; i < count; i++) {
      highest += random.below(900);
      steps[cell * count + i] = highest;
    }
  }
  return steps;
}
