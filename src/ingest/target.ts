/** Determines which cells of a source an ingest writes, and their position in the hazard's grid in the atlas. */
import { isDeepStrictEqual } from "node:util";
import { type Catalog, gridOf } from "../atlas/catalog.ts";
import { Fault } from "../errors.ts";
import { closesAt360, type Grid } from "../kernel/grid.ts";
import type { BoundingBox, IngestOptions } from "./options.ts";
import { depthMetricOf, type GroupPlan, type HazardPlan, mapsOf } from "./plan.ts";
import { type CellWindow, sourceFault } from "./raster.ts";

/** Grids match if no edge differs by more than this fraction of a cell; files store rounded numbers. */
const EDGE_TOLERANCE_CELLS = 1e-3;

/** The source window of a plan, and its position in the atlas. */
export interface IngestTarget {
  readonly plan: HazardPlan;
  /** The cells of the source to write. */
  readonly window: CellWindow;
  /** The hazard's grid in the atlas. */
  readonly grid: Grid;
  /** Position of the window in that grid. */
  readonly offset: { readonly row: number; readonly column: number };
}

/**
 * Returns the target of each plan.
 * @throws Fault `source_invalid` or `invalid_request` if the grids, rules, box or return periods do not fit
 */
export function resolveTargets(
  plans: readonly HazardPlan[],
  current: Catalog | undefined,
  options: IngestOptions,
): readonly IngestTarget[] {
  const targets = plans.map((plan) => resolveTarget(plan, current, options));
  for (const target of targets) checkGroups(target.plan, options);
  return targets;
}

/** Returns the target of one plan. Throws the same faults, except that return periods are not checked. */
export function resolveTarget(given: HazardPlan, current: Catalog | undefined, options: IngestOptions): IngestTarget {
  const plan = withDepthSteps(given, current, options);
  const source = commonGrid(plan);
  const window = options.bbox === undefined ? wholeWindow(source) : windowOf(source, options.bbox);
  const windowGrid = gridOfWindow(source, window);
  if (current?.synthetic === true) {
    throw new Fault("invalid_request", `${options.out} is a synthetic atlas. Write real maps to another folder.`);
  }
  const existing = current?.hazards.find(({ hazard }) => hazard === plan.hazard);
  if (existing === undefined) return { plan, window, grid: windowGrid, offset: { row: 0, column: 0 } };

  if (!isDeepStrictEqual(existing.rules, { ...plan.rules })) {
    throw new Fault(
      "invalid_request",
      `${options.out} has ${plan.hazard} with different rules: ${JSON.stringify(existing.rules)}, not ${JSON.stringify(plan.rules)}. ` +
        `An atlas has one set of rules for each hazard; write to another folder, or use the rules of the atlas.`,
    );
  }
  const grid = gridOf(existing.grid);
  const offset = alignedOffset(grid, windowGrid);
  if (offset === undefined) {
    throw sourceFault(
      mapsOf(plan.groups[0] as GroupPlan)[0]?.raster.file ?? plan.hazard,
      `its grid (${describeGrid(windowGrid)}) is neither that of ${plan.hazard} in ${options.out} (${describeGrid(grid)}) nor an aligned part of it. ` +
        `A hazard has the grid of its first source; write to another folder, or crop the map with --bbox.`,
    );
  }
  return { plan, window, grid, offset };
}

/**
 * Returns a plan with the step size of its depths: that of the atlas if it has depths of the hazard, otherwise that of the
 * options.
 * @throws Fault `invalid_request` if the two differ, or if the options have a step size but the hazard has no depth
 */
function withDepthSteps(
  plan: HazardPlan,
  current: Catalog | undefined,
  { depthStepsPerMeter, out }: IngestOptions,
): HazardPlan {
  const metric = depthMetricOf(plan.hazard);
  if (metric === undefined) {
    if (depthStepsPerMeter === undefined) return plan;
    throw new Fault(
      "invalid_request",
      `--depth-steps-per-meter (depthStepsPerMeter) has no effect on ${plan.hazard}, which has no depth. Omit it.`,
    );
  }
  const existing = current?.hazards
    .find(({ hazard }) => hazard === plan.hazard)
    ?.packs.flatMap(({ groups }) => groups.filter(({ superseded }) => superseded !== true))
    .flatMap(({ layers }) => layers.filter((layer) => layer.metric === metric))[0]?.steps_per_unit;
  if (existing !== undefined && depthStepsPerMeter !== undefined && existing !== depthStepsPerMeter) {
    throw new Fault(
      "invalid_request",
      `${out} stores ${metric} of ${plan.hazard} in ${existing} steps per meter, not ${depthStepsPerMeter}. ` +
        `All layers of a hazard have one step size; omit --depth-steps-per-meter (depthStepsPerMeter), or write to another folder.`,
    );
  }
  const steps = existing ?? depthStepsPerMeter;
  return steps === undefined ? plan : { ...plan, depthStepsPerMeter: steps };
}

