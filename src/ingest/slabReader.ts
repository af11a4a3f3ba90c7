import { HAZARDS, type MetricName, type MetricSpec } from "../hazard/hazards.ts";
import type { Kernel } from "../kernel/instance.ts";
import {
  BadValueError,
  type BadValue,
  curveCells,
  derivesIntensity,
  intensityOf,
  largestAllowed,
  layersFrom,
  type MetricValues,
  metricSteps,
  ModelMean,
  checkedValues,
  type ValueRange,
  type LargestRounding,
} from "./curve.ts";
import { badValueFault, outOfRangeFault } from "./badValues.ts";
import { type CurveSource, type GroupPlan, type HazardPlan, mapsOf, type MetricSource } from "./plan.ts";
import type { CellWindow, RasterValues } from "./raster.ts";
import type { GroupRows, PartKey, SlabParts } from "./slabParts.ts";

/** Rows of an atlas tile: what the writer asks for at a time. */
const BAND_ROWS = 64;
/** Cells that the kernel takes at a time: ten maps of them are 5 MiB of its scratch. */
const KERNEL_CELLS = 65_536;

/** What may be held in memory. */
export interface SlabBudget {
  /** Values of one curve that are held decoded. */
  readonly decodedValues: number;
  /** Steps of all groups that are held until they are asked for. */
  readonly finishedSteps: number;
  /** Values that go into one part of a slab, of all models: a second or two of work, so that it can be saved often. */
  readonly partValues: number;
}

/** 100 MB of 32-bit floats, 512 MiB of steps. */
const BUDGET: SlabBudget = { decodedValues: 25_000_000, finishedSteps: 256 << 20, partValues: 25_000_000 };

/** How the parts of slabs are kept across interruptions. */
export interface SlabOptions {
  readonly parts?: SlabParts;
  readonly signal?: AbortSignal | undefined;
}

/** Some rows of the window, of every group. */
export interface Slab {
  /** In rows of the source's grid. */
  readonly firstRow: number;
  readonly rowCount: number;
  readonly groups: readonly GroupRows[];
}

/** The layers that a group will have. */
export function layersOfGroup(plan: HazardPlan, group: GroupPlan): readonly MetricSpec[] {
  const spec = HAZARDS[plan.hazard];
  const { content } = group;
  if (content.kind === "curves") return spec.metrics;
  const metrics = new Set(Object.keys(content.metrics) as MetricName[]);
  if (metrics.has(spec.ownMetric) && derivesIntensity(plan.rules)) metrics.add("intensity");
  return layersFrom(spec, metrics);
}

/**
 * Turns a window of source maps into cells of layers, a slab of rows at a time. Slabs follow the blocks that the source
 * files are stored in, so that a block is decoded once however many rows it has; bands of 64 rows are then cut from them.
 *
 * Memory is bounded by the budget plus one slab's running means (17 bytes a cell). For nine striped maps of
 * 43,200 columns a slab is 64 rows: 100 MB decoded, 28 MB finished for each group. Files of tall blocks get slabs as tall
 * as their blocks, and blocks are decoded again for each slab only where those would be larger than the bounds.
 */
export class SlabReader {
  readonly #kernel: Kernel;
  readonly #plan: HazardPlan;
  readonly #window: CellWindow;
  readonly #clampTolerance: number | undefined;
  readonly #layers: readonly (readonly MetricSpec[])[];
  readonly #slabRows: number;
  readonly #slabColumns: number;
  #current: Slab | undefined;

