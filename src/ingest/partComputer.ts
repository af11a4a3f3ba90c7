/** Computes parts of layers, each the cells of one group in a window, from the source maps. */
import type { EncodedTiles } from "../atlas/tileEncoding.ts";
import { HAZARDS, type MetricName, type MetricSpec } from "../hazard/hazards.ts";
import type { CurveRule } from "../kernel/curve.ts";
import type { Kernel } from "../kernel/instance.ts";
import { TILE_SIZE } from "../kernel/kernel.generated.ts";
import { BadValueError, type BadValue } from "./badValue.ts";
import { badValueFault, outOfRangeFault } from "./badValues.ts";
import { type CellKinds, CellSorter } from "./cellKinds.ts";
import { type CellCounts, countCells, zeroCounts } from "./cellCounts.ts";
import {
  checkedValues,
  curveCells,
  derivesIntensity,
  intensityOf,
  ModelMean,
  type OwnAndProbability,
  type ValueRange,
} from "./curve.ts";
import { curveRows } from "./curveRows.ts";
import { gathered, type LargestRounding, mergeLargestRounding, metricSteps, type MetricValues } from "./metricSteps.ts";
import { largestAllowed, layersOfGroup, metricsOfPlan } from "./planLayers.ts";
import type { CurveSource, GroupPlan, HazardPlan, MetricSource } from "./plan.ts";
import type { CellWindow, RasterValues } from "./raster.ts";

/** Cells passed to the kernel at a time; for ten maps they occupy 5 MiB of its scratch memory. */
export const KERNEL_CELLS = 65_536;

/** Finished cells of one group in a window of the source's grid. */
export interface GroupRows {
  /** u16[rowCount][columnCount][layers]; empty if `tiles` has all cells. */
  readonly steps: Uint16Array;
  /**
   * The tiles of the atlas whose cells are all in the window, for each group that the part is stored as; undefined before
   * they are encoded.
   */
  readonly tiles?: readonly EncodedTiles[];
  /** Counts of the cells in each row of tiles of the atlas that the window touches, from north to south. */
  readonly counts: readonly CellCounts[];
  readonly worst: LargestRounding;
}

/** Identifies a part of a slab: the cells of one group in a window. */
export interface PartKey {
  readonly group: number;
  readonly window: CellWindow;
}

export interface PartOptions {
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

/** The cells of a part while they are computed. */
interface ComputedCells {
  readonly steps: Uint16Array;
  readonly flags: Uint8Array;
  worst: LargestRounding;
}

/** Computes parts of a plan of metrics. */
export class PartComputer {
  readonly #kernel: Kernel;
  readonly #plan: HazardPlan;
  readonly #options: PartOptions;
  readonly #layers: readonly (readonly MetricSpec[])[];
  readonly #sorter = new CellSorter(KERNEL_CELLS);

  constructor(kernel: Kernel, plan: HazardPlan, options: PartOptions) {
    this.#kernel = kernel;
    this.#plan = plan;
    this.#options = options;
    this.#layers = plan.groups.map((group) => layersOfGroup(plan, group));
  }

