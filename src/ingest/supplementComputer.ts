/** Computes parts of supplements: the curves of cells, and ranges over climate models. */
import { toSteps } from "../kernel/curve.ts";
import type { Kernel } from "../kernel/instance.ts";
import { STEPS_NODATA } from "../kernel/kernel.generated.ts";
import { BadValueError } from "./badValue.ts";
import { badValueFault, outOfRangeFault } from "./badValues.ts";
import { zeroCounts } from "./cellCounts.ts";
import { type CellKinds, CellSorter } from "./cellKinds.ts";
import { checkedValues, curveCells, intensityOf } from "./curve.ts";
import { gathered, metricSteps, type MetricValues } from "./metricSteps.ts";
import { ModelCurves } from "./modelCurves.ts";
import {
  type GroupRows,
  KERNEL_CELLS,
  kernelBatches,
  type PartKey,
  type PartOptions,
  tileRowsOf,
} from "./partComputer.ts";
import type { CurveSource, GroupPlan, HazardPlan } from "./plan.ts";
import { metricsOfPlan } from "./planLayers.ts";
import type { CellWindow, RasterValues } from "./raster.ts";
import { ownMetricOf, returnPeriodsOfGroup } from "./supplementPlan.ts";

/** Computes parts of the supplement of one scenario and year. */
export class SupplementComputer {
  readonly #kernel: Kernel;
  readonly #plan: HazardPlan;
  readonly #options: PartOptions;
  readonly #sorter = new CellSorter(KERNEL_CELLS);

  constructor(kernel: Kernel, plan: HazardPlan, options: PartOptions) {
    this.#kernel = kernel;
    this.#plan = plan;
    this.#options = options;
  }