  constructor(
    kernel: Kernel,
    plan: HazardPlan,
    window: CellWindow,
    { clampTolerance, budget = BUDGET }: Pick<ValueRange, "clampTolerance"> & { readonly budget?: SlabBudget },
  ) {
    this.#kernel = kernel;
    this.#plan = plan;
    this.#window = window;
    this.#clampTolerance = clampTolerance;
    this.#layers = plan.groups.map((group) => layersOfGroup(plan, group));

    const rasters = plan.groups.flatMap(mapsOf).map(({ raster }) => raster);
    const blockRows = Math.max(...rasters.map(({ blockRowCount }) => blockRowCount));
    const blockColumns = Math.max(...rasters.map(({ blockColumnCount }) => blockColumnCount));
    const layerCount = this.#layers.reduce((sum, layers) => sum + layers.length, 0);
    const mapCount = Math.max(...plan.groups.flatMap(mapCountsInMemory));
    const mapCountOfAllModels = Math.max(...plan.groups.map((group) => mapsOf(group).length));

    const wanted = blockRows >= BAND_ROWS ? blockRows : Math.floor(BAND_ROWS / blockRows) * blockRows;
    const narrowest = Math.min(blockColumns, window.columnCount);
    const affordable = Math.min(
      Math.floor(budget.finishedSteps / (window.columnCount * layerCount)),
      Math.floor(budget.decodedValues / (narrowest * mapCount)),
    );
    const rowsAtOnce = Math.max(1, Math.min(wanted, Math.max(BAND_ROWS, affordable)));
    // Fewer rows at once where a part would take long, unless blocks would be decoded more than once for that.
    const rowsOfPart = Math.floor(budget.partValues / (narrowest * mapCountOfAllModels));
    this.#slabRows = Math.min(rowsAtOnce, Math.max(blockRows, Math.floor(rowsOfPart / blockRows) * blockRows));
    const blocksAcross = Math.min(
      Math.floor(budget.decodedValues / (this.#slabRows * blockColumns * mapCount)),
      Math.floor(budget.partValues / (this.#slabRows * blockColumns * mapCountOfAllModels)),
    );
    this.#slabColumns = blockColumns * Math.max(1, blocksAcross);
  }

  /**
   * Returns the slab that holds a row of the window; `row` counts in the source's grid. What of it is saved is not made
   * again, and what is made is saved when that is due, and when the signal ends the work.
   */
  async slabAt(row: number, saved: SlabOptions = {}): Promise<Slab> {
    const current = this.#current;
    if (current !== undefined && row >= current.firstRow && row < current.firstRow + current.rowCount) return current;
    this.#current = undefined; // lets go of the old rows before the new ones are made
    const { firstRow, rowCount } = this.#window;
    const start = Math.floor(row / this.#slabRows) * this.#slabRows;
    const first = Math.max(start, firstRow);
    const end = Math.min(start + this.#slabRows, firstRow + rowCount);
    const slab = await this.#make({ firstRow: first, rowCount: end - first }, saved);
    this.#current = slab;
    return slab;
  }

  async #make(
    rows: { readonly firstRow: number; readonly rowCount: number },
    { parts, signal }: SlabOptions,
  ): Promise<Slab> {
    const { firstColumn, columnCount } = this.#window;
    const cellCount = rows.rowCount * columnCount;
    const groups = this.#layers.map((layers) => ({
      steps: new Uint16Array(cellCount * layers.length),
      flags: new Uint8Array(cellCount),
      worst: {} as LargestRounding,
    }));
    const end = firstColumn + columnCount;
    let unsaved: (PartKey & { readonly rows: GroupRows })[] = [];
    for (let column = firstColumn; column < end;) {
      const next = Math.min(end, (Math.floor(column / this.#slabColumns) + 1) * this.#slabColumns);
      const part: CellWindow = { ...rows, firstColumn: column, columnCount: next - column };
      for (const [index, target] of groups.entries()) {
        const key: PartKey = { group: index, window: part };
        const known = await parts?.find(key);
        const made = known ?? (await this.#makeGroup(index, part));
        if (parts !== undefined && known === undefined) unsaved.push({ ...key, rows: made });
        const isStopped = signal?.aborted === true;
        if (parts !== undefined && (isStopped || parts.isDue)) {
          await parts.save(unsaved);
          unsaved = [];
        }
        signal?.throwIfAborted();
        const layerCount = this.#layers[index]?.length ?? 0;
        for (let row = 0; row < rows.rowCount; row++) {
          const from = row * part.columnCount;
          const to = row * columnCount + (column - firstColumn);
          target.steps.set(
            made.steps.subarray(from * layerCount, (from + part.columnCount) * layerCount),
            to * layerCount,
          );
          target.flags.set(made.flags.subarray(from, from + part.columnCount), to);
        }
        target.worst = mergeLargestRounding(target.worst, made.worst);
      }
      column = next;
    }
    return { ...rows, groups };
  }

  async #makeGroup(index: number, window: CellWindow): Promise<GroupRows> {
    const group = this.#plan.groups[index];
    const layers = this.#layers[index];
    if (group === undefined || layers === undefined) throw new Error(`No group ${index}.`);
    const cellCount = window.rowCount * window.columnCount;
    const flags = new Uint8Array(cellCount);
    const values = await this.#valuesOf(group, window, flags);
    const steps = new Uint16Array(cellCount * layers.length);
    let worst: LargestRounding = {};
    for (const [first, end] of kernelBatches(cellCount)) {
      const run = Object.fromEntries(Object.entries(values).map(([metric, all]) => [metric, all.subarray(first, end)]));
      const made = await this.#steps(group, layers, { run, window, firstCell: first });
      steps.set(made.steps, first * layers.length);
      worst = mergeLargestRounding(worst, made.worst);
    }
    return { steps, flags, worst };
  }

  async #valuesOf(group: GroupPlan, window: CellWindow, flags: Uint8Array): Promise<MetricValues> {
    const spec = HAZARDS[this.#plan.hazard];
    const own = spec.ownMetric as Exclude<MetricName, "total_hazard">;
    const { rules } = this.#plan;
    const { content } = group;
    if (content.kind === "curves") {
      const mean = await this.#meanOfModels(content.models, window, flags);
      return { [own]: mean.own, intensity: intensityOf(mean.own, rules), probability: mean.probability };
    }
    const values: MetricValues = {};
    for (const [metric, source] of Object.entries(content.metrics) as [keyof MetricValues, MetricSource][]) {
      values[metric] = await this.#metricValues(metric, source, window, flags);
    }
    const given = values[own];
    if (given !== undefined && values.intensity === undefined && derivesIntensity(rules)) {
      values.intensity = intensityOf(given, rules);
    }
    return values;
  }

  async #meanOfModels(models: readonly CurveSource[], window: CellWindow, flags: Uint8Array) {
    const { rules } = this.#plan;
    const cellCount = window.rowCount * window.columnCount;
    const mean = new ModelMean({ modelCount: models.length, cellCount });
    for (const { maps } of models) {
      const all = await Promise.all(maps.map(({ raster, band }) => raster.readWindow({ ...window, band })));
      const rule = {
        family: rules.curve ?? "gumbel",
        returnPeriods: maps.map(({ returnPeriodYears }) => returnPeriodYears),
        designReturnPeriodYears: rules.design_return_period_years ?? NaN,
        threshold: rules.threshold,
      } as const;
      const unitFactors = maps.map(({ unitFactor }) => unitFactor);
      for (const [first, end] of kernelBatches(cellCount)) {
        const run = { maps: all.map((values) => values.subarray(first, end)), unitFactors };
        const clampTolerance = this.#clampTolerance;
        const made = this.#placing(
          () => curveCells(this.#kernel, run, rule, { clampTolerance, flags: flags.subarray(first, end) }),
          (bad) =>
            badValueFault(maps[bad.map], bad, { window, firstCell: first, layer: this.#ownLayer, clampTolerance }),
        );
        mean.add(first, made);
      }
    }
    return mean.result();
  }

  async #metricValues(
    metric: MetricName,
    source: MetricSource,
    window: CellWindow,
    flags: Uint8Array,
  ): Promise<Float64Array> {
    const layer = HAZARDS[this.#plan.hazard].metrics.find((spec) => spec.metric === metric);
    if (layer === undefined) throw new Error(`${this.#plan.hazard} has no metric ${metric}.`);
    const largest = largestAllowed(layer);
    const read: RasterValues = await source.raster.readWindow({ ...window, band: source.band });
    const max = source.saturate ? Number.MAX_VALUE : largest / source.unitFactor;
    const { unitFactor } = source;
    const clampTolerance = this.#clampTolerance;
    const checked = this.#placing(
      () => checkedValues(read, flags, { map: 0, unitFactor, clampTolerance, max }),
      (bad) => badValueFault(source, bad, { window, firstCell: 0, layer, clampTolerance }),
    );
    // A value at the very end of the range may be past it by the last bit once it has its unit.
    return Float64Array.from(checked, (value) => Math.min(value * source.unitFactor, largest));
  }

  async #steps(
    group: GroupPlan,
    layers: readonly MetricSpec[],
    { run, ...at }: { readonly run: MetricValues; readonly window: CellWindow; readonly firstCell: number },
  ): Promise<ReturnType<typeof metricSteps>> {
    try {
      return metricSteps(this.#kernel, layers, run);
    } catch (error) {
      if (!(error instanceof BadValueError)) throw error;
      throw await outOfRangeFault(group, layers[error.bad.map], error.bad, at);
    }
  }

  /** The layer of the metric that curves give values of. */
  get #ownLayer(): MetricSpec | undefined {
    const { metrics, ownMetric } = HAZARDS[this.#plan.hazard];
    return metrics.find(({ metric }) => metric === ownMetric);
  }

  #placing<T>(make: () => T, refuse: (bad: BadValue) => Error): T {
    try {
      return make();
    } catch (error) {
      throw error instanceof BadValueError ? refuse(error.bad) : error;
    }
  }
}

/** How many maps of a group are in memory at once: those of one curve, or one. */
function mapCountsInMemory({ content }: GroupPlan): number[] {
  return content.kind === "curves" ? content.models.map(({ maps }) => maps.length) : [1];
}

function* kernelBatches(cellCount: number): Generator<readonly [first: number, end: number]> {
  for (let first = 0; first < cellCount; first += KERNEL_CELLS) {
    yield [first, Math.min(cellCount, first + KERNEL_CELLS)];
  }
}

export function mergeLargestRounding(a: LargestRounding, b: LargestRounding): LargestRounding {
  const merged: LargestRounding = { ...a };
  for (const [metric, error] of Object.entries(b) as [MetricName, number][]) {
    merged[metric] = Math.max(merged[metric] ?? 0, error);
  }
  return merged;
}