/**
 * Checks that the atlas still has the grid that a pack was written for.
 * @throws Fault `atlas_unavailable` if the grid was changed concurrently
 */
export function checkTargetUnchanged(before: IngestTarget, now: IngestTarget): void {
  if (isDeepStrictEqual([before.grid, before.offset], [now.grid, now.offset])) return;
  throw new Fault(
    "atlas_unavailable",
    `The grid of ${before.plan.hazard} in the atlas changed during the ingest. Run the ingest again.`,
  );
}

/** Returns the window of all cells of a grid. */
export function wholeWindow(grid: Grid): CellWindow {
  return { firstRow: 0, rowCount: grid.rowCount, firstColumn: 0, columnCount: grid.columnCount };
}

/** Returns the grid that all maps of a plan share. */
function commonGrid(plan: HazardPlan): Grid {
  const rasters = plan.groups.flatMap(mapsOf).map(({ raster }) => raster);
  const [first] = rasters;
  if (first === undefined) throw new Error(`The plan for ${plan.hazard} has no maps.`);
  for (const raster of rasters) {
    const why = gridDifference(first.grid, raster.grid);
    if (why !== undefined) {
      throw sourceFault(
        raster.file,
        `${why} All maps of a hazard must share one grid; that of ${first.file} is ${describeGrid(first.grid)}.`,
      );
    }
  }
  return first.grid;
}

/** Returns why two grids differ, as the end of a message; undefined if they are equal. */
export function gridDifference(expected: Grid, actual: Grid): string | undefined {
  if (expected.rowCount !== actual.rowCount || expected.columnCount !== actual.columnCount) {
    return `it has ${actual.rowCount} rows and ${actual.columnCount} columns, not ${expected.rowCount} and ${expected.columnCount}.`;
  }
  const { cellSizeLatDeg, cellSizeLonDeg } = expected;
  if (!isSameSize(expected, actual)) {
    return `its cells are ${actual.cellSizeLatDeg} x ${actual.cellSizeLonDeg} degrees (lat, lon), not ${cellSizeLatDeg} x ${cellSizeLonDeg}.`;
  }
  const north = Math.abs(actual.northDeg - expected.northDeg);
  const west = Math.abs(actual.westDeg - expected.westDeg);
  if (north > EDGE_TOLERANCE_CELLS * cellSizeLatDeg || west > EDGE_TOLERANCE_CELLS * cellSizeLonDeg) {
    return `its northwest corner is (${actual.northDeg}, ${actual.westDeg}), not (${expected.northDeg}, ${expected.westDeg}).`;
  }
  return undefined;
}

/** Returns whether cell sizes are so close that even the far edges differ by no more than the tolerance. */
function isSameSize(a: Grid, b: Grid): boolean {
  const lat = Math.abs(a.cellSizeLatDeg - b.cellSizeLatDeg) * Math.max(a.rowCount, b.rowCount);
  const lon = Math.abs(a.cellSizeLonDeg - b.cellSizeLonDeg) * Math.max(a.columnCount, b.columnCount);
  return lat <= EDGE_TOLERANCE_CELLS * a.cellSizeLatDeg && lon <= EDGE_TOLERANCE_CELLS * a.cellSizeLonDeg;
}

function describeGrid(grid: Grid): string {
  return (
    `${grid.rowCount} rows x ${grid.columnCount} columns of ${grid.cellSizeLatDeg} x ${grid.cellSizeLonDeg} degrees (lat, lon) ` +
    `from latitude ${grid.northDeg}, longitude ${grid.westDeg}`
  );
}

