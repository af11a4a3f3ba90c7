/** Computes chunks of layers, each the cells of one group in a window, from the source maps. */
import type { EncodedTiles } from "../atlas/tileEncoding.ts";
import { HAZARDS, type MetricName, type MetricSpec } from "../hazard/hazards.ts";
import type { Kernel } from "../kernel/instance.ts";
import { TILE_SIZE } from "../kernel/kernel.generated.ts";
import {
  checkedValues,
  checkingValues,
  outOfRangeFault,
  type ReadMap,
  type ValueCheck,
  type ValueRange,
} from "./badValues.ts";
import {
  CellSorter,
  type CurveCells,
  curveCells,
  curveRows,
  intensityOf,
  ModelMean,
  type OwnAndProbability,
} from "./curve.ts";
import {
  type CellCounts,
  countCells,
  gathered,
  type LargestRounding,
  mergeLargestRounding,
  metricSteps,
  type MetricValues,
  zeroCounts,
} from "./metricSteps.ts";
import {
  curveRuleOf,
  type CurveSource,
  derivesIntensity,
  type GroupPlan,
  type HazardPlan,
  largestAllowed,
  layersOfGroup,
  metricsOfPlan,
  type MetricSource,
} from "./plan.ts";
import type { CellWindow } from "./raster.ts";

/** Cells passed to the kernel at a time; for ten maps they occupy 5 MiB of its scratch memory. */
export const KERNEL_CELLS = 65_536;

/** Finished cells of one group in a window of the source's grid. */
export interface GroupRows {
  /** u16[rowCount][columnCount][layers]; empty if `tiles` has all cells. */
  readonly steps: Uint16Array;
  /**
   * The tiles of the atlas whose cells are all in the window, for each group that the chunk is stored as; undefined before
   * they are encoded.
   */
  readonly tiles?: readonly EncodedTiles[];
  /** Counts of the cells in each row of tiles of the atlas that the window touches, from north to south. */
  readonly counts: readonly CellCounts[];
  readonly worst: LargestRounding;
}

/** Identifies a chunk of a slab: the cells of one group in a window. */
export interface ChunkKey {
  readonly group: number;
  readonly window: CellWindow;
}

export interface ChunkOptions {
  /** Returns the `clampTolerance` of a metric from its unit. */
  readonly clampToleranceOf: (unit: MetricSpec["unit"]) => ValueRange["clampTolerance"];
  /** Row of the atlas grid that the first row of the source grid is at; may be negative. */
  readonly atlasRowOfSource: number;
}

/** Returns the rows of tiles of the atlas that a window of the source touches; `end` is exclusive. */
export function tileRowsOf(
  { firstRow, rowCount }: Pick<CellWindow, "firstRow" | "rowCount">,
  atlasRowOfSource: number,
): { readonly first: number; readonly end: number } {
  const top = firstRow + atlasRowOfSource;
  return { first: Math.floor(top / TILE_SIZE), end: Math.ceil((top + rowCount) / TILE_SIZE) };
}

/** Computes chunks of a plan of metrics. */
export class ChunkComputer {
  readonly #kernel: Kernel;
  readonly #plan: HazardPlan;
  readonly #options: ChunkOptions;
  readonly #layers: readonly (readonly MetricSpec[])[];
  readonly #sorter = new CellSorter(KERNEL_CELLS);

  constructor(kernel: Kernel, plan: HazardPlan, options: ChunkOptions) {
    this.#kernel = kernel;
    this.#plan = plan;
    this.#options = options;
    this.#layers = plan.groups.map((group) => layersOfGroup(plan, group));
  }

