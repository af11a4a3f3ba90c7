/** Computes layers from source maps, a slab of rows at a time. */
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

/** Rows of an atlas tile; the writer requests this many rows at a time. */
const BAND_ROWS = 64;
/** Cells passed to the kernel at a time; for ten maps they occupy 5 MiB of its scratch memory. */
const KERNEL_CELLS = 65_536;

/** Limits on memory and on the work between two checkpoints. */
export interface SlabBudget {
  /** Decoded values of one curve. */
  readonly decodedValues: number;
  /** Computed steps of all groups, which stay in memory until they are written. */
  readonly finishedSteps: number;
  /** Values of all models in one part of a slab, the unit that is saved: one or two seconds of work. */
  readonly partValues: number;
}

/** 100 MB of 32-bit floats, 512 MiB of steps. */
const BUDGET: SlabBudget = { decodedValues: 25_000_000, finishedSteps: 256 << 20, partValues: 25_000_000 };

/** The store for finished parts, and the signal that stops the work. */
export interface SlabOptions {
  readonly parts?: SlabParts;
  readonly signal?: AbortSignal | undefined;
}

/** A run of rows of the window, for every group. */
export interface Slab {
  /** In rows of the source grid. */
  readonly firstRow: number;
  readonly rowCount: number;
  readonly groups: readonly GroupRows[];
}

/** Returns the layers that a group will have. */
export function layersOfGroup(plan: HazardPlan, group: GroupPlan): readonly MetricSpec[] {
  const spec = HAZARDS[plan.hazard];
  const { content } = group;
  if (content.kind === "curves") return spec.metrics;
  const metrics = new Set(Object.keys(content.metrics) as MetricName[]);
  if (metrics.has(spec.ownMetric) && derivesIntensity(plan.rules)) metrics.add("intensity");
  return layersFrom(spec, metrics);
}

interface ClampTolerances {
  /** Returns the `clampTolerance` of a metric from its unit. */
  readonly clampToleranceOf: (unit: MetricSpec["unit"]) => ValueRange["clampTolerance"];
}

/**
 * Computes cells of layers from a window of source maps, a slab of rows at a time. Slabs are aligned with the blocks of the
 * source files, so that each block is decoded once; the writer takes bands of 64 rows from them.
 *
 * Memory is bounded by the budget plus the running means of one slab (17 bytes per cell). For nine striped maps of 43,200
 * columns a slab has 64 rows: 100 MB decoded, 28 MB computed for each group. If blocks have
 * more than 64 rows, a slab has as many rows as a block, unless that exceeds the budget; then blocks are decoded again for
 * each slab.
 */
export class SlabReader {
  readonly #kernel: Kernel;
  readonly #plan: HazardPlan;
  readonly #window: CellWindow;
  readonly #clampToleranceOf: ClampTolerances["clampToleranceOf"];
  readonly #layers: readonly (readonly MetricSpec[])[];
  readonly #slabRows: number;
  readonly #slabColumns: number;
  #current: Slab | undefined;