  /**
   * Reads the maps of the group and computes all layers of its supplement, interleaved by cell.
   * @throws Fault `source_invalid` naming file and cell of a value that is rejected
   */
  async compute({ group: index, window }: PartKey): Promise<GroupRows> {
    const group = this.#plan.groups[index];
    if (group?.content.kind !== "curves") throw new Error(`Group ${index} has no curves.`);
    const tileRows = tileRowsOf(window, this.#options.atlasRowOfSource);
    const counts = Array.from({ length: tileRows.end - tileRows.first }, zeroCounts);
    return { steps: await this.#stepsOf(group, group.content.models, window), counts, worst: {} };
  }

  async #stepsOf(group: GroupPlan, models: readonly CurveSource[], window: CellWindow): Promise<Uint16Array> {
    const [only] = models;
    if (only !== undefined && models.length === 1) return this.#stepsOfModel(group, only, window);
    const curves = new ModelCurves({
      cellCount: window.rowCount * window.columnCount,
      modelCount: models.length,
      returnPeriodCount: returnPeriodsOfGroup(group).length,
      metricCount: metricsOfPlan(this.#plan).length,
      kinds: this.#plan.supplement ?? [],
    });
    for (const model of models) await this.#addModel(curves, model, { group, window });
    return this.#roundedSteps(curves, { group, window });
  }

  /** Returns the curves of the only model; cells that are dry or missing on all maps need no computation. */
  async #stepsOfModel(group: GroupPlan, model: CurveSource, window: CellWindow): Promise<Uint16Array> {
    const layer = ownMetricOf(this.#plan);
    const layerCount = model.maps.length;
    const all = new Uint16Array(window.rowCount * window.columnCount * layerCount);
    for await (const { first, end, kinds, values } of this.#batches(model, window)) {
      const { active, missing } = kinds;
      const steps = new Uint16Array(active.length * layerCount);
      for (const [period, each] of values.entries()) {
        const outcome = toSteps(this.#kernel, each, layer, { cells: steps, layer: period, layerCount });
        if (outcome.kind === "steps") continue;
        const value = each[outcome.cell] ?? NaN;
        const bad = { map: 0, cell: active[outcome.cell] ?? 0, value, why: "above-range" } as const;
        throw await outOfRangeFault(group, layer, bad, { window, firstCell: first });
      }
      const target = all.subarray(first * layerCount, end * layerCount);
      scatterSteps(target, active, steps, layerCount);
      setMissing(target, missing, layerCount);
    }
    return all;
  }

  /** Reads the maps of a model and yields the non-decreasing curves of the active cells of each batch. */
  async *#batches(
    { maps }: CurveSource,
    window: CellWindow,
  ): AsyncGenerator<{
    readonly first: number;
    readonly end: number;
    readonly kinds: CellKinds;
    /** The source values of the active cells, by map. */
    readonly source: readonly RasterValues[];
    /** Their curves, by return period; a cell that is missing on any map is missing at all return periods. */
    readonly values: readonly Float64Array[];
  }> {
    const layer = ownMetricOf(this.#plan);
    const clampTolerance = this.#options.clampToleranceOf(layer.unit);
    const read = await Promise.all(maps.map(({ raster, band }) => raster.readWindow({ ...window, band })));
    for (const [first, end] of kernelBatches(window.rowCount * window.columnCount)) {
      const batch = read.map((values) => values.subarray(first, end));
      const kinds = this.#sorter.kindsOf(batch);
      const { active } = kinds;
      const source = batch.map((values) => gathered(values, active));
      const values = await withFault(
        () => source.map((each, map) => this.#valuesInUnit(each, { map, unitFactor: maps[map]?.unitFactor ?? 1 })),
        (bad) => {
          const position = { window, firstCell: first, layer, clampTolerance };
          return badValueFault(maps[bad.map], { ...bad, cell: active[bad.cell] ?? 0 }, position);
        },
      );
      makeNonDecreasing(values);
      yield { first, end, kinds, source, values };
    }
  }

  async #addModel(
    curves: ModelCurves,
    model: CurveSource,
    { group, window }: { readonly group: GroupPlan; readonly window: CellWindow },
  ): Promise<void> {
    const layers = metricsOfPlan(this.#plan);
    for await (const { first, kinds, source, values } of this.#batches(model, window)) {
      const { active, zero } = kinds;
      curves.addZeros(first, zero);
      curves.add(first, active, values);
      if (!curves.hasMetrics) continue;
      const metrics = this.#metricsOf(source, model.maps);
      const { steps } = await withFault(
        () => metricSteps(this.#kernel, layers, metrics),
        (bad) => {
          const position = { window, firstCell: first };
          return outOfRangeFault(group, layers[bad.map], { ...bad, cell: active[bad.cell] ?? 0 }, position);
        },
      );
      curves.addMetrics(first, active, steps);
    }
  }

  #valuesInUnit(
    values: RasterValues,
    { map, unitFactor }: { readonly map: number; readonly unitFactor: number },
  ): Float64Array {
    const clampTolerance = this.#options.clampToleranceOf(ownMetricOf(this.#plan).unit);
    const flags = new Uint8Array(values.length);
    const checked = checkedValues(values, flags, { map, unitFactor, clampTolerance, max: Number.MAX_VALUE });
    const converted = new Float64Array(checked);
    // A loop, because `from` with a mapping function is slower.
    if (unitFactor !== 1)
      for (let cell = 0; cell < converted.length; cell++) converted[cell] = (converted[cell] as number) * unitFactor;
    return converted;
  }

  /** Returns the metrics of one model, computed as those of a group with a single model. */
  #metricsOf(activeMaps: readonly RasterValues[], maps: CurveSource["maps"]): MetricValues {
    const { rules } = this.#plan;
    const layer = ownMetricOf(this.#plan);
    const { own, probability } = curveCells(
      this.#kernel,
      { maps: activeMaps, unitFactors: maps.map(({ unitFactor }) => unitFactor) },
      {
        family: rules.curve ?? "gumbel",
        returnPeriods: maps.map(({ returnPeriodYears }) => returnPeriodYears),
        designReturnPeriodYears: rules.design_return_period_years ?? NaN,
        threshold: rules.threshold,
      },
      {
        clampTolerance: this.#options.clampToleranceOf(layer.unit),
        flags: new Uint8Array(activeMaps[0]?.length ?? 0),
      },
    );
    return { [layer.metric]: own, probability, intensity: intensityOf(own, rules) };
  }

  /** Rounds the layers of all kinds, in the order of the supplement. */
  async #roundedSteps(
    curves: ModelCurves,
    { group, window }: { readonly group: GroupPlan; readonly window: CellWindow },
  ): Promise<Uint16Array> {
    const kinds = this.#plan.supplement ?? [];
    const layer = ownMetricOf(this.#plan);
    const cellCount = window.rowCount * window.columnCount;
    const layerCount = kinds.reduce((sum, kind) => sum + curves.layerCountOf(kind), 0);
    const steps = new Uint16Array(cellCount * layerCount);
    let firstLayer = 0;
    for (const kind of kinds) {
      if (kind === "metrics_min" || kind === "metrics_max") {
        curves.copyMetrics(kind, steps, { firstLayer, layerCount });
      } else {
        for (let period = 0; period < curves.layerCountOf(kind); period++) {
          for (const [first, end] of kernelBatches(cellCount)) {
            const target = {
              cells: steps.subarray(first * layerCount, end * layerCount),
              layer: firstLayer + period,
              layerCount,
            };
            const values = curves.valuesOf(kind, period).subarray(first, end);
            const outcome = toSteps(this.#kernel, values, layer, target);
            if (outcome.kind === "steps") continue;
            const bad = { map: 0, cell: outcome.cell, value: values[outcome.cell] ?? NaN, why: "above-range" } as const;
            throw await outOfRangeFault(group, layer, bad, { window, firstCell: first });
          }
        }
      }
      firstLayer += curves.layerCountOf(kind);
    }
    curves.forEachMissing((cell) => steps.fill(STEPS_NODATA, cell * layerCount, (cell + 1) * layerCount));
    return steps;
  }
}

/**
 * Replaces each value with the largest of its own and those of shorter return periods. A cell that is missing on one map
 * becomes missing on all.
 */
function makeNonDecreasing(maps: readonly Float64Array[]): void {
  const last = maps.at(-1) ?? new Float64Array();
  for (let map = 1; map < maps.length; map++) {
    const [before, values] = [maps[map - 1] as Float64Array, maps[map] as Float64Array];
    for (let cell = 0; cell < values.length; cell++) {
      values[cell] = Math.max(values[cell] as number, before[cell] as number);
    }
  }
  // The maximum of NaN and a number is NaN, so the last value is missing if any is.
  for (let cell = 0; cell < last.length; cell++) {
    if (Number.isNaN(last[cell])) for (const values of maps) values[cell] = NaN;
  }
}

async function withFault<T>(
  compute: () => T,
  toFault: (bad: BadValueError["bad"]) => Error | Promise<Error>,
): Promise<T> {
  try {
    return compute();
  } catch (error) {
    throw error instanceof BadValueError ? await toFault(error.bad) : error;
  }
}

/** Writes the steps of some cells. @param source u16[cells][layerCount] */
function scatterSteps(target: Uint16Array, cells: Int32Array, source: Uint16Array, layerCount: number): void {
  for (let index = 0, from = 0; index < cells.length; index++) {
    const to = (cells[index] as number) * layerCount;
    for (let layer = 0; layer < layerCount; layer++) target[to + layer] = source[from++] as number;
  }
}

/** Marks cells as missing in all layers. */
function setMissing(target: Uint16Array, cells: Int32Array, layerCount: number): void {
  for (let index = 0; index < cells.length; index++) {
    const to = (cells[index] as number) * layerCount;
    target.fill(STEPS_NODATA, to, to + layerCount);
  }
}
