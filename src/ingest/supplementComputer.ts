/** Computes parts of supplements: the curves of cells, and ranges over climate models. */
import { toSteps } from "../kernel/curve.ts";
import type { Kernel } from "../kernel/instance.ts";
import { STEPS_NODATA } from "../kernel/kernel.generated.ts";
import { BadValueError } from "./badValue.ts";
import { badValueFault, outOfRangeFault } from "./badValues.ts";
import { zeroCounts } from "./cellCounts.ts";
import { CellSorter } from "./cellKinds.ts";
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
    const { models } = group.content;
    const cellCount = window.rowCount * window.columnCount;
    const kinds = this.#plan.supplement ?? [];
    const curves = new ModelCurves({
      cellCount,
      modelCount: models.length,
      returnPeriodCount: returnPeriodsOfGroup(group).length,
      metricCount: metricsOfPlan(this.#plan).length,
      kinds,
    });
    for (const model of models) await this.#addModel(curves, model, { group, window });
    const steps = await this.#stepsOf(curves, { group, window });
    const tileRows = tileRowsOf(window, this.#options.atlasRowOfSource);
    const counts = Array.from({ length: tileRows.end - tileRows.first }, zeroCounts);
    return { steps, counts, worst: {} };
  }

  async #addModel(
    curves: ModelCurves,
    { maps }: CurveSource,
    { group, window }: { readonly group: GroupPlan; readonly window: CellWindow },
  ): Promise<void> {
    const layer = ownMetricOf(this.#plan);
    const clampTolerance = this.#options.clampToleranceOf(layer.unit);
    const read = await Promise.all(maps.map(({ raster, band }) => raster.readWindow({ ...window, band })));
    for (const [first, end] of kernelBatches(window.rowCount * window.columnCount)) {
      const batch = read.map((values) => values.subarray(first, end));
      const { active, zero } = this.#sorter.kindsOf(batch);
      curves.addZeros(first, zero);
      const activeMaps = batch.map((values) => gathered(values, active));
      const position = { window, firstCell: first, layer, clampTolerance };
      const values = await withFault(
        () => activeMaps.map((each, map) => this.#valuesInUnit(each, { map, unitFactor: maps[map]?.unitFactor ?? 1 })),
        (bad) => badValueFault(maps[bad.map], { ...bad, cell: active[bad.cell] ?? 0 }, position),
      );
      makeNonDecreasing(values);
      curves.add(first, active, values);
      if (!curves.hasMetrics) continue;
      const metrics = this.#metricsOf(activeMaps, maps);
      const { steps } = await withFault(
        () => metricSteps(this.#kernel, metricsOfPlan(this.#plan), metrics),
        (bad) =>
          outOfRangeFault(group, metricsOfPlan(this.#plan)[bad.map], { ...bad, cell: active[bad.cell] ?? 0 }, position),
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
    const range = { map, unitFactor, clampTolerance, max: Number.MAX_VALUE };
    return Float64Array.from(checkedValues(values, flags, range), (value) => value * unitFactor);
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
  async #stepsOf(
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

/** Replaces each value with the largest of its own and those of shorter return periods; NaN stays missing. */
function makeNonDecreasing(maps: readonly Float64Array[]): void {
  for (let map = 1; map < maps.length; map++) {
    const [before, values] = [maps[map - 1] as Float64Array, maps[map] as Float64Array];
    for (let cell = 0; cell < values.length; cell++) {
      values[cell] = Math.max(values[cell] as number, before[cell] as number);
    }
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