  constructor(
    kernel: Kernel,
    plan: HazardPlan,
    window: CellWindow,
    { clampToleranceOf, budget = BUDGET }: ClampTolerances & { readonly budget?: SlabBudget },
  ) {
    this.#kernel = kernel;
    this.#plan = plan;
    this.#window = window;
    this.#clampToleranceOf = clampToleranceOf;
    this.#layers = plan.groups.map((group) => layersOfGroup(plan, group));

    const rasters = plan.groups.flatMap(mapsOf).map(({ raster }) => raster);
    const blockRows = Math.max(...rasters.map(({ blockRowCount }) => blockRowCount));
    const blockColumns = Math.max(...rasters.map(({ blockColumnCount }) => blockColumnCount));
    const layerCount = this.#layers.reduce((sum, layers) => sum + layers.length, 0);
    const mapCount = Math.max(...plan.groups.flatMap(mapCountsInMemory));
    const mapCountOfAllModels = Math.max(...plan.groups.map((group) => mapsOf(group).length));

    const rowsWanted = blockRows >= BAND_ROWS ? blockRows : Math.floor(BAND_ROWS / blockRows) * blockRows;
    const narrowest = Math.min(blockColumns, window.columnCount);
    const affordable = Math.min(
      Math.floor(budget.finishedSteps / (window.columnCount * layerCount)),
      Math.floor(budget.decodedValues / (narrowest * mapCount)),
    );
    const rowsAtOnce = Math.max(1, Math.min(rowsWanted, Math.max(BAND_ROWS, affordable)));
    // Fewer rows if a part would take too long, unless blocks would then be decoded more than once.
    const rowsOfPart = Math.floor(budget.partValues / (narrowest * mapCountOfAllModels));
    this.#slabRows = Math.min(rowsAtOnce, Math.max(blockRows, Math.floor(rowsOfPart / blockRows) * blockRows));
    const blocksAcross = Math.min(
      Math.floor(budget.decodedValues / (this.#slabRows * blockColumns * mapCount)),
      Math.floor(budget.partValues / (this.#slabRows * blockColumns * mapCountOfAllModels)),
    );
    this.#slabColumns = blockColumns * Math.max(1, blocksAcross);
  }

  /**
   * Returns the slab that contains a row of the window, given in rows of the source grid. Saved parts are not computed
   * again; new parts are saved when a checkpoint is due and when the signal stops the work.
   */
  async slabAt(row: number, saved: SlabOptions = {}): Promise<Slab> {
    const current = this.#current;
    if (current !== undefined && row >= current.firstRow && row < current.firstRow + current.rowCount) return current;
    this.#current = undefined; // frees the old rows before the new ones are allocated
    const { firstRow, rowCount } = this.#window;
    const start = Math.floor(row / this.#slabRows) * this.#slabRows;
    const first = Math.max(start, firstRow);
    const end = Math.min(start + this.#slabRows, firstRow + rowCount);
    const slab = await this.#computeSlab({ firstRow: first, rowCount: end - first }, saved);
    this.#current = slab;
    return slab;
  }

  async #computeSlab(
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
      const cells: CellWindow = { ...rows, firstColumn: column, columnCount: next - column };
      for (const [index, target] of groups.entries()) {
        const key: PartKey = { group: index, window: cells };
        const saved = await parts?.find(key);
        const part = saved ?? (await this.#computePart(index, cells));
        if (parts !== undefined && saved === undefined) unsaved.push({ ...key, rows: part });
        const isStopped = signal?.aborted === true;
        if (parts !== undefined && (isStopped || parts.isDue)) {
          await parts.save(unsaved);
          unsaved = [];
        }
        signal?.throwIfAborted();
        const layerCount = this.#layers[index]?.length ?? 0;
        for (let row = 0; row < rows.rowCount; row++) {
          const from = row * cells.columnCount;
          const to = row * columnCount + (column - firstColumn);
          target.steps.set(
            part.steps.subarray(from * layerCount, (from + cells.columnCount) * layerCount),
            to * layerCount,
          );
          target.flags.set(part.flags.subarray(from, from + cells.columnCount), to);
        }
        target.worst = mergeLargestRounding(target.worst, part.worst);
      }
      column = next;
    }
    return { ...rows, groups };
  }

  async #computePart(index: number, window: CellWindow): Promise<GroupRows> {
    const group = this.#plan.groups[index];
    const layers = this.#layers[index];
    if (group === undefined || layers === undefined) throw new Error(`There is no group ${index}.`);
    const cellCount = window.rowCount * window.columnCount;
    const flags = new Uint8Array(cellCount);
    const values = await this.#valuesOf(group, window, flags);
    const steps = new Uint16Array(cellCount * layers.length);
    let worst: LargestRounding = {};
    for (const [first, end] of kernelBatches(cellCount)) {
      const batch = Object.fromEntries(
        Object.entries(values).map(([metric, all]) => [metric, all.subarray(first, end)]),
      );
      const computed = await this.#steps(group, layers, { batch, window, firstCell: first });
      steps.set(computed.steps, first * layers.length);
      worst = mergeLargestRounding(worst, computed.worst);
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
        const batch = { maps: all.map((values) => values.subarray(first, end)), unitFactors };
        const clampTolerance = this.#clampToleranceOf(this.#ownLayer?.unit ?? "1");
        const computed = this.#withFault(
          () => curveCells(this.#kernel, batch, rule, { clampTolerance, flags: flags.subarray(first, end) }),
          (bad) =>
            badValueFault(maps[bad.map], bad, { window, firstCell: first, layer: this.#ownLayer, clampTolerance }),
        );
        mean.add(first, computed);
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
    const clampTolerance = this.#clampToleranceOf(layer.unit);
    const checked = this.#withFault(
      () => checkedValues(read, flags, { map: 0, unitFactor, clampTolerance, max }),
      (bad) => badValueFault(source, bad, { window, firstCell: 0, layer, clampTolerance }),
    );
    // After conversion, a value at the end of the range may exceed it by the last bit.
    return Float64Array.from(checked, (value) => Math.min(value * source.unitFactor, largest));
  }

  async #steps(
    group: GroupPlan,
    layers: readonly MetricSpec[],
    { batch, ...at }: { readonly batch: MetricValues; readonly window: CellWindow; readonly firstCell: number },
  ): Promise<ReturnType<typeof metricSteps>> {
    try {
      return metricSteps(this.#kernel, layers, batch);
    } catch (error) {
      if (!(error instanceof BadValueError)) throw error;
      throw await outOfRangeFault(group, layers[error.bad.map], error.bad, at);
    }
  }

  /** The layer of the hazard's own metric, which is computed from the curves. */
  get #ownLayer(): MetricSpec | undefined {
    const { metrics, ownMetric } = HAZARDS[this.#plan.hazard];
    return metrics.find(({ metric }) => metric === ownMetric);
  }

  #withFault<T>(compute: () => T, toFault: (bad: BadValue) => Error): T {
    try {
      return compute();
    } catch (error) {
      throw error instanceof BadValueError ? toFault(error.bad) : error;
    }
  }
}

/** Returns how many maps of a group are in memory at once: those of each curve, or one. */
function mapCountsInMemory({ content }: GroupPlan): number[] {
  return content.kind === "curves" ? content.models.map(({ maps }) => maps.length) : [1];
}

function* kernelBatches(cellCount: number): Generator<readonly [first: number, end: number]> {
  for (let first = 0; first < cellCount; first += KERNEL_CELLS) {
    yield [first, Math.min(cellCount, first + KERNEL_CELLS)];
  }
}

/** Returns the larger of two rounding errors for each metric. */
export function mergeLargestRounding(a: LargestRounding, b: LargestRounding): LargestRounding {
  const merged: LargestRounding = { ...a };
  for (const [metric, error] of Object.entries(b) as [MetricName, number][]) {
    merged[metric] = Math.max(merged[metric] ?? 0, error);
  }
  return merged;
}