/** Returns the cells that a box touches. If an edge of the box is a cell edge, the next cell is not included. */
export function windowOf(grid: Grid, bbox: BoundingBox): CellWindow {
  const shiftToGrid = (longitudeDeg: number): number => {
    let shifted = longitudeDeg;
    while (shifted < grid.westDeg - EDGE_TOLERANCE_CELLS * grid.cellSizeLonDeg) shifted += 360;
    while (shifted >= grid.westDeg + 360 - EDGE_TOLERANCE_CELLS * grid.cellSizeLonDeg) shifted -= 360;
    return shifted;
  };
  // A box that starts west of the grid is shifted by 360 degrees if its east end is then inside the grid.
  let eastEnd = (bbox.eastDeg - bbox.westDeg) / grid.cellSizeLonDeg;
  let start = (shiftToGrid(bbox.westDeg) - grid.westDeg) / grid.cellSizeLonDeg;
  const turnCells = 360 / grid.cellSizeLonDeg;
  // A box around the whole world touches every column, regardless of the longitude of the seam.
  if (closesAt360(grid) && eastEnd >= turnCells - EDGE_TOLERANCE_CELLS) {
    start = 0;
    eastEnd = grid.columnCount;
  }
  if (start >= grid.columnCount && start - turnCells + eastEnd > 0) start -= turnCells;
  if (start + eastEnd > grid.columnCount + EDGE_TOLERANCE_CELLS && closesAt360(grid)) {
    throw new Fault(
      "invalid_request",
      `The box ${bbox.westDeg},${bbox.southDeg},${bbox.eastDeg},${bbox.northDeg} crosses the seam of the map at longitude ${grid.westDeg}. ` +
        `Use the full width, or a box on one side of the seam.`,
    );
  }
  const firstColumn = Math.max(0, Math.floor(start + EDGE_TOLERANCE_CELLS));
  const endColumn = Math.min(grid.columnCount, Math.ceil(start + eastEnd - EDGE_TOLERANCE_CELLS));
  const firstRow = Math.max(
    0,
    Math.floor((grid.northDeg - bbox.northDeg) / grid.cellSizeLatDeg + EDGE_TOLERANCE_CELLS),
  );
  const endRow = Math.min(
    grid.rowCount,
    Math.ceil((grid.northDeg - bbox.southDeg) / grid.cellSizeLatDeg - EDGE_TOLERANCE_CELLS),
  );
  if (endColumn <= firstColumn || endRow <= firstRow) {
    throw new Fault(
      "invalid_request",
      `The box ${bbox.westDeg},${bbox.southDeg},${bbox.eastDeg},${bbox.northDeg} touches no cell of the maps (${describeGrid(grid)}).`,
    );
  }
  return { firstRow, rowCount: endRow - firstRow, firstColumn, columnCount: endColumn - firstColumn };
}

/** Returns the grid of the cells of a window. */
export function gridOfWindow(grid: Grid, window: CellWindow): Grid {
  return {
    ...grid,
    northDeg: grid.northDeg - window.firstRow * grid.cellSizeLatDeg,
    westDeg: grid.westDeg + window.firstColumn * grid.cellSizeLonDeg,
    rowCount: window.rowCount,
    columnCount: window.columnCount,
  };
}

/** Returns the position of `part` within `whole`, or undefined if `part` is not an aligned part of `whole`. */
function alignedOffset(whole: Grid, part: Grid): { readonly row: number; readonly column: number } | undefined {
  if (!isSameSize(whole, part)) return undefined;
  const row = (whole.northDeg - part.northDeg) / whole.cellSizeLatDeg;
  for (const turnDeg of [0, 360, -360]) {
    const column = (part.westDeg + turnDeg - whole.westDeg) / whole.cellSizeLonDeg;
    const offset = { row: Math.round(row) + 0, column: Math.round(column) + 0 };
    const isAligned =
      Math.abs(row - offset.row) <= EDGE_TOLERANCE_CELLS && Math.abs(column - offset.column) <= EDGE_TOLERANCE_CELLS;
    const isInside =
      offset.row >= 0 &&
      offset.row + part.rowCount <= whole.rowCount &&
      offset.column >= 0 &&
      offset.column + part.columnCount <= whole.columnCount;
    if (isAligned && isInside) return offset;
  }
  return undefined;
}

/** Rejects curves that would have to be extrapolated to the design return period, unless `holdFlat` is set. */
function checkGroups(plan: HazardPlan, options: IngestOptions): void {
  const designYears = plan.rules.design_return_period_years;
  for (const { scenario, year, content } of plan.groups) {
    if (content.kind !== "curves" || designYears === undefined) continue;
    for (const { model, maps } of content.models) {
      const periods = maps.map(({ returnPeriodYears }) => returnPeriodYears);
      const returnPeriodYearsMin = Math.min(...periods);
      const returnPeriodYearsMax = Math.max(...periods);
      if ((returnPeriodYearsMin <= designYears && designYears <= returnPeriodYearsMax) || options.holdFlat === true)
        continue;
      throw sourceFault(
        maps[0]?.raster.file ?? plan.hazard,
        `the maps of ${plan.hazard} ${scenario} ${year}${model === "" ? "" : `, model ${model},`} have return periods of ${periods.join(", ")} years, ` +
          `which do not span ${designYears}. Add maps on both sides of it, or use the value of the nearest map with --hold-flat.`,
      );
    }
  }
}