  /**
   * Reads the maps of a group and computes its cells.
   * @throws Fault `source_invalid` naming file and cell of a value that is rejected
   */
  async compute({ group: index, window }: ChunkKey): Promise<GroupRows> {
    const group = this.#plan.groups[index];
    const layers = this.#layers[index];
    if (group === undefined || layers === undefined) throw new Error(`There is no group ${index}.`);
    const { content } = group;
    const [model] = content.kind === "curves" ? content.models : [];
    if (content.kind === "curves" && content.models.length === 1 && model !== undefined) {
      return this.#curveRows(group, model, window);
    }
    const cellCount = window.rowCount * window.columnCount;
    const flags = new Uint8Array(cellCount);
    const values = await this.#valuesOf(group, window, flags);
    const steps = new Uint16Array(cellCount * layers.length);
    let worst: LargestRounding = {};
    for (const [first, end] of kernelBatches(cellCount)) {
      const batch = Object.fromEntries(
        Object.entries(values).map(([metric, all]) => [metric, all.subarray(first, end)]),
      ) as MetricValues;
      const outcome = metricSteps(this.#kernel, layers, this.#withIntensity(group, batch));
      if (outcome.kind === "out-of-range")
        throw await outOfRangeFault(group, window, { ...outcome, cell: first + outcome.cell });
      steps.set(outcome.steps, first * layers.length);
      worst = mergeLargestRounding(worst, outcome.worst);
    }
    return { steps, counts: this.#countRows(steps, flags, { layers, window }), worst };
  }

  /** Computes the curves of a group with one model. */
  async #curveRows(group: GroupPlan, model: CurveSource, window: CellWindow): Promise<GroupRows> {
    const { rules } = this.#plan;
    const specs = layersOfGroup(this.#plan, group);
    const maps = await readMaps(model, window);
    const check = this.#checkOf(this.#ownMetric, window);
    const rows = checkingValues(maps, check, () =>
      curveRows(this.#kernel, cellsOf(maps), {
        layers: { specs, own: specs.findIndex(({ metric }) => metric === this.#ownMetric), rules },
        rule: curveRuleOf(this.#plan, model),
        clampTolerance: check.clampTolerance,
        cellEnds: this.#cellEndsOf(window),
      }),
    );
    if (rows.kind === "out-of-range") throw await outOfRangeFault(group, window, rows);
    return rows;
  }

  /** Returns where the cells of each row of tiles of the atlas end, in cells of a window. */
  #cellEndsOf(window: CellWindow): readonly number[] {
    const { first, end } = tileRowsOf(window, this.#options.atlasRowOfSource);
    const top = window.firstRow + this.#options.atlasRowOfSource;
    return Array.from(
      { length: end - first },
      (_, row) => Math.min(window.rowCount, (first + row + 1) * TILE_SIZE - top) * window.columnCount,
    );
  }

  #countRows(
    steps: Uint16Array,
    flags: Uint8Array,
    { layers, window }: { readonly layers: readonly MetricSpec[]; readonly window: CellWindow },
  ): readonly CellCounts[] {
    const own = Math.max(
      0,
      layers.findIndex(({ metric }) => metric === this.#ownMetric),
    );
    let firstCell = 0;
    return this.#cellEndsOf(window).map((endCell) => {
      const counted = { own, layerCount: layers.length, firstCell, endCell };
      firstCell = endCell;
      return countCells(zeroCounts(), steps, flags, counted);
    });
  }

  async #valuesOf({ content }: GroupPlan, window: CellWindow, flags: Uint8Array): Promise<MetricValues> {
    if (content.kind === "curves") {
      const { own, probability } = await this.#meanOfModels(content.models, window, flags);
      return { [this.#ownMetric]: own, probability };
    }
    const values: MetricValues = {};
    for (const [metric, source] of Object.entries(content.metrics) as [keyof MetricValues, MetricSource][]) {
      values[metric] = await this.#metricValues(metric, source, window, flags);
    }
    return values;
  }

  /** Adds the intensity if it is derived from the hazard's own metric. */
  #withIntensity({ content }: GroupPlan, values: MetricValues): MetricValues {
    const { rules } = this.#plan;
    const own = values[this.#ownMetric];
    const isDerived = content.kind === "curves" || (values.intensity === undefined && derivesIntensity(rules));
    return isDerived && own !== undefined ? { ...values, intensity: intensityOf(own, rules) } : values;
  }

  async #meanOfModels(
    models: readonly CurveSource[],
    window: CellWindow,
    flags: Uint8Array,
  ): Promise<OwnAndProbability> {
    const mean = new ModelMean({ modelCount: models.length, cellCount: flags.length });
    const check = this.#checkOf(this.#ownMetric, window);
    for (const model of models) {
      const maps = await readMaps(model, window);
      checkingValues(maps, check, () => {
        for (const [first, end] of kernelBatches(flags.length)) {
          const { maps: values, unitFactors } = cellsOf(maps, first, end);
          const { active, zero } = this.#sorter.kindsOf(values);
          const activeFlags = new Uint8Array(active.length);
          const activeCells = { maps: values.map((map) => gathered(map, active)), unitFactors };
          const options = { clampTolerance: check.clampTolerance, flags: activeFlags };
          mean.add(first, active, curveCells(this.#kernel, activeCells, curveRuleOf(this.#plan, model), options));
          mean.addZeros(first, zero);
          for (let index = 0; index < active.length; index++) {
            const cell = first + (active[index] as number);
            flags[cell] = (flags[cell] as number) | (activeFlags[index] as number);
          }
        }
      });
    }
    return mean.result();
  }

  async #metricValues(
    metric: MetricName,
    source: MetricSource,
    window: CellWindow,
    flags: Uint8Array,
  ): Promise<Float64Array> {
    const { raster, band, unitFactor, saturate } = source;
    const check = this.#checkOf(metric, window);
    const largest = largestAllowed(check.layer);
    const max = saturate ? Number.MAX_VALUE : largest / unitFactor;
    const read = await raster.readWindow({ ...window, band });
    const checked = checkingValues([{ source, values: read }], { ...check, max }, () =>
      checkedValues(read, flags, { unitFactor, clampTolerance: check.clampTolerance, max }),
    );
    const values = new Float64Array(checked.length);
    // After conversion, a value at the end of the range may exceed it by the last bit.
    for (let cell = 0; cell < values.length; cell++) {
      values[cell] = Math.min((checked[cell] as number) * unitFactor, largest);
    }
    return values;
  }

  get #ownMetric(): Exclude<MetricName, "total_hazard"> {
    return HAZARDS[this.#plan.hazard].ownMetric as Exclude<MetricName, "total_hazard">;
  }

  #checkOf(metric: MetricName, window: CellWindow): ValueCheck {
    const layer = metricsOfPlan(this.#plan).find((spec) => spec.metric === metric);
    if (layer === undefined) throw new Error(`${this.#plan.hazard} has no metric ${metric}.`);
    return { window, layer, clampTolerance: this.#options.clampToleranceOf(layer.unit) };
  }
}

/** Reads the maps of a curve. */
export function readMaps({ maps }: CurveSource, window: CellWindow): Promise<readonly ReadMap[]> {
  return Promise.all(
    maps.map(async (source) => ({ source, values: await source.raster.readWindow({ ...window, band: source.band }) })),
  );
}

/** Returns a run of cells of the maps of a curve; by default, all cells. */
export function cellsOf(maps: readonly ReadMap[], first?: number, end?: number): CurveCells {
  return {
    maps: maps.map(({ values }) => values.subarray(first, end)),
    unitFactors: maps.map(({ source }) => source.unitFactor),
  };
}

/** Returns the batches of cells that are passed to the kernel. */
export function* kernelBatches(cellCount: number): Generator<readonly [first: number, end: number]> {
  for (let first = 0; first < cellCount; first += KERNEL_CELLS) {
    yield [first, Math.min(cellCount, first + KERNEL_CELLS)];
  }
}
