import { HAZARDS, type MetricName, type MetricSpec } from "../hazard/hazards.ts";
import type { Kernel } from "../kernel/instance.ts";
import {
  BadValueError,
  type BadValue,
  curveCells,
  derivesIntensity,
  intensityOf,
  largestOf,
  layersFrom,
  type MetricValues,
  metricSteps,
  ModelMean,
  checkedValues,
  type ValueRange,
  type WorstRounding,
} from "./curve.ts";
import type { CurveSource, GroupPlan, HazardPlan, MapSource, MetricSource } from "./plan.ts";
import { type CellWindow, placeOf, type RasterValues, sourceFault } from "./raster.ts";

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
}

/** 100 MB of 32-bit floats, 512 MiB of steps. */
const BUDGET: SlabBudget = { decodedValues: 25_000_000, finishedSteps: 256 << 20 };

/** Finished rows of one group. */
export interface GroupRows {
  /** u16[rowCount][columnCount][layers] */
  readonly steps: Uint16Array;
  /** u8[rowCount][columnCount], bits TALLY_ of curve.ts */
  readonly tallies: Uint8Array;
  readonly worst: WorstRounding;
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

/** Every map of a group, in a fixed order. */
export function mapsOf({ content }: GroupPlan): readonly MapSource[] {
  return content.kind === "curves" ? content.models.flatMap(({ maps }) => maps) : Object.values(content.metrics);
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
    const mapCount = Math.max(...plan.groups.flatMap(togetherInMemory));

    const wanted = blockRows >= BAND_ROWS ? blockRows : Math.floor(BAND_ROWS / blockRows) * blockRows;
    const narrowest = Math.min(blockColumns, window.columnCount);
    const affordable = Math.min(
      Math.floor(budget.finishedSteps / (window.columnCount * layerCount)),
      Math.floor(budget.decodedValues / (narrowest * mapCount)),
    );
    this.#slabRows = Math.max(1, Math.min(wanted, Math.max(BAND_ROWS, affordable)));
    const blocksAcross = Math.floor(budget.decodedValues / (this.#slabRows * blockColumns * mapCount));
    this.#slabColumns = blockColumns * Math.max(1, blocksAcross);
  }

  /** The slab that holds a row of the window; `row` counts in the source's grid. */
  async slabAt(row: number): Promise<Slab> {
    const current = this.#current;
    if (current !== undefined && row >= current.firstRow && row < current.firstRow + current.rowCount) return current;
    this.#current = undefined; // lets go of the old rows before the new ones are made
    const { firstRow, rowCount } = this.#window;
    const start = Math.floor(row / this.#slabRows) * this.#slabRows;
    const first = Math.max(start, firstRow);
    const end = Math.min(start + this.#slabRows, firstRow + rowCount);
    const slab = await this.#make({ firstRow: first, rowCount: end - first });
    this.#current = slab;
    return slab;
  }

  async #make(rows: { readonly firstRow: number; readonly rowCount: number }): Promise<Slab> {
    const { firstColumn, columnCount } = this.#window;
    const cellCount = rows.rowCount * columnCount;
    const groups = this.#layers.map((layers) => ({
      steps: new Uint16Array(cellCount * layers.length),
      tallies: new Uint8Array(cellCount),
      worst: {} as WorstRounding,
    }));
    const end = firstColumn + columnCount;
    for (let column = firstColumn; column < end;) {
      const next = Math.min(end, (Math.floor(column / this.#slabColumns) + 1) * this.#slabColumns);
      const part: CellWindow = { ...rows, firstColumn: column, columnCount: next - column };
      for (const [index, target] of groups.entries()) {
        const made = await this.#makeGroup(index, part);
        const layerCount = this.#layers[index]?.length ?? 0;
        for (let row = 0; row < rows.rowCount; row++) {
          const from = row * part.columnCount;
          const to = row * columnCount + (column - firstColumn);
          target.steps.set(
            made.steps.subarray(from * layerCount, (from + part.columnCount) * layerCount),
            to * layerCount,
          );
          target.tallies.set(made.tallies.subarray(from, from + part.columnCount), to);
        }
        target.worst = mergedWorst(target.worst, made.worst);
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
    const tallies = new Uint8Array(cellCount);
    const values = await this.#valuesOf(group, window, tallies);
    const steps = new Uint16Array(cellCount * layers.length);
    let worst: WorstRounding = {};
    for (const [first, end] of runsOf(cellCount)) {
      const run = Object.fromEntries(Object.entries(values).map(([metric, all]) => [metric, all.subarray(first, end)]));
      const made = await this.#steps(group, layers, { run, window, firstCell: first });
      steps.set(made.steps, first * layers.length);
      worst = mergedWorst(worst, made.worst);
    }
    return { steps, tallies, worst };
  }

  async #valuesOf(group: GroupPlan, window: CellWindow, tallies: Uint8Array): Promise<MetricValues> {
    const spec = HAZARDS[this.#plan.hazard];
    const own = spec.ownMetric as Exclude<MetricName, "total_hazard">;
    const { rules } = this.#plan;
    const { content } = group;
    if (content.kind === "curves") {
      const mean = await this.#meanOfModels(content.models, window, tallies);
      return { [own]: mean.own, intensity: intensityOf(mean.own, rules), probability: mean.probability };
    }
    const values: MetricValues = {};
    for (const [metric, source] of Object.entries(content.metrics) as [keyof MetricValues, MetricSource][]) {
      values[metric] = await this.#metricValues(metric, source, window, tallies);
    }
    const given = values[own];
    if (given !== undefined && values.intensity === undefined && derivesIntensity(rules)) {
      values.intensity = intensityOf(given, rules);
    }
    return values;
  }

  async #meanOfModels(models: readonly CurveSource[], window: CellWindow, tallies: Uint8Array) {
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
      for (const [first, end] of runsOf(cellCount)) {
        const run = { maps: all.map((values) => values.subarray(first, end)), unitFactors };
        const clampTolerance = this.#clampTolerance;
        const made = this.#placing(
          () => curveCells(this.#kernel, run, rule, { clampTolerance, tallies: tallies.subarray(first, end) }),
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
    tallies: Uint8Array,
  ): Promise<Float64Array> {
    const layer = HAZARDS[this.#plan.hazard].metrics.find((spec) => spec.metric === metric);
    if (layer === undefined) throw new Error(`${this.#plan.hazard} has no metric ${metric}.`);
    const largest = largestOf(layer);
    const read: RasterValues = await source.raster.readWindow({ ...window, band: source.band });
    const max = source.saturate ? Number.MAX_VALUE : largest / source.unitFactor;
    const { unitFactor } = source;
    const clampTolerance = this.#clampTolerance;
    const checked = this.#placing(
      () => checkedValues(read, tallies, { map: 0, unitFactor, clampTolerance, max }),
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
      throw await outOfRange(group, layers[error.bad.map], error.bad, at);
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

/** A metric that has no step, traced back to the map that it comes from. */
async function outOfRange(
  group: GroupPlan,
  layer: MetricSpec | undefined,
  bad: BadValue,
  at: { readonly window: CellWindow; readonly firstCell: number },
): Promise<Error> {
  if (layer === undefined) throw new Error(`No layer ${bad.map}.`);
  const maps = mapsOf(group);
  const { place, cell } = placeIn(maps[0], bad, at);
  const largest = largestOf(layer);
  const unit = layer.unit === "1" ? "" : ` ${layer.unit}`;
  // A level between two maps, or a mean of models, is too large only where one of the maps is.
  for (const { raster, band, unitFactor } of maps) {
    const [value = NaN] = await raster.readWindow({
      band,
      firstRow: cell.row,
      rowCount: 1,
      firstColumn: cell.column,
      columnCount: 1,
    });
    if (!(value * unitFactor > largest)) continue;
    return sourceFault(
      raster.file,
      `${raster.bandCount === 1 ? "" : `band ${band}, `}${place}: the value ${value} makes ${layer.metric} ${bad.value}${unit}; a layer holds 0 to ${largest}${unit}. ` +
        `Check the unit factor, and which number marks missing values.`,
      { details: { ...cell, band, value, metric: layer.metric } },
    );
  }
  return new Error(`${layer.metric} of ${group.scenario} ${group.year} has no step for ${bad.value} at ${place}.`);
}

function badValueFault(
  source: MapSource | undefined,
  bad: BadValue,
  at: {
    readonly window: CellWindow;
    readonly firstCell: number;
    readonly layer: MetricSpec | undefined;
    readonly clampTolerance: number | undefined;
  },
): Error {
  const { place, cell } = placeIn(source, bad, at);
  const file = source?.raster.file ?? "?";
  const band = source === undefined || source.raster.bandCount === 1 ? "" : `band ${source.band}, `;
  const marker = `If it marks missing cells, say so: --nodata ${bad.value}`;
  const unit = at.layer === undefined || at.layer.unit === "1" ? "" : ` ${at.layer.unit}`;
  const unitFactor = source?.unitFactor ?? 1;
  const inUnit = unitFactor === 1 ? "" : `, which is ${Number((bad.value * unitFactor).toPrecision(6))}${unit}`;
  const why = {
    negative: `the value is ${bad.value}, below zero. ${marker}; if it is noise around zero: --clamp-negative.`,
    "below-tolerance":
      `the value is ${bad.value}${inUnit}: more than ${at.clampTolerance}${unit} below zero, too much for noise. ` +
      `${marker}; if it is a measurement that counts as zero: --clamp-tolerance with a number above ${at.clampTolerance}.`,
    infinite: `the value is ${bad.value}, which is no measure of anything. ${marker}.`,
    "above-range": `the value ${bad.value} becomes ${bad.value * unitFactor} as ${at.layer?.metric}, which goes to ${at.layer === undefined ? "" : largestOf(at.layer)}. Check the unit factor. ${marker}.`,
  }[bad.why];
  return sourceFault(file, `${band}${place}: ${why}`, { details: { ...cell, band: source?.band, value: bad.value } });
}

function placeIn(
  source: MapSource | undefined,
  bad: BadValue,
  { window, firstCell }: { readonly window: CellWindow; readonly firstCell: number },
): { readonly place: string; readonly cell: { readonly row: number; readonly column: number } } {
  const index = firstCell + bad.cell;
  const cell = {
    row: window.firstRow + Math.floor(index / window.columnCount),
    column: window.firstColumn + (index % window.columnCount),
  };
  return { place: source === undefined ? "" : placeOf(source.raster.grid, cell), cell };
}

/** How many maps of a group are in memory at once: those of one curve, or one. */
function togetherInMemory({ content }: GroupPlan): number[] {
  return content.kind === "curves" ? content.models.map(({ maps }) => maps.length) : [1];
}

function* runsOf(cellCount: number): Generator<readonly [first: number, end: number]> {
  for (let first = 0; first < cellCount; first += KERNEL_CELLS) {
    yield [first, Math.min(cellCount, first + KERNEL_CELLS)];
  }
}

export function mergedWorst(a: WorstRounding, b: WorstRounding): WorstRounding {
  const merged: WorstRounding = { ...a };
  for (const [metric, error] of Object.entries(b) as [MetricName, number][]) {
    merged[metric] = Math.max(merged[metric] ?? 0, error);
  }
  return merged;
}