  /**
   * Reads the maps of a group and computes its cells.
   * @throws Fault `source_invalid` naming file and cell of a value that is rejected
   */
  async compute({ group: index, window }: PartKey): Promise<GroupRows> {
    const group = this.#plan.groups[index];
    const layers = this.#layers[index];
    if (group === undefined || layers === undefined) throw new Error(`There is no group ${index}.`);
    const { content } = group;
    const [model] = content.kind === "curves" ? content.models : [];
    if (content.kind === "curves" && content.models.length === 1 && model !== undefined) {
      return this.#curveRows(group, model, window);
    }
    const cellCount = window.rowCount * window.columnCount;
    const cells: ComputedCells = {
      steps: new Uint16Array(cellCount * layers.length),
      flags: new Uint8Array(cellCount),
      worst: {},
    };
    await this.#addValues(group, await this.#valuesOf(group, window, cells.flags), window, cells);
    const { steps, flags, worst } = cells;
    return { steps, counts: this.#countRows(steps, flags, { layers, window }), worst };
  }

  /** Rounds the metrics of a window. */
  async #addValues(group: GroupPlan, values: MetricValues, window: CellWindow, cells: ComputedCells): Promise<void> {
    const layers = layersOfGroup(this.#plan, group);
    for (const [first, end] of kernelBatches(cells.flags.length)) {
      const batch = Object.fromEntries(
        Object.entries(values).map(([metric, all]) => [metric, all.subarray(first, end)]),
      ) as MetricValues;
      const { steps, worst } = await this.#withFault(
        () => metricSteps(this.#kernel, layers, this.#withIntensity(group, batch)),
        (bad) => outOfRangeFault(group, layers[bad.map], bad, { window, firstCell: first }),
      );
      cells.steps.set(steps, first * layers.length);
      cells.worst = mergeLargestRounding(cells.worst, worst);
    }
  }

  /** Computes the curves of a group with one model. */
  async #curveRows(group: GroupPlan, model: CurveSource, window: CellWindow): Promise<GroupRows> {
    const { rules } = this.#plan;
    const specs = layersOfGroup(this.#plan, group);
    const layer = this.#layerOf(this.#ownMetric);
    const clampTolerance = this.#options.clampToleranceOf(layer.unit);
    const position = { window, firstCell: 0 };
    const cells = { maps: await this.#readMaps(model, window), unitFactors: unitFactorsOf(model) };
    const rows = await this.#withFault(
      () =>
        curveRows(this.#kernel, cells, {
          layers: { specs, own: specs.findIndex(({ metric }) => metric === this.#ownMetric), rules },
          rule: this.#ruleOf(model),
          clampTolerance,
          cellEnds: this.#cellEndsOf(window),
        }),
      (bad) => badValueFault(model.maps[bad.map], bad, { ...position, layer, clampTolerance }),
    );
    if (rows.kind === "out-of-range") throw await outOfRangeFault(group, specs[rows.bad.map], rows.bad, position);
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

  #metricsOf({ own, probability }: OwnAndProbability): MetricValues {
    return { [this.#ownMetric]: own, probability };
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
      return this.#metricsOf(await this.#meanOfModels(content.models, window, flags));
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

  #ruleOf({ maps }: CurveSource): Omit<CurveRule, "unitFactor"> {
    const { rules } = this.#plan;
    return {
      family: rules.curve ?? "gumbel",
      returnPeriods: maps.map(({ returnPeriodYears }) => returnPeriodYears),
      designReturnPeriodYears: rules.design_return_period_years ?? NaN,
      threshold: rules.threshold,
    };
  }

  #readMaps({ maps }: CurveSource, window: CellWindow): Promise<readonly RasterValues[]> {
    return Promise.all(maps.map(({ raster, band }) => raster.readWindow({ ...window, band })));
  }

  /** Computes the curves of the active cells of a batch and sets their flags. */
  async #curveBatch(
    model: CurveSource,
    batch: readonly RasterValues[],
    { window, first, flags }: { readonly window: CellWindow; readonly first: number; readonly flags: Uint8Array },
  ): Promise<{ readonly computed: OwnAndProbability; readonly kinds: CellKinds }> {
    const layer = this.#layerOf(this.#ownMetric);
    const clampTolerance = this.#options.clampToleranceOf(layer.unit);
    const rule = this.#ruleOf(model);
    const unitFactors = unitFactorsOf(model);
    const kinds = this.#sorter.kindsOf(batch);
    const { active } = kinds;
    const activeMaps = batch.map((values) => gathered(values, active));
    const activeFlags = new Uint8Array(active.length);
    const computed = await this.#withFault(
      () => curveCells(this.#kernel, { maps: activeMaps, unitFactors }, rule, { clampTolerance, flags: activeFlags }),
      (bad) => {
        const position = { window, firstCell: first, layer, clampTolerance };
        return badValueFault(model.maps[bad.map], { ...bad, cell: active[bad.cell] ?? 0 }, position);
      },
    );
    for (let index = 0; index < active.length; index++) {
      const cell = first + (active[index] as number);
      flags[cell] = (flags[cell] as number) | (activeFlags[index] as number);
    }
    return { computed, kinds };
  }

  async #meanOfModels(
    models: readonly CurveSource[],
    window: CellWindow,
    flags: Uint8Array,
  ): Promise<OwnAndProbability> {
    const mean = new ModelMean({ modelCount: models.length, cellCount: flags.length });
    for (const model of models) {
      const maps = await this.#readMaps(model, window);
      for (const [first, end] of kernelBatches(flags.length)) {
        const batch = maps.map((values) => values.subarray(first, end));
        const { computed, kinds } = await this.#curveBatch(model, batch, { window, first, flags });
        mean.add(first, kinds.active, computed);
        mean.addZeros(first, kinds.zero);
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
    const layer = this.#layerOf(metric);
    const largest = largestAllowed(layer);
    const read: RasterValues = await source.raster.readWindow({ ...window, band: source.band });
    const { unitFactor } = source;
    const max = source.saturate ? Number.MAX_VALUE : largest / unitFactor;
    const clampTolerance = this.#options.clampToleranceOf(layer.unit);
    const checked = await this.#withFault(
      () => checkedValues(read, flags, { map: 0, unitFactor, clampTolerance, max }),
      (bad) => badValueFault(source, bad, { window, firstCell: 0, layer, clampTolerance }),
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

  #layerOf(metric: MetricName): MetricSpec {
    const layer = metricsOfPlan(this.#plan).find((spec) => spec.metric === metric);
    if (layer === undefined) throw new Error(`${this.#plan.hazard} has no metric ${metric}.`);
    return layer;
  }

  async #withFault<T>(compute: () => T, toFault: (bad: BadValue) => Error | Promise<Error>): Promise<T> {
    try {
      return compute();
    } catch (error) {
      throw error instanceof BadValueError ? await toFault(error.bad) : error;
    }
  }
}

function unitFactorsOf({ maps }: CurveSource): readonly number[] {
  return maps.map(({ unitFactor }) => unitFactor);
}

/** Returns the batches of cells that are passed to the kernel. */
export function* kernelBatches(cellCount: number): Generator<readonly [first: number, end: number]> {
  for (let first = 0; first < cellCount; first += KERNEL_CELLS) {
    yield [first, Math.min(cellCount, first + KERNEL_CELLS)];
  }
}
